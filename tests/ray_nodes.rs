//! Tests of the nodes for rays on GPUs, and of the traversal with them.

use crate::common;
use canopy::{
    accel::{
        Lbvh, Quality, Query, Ray, Trace, Tree, Work,
        layout::{RAY_LEAVES_MAX, RAY_STACK_ROOM},
        tree::TreeData,
    },
    gpu::Gpu,
    reference::ray_nodes::{self, RayChild, RayNode},
};
use common::{Shared, Soup, implementations, random_triangles};
use glam::Vec3;

/// Devices whose rays traverse these nodes.
fn devices() -> Vec<(&'static str, Shared)> {
    let mut devices = implementations();
    devices.retain(|(_, gpu)| gpu.capabilities.has_ray_nodes());
    assert!(!devices.is_empty());
    devices
}

/// Scenes of one mesh, of many with empty and single ones, and of boxes with one short side.
fn soups() -> [(&'static str, Soup); 4] {
    let many = (0..40).fold(Soup::default(), |soup, mesh| {
        let size = [0, 1, 2, 37, 3, 130, 8][mesh % 7];
        soup.mesh(random_triangles(size, mesh as u64))
    });
    let flat = |by: f32| {
        let triangles = random_triangles(400, 7).into_iter();
        Soup::default().mesh(triangles.map(move |t| t.map(|v| v * Vec3::new(1.0, by, 1.0))))
    };
    [
        ("random", Soup::random(900, 3)),
        ("many meshes", many),
        ("flat", flat(1e-3)),
        ("very flat", flat(1e-6)),
    ]
}

/// Records and reads back the nodes for rays with this leaf cutoff.
fn made(gpu: &Gpu, trace: &Trace, tree: &Tree, cutoff: u32) -> Vec<RayNode> {
    let ray = Ray::default();
    trace.run(gpu, tree, &[ray], Query::AnyHit, cutoff).unwrap();
    tree.read_ray_nodes(gpu).unwrap()
}

#[test]
fn ray_nodes_match_the_cpu_reference() {
    for (device, gpu) in devices() {
        let (lbvh, trace) = (Lbvh::with_quality(&gpu, Quality::High), Trace::new(&gpu));
        for (name, soup) in soups() {
            let mut tree = soup.build(&gpu, &lbvh);
            for (quality, tree_cutoff) in [(Quality::High, 1), (Quality::Fast, 1), (Quality::Fast, 3)] {
                tree.set_leaf_cutoff(&gpu, tree_cutoff);
                tree.set_quality(quality);
                common::record(&gpu, &lbvh, &mut tree, Work::Rebuild);
                for cutoff in [1, 4, 32, 1000] {
                    let made = made(&gpu, &trace, &tree, cutoff);
                    let data = tree.read(&gpu).unwrap();
                    let twin = ray_nodes::ray_nodes(&data, cutoff);
                    for (index, twin) in twin.iter().enumerate() {
                        if let Some(twin) = twin {
                            assert_eq!(
                                made[index], *twin,
                                "{device}, {name}, node {index}, cutoff {cutoff}"
                            );
                        }
                    }
                    check_boxes(&data, &twin);
                    check_leaves(&soup, &data, &made, cutoff);
                }
            }
        }
    }
}

/// No box is smaller than the box of the tree's node, in f64.
fn check_boxes(data: &TreeData, nodes: &[Option<RayNode>]) {
    let mut checked = 0;
    for (node, ray_node) in data.nodes.iter().zip(nodes) {
        let Some(ray_node) = ray_node else { continue };
        let steps = [0, 8, 16].map(|bit| 2f64.powi((node.exponents >> bit & 255) as i32 - 127));
        let plane = |axis: usize, packed: u32, child: usize| {
            f64::from(node.origin[axis]) + f64::from(packed.to_le_bytes()[child]) * steps[axis]
        };
        // Missing children come last in a mesh, and anywhere in the TLAS.
        let mut present = ray_nodes::children(ray_node).into_iter();
        for child in 0..4 {
            let lower = [0, 1, 2].map(|axis| plane(axis, node.lower[axis], child));
            let upper = [0, 1, 2].map(|axis| plane(axis, node.upper[axis], child));
            if lower[0] > upper[0] {
                continue;
            }
            let (_, [own_lower, own_upper]) = present.next().unwrap();
            for axis in 0..3 {
                assert!(own_lower[axis] <= lower[axis] && own_upper[axis] >= upper[axis]);
            }
            checked += 1;
        }
        assert!(present.next().is_none());
    }
    assert!(checked > 200);
}

/// The references lead from the root to each leaf exactly once.
fn check_leaves(soup: &Soup, data: &TreeData, nodes: &[RayNode], cutoff: u32) {
    let triangles = soup.indices.len() as u32;
    let cutoff = cutoff.max(data.leaf_cutoff).min(RAY_LEAVES_MAX);
    let root = if soup.meshes.len() > 1 { triangles } else { 0 };
    let mut seen = vec![0; triangles as usize];
    let mut pending = vec![RayChild::Node(root)];
    while let Some(next) = pending.pop() {
        match next {
            RayChild::Node(node) => {
                pending.extend(
                    ray_nodes::children(&nodes[node as usize])
                        .into_iter()
                        .map(|(to, _)| to),
                );
            }
            RayChild::Leaves(leaves) => {
                assert!(leaves.len() as u32 <= cutoff);
                leaves.for_each(|leaf| seen[leaf as usize] += 1);
            }
        }
    }
    let finite = soup.triangles().len();
    assert_eq!(seen.iter().filter(|times| **times == 1).count(), finite);
}

/// Triangles whose boxes are all the same. A ray along z at (0.9, 0.9) enters every box, and hits only `hit`.
fn overlapping(count: usize, hit: usize) -> impl Iterator<Item = [Vec3; 3]> {
    (0..count).map(move |i| match i == hit {
        true => [
            Vec3::new(1.0, 1.0, 0.5),
            Vec3::new(0.0, 1.0, 1.0),
            Vec3::new(1.0, 0.0, 0.0),
        ],
        false => [
            Vec3::new(0.0, 0.0, 0.5),
            Vec3::new(0.0, 1.0, 1.0),
            Vec3::new(1.0, 0.0, 0.0),
        ],
    })
}

/// A ray whose stack has no room for the children of a node still finds the only hit, in a mesh and in the TLAS.
#[test]
fn hits_are_found_when_the_stack_is_full() {
    // More levels of four children than the stack has room for.
    let count = 4usize.pow(RAY_STACK_ROOM / 3 + 1) + 700;
    let ray = |x: f32, up: f32| Ray {
        origin: [x, x, 0.5 - up],
        t_min: 0.0,
        direction: [0.0, 0.0, up],
        t_max: 2.0,
    };
    for (device, gpu) in devices() {
        let (lbvh, trace) = (Lbvh::new(&gpu), Trace::new(&gpu));
        for hit in [0, 1, count / 3, count - 1] {
            let one = Soup::default().mesh(overlapping(count, hit));
            let many = overlapping(count, hit).fold(Soup::default(), |soup, triangle| soup.mesh([triangle]));
            for (soup, is_one) in [(one, true), (many, false)] {
                let tree = soup.build(&gpu, &lbvh);
                for query in [Query::AnyHit, Query::ClosestHit] {
                    let rays = [ray(0.9, 1.0), ray(0.9, -1.0), ray(1.1, 1.0)];
                    let hits = trace.run(&gpu, &tree, &rays, query, 1).unwrap();
                    for found in &hits[..2] {
                        let expected = if is_one { (0, hit as u32) } else { (hit as u32, 0) };
                        assert_eq!(
                            (found.mesh, found.triangle),
                            expected,
                            "{device}, {query:?}, {is_one}"
                        );
                    }
                    assert!(hits[2].is_miss());
                }
            }
        }
    }
}

/// Both traversals give the same hits, and the one for GPUs does not visit more.
#[test]
fn both_traversals_give_the_same_hits() {
    let soup = soups()[1].1.clone().mesh(random_triangles(5000, 71));
    let rays = common::rays(2000, 5);
    for (device, gpu) in devices() {
        let tree = soup.build(&gpu, &Lbvh::new(&gpu));
        let (trace, portable) = (Trace::new(&gpu), Trace::portable(&gpu));
        let batch = canopy::accel::trace::RayBatch::new(&gpu, &rays).unwrap();
        for query in [Query::ClosestHit, Query::AnyHit] {
            let hits = trace.run(&gpu, &tree, &rays, query, 2).unwrap();
            let expected = portable.run(&gpu, &tree, &rays, query, 2).unwrap();
            match query {
                Query::ClosestHit => assert_eq!(hits, expected, "{device}"),
                Query::AnyHit => {
                    let same =
                        |(a, b): (&canopy::accel::Hit, _)| a.is_miss() == canopy::accel::Hit::is_miss(b);
                    assert!(hits.iter().zip(&expected).all(same), "{device}");
                }
            }
            let nodes = |trace: &Trace| {
                let visits = trace.count(&gpu, &tree, &batch, query, 2).unwrap();
                visits.iter().map(|visits| f64::from(visits.nodes)).sum::<f64>()
            };
            let ratio = nodes(&trace) / nodes(&portable);
            println!("{device}, {query:?}: {ratio:.3} of the nodes");
            assert!(ratio < 1.15, "{device}, {query:?}: {ratio}");
        }
    }
}
