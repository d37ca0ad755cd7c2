//! `canopy bench pathtrace`: path tracing with one kernel and with separate kernels.

use super::{
    report::{Column, Format},
    session::Session,
    timing::{Repetition, Summary, Timings},
    workloads::{DefaultWorkloads, Workload, workloads},
};
use crate::{
    Error, Result,
    cli::offscreen::Offscreen,
    config::{ImageMode, PathKernels, Paths},
    render::FrameSample,
};
use std::collections::BTreeMap;

/// Columns of the table.
pub(super) const COLUMNS: &[Column] = &[
    ("name", "name", Format::Text),
    ("triangles", "triangles", Format::Count),
    ("kernels", "kernels", Format::Text),
    ("sorted", "sorted", Format::Text),
    ("min ms", "gpu_ms/min", Format::Ms),
    ("median ms", "gpu_ms/median", Format::Ms),
    ("p95 ms", "gpu_ms/p95", Format::Ms),
    ("ratio", "ratio", Format::Ratio),
    ("rays per path", "rays_a_path", Format::Ratio),
    ("lockstep", "lockstep", Format::Ratio),
];

/// Number of paths in lockstep.
const GROUP: usize = 32;

/// Measured variants: the kernels, and true if hits are sorted.
const VARIANTS: [(PathKernels, bool); 3] = [
    (PathKernels::One, false),
    (PathKernels::Separate, false),
    (PathKernels::Separate, true),
];

/// Path traces every scene with every variant.
pub(super) fn run(session: &mut Session<'_>) -> Result<()> {
    let software = session.software;
    let size: [u32; 2] = if software { [160, 90] } else { [1920, 1080] };
    let size = session.args.size.unwrap_or(size);
    let defaults = DefaultWorkloads {
        builtin: true,
        kinds: &[],
        soup: &[],
        others: &[],
    };
    let workloads = workloads(session.args, defaults);
    let mut progress = session.progress(workloads.len());
    for workload in &workloads {
        progress.step(&workload.name());
        match measure(session, workload, size) {
            Err(why @ Error::Limit { .. }) => session.report.skip(workload.run(), &why),
            done => done?,
        }
    }
    let [width, height] = size;
    let timed = if software {
        "the whole frame by the clock, because a\nsoftware adapter writes timestamps late"
    } else {
        "all passes of the path tracer"
    };
    session.report.notes.push(format!(
        "{width}×{height} pixels, one sample per frame, variants in turns; ms: {timed}. ratio: their minimum\nover \
         the minimum of the first row. rays per path: segments on which a path continues. lockstep: rays \
         that\ngroups of {GROUP} neighbours wait for, over traced rays. A group waits for its longest path. With \
         separate kernels,\nonly groups that are not full wait."
    ));
    Ok(())
}

fn measure(session: &mut Session<'_>, workload: &Workload, size: [u32; 2]) -> Result<()> {
    workload.check(&session.meter.gpu)?;
    let mut config = session.config.clone();
    config.image.mode = ImageMode::Path;
    config.paths.samples = *Paths::SAMPLES.end();
    let mut offscreen = workload.open(&config, size)?;
    let all = draw(session, &mut offscreen)?;
    let lengths = offscreen.path_lengths()?;
    let rays: u32 = lengths.iter().sum();
    let paths = lengths.iter().filter(|length| **length > 0).count();
    let least = |timings: &Timings| Summary::of(&timings.gpu_ms).min;
    for ((kernels, sorted), timings) in VARIANTS.into_iter().zip(&all) {
        let mut run = workload.run();
        run.set("triangles", offscreen.stats().triangles);
        run.set("size", size.to_vec());
        run.set("bounces", config.paths.bounces);
        run.set("kernels", kernels.name());
        run.set("sorted", if sorted { "yes" } else { "no" });
        run.time(timings, |_, _| None);
        run.set("ratio", least(timings) / least(&all[0]));
        run.set("rays_a_path", f64::from(rays) / paths.max(1) as f64);
        let waited = GROUP * lockstep(&lengths, kernels);
        run.set("lockstep", waited as f64 / f64::from(rays.max(1)));
        session.report.runs.push(run);
    }
    Ok(())
}

/// Times every variant, alternating between them.
fn draw(session: &Session<'_>, offscreen: &mut Offscreen) -> Result<Vec<Timings>> {
    let moment = offscreen.moment(offscreen.config.animation.time);
    let sampling = &session.meter.sampling;
    let mut all = vec![Timings::default(); VARIANTS.len()];
    let mut rounds = 0;
    session.meter.warm_up()?;
    sampling.repeat(|| {
        let is_warm = rounds >= sampling.warm_up;
        rounds += 1;
        let mut took_ms = 0.0;
        for ((kernels, sorted), timings) in VARIANTS.into_iter().zip(&mut all) {
            offscreen.config.paths.kernels = kernels;
            offscreen.config.paths.sort = sorted;
            let wall_ms = offscreen.draw(&moment, FrameSample::SINGLE)?.wall_ms;
            took_ms += wall_ms;
            let mut repetition = Repetition::new(&offscreen.stats().passes, wall_ms);
            repetition.stages.retain(|(name, _)| name.starts_with("path"));
            // llvmpipe writes the timestamps of large dispatches late.
            repetition.gpu_ms = match session.software {
                true => wall_ms,
                false => repetition.stages.iter().map(|(_, ms)| ms).sum(),
            };
            if is_warm {
                timings.add(repetition);
            }
        }
        Ok((took_ms, Repetition::default()))
    })?;
    Ok(all)
}

/// Returns the total number of rays that groups of neighbouring paths trace one after another.
fn lockstep(lengths: &[u32], kernels: PathKernels) -> usize {
    if kernels == PathKernels::One {
        let groups = lengths.chunks(GROUP);
        let longest = groups.map(|group| group.iter().copied().max().unwrap_or(0));
        return longest.sum::<u32>() as usize;
    }
    // Number of paths that end after each number of rays.
    let mut ends: BTreeMap<u32, usize> = BTreeMap::new();
    for length in lengths {
        *ends.entry(*length).or_default() += 1;
    }
    let longest = ends.keys().copied().max().unwrap_or(0);
    let going = |ray: u32| ends.range(ray..).map(|(_, count)| count).sum::<usize>();
    (1..=longest).map(|ray| going(ray).div_ceil(GROUP)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lockstep_groups_wait_for_the_longest_path_and_lists_do_not() {
        // One path of five rays among paths of one ray, then a group of paths of five rays.
        let mut lengths = vec![1; 2 * GROUP];
        lengths[3] = 5;
        lengths[GROUP..].fill(5);
        assert_eq!(lockstep(&lengths, PathKernels::One), 10);
        // Two groups for the first ray. The 33 paths that continue also need two groups for each of the four
        // other rays.
        assert_eq!(lockstep(&lengths, PathKernels::Separate), 10);
        lengths[GROUP] = 1;
        assert_eq!(lockstep(&lengths, PathKernels::One), 10);
        assert_eq!(lockstep(&lengths, PathKernels::Separate), 6);
        assert_eq!(lockstep(&[], PathKernels::Separate), 0);
    }
}
