//! The arguments of `canopy render`.

use super::part::Part;
use crate::{
    Error, Result,
    cli::options::{LookArgs, TimeArgs, fps, time_limit},
    config::Config,
    provenance::{Provenance, Search},
    render::Channel,
    scene::{
        Scene,
        saved_edits::{FoundEdits, SavedEdits},
    },
};
use clap::{Args, ValueEnum};
use std::{
    ops::Range,
    path::{Path, PathBuf},
    str::FromStr,
};

/// Most things that the scene does not have which are told one by one.
const MOST_WARNINGS: usize = 10;

/// `canopy render`.
#[derive(Debug, Args)]
pub struct RenderArgs {
    /// Scene files (.gltf, .glb, .obj), volumes (.vdb, .nvdb, .nrrd, .nhdr, .nii), or - for standard input;
    /// none is the built-in scene
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// A volume beside the files; may be repeated
    #[arg(long = "volume", value_name = "FILE", help_heading = "Picture")]
    pub volumes: Vec<PathBuf>,
    /// .png, .jpg, .exr (linear), .mp4, .webm or - (standard output); {frame:4} numbers a sequence
    #[arg(short, long, value_name = "OUT", help_heading = "Output")]
    pub output: PathBuf,
    /// Make this picture of canopy again; other options come on top
    #[arg(long, value_name = "PICTURE", help_heading = "Output")]
    pub from: Option<PathBuf>,
    /// Format of the picture, whatever its name ends in
    #[arg(
        long,
        value_name = "png|jpg|exr",
        hide_possible_values = true,
        help_heading = "Output"
    )]
    pub format: Option<PictureFormat>,
    /// Also write a channel, such as normal, depth or ambient: .exr holds the floats, .png a picture
    #[arg(
        long,
        value_name = "NAME=FILE",
        value_delimiter = ',',
        value_parser = aov,
        help_heading = "Output"
    )]
    pub aov: Vec<(Channel, PathBuf)>,
    /// Write counts, and the times of every frame, as JSON
    #[arg(long, value_name = "FILE.json", help_heading = "Output")]
    pub stats: Option<PathBuf>,
    /// Write what every frame took: .json (a trace for Perfetto or chrome://tracing) or .csv
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub profile: Option<PathBuf>,
    /// Make share I of N: of a sequence's frames, or of one picture's paths
    #[arg(long, value_name = "I/N", help_heading = "Output")]
    pub part: Option<Part>,
    /// Leave pictures whose files are there already as they are
    #[arg(long, help_heading = "Output")]
    pub skip_existing: bool,
    /// Keep a picture's paths in this .exr now and then, and go on from there
    #[arg(long, value_name = "FILE.exr", help_heading = "Output")]
    pub checkpoint: Option<PathBuf>,
    /// Seconds between two checkpoints
    #[arg(
        long,
        value_name = "S",
        value_parser = time_limit,
        default_value = "60",
        requires = "checkpoint",
        help_heading = "Output"
    )]
    pub checkpoint_every: f64,
    /// Print DONE/TOTAL for every draw, for programs; where they stop to read, the work ends
    #[arg(long, help_heading = "Output")]
    pub progress: bool,
    /// Leave out the backdrop: alpha is 0 where nothing is seen
    #[arg(long, conflicts_with = "background", help_heading = "Picture")]
    pub transparent: bool,
    /// Mean of N draws; without, until it is clean, or of 8 in a sequence
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=4096),
        help_heading = "Picture"
    )]
    pub samples: Option<u32>,
    /// Edits of materials and lights, and hidden meshes, as JSON
    #[arg(long, value_name = "FILE.json", help_heading = "Picture")]
    pub edits: Option<PathBuf>,
    /// What the picture of `--from` tells of edits and hidden meshes.
    #[arg(skip)]
    kept: Box<Kept>,
    /// Trace paths of light instead, N of them a pixel, as a reference
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=1_000_000_000),
        conflicts_with = "samples",
        help_heading = "Picture"
    )]
    pub paths: Option<u32>,
    /// Stop tracing paths after this time for each picture
    #[arg(long, value_name = "SECONDS", value_parser = time_limit, help_heading = "Picture")]
    pub time_limit: Option<f64>,
    /// Settings of the picture.
    #[command(flatten)]
    pub look: LookArgs,
    /// Time and variant.
    #[command(flatten)]
    pub time: TimeArgs,
    /// Number of pictures, or A to B [default: 1, or all of a path, turn or video's clip]
    #[arg(long, value_name = "N|A-B", help_heading = "Animation")]
    pub frames: Option<Frames>,
    /// Pictures per second of the sequence
    #[arg(long, value_name = "F", value_parser = fps, help_heading = "Animation")]
    pub fps: Option<f64>,
    /// Keys that the camera moves along, as JSON: see docs/usage.md
    #[arg(
        long,
        value_name = "FILE.json",
        conflicts_with_all = ["turntable", "camera", "eye", "target"],
        help_heading = "Animation"
    )]
    pub path: Option<PathBuf>,
    /// Turn the camera around the scene, once in this many seconds
    #[arg(long, value_name = "SECONDS", value_parser = turn, help_heading = "Animation")]
    pub turntable: Option<f32>,
}

/// Edits, and nodes that are hidden.
#[derive(Debug, Clone, Default)]
struct Kept {
    edits: SavedEdits,
    hidden: Vec<usize>,
}

/// Which pictures of a sequence are drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frames {
    /// So many, from the first on.
    Count(u32),
    /// These of a longer sequence.
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

/// The format of a picture file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PictureFormat {
    /// Eight bits a channel, with alpha.
    Png,
    /// Eight bits a channel, compressed with loss.
    #[value(alias = "jpeg")]
    Jpg,
    /// Floats of linear radiance.
    Exr,
}

impl PictureFormat {
    /// The endings of names.
    pub(super) const EXTENSIONS: [&str; 4] = ["png", "jpg", "jpeg", "exr"];

    /// The format that an ending stands for.
    pub(super) fn of(extension: &str) -> Self {
        match extension {
            "exr" => Self::Exr,
            "jpg" | "jpeg" => Self::Jpg,
            _ => Self::Png,
        }
    }
}

impl RenderArgs {
    /// Takes over what the picture [`Self::from`] tells, as far as no option says otherwise.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] for a file of the scene that is missing.
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
                "materials or lights were edited by hand, which it does not keep: they are drawn as their file has them",
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

    /// Edits of a file, in place of those of the picture [`Self::from`].
    ///
    /// # Errors
    ///
    /// Those of [`SavedEdits::read`].
    pub(super) fn read_edits(&mut self) -> Result<()> {
        if let Some(path) = &self.edits {
            *self.kept = Kept {
                edits: SavedEdits::read(path)?,
                hidden: Vec::new(),
            };
        }
        Ok(())
    }

    /// The edits for `scene`, which is as its files have it, with a warning for each thing that it does not
    /// have.
    pub(super) fn edits_of(&self, scene: &Scene) -> FoundEdits {
        let Kept { edits, hidden } = &*self.kept;
        let mut found = edits.find(scene);
        let nodes = 0..scene.nodes.len();
        let hidden = hidden.iter().filter(|node| nodes.contains(node));
        found.hidden.extend(hidden);
        let origin = self.edits.as_ref().or(self.from.as_ref());
        let origin = origin.map_or_else(String::new, |path| path.display().to_string());
        for line in found.left.iter().take(MOST_WARNINGS) {
            log::warn!("{origin}: {line}");
        }
        if let Some(more @ 1..) = found.left.len().checked_sub(MOST_WARNINGS) {
            log::warn!("{origin}: and so are {more} more");
        }
        found
    }

    /// Sets the keys of `config` that these options stand for.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] for a value out of its range.
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
    seconds.ok_or_else(|| "expected seconds of a whole turn, such as 8".into())
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
            "no channel \"{name}\"; there are {}",
            names().collect::<Vec<_>>().join(", ")
        )),
    }
}

/// Whether a picture goes to standard output.
pub(super) fn is_stdout(path: &Path) -> bool {
    path == Path::new("-")
}

/// An error for options that do not go together.
pub(super) fn usage<T>(what: String) -> Result<T> {
    Err(Error::Usage(what))
}
