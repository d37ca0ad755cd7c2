//! `canopy bench query`: nearest points and box overlaps, in two orders and with two methods.

use super::{
    build,
    inputs::{Input, Random, TriangleKind},
    report::{Column, Format, Run},
    session::Session,
    timing::Timings,
    trees,
    workloads::{DefaultWorkloads, workloads},
};
use crate::{
    Error, Result,
    accel::{
        BoxQuery, Counts, Lbvh, NearestPoints, Overlap, Queries, Search, Tree, Work, nearest::PointBatch,
        overlap::Touched,
    },
    render::geometry::tree_policy,
};

use glam::Vec3;

/// Columns of the table.
pub(super) const COLUMNS: &[Column] = &[
    ("name", "name", Format::Text),
    ("triangles", "triangles", Format::Count),
    ("query", "query", Format::Text),
    ("order", "order", Format::Text),
    ("cutoff", "leaf_cutoff", Format::Count),
    ("count", "query_count", Format::Count),
    ("found", "found", Format::Count),
    ("min ms", "gpu_ms/min", Format::Ms),
    ("median ms", "gpu_ms/median", Format::Ms),
    ("p95 ms", "gpu_ms/p95", Format::Ms),
    ("queries/s", "queries_per_s", Format::Count),
    ("sorting", "sorting_speedup", Format::Ratio),
    ("to one pass", "to_one_pass", Format::Ratio),
];

/// Leaf cutoffs to measure by default.
const CUTOFFS: [u32; 3] = [2, 4, 8];
/// Half the edge length of a box, as a fraction of the scene's diagonal.
const HALF_BOX: f32 = 0.01;
/// Maximum relative difference between distances. Rounding decides between triangles at nearly equal
/// distances.
const CLOSE: f32 = 1e-5;

/// Builder and query pipelines.
struct Kernels {
    lbvh: Lbvh,
    nearest: NearestPoints,
    overlaps: Overlap<BoxQuery>,
}

/// Points and boxes to query, and the scene's diagonal in metres.
struct Lists {
    points: Vec<[f32; 4]>,
    boxes: Vec<BoxQuery>,
    diagonal: f32,
}

/// Queries every scene.
pub(super) fn run(session: &mut Session<'_>) -> Result<()> {
    let software = session.software;
    let size: &[u32] = &[if software { 64_000 } else { 1_000_000 }];
    let count = if software { 100_000 } else { 1_000_000 };
    let count = session.args.queries.unwrap_or(count);
    let defaults = DefaultWorkloads {
        builtin: true,
        kinds: &[TriangleKind::Terrain],
        soup: size,
        others: size,
    };
    let workloads = workloads(session.args, defaults);
    let gpu = &session.meter.gpu;
    let quality = tree_policy::quality(gpu, session.config, false);
    let queries = Kernels {
        lbvh: Lbvh::with_quality(gpu, quality),
        nearest: NearestPoints::new(gpu),
        overlaps: Overlap::new(gpu),
    };
    let given = session.args.leaf_cutoff;
    let cutoffs = given.map_or(CUTOFFS.to_vec(), |cutoff| vec![cutoff]);
    let mut progress = session.progress(workloads.len() * cutoffs.len());
    for workload in &workloads {
        let input = match build::input(session, workload) {
            Ok(input) => input,
            Err(why @ Error::Limit { .. }) => {
                session.report.skip(workload.run(), &why);
                continue;
            }
            Err(error) => return Err(error),
        };
        let mut run = workload.run();
        run.set("triangles", input.indices.len());
        run.set("meshes", input.meshes.len());
        run.set("quality", quality.name());
        run.set("query_count", count);
        let bits = session.config.tree.code_bits;
        let mut tree = match trees::allocate(&session.meter.gpu, &queries.lbvh, &input, bits) {
            Ok(tree) => tree,
            Err(why) => {
                session.report.skip(run, &why);
                continue;
            }
        };
        let lists = Lists::new(&input, count, session.args.seed);
        for cutoff in &cutoffs {
            progress.step(&format!("{}, leaf cutoff {cutoff}", workload.name()));
            tree.set_leaf_cutoff(&session.meter.gpu, *cutoff);
            let lbvh = &queries.lbvh;
            session
                .meter
                .once(|gpu, scope| Ok(lbvh.record(gpu, scope, &mut tree, Work::Rebuild)?))?;
            let mut run = run.clone();
            run.set("leaf_cutoff", *cutoff);
            nearest(session, &queries, &tree, &lists, *cutoff, &run)?;
            overlaps(session, &queries, &tree, &lists, *cutoff, &run)?;
        }
    }
    session.report.notes.push(format!(
        "points in random order in the scene's box and a tenth of it around, without a distance limit; boxes about \
         them, {} of\nthe scene's diagonal wide. sorting: time in the given order over the time with the sort, which \
         is part of it.\ncounted_first: the count, the sums and the collection, without the wait between them. to one \
         pass: time of\ncounted_first over the time of one_pass.",
        2.0 * HALF_BOX
    ));
    Ok(())
}

impl Lists {
    fn new(input: &Input, count: u32, seed: u64) -> Self {
        let positions = || input.positions.iter().copied().map(Vec3::from);
        let low = positions().reduce(Vec3::min).unwrap_or(Vec3::ZERO);
        let high = positions().reduce(Vec3::max).unwrap_or(Vec3::ZERO);
        let (middle, diagonal) = (0.5 * (low + high), (high - low).length());
        let mut random = Random(seed);
        let centres: Vec<_> = (0..count)
            .map(|_| middle + 0.6 * (high - low) * random.cube())
            .collect();
        let half = Vec3::splat(HALF_BOX * diagonal);
        let boxes = centres.iter().map(|at| BoxQuery {
            lower: (at - half).to_array(),
            upper: (at + half).to_array(),
            ..BoxQuery::default()
        });
        Self {
            boxes: boxes.collect(),
            points: centres
                .iter()
                .map(|at| at.extend(f32::INFINITY).to_array())
                .collect(),
            diagonal,
        }
    }
}

/// Creates a row of the report from the common fields of `run`.
fn line(run: &Run, query: &str, order: &str, timings: &Timings, count: usize) -> Run {
    let mut run = run.clone();
    run.set("query", query);
    run.set("order", order);
    run.time(timings, |_, _| None);
    run.set("queries_per_s", count as f64 / timings.median_ms() * 1e3);
    run
}

/// Times nearest points in the given order of queries and in sorted order.
fn nearest(
    session: &mut Session<'_>,
    queries: &Kernels,
    tree: &Tree,
    lists: &Lists,
    cutoff: u32,
    run: &Run,
) -> Result<()> {
    let Session { meter, report, .. } = session;
    let query = &queries.nearest;
    let batches = PointBatch::new(&meter.gpu, &lists.points)
        .and_then(|given| Ok([given, query.sorted_batch(&meter.gpu, &lists.points)?]));
    let batches = match batches {
        Ok(batches) => batches,
        Err(why) => {
            report.skip(run.clone(), &why);
            return Ok(());
        }
    };
    let mut given: Option<(f64, Vec<f32>)> = None;
    for (order, batch) in ["given", "sorted"].into_iter().zip(&batches) {
        let timings = meter.time(
            |_| {},
            |gpu, scope| Ok(query.record(gpu, scope, tree, batch, cutoff)?),
        )?;
        let found = batch.read(&meter.gpu)?;
        let distances: Vec<_> = found.iter().map(|found| found.distance).collect();
        let mut run = line(run, "nearest", order, &timings, found.len());
        match &given {
            Some((ms, expected)) => {
                let close = CLOSE * lists.diagonal;
                let apart = |(a, b): (&f32, &f32)| a != b && (a - b).abs() > close;
                if expected.iter().zip(&distances).any(apart) {
                    let wrong = "sorted points have other distances";
                    return Err(Error::WrongResult(wrong.into()));
                }
                run.set("sorting_speedup", ms / timings.median_ms());
            }
            None => given = Some((timings.median_ms(), distances)),
        }
        report.runs.push(run);
    }
    Ok(())
}

/// Times box overlaps in the given order of queries and in sorted order. Each is timed with a counting pass
/// first and in a single pass.
fn overlaps(
    session: &mut Session<'_>,
    queries: &Kernels,
    tree: &Tree,
    lists: &Lists,
    cutoff: u32,
    run: &Run,
) -> Result<()> {
    let Session { meter, report, .. } = session;
    let query = &queries.overlaps;
    let count = lists.boxes.len();
    let search = Search {
        leaf_cutoff: cutoff,
        ..Search::new(tree)
    };
    let (total, room) = {
        let found = query.run(&meter.gpu, &search, &lists.boxes);
        match found {
            Ok(found) => (found.total(), u64::from(found.total().max(1))),
            Err(why @ canopy_bvh::Error::Limit { .. }) => {
                report.skip(run.clone(), &why);
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        }
    };
    let batches = [
        ("given", Queries::new(&meter.gpu, &lists.boxes)?),
        (
            "sorted",
            query.sorted(&meter.gpu, Queries::new(&meter.gpu, &lists.boxes)?)?,
        ),
    ];
    let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
    let buffer = |label, bytes| {
        meter
            .gpu
            .buffer(label, bytes, usage | wgpu::BufferUsages::COPY_DST)
    };
    let counts = Counts::new(&meter.gpu, count as u32)?;
    let names = buffer("bench.names", 8 * room);
    let sum = buffer("bench.total", 4);
    let touched = buffer("bench.touched", size_of::<Touched>() as u64 * room);
    let mut given: Vec<f64> = Vec::new();
    for (order, batch) in &batches {
        let in_one_pass = meter.time(
            |_| {},
            |gpu, scope| Ok(query.record_append(gpu, scope, &search, batch, [&sum, &touched])?),
        )?;
        let counted_first = meter.time(
            |_| {},
            |gpu, scope| {
                query.record_count(gpu, scope, &search, batch, &counts)?;
                Ok(query.record_collect(gpu, scope, &search, batch, &counts, &names)?)
            },
        )?;
        for (buffer, word) in [(&sum, 0), (&counts.offsets, count)] {
            let words: Vec<u32> = bytemuck::pod_collect_to_vec(&meter.gpu.read(buffer)?);
            if words.get(word) != Some(&total) {
                let wrong = format!("boxes in the order \"{order}\" touch other triangles");
                return Err(Error::WrongResult(wrong));
            }
        }
        let ways = [("one_pass", &in_one_pass), ("counted_first", &counted_first)];
        for (way, (name, timings)) in ways.into_iter().enumerate() {
            let mut run = line(run, name, order, timings, count);
            run.set("found", total);
            if let Some(ms) = given.get(way).filter(|_| *order == "sorted") {
                run.set("sorting_speedup", ms / timings.median_ms());
            }
            given.push(timings.median_ms());
            if name == "counted_first" {
                let ratio = timings.median_ms() / in_one_pass.median_ms();
                run.set("to_one_pass", ratio);
            }
            report.runs.push(run);
        }
    }
    Ok(())
}
