//! `canopy bench frame`: every pass of a whole frame.

use super::{
    inputs::TriangleKind,
    report::{Column, Format, Run},
    session::Session,
    timing::{Repetition, Summary},
    workloads::{DefaultWorkloads, Workload, workloads},
};
use crate::{
    Error, Result,
    cli::offscreen::Offscreen,
    config::Rebuild,
    render::{FrameSample, TreeWork},
};

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

/// Clip time between frames in seconds.
const STEP_SECS: f32 = 1.0 / 60.0;

/// Renders every scene with every rebuild policy.
pub(super) fn run(session: &mut Session<'_>) -> Result<()> {
    let software = session.software;
    let size: [u32; 2] = if software { [640, 360] } else { [1920, 1080] };
    let size = session.args.size.unwrap_or(size);
    let defaults = DefaultWorkloads {
        builtin: true,
        kinds: if software {
            &[]
        } else {
            &[TriangleKind::Terrain, TriangleKind::Meshes]
        },
        soup: &[if software { 64_000 } else { 1_000_000 }],
        others: &[if software { 64_000 } else { 1_000_000 }],
    };
    let workloads = workloads(session.args, defaults);
    let mut progress = session.progress(workloads.len());
    for workload in &workloads {
        progress.step(&workload.name());
        measure(session, workload, size)?;
    }
    let [width, height] = size;
    session.report.notes.push(format!(
        "{width}×{height} pixels; CPU ms is the time that recording a frame takes, without waiting"
    ));
    if software {
        session.report.notes.push(
            "On a software adapter trust the totals only: once it draws, it writes timestamps late.".into(),
        );
    }
    Ok(())
}

fn measure(session: &mut Session<'_>, workload: &Workload, size: [u32; 2]) -> Result<()> {
    let mut run = workload.run();
    run.set("size", size.to_vec());
    let check = workload.check(&session.meter.gpu);
    let mut offscreen = match check.and_then(|()| workload.open(session.config, size)) {
        Ok(offscreen) => offscreen,
        Err(why @ Error::Limit { .. }) => {
            session.report.skip(run, &why);
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    for policy in Rebuild::ALL {
        measure_by(session, run.clone(), &mut offscreen, policy)?;
    }
    Ok(())
}

/// Renders the same frames with one policy.
fn measure_by(
    session: &mut Session<'_>,
    mut run: Run,
    offscreen: &mut Offscreen,
    policy: Rebuild,
) -> Result<()> {
    offscreen.config.tree.rebuild = policy;
    let mut record_ms = Vec::new();
    let mut works = Vec::new();
    let mut time = offscreen.config.animation.time;
    session.meter.warm_up()?;
    let timings = session.meter.sampling.repeat(|| {
        let moment = offscreen.moment(time);
        let wall_ms = offscreen.draw(&moment, FrameSample::SINGLE)?.wall_ms;
        time += STEP_SECS;
        let stats = offscreen.stats();
        record_ms.push(stats.cpu_record_ms);
        works.push(stats.tree_work);
        Ok((wall_ms, Repetition::new(&stats.passes, wall_ms)))
    })?;
    run.time(&timings, |_, _| None);
    let measured = record_ms.len() - timings.gpu_ms.len();
    run.set("cpu_record_ms", Summary::of(&record_ms[measured..]).json());
    let built = |work: &&TreeWork| matches!(work, TreeWork::Rebuild | TreeWork::Partial);
    let builds = works[measured..].iter().filter(built).count();
    run.set("rebuild", policy.name());
    run.set("builds", builds);
    let stats = offscreen.stats();
    run.set("triangles", stats.triangles);
    run.set("meshes", stats.meshes);
    run.set("lights", stats.lights);
    run.set("ray_count", stats.rays);
    session.report.runs.push(run);
    Ok(())
}
