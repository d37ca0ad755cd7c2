//! `canopy render`: pictures without a window.

use super::{
    adapters::adapter_json,
    console::json_text,
    info,
    offscreen::Offscreen,
    options::{LookArgs, TimeArgs},
};
use crate::{
    Error, Result,
    config::Config,
    gpu::Gpu,
    output::{self, picture},
    render::{Channel, FrameSample, FrameStats, material_textures::texture_support},
    scene::{
        Progress,
        opened::{OpenedScene, Span},
    },
};
use clap::Args;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Most poses of a sequence that the first view is fitted to.
const MOST_POSES: u32 = 9;

/// `canopy render`.
#[derive(Debug, Args)]
pub struct RenderArgs {
    /// Scene files (.gltf, .glb, .obj); several make one scene, none is the built-in one
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// The picture: .png, or .exr for linear radiance before exposure; {frame} or {frame:4} numbers a
    /// sequence
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
    /// Settings of the picture.
    #[command(flatten)]
    pub look: LookArgs,
    /// Time and variant.
    #[command(flatten)]
    pub time: TimeArgs,
    /// Number of pictures, one after another in time
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub frames: u32,
    /// Pictures per second of the sequence
    #[arg(long, value_name = "F", value_parser = fps)]
    pub fps: Option<f64>,
    /// Samples per pixel: each picture is the mean of N frames, jittered within the pixels. More than one
    /// replace the anti-aliasing filter. Channels are those of the first frame, at the pixels' centres;
    /// ambient is the mean of all
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(1..=4096)
    )]
    pub samples: u32,
    /// Also write a channel of the frame (position, normal, albedo, roughness, metallic, occlusion, emissive,
    /// depth, mesh, material, shadow, cost, ambient): .exr holds the floats, .png a picture
    #[arg(long, value_name = "NAME=FILE", value_delimiter = ',', value_parser = aov)]
    pub aov: Vec<(Channel, PathBuf)>,
    /// Write counts and timings of the last frame as JSON
    #[arg(long, value_name = "FILE.json")]
    pub stats: Option<PathBuf>,
}

/// Draws the pictures.
///
/// # Errors
///
/// [`Error::Usage`] for names that cannot be written to, before any work is done; those of loading and
/// drawing.
pub fn run(args: &RenderArgs, mut config: Config) -> Result<()> {
    args.look.apply(&mut config, "output.size")?;
    args.time.apply(&mut config)?;
    if let Some(fps) = args.fps {
        config.set("--fps", "output.fps", fps)?;
    }
    let outputs = outputs(args)?;
    let gpu = Gpu::new(&config.gpu)?;
    log::info!("{} ({})", gpu.info.name, gpu.info.backend.to_str());
    // A sequence is framed once, for all of its pictures.
    let span = Span::Sequence {
        seconds: (args.frames - 1) as f32 * config.animation.speed / config.output.fps,
        poses: args.frames.min(MOST_POSES) as usize,
    };
    let (support, progress) = (texture_support(&gpu), Progress::default());
    let opened = OpenedScene::load(&args.files, &config, support, span, &progress)?;
    let mut offscreen = Offscreen::new(gpu, opened.checked()?, &args.look.look(), config)?;
    let stats = draw(&mut offscreen, args, &outputs)?;
    offscreen.gpu.save_pipelines();
    match &args.stats {
        Some(path) => write_stats(path, &offscreen, &stats, args.samples),
        None => Ok(()),
    }
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
                "{}: --frames {} needs a name with {{frame}}, or every picture would replace the last",
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

/// Draws the sequence and writes its pictures. Returns the figures of its last frame.
fn draw(offscreen: &mut Offscreen, args: &RenderArgs, outputs: &[Output]) -> Result<FrameStats> {
    let animation = &offscreen.config.animation;
    let (start, step) = (
        animation.time,
        animation.speed / offscreen.config.output.fps,
    );
    let mut stats = FrameStats::default();
    for frame in 0..args.frames {
        let time = wrapped(offscreen, start + frame as f32 * step, frame);
        let moment = offscreen.moment(time);
        let count = args.samples;
        for index in 0..count {
            let sample = FrameSample::of(index, count);
            offscreen.draw(&moment, sample)?;
            // The time that reading channels back takes is not the frame's.
            stats = offscreen.stats().clone();
            // The mean of two mesh numbers is a third mesh's, so channels are those of the first sample.
            let is_ready = |output: &&Output| match output.channel {
                Channel::Lit | Channel::Ambient => sample.is_last(),
                _ => index == 0,
            };
            for output in outputs.iter().filter(is_ready) {
                let path = output.name.frame(frame);
                output::write(&path, &encode(offscreen, output)?)?;
                log::info!("wrote {}", path.display());
            }
        }
    }
    Ok(stats)
}

/// The time within the clip, which starts again at its end. The first frame is at the time that was given.
fn wrapped(offscreen: &Offscreen, time: f32, frame: u32) -> f32 {
    let clip = offscreen
        .clip
        .and_then(|clip| offscreen.scene.clips.get(clip));
    let duration = clip.map_or(0.0, |clip| clip.duration_secs);
    if frame > 0 && duration > 0.0 {
        time.rem_euclid(duration)
    } else {
        time
    }
}

fn encode(offscreen: &mut Offscreen, output: &Output) -> Result<Vec<u8>> {
    let [width, height] = offscreen.config.output.size;
    match (output.channel, output.extension) {
        (Channel::Lit, "png") => picture::png(width, height, offscreen.picture()?),
        (channel, extension) => {
            let image = offscreen.channel(channel)?;
            if extension == "exr" {
                return picture::exr(&image);
            }
            let pixels = picture::viewable(channel, &image);
            picture::png(image.width, image.height, pixels)
        }
    }
}

fn write_stats(path: &Path, offscreen: &Offscreen, stats: &FrameStats, samples: u32) -> Result<()> {
    let passes = stats
        .passes
        .iter()
        .map(|pass| json!({"name": pass.name, "depth": pass.depth, "gpu_ms": pass.last_ms}));
    let report = json!({
        "adapter": adapter_json(&offscreen.gpu.info),
        "size": offscreen.config.output.size,
        "samples": samples,
        "scene": info::counts(&offscreen.scene),
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
        "warnings": offscreen.scene.warnings,
    });
    output::write(path, json_text(&report).as_bytes())
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
