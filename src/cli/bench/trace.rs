//! `canopy bench trace`: rays from a real G-buffer, beside a textbook's traversal of the same tree.

use super::{
    Bench,
    baseline::{self, Baseline, Textbook},
    inputs::{Input, Kind},
    rays::Surfaces,
    report::{Column, Format, Run},
    shot::Shot,
    sources::{Defaults, Source, sources},
    trees,
};
use crate::{
    Error, Result,
    accel::{
        Lbvh, Tree, Work,
        trace::{Query, Ray, RayBatch, Trace, Visits},
    },
    config::ShadowMode,
    render::{Channel, lights},
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
    ("baseline ms", "baseline_ms", Format::Ms),
    ("speedup", "speedup", Format::Ratio),
];

/// Leaf cutoffs that are tried where none is given.
const CUTOFFS: [u32; 6] = [1, 2, 4, 8, 16, 32];
/// Reach of ambient-occlusion rays as a share of the scene's diagonal.
const REACH: f32 = 0.1;
const QUERIES: [(Query, &str); 2] = [
    (Query::ClosestHit, "closest_hit"),
    (Query::AnyHit, "any_hit"),
];

/// The rays of a frame.
struct Rays {
    name: &'static str,
    list: Vec<Ray>,
}

/// Everything that rays are traced with.
struct Tracer {
    lbvh: Lbvh,
    trace: Trace,
    baseline: Baseline,
}

/// Traces the rays of every scene.
pub(super) fn run(bench: &mut Bench<'_>) -> Result<()> {
    let software = bench.software;
    let size: [u32; 2] = if software { [256, 144] } else { [1920, 1080] };
    let size = bench.args.size.unwrap_or(size);
    let triangles: &[u32] = &[if software { 64_000 } else { 1_000_000 }];
    let defaults = Defaults {
        builtin: true,
        kinds: if software {
            &[]
        } else {
            &[Kind::Soup, Kind::Terrain, Kind::Meshes]
        },
        soup: triangles,
        others: triangles,
    };
    let sources = sources(bench.args, defaults);
    let gpu = &bench.meter.gpu;
    let tracer = Tracer {
        lbvh: Lbvh::new(gpu),
        trace: Trace::new(gpu),
        baseline: Baseline::new(gpu),
    };
    let mut progress = bench.progress(sources.len() * 3 * QUERIES.len());
    for source in &sources {
        let (input, rays) = match frame(bench, source, size) {
            Ok(frame) => frame,
            Err(why @ Error::Limit { .. }) => {
                bench.report.skip(source.run(), &why);
                continue;
            }
            Err(error) => return Err(error),
        };
        let mut run = source.run();
        run.set("triangles", input.indices.len());
        run.set("meshes", input.meshes.len());
        let gpu = &bench.meter.gpu;
        let mut tree = match trees::room(gpu, &tracer.lbvh, &input, bench.config.tree.code_bits) {
            Ok(tree) => tree,
            Err(why) => {
                bench.report.skip(run, &why);
                continue;
            }
        };
        bench
            .meter
            .once(|gpu, scope| tracer.lbvh.record(gpu, scope, &mut tree, Work::Rebuild))?;
        let built = tree.read(&bench.meter.gpu)?;
        built.validate(&input.meshes)?;
        let textbook = Textbook::new(&bench.meter.gpu, &built, &input)?;
        drop(built);
        for rays in &rays {
            for query in QUERIES {
                progress.step(&format!(
                    "{}: {} rays, {}",
                    source.name(),
                    rays.name,
                    query.1
                ));
                let mut run = run.clone();
                run.set("rays", rays.name);
                run.set("query", query.1);
                measure(bench, &tracer, (&tree, &textbook), rays, query.0, run)?;
            }
        }
    }
    let [width, height] = size;
    bench.report.notes.push(format!(
        "rays of {width}×{height} pixels in tiles of 8×8: one through each pixel; from each surface that faces it to the first light \
         that reaches any;\nfrom each surface one by the cosine, as far as {REACH} of the scene's diagonal. nodes and triangles are \
         those visited per ray.\nThe baseline is a textbook's traversal of the same tree: separate child boxes, unordered, one triangle \
         a leaf. Alpha masks count as opaque."
    ));
    Ok(())
}

/// Draws a source's G-buffer, on a device of its own: its triangles and the rays of its pixels.
fn frame(bench: &Bench<'_>, source: &Source, size: [u32; 2]) -> Result<(Input, [Rays; 3])> {
    source.check(&bench.meter.gpu)?;
    let mut config = bench.config.clone();
    config.shadows.mode = ShadowMode::Off;
    let mut shot = Shot::new(source, &config, size)?;
    shot.draw(0.0)?;
    let (position, normal) = (
        shot.channel(Channel::Position)?,
        shot.channel(Channel::Normal)?,
    );
    let view = *shot.view();
    let radius = shot.bounds().radius();
    let surfaces = Surfaces::new(&position, &normal, view.eye(), radius);
    let lights = lights::gather(&shot.scene, &shot.pose(), bench.config);
    let rays = [
        ("primary", surfaces.primary(&view)),
        ("shadow", surfaces.shadow(&lights)),
        (
            "ambient_occlusion",
            surfaces.ambient_occlusion(REACH * 2.0 * radius, bench.args.seed),
        ),
    ];
    let rays = rays.map(|(name, list)| Rays { name, list });
    let input = match source.generate() {
        Some(input) => input,
        None => shot.triangles()?,
    };
    Ok((input, rays))
}

/// Times one query of a list of rays: the baseline, then every leaf cutoff.
fn measure(
    bench: &mut Bench<'_>,
    tracer: &Tracer,
    (tree, textbook): (&Tree, &Textbook),
    rays: &Rays,
    query: Query,
    run: Run,
) -> Result<()> {
    let Bench { meter, report, .. } = bench;
    if rays.list.is_empty() {
        report.skip(run, &Error::NotFound("no pixel sends such a ray".into()));
        return Ok(());
    }
    let batch = match RayBatch::new(&meter.gpu, &rays.list) {
        Ok(batch) => batch,
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
    let given = bench.args.leaf_cutoff.as_ref();
    for cutoff in given.map_or(&CUTOFFS[..], std::slice::from_ref) {
        let mut run = run.clone();
        let timings = meter.time(
            |_| {},
            |gpu, scope| {
                let trace = &tracer.trace;
                trace.record(gpu, scope, tree, &batch, query, *cutoff)
            },
        )?;
        let hits = batch.read(&meter.gpu)?;
        baseline::check(&hits, &expected, query, rays.name)?;
        let hit = hits.iter().filter(|hit| !hit.is_miss()).count();
        let visits = tracer
            .trace
            .count(&meter.gpu, tree, &batch, query, *cutoff)?;
        let mean =
            |of: fn(&Visits) -> u32| visits.iter().map(|v| f64::from(of(v))).sum::<f64>() / count;
        run.time(&timings, |_, _| None);
        run.set("leaf_cutoff", *cutoff);
        run.set("ray_count", batch.len());
        run.set("hit_share", hit as f64 / count);
        run.set("rays_per_s", count / timings.median_ms() * 1e3);
        run.set("nodes_per_ray", mean(|v| v.nodes));
        run.set("triangles_per_ray", mean(|v| v.triangles));
        run.set("baseline_ms", baseline_ms);
        run.set("baseline_rays_per_s", count / baseline_ms * 1e3);
        run.set("speedup", baseline_ms / timings.median_ms());
        report.runs.push(run);
    }
    Ok(())
}
