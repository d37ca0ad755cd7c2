//! `canopy render`: pictures without a window.

use super::{LookArgs, TimeArgs};
use crate::{
    Error, Result,
    config::Config,
    gpu::{Gpu, layout::LIGHT_LIMIT},
    output::{self, picture},
    render::{
        Channel, FrameInput, FrameSample, FrameStats, Renderer, UploadedScene, View,
        environment::most_texels, material_textures::texture_support,
    },
    scene::{
        self, Pose, Progress, Scene,
        bounds::{Aabb, Bounds},
        deform, environment,
        framing::{self, Viewpoint},
    },
};
use clap::Args;
use serde_json::json;
use std::path::{Path, PathBuf};

/// `canopy render`.
#[derive(Debug, Args)]
pub struct RenderArgs {
    /// Scene files (.gltf, .glb, .obj); several make one scene, none takes the built-in one
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// The picture: .png, or .exr for linear radiance before exposure; {frame} or {frame:4} numbers a sequence
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
    /// What is shown.
    #[command(flatten)]
    pub look: LookArgs,
    /// When.
    #[command(flatten)]
    pub time: TimeArgs,
    /// Pictures to draw, one after another in time
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub frames: u32,
    /// Pictures per second of the sequence
    #[arg(long, value_name = "F", value_parser = fps)]
    pub fps: Option<f64>,
    /// Frames that each picture is the mean of, which look at different places of its pixels; more than one take the place of the
    /// anti-aliasing filter. Channels are those of the first, which looks at the pixels' middles; ambient takes them all
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub samples: u32,
    /// A channel of the frame as well (position, normal, albedo, roughness, metallic, occlusion, emissive, depth, mesh, material,
    /// shadow, cost, ambient): .exr holds the floats, .png a picture
    #[arg(long, value_name = "NAME=FILE", value_delimiter = ',', value_parser = aov)]
    pub aov: Vec<(Channel, PathBuf)>,
    /// Counts and timings of the last frame as JSON
    #[arg(long, value_name = "FILE.json")]
    pub stats: Option<PathBuf>,
}

/// Draws the pictures.
pub fn run(args: &RenderArgs, mut config: Config) -> Result<()> {
    args.look.apply(&mut config, "output.size")?;
    args.time.apply(&mut config)?;
    if let Some(fps) = args.fps {
        config.set("--fps", "output.fps", fps)?;
    }
    let outputs = outputs(args)?;
    let shot = Shot::new(args, config)?;
    shot.draw(args, &outputs)
}

/// A picture to be written.
struct Output {
    channel: Channel,
    name: output::Template,
    extension: &'static str,
}

/// Everything that is to be written, checked before any work is done.
fn outputs(args: &RenderArgs) -> Result<Vec<Output>> {
    let mut outputs = Vec::new();
    let wanted = std::iter::once((Channel::Lit, &args.output));
    for (channel, path) in wanted.chain(args.aov.iter().map(|(c, path)| (*c, path))) {
        let output = Output {
            channel,
            name: output::Template::new(path)?,
            extension: output::extension(path, &["png", "exr"])?,
        };
        if args.frames > 1 && !output.name.is_numbered() {
            return Err(Error::Usage(format!(
                "{}: --frames {} needs a name with {{frame}} in it, or every picture would replace the last",
                path.display(),
                args.frames
            )));
        }
        if outputs
            .iter()
            .any(|other: &Output| other.name == output.name)
        {
            return Err(Error::Usage(format!(
                "{}: is written twice",
                path.display()
            )));
        }
        output::check_writable(&output.name.frame(0))?;
        outputs.push(output);
    }
    if let Some(path) = &args.stats {
        output::extension(path, &["json"])?;
        output::check_writable(path)?;
    }
    Ok(outputs)
}

/// A loaded scene on an open GPU, with the view that stays.
struct Shot {
    config: Config,
    scene: Scene,
    clip: Option<usize>,
    bounds: Bounds,
    viewpoint: Viewpoint,
    /// The file's camera that it is taken through, which clips may move.
    camera: Option<usize>,
    exposure_ev: f32,
    gpu: Gpu,
    renderer: Renderer,
    uploaded: UploadedScene,
    /// Of the last frame.
    stats: FrameStats,
}

impl Shot {
    fn new(args: &RenderArgs, mut config: Config) -> Result<Self> {
        let gpu = Gpu::new(&config.gpu)?;
        log::info!("{} ({})", gpu.info.name, gpu.info.backend.to_str());
        let progress = Progress::default();
        let mut scene =
            scene::load_for(&args.files, &config.load, texture_support(&gpu), &progress)?;
        scene.choose_variant(scene.variant(&config.scene.variant)?);
        scene.warnings.iter().for_each(|line| log::warn!("{line}"));
        // The built-in scene is made to be seen through its camera.
        if args.files.is_empty() && config.camera.name.is_empty() && !scene.cameras.is_empty() {
            config.camera.name = "0".into();
        }
        let clip = scene.clip(&config.animation.clip)?;
        let pose = Pose::new(&scene, clip, config.animation.time);
        // A sequence is framed once, for all of its pictures.
        let animation = &config.animation;
        let seconds = (args.frames - 1) as f32 * animation.speed / config.output.fps;
        let times = args.frames.min(9) as usize;
        let points = deform::positions_over(&scene, clip, animation.time, seconds, times);
        let [width, height] = config.output.size;
        let viewpoint = Viewpoint::first(
            &scene,
            &pose,
            &points,
            &args.look.look(),
            &config.camera,
            width as f32 / height as f32,
        )?;
        let camera = scene.camera(&config.camera.name).ok().flatten();
        let camera =
            camera.filter(|&camera| Viewpoint::of_camera(&scene, &pose, camera) == Some(viewpoint));
        check_size(&gpu, config.output.size)?;
        let mut renderer = Renderer::new(&gpu)?;
        let file_luminance = light_from_file(&gpu, &mut renderer, &config)?;
        let uploaded = renderer.uploader().upload(&gpu, &scene, &config)?;
        // The GPU has them now.
        scene.images.iter_mut().for_each(|i| i.levels.clear());
        Ok(Self {
            bounds: Bounds::new(&scene),
            exposure_ev: framing::exposure_ev(
                &scene,
                &pose,
                Aabb::of(points),
                &config,
                file_luminance,
                LIGHT_LIMIT as usize,
            ),
            config,
            scene,
            clip,
            viewpoint,
            camera,
            gpu,
            renderer,
            uploaded,
            stats: FrameStats::default(),
        })
    }

    fn draw(mut self, args: &RenderArgs, outputs: &[Output]) -> Result<()> {
        let target = target(&self.gpu, self.config.output.size)?;
        let animation = &self.config.animation;
        let (start, step) = (animation.time, animation.speed / self.config.output.fps);
        for frame in 0..args.frames {
            let time = self.wrapped(start + frame as f32 * step, frame);
            let count = args.samples;
            for index in 0..count {
                let sample = FrameSample { index, count };
                self.frame(time, sample, &target)?;
                // Channels do not mix: a number between two meshes' is a third one's.
                let ready = |output: &&Output| match output.channel {
                    Channel::Lit | Channel::Ambient => sample.is_last(),
                    _ => index == 0,
                };
                for output in outputs.iter().filter(ready) {
                    let path = output.name.frame(frame);
                    output::write(&path, &self.encode(output, &target)?)?;
                    log::info!("wrote {}", path.display());
                }
            }
        }
        self.gpu.save_pipelines();
        match &args.stats {
            Some(path) => self.write_stats(path, args.samples),
            None => Ok(()),
        }
    }

    /// A sequence goes on from the clip's beginning when it comes to the end; its first frame is where it was asked to be.
    fn wrapped(&self, time: f32, frame: u32) -> f32 {
        let clip = self.clip.and_then(|clip| self.scene.clips.get(clip));
        let duration = clip.map_or(0.0, |clip| clip.duration_secs);
        if frame > 0 && duration > 0.0 {
            time.rem_euclid(duration)
        } else {
            time
        }
    }

    /// Draws a sample of the moment `time` and waits for it.
    fn frame(&mut self, time: f32, sample: FrameSample, target: &wgpu::Texture) -> Result<()> {
        let pose = Pose::new(&self.scene, self.clip, time);
        let bounds = self.bounds.scene(&self.scene, &pose);
        let through = |camera| Viewpoint::of_camera(&self.scene, &pose, camera);
        let viewpoint = self.camera.and_then(through).unwrap_or(self.viewpoint);
        let input = FrameInput {
            scene: &self.scene,
            pose: &pose,
            view: view(&viewpoint, bounds),
            config: &self.config,
            exposure_ev: self.exposure_ev,
            elapsed_secs: f32::INFINITY,
            channel: Channel::Lit,
            size: self.config.output.size,
        };
        let mut encoder = self.gpu.encoder("frame");
        let target_view = target.create_view(&wgpu::TextureViewDescriptor {
            label: Some("picture"),
            ..Default::default()
        });
        self.renderer.record_sample(
            &self.gpu,
            &mut encoder,
            &input,
            &mut self.uploaded,
            sample,
            &target_view,
        )?;
        self.renderer.submit(&self.gpu, encoder);
        self.gpu.wait()?;
        self.renderer.collect(&self.gpu);
        // Reading channels back is not the frame's time.
        self.stats = self.renderer.stats().clone();
        Ok(())
    }

    fn encode(&mut self, output: &Output, target: &wgpu::Texture) -> Result<Vec<u8>> {
        let [width, height] = self.config.output.size;
        match (output.channel, output.extension) {
            (Channel::Lit, "png") => picture::png(width, height, self.gpu.read_texture(target)?),
            (channel, extension) => {
                let image =
                    self.renderer
                        .read_channel(&self.gpu, channel, &self.uploaded.buffers)?;
                if extension == "exr" {
                    return picture::exr(&image);
                }
                let pixels = picture::viewable(channel, &image);
                picture::png(image.width, image.height, pixels)
            }
        }
    }

    fn write_stats(self, path: &Path, samples: u32) -> Result<()> {
        let stats = &self.stats;
        let passes = stats
            .passes
            .iter()
            .map(|pass| json!({"name": pass.name, "depth": pass.depth, "gpu_ms": pass.last_ms}));
        let report = json!({
            "adapter": super::adapter_json(&self.gpu.info),
            "size": self.config.output.size,
            "samples": samples,
            "scene": super::info::counts(&self.scene),
            "passes": passes.collect::<Vec<_>>(),
            "cpu_record_ms": stats.cpu_record_ms,
            "triangles": stats.triangles,
            "lines": stats.lines,
            "points": stats.points,
            "vertices": stats.vertices,
            "meshes": stats.meshes,
            "tree_nodes": stats.nodes,
            "lights": stats.lights,
            "rays": stats.rays,
            "tiles": stats.tiles,
            "sending_tiles": stats.sending_tiles,
            "tree_work": stats.tree_work.name(),
            "tree_growth": stats.tree_growth,
            "tree_dispatches": stats.tree_dispatches,
            "exposure_ev": stats.exposure_ev,
            "warnings": self.scene.warnings,
        });
        output::write(path, super::json_text(&report).as_bytes())
    }
}

/// Gives the renderer the environment's file that the configuration names; its mean luminance, 0 without one.
pub(super) fn light_from_file(gpu: &Gpu, renderer: &mut Renderer, config: &Config) -> Result<f32> {
    if !config.environment.is_file() {
        return Ok(0.0);
    }
    let path = Path::new(&config.environment.file);
    let image = environment::load_for(path, config, most_texels(gpu, config))?;
    image.warnings.iter().for_each(|line| log::warn!("{line}"));
    renderer.set_environment(gpu, Some(&image))?;
    Ok(image.mean_luminance())
}

/// A view with the planes that `bounds` ask for.
pub(super) fn view(viewpoint: &Viewpoint, bounds: Aabb) -> View {
    let (near, far) = viewpoint.clip_planes(bounds, f32::INFINITY);
    View {
        world_from_view: viewpoint.world_from_view,
        projection: viewpoint.projection,
        near,
        far,
    }
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
pub(super) fn target(gpu: &Gpu, size: [u32; 2]) -> Result<wgpu::Texture> {
    gpu.catch(|| {
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
    })
}

fn fps(text: &str) -> Result<f64, String> {
    let fps = text.parse().ok().filter(|n| (0.001..=1e6).contains(n));
    fps.ok_or_else(|| "expected frames per second, such as 30".into())
}

fn aov(text: &str) -> Result<(Channel, PathBuf), String> {
    let names = || Channel::ALL.iter().skip(1).map(|c| c.name());
    let Some((name, file)) = text.split_once('=') else {
        return Err("expected NAME=FILE, such as normal=normal.exr".into());
    };
    let channel = Channel::ALL.into_iter().skip(1).find(|c| c.name() == name);
    match channel {
        Some(channel) if !file.is_empty() => Ok((channel, file.into())),
        Some(_) => Err("has no file name".into()),
        None => Err(format!(
            "no channel \"{name}\"; there are {}",
            names().collect::<Vec<_>>().join(", ")
        )),
    }
}
