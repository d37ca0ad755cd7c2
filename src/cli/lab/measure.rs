//! Measures the rows of the table.

use super::{args::LabArgs, plan::Combination, scene::Bench};
use crate::{
    Error, Result,
    accel::{
        Lbvh, Query, Ray, Work,
        layout::{BVH_MISS, Visits},
    },
    cli::{
        bench::{
            report::{Report, Run},
            timing::Meter,
            trees,
        },
        progress::StatusLine,
    },
    gpu::profiler::Stopwatch,
    lab::{
        Kernels, Layout, RayList, Structure, StructureData, TriangleTest, Uploaded,
        binary_tree::{BinaryTree, Quality},
        data::LabHit,
        exact::{self, Exact},
        grid_build::{GridBuild, GridParts},
        ray_file::RaySet,
        ray_order::{RayOrder, is_sent},
    },
    reference::lab_tests::{self, Counted},
};

use glam::Vec3;
use serde_json::json;
use std::collections::HashMap;

/// Rays per group in lockstep.
const GROUP: usize = 32;

/// An acceleration structure, before it is laid out for a traversal.
struct Prebuilt {
    /// Tree with leaves of the requested size, or `None` for grids and kd-trees.
    tree: Option<(BinaryTree, Quality)>,
    cells: Option<StructureData>,
    build_ms: f64,
}

/// Exact hits of the checked rays, keyed by the bits of the ray.
type Checked = HashMap<[u32; 8], Option<Exact>>;

/// Measures every combination on every set of rays. Incompatible combinations are skipped with a reason.
pub(super) fn all(
    args: &LabArgs,
    meter: &mut Meter,
    bench: &Bench,
    combinations: &[Combination],
    report: &mut Report,
    quiet: bool,
) -> Result<()> {
    let line = StatusLine::new(quiet);
    let mut made: Vec<(Structure, Result<Prebuilt>)> = Vec::new();
    for Combination { structure, .. } in combinations {
        if !made.iter().any(|(known, _)| known == structure) {
            line.stage(&format!("building {}", structure.name()));
            let built = make(args, meter, bench, *structure);
            let is_limit = matches!(built, Ok(_) | Err(Error::Limit { .. }));
            made.push((*structure, if is_limit { built } else { Ok(built?) }));
        }
    }
    let mut checked = Vec::with_capacity(bench.sets.len());
    for set in &bench.sets {
        line.stage(&format!("{} rays against every triangle", set.name));
        checked.push(check(bench, set, args.check));
    }
    let total = (combinations.len() * bench.sets.len()) as u64;
    let mut done = 0;
    for combination in combinations {
        let Combination {
            test,
            walk,
            structure,
            ..
        } = *combination;
        let kernels = Kernels::new(&meter.gpu, test, walk);
        let found = made.iter().find(|(known, _)| *known == structure);
        let uploaded = match found.map(|(_, made)| made) {
            Some(Ok(made)) => upload(meter, bench, made, combination).map(|all| (made, all)),
            Some(Err(error)) => Err(Error::Argument(error.to_string())),
            None => continue,
        };
        for (set, checked) in bench.sets.iter().zip(&checked) {
            let run = row_of(bench, combination, set);
            line.step(
                done,
                total,
                format!("{} of {total}: {} {}", done + 1, walk.name(), set.name),
            );
            done += 1;
            match &uploaded {
                Ok((made, (built, scene))) => {
                    let subject = Subject {
                        kernels: &kernels,
                        made,
                        built,
                        scene,
                        set,
                        checked,
                    };
                    measure(meter, bench, &subject, combination, run, report)?;
                }
                Err(why) => report.skip(run, why),
            }
        }
    }
    let checked = args.check;
    report.notes.push(format!(
        "Mrays/s count traced rays. nodes (or cells) and triangles are visits per ray. steps are visits of the \
         slowest\nof {GROUP} neighbours, for each {GROUP} traced rays. wrong: rays whose hit differs from a test of \
         every triangle\nin f64, among up to {checked} rays of a set, spread evenly. cracks: wrong rays that passed \
         through an edge. build:\non the GPU for radix, ploc and grids, without laying out nodes for the traversal; on \
         one CPU thread for other\nstructures. picture: a build and the rays once. 1,000: a build and the rays a \
         thousand times. docs/lab.md has the\nsources."
    ));
    Ok(())
}

/// Builds an acceleration structure.
fn make(args: &LabArgs, meter: &mut Meter, bench: &Bench, structure: Structure) -> Result<Prebuilt> {
    if let Some(two_level) = structure.grid_levels() {
        let build = GridBuild::new(&meter.gpu);
        let mut parts = GridParts::new(&meter.gpu, &bench.triangles, two_level)?;
        let mut build_ms = 0.0;
        for step in 0..parts.steps() {
            let timings = meter.time(
                |encoder| parts.begin(encoder, step),
                |gpu, scope| Ok(build.record(gpu, scope, &parts, step)?),
            )?;
            build_ms += timings.median_ms();
            parts.reserve(&meter.gpu, step)?;
        }
        return Ok(Prebuilt {
            build_ms,
            tree: None,
            cells: Some(parts.read(&meter.gpu)?),
        });
    }
    let clock = Stopwatch::new();
    if let Some(cells) = structure.cells(&bench.triangles)? {
        return Ok(Prebuilt {
            build_ms: clock.ms(),
            tree: None,
            cells: Some(cells),
        });
    }
    let (tree, build_ms) = match (structure.tree(&bench.triangles), structure.on_gpu()) {
        (Some(tree), _) => (tree, clock.ms()),
        (None, quality) => {
            let lbvh = Lbvh::with_quality(&meter.gpu, quality.unwrap_or_default());
            let mut tree = trees::allocate(&meter.gpu, &lbvh, &bench.input, 30)?;
            let build = meter.time(
                |_| {},
                |gpu, scope| Ok(lbvh.record(gpu, scope, &mut tree, Work::Rebuild)?),
            )?;
            let data = tree.read(&meter.gpu)?;
            (BinaryTree::from_data(&data, &bench.triangles)?, build.median_ms())
        }
    };
    let tree = tree.with_leaves(args.leaf);
    let quality = tree.quality(&bench.triangles);
    Ok(Prebuilt {
        tree: Some((tree, quality)),
        cells: None,
        build_ms,
    })
}

fn upload(
    meter: &Meter,
    bench: &Bench,
    made: &Prebuilt,
    of: &Combination,
) -> Result<(StructureData, Uploaded)> {
    let layout: Layout = of.walk.layout();
    let built = match (&made.tree, &made.cells) {
        (Some((tree, _)), _) => tree.laid_out(layout)?,
        (None, cells) => cells.clone(),
    };
    let built = built.ok_or_else(|| Error::Internal(format!("{} has no such form", of.structure.name())))?;
    let scene = Uploaded::new(&meter.gpu, &built, &bench.triangles, of.test, of.walk)?;
    Ok((built, scene))
}

/// Intersects `count` evenly spaced rays of a set with every triangle in f64.
fn check(bench: &Bench, set: &RaySet, count: u32) -> Checked {
    let sent: Vec<&Ray> = set.rays.iter().filter(|ray| is_sent(ray)).collect();
    let step = sent.len().div_ceil(count.max(1) as usize).max(1);
    let sample = sent.into_iter().step_by(step).take(count as usize);
    sample
        .map(|ray| (bits(ray), exact::closest(&bench.triangles, ray)))
        .collect()
}

fn bits(ray: &Ray) -> [u32; 8] {
    bytemuck::cast(*ray)
}

/// Creates a row with the fields that are known before the measurement.
fn row_of(bench: &Bench, of: &Combination, set: &RaySet) -> Run {
    Run::new(json!({
        "name": bench.name,
        "triangles": bench.triangles.len(),
        "rays": set.name,
        "query": match set.query {
            Query::ClosestHit => "closest_hit",
            Query::AnyHit => "any_hit",
        },
        "test": of.test.name(),
        "operations": operations(of.test),
        "triangle_bytes": of.test.bytes(),
        "walk": of.walk.name(),
        "structure": of.structure.name(),
        "threads": of.threads.name(),
        "order": of.order.name(),
    }))
}

/// Counts the operations of the CPU reference for one hit with `test`.
pub(super) fn operations(test: TriangleTest) -> u32 {
    let ray = Ray {
        origin: [0.25, 0.25, 1.0],
        t_min: 0.0,
        direction: [0.0, 0.0, -1.0],
        t_max: 2.0,
    };
    let rows = test.rows(&[Vec3::ZERO, Vec3::X, Vec3::Y]);
    let twin = match test {
        TriangleTest::Areas => lab_tests::areas::<Counted>,
        TriangleTest::MollerTrumbore => lab_tests::moller_trumbore,
        TriangleTest::BaldwinWeber => lab_tests::baldwin_weber,
        TriangleTest::UnitTriangle => lab_tests::unit_triangle,
        TriangleTest::Plucker => lab_tests::plucker,
        TriangleTest::Watertight => lab_tests::watertight,
    };
    Counted::operations(|| {
        twin(&rows, &ray);
    })
}

/// Inputs of a measurement.
struct Subject<'a> {
    kernels: &'a Kernels,
    made: &'a Prebuilt,
    built: &'a StructureData,
    scene: &'a Uploaded,
    set: &'a RaySet,
    checked: &'a Checked,
}

fn measure(
    meter: &mut Meter,
    bench: &Bench,
    on: &Subject<'_>,
    of: &Combination,
    mut run: Run,
    report: &mut Report,
) -> Result<()> {
    let (rays, query) = (of.order.of(&on.set.rays), on.set.query);
    let sent = rays.iter().filter(|ray| is_sent(ray)).count();
    if sent == 0 {
        let why = format!("the ray set {} has no rays", on.set.name);
        report.skip(run, &Error::NotFound(why));
        return Ok(());
    }
    let list = RayList::new(&meter.gpu, &rays)?;
    let timings = meter.time(
        |encoder| list.begin(encoder),
        |gpu, scope| {
            Ok(on
                .kernels
                .record(gpu, scope, on.scene, &list, query, of.threads)?)
        },
    )?;
    let hits = list.hits(&meter.gpu)?;
    let visits = on.kernels.count(&meter.gpu, on.scene, &list, query)?;
    let trace_ms = timings.median_ms();
    run.time(&timings, |_, _| None);
    run.stages.clear();
    run.set("ray_count", sent);
    let found = hits.iter().filter(|hit| hit.leaf != BVH_MISS).count();
    run.set("hit_share", found as f64 / sent as f64);
    run.set("mrays_per_s", sent as f64 / trace_ms / 1e3);
    let mean = |of: fn(&Visits) -> u32| visits.iter().map(|v| f64::from(of(v))).sum::<f64>() / sent as f64;
    run.set("nodes_per_ray", mean(|v| v.nodes));
    run.set("triangles_per_ray", mean(|v| v.triangles));
    run.set("lockstep_steps", lockstep(&visits, sent));
    run.set("nodes", on.built.node_count);
    run.set("node_bytes", on.built.node_bytes);
    run.set("bytes", on.built.bytes());
    run.set("levels", on.built.levels);
    run.set("build_ms", on.made.build_ms);
    for (key, frames) in [
        ("picture_1_ms", 1.0),
        ("picture_10_ms", 10.0),
        ("picture_1000_ms", 1000.0),
    ] {
        run.set(key, on.made.build_ms + frames * trace_ms);
    }
    if let Some((_, quality)) = &on.made.tree {
        run.set("sah", quality.sah);
        run.set("epo", quality.epo);
    }
    let compared = |(ray, hit): (&Ray, &LabHit)| Some((*hit, *on.checked.get(&bits(ray))?));
    let (ours, exact): (Vec<LabHit>, Vec<Option<Exact>>) =
        rays.iter().zip(&hits).filter_map(compared).unzip();
    let slack = 1e-6 * f64::from(on.built.radius());
    let wrong = exact::compare(ours, &exact, query, slack);
    run.set("checked", wrong.rays);
    run.set("wrong", wrong.all());
    run.set("missed", wrong.missed);
    run.set("false_hits", wrong.false_hits);
    run.set("elsewhere", wrong.elsewhere);
    run.set("cracks", wrong.cracks);
    run.set("rays_hash", format!("{:016x}", on.set.hash()));
    debug_assert!(
        of.order == RayOrder::Given || sent == rays.len(),
        "{}",
        bench.name
    );
    report.runs.push(run);
    Ok(())
}

/// Returns the mean over groups of the nodes and triangles of each group's slowest ray. The divisor is the
/// number of full groups that the `sent` rays would fill, so gaps between rays count as overhead.
fn lockstep(visits: &[Visits], sent: usize) -> f64 {
    let steps = |group: &[Visits]| {
        let steps = group.iter().map(|v| v.nodes + v.triangles);
        f64::from(steps.max().unwrap_or(0))
    };
    let all: f64 = visits.chunks(GROUP).map(steps).sum();
    all * GROUP as f64 / sent as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lockstep_cost_counts_the_slowest_ray_of_a_group() {
        let visit = |nodes, triangles| Visits { nodes, triangles };
        let mut visits = vec![visit(1, 1); 40];
        visits[3] = visit(10, 5);
        visits[35] = visit(0, 7);
        assert_eq!(lockstep(&visits, 40), (15.0 + 7.0) * 32.0 / 40.0);
        // Placeholders without a ray leave gaps, so there are more groups.
        assert_eq!(lockstep(&visits, 32), 22.0);
    }
}
