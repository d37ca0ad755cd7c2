//! Arguments of `canopy render`.

use super::part::Part;
use crate::{
    Error, Result,
    cli::options::{LookArgs, TimeArgs, fps, time_limit},
    config::Config,
    provenance::{Provenance, Search},
    render::Channel,
    scene::{
        Scene,
        saved_edits::{MatchedEdits, SavedEdits},
    },
};
use clap::{Args, ValueEnum};
use std::{
    ops::Range,
    path::{Path, PathBuf},
    str::FromStr,
};

/// Maximum number of individual warnings about edited objects that the scene does not have.
const MAX_WARNINGS: usize = 10;

/// Arguments of `canopy render`.
#[derive(Debug, Args)]
pub struct RenderArgs {
    /// Scene files (.gltf, .glb, .obj), volumes (.vdb, .nvdb, .nrrd, .nhdr, .nii), or - for standard input;
    /// default: the built-in scene
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Additional volume file; may be repeated
    #[arg(long = "volume", value_name = "FILE", help_heading = "Picture")]
    pub volumes: Vec<PathBuf>,
    /// .png, .jpg, .exr (linear), .mp4, .webm or - (standard output); {frame:4} numbers a sequence
    #[arg(short, long, value_name = "OUT", help_heading = "Output")]
    pub output: PathBuf,
    /// Render a picture written by canopy again; other options override it
    #[arg(long, value_name = "PICTURE", help_heading = "Output")]
    pub from: Option<PathBuf>,
    /// Format of the picture, regardless of its file extension
    #[arg(
        long,
        value_name = "png|jpg|exr",
        hide_possible_values = true,
        help_heading = "Output"
    )]
    pub format: Option<PictureFormat>,
    /// Also write a channel, such as normal, depth or ambient: .exr (floats) or .png (colours)
    #[arg(
        long,
        value_name = "NAME=FILE",
        value_delimiter = ',',
        value_parser = aov,
        help_heading = "Output"
    )]
    pub aov: Vec<(Channel, PathBuf)>,
    /// Write counts and the times of every frame as JSON
    #[arg(long, value_name = "FILE.json", help_heading = "Output")]
    pub stats: Option<PathBuf>,
    /// Write a profile of every frame: .json (for Perfetto or chrome://tracing) or .csv
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub profile: Option<PathBuf>,
    /// Render part I of N: of a sequence's frames, or of a picture's paths
    #[arg(long, value_name = "I/N", help_heading = "Output")]
    pub part: Option<Part>,
    /// Skip pictures whose files already exist
    #[arg(long, help_heading = "Output")]
    pub skip_existing: bool,
    /// Save a picture's paths to this .exr regularly, and resume from it
    #[arg(long, value_name = "FILE.exr", help_heading = "Output")]
    pub checkpoint: Option<PathBuf>,
    /// Seconds between checkpoints
    #[arg(
        long,
        value_name = "S",
        value_parser = time_limit,
        default_value = "60",
        requires = "checkpoint",
        help_heading = "Output"
    )]
    pub checkpoint_every: f64,
    /// Print DONE/TOTAL after every draw, for programs; stop if the pipe is closed
    #[arg(long, help_heading = "Output")]
    pub progress: bool,
    /// Leave out the background; alpha is 0 where nothing is visible
    #[arg(long, conflicts_with = "background", help_heading = "Picture")]
    pub transparent: bool,
    /// Average N draws; default: until the noise is low, or 8 in a sequence
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=4096),
        help_heading = "Picture"
    )]
    pub samples: Option<u32>,
    /// Edits of materials and lights, and hidden meshes (JSON)
    #[arg(long, value_name = "FILE.json", help_heading = "Picture")]
    pub edits: Option<PathBuf>,
    /// Edits and hidden nodes of the picture of `--from`.
    #[arg(skip)]
    kept: Box<Kept>,
    /// Path trace a reference with N paths per pixel
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=1_000_000_000),
        conflicts_with = "samples",
        help_heading = "Picture"
    )]
    pub paths: Option<u32>,
    /// Stop path tracing after this time for each picture
    #[arg(long, value_name = "SECONDS", value_parser = time_limit, help_heading = "Picture")]
    pub time_limit: Option<f64>,
    /// Appearance of the picture.
    #[command(flatten)]
    pub look: LookArgs,
    /// Time and material variant.
    #[command(flatten)]
    pub time: TimeArgs,
    /// Number of pictures, or A to B [default: 1, or a whole path, orbit or video clip]
    #[arg(long, value_name = "N|A-B", help_heading = "Animation")]
    pub frames: Option<Frames>,
    /// Pictures per second of the sequence
    #[arg(long, value_name = "F", value_parser = fps, help_heading = "Animation")]
    pub fps: Option<f64>,
    /// Camera keys as JSON, see docs/usage/animation.md
    #[arg(
        long,
        value_name = "FILE.json",
        conflicts_with_all = ["turntable", "camera", "eye", "target"],
        help_heading = "Animation"
    )]
    pub path: Option<PathBuf>,
    /// Orbit the camera around the scene, once in this many seconds
    #[arg(long, value_name = "SECONDS", value_parser = turn, help_heading = "Animation")]
    pub turntable: Option<f32>,
}

/// Edits and hidden nodes.
#[derive(Debug, Clone, Default)]
struct Kept {
    edits: SavedEdits,
    hidden: Vec<usize>,
}

/// Frames of a sequence to render.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frames {
    /// Number of frames, starting at the first.
    Count(u32),
    /// Range of frames of a longer sequence.
    Range(Range<u32>),
}

impl FromStr for Frames {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = match text.split_once('-') {
            None => text.parse().ok().filter(|n| *n > 0).map(Self::Count),
            Some((first, last)) => {
                let first = first.parse::<u32>().ok();
                let end = last.parse::<u32>().ok().and_then(|last| last.checked_add(1));
                let range = first.zip(end).map(|(first, end)| first..end);
                range.filter(|range| !range.is_empty()).map(Self::Range)
            }
        };
        parsed.ok_or_else(|| "expected a number of pictures, or first-last, such as 10-19".into())
    }
}

/// Format of a picture file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PictureFormat {
    /// Eight bits per channel, with alpha.
    Png,
    /// Eight bits per channel, with lossy compression.
    #[value(alias = "jpeg")]
    Jpg,
    /// Linear radiance as floats.
    Exr,
}

impl PictureFormat {
    /// Supported file extensions.
    pub(super) const EXTENSIONS: [&str; 4] = ["png", "jpg", "jpeg", "exr"];

    /// Returns the format for one of [`Self::EXTENSIONS`].
    pub(super) fn of(extension: &str) -> Self {
        match extension {
            "exr" => Self::Exr,
            "jpg" | "jpeg" => Self::Jpg,
            _ => Self::Png,
        }
    }
}

impl RenderArgs {
    /// Takes over the files, sample count, size, view and edits of the picture [`Self::from`], unless options
    /// override them.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] if a file of the scene is missing.
    pub fn follow(&mut self, made: &Provenance, search: &Search<'_>) -> Result<()> {
        if self.files.is_empty() {
            self.files = made.files(search)?;
        }
        self.samples.get_or_insert(made.samples);
        self.look.follow(made);
        *self.kept = Kept {
            edits: made.edits.clone().unwrap_or_default(),
            hidden: made.hidden.clone(),
        };
        let warnings = [
            (
                made.edited && made.edits.is_none(),
                "does not store the edits of materials or lights; they are drawn as in their file",
            ),
            (
                !made.channel.is_empty(),
                "a channel was shown; the lit picture is drawn",
            ),
        ];
        for (_, what) in warnings.into_iter().filter(|(is_so, _)| *is_so) {
            log::warn!("{}: {what}", search.picture.display());
        }
        Ok(())
    }

    /// Reads the edits in a file, which replace the edits of the picture [`Self::from`].
    ///
    /// # Errors
    ///
    /// Any error of [`SavedEdits::read`].
    pub(super) fn read_edits(&mut self) -> Result<()> {
        if let Some(path) = &self.edits {
            *self.kept = Kept {
                edits: SavedEdits::read(path)?,
                hidden: Vec::new(),
            };
        }
        Ok(())
    }

    /// Matches the edits to `scene`, which must be unmodified. Logs a warning for each object that the scene
    /// does not have.
    pub(super) fn edits_of(&self, scene: &Scene) -> MatchedEdits {
        let Kept { edits, hidden } = &*self.kept;
        let mut found = edits.find(scene);
        let nodes = 0..scene.nodes.len();
        let hidden = hidden.iter().filter(|node| nodes.contains(node));
        found.hidden.extend(hidden);
        let origin = self.edits.as_ref().or(self.from.as_ref());
        let origin = origin.map_or_else(String::new, |path| path.display().to_string());
        for line in found.unmatched.iter().take(MAX_WARNINGS) {
            log::warn!("{origin}: {line}");
        }
        if let Some(more @ 1..) = found.unmatched.len().checked_sub(MAX_WARNINGS) {
            log::warn!("{origin}: and {more} more such edits");
        }
        found
    }

    /// Sets the keys of `config` that these options correspond to.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] for a value outside its range.
    pub(super) fn apply(&self, config: &mut Config) -> Result<()> {
        self.look.apply(config, "output.size")?;
        self.time.apply(config)?;
        if let Some(fps) = self.fps {
            config.set("--fps", "output.fps", fps)?;
        }
        if let Some(samples) = self.samples {
            config.set("--samples", "output.samples", i64::from(samples))?;
        }
        if let Some(paths) = self.paths {
            config.set("--paths", "image.mode", "path")?;
            config.set("--paths", "paths.samples", i64::from(paths))?;
        }
        if self.transparent {
            config.set("--transparent", "environment.background", "transparent")?;
        }
        Ok(())
    }
}

fn turn(text: &str) -> Result<f32, String> {
    let seconds = text.parse().ok().filter(|n| (0.01..=1e6).contains(n));
    seconds.ok_or_else(|| "expected seconds per full rotation, such as 8".into())
}

fn aov(text: &str) -> Result<(Channel, PathBuf), String> {
    let names = || Channel::ALL.iter().skip(1).map(|c| c.name());
    let Some((name, file)) = text.split_once('=') else {
        return Err("expected NAME=FILE, such as normal=normal.exr".into());
    };
    let channel = Channel::ALL.into_iter().skip(1).find(|c| c.name() == name);
    match channel {
        Some(_) if file == "-" => Err("only the picture can be written to standard output".to_owned()),
        Some(channel) if !file.is_empty() => Ok((channel, file.into())),
        Some(_) => Err("has no file name".into()),
        None => Err(format!(
            "no channel \"{name}\"; channels are {}",
            names().collect::<Vec<_>>().join(", ")
        )),
    }
}

/// True if `path` is `-`, which means standard output.
pub(super) fn is_stdout(path: &Path) -> bool {
    path == Path::new("-")
}

/// Returns [`Error::Usage`] with the message `what`.
pub(super) fn usage<T>(what: String) -> Result<T> {
    Err(Error::Usage(what))
}
