//! `canopy deviation`: measures the distance of one scene's surface from another's.

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
    render::{geometry::visible::VisibleGeometry, materials::material_textures::texture_support},
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

/// Arguments of `canopy deviation`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub struct DeviationArgs {
    /// Scene to measure, or - for standard input
    #[arg(value_name = "A")]
    pub a: PathBuf,
    /// Scene to which the distance is measured, or -
    #[arg(value_name = "B")]
    pub b: PathBuf,
    /// .png (picture of A), .csv (A's vertices) or .json (statistics); may be repeated
    #[arg(short, long, value_name = "OUT")]
    pub output: Vec<PathBuf>,
    /// Allowed distance, in either direction; also the end of the colour range
    #[arg(long, value_name = "D", allow_hyphen_values = true, value_parser = tolerance)]
    pub tolerance: Option<f64>,
    /// Samples on the surface for mean, RMS, fractions and histogram; at least 1 per triangle
    #[arg(
        long,
        value_name = "N",
        default_value_t = SAMPLES,
        value_parser = clap::value_parser!(u32).range(1..=20_000_000)
    )]
    pub samples: u32,
    /// Also measure B from A, for the Hausdorff distance
    #[arg(long)]
    pub both: bool,
    /// Size of the picture in pixels
    #[arg(long, value_name = "WxH", value_parser = size, help_heading = "Picture")]
    pub size: Option<[u32; 2]>,
    /// Camera of the picture.
    #[command(flatten)]
    pub camera: CameraArgs,
    /// Time and material variant.
    #[command(flatten)]
    pub time: TimeArgs,
}

const AFTER_HELP: &str = "\
Distances are in metres, and negative inside B. If B has holes, as scans do, the sign only says \
on which side of the nearest triangle a point lies. Time, clip, variant and up axis apply to both \
scenes. A clip or variant that only one of them has is ignored for the other.

The statistics go to standard output. Minimum and maximum are over vertices and samples. Mean, RMS, fractions and histogram are weighted by area. CSV has a row for each vertex of A's triangles, \
with the mesh and triangle numbers of `canopy query`:
  x,y,z,distance,mesh,nearest_x,nearest_y,nearest_z,nearest_mesh,nearest_triangle

Examples:
  canopy deviation scan.obj model.obj -o deviation.png --tolerance 0.0005
  canopy deviation lod2.glb lod0.glb --both -o vertices.csv -o statistics.json
  canopy deviation fox.glb rest.obj --clip Run --time 0.4 -o fox.png --tolerance 0.05";

fn tolerance(text: &str) -> Result<f64, String> {
    let distance = text.parse().ok().filter(|d| (1e-30..=1e30).contains(d));
    distance.ok_or_else(|| "expected a distance in metres above 0, such as 0.001".into())
}

/// Kind of an output file.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Picture,
    Vertices,
    Statistics,
}

/// Measures the distances, prints the statistics and writes the files.
///
/// # Errors
///
/// [`Error::Usage`] if an output cannot be written. [`Error::Scene`] if a scene has no triangles. Any error
/// of loading and drawing.
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
    let unseen = offscreen::hidden_frame(config.clone());
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
    let (a, b) = report.stage("tree", "BVHs of both scenes", || {
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
                        .map_err(|error| error.with_output(path.display()))
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

/// Checks the output files and returns their kinds.
fn outputs(paths: &[PathBuf]) -> Result<Vec<(Kind, &Path)>> {
    let mut outputs: Vec<(Kind, &Path)> = Vec::new();
    for path in paths {
        let kind = match output::extension(path, &["png", "csv", "json"])? {
            "png" => Kind::Picture,
            "csv" => Kind::Vertices,
            _ => Kind::Statistics,
        };
        if outputs.iter().any(|(_, other)| *other == path) {
            return Err(Error::Usage(format!(
                "{}: two outputs have this path",
                path.display()
            )));
        }
        output::check_writable(path)?;
        outputs.push((kind, path));
    }
    Ok(outputs)
}

/// Loads both scenes. A clip or variant has to exist in at least one of them.
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
    match [both[0].setting_error.take(), both[1].setting_error.take()] {
        [Some(setting_error), Some(_)] => return Err(setting_error.into()),
        misfits => {
            for (setting_error, path) in misfits.iter().zip(paths) {
                if let Some(setting_error) = setting_error {
                    log::warn!("{}: {setting_error}; passed over", path.display());
                }
            }
        }
    }
    Ok(both)
}

/// Makes all materials opaque and double-sided, and removes their normal textures and layers. The measurement
/// uses all triangles.
fn show_everything(scene: &mut Scene) {
    for material in &mut scene.materials {
        material.alpha_mode = AlphaMode::Opaque;
        material.double_sided = true;
        material.normal_texture = None;
        material.layers = None;
    }
}

/// Returns the settings of the frame whose positions and normals the picture is drawn from.
fn picture_config(config: Config, layout: &legend::Layout, gpu: &Gpu) -> Config {
    let mut config = offscreen::geometry_only(config);
    config.scene.ground = GroundMode::Off;
    config.output.size = picture::frame_size(layout, gpu);
    config
}

fn shown(offscreen: &Offscreen, moment: &Moment) -> Result<VisibleGeometry> {
    offscreen.shown(&moment.pose)
}
