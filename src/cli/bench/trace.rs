//! `canopy bench trace`: rays from a G-buffer, compared with a textbook traversal of the same BVH.

use super::{
    baseline::{self, Baseline, Textbook},
    inputs::{Input, TriangleKind},
    lockstep::{Replay, Width},
    rays::{self, Surfaces},
    report::{Column, Format, Run},
    session::Session,
    trees,
    workloads::{DefaultWorkloads, Workload, triangles, workloads},
};
use crate::{
    Error, Result,
    accel::{
        Lbvh, Tree, Work,
        trace::{Query, Ray, RayBatch, Trace, Visits},
        tree::TreeData,
    },
    config::ShadowMode,
    render::{Channel, FrameSample, geometry::tree_policy, light::lights},
};

/// Columns of the table.
pub(super) const COLUMNS: &[Column] = &[
    ("name", "name", Format::Text),
    ("triangles", "triangles", Format::Count),
    ("rays", "rays", Format::Text),
    ("query", "query", Format::Text),
    ("cutoff", "leaf_cutoff", Format::Count),
    ("count", "ray_count", Format::Count),
    ("hit", "hit_share", Format::Decimal),
    ("min ms", "gpu_ms/min", Format::Ms),
    ("median ms", "gpu_ms/median", Format::Ms),
    ("p95 ms", "gpu_ms/p95", Format::Ms),
    ("rays/s", "rays_per_s", Format::Count),
    ("nodes", "nodes_per_ray", Format::Decimal),
    ("triangles", "triangles_per_ray", Format::Decimal),
    ("binary nodes", "binary_nodes_per_ray", Format::Decimal),
    ("steps", "lockstep_steps", Format::Decimal),
    ("binary steps", "binary_lockstep_steps", Format::Decimal),
    ("baseline ms", "baseline_ms", Format::Ms),
    ("speedup", "speedup", Format::Ratio),
    ("portable ms", "portable_ms", Format::Ms),
    ("over portable", "over_portable", Format::Ratio),
];

/// Leaf cutoffs to measure by default.
const CUTOFFS: [u32; 6] = [1, 2, 4, 8, 16, 32];
/// Minimum number of rays of a dispatch on a GPU. With fewer, most of the time passes while the last groups
/// finish.
const MIN_RAYS: usize = 8 << 20;
/// Length of ambient-occlusion rays as a fraction of the scene's diagonal.
const LENGTH: f32 = 0.1;
const QUERIES: [(Query, &str); 2] = [(Query::ClosestHit, "closest_hit"), (Query::AnyHit, "any_hit")];

/// Named list of rays of a frame.
struct Rays {
    name: &'static str,
    list: Vec<Ray>,
}

/// Pipelines of the builder and of all measured traversals.
struct Tracer {
    lbvh: Lbvh,
    trace: Trace,
    /// Traversal that software adapters use, measured for comparison on devices with another traversal.
    portable: Option<Trace>,
    baseline: Baseline,
}

/// Trees of a scene: canopy's, the textbook form, and a copy that was built with a leaf cutoff of 1 and read
/// back.
struct Trees {
    tree: Tree,
    textbook: Textbook,
    built: TreeData,
}

/// Traces the rays of every scene.
pub(super) fn run(session: &mut Session<'_>) -> Result<()> {
    let software = session.software;
    let size: [u32; 2] = if software { [256, 144] } else { [1920, 1080] };
    let size = session.args.size.unwrap_or(size);
    let sizes: &[u32] = &[if software { 64_000 } else { 1_000_000 }];
    let defaults = DefaultWorkloads {
        builtin: true,
        kinds: if software {
            &[]
        } else {
            &[TriangleKind::Soup, TriangleKind::Terrain, TriangleKind::Meshes]
        },
        soup: sizes,
        others: sizes,
    };
    let workloads = workloads(session.args, defaults);
    let gpu = &session.meter.gpu;
    let quality = tree_policy::quality(gpu, session.config, false);
    let tracer = Tracer {
        lbvh: Lbvh::with_quality(gpu, quality),
        trace: Trace::new(gpu),
        portable: gpu.capabilities.has_ray_nodes().then(|| Trace::portable(gpu)),
        baseline: Baseline::new(gpu),
    };
    let mut progress = session.progress(workloads.len() * 3 * QUERIES.len());
    for workload in &workloads {
        let (input, rays) = match frame(session, workload, size) {
            Ok(frame) => frame,
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
        let gpu = &session.meter.gpu;
        let mut tree = match trees::allocate(gpu, &tracer.lbvh, &input, session.config.tree.code_bits) {
            Ok(tree) => tree,
            Err(why) => {
                session.report.skip(run, &why);
                continue;
            }
        };
        session
            .meter
            .once(|gpu, scope| Ok(tracer.lbvh.record(gpu, scope, &mut tree, Work::Rebuild)?))?;
        let built = tree.read(&session.meter.gpu)?;
        built.validate(&input.meshes)?;
        let textbook = Textbook::new(&session.meter.gpu, &built, &input)?;
        let mut trees = Trees {
            tree,
            textbook,
            built,
        };
        for rays in &rays {
            for query in QUERIES {
                progress.step(&format!("{}: {} rays, {}", workload.name(), rays.name, query.1));
                let mut run = run.clone();
                run.set("rays", rays.name);
                run.set("query", query.1);
                measure(session, &tracer, &mut trees, rays, query.0, run)?;
            }
        }
    }
    let [width, height] = size;
    session.report.notes.push(format!(
        "rays of {width}×{height} pixels in tiles of 8×8: primary rays through all pixels; shadow rays from every \
         surface\nto the first light that it faces and that reaches it; ambient-occlusion rays, cosine-distributed \
         and {LENGTH} of the\nscene's diagonal long. nodes and triangles are visits per ray. steps are visits of 32 \
         rays in lockstep, each phase as\nlong as its slowest ray, replayed on the CPU. binary nodes and binary steps \
         are for the binary BVH with the same splits.\nThe baseline is a textbook's traversal of that BVH: separate \
         child boxes, unordered, one triangle a leaf. Alpha\nmasks count as opaque. A GPU gets each list as often as it takes \
         for {MIN_RAYS} rays. Portable is the traversal of software\nadapters."
    ));
    Ok(())
}

/// Returns the triangles of a workload and the rays of its pixels. The G-buffer is drawn on a separate
/// device.
fn frame(session: &Session<'_>, workload: &Workload, size: [u32; 2]) -> Result<(Input, [Rays; 3])> {
    workload.check(&session.meter.gpu)?;
    let mut config = session.config.clone();
    config.shadows.mode = ShadowMode::Off;
    let mut offscreen = workload.open(&config, size)?;
    let moment = offscreen.moment(config.animation.time);
    offscreen.draw(&moment, FrameSample::SINGLE)?;
    let (position, normal) = (
        offscreen.channel(Channel::Position)?,
        offscreen.channel(Channel::Normal)?,
    );
    let view = moment.view;
    let radius = moment.bounds.radius();
    let surfaces = Surfaces::new(&position, &normal, view.eye(), radius);
    let lights = lights::gather(&offscreen.scene, &moment.pose, session.config, 1.0);
    let rays = [
        ("primary", rays::primary(size, &view)),
        ("shadow", surfaces.shadow(&lights)),
        (
            "ambient_occlusion",
            surfaces.ambient_occlusion(LENGTH * 2.0 * radius, session.args.seed),
        ),
    ];
    let rays = rays.map(|(name, list)| Rays { name, list });
    let input = match workload.generate() {
        Some(input) => input,
        None => triangles(&offscreen)?,
    };
    Ok((input, rays))
}

/// Times one query of a list of rays: the baseline first, then every leaf cutoff.
fn measure(
    session: &mut Session<'_>,
    tracer: &Tracer,
    Trees {
        tree,
        textbook,
        built,
    }: &mut Trees,
    rays: &Rays,
    query: Query,
    run: Run,
) -> Result<()> {
    let Session { meter, report, .. } = session;
    if rays.list.is_empty() {
        let why = format!("no pixel sends {} rays", rays.name);
        report.skip(run, &Error::NotFound(why));
        return Ok(());
    }
    let most = meter.gpu.limits.max_storage_buffer_binding_size as usize / size_of::<Ray>();
    let repeats = match meter.gpu.capabilities.has_gpu {
        true => (MIN_RAYS.min(most) / rays.list.len()).max(1),
        false => 1,
    };
    let batches = RayBatch::new(&meter.gpu, &rays.list)
        .and_then(|once| Ok((once, RayBatch::new(&meter.gpu, &rays.list.repeat(repeats))?)));
    let (once, batch) = match batches {
        Ok(batches) => batches,
        Err(why) => {
            report.skip(run, &why);
            return Ok(());
        }
    };
    let count = f64::from(batch.len());
    let timings = meter.time(
        |_| {},
        |gpu, scope| tracer.baseline.record(gpu, scope, textbook, &batch, query),
    )?;
    let baseline_ms = timings.median_ms();
    let expected = batch.read(&meter.gpu)?;
    let given = session.args.leaf_cutoff.as_ref();
    for cutoff in given.map_or(&CUTOFFS[..], std::slice::from_ref) {
        let mut run = run.clone();
        tree.set_leaf_cutoff(&meter.gpu, *cutoff);
        meter.once(|gpu, scope| Ok(tracer.lbvh.record(gpu, scope, tree, Work::Rebuild)?))?;
        let timings = meter.time(
            |_| {},
            |gpu, scope| {
                let trace = &tracer.trace;
                Ok(trace.record(gpu, scope, tree, &batch, query, *cutoff)?)
            },
        )?;
        let median_ms = timings.median_ms();
        let hits = batch.read(&meter.gpu)?;
        baseline::check(&hits, &expected, query, rays.name)?;
        let hit = hits.iter().filter(|hit| !hit.is_miss()).count();
        if let Some(portable) = &tracer.portable {
            let timings = meter.time(
                |_| {},
                |gpu, scope| Ok(portable.record(gpu, scope, tree, &batch, query, *cutoff)?),
            )?;
            baseline::check(&batch.read(&meter.gpu)?, &expected, query, rays.name)?;
            run.set("portable_ms", timings.median_ms());
            run.set("over_portable", timings.median_ms() / median_ms);
        }
        let visits = tracer.trace.count(&meter.gpu, tree, &once, query, *cutoff)?;
        let rays_once = visits.len() as f64;
        let mean = |of: fn(&Visits) -> u32| visits.iter().map(|v| f64::from(of(v))).sum::<f64>() / rays_once;
        run.time(&timings, |_, _| None);
        run.set("leaf_cutoff", *cutoff);
        run.set("ray_count", batch.len());
        run.set("hit_share", hit as f64 / count);
        run.set("rays_per_s", count / median_ms * 1e3);
        run.set("nodes_per_ray", mean(|v| v.nodes));
        run.set("triangles_per_ray", mean(|v| v.triangles));
        let listed = || rays.list.iter().copied().map(Some);
        let binary = Replay::new(built, *cutoff, Width::Two).run(listed(), query);
        let data = tree.read(&meter.gpu)?;
        let wide = Replay::new(&data, *cutoff, Width::Four).run(listed(), query);
        run.set("replayed_nodes_per_ray", wide.nodes);
        run.set("lockstep_steps", wide.lockstep);
        run.set("binary_nodes_per_ray", binary.nodes);
        run.set("binary_lockstep_steps", binary.lockstep);
        run.set("lockstep_ratio", wide.lockstep / binary.lockstep);
        run.set("baseline_ms", baseline_ms);
        run.set("baseline_rays_per_s", count / baseline_ms * 1e3);
        run.set("speedup", baseline_ms / median_ms);
        report.runs.push(run);
    }
    Ok(())
}
