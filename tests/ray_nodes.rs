//! Tests of the nodes for rays on GPUs, and of the traversal with them.

use crate::common;
use canopy::{
    accel::{
        self, Lbvh, Quality, Query, Ray, RayNodes, Trace, Tree, Work,
        layout::{ANY_HIT_TEST, RAY_LEAVES_MAX, RAY_STACK_ROOM},
        trace::RayBatch,
        tree::TreeData,
    },
    gpu::{
        Arrays, Gpu, RayBoxes, RayStack, bind_group,
        pass::{self, Binding},
    },
    reference::{
        ray_nodes::{self, RayChild, RayNode},
        trace::closest_hit,
    },
};
use common::{Shared, Soup, implementations, random_triangles};
use glam::Vec3;

/// Devices whose rays traverse these nodes. One has nodes of bytes, and one private stacks.
fn devices() -> Vec<(&'static str, Shared)> {
    let mut devices = implementations();
    let other = |kind, change| common::implementation(kind, Arrays::Buffers, false, change);
    devices.push(other("bytes", |gpu| gpu.capabilities.ray_boxes = RayBoxes::Bytes));
    devices.push(other("private stacks", |gpu| {
        gpu.capabilities.ray_stack = RayStack::Private;
    }));
    devices.retain(|(_, gpu)| gpu.capabilities.has_ray_nodes());
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
    let rows = tree.read_ray_nodes(gpu).unwrap();
    let nodes = rows.chunks_exact(gpu.capabilities.ray_boxes.rows() as usize);
    nodes.map(<[_]>::to_vec).collect()
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
                    let twin = ray_nodes::ray_nodes(&data, cutoff, gpu.capabilities.ray_boxes);
                    for (index, twin) in twin.iter().enumerate() {
                        if let Some(twin) = twin {
                            assert_eq!(
                                made[index], *twin,
                                "{device}, {name}, node {index}, cutoff {cutoff}"
                            );
                        }
                    }
                    data.validate(&soup.meshes).unwrap();
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
    assert!(seen.iter().all(|times| *times <= 1));
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

/// A ray whose stack has no room for the children of a node still finds the only hit, in a mesh and in the
/// TLAS.
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
                // An any-hit ray that misses tests each triangle once, so that none attenuates light twice.
                let short = Ray {
                    t_max: 0.7,
                    ..ray(0.9, 1.0)
                };
                let batch = RayBatch::new(&gpu, &[short]).unwrap();
                let visits = trace.count(&gpu, &tree, &batch, Query::AnyHit, 1).unwrap();
                assert_eq!(visits[0].triangles as usize, count, "{device}, {is_one}");
            }
        }
    }
}

/// Both traversals give the same hits, and the one for GPUs visits about as many nodes. In the wrong order,
/// closest-hit rays would visit many more.
#[test]
fn both_traversals_give_the_same_hits() {
    let soup = soups()[1].1.clone().mesh(random_triangles(5000, 71));
    let rays = common::rays(2000, 5);
    for (device, gpu) in devices() {
        let tree = soup.build(&gpu, &Lbvh::new(&gpu));
        let (trace, portable) = (Trace::new(&gpu), Trace::portable(&gpu));
        let batch = RayBatch::new(&gpu, &rays).unwrap();
        for query in [Query::ClosestHit, Query::AnyHit] {
            let hits = trace.run(&gpu, &tree, &rays, query, 2).unwrap();
            let expected = portable.run(&gpu, &tree, &rays, query, 2).unwrap();
            match query {
                Query::ClosestHit => {
                    for (hit, expected) in hits.iter().zip(&expected) {
                        let same = (hit.mesh, hit.triangle) == (expected.mesh, expected.triangle);
                        assert!(
                            same && (hit.t - expected.t).abs() <= 1e-5 * expected.t,
                            "{device}"
                        );
                    }
                }
                Query::AnyHit => {
                    let same = |(a, b): (&accel::Hit, _)| a.is_miss() == accel::Hit::is_miss(b);
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

/// A shader whose any-hit test rejects every triangle and counts the calls.
const COUNTED: &str = "
#import \"bvh/bvh_rays.wgsl\"

@group(0) @binding(0) var<storage, read> rays: array<Ray>;
@group(0) @binding(1) var<storage, read_write> calls: array<u32>;

var<private> call_count: u32;

fn bvh_accepts(triangle: LeafTriangle, barycentric: vec2f) -> bool {
    call_count++;
    return false;
}

@compute @workgroup_size(BVH_RAY_THREADS)
fn count_calls(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) thread: u32) {
    bvh_ray_begin(thread);
    if id.x < arrayLength(&rays) {
        let hit = bvh_traverse(rays[id.x], 2u, true);
        calls[id.x] = select(call_count, 1000000u, hit.leaf != BVH_MISS);
    }
}
";

/// Returns the number of calls of the any-hit test for each ray, if it rejects all triangles.
fn counted_calls(gpu: &Gpu, tree: &Tree, rays: &[Ray]) -> Vec<u32> {
    let layout = Tree::layout(gpu, wgpu::ShaderStages::COMPUTE);
    let own = pass::compute_layout(gpu, "calls", &[Binding::Read, Binding::Write]);
    let module = accel::shader_module(gpu, "count_calls", COUNTED).unwrap();
    let layouts = [Some(&own), Some(&layout)];
    let pipeline = pass::compute_pipeline_of(gpu, &module, "count_calls", Some(&layouts), &[]).unwrap();
    let usage = wgpu::BufferUsages::STORAGE;
    let input = gpu.buffer_with("rays", rays, usage);
    let calls = gpu.buffer(
        "calls",
        4 * rays.len() as u64,
        usage | wgpu::BufferUsages::COPY_SRC,
    );
    let mut encoder = gpu.encoder("count_calls");
    RayNodes::new(gpu).record(gpu, &mut encoder, tree, 2).unwrap();
    let group = tree.ray_bind_group(gpu, &layout).unwrap();
    {
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &bind_group(gpu, "calls", &own, &[&input, &calls]), &[]);
        pass.set_bind_group(1, &group, &[]);
        pass.dispatch_workgroups((rays.len() as u32).div_ceil(64), 1, 1);
    }
    gpu.queue.submit([encoder.finish()]);
    bytemuck::pod_collect_to_vec(&gpu.read(&calls).unwrap()[..4 * rays.len()])
}

/// The any-hit test is called once for each triangle that the ray passes through, also after the stack was
/// full.
#[test]
fn the_any_hit_test_is_called_once_for_each_triangle() {
    let marked = |mut soup: Soup| {
        soup.info.iter_mut().for_each(|info| info[0] |= ANY_HIT_TEST);
        soup
    };
    // Meshes of 40 triangles with the same box, and empty ones between them.
    let many = (0..400usize).fold(Soup::default(), |soup, mesh| match mesh % 5 {
        4 => soup.mesh([]),
        _ => soup.mesh(overlapping(40, mesh % 40)),
    });
    for (device, gpu) in devices() {
        for soup in [Soup::random(900, 3), many.clone()] {
            let soup = marked(soup);
            let tree = soup.build(&gpu, &Lbvh::new(&gpu));
            let mut rays = common::rays(300, 8);
            rays.push(Ray {
                origin: [0.9, 0.9, -0.5],
                t_min: 0.0,
                direction: [0.0, 0.0, 1.0],
                t_max: 2.0,
            });
            let calls = counted_calls(&gpu, &tree, &rays);
            let triangles = soup.triangles();
            for (ray, (origin, calls)) in rays.iter().zip(&calls).enumerate() {
                let (from, along) = (origin.origin.into(), origin.direction.into());
                let one = |triangle: &[Vec3; 3]| {
                    closest_hit(
                        std::slice::from_ref(triangle),
                        from,
                        along,
                        0.0,
                        origin.t_max.into(),
                    )
                    .is_some()
                };
                let expected = triangles.iter().filter(|triangle| one(triangle)).count();
                assert_eq!(*calls as usize, expected, "{device}, ray {ray}");
            }
        }
    }
}

/// Ray nodes follow a refit, a partial build and a build, without a change of the cutoff.
#[test]
fn ray_nodes_follow_the_tree() {
    for (device, gpu) in devices() {
        let (lbvh, trace, portable) = (Lbvh::new(&gpu), Trace::new(&gpu), Trace::portable(&gpu));
        let mut soup = soups()[1].1.clone();
        let mut tree = soup.build(&gpu, &lbvh);
        let rays = common::rays(500, 23);
        let selection: Vec<_> = (0..soup.meshes.len()).map(|mesh| mesh % 3 == 0).collect();
        let steps = [
            (Some(&selection[..]), Work::Rebuild),
            (None, Work::Rebuild),
            (None, Work::Refit),
        ];
        for (meshes, work) in steps {
            let hits = trace.run(&gpu, &tree, &rays, Query::ClosestHit, 2).unwrap();
            // Move the vertices of the selected meshes.
            for (mesh, range) in soup.meshes.iter().enumerate() {
                let first = range.first_vertex as usize;
                let moved = meshes.is_none_or(|meshes| meshes[mesh]);
                for vertex in &mut soup.positions[first..first + 3 * range.triangle_count as usize] {
                    *vertex += if moved { Vec3::splat(0.03) } else { Vec3::ZERO };
                }
            }
            gpu.queue
                .write_buffer(tree.positions(), 0, bytemuck::cast_slice(&soup.positions));
            tree.build_only(&gpu, meshes);
            common::record(&gpu, &lbvh, &mut tree, work);
            let after = trace.run(&gpu, &tree, &rays, Query::ClosestHit, 2).unwrap();
            let expected = portable.run(&gpu, &tree, &rays, Query::ClosestHit, 2).unwrap();
            let same = |(a, b): (&accel::Hit, &accel::Hit)| (a.mesh, a.triangle) == (b.mesh, b.triangle);
            assert!(after.iter().zip(&expected).all(same), "{device}, {work:?}");
            assert!(
                !after.iter().zip(&hits).all(same),
                "{device}, {work:?}: nothing has moved"
            );
        }
    }
}
