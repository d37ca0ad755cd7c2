//! `canopy bench build`: builds all BVHs of an input, stage by stage.

use super::{
    floor,
    inputs::{self, Input, TriangleKind},
    report::{Column, Format, Run},
    session::Session,
    timing::Timings,
    trees,
    workloads::{DefaultWorkloads, Workload, triangles, workloads},
};
use crate::{
    Error, Result,
    accel::{Lbvh, Work, layout::Node},
    render::{FrameSample, geometry::tree_policy},
};

use serde_json::json;

/// Columns of the table.
pub(super) const COLUMNS: &[Column] = &[
    ("name", "name", Format::Text),
    ("triangles", "triangles", Format::Count),
    ("meshes", "meshes", Format::Count),
    ("min ms", "gpu_ms/min", Format::Ms),
    ("median ms", "gpu_ms/median", Format::Ms),
    ("p95 ms", "gpu_ms/p95", Format::Ms),
    ("wall ms", "wall_ms/median", Format::Ms),
    ("triangles/s", "triangles_per_s", Format::Count),
    ("t(2N)/t(N)", "scaling", Format::Decimal),
    ("to one mesh", "to_one_mesh", Format::Ratio),
    ("SAH cost", "sah_cost", Format::Decimal),
    ("depth", "depth", Format::Count),
    ("nodes", "nodes", Format::Count),
    ("B/triangle", "node_bytes_per_triangle", Format::Decimal),
    ("dispatches", "dispatches", Format::Count),
    ("across blocks", "across_share", Format::Percent),
    ("floor B/triangle", "floor_bytes_per_triangle", Format::Decimal),
];

/// Mesh counts to compare, each for the same [`DIVIDED`] triangles.
const DIVISIONS: [u32; 3] = [1, 1_000, 10_000];
/// Number of triangles that are divided into [`DIVISIONS`] meshes.
const DIVIDED: u32 = 600_000;

/// Builds the BVHs of every input.
pub(super) fn run(session: &mut Session<'_>) -> Result<()> {
    let defaults = if session.software {
        DefaultWorkloads {
            builtin: true,
            kinds: &TriangleKind::ALL,
            soup: &[600, 64_000, 128_000, 256_000],
            others: &[64_000],
        }
    } else {
        DefaultWorkloads {
            builtin: true,
            kinds: &TriangleKind::ALL,
            soup: &[
                600, 64_000, 128_000, 256_000, 512_000, 1_000_000, 2_000_000, 4_000_000, 8_000_000,
                10_000_000, 16_000_000,
            ],
            others: &[1_000_000],
        }
    };
    let workloads = workloads(session.args, defaults);
    let divides = session.args.files.is_empty() && !session.args.generates();
    let steps = workloads.len() + if divides { DIVISIONS.len() } else { 0 };
    let mut progress = session.progress(steps);
    let gpu = &session.meter.gpu;
    let quality = tree_policy::quality(gpu, session.config, true);
    let lbvh = Lbvh::with_quality(gpu, quality);
    lbvh.compile(gpu)?;
    for workload in &workloads {
        progress.step(&workload.name());
        match input(session, workload) {
            Ok(input) => measure(session, &lbvh, &workload.name(), &input)?,
            Err(why @ Error::Limit { .. }) => session.report.skip(workload.run(), &why),
            Err(error) => return Err(error),
        }
    }
    session.report.scaling("triangles");
    session.report.notes.push(
        "Builds are timed whole, in one pass; their stages in passes of their own, between which a GPU idles.".into(),
    );
    if divides {
        let most = DIVISIONS[DIVISIONS.len() - 1];
        let whole = inputs::generate(TriangleKind::Meshes, DIVIDED, most, session.args.seed);
        let first = session.report.runs.len();
        for meshes in DIVISIONS {
            progress.step(&format!("{meshes} meshes, {DIVIDED} triangles"));
            let input = whole.clone().divided(meshes);
            measure(session, &lbvh, "divided", &input)?;
        }
        let runs = &mut session.report.runs[first..];
        if let Some(one) = runs.first().and_then(Run::median_ms) {
            for run in runs {
                let ratio = run.median_ms().map(|ms| ms / one);
                run.set("to_one_mesh", ratio);
            }
        }
    }
    Ok(())
}

/// Returns the triangles of a workload. The renderer poses scenes once, on a separate device.
pub(super) fn input(session: &Session<'_>, workload: &Workload) -> Result<Input> {
    workload.check(&session.meter.gpu)?;
    if let Some(input) = workload.generate() {
        return Ok(input);
    }
    let mut offscreen = workload.open(session.config, [16, 16])?;
    let moment = offscreen.moment(offscreen.config.animation.time);
    offscreen.draw(&moment, FrameSample::SINGLE)?;
    triangles(&offscreen)
}

/// Builds the BVHs of `input` repeatedly and validates the last ones.
fn measure(session: &mut Session<'_>, lbvh: &Lbvh, name: &str, input: &Input) -> Result<()> {
    let Session {
        meter,
        report,
        config,
        ..
    } = session;
    let mut run = Run::new(json!({
        "name": name,
        "triangles": input.indices.len(),
        "vertices": input.positions.len(),
        "meshes": input.meshes.len(),
    }));
    let mut tree = match trees::allocate(&meter.gpu, lbvh, input, config.tree.code_bits) {
        Ok(tree) => tree,
        Err(why) => {
            report.skip(run, &why);
            return Ok(());
        }
    };
    let cutoff = session.args.leaf_cutoff.unwrap_or(config.tree.leaf_cutoff);
    tree.set_leaf_cutoff(&meter.gpu, cutoff);
    let staged = meter.time(
        |_| {},
        |gpu, scope| Ok(lbvh.record(gpu, scope, &mut tree, Work::Rebuild)?),
    )?;
    let whole =
        meter.time_whole(|gpu, encoder| Ok(lbvh.record(gpu, encoder, &mut tree, Work::Rebuild)?))?;
    let timings = Timings {
        stages: staged.stages,
        ..whole
    };
    // An invalid tree is an error, regardless of its build time.
    let built = tree.read(&meter.gpu)?;
    let quality = built.validate(&input.meshes)?;
    let made = built.node_areas.iter().filter(|area| **area >= 0.0).count();
    let counts = floor::Counts::of(&meter.gpu, input, &tree, made)?;
    let copy = report.copy_gb_per_s;
    run.time(&timings, |stage, ms| {
        Some(floor::share(floor::build_bytes(stage, counts)?, ms, copy?))
    });
    let bytes = timings.stage_ms();
    let bytes: u64 = bytes
        .filter_map(|(stage, _)| floor::build_bytes(stage, counts))
        .sum();
    let triangles = input.indices.len().max(1) as f64;
    if let Some(across) = tree.nodes_across_blocks(&meter.gpu)? {
        run.set("across_share", f64::from(across) / triangles);
    }
    run.set("floor_bytes_per_triangle", bytes as f64 / triangles);
    let rate = input.indices.len() as f64 / timings.median_ms() * 1e3;
    run.set("quality", tree.quality().name());
    run.set("leaf_cutoff", cutoff);
    run.set("triangles_per_s", rate);
    let bytes = (made * size_of::<Node>()) as f64 / input.indices.len() as f64;
    run.set("node_bytes_per_triangle", bytes);
    run.set("nodes", quality.nodes);
    run.set("depth", quality.depth);
    run.set("tlas_depth", quality.tlas_depth);
    run.set("dispatches", tree.dispatches());
    run.set("sah_cost", quality.sah_cost);
    report.runs.push(run);
    Ok(())
}
