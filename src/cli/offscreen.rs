//! Offscreen rendering of a scene, for `render`, `compare`, `export`, `query`, `deviation` and the
//! benchmarks.

use super::report::Report;
use crate::{
    Error, Result,
    accel::MeshRange,
    config::{
        self, Background, Config, EnvironmentSource, ImageMode, OcclusionMode, ReflectionMode, ShadowMode,
    },
    gpu::{Gpu, profiler::Stopwatch},
    lab::{LabBuild, LabGeometry, LabView, view},
    output::picture,
    profile::{history::History, memory::Memory},
    render::{
        Attempt, Channel, FloatImage, FrameInput, FrameSample, FrameStats, Merged, Noise, Renderer,
        UploadedScene, View,
        environment::{load_environment, most_texels},
        frame,
        geometry::visible::{self, VisibleGeometry},
        inspect::compared_tree::ComparedTree,
        layout::LIGHT_LIMIT,
        light::scene_exposure::first_exposure_ev,
        materials::material_textures::texture_support,
        paths::{self, path_sums::PathSums},
    },
    scene::{
        Blend, Pose, Progress, Scene,
        bounds::{Aabb, Bounds},
        compared::ReferenceSurface,
        edits::AppliedEdits,
        framing::{Ground, Look, Viewpoint},
        opened::{FirstView, OpenedScene, Span},
    },
};

use glam::Vec3;
use std::{
    collections::BTreeSet,
    ops::Range,
    path::{Path, PathBuf},
    sync::Arc,
    time::Instant,
};

/// An uploaded scene with a renderer. The first view and the exposure are chosen once.
#[derive(Debug)]
pub(super) struct Offscreen {
    pub(super) gpu: Arc<Gpu>,
    pub(super) config: Config,
    /// Scene with its edits applied. The texels of its images are dropped after the upload.
    pub(super) scene: Scene,
    pub(super) edits: AppliedEdits,
    /// Indices of the nodes whose meshes are hidden.
    pub(super) hidden: BTreeSet<usize>,
    /// Index of the clip that plays.
    pub(super) clip: Option<usize>,
    /// Blend of clips and morph weights.
    pub(super) blend: Blend,
    bounds: Bounds,
    /// Ground plane below the scene.
    pub(super) ground: Option<Ground>,
    first: FirstView,
    exposure_ev: f32,
    renderer: Renderer,
    uploaded: UploadedScene,
    target: wgpu::Texture,
    /// Pose of the acceleration structure that the channel `lab` traces.
    lab_pose: Option<Pose>,
    /// Channels that will be read back.
    pub(super) reads: Vec<Channel>,
    /// Profile of the frames, if one was requested.
    pub(super) profile: Option<History>,
}

/// Times of one draw.
#[derive(Debug, Clone, Copy)]
pub(super) struct Drawn {
    /// Milliseconds from submission to completion.
    pub(super) wall_ms: f64,
    /// Milliseconds spent compiling pipelines.
    pub(super) compile_ms: f64,
}

/// Calls `open` on `files` and shows its progress.
pub(super) fn load(
    report: &Report,
    files: &[PathBuf],
    open: impl FnOnce(&[PathBuf], &Progress) -> Result<OpenedScene>,
) -> Result<OpenedScene> {
    let progress = Arc::new(Progress::default());
    report.line.loading(&progress);
    let names: Vec<_> = files.iter().map(|f| f.display().to_string()).collect();
    let what = match &names[..] {
        [] => "the built-in scene".into(),
        names => names.join(", "),
    };
    report.stage("load", &what, || open(files, &progress))
}

/// Opens the adapter that the settings choose.
pub(super) fn adapter(report: &Report, config: &Config) -> Result<Gpu> {
    report.line.stage("opening the adapter");
    report.stage("open", "the adapter", || crate::device::open(&config.gpu))
}

/// Returns settings for a frame that shows only the scene's geometry.
pub(super) fn geometry_only(mut config: Config) -> Config {
    config.shadows.mode = ShadowMode::Off;
    config.occlusion.mode = OcclusionMode::Off;
    config.reflections.mode = ReflectionMode::Off;
    config.environment.source = EnvironmentSource::Color;
    config
}

/// Loads the scene of `files` and deforms it on the adapter at the time of the settings.
///
/// # Errors
///
/// Any error of loading and drawing.
pub(super) fn deformed(report: &Report, files: &[PathBuf], config: Config) -> Result<(Offscreen, Moment)> {
    let config = hidden_frame(config);
    let gpu = adapter(report, &config)?;
    let support = texture_support(&gpu);
    let opened = load(report, files, |files, progress| {
        Ok(OpenedScene::load(
            files,
            &config,
            support,
            Span::MOMENT,
            progress,
        )?)
    })?;
    deform(report, gpu, opened.checked()?, &Look::default(), config)
}

/// Returns settings for a frame that only fills the buffers and is not displayed.
pub(super) fn hidden_frame(config: Config) -> Config {
    let mut config = geometry_only(config);
    config.output.size = [16, 16];
    config.camera.name.clear();
    config
}

/// Draws a frame of `opened` at the time of the settings.
///
/// # Errors
///
/// Any error of [`Offscreen::new`] and of drawing.
pub(super) fn deform(
    report: &Report,
    gpu: impl Into<Arc<Gpu>>,
    opened: OpenedScene,
    look: &Look,
    config: Config,
) -> Result<(Offscreen, Moment)> {
    report.line.stage("deforming the scene");
    report.stage("deform", "the scene on the adapter", || {
        let mut offscreen = Offscreen::new(gpu, opened, look, config)?;
        let moment = offscreen.moment(offscreen.config.animation.time);
        offscreen.draw(&moment, FrameSample::SINGLE)?;
        Ok((offscreen, moment))
    })
}

/// A scene at a point in time.
#[derive(Debug)]
pub(super) struct Moment {
    /// Time in the clip, in seconds.
    pub(super) time: f32,
    pub(super) pose: Pose,
    pub(super) view: View,
    /// See [`FrameInput::eye_rounding`].
    pub(super) eye_rounding: Vec3,
    /// Bounds of the scene in this pose.
    pub(super) bounds: Aabb,
    pub(super) ground: Option<Ground>,
}

impl Offscreen {
    /// Uploads `opened` for pictures of `output.size`, and logs its warnings. The first view is `look`, or
    /// the view of the settings.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] for an unknown camera. [`Error::Limit`] for a picture or scene that exceeds the
    /// adapter's limits. Any error of the environment file.
    pub(super) fn new(
        gpu: impl Into<Arc<Gpu>>,
        opened: OpenedScene,
        look: &Look,
        config: Config,
    ) -> Result<Self> {
        let gpu = gpu.into();
        let mut scene = opened.scene;
        scene.warnings.iter().for_each(|line| log::warn!("{line}"));
        let size = config.output.size;
        let aspect = size[0] as f32 / size[1] as f32;
        let first = opened
            .first
            .view(&scene, &opened.points, look, &config.camera, aspect)?;
        check_size(&gpu, size)?;
        let mut renderer = Renderer::new(&gpu)?;
        let file_luminance = read_environment(&gpu, &mut renderer, &config)?;
        let limit = LIGHT_LIMIT as usize;
        let exposure_ev = first_exposure_ev(&scene, &opened.first, &config, file_luminance, limit);
        let mut uploaded = renderer.uploader().upload(&gpu, &scene, &config)?;
        // Edits are applied after the upload, as in the viewer, so textures are uploaded as the file
        // describes them.
        let mut edits = AppliedEdits::default();
        let changed = edits.apply(&mut scene, &opened.edits.edits);
        renderer.write_materials(&gpu, &scene, &changed, &mut uploaded)?;
        // The mip levels have been uploaded, so their CPU copies are freed.
        scene.images.iter_mut().for_each(|i| i.levels.clear());
        Ok(Self {
            exposure_ev,
            edits,
            hidden: opened.edits.hidden,
            target: target(&gpu, size)?,
            clip: opened.clip,
            blend: opened.blend,
            bounds: opened.bounds,
            ground: opened.first.ground(config.scene.ground),
            first,
            gpu,
            config,
            scene,
            renderer,
            uploaded,
            lab_pose: None,
            reads: Vec::new(),
            profile: None,
        })
    }

    /// Returns the duration of the clip in seconds, or of the longest blended clip. Returns 0 if there is
    /// none.
    pub(super) fn duration_secs(&self) -> f32 {
        self.blend.duration_secs(&self.scene, self.clip)
    }

    /// Returns the scene at `time` in its clip, in seconds, seen by its camera at that time.
    pub(super) fn moment(&mut self, time: f32) -> Moment {
        self.moment_from(time, None)
    }

    /// Returns the scene at `time` like [`Self::moment`], seen from `viewpoint` if given.
    pub(super) fn moment_from(&mut self, time: f32, viewpoint: Option<Viewpoint>) -> Moment {
        let began = Instant::now();
        let mut pose = Pose::blended(&self.scene, self.clip, &self.blend, time);
        pose.hide(&self.hidden);
        let bounds = self.bounds.scene(&self.scene, &pose);
        let (viewpoint, eye_rounding) = match viewpoint {
            Some(viewpoint) => (viewpoint, Vec3::ZERO),
            None => self.first.at(&self.scene, &pose),
        };
        self.profiled("animate", began);
        let ground = self.ground;
        Moment {
            time,
            view: View::new(&viewpoint, bounds, f32::INFINITY, ground.as_ref()),
            eye_rounding,
            pose,
            bounds,
            ground,
        }
    }

    /// True if its pictures are path traced.
    pub(super) fn traces_paths(&self) -> bool {
        frame::is_path_traced(&self.config, Channel::Lit)
    }

    /// See [`Renderer::read_path_lengths`].
    pub(super) fn path_lengths(&self) -> Result<Vec<u32>> {
        Ok(self.renderer.read_path_lengths(&self.gpu)?)
    }

    /// Sets the number of samples per pixel that each of the next draws adds, clamped to the maximum per
    /// draw.
    pub(super) fn set_path_samples(&mut self, samples: u32) {
        self.renderer.path_samples = samples.min(paths::MAX_ADDED);
    }

    /// Restricts the next draws to these samples of the path-traced picture. Accumulation restarts if other
    /// samples were drawn before.
    pub(super) fn set_path_part(&mut self, samples: Range<u32>) {
        self.renderer.path_part = Some(samples);
    }

    /// Restores the sums of the first `samples` samples of a path-traced picture, so that the next draw adds
    /// to them.
    pub(super) fn restore_paths(&mut self, sums: &PathSums, samples: u32) -> Result<()> {
        Ok(self.renderer.restore_paths(&self.gpu, sums, samples)?)
    }

    /// Reads back the sums of the paths drawn so far.
    pub(super) fn path_sums(&self) -> Result<PathSums> {
        Ok(self.renderer.read_path_sums(&self.gpu)?)
    }

    /// Draws a sample of `moment` and waits for it.
    pub(super) fn draw(&mut self, moment: &Moment, sample: FrameSample) -> Result<Drawn> {
        let input = input(&self.scene, &self.config, self.exposure_ev, moment, &self.reads);
        let target = self.target.create_view(&wgpu::TextureViewDescriptor {
            label: Some("picture"),
            ..Default::default()
        });
        let (gpu, uploaded, mut compile_ms) = (&self.gpu, &mut self.uploaded, 0.0);
        let (encoder, began) = loop {
            let began = Instant::now();
            let renderer = &mut self.renderer;
            match renderer.record_compiled(gpu, &input, uploaded, sample, &target)? {
                Attempt::Whole(encoder) => break (encoder, began),
                Attempt::Missing(set) => {
                    let stopwatch = Stopwatch::new();
                    set.compile(gpu)?;
                    compile_ms += stopwatch.ms();
                }
            }
        };
        self.profiled("record", began);
        let stopwatch = Stopwatch::new();
        let began = Instant::now();
        self.renderer.submit(&self.gpu, encoder);
        self.profiled("submit", began);
        let began = Instant::now();
        self.gpu.wait()?;
        self.profiled("wait", began);
        let wall_ms = stopwatch.ms();
        self.renderer.collect(&self.gpu);
        if let Some(profile) = &mut self.profile {
            profile.push(self.renderer.submitted_frames(), moment.time);
            for timed in self.renderer.take_timed() {
                profile.timed(timed);
            }
            profile.remember_memory(Memory::now(&self.gpu));
        }
        if !self.gpu.capabilities.timestamps {
            self.renderer.update_budget(wall_ms);
        }
        Ok(Drawn { wall_ms, compile_ms })
    }

    /// See [`Renderer::read_noise`].
    pub(super) fn noise(&mut self) -> Result<Option<Noise>> {
        Ok(self.renderer.read_noise(&self.gpu)?)
    }

    /// Adds the CPU work from `began` until now to the profile, if there is one.
    fn profiled(&mut self, name: &'static str, began: Instant) {
        if let Some(profile) = &mut self.profile {
            profile.span(name, began);
        }
    }

    /// Sets the surface that the channel `deviation` measures the distance to.
    pub(super) fn set_compared(&mut self, compared: ReferenceSurface) -> Result<()> {
        let tree = ComparedTree::new(&self.gpu, Arc::new(compared))?;
        self.renderer.set_compared(Some(Arc::new(tree)));
        Ok(())
    }

    /// Builds the acceleration structure that the channel `lab` traces over the triangles of `moment`. Draws
    /// a frame to get the triangles, unless the structure already has this pose.
    pub(super) fn build_lab(&mut self, moment: &Moment) -> Result<()> {
        view::check_size(&self.gpu, self.config.output.size)?;
        if self.lab_pose.as_ref() == Some(&moment.pose) {
            return Ok(());
        }
        let mut config = geometry_only(self.config.clone());
        config.image.mode = ImageMode::Fast;
        let config = std::mem::replace(&mut self.config, config);
        let reads = std::mem::take(&mut self.reads);
        let drawn = self.draw(moment, FrameSample::SINGLE);
        (self.config, self.reads) = (config, reads);
        drawn?;
        let merged = self.merged()?;
        let ranges = visible::visible(&self.scene, &moment.pose, merged.meshes);
        let origin = self.uploaded.buffers.origin;
        let mut geometry = LabGeometry::new(&merged.positions, &merged.indices, ranges, origin);
        let scene = geometry.build(&self.gpu, LabBuild::from(&self.config.lab))?;
        LabView::within(&mut self.renderer, &self.gpu, &self.config.lab).set(Some(Arc::new(scene)));
        self.lab_pose = Some(moment.pose.clone());
        Ok(())
    }

    /// Returns the channel `lab`, if it was requested.
    pub(super) fn lab(&self) -> Option<&LabView> {
        LabView::of(&self.renderer)
    }

    /// Returns statistics of the last frame.
    pub(super) fn stats(&self) -> &FrameStats {
        self.renderer.stats()
    }

    /// Reads back the picture of the last frame as sRGB-encoded RGBA, eight bits per channel, with straight
    /// alpha.
    pub(super) fn picture(&self) -> Result<Vec<u8>> {
        let mut pixels = self.gpu.read_texture(&self.target)?;
        if self.config.environment.background == Background::Transparent {
            picture::unmultiply(&mut pixels);
        }
        Ok(pixels)
    }

    /// Reads back a channel of the last frame.
    pub(super) fn channel(&mut self, channel: Channel) -> Result<FloatImage> {
        Ok(self
            .renderer
            .read_channel(&self.gpu, channel, &self.uploaded.buffers)?)
    }

    /// Reads back the packed ambient visibility of the last frame. See [`Renderer::read_ambient_visibility`].
    pub(super) fn ambient_visibility(&self) -> Result<Vec<u32>> {
        Ok(self.renderer.read_ambient_visibility(&self.gpu)?)
    }

    /// Returns the range of merged triangles of each mesh.
    pub(super) fn meshes(&self) -> &[MeshRange] {
        &self.uploaded.buffers.meshes
    }

    /// Reads back the triangles that are visible in the last frame, which must show `pose`.
    pub(super) fn shown(&self, pose: &Pose) -> Result<VisibleGeometry> {
        let merged = self.merged()?;
        let ranges = visible::visible(&self.scene, pose, merged.meshes);
        Ok(VisibleGeometry::new(merged.positions, &merged.indices, ranges))
    }

    /// Reads back the merged triangles of the last frame, with positions relative to the returned origin.
    pub(super) fn merged_from_origin(&self) -> Result<(Merged, Vec3)> {
        let buffers = &self.uploaded.buffers;
        let merged = self.renderer.read_merged_from_origin(&self.gpu, buffers)?;
        Ok((merged, buffers.origin))
    }

    /// Reads back the merged triangles of the last frame.
    pub(super) fn merged(&self) -> Result<Merged> {
        Ok(self.renderer.read_merged(&self.gpu, &self.uploaded.buffers)?)
    }
}

fn input<'a>(
    scene: &'a Scene,
    config: &'a Config,
    exposure_ev: f32,
    moment: &'a Moment,
    reads: &'a [Channel],
) -> FrameInput<'a> {
    FrameInput {
        scene,
        pose: &moment.pose,
        view: moment.view,
        eye_rounding: moment.eye_rounding,
        config,
        exposure_ev,
        elapsed_secs: f32::INFINITY,
        channel: Channel::Lit,
        size: config.output.size,
        ground: moment.ground,
        reads,
    }
}

/// Loads the environment file of the settings into the renderer. Returns the mean luminance of the
/// environment, or 0 if the settings use no file.
fn read_environment(gpu: &Gpu, renderer: &mut Renderer, config: &Config) -> Result<f32> {
    if !config.environment.is_file() {
        return Ok(0.0);
    }
    let path = Path::new(&config.environment.file);
    let image = load_environment(path, config, most_texels(gpu, config))?;
    image.warnings.iter().for_each(|line| log::warn!("{line}"));
    renderer.set_environment(gpu, Some(&image))?;
    Ok(image.lighting_luminance(image.mean_luminance(), config.sun.enabled == config::Switch::On))
}

/// Fails if pictures of this size exceed the adapter's limits.
fn check_size(gpu: &Gpu, size: [u32; 2]) -> Result<()> {
    let most = gpu.limits.max_texture_dimension_2d;
    if size.into_iter().all(|side| side <= most) {
        return Ok(());
    }
    Err(Error::Limit {
        what: "the picture".into(),
        needed: format!("{}×{} pixels", size[0], size[1]),
        allowed: format!("{most} a side"),
        by: gpu.info.name.clone(),
    })
}

/// Creates a texture that can be rendered to and read back.
fn target(gpu: &Gpu, size: [u32; 2]) -> Result<wgpu::Texture> {
    Ok(gpu.catch(|| {
        gpu.device.create_texture(&wgpu::TextureDescriptor {
            label: Some("picture"),
            size: wgpu::Extent3d {
                width: size[0],
                height: size[1],
                depth_or_array_layers: 1,
            },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: wgpu::TextureFormat::Rgba8Unorm,
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
            view_formats: &[],
        })
    })?)
}
