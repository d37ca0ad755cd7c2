//! `canopy bench frame`: all passes of the real frame.

use super::{
    Bench,
    inputs::Kind,
    report::{Column, Format, Run},
    shot::Shot,
    sources::{Defaults, Source, sources},
    timing::{Sample, Summary},
};
use crate::{Error, Result, config::Rebuild, render::TreeWork};

/// Columns of the table.
pub(super) const COLUMNS: &[Column] = &[
    ("name", "name", Format::Text),
    ("triangles", "triangles", Format::Count),
    ("meshes", "meshes", Format::Count),
    ("rebuild", "rebuild", Format::Text),
    ("builds", "builds", Format::Count),
    ("lights", "lights", Format::Count),
    ("rays", "ray_count", Format::Count),
    ("min ms", "gpu_ms/min", Format::Ms),
    ("median ms", "gpu_ms/median", Format::Ms),
    ("p95 ms", "gpu_ms/p95", Format::Ms),
    ("wall ms", "wall_ms/median", Format::Ms),
    ("CPU ms", "cpu_record_ms/median", Format::Ms),
];

/// Seconds of the scene's clip from one frame to the next.
const STEP_SECS: f32 = 1.0 / 60.0;

/// Draws every scene, by every policy of rebuilding its trees.
pub(super) fn run(bench: &mut Bench<'_>) -> Result<()> {
    let software = bench.software;
    let size: [u32; 2] = if software { [640, 360] } else { [1920, 1080] };
    let size = bench.args.size.unwrap_or(size);
    let defaults = Defaults {
        builtin: true,
        kinds: if software {
            &[]
        } else {
            &[Kind::Terrain, Kind::Meshes]
        },
        soup: &[if software { 64_000 } else { 1_000_000 }],
        others: &[if software { 64_000 } else { 1_000_000 }],
    };
    let sources = sources(bench.args, defaults);
    let mut progress = bench.progress(sources.len());
    for source in &sources {
        progress.step(&source.name());
        measure(bench, source, size)?;
    }
    let [width, height] = size;
    bench.report.notes.push(format!(
        "{width}×{height} pixels; CPU ms is what recording a frame takes, without waiting"
    ));
    if software {
        bench.report.notes.push(
            "On a software adapter only the totals are to be trusted: once it draws, it takes timestamps late.".into(),
        );
    }
    Ok(())
}

fn measure(bench: &mut Bench<'_>, source: &Source, size: [u32; 2]) -> Result<()> {
    let mut run = source.run();
    run.set("size", size.to_vec());
    let check = source.check(&bench.meter.gpu);
    let mut shot = match check.and_then(|()| Shot::new(source, bench.config, size)) {
        Ok(shot) => shot,
        Err(why @ Error::Limit { .. }) => {
            bench.report.skip(run, &why);
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    for policy in Rebuild::ALL {
        measure_by(bench, run.clone(), &mut shot, policy)?;
    }
    Ok(())
}

/// The same moments for every policy.
fn measure_by(bench: &mut Bench<'_>, mut run: Run, shot: &mut Shot, policy: Rebuild) -> Result<()> {
    shot.set_rebuild(policy);
    let mut record_ms = Vec::new();
    let mut works = Vec::new();
    let mut later_secs = 0.0;
    let timings = bench.meter.sampling.repeat(|| {
        let wall_ms = shot.draw(later_secs)?;
        later_secs += STEP_SECS;
        record_ms.push(shot.stats().cpu_record_ms);
        works.push(shot.stats().tree_work);
        Ok((wall_ms, Sample::new(&shot.stats().passes, wall_ms)))
    })?;
    run.time(&timings, |_, _| None);
    let measured = record_ms.len() - timings.gpu_ms.len();
    run.set("cpu_record_ms", Summary::of(&record_ms[measured..]).json());
    let built = |work: &&TreeWork| matches!(work, TreeWork::Rebuild | TreeWork::Partial);
    let builds = works[measured..].iter().filter(built).count();
    run.set("rebuild", policy.name());
    run.set("builds", builds);
    let stats = shot.stats();
    run.set("triangles", stats.triangles);
    run.set("meshes", stats.meshes);
    run.set("lights", stats.lights);
    run.set("ray_count", stats.rays);
    bench.report.runs.push(run);
    Ok(())
}
