//! `canopy deviation`: how far one scene's surface is from another's.

mod legend;
mod picture;
mod result;
mod surface;
mod text;

use super::{
    console::print,
    offscreen::{self, Moment, Offscreen},
    options::{CameraArgs, TimeArgs, size},
    report::Report,
};
use crate::{
    Error, Result,
    config::{Config, GroundMode},
    gpu::Gpu,
    output::{self, numbers},
    render::{geometry::shown::Shown, materials::material_textures::texture_support},
    scene::{
        AlphaMode, Scene,
        deviation::SAMPLES,
        framing::Look,
        is_stdin,
        opened::{OpenedScene, Span},
    },
};

use clap::Args;
use result::Deviation;
use std::path::{Path, PathBuf};
use surface::Surface;

/// `canopy deviation`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub struct DeviationArgs {
    /// The scene whose surface is measured, or - for standard input
    #[arg(value_name = "A")]
    pub a: PathBuf,
    /// The scene that its distance is measured from, or -
    #[arg(value_name = "B")]
    pub b: PathBuf,
    /// .png (picture of A), .csv (A's vertices) or .json (statistics); may be repeated
    #[arg(short, long, value_name = "OUT")]
    pub output: Vec<PathBuf>,
    /// Distance, of either sign, from which A is out of tolerance; the colours end there
    #[arg(long, value_name = "D", allow_hyphen_values = true, value_parser = tolerance)]
    pub tolerance: Option<f64>,
    /// Points spread over the surface for mean, RMS and shares; every triangle has one
    #[arg(
        long,
        value_name = "N",
        default_value_t = SAMPLES,
        value_parser = clap::value_parser!(u32).range(1..=20_000_000)
    )]
    pub samples: u32,
    /// Measure B from A as well, which gives the Hausdorff distance
    #[arg(long)]
    pub both: bool,
    /// Size of the picture in pixels
    #[arg(long, value_name = "WxH", value_parser = size, help_heading = "Picture")]
    pub size: Option<[u32; 2]>,
    /// From where the picture is seen.
    #[command(flatten)]
    pub camera: CameraArgs,
    /// Time and variant.
    #[command(flatten)]
    pub time: TimeArgs,
}

const AFTER_HELP: &str = "\
Distances are in metres, and negative inside of B. Where B is open, as a scan with holes is, the sign says on \
which side of its nearest triangle a point lies. Time, clip, variant and upward axis hold for both scenes; a \
clip or variant that one of them lacks is passed over there.

The statistics go to standard output. Minimum and maximum are those of vertices and samples; mean, RMS, shares \
and histogram are by area. CSV has a row for each vertex of A's triangles, in the numbers of `canopy query`:
  x,y,z,distance,mesh,nearest_x,nearest_y,nearest_z,nearest_mesh,nearest_triangle

Examples:
  canopy deviation scan.obj model.obj -o deviation.png --tolerance 0.0005
  canopy deviation lod2.glb lod0.glb --both -o vertices.csv -o statistics.json
  canopy deviation fox.glb rest.obj --clip Run --time 0.4 -o fox.png --tolerance 0.05";

fn tolerance(text: &str) -> Result<f64, String> {
    let distance = text.parse().ok().filter(|d| (1e-30..=1e30).contains(d));
    distance.ok_or_else(|| "expected a distance in metres above 0, such as 0.001".into())
}

/// What kind of file an output is.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Picture,
    Vertices,
    Statistics,
}

/// Measures, prints the statistics and writes the files.
///
/// # Errors
///
/// [`Error::Usage`] for names of files that cannot be written to; [`Error::Scene`] for a scene without triangles;
/// those of loading and drawing.
pub fn run(args: &DeviationArgs, mut config: Config, quiet: bool) -> Result<()> {
    args.time.apply(&mut config)?;
    args.camera.apply(&mut config)?;
    if let Some([width, height]) = args.size {
        let pixels = vec![i64::from(width), i64::from(height)];
        config.set("--size", "output.size", pixels)?;
    }
    if is_stdin(&args.a) && is_stdin(&args.b) {
        let what = "A and B cannot both be standard input; name a file";
        return Err(Error::Usage(what.into()));
    }
    let outputs = outputs(&args.output)?;
    let report = Report::new(quiet);
    let gpu = offscreen::adapter(&report, &config)?;
    let [mut a, mut b] = opened(&report, &gpu, [&args.a, &args.b], &config)?;
    let layout = legend::Layout::new(config.output.size);
    let has_picture = outputs.iter().any(|(kind, _)| *kind == Kind::Picture);
    for scene in [&mut a.scene, &mut b.scene] {
        show_everything(scene);
    }
    let look = Look::default();
    let unseen = offscreen::unseen(config.clone());
    let (offscreen, moment) = offscreen::deform(&report, gpu, b, &look, unseen.clone())?;
    let shown_b = shown(&offscreen, &moment)?;
    let (a_config, a_look) = match has_picture {
        true => (
            picture_config(config, &layout, &offscreen.gpu),
            args.camera.look(),
        ),
        false => (unseen, look),
    };
    let (mut offscreen, moment) = offscreen::deform(&report, offscreen.gpu, a, &a_look, a_config)?;
    let shown_a = shown(&offscreen, &moment)?;
    report.line.stage("measuring");
    let gpu = &offscreen.gpu;
    let (a, b) = report.stage("tree", "trees of both scenes", || {
        Ok::<_, Error>((
            Surface::new(gpu, &args.a, shown_a)?,
            Surface::new(gpu, &args.b, shown_b)?,
        ))
    })?;
    let deviation = report.stage("measure", "vertices and samples", || {
        Deviation::new(gpu, &a, &b, args.tolerance, args.samples, args.both)
    })?;
    deviation.warn();
    for (kind, path) in &outputs {
        let bytes = match kind {
            Kind::Picture => {
                report.line.stage("drawing");
                report.stage("draw", "the picture", || {
                    picture::png(&mut offscreen, &moment, &deviation, &layout, path)
                })?
            }
            Kind::Vertices => deviation.csv().into_bytes(),
            Kind::Statistics => format!("{:#}\n", deviation.json()).into_bytes(),
        };
        output::write(path, &bytes)?;
    }
    offscreen.gpu.save_pipelines();
    let names: Vec<_> = outputs
        .iter()
        .map(|(_, path)| path.display().to_string())
        .collect();
    match names.is_empty() {
        true => drop(report),
        false => report.wrote(&format!(
            "{} ({} vertices, {} samples)",
            names.join(", "),
            numbers::grouped(deviation.vertices.len() as u64),
            numbers::grouped(deviation.statistics.samples as u64),
        )),
    }
    print(&deviation.text())
}

/// The files that are going to be written, checked.
fn outputs(paths: &[PathBuf]) -> Result<Vec<(Kind, &Path)>> {
    let mut outputs: Vec<(Kind, &Path)> = Vec::new();
    for path in paths {
        let kind = match output::extension(path, &["png", "csv", "json"])? {
            "png" => Kind::Picture,
            "csv" => Kind::Vertices,
            _ => Kind::Statistics,
        };
        if outputs.iter().any(|(_, other)| *other == path) {
            return Err(Error::Usage(format!("{}: is written twice", path.display())));
        }
        output::check_writable(path)?;
        outputs.push((kind, path));
    }
    Ok(outputs)
}

/// Both scenes. A clip or a variant has to fit one of them.
fn opened(report: &Report, gpu: &Gpu, paths: [&Path; 2], config: &Config) -> Result<[OpenedScene; 2]> {
    let open = |path: &Path| {
        let opened = offscreen::load(report, &[path.to_owned()], |files, progress| {
            Ok(OpenedScene::load(
                files,
                config,
                texture_support(gpu),
                Span::MOMENT,
                progress,
            )?)
        })?;
        let primitives = opened.scene.meshes.iter().flat_map(|mesh| &mesh.primitives);
        match primitives.into_iter().all(|p| p.indices.is_empty()) {
            true => Err(Error::scene(path, "holds no triangles to measure")),
            false => Ok(opened),
        }
    };
    let mut both = [open(paths[0])?, open(paths[1])?];
    match [both[0].misfit.take(), both[1].misfit.take()] {
        [Some(misfit), Some(_)] => return Err(misfit.into()),
        misfits => {
            for (misfit, path) in misfits.iter().zip(paths) {
                if let Some(misfit) = misfit {
                    log::warn!("{}: {misfit}; passed over", path.display());
                }
            }
        }
    }
    Ok(both)
}

/// What is measured are triangles: none of them is see-through, or seen from one side only.
fn show_everything(scene: &mut Scene) {
    for material in &mut scene.materials {
        material.alpha_mode = AlphaMode::Opaque;
        material.double_sided = true;
        material.normal_texture = None;
        material.layers = None;
    }
}

/// Settings of the frame that a picture is made of.
fn picture_config(config: Config, layout: &legend::Layout, gpu: &Gpu) -> Config {
    let mut config = offscreen::geometry_alone(config);
    config.scene.ground = GroundMode::Off;
    config.output.size = picture::frame_size(layout, gpu);
    config
}

fn shown(offscreen: &Offscreen, moment: &Moment) -> Result<Shown> {
    offscreen.shown(&moment.pose)
}
