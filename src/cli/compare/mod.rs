//! `canopy compare`: compares two pictures, two scenes, or two settings of one scene.

mod result;
mod sheet;
mod side;
mod text;

use super::{
    console::{json_text, print},
    options::{LookArgs, TimeArgs, time_limit},
    report::Report,
};
use crate::{
    Result,
    config::{Config, GroundMode, ImageMode},
    output::{
        self,
        flip::PIXELS_PER_DEGREE,
        picture_error::{Metric, PictureError},
    },
    scene::picture,
};
use clap::{Args, ValueEnum};
use result::{Comparison, ReferenceStats};
use side::{Drawing, check_files, sides, usage};
use std::path::{Path, PathBuf};

/// Arguments of `canopy compare`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP, mut_arg("deviation", |arg| arg.hide(true)))]
pub struct CompareArgs {
    /// Picture (.png, .jpg, .exr, .hdr) or scene, or - for standard input; default: the built-in scene
    #[arg(value_name = "A")]
    pub a: Option<PathBuf>,
    /// Picture or scene to compare A with; default: scene A with the settings of --with
    #[arg(value_name = "B")]
    pub b: Option<PathBuf>,
    /// Compare scene A with its path-traced reference at the same exposure
    #[arg(long, conflicts_with = "b", help_heading = "Reference")]
    pub reference: bool,
    /// Paths per pixel of the reference; default: paths.samples
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=1_000_000_000),
        help_heading = "Reference"
    )]
    pub paths: Option<u32>,
    /// Stop path tracing after this time
    #[arg(
        long,
        value_name = "SECONDS",
        value_parser = time_limit,
        help_heading = "Reference"
    )]
    pub time_limit: Option<f64>,
    /// Setting for B only; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub with: Vec<String>,
    /// .png (A, B and an error map) or .json (statistics); may be repeated
    #[arg(short, long, value_name = "OUT", help_heading = "Output")]
    pub output: Vec<PathBuf>,
    /// Write only the error map to the picture
    #[arg(long, help_heading = "Output")]
    pub map_only: bool,
    /// Print JSON
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Error metric; default: flip, or rmse for .exr and .hdr
    #[arg(
        long,
        value_name = "flip|rmse",
        hide_possible_values = true,
        help_heading = "Error"
    )]
    pub metric: Option<MetricName>,
    /// Pixels per degree of visual angle for flip; default: 67
    #[arg(long, value_name = "N", value_parser = pixels_per_degree, help_heading = "Error")]
    pub ppd: Option<f32>,
    /// Exit with 1 if the mean of flip, or rmse, is larger
    #[arg(
        long,
        value_name = "T",
        allow_hyphen_values = true,
        value_parser = tolerance,
        help_heading = "Error"
    )]
    pub tolerance: Option<f64>,
    /// Average N jittered draws per scene; default: 1, or 16 with --reference
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=4096),
        help_heading = "Picture"
    )]
    pub samples: Option<u32>,
    /// Compare the last of N single frames in a row
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=4096),
        conflicts_with = "samples",
        help_heading = "Picture"
    )]
    pub frames: Option<u32>,
    /// Appearance of both scenes.
    #[command(flatten)]
    pub look: LookArgs,
    /// Time and material variant of both scenes.
    #[command(flatten)]
    pub time: TimeArgs,
}

/// Names of [`Metric`] on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MetricName {
    /// Perceived difference.
    Flip,
    /// Root mean square error.
    Rmse,
}

const AFTER_HELP: &str = "\
FLIP (Andersson et al. 2020) is the perceived difference between two alternating pictures, from 0 \
to 1. RMSE is the root mean square error of sRGB values from 0 to 1, or of linear radiance for \
.exr and .hdr.

A scene that is compared with a picture is rendered at the picture's size. Times are for a frame \
after the first, so that one-time work does not count.

Examples:
  canopy compare fox.glb --with shadows.mode=map -o shadows.png
  canopy compare helmet.gltf --with image.tonemap=aces --with image.exposure=1 -o tones.png
  canopy compare before.png helmet.gltf --camera 0 --tolerance 0.01
  canopy compare a.exr b.exr --json
  canopy compare room.glb --reference --paths 1024 --time-limit 60 -o room.png";

/// Number of draws of the real-time frame that is compared with a reference, enough to average out its
/// sampling noise.
const REFERENCE_SAMPLES: u32 = 16;

fn tolerance(text: &str) -> Result<f64, String> {
    let tolerance = text.parse().ok().filter(|t| (0.0..=1e30).contains(t));
    tolerance.ok_or_else(|| "expected an error from 0, such as 0.01".into())
}

fn pixels_per_degree(text: &str) -> Result<f32, String> {
    let count = text.parse().ok().filter(|n| (1.0..=1000.0).contains(n));
    count.ok_or_else(|| "expected pixels from 1 to 1000, such as 67".into())
}

/// Renders the scenes, computes the error, writes the files and prints the statistics.
///
/// # Errors
///
/// [`Error::Usage`](crate::Error::Usage) for inputs that cannot be compared and for outputs that cannot be
/// written. [`Error::WrongResult`](crate::Error::WrongResult) if the error exceeds the tolerance. Any error
/// of loading and drawing.
pub fn run(args: &CompareArgs, mut config: Config, quiet: bool) -> Result<()> {
    if args.look.deviation.is_some() {
        return usage("--deviation: compare renders only the lit picture; use `canopy deviation A B`".into());
    }
    if args.b.is_none() && args.with.is_empty() && !args.reference {
        let a = args.a.as_ref();
        let a = a.map_or("the built-in scene".into(), |a| a.display().to_string());
        return usage(format!(
            "nothing to compare {a} with: name B, or add --with KEY=VALUE or --reference"
        ));
    }
    args.look.apply(&mut config, "output.size")?;
    args.time.apply(&mut config)?;
    let with = with(args, &mut config)?;
    let is_linear = check_files(args.files(), !with.is_empty(), args.look.size.is_some())?;
    let metric = metric(args, is_linear)?;
    let outputs = outputs(args)?;
    let [a, mut b] = sides(args.files(), &with, &config)?;
    let report = Report::new(quiet);
    let drawing = Drawing {
        look: args.look.look(),
        samples: args.samples.unwrap_or(match args.reference {
            true => REFERENCE_SAMPLES,
            false => 1,
        }),
        frames: args.frames,
        is_linear,
        keeps_radiance: args.reference,
        time_limit: args.time_limit,
    };
    let (a, gpu) = a.drawn(&report, None, &drawing)?;
    if let Some(exposure_ev) = a.exposure_ev.filter(|_| args.reference) {
        b.expose(exposure_ev);
    }
    let (b, _) = b.drawn(&report, gpu, &drawing)?;
    report.line.stage("comparing");
    let error = report.stage("compare", "both pictures", || {
        PictureError::new(metric, &a.picture, &b.picture)
    });
    let truth = ReferenceStats::new(&a, &b, args.ppd.unwrap_or(PIXELS_PER_DEGREE));
    let comparison = Comparison {
        a,
        b,
        metric,
        error,
        tolerance: args.tolerance,
        truth,
    };
    for (path, is_picture) in &outputs {
        let bytes = match is_picture {
            true => {
                sheet::png(&comparison, args.map_only).map_err(|error| error.with_output(path.display()))?
            }
            false => json_text(&comparison.json()).into_bytes(),
        };
        output::write(path, &bytes)?;
    }
    let names: Vec<_> = outputs
        .iter()
        .map(|(path, _)| path.display().to_string())
        .collect();
    match names.is_empty() {
        true => drop(report),
        false => report.wrote(&names.join(", ")),
    }
    print(&match args.json {
        true => json_text(&comparison.json()),
        false => comparison.text(),
    })?;
    comparison.check()
}

/// Returns the settings for B only. For a comparison with a reference, A uses the real-time renderer, and
/// features that the path tracer does not support are disabled in both.
fn with(args: &CompareArgs, config: &mut Config) -> Result<Vec<String>> {
    let mut with = args.with.clone();
    if !args.reference {
        // clap does not check that these options need `--reference` when B is given.
        return match (args.paths, args.time_limit) {
            (Some(_), _) => usage("--paths: needs --reference".into()),
            (_, Some(_)) => usage("--time-limit: needs --reference".into()),
            _ => Ok(with),
        };
    }
    if let Some(picture) = args.a.as_ref().filter(|a| picture::is_picture(a)) {
        let picture = picture.display();
        return usage(format!("--reference: {picture} is a picture; name a scene"));
    }
    config.image.mode = ImageMode::Fast;
    config.scene.ground = GroundMode::Off;
    config.depth_of_field.enabled = false;
    if let Some(paths) = args.paths {
        config.set("--paths", "paths.samples", i64::from(paths))?;
    }
    with.push("image.mode=path".into());
    Ok(with)
}

/// Chooses the error metric.
fn metric(args: &CompareArgs, is_linear: bool) -> Result<Metric> {
    let name = args.metric.unwrap_or(match is_linear {
        true => MetricName::Rmse,
        false => MetricName::Flip,
    });
    match name {
        MetricName::Flip if is_linear => {
            let what = "--metric flip: .exr and .hdr hold linear radiance; use rmse";
            usage(what.into())
        }
        MetricName::Flip => Ok(Metric::Flip {
            pixels_per_degree: args.ppd.unwrap_or(PIXELS_PER_DEGREE),
        }),
        MetricName::Rmse if args.ppd.is_some() => usage("--ppd: needs --metric flip".into()),
        MetricName::Rmse => Ok(Metric::Rmse),
    }
}

/// Checks the output files. Returns each with true if it is a picture.
fn outputs(args: &CompareArgs) -> Result<Vec<(&Path, bool)>> {
    let mut outputs: Vec<(&Path, bool)> = Vec::new();
    for path in &args.output {
        let is_picture = output::extension(path, &["png", "json"])? == "png";
        if outputs.iter().any(|(other, _)| other == path) {
            return usage(format!("{}: two outputs have this path", path.display()));
        }
        if args.files().contains(&Some(path)) {
            return usage(format!(
                "{}: is an input and would be overwritten",
                path.display()
            ));
        }
        output::check_writable(path)?;
        outputs.push((path, is_picture));
    }
    if args.map_only && outputs.iter().all(|(_, is_picture)| !is_picture) {
        return usage("--map-only: needs a picture; add -o OUT.png".into());
    }
    Ok(outputs)
}

impl CompareArgs {
    /// Returns the files of A and B.
    fn files(&self) -> [Option<&Path>; 2] {
        let [a, b] = [&self.a, &self.b].map(Option::as_deref);
        [a, b.or(a)]
    }
}
