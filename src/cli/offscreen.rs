//! A scene that is drawn without a window, by `render`, `compare`, `export`, `query`, `deviation` and the
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
        geometry::shown::{self, Shown},
        inspect::compared_tree::ComparedTree,
        layout::LIGHT_LIMIT,
        light::scene_exposure::first_exposure_ev,
        materials::material_textures::texture_support,
        paths::{self, path_sums::PathSums},
    },
    scene::{
        Blend, Pose, Progress, Scene,
        bounds::{Aabb, Bounds},
        compared::Compared,
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

/// An uploaded scene, with the view and the exposure that are settled once.
#[derive(Debug)]
pub(super) struct Offscreen {
    pub(super) gpu: Arc<Gpu>,
    pub(super) config: Config,
    /// The scene with its edits, without the texels of its images.
    pub(super) scene: Scene,
    pub(super) edits: AppliedEdits,
    /// Nodes whose meshes are hidden.
    pub(super) hidden: BTreeSet<usize>,
    /// The clip that plays.
    pub(super) clip: Option<usize>,
    /// The clips that are blended, and morph weights.
    pub(super) blend: Blend,
    bounds: Bounds,
    /// The ground below the scene.
    pub(super) ground: Option<Ground>,
    first: FirstView,
    exposure_ev: f32,
    renderer: Renderer,
    uploaded: UploadedScene,
    target: wgpu::Texture,
    /// The pose of the structure that the channel `lab` traces through.
    lab_pose: Option<Pose>,
    /// Channels that are going to be read.
    pub(super) reads: Vec<Channel>,
    /// What the frames take, where that is asked for.
    pub(super) profile: Option<History>,
}

/// What a draw took.
#[derive(Debug, Clone, Copy)]
pub(super) struct Drawn {
    /// Milliseconds from its submission until it was done.
    pub(super) wall_ms: f64,
    /// Milliseconds that compiling took.
    pub(super) compile_ms: f64,
}

/// Runs `open` on `files` and shows how far it has come.
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

/// The adapter of the settings.
pub(super) fn adapter(report: &Report, config: &Config) -> Result<Gpu> {
    report.line.stage("opening the adapter");
    report.stage("open", "the adapter", || crate::device::open(&config.gpu))
}

/// Settings of a frame that shows the scene's geometry and nothing else.
pub(super) fn geometry_alone(mut config: Config) -> Config {
    config.shadows.mode = ShadowMode::Off;
    config.occlusion.mode = OcclusionMode::Off;
    config.reflections.mode = ReflectionMode::Off;
    config.environment.source = EnvironmentSource::Color;
    config
}

/// The scene of `files`, deformed on the adapter at the time of the settings.
///
/// # Errors
///
/// Those of loading and drawing.
pub(super) fn deformed(report: &Report, files: &[PathBuf], config: Config) -> Result<(Offscreen, Moment)> {
    let config = unseen(config);
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

/// Settings of a frame that fills the buffers and is not looked at.
pub(super) fn unseen(config: Config) -> Config {
    let mut config = geometry_alone(config);
    config.output.size = [16, 16];
    config.camera.name.clear();
    config
}

/// Draws a frame of `opened` at the time of the settings.
///
/// # Errors
///
/// Those of [`Offscreen::new`] and of drawing.
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

/// A scene at a time.
#[derive(Debug)]
pub(super) struct Moment {
    /// Time in the clip, in seconds.
    pub(super) time: f32,
    pub(super) pose: Pose,
    pub(super) view: View,
    /// As [`FrameInput::eye_rest`].
    pub(super) eye_rest: Vec3,
    /// Bounds of the scene in this pose.
    pub(super) bounds: Aabb,
    pub(super) ground: Option<Ground>,
}

impl Offscreen {
    /// Uploads `opened` for pictures of `output.size`, and logs its warnings. The first view is `look`, or
    /// that of the settings.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] for a camera that the scene lacks, [`Error::Limit`] for pictures or scenes that
    /// the adapter does not hold, and those of the environment's file.
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
        // As the viewer does: textures keep what they are in the file.
        let mut edits = AppliedEdits::default();
        let changed = edits.apply(&mut scene, &opened.edits.edits);
        renderer.write_materials(&gpu, &scene, &changed, &mut uploaded)?;
        // The GPU has them now.
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

    /// Length in seconds of the clip, or of the longest that is blended; 0 without one.
    pub(super) fn duration_secs(&self) -> f32 {
        self.blend.duration_secs(&self.scene, self.clip)
    }

    /// The scene at `time` in its clip, in seconds, as its camera sees it then.
    pub(super) fn moment(&mut self, time: f32) -> Moment {
        self.moment_from(time, None)
    }

    /// As [`Self::moment`], seen from `viewpoint` where there is one.
    pub(super) fn moment_from(&mut self, time: f32, viewpoint: Option<Viewpoint>) -> Moment {
        let began = Instant::now();
        let mut pose = Pose::blended(&self.scene, self.clip, &self.blend, time);
        pose.hide(&self.hidden);
        let bounds = self.bounds.scene(&self.scene, &pose);
        let (viewpoint, eye_rest) = match viewpoint {
            Some(viewpoint) => (viewpoint, Vec3::ZERO),
            None => self.first.at(&self.scene, &pose),
        };
        self.profiled("animate", began);
        let ground = self.ground;
        Moment {
            time,
            view: View::new(&viewpoint, bounds, f32::INFINITY, ground.as_ref()),
            eye_rest,
            pose,
            bounds,
            ground,
        }
    }

    /// Whether its pictures are made of paths.
    pub(super) fn traces_paths(&self) -> bool {
        frame::is_of_paths(&self.config, Channel::Lit)
    }

    /// As [`Renderer::read_path_lengths`].
    pub(super) fn path_lengths(&self) -> Result<Vec<u32>> {
        Ok(self.renderer.read_path_lengths(&self.gpu)?)
    }

    /// The next draws add so many samples of each pixel, if there are no more in one.
    pub(super) fn set_path_samples(&mut self, samples: u32) {
        self.renderer.path_samples = samples.min(paths::MOST_ADDED);
    }

    /// The next draws are of these samples of the picture's paths, and begin anew where others were drawn.
    pub(super) fn set_path_part(&mut self, samples: Range<u32>) {
        self.renderer.path_part = Some(samples);
    }

    /// The next draw goes on from these sums of the first `samples` of a picture's paths.
    pub(super) fn restore_paths(&mut self, sums: &PathSums, samples: u32) -> Result<()> {
        Ok(self.renderer.restore_paths(&self.gpu, sums, samples)?)
    }

    /// The sums of the paths that have been drawn.
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
                Attempt::Missing(needs) => {
                    let stopwatch = Stopwatch::new();
                    needs.meet(gpu)?;
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
            self.renderer.learn_wall_ms(wall_ms);
        }
        Ok(Drawn { wall_ms, compile_ms })
    }

    /// As [`Renderer::read_noise`].
    pub(super) fn noise(&mut self) -> Result<Option<Noise>> {
        Ok(self.renderer.read_noise(&self.gpu)?)
    }

    /// Work on the CPU that began at `began` is part of the profile.
    fn profiled(&mut self, name: &'static str, began: Instant) {
        if let Some(profile) = &mut self.profile {
            profile.span(name, began);
        }
    }

    /// Measures the channel `deviation` from this surface.
    pub(super) fn set_compared(&mut self, compared: Compared) -> Result<()> {
        let tree = ComparedTree::new(&self.gpu, Arc::new(compared))?;
        self.renderer.set_compared(Some(Arc::new(tree)));
        Ok(())
    }

    /// Traces the channel `lab` through a structure over the triangles of `moment`. They are drawn by a frame
    /// of their own, unless the structure is of the same pose.
    pub(super) fn build_lab(&mut self, moment: &Moment) -> Result<()> {
        view::check_size(&self.gpu, self.config.output.size)?;
        if self.lab_pose.as_ref() == Some(&moment.pose) {
            return Ok(());
        }
        let mut config = geometry_alone(self.config.clone());
        config.image.mode = ImageMode::Fast;
        let config = std::mem::replace(&mut self.config, config);
        let reads = std::mem::take(&mut self.reads);
        let drawn = self.draw(moment, FrameSample::SINGLE);
        (self.config, self.reads) = (config, reads);
        drawn?;
        let merged = self.merged()?;
        let ranges = shown::visible(&self.scene, &moment.pose, merged.meshes);
        let origin = self.uploaded.buffers.origin;
        let mut geometry = LabGeometry::new(&merged.positions, &merged.indices, ranges, origin);
        let scene = geometry.build(&self.gpu, LabBuild::from(&self.config.lab))?;
        LabView::within(&mut self.renderer, &self.gpu, &self.config.lab).set(Some(Arc::new(scene)));
        self.lab_pose = Some(moment.pose.clone());
        Ok(())
    }

    /// The channel `lab`, where it has been asked for.
    pub(super) fn lab(&self) -> Option<&LabView> {
        LabView::of(&self.renderer)
    }

    /// Figures of the last frame.
    pub(super) fn stats(&self) -> &FrameStats {
        self.renderer.stats()
    }

    /// The picture of the last frame: RGBA of eight bits a channel, sRGB-encoded, not premultiplied.
    pub(super) fn picture(&self) -> Result<Vec<u8>> {
        let mut pixels = self.gpu.read_texture(&self.target)?;
        if self.config.environment.background == Background::Transparent {
            picture::unmultiply(&mut pixels);
        }
        Ok(pixels)
    }

    /// A channel of the last frame.
    pub(super) fn channel(&mut self, channel: Channel) -> Result<FloatImage> {
        Ok(self
            .renderer
            .read_channel(&self.gpu, channel, &self.uploaded.buffers)?)
    }

    /// The words of ambient visibility of the last frame: see [`Renderer::read_ambient_visibility`].
    pub(super) fn ambient_visibility(&self) -> Result<Vec<u32>> {
        Ok(self.renderer.read_ambient_visibility(&self.gpu)?)
    }

    /// The part of the merged triangles that each mesh fills.
    pub(super) fn meshes(&self) -> &[MeshRange] {
        &self.uploaded.buffers.meshes
    }

    /// The triangles that the last frame shows, which is of `pose`.
    pub(super) fn shown(&self, pose: &Pose) -> Result<Shown> {
        let merged = self.merged()?;
        let ranges = shown::visible(&self.scene, pose, merged.meshes);
        Ok(Shown::new(merged.positions, &merged.indices, ranges))
    }

    /// The merged triangles of the last frame, with positions counted from the point that is returned with them.
    pub(super) fn merged_from_origin(&self) -> Result<(Merged, Vec3)> {
        let buffers = &self.uploaded.buffers;
        let merged = self.renderer.read_merged_from_origin(&self.gpu, buffers)?;
        Ok((merged, buffers.origin))
    }

    /// The merged triangles of the last frame.
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
        eye_rest: moment.eye_rest,
        config,
        exposure_ev,
        elapsed_secs: f32::INFINITY,
        channel: Channel::Lit,
        size: config.output.size,
        ground: moment.ground,
        reads,
    }
}

/// Gives the renderer the environment's file that the settings name. Returns the mean luminance
/// that lights the scene, 0 without one.
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

/// Fails if the adapter has no pictures of this size.
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

/// A texture that can be drawn to and read back.
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
