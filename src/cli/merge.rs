//! `canopy merge`: merges the parts of a path-traced picture.

use super::report::Report;
use crate::{
    Error, Result,
    config::Config,
    output::{
        self,
        path_part::{self, PartInfo},
    },
    render::paths::path_sums::PathSums,
    scene::picture::checked_openexr,
};

use clap::Args;
use std::{
    ops::Range,
    path::{Path, PathBuf},
};

/// Arguments of `canopy merge`.
#[derive(Debug, Args)]
pub struct MergeArgs {
    /// Parts of one picture (.exr) in any order, as `canopy render --part` writes them
    #[arg(value_name = "PART", required = true)]
    pub parts: Vec<PathBuf>,
    /// Output picture (.exr)
    #[arg(short, long, value_name = "OUT.exr")]
    pub output: PathBuf,
    /// Accept missing samples and average those that are present
    #[arg(long)]
    pub partial: bool,
}

/// Merges the parts and writes the picture.
///
/// # Errors
///
/// [`Error::Usage`] if the output cannot be written. [`Error::Scene`] if a file is not a part, belongs to
/// another picture, or repeats samples of another part. [`Error::NotFound`] if samples are missing.
pub fn run(args: &MergeArgs, config: &Config, quiet: bool) -> Result<()> {
    output::extension(&args.output, &["exr"])?;
    output::check_writable(&args.output)?;
    let report = Report::new(quiet);
    let mut joined: Option<Joined> = None;
    for (number, path) in args.parts.iter().enumerate() {
        let (done, total) = (number as u64, args.parts.len() as u64);
        report.line.step(done, total, path.display().to_string());
        let part = path_part::read(path, &checked_openexr(path, &config.load)?)?;
        let joined = joined.get_or_insert_with(|| Joined {
            sums: PathSums::new(part.about.of.size),
            made: None,
            parts: Vec::new(),
        });
        joined.check(path, &part.about)?;
        joined.sums.add(&part.sums);
        joined.made = joined.made.take().or(part.made);
        joined.parts.push((path, part.about));
    }
    let Some(mut joined) = joined else {
        return Err(Error::Usage("no PART files given".into()));
    };
    joined.parts.sort_by_key(|(_, about)| about.samples);
    let missing = joined.missing();
    match missing.first() {
        Some(first) if !args.partial => return Err(joined.lacks(first)),
        Some(_) => {
            let samples: usize = missing.iter().map(|gap| gap.samples.len()).sum();
            log::warn!(
                "{}: the parts lack {samples} samples per pixel",
                args.output.display()
            );
        }
        None => {}
    }
    let held = joined.parts.iter().map(|(_, about)| about.held).sum();
    let bytes = path_part::whole(&joined.sums, held, joined.made.as_deref())
        .map_err(|error| error.with_output(args.output.display()))?;
    output::write(&args.output, &bytes)?;
    let [width, height] = joined.sums.size;
    report.wrote(&format!(
        "{} ({width} × {height} pixels, {held} samples of {} parts)",
        args.output.display(),
        args.parts.len(),
    ));
    Ok(())
}

/// Parts merged so far.
struct Joined<'a> {
    sums: PathSums,
    /// Provenance of the picture.
    made: Option<String>,
    parts: Vec<(&'a Path, PartInfo)>,
}

/// Range of missing samples, and the unfinished part that should contain them, if there is one.
struct Gap<'a> {
    samples: Range<u32>,
    ended_early: Option<&'a Path>,
}

impl Joined<'_> {
    /// Fails if a part belongs to another picture than the previous parts, or repeats their samples.
    fn check(&self, path: &Path, about: &PartInfo) -> Result<()> {
        for (known, other) in &self.parts {
            let difference = other.of.difference(&about.of);
            let difference = difference.or_else(|| {
                let is_as_many = other.total == about.total;
                (!is_as_many).then(|| format!("of {} samples, not {}", about.total, other.total))
            });
            let difference = difference.or_else(|| {
                (other.frame != about.frame).then(|| format!("of frame {}, not {}", about.frame, other.frame))
            });
            if let Some(what) = difference {
                let what = format!("is {what}, as {} is", known.display());
                return Err(Error::scene(path, what));
            }
            let (a, b) = (about.range(), other.range());
            if a.start < b.end && b.start < a.end {
                let both = a.start.max(b.start)..a.end.min(b.end);
                let what = format!("has {}, which {} has too", named(&both), known.display());
                return Err(Error::scene(path, what));
            }
        }
        Ok(())
    }

    /// Returns the missing samples in order. Expects the parts to be sorted.
    fn missing(&self) -> Vec<Gap<'_>> {
        let mut gaps = Vec::new();
        let (mut end, mut last) = (0, None);
        let total = self.parts.first().map_or(0, |(_, about)| about.total);
        let ranges = self
            .parts
            .iter()
            .map(|(path, about)| (about.range(), Some((*path, about))));
        for (range, part) in ranges.chain([(total..total, None)]) {
            if end < range.start {
                let early = last.filter(|(_, about): &(&Path, &PartInfo)| about.samples[1] > end);
                gaps.push(Gap {
                    samples: end..range.start,
                    ended_early: early.map(|(path, _)| path),
                });
            }
            (end, last) = (range.end, part);
        }
        gaps
    }

    fn lacks(&self, gap: &Gap<'_>) -> Error {
        let what = named(&gap.samples);
        if let Some(path) = gap.ended_early {
            let what = format!("ended before {what}; --partial averages the samples that exist");
            return Error::scene(path, what);
        }
        // All parts store the same number of parts, which shows which ones are missing.
        let [_, count] = self.parts.first().map_or([1, 1], |(_, about)| about.part);
        let there = |number: &u32| self.parts.iter().any(|(_, about)| about.part == [*number, count]);
        let missing: Vec<_> = (1..=count).filter(|number| !there(number)).take(10).collect();
        let parts = missing.iter().map(|number| format!("{number}/{count}"));
        let parts = match missing.is_empty() {
            true => String::new(),
            false => format!(" (part {})", parts.collect::<Vec<_>>().join(", ")),
        };
        Error::NotFound(format!(
            "no file has {what}{parts}; --partial averages the samples that exist"
        ))
    }
}

/// Formats a range of samples, counted from 1, such as "samples 1 to 8".
fn named(samples: &Range<u32>) -> String {
    match samples.len() {
        1 => format!("sample {}", samples.end),
        _ => format!("samples {} to {}", samples.start + 1, samples.end),
    }
}
