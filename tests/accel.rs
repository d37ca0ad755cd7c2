//! Tests of the BVH. Each stage is compared with its CPU twin, and rays with a test of every triangle in f64.

use crate::common;
use canopy::{
    accel::{
        self, Codes, Cost, Geometry, Lbvh, MeshRange, Quality, Query, Ray, Trace, Tree, Work, codes,
        layout::Node, sort::RadixSort, trace::RayBatch, tree::TreeData,
    },
    gpu::{Array, Gpu, bind_group, pass, profiler::Profiler},
    reference::{self, trace::closest_hit},
    scene::bounds::Aabb,
};
use common::{Random, Soup, by_lane, every_implementation, gpu, implementations, random_triangles, rays};
use glam::Vec3;
use proptest::{prelude::*, test_runner::TestRunner};

/// Sizes at and around the bounds of workgroups, rounds and blocks, and one large odd number.
const SIZES: [usize; 17] = [
    0, 1, 2, 31, 32, 33, 255, 256, 257, 511, 512, 1023, 1024, 2048, 2049, 4097, 10_007,
];

fn read_words(gpu: &Gpu, buffer: &wgpu::Buffer, count: usize) -> Vec<u32> {
    bytemuck::pod_collect_to_vec(&gpu.read(buffer).unwrap()[..4 * count])
}

/// Sorts on the GPU.
fn sorted(gpu: &Gpu, sort: &RadixSort, keys: &[u32], bits: u32, implied: bool) -> Pairs {
    let count = keys.len() as u32;
    let pairs = sort.buffers(gpu, count).unwrap();
    let mut digits = sort.digits(gpu, &pairs, 0, bits, implied);
    digits.set_count(gpu, count);
    // With implied values, the content of the value buffer must not matter.
    let values: Vec<u32> = (0..count).map(|i| if implied { !i } else { i }).collect();
    for (array, words) in [(&pairs.keys[0], keys), (&pairs.values[0], &values)] {
        gpu.queue
            .write_buffer(array.buffer(), 0, bytemuck::cast_slice(words));
    }
    let mut profiler = Profiler::new(gpu).unwrap();
    let mut encoder = gpu.encoder("test");
    pairs.keys[0].publish(&mut encoder, 0..count);
    pairs.values[0].publish(&mut encoder, 0..count);
    let recorded = sort.record(gpu, &mut profiler.scope("test", &mut encoder), &pairs, &digits);
    recorded.unwrap();
    profiler.submit(gpu, encoder);
    let output = digits.output();
    let read = |array: &Array| array.read::<u32>(gpu).unwrap()[..count as usize].to_vec();
    (read(&pairs.keys[output]), read(&pairs.values[output]))
}

/// Keys and values.
type Pairs = (Vec<u32>, Vec<u32>);

/// Describes the fault of a sort, if any. The twin is the standard library's stable sort.
fn sort_fault(keys: &[u32], bits: u32, result: &Pairs) -> Option<String> {
    let mask = if bits == 32 { u32::MAX } else { (1 << bits) - 1 };
    let mut order: Vec<u32> = (0..keys.len() as u32).collect();
    order.sort_by_key(|i| keys[*i as usize] & mask);
    let twin: Vec<u32> = order.iter().map(|i| keys[*i as usize]).collect();
    let place = (0..keys.len()).find(|i| (twin[*i], order[*i]) != (result.0[*i], result.1[*i]))?;
    Some(format!(
        "place {place} of {} holds key {} from {}, expected {} from {}",
        keys.len(),
        result.0[place],
        result.1[place],
        twin[place],
        order[place]
    ))
}

#[test]
fn sort_matches_the_cpu_reference() {
    for (kernels, gpu) in implementations() {
        check_sort(kernels, &gpu);
    }
}

fn check_sort(kernels: &str, gpu: &Gpu) {
    let sort = RadixSort::new(gpu);
    let mut random = Random(1);
    let check = |keys: &[u32], bits, implied| {
        let fault = sort_fault(keys, bits, &sorted(gpu, &sort, keys, bits, implied));
        assert_eq!(fault, None, "{kernels}, {} keys of {bits} bits", keys.len());
    };
    for size in SIZES {
        let kinds: [Vec<u32>; 4] = [
            (0..size).map(|_| random.bits()).collect(),
            vec![0xdead_beef; size],
            (0..size as u32).rev().collect(),
            (0..size).map(|_| random.bits() & 3).collect(),
        ];
        for keys in kinds {
            check(&keys, 32, keys[..size.min(1)] == [0xdead_beef]);
        }
    }
    // With more than SORT_SERIAL_BLOCKS blocks, scan uses a workgroup per digit.
    let keys: Vec<u32> = (0..140_001).map(|_| random.bits() >> 7).collect();
    check(&keys, 32, true);
    // Higher bits than requested are ignored. An odd number of digits leaves the result in the other buffer.
    let keys: Vec<u32> = (0..5000).map(|_| random.bits()).collect();
    check(&keys, 16, false);
    check(&keys, 24, true);
    check(&keys[..700], 8, false);
    check(&keys[..700], 24, true);
}

#[test]
fn the_sort_comparison_detects_errors() {
    let keys = [3, 1, 2, 1];
    let right = (vec![1, 1, 2, 3], vec![1, 3, 2, 0]);
    assert_eq!(sort_fault(&keys, 32, &right), None);
    assert!(
        sort_fault(&keys, 32, &(right.0.clone(), vec![3, 1, 2, 0])).is_some(),
        "an unstable order passes"
    );
    assert!(
        sort_fault(&keys, 32, &(vec![1, 2, 1, 3], right.1)).is_some(),
        "unsorted keys pass"
    );
}

/// Runs on every implementation, also in the quick lane.
#[test]
fn sort_of_any_keys_is_stable() {
    for (_, gpu) in every_implementation() {
        check_any_keys(&gpu);
    }
}

fn check_any_keys(gpu: &Gpu) {
    let sort = RadixSort::new(gpu);
    let strategy = (proptest::collection::vec(any::<u32>(), 0..5000), 0u32..32);
    TestRunner::new(ProptestConfig {
        cases: 8,
        failure_persistence: None,
        ..ProptestConfig::default()
    })
    .run(&strategy, |(keys, shift)| {
        let keys: Vec<u32> = keys.into_iter().map(|key| key >> shift).collect();
        prop_assert_eq!(sort_fault(&keys, 32, &sorted(gpu, &sort, &keys, 32, false)), None);
        Ok(())
    })
    .unwrap();
}

/// Inputs that have broken builders: every size, equal centroids, flat, empty, unbounded.
fn inputs() -> Vec<(String, Soup)> {
    let mut inputs: Vec<(String, Soup)> = SIZES
        .iter()
        .map(|size| (format!("{size} random"), Soup::random(*size, *size as u64)))
        .collect();
    let equal = [Vec3::X, Vec3::Y, Vec3::Z];
    inputs.push(("equal".into(), Soup::default().mesh(vec![equal; 1000])));
    let flat = random_triangles(500, 7)
        .into_iter()
        .map(|t| t.map(|v| Vec3::new(v.x, 0.25, v.z)));
    inputs.push(("flat".into(), Soup::default().mesh(flat)));
    let line = random_triangles(500, 8)
        .into_iter()
        .map(|t| t.map(|v| Vec3::new(v.x, 0.0, 0.0)));
    inputs.push(("on a line".into(), Soup::default().mesh(line)));
    let mut bad = random_triangles(300, 9);
    for (i, x) in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, 1e16, -1e16]
        .into_iter()
        .enumerate()
    {
        bad[40 * i][i % 3].y = x;
    }
    bad[299] = [Vec3::ZERO; 3];
    inputs.push(("not finite".into(), Soup::default().mesh(bad)));
    inputs.push(("all NaN".into(), Soup::default().mesh(vec![[Vec3::NAN; 3]; 70])));
    inputs.push((
        "denormal".into(),
        Soup::default().mesh(
            random_triangles(100, 10)
                .into_iter()
                .map(|t| t.map(|v| v * 1e-39)),
        ),
    ));
    inputs.push((
        "far away".into(),
        Soup::default().mesh(
            random_triangles(600, 11)
                .into_iter()
                .map(|t| t.map(|v| v + Vec3::splat(1e6))),
        ),
    ));
    let mut outlier = random_triangles(400, 12);
    outlier[0] = outlier[0].map(|v| v * 1e9);
    inputs.push(("an outlier".into(), Soup::default().mesh(outlier)));
    // Sizes around the limits of the first sort's two mesh bits and of the second sort's digits. They include
    // empty and single meshes.
    for meshes in [2usize, 4, 5, 300] {
        let soup = (0..meshes).fold(Soup::default(), |soup, mesh| {
            let offset = Vec3::X * mesh as f32;
            soup.mesh(
                random_triangles([0, 1, 2, 37, 3, 130][mesh % 6], mesh as u64)
                    .into_iter()
                    .map(|t| t.map(|v| v + offset)),
            )
        });
        inputs.push((format!("{meshes} meshes"), soup));
    }
    inputs
}

/// Builds trees of the quality `best`, then of [`Quality::Fast`] if that is another quality.
fn check_build(kernels: &str, gpu: &Gpu, codes: Codes, best: Quality) {
    let lbvh = Lbvh::with_quality(gpu, best);
    for (name, soup) in inputs() {
        let name = format!("{name}, {kernels}, {codes:?}");
        let mut tree = soup.build_with(gpu, &lbvh, codes);
        check_stages(&name, gpu, &soup, &tree, codes);
        if best == Quality::High {
            tree.set_quality(Quality::Fast);
            common::record(gpu, &lbvh, &mut tree, Work::Rebuild);
            check_stages(&name, gpu, &soup, &tree, codes);
        }
    }
}

/// Compares each stage with its twin, given the output of the previous stage.
fn check_stages(name: &str, gpu: &Gpu, soup: &Soup, tree: &Tree, codes: Codes) {
    let (triangles, meshes) = (soup.triangles(), &soup.meshes);
    let with_tlas = reference::lbvh::with_tlas(meshes);
    let words = read_words(gpu, tree.mesh_bounds(), 12 * meshes.len() + 6);
    let mesh_bounds: Vec<(Aabb, Aabb)> = words
        .chunks_exact(12)
        .map(|words| {
            (
                reference::lbvh::decode_bounds(words),
                reference::lbvh::decode_bounds(&words[6..]),
            )
        })
        .collect();
    let twin = reference::lbvh::bounds(&triangles, meshes);
    // Vulkan allows devices to flush denormal numbers to zero.
    let zero = Aabb::from_points([Vec3::ZERO]);
    if name.starts_with("denormal") && mesh_bounds == [(zero, zero)] {
        return;
    }
    assert_eq!(mesh_bounds, twin, "bounds of {name}");

    let sorted_codes = tree.sorted_codes(gpu).unwrap();
    let order = tree.order().read::<u32>(gpu).unwrap()[..sorted_codes.len()].to_vec();
    let mut item_codes = vec![u64::MAX; sorted_codes.len()];
    for (item, code) in order.iter().zip(&sorted_codes) {
        item_codes[*item as usize] = *code;
    }
    let axis_bits = codes::axis_bits(meshes, codes);
    let twin = reference::lbvh::morton(&triangles, meshes, &mesh_bounds, axis_bits);
    assert!(
        reference::lbvh::are_near(&item_codes, &twin, meshes.len(), axis_bits),
        "morton codes of {name}"
    );

    let twin = reference::lbvh::order(&item_codes, &with_tlas);
    assert_eq!(order, twin, "order of {name}");

    let data = tree.read(gpu).unwrap();
    let twin = reference::lbvh::tlas(meshes, &mesh_bounds);
    assert_eq!(data.tlas, twin, "tlas of {name}");
    let leaves = reference::lbvh::leaves(&triangles, &soup.info, &data.tlas, &order);
    let cutoff = tree.leaf_cutoff();
    let (leaves, nodes) = match tree.quality() {
        Quality::Fast => {
            let nodes = reference::lbvh::hierarchy(&sorted_codes, &leaves, &with_tlas, cutoff);
            (leaves, nodes)
        }
        Quality::High => reference::ploc::hierarchy(&leaves, &with_tlas, cutoff),
    };
    assert!(data.triangles == leaves, "leaves of {name}");

    assert_eq!(data.nodes.len(), nodes.len(), "nodes of {name}");
    for (number, (node, twin)) in data.nodes.iter().zip(&nodes).enumerate() {
        let area = data.node_areas[number];
        assert_eq!(area >= 0.0, twin.is_some(), "node {number} of {name}");
        if let Some((twin, twin_area)) = twin {
            assert_eq!(node, twin, "node {number} of {name}");
            let close = (f64::from(area) - twin_area).abs() <= 1e-5 * twin_area + 1e-30;
            assert!(close, "area of node {number} of {name}: {area} for {twin_area}");
        }
    }
    data.validate(meshes).unwrap_or_else(|e| panic!("{name}: {e}"));
}

#[test]
fn every_stage_matches_the_cpu_reference() {
    for (kernels, gpu) in implementations() {
        check_build(kernels, &gpu, Codes::Bits30, Quality::High);
    }
}

/// The quick lane leaves out kernels that take half a minute to compile: those for GPUs and those of high
/// quality. For high quality, wide codes matter no more than the mesh number that is stored with them.
#[test]
fn every_stage_matches_the_cpu_reference_with_wide_codes() {
    let best = by_lane(Quality::Fast, Quality::High);
    for (kernels, gpu) in implementations().into_iter().take(by_lane(1, 6)) {
        check_build(kernels, &gpu, Codes::Bits63, best);
    }
}

/// Small meshes leave room for their number beside shorter codes. Many larger meshes do not, and are sorted
/// twice.
#[test]
fn code_length_depends_on_the_number_of_meshes() {
    let meshes = |count: u32, triangle_count: u32| -> Vec<MeshRange> {
        (0..count)
            .map(|mesh| MeshRange {
                first_triangle: mesh * triangle_count,
                triangle_count,
                first_vertex: 0,
            })
            .collect()
    };
    for (count, triangles, expected) in [
        (1, 10, 10),
        (3, 1 << 20, 10),
        (4, 1000, 9),
        (1000, 600, 7),
        (1000, 6000, 10),
        (10_000, 60, 6),
        (100_000, 60, 10),
    ] {
        let bits = codes::axis_bits(&meshes(count, triangles), Codes::Bits30);
        assert_eq!(bits, expected, "{count} meshes of {triangles}");
    }
    assert_eq!(codes::axis_bits(&meshes(1, 1), Codes::Bits63), 21);
}

/// Most binary nodes lie within a block of leaves. Few are left for the separate pass.
#[test]
fn few_nodes_cross_leaf_blocks() {
    let gpu = implementations().remove(1).1;
    for soup in [Soup::random(60_000, 3), grid(160)] {
        let tree = soup.build(&gpu, &Lbvh::new(&gpu));
        let across = tree.nodes_across_blocks(&gpu).unwrap().unwrap();
        let nodes = soup.indices.len() as u32 - 1;
        // At least one node crosses each end of a block, except the last.
        assert!(
            across >= nodes / 512 && 50 * across <= nodes,
            "{across} of {nodes}"
        );
    }
}

/// A build of up to twice the leaves of a block needs no other dispatches for nodes, if a workgroup has room
/// for that.
#[test]
fn a_small_build_runs_in_one_workgroup() {
    let gpu = implementations().remove(1).1;
    let dispatches_on = |gpu: &Gpu, triangles: usize| {
        let tree = Soup::random(triangles, 3).build(gpu, &Lbvh::new(gpu));
        let across = tree.nodes_across_blocks(gpu).unwrap().unwrap();
        (tree.dispatches(), across > 0)
    };
    let dispatches = |triangles| dispatches_on(&gpu, triangles);
    // The mesh counts as a leaf too.
    let (one_block, across) = dispatches(511);
    assert!(!across);
    // Two more dispatches: the pyramid, and the nodes across blocks.
    let two_blocks = (one_block + 2, true);
    if gpu.limits.max_compute_invocations_per_workgroup >= 512 {
        assert_eq!(dispatches(512), (one_block, false));
        assert_eq!(dispatches(1023), (one_block, false));
    }
    assert_eq!(dispatches(1024), two_blocks);
    // Workgroups with 16 KiB have no room.
    assert_eq!(dispatches_on(&common::portable_gpu(), 1000), two_blocks);
}

/// Height field with two triangles per cell.
fn grid(side: usize) -> Soup {
    let point = |x: usize, z: usize| {
        let (x, z) = (x as f32 / side as f32, z as f32 / side as f32);
        Vec3::new(x, (9.0 * x).sin() * (7.0 * z).cos() * 0.2, z)
    };
    let cells = (0..side * side).map(|cell| (cell % side, cell / side));
    Soup::default().mesh(cells.flat_map(|(x, z)| {
        let [a, b, c, d] = [point(x, z), point(x + 1, z), point(x, z + 1), point(x + 1, z + 1)];
        [[a, b, c], [b, d, c]]
    }))
}

#[test]
fn an_untimed_build_is_one_pass() {
    let gpu = implementations().remove(1).1;
    let lbvh = Lbvh::new(&gpu);
    let soup = Soup::random(3000, 3).mesh(random_triangles(50, 4));
    let mut tree = soup.build(&gpu, &lbvh);
    assert!(tree.passes() > 5, "{} timed passes", tree.passes());
    let mut encoder = gpu.encoder("test");
    lbvh.record(&gpu, &mut encoder, &mut tree, Work::Rebuild).unwrap();
    gpu.queue.submit([encoder.finish()]);
    assert_eq!(tree.passes(), 1);
    check_stages("one pass", &gpu, &soup, &tree, Codes::Bits30);
}

/// Number of 32-byte sectors that the stores of a sort's scatter touch per key. `stores` holds the
/// destination indices of each store of 32 threads.
fn sectors_per_key(stores: &[Vec<u32>]) -> f64 {
    let mut sectors = 0;
    let mut keys = 0;
    for store in stores {
        let mut touched: Vec<u32> = store.iter().map(|place| place / 8).collect();
        touched.sort_unstable();
        touched.dedup();
        sectors += touched.len();
        keys += store.len();
    }
    sectors as f64 / keys as f64
}

/// Models the saving from reordering a block before it is stored, because no adapter here counts sectors.
#[test]
fn a_model_stores_reordered_pairs_in_fewer_sectors() {
    let mut random = Random(5);
    let block = (accel::layout::SORT_BLOCK * accel::layout::SORT_ROUNDS) as usize;
    let digits: Vec<usize> = (0..64 * block).map(|_| (random.bits() >> 24) as usize).collect();
    let mut places = vec![0; digits.len()];
    let mut order: Vec<usize> = (0..digits.len()).collect();
    order.sort_by_key(|i| digits[*i]);
    for (place, i) in order.iter().enumerate() {
        places[*i] = place as u32;
    }
    let stores = |places: &[u32]| places.chunks(32).map(<[u32]>::to_vec).collect::<Vec<_>>();
    let direct = sectors_per_key(&stores(&places));
    let mut sorted = places.clone();
    for block in sorted.chunks_mut(block) {
        block.sort_unstable();
    }
    let reordered = sectors_per_key(&stores(&sorted));
    println!("sectors a key: {direct:.3} directly, {reordered:.3} reordered");
    assert!(direct > 0.9 && reordered < 0.24, "{direct} and {reordered}");
}

/// Builds deeper than a run of `hierarchy_serial`, with several levels of joins, and with many meshes across
/// runs.
#[test]
fn large_builds_validate_and_repeat() {
    // Fewer triangles give as many levels.
    let (count, most) = by_lane((20_003, 50), (70_003, 150));
    let whole = Soup::random(count, 5).mesh(random_triangles(500, 6));
    let many = (0..700u64).fold(Soup::default(), |soup, mesh| {
        let triangles = random_triangles(1 + (mesh as usize * 37) % most, mesh);
        let offset = Vec3::new((mesh % 31) as f32, (mesh % 7) as f32, 0.0);
        soup.mesh(triangles.into_iter().map(|t| t.map(|v| v + offset)))
    });
    for soup in [whole, many] {
        let mut first: [Option<TreeData>; 2] = [None, None];
        for (kernels, gpu) in implementations() {
            let lbvh = Lbvh::with_quality(&gpu, Quality::High);
            let mut tree = soup.build(&gpu, &lbvh);
            for (quality, first) in [Quality::High, Quality::Fast].into_iter().zip(&mut first) {
                tree.set_quality(quality);
                common::record(&gpu, &lbvh, &mut tree, Work::Rebuild);
                check_stages(kernels, &gpu, &soup, &tree, Codes::Bits30);
                let again = tree.read(&gpu).unwrap();
                let first = first.get_or_insert_with(|| again.clone());
                assert!(
                    first.triangles == again.triangles && first.tlas == again.tlas,
                    "{kernels}"
                );
                assert_eq!(made_nodes(&again), made_nodes(first), "{kernels}, {quality:?}");
            }
        }
    }
}

/// Nodes of the last build, without leftovers of an earlier build between them.
fn made_nodes(tree: &TreeData) -> Vec<Node> {
    let made = tree.nodes.iter().zip(&tree.node_areas);
    made.filter(|(_, area)| **area >= 0.0)
        .map(|(node, _)| *node)
        .collect()
}

/// Trees of high quality reduce the cost of rays, most for long thin triangles.
#[test]
fn high_quality_trees_have_a_lower_ray_cost() {
    let gpu = gpu();
    let lbvh = Lbvh::with_quality(&gpu, Quality::High);
    let mut random = Random(3);
    let slivers = (0..20_000).map(|_| {
        let (at, along) = (random.cube(), random.cube());
        let length = 0.5f32.powi((random.bits() % 10) as i32);
        [at, at + length * along, at + 0.01 * random.cube()]
    });
    let slivers = Soup::default().mesh(slivers);
    // Boxes of all sizes. Each wall is two triangles.
    let boxes = (0..1500).flat_map(|_| {
        let at = random.cube();
        let size = 0.8 * 0.5f32.powi((random.bits() % 7) as i32) * random.cube().abs();
        let corner =
            move |i: usize| at + size * Vec3::new((i & 1) as f32, (i >> 1 & 1) as f32, (i >> 2) as f32);
        let walls = [
            [0, 1, 3, 2],
            [4, 5, 7, 6],
            [0, 1, 5, 4],
            [2, 3, 7, 6],
            [0, 2, 6, 4],
            [1, 3, 7, 5],
        ];
        walls
            .into_iter()
            .flat_map(move |[a, b, c, d]| [[a, b, c], [a, c, d]].map(|triangle| triangle.map(corner)))
    });
    let boxes = Soup::default().mesh(boxes.collect::<Vec<_>>());
    let soups = [("slivers", slivers, 0.8), ("boxes", boxes, 0.9)];
    for (name, soup, most) in soups.into_iter().take(by_lane(1, 2)) {
        let mut tree = soup.build(&gpu, &lbvh);
        let rays = rays(1000, 5);
        let batch = RayBatch::new(&gpu, &rays).unwrap();
        let mut measure = |quality| {
            tree.set_quality(quality);
            common::record(&gpu, &lbvh, &mut tree, Work::Rebuild);
            let data = tree.read(&gpu).unwrap();
            let report = data.validate(&soup.meshes).unwrap();
            let trace = Trace::new(&gpu);
            let visits = trace.count(&gpu, &tree, &batch, Query::ClosestHit, 2);
            let nodes: u32 = visits.unwrap().iter().map(|visits| visits.nodes).sum();
            let hits = trace.run(&gpu, &tree, &rays, Query::ClosestHit, 2);
            let hits: Vec<f32> = hits.unwrap().iter().map(|hit| hit.t).collect();
            (hits, report.sah_cost, f64::from(nodes))
        };
        let (high, fast) = (measure(Quality::High), measure(Quality::Fast));
        assert_eq!(high.0, fast.0, "{name}");
        let (cost, nodes) = (high.1 / fast.1, high.2 / fast.2);
        println!("{name}: cost {cost:.2}, nodes a ray {nodes:.2}");
        assert!(cost < most && nodes < most, "{name}: {cost:.2} and {nodes:.2}");
    }
}

/// Merging nearest neighbours turns triangles that grow from one to the next into a chain, 140 levels deep.
/// As a TLAS it would overflow the stack.
#[test]
fn trees_of_high_quality_are_not_too_deep() {
    let chain: Vec<_> = (0..140)
        .map(|i| {
            let at = 1e-25 * 1.9f32.powi(i);
            [Vec3::X, Vec3::Y, Vec3::Z].map(|corner| 0.01 * at * corner + at * Vec3::X)
        })
        .collect();
    let triangles = Soup::default().mesh(chain.clone());
    let meshes = chain
        .iter()
        .fold(Soup::default(), |soup, triangle| soup.mesh([*triangle]));
    for (kernels, gpu) in implementations() {
        let lbvh = Lbvh::with_quality(&gpu, Quality::High);
        for soup in [&triangles, &meshes] {
            let tree = soup.build(&gpu, &lbvh);
            check_stages(kernels, &gpu, soup, &tree, Codes::Bits30);
            let report = tree.read(&gpu).unwrap().validate(&soup.meshes).unwrap();
            let depth = report.depth.max(report.tlas_depth);
            assert!((25..=64).contains(&depth), "{kernels}: {report:?}");
            assert!(report.tlas_depth <= 32, "{kernels}: {report:?}");
        }
    }
}

/// More boxes than one dispatch of `pyramid` merges.
#[test]
fn the_largest_pyramid_gives_the_same_tree() {
    let soup = Soup::random(264_000, 5);
    let mut trees = implementations().into_iter().take(2).map(|(_, gpu)| {
        let tree = soup.tree(&gpu, &Lbvh::new(&gpu));
        tree.validate(&soup.meshes).unwrap();
        tree
    });
    let (of_threads, of_blocks) = (trees.next().unwrap(), trees.next().unwrap());
    assert!(of_threads.nodes == of_blocks.nodes && of_threads.triangles == of_blocks.triangles);
}

#[test]
fn ranges_below_the_leaf_cutoff_get_no_node() {
    let soup = (0..9u64).fold(Soup::random(3000, 5), |soup, mesh| {
        soup.mesh(random_triangles([1, 0, 5, 40, 200][mesh as usize % 5], mesh))
    });
    let rays = rays(300, 17);
    for (kernels, gpu) in implementations() {
        let (lbvh, trace) = (Lbvh::with_quality(&gpu, Quality::High), Trace::new(&gpu));
        let mut tree = soup.build(&gpu, &lbvh);
        let trace = |tree: &Tree, cutoff| {
            let hits = trace.run(&gpu, tree, &rays, Query::ClosestHit, cutoff);
            hits.unwrap()
        };
        let expected = trace(&tree, 1);
        assert!(expected.iter().filter(|hit| !hit.is_miss()).count() > 50);
        // More leaves, the maximum, and fewer again.
        for cutoff in [4, 32, 3, 1000, 1] {
            tree.set_leaf_cutoff(&gpu, cutoff);
            // Alternates between the qualities.
            tree.set_quality(match tree.quality() {
                Quality::Fast => Quality::High,
                Quality::High => Quality::Fast,
            });
            common::record(&gpu, &lbvh, &mut tree, Work::Rebuild);
            check_stages(kernels, &gpu, &soup, &tree, Codes::Bits30);
            for of_rays in [1, 4, 40] {
                assert_eq!(trace(&tree, of_rays), expected, "{kernels}, {cutoff}");
            }
        }
        // If only some meshes are rebuilt with a larger cutoff, the remaining meshes keep their nodes.
        tree.build_only(&gpu, Some(&[true, false, true]));
        tree.set_leaf_cutoff(&gpu, 8);
        common::record(&gpu, &lbvh, &mut tree, Work::Rebuild);
        let data = tree.read(&gpu).unwrap();
        data.validate(&soup.meshes).unwrap();
        assert_eq!(trace(&tree, 1), expected, "{kernels}");
    }
}

#[test]
fn a_refit_keeps_the_order_and_follows_the_triangles() {
    for (kernels, gpu) in implementations() {
        let lbvh = Lbvh::with_quality(&gpu, Quality::High);
        let mut soup = (0..60u64).fold(Soup::random(3000, 5), |soup, mesh| {
            let place = Vec3::new((mesh % 8) as f32, (mesh / 8) as f32, 0.0);
            let triangles = random_triangles(20, mesh);
            soup.mesh(triangles.into_iter().map(|t| t.map(|v| v + place)))
        });
        let mut tree = soup.build(&gpu, &lbvh);
        tree.set_quality(Quality::Fast);
        common::record(&gpu, &lbvh, &mut tree, Work::Rebuild);
        let before = tree.read(&gpu).unwrap();
        for (i, position) in soup.positions.iter_mut().enumerate() {
            // Meshes also change places, so the old sort order is invalid.
            *position *= 1.0 + 0.1 * (i % 7) as f32 - 2.0 * (i % 1100 / 1000) as f32;
        }
        let words: Vec<[f32; 3]> = soup.positions.iter().map(|p| p.to_array()).collect();
        gpu.queue
            .write_buffer(tree.positions(), 0, bytemuck::cast_slice(&words));
        tree.set_quality(Quality::High);
        common::record(&gpu, &lbvh, &mut tree, Work::Refit);
        let joined = tree.read(&gpu).unwrap();
        joined
            .validate(&soup.meshes)
            .unwrap_or_else(|e| panic!("{kernels}: {e}"));
        let order = tree.order().read::<u32>(&gpu).unwrap();
        let leaves = reference::lbvh::leaves(&soup.triangles(), &soup.info, &joined.tlas, &order);
        let meshes = reference::lbvh::with_tlas(&soup.meshes);
        let (leaves, _) = reference::ploc::hierarchy(&leaves, &meshes, 1);
        assert!(joined.triangles == leaves, "{kernels}");
        tree.set_quality(Quality::Fast);
        common::record(&gpu, &lbvh, &mut tree, Work::Refit);
        let after = tree.read(&gpu).unwrap();
        after
            .validate(&soup.meshes)
            .unwrap_or_else(|e| panic!("{kernels}: {e}"));
        let order =
            |data: &TreeData| -> Vec<u32> { data.triangles.iter().map(|leaf| leaf.triangle).collect() };
        assert_eq!(order(&before), order(&after), "{kernels}");
        assert!(before.triangles != after.triangles, "{kernels}: nothing moved");
        common::record(&gpu, &lbvh, &mut tree, Work::Rebuild);
        check_stages(kernels, &gpu, &soup, &tree, Codes::Bits30);
    }
}

#[test]
fn a_partial_build_equals_a_full_build() {
    for (number, (kernels, gpu)) in implementations().into_iter().enumerate() {
        // Kernels of high quality differ only in how they read arrays. In the quick lane, one device tests
        // them.
        let qualities = if number == 0 { 2 } else { by_lane(1, 2) };
        for quality in [Quality::Fast, Quality::High].into_iter().take(qualities) {
            check_partial_builds(&format!("{kernels}, {quality:?}"), &gpu, quality);
        }
    }
}

fn check_partial_builds(kernels: &str, gpu: &Gpu, quality: Quality) {
    let lbvh = Lbvh::with_quality(gpu, quality);
    let is_changed = |mesh: u64| mesh % 3 == 1;
    let soup = |shift: f32, keeps_rest: bool| {
        (0..40u64).fold(Soup::default(), |soup, mesh| {
            let moved = Vec3::Y * if is_changed(mesh) { shift } else { 0.0 };
            let count = [300, 0, 1, 2, 41][mesh as usize % 5];
            let count = if keeps_rest || is_changed(mesh) { count } else { 0 };
            let place = Vec3::X * mesh as f32 + moved;
            let triangles = random_triangles(count, mesh);
            soup.mesh(triangles.into_iter().map(|t| t.map(|v| v * 2.0 + place)))
        })
    };
    let (rest, moved) = (soup(0.0, true), soup(0.7, true));
    let mut tree = rest.build(gpu, &lbvh);
    let before = tree.read(gpu).unwrap();
    let words: Vec<[f32; 3]> = moved.positions.iter().map(|p| p.to_array()).collect();
    gpu.queue
        .write_buffer(tree.positions(), 0, bytemuck::cast_slice(&words));
    let changed: Vec<bool> = (0..40).map(is_changed).collect();
    tree.build_only(gpu, Some(&changed));
    common::record(gpu, &lbvh, &mut tree, Work::Rebuild);
    let some = tree.read(gpu).unwrap();
    some.validate(&moved.meshes)
        .unwrap_or_else(|e| panic!("{kernels}: {e}"));
    tree.build_only(gpu, None);
    common::record(gpu, &lbvh, &mut tree, Work::Rebuild);
    check_stages(kernels, gpu, &moved, &tree, Codes::Bits30);
    let all = tree.read(gpu).unwrap();
    // A refit of other meshes than the last sorted ones is a rebuild.
    tree.build_only(gpu, Some(&changed));
    common::record(gpu, &lbvh, &mut tree, Work::Refit);
    let refit = tree.read(gpu).unwrap();
    refit
        .validate(&moved.meshes)
        .unwrap_or_else(|e| panic!("{kernels}: {e}"));
    // The tree of a mesh of high quality does not depend on other meshes, because chunks begin at mesh
    // bounds.
    let alone = soup(0.7, false).tree(gpu, &lbvh);
    let corners = |tree: &TreeData, soup: &Soup, built: bool| -> Vec<[[f32; 3]; 3]> {
        let meshes = soup.meshes.iter().zip(&changed);
        let meshes = meshes.filter(|(_, changed)| **changed == built);
        let leaf = |leaf: u32| tree.triangles[leaf as usize];
        let leaves =
            meshes.flat_map(|(mesh, _)| mesh.first_triangle..mesh.first_triangle + mesh.triangle_count);
        leaves.map(leaf).map(|leaf| [leaf.v0, leaf.v1, leaf.v2]).collect()
    };
    let built = corners(&some, &moved, true);
    assert!(built == corners(&alone, &soup(0.7, false), true), "{kernels}");
    assert!(built == corners(&refit, &moved, true), "{kernels}");
    assert!(
        corners(&some, &moved, false) == corners(&before, &moved, false),
        "{kernels}"
    );
    // The TLAS may differ, because its grid covers the bounds of all earlier builds.
    assert!(some.tlas == all.tlas, "{kernels}");
}

/// Sum of the areas of all inner nodes, and the area of the root.
fn cost(gpu: &Gpu, cost: &Cost, tree: &Tree) -> [f32; 2] {
    let room = cost.buffers(gpu, tree);
    let mut profiler = Profiler::new(gpu).unwrap();
    let mut encoder = gpu.encoder("test");
    cost.record(gpu, &mut profiler.scope("test", &mut encoder), &room)
        .unwrap();
    profiler.submit(gpu, encoder);
    [0, 1].map(|i| f32::from_bits(read_words(gpu, &room.result, 2)[i]))
}

/// Cost of a tree by the twin.
fn cost_twin(gpu: &Gpu, tree: &Tree, data: &TreeData, soup: &Soup) -> (f64, f64) {
    let sorted = tree.sorted_codes(gpu).unwrap();
    let meshes = reference::lbvh::with_tlas(&soup.meshes);
    let nodes = reference::lbvh::hierarchy(&sorted, &data.triangles, &meshes, tree.leaf_cutoff());
    reference::lbvh::cost(&nodes, soup.indices.len(), soup.meshes.len())
}

fn cost_agrees(cost: [f32; 2], (sum, root): (f64, f64)) -> bool {
    // Denormal numbers may be flushed to zero.
    let close = |a: f32, b: f64| (f64::from(a) - b).abs() <= 1e-3 * b + 1e-30;
    close(cost[0], sum) && close(cost[1], root)
}

#[test]
fn cost_matches_the_cpu_reference() {
    for (kernels, gpu) in implementations() {
        let (lbvh, stage) = (Lbvh::new(&gpu), Cost::new(&gpu));
        // More nodes than threads.
        let large = ("70,003 random".to_owned(), Soup::random(70_003, 5));
        for (name, soup) in inputs().into_iter().chain([large]) {
            let tree = soup.build(&gpu, &lbvh);
            let data = tree.read(&gpu).unwrap();
            let twin = cost_twin(&gpu, &tree, &data, &soup);
            let found = cost(&gpu, &stage, &tree);
            assert!(
                cost_agrees(found, twin),
                "{name}, {kernels}: {found:?} for {twin:?}"
            );
            let again = cost(&gpu, &stage, &tree);
            assert_eq!(found.map(f32::to_bits), again.map(f32::to_bits), "{name}");
        }
    }
}

#[test]
fn the_cost_comparison_detects_errors() {
    assert!(cost_agrees([100.05, 2.0], (100.0, 2.0)));
    assert!(!cost_agrees([100.2, 2.0], (100.0, 2.0)));
    assert!(!cost_agrees([100.0, 0.0], (100.0, 2.0)));
    assert!(!cost_agrees([f32::NAN, 2.0], (100.0, 2.0)));
    assert!(cost_agrees([0.0, 0.0], (0.0, 0.0)));
}

#[test]
fn the_validator_refuses_invalid_trees() {
    let gpu = gpu();
    let soup = Soup::random(100, 3).mesh(random_triangles(50, 4));
    let good = soup.tree(&gpu, &Lbvh::new(&gpu));
    let report = good.validate(&soup.meshes).unwrap();
    assert!(50 < report.nodes && report.nodes < 100, "{report:?}");
    assert!(report.depth >= 4 && report.sah_cost > 1.0, "{report:?}");
    let refused = |what: &str, spoil: &dyn Fn(&mut TreeData)| {
        let mut data = good.clone();
        spoil(&mut data);
        assert!(data.validate(&soup.meshes).is_err(), "{what} passes");
    };
    refused("a triangle that occurs twice", &|data| {
        data.triangles[3] = data.triangles[4];
    });
    refused("a triangle of another mesh", &|data| {
        data.triangles[3].mesh = 1;
    });
    refused("a box that is too large", &|data| {
        data.nodes[0].upper[0] += 2;
    });
    refused("a box that is too small", &|data| {
        data.nodes[0].lower[1] += 1 << 24;
    });
    refused("a grid that begins elsewhere", &|data| {
        data.nodes[0].origin[1] += 0.5;
    });
    refused("a node split outside its range", &|data| {
        data.nodes[0].ends[1] = 101;
    });
    refused("a node with another range", &|data| {
        data.nodes[0].first += 1;
    });
    refused("a node of one child", &|data| {
        data.nodes[0].ends = [100; 4];
    });
    refused("a cycle", &|data| {
        let child = good.nodes[0].child(0) as usize;
        data.nodes[child] = data.nodes[0];
    });
    refused("a missing node", &|data| {
        data.node_areas[good.nodes[0].child(0) as usize] = -1.0;
    });
    refused("a row with another offset", &|data| {
        data.tlas[1].node_offset = 0;
    });
    refused("a row with another box", &|data| {
        data.tlas[0].box_min[2] -= 1.0;
    });
    assert!(
        good.validate(&[MeshRange::default()]).is_err(),
        "other meshes pass"
    );
}

#[test]
fn ray_hits_match_brute_force_at_every_leaf_cutoff() {
    for (_, gpu) in implementations() {
        // A TLAS of many leaves with empty and single meshes, and one of a single mesh.
        let many = (0..9).fold(Soup::default(), |soup, mesh| {
            soup.mesh(random_triangles([700, 1, 0, 333][mesh % 4], 21 + mesh as u64))
        });
        for soup in [many, Soup::random(900, 3)] {
            check_rays(&gpu, &soup);
        }
    }
}

fn check_rays(gpu: &Gpu, soup: &Soup) {
    let tree = soup.build(gpu, &Lbvh::new(gpu));
    let trace = Trace::new(gpu);
    let triangles = soup.triangles();
    let mut rays = rays(600, 91);
    // Directions along the axes risk 0 · ∞ in the slab test.
    for (i, ray) in rays.iter_mut().take(60).enumerate() {
        ray.direction = [
            [1.0, 0.0, 0.0],
            [0.0, -1.0, 0.0],
            [0.0, 0.0, 1.0],
            [-0.0, 1.0, 0.0],
        ][i % 4];
    }
    let brute: Vec<_> = rays
        .iter()
        .map(|ray| closest_hit(&triangles, ray.origin.into(), ray.direction.into(), 0.0, 10.0))
        .collect();
    assert!(
        brute.iter().flatten().count() > 100,
        "the rays hit too little to test anything"
    );
    let first = trace.run(gpu, &tree, &rays, Query::ClosestHit, 1).unwrap();
    for (ray, (hit, brute)) in first.iter().zip(&brute).enumerate() {
        match brute {
            None => assert!(hit.is_miss(), "ray {ray} hits nothing"),
            Some((triangle, t)) => {
                assert!(!hit.is_miss(), "ray {ray} misses triangle {triangle} at {t}");
                // Soups have the mesh in their triangle information. The hit's triangle counts from the first
                // triangle of the mesh.
                let mesh = soup.info[*triangle][0];
                let first = soup.meshes[mesh as usize].first_triangle;
                let expected = (mesh, *triangle as u32 - first);
                assert_eq!((hit.mesh, hit.triangle), expected, "ray {ray}");
                assert!(
                    (f64::from(hit.t) - t).abs() < 1e-4 * t.max(0.01),
                    "ray {ray}: {} for {t}",
                    hit.t
                );
            }
        }
    }
    for leaf_cutoff in 1..=32 {
        assert_eq!(
            trace
                .run(gpu, &tree, &rays, Query::ClosestHit, leaf_cutoff)
                .unwrap(),
            first,
            "leaf cutoff {leaf_cutoff}"
        );
        let any = trace.run(gpu, &tree, &rays, Query::AnyHit, leaf_cutoff).unwrap();
        assert!(
            any.iter().zip(&first).all(|(a, b)| a.is_miss() == b.is_miss()),
            "any hit, leaf cutoff {leaf_cutoff}"
        );
    }
}

/// A ray and a box that it hits, as `bvh_intersect_children` reads them.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Entering {
    node: Node,
    ray: Ray,
    inverse: [f32; 3],
    child: u32,
}

/// Rays through points of boxes, of every size and at every distance. The inverse direction is off by up to
/// three ulp on each axis, which is more than WGSL allows for a division.
fn rays_into_boxes() -> Vec<Entering> {
    let mut random = Random(77);
    let mut rays = Vec::new();
    for round in 0..40_000 {
        let size = 10f32.powf(random.unit() * 10.0 - 6.0);
        let away = 10f32.powf(random.unit() * 8.0 - 4.0) * size;
        let center = random.cube() * away;
        let boxes: Vec<Aabb> = (0..4)
            .map(|i| {
                let at = center + random.cube() * size;
                // Some boxes are flat, and some are points.
                let flat = Vec3::from_array([1, 2, 4].map(|bit| f32::from(u8::from((round + i) & bit == 0))));
                Aabb::from_points([at, at + random.cube() * 0.3 * size * flat])
            })
            .collect();
        let node = reference::lbvh::node_of(&boxes);
        let child = round % 4;
        let inside = Vec3::new(random.unit(), random.unit(), random.unit());
        // Targets are on edges and corners as often as inside.
        let inside = Vec3::select(random.cube().cmpgt(Vec3::ZERO), inside, inside.round());
        let b = boxes[child];
        let target = (b.min + (b.max - b.min) * inside).clamp(b.min, b.max).as_dvec3();
        let origin = random.cube() * (away + size);
        let direction = (target - origin.as_dvec3()).normalize_or(glam::DVec3::X);
        let mut direction = direction.as_vec3();
        if round % 7 == 0 {
            // Along two axes, the ray barely stays within the box.
            direction = Vec3::from_array([0, 1, 2].map(|axis| {
                if axis == round % 3 {
                    direction[axis].signum()
                } else {
                    0.0
                }
            }));
        }
        let origin = if round % 7 == 0 {
            (target - direction.as_dvec3() * f64::from(away)).as_vec3()
        } else {
            origin
        };
        // True if the ray, rounded to f32, still hits the box in f64.
        let (mut near, mut far) = (0.0f64, f64::INFINITY);
        for axis in 0..3 {
            let (d, o) = (f64::from(direction[axis]), f64::from(origin[axis]));
            let ends = [b.min[axis], b.max[axis]].map(|x| (f64::from(x) - o) / d);
            if d == 0.0 {
                if o < f64::from(b.min[axis]) || o > f64::from(b.max[axis]) {
                    far = -1.0;
                }
            } else {
                near = near.max(ends[0].min(ends[1]));
                far = far.min(ends[0].max(ends[1]));
            }
        }
        if near > far {
            continue;
        }
        let ray = Ray {
            origin: origin.to_array(),
            t_min: 0.0,
            direction: direction.to_array(),
            t_max: f32::MAX,
        };
        let inverse = direction.to_array().map(|d| {
            let inverse = 1.0 / if d.abs() < 1e-20 { 1e-20f32.copysign(d) } else { d };
            let off = (random.unit() * 3.0).floor() as i32 * 3 - 3;
            f32::from_bits((inverse.to_bits() as i32 + off) as u32)
        });
        rays.push(Entering {
            node,
            ray,
            inverse,
            child: child as u32,
        });
    }
    rays
}

#[test]
fn no_ray_loses_a_box_to_rounding() {
    const TEST: &str = "#import \"bvh/bvh_intersect_children.wgsl\"
@group(0) @binding(0) var<storage, read> rays: array<vec4u>;
@group(0) @binding(1) var<storage, read_write> entered: array<f32>;
@compute @workgroup_size(64)
fn enter(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= arrayLength(&entered) {
        return;
    }
    let row = 7u * id.x;
    let a = rays[row];
    let b = rays[row + 1u];
    let c = rays[row + 2u];
    let node = Node(bitcast<vec3f>(a.xyz), a.w, b.xyz, b.w, c.xyz, c.w, rays[row + 3u]);
    let origin = bitcast<vec4f>(rays[row + 4u]);
    let direction = bitcast<vec4f>(rays[row + 5u]);
    let ray = Ray(origin.xyz, origin.w, direction.xyz, direction.w);
    let last = rays[row + 6u];
    entered[id.x] = bvh_intersect_children(node, ray, bitcast<vec3f>(last.xyz))[last.w];
}";
    let rays = rays_into_boxes();
    let lost = |margin: f32| {
        let enters = |at: &&Entering| {
            let child = at.child as usize;
            reference::trace::intersect_child(&at.node, child, &at.ray, at.inverse.into(), margin).is_some()
        };
        rays.len() - rays.iter().filter(enters).count()
    };
    let margin = accel::layout::BVH_MARGIN as f32;
    assert_eq!(lost(margin), 0);
    // Without the margin, or with a nearer far side, the test fails.
    assert!(lost(1.0) > 0);
    assert!(lost(0.999) > 100);

    let gpu = gpu();
    let module = accel::shader_module(&gpu, "enter.wgsl", TEST).unwrap();
    let pipeline = pass::compute_pipeline_of(&gpu, &module, "enter", None, &[]).unwrap();
    let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
    let buffer = gpu.buffer_with("rays", &rays, usage);
    let entered = gpu.buffer_with("entered", &vec![-2.0f32; rays.len()], usage);
    let layout = pipeline.get_bind_group_layout(0);
    let group = bind_group(&gpu, "enter", &layout, &[&buffer, &entered]);
    let mut encoder = gpu.encoder("test");
    {
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.dispatch_workgroups(rays.len().div_ceil(64) as u32, 1, 1);
    }
    gpu.queue.submit([encoder.finish()]);
    let entered: Vec<f32> = bytemuck::pod_collect_to_vec(&gpu.read(&entered).unwrap());
    let lost = entered[..rays.len()].iter().filter(|at| **at < 0.0);
    assert_eq!(lost.count(), 0);
}

/// Builds and traces on a device of the caller, with only the tree's own shaders, without triangle
/// information and without touching the device's callbacks.
#[test]
fn a_caller_device_keeps_its_error_callbacks() {
    let opened = gpu();
    let device = opened.adapter.as_ref().unwrap();
    let device = device.request_device(&wgpu::DeviceDescriptor::default());
    let (device, queue) = pollster::block_on(device).unwrap();
    let heard = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let hear = heard.clone();
    device.on_uncaptured_error(std::sync::Arc::new(move |e: wgpu::Error| {
        hear.lock().unwrap().push(e.to_string());
    }));
    let gpu = Gpu::from_device(&device, &queue, &accel::SHADERS);
    assert!(gpu.adapter.is_none());

    let soup = Soup::random(300, 1).mesh(random_triangles(200, 2));
    let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
    let positions: Vec<[f32; 3]> = soup.positions.iter().map(|p| p.to_array()).collect();
    let geometry = Geometry {
        positions: &gpu.buffer_with("positions", &positions, usage),
        indices: &gpu.buffer_with("indices", &soup.indices, usage),
        meshes: &soup.meshes,
        triangle_info: None,
    };
    let lbvh = Lbvh::new(&gpu);
    let mut tree = lbvh.tree(&gpu, &geometry, Codes::Bits30).unwrap();
    let mut encoder = gpu.encoder("test");
    lbvh.record(&gpu, &mut encoder, &mut tree, Work::Rebuild).unwrap();
    gpu.queue.submit([encoder.finish()]);
    tree.read(&gpu).unwrap().validate(&soup.meshes).unwrap();
    let rays = rays(200, 5);
    let hits = Trace::new(&gpu).run(&gpu, &tree, &rays, Query::ClosestHit, 4);
    let hits = hits.unwrap();
    let triangles = soup.triangles();
    let mut found = 0;
    for (ray, hit) in rays.iter().zip(&hits) {
        let twin = closest_hit(&triangles, ray.origin.into(), ray.direction.into(), 0.0, 10.0);
        let number = |hit: &accel::Hit| {
            let first = soup.meshes[hit.mesh as usize].first_triangle;
            (first + hit.triangle) as usize
        };
        let ours = Some(hit).filter(|hit| !hit.is_miss()).map(number);
        assert_eq!(ours, twin.map(|twin| twin.0));
        found += usize::from(twin.is_some());
    }
    assert!(found > 20, "the rays hit too little to test anything");

    // An error that no scope catches goes to the caller's handler, not to canopy's.
    assert!(heard.lock().unwrap().is_empty());
    gpu.buffer("too large", u64::MAX / 2, wgpu::BufferUsages::STORAGE);
    assert_eq!(heard.lock().unwrap().len(), 1);
    assert!(gpu.take_errors().is_empty());
}

#[test]
fn mesh_ranges_with_gaps_or_out_of_bounds_are_refused() {
    let gpu = gpu();
    let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
    let buffer = |words: usize| gpu.buffer_with("words", &vec![0u32; words], usage);
    let (positions, indices) = (buffer(90), buffer(96));
    let tree = |ranges: &[(u32, u32)]| {
        let mesh = |(first_triangle, triangle_count): &(u32, u32)| MeshRange {
            first_triangle: *first_triangle,
            triangle_count: *triangle_count,
            first_vertex: 0,
        };
        let geometry = Geometry {
            positions: &positions,
            indices: &indices,
            meshes: &ranges.iter().map(mesh).collect::<Vec<_>>(),
            triangle_info: None,
        };
        Lbvh::new(&gpu).tree(&gpu, &geometry, Codes::Bits30)
    };
    assert!(tree(&[(0, 20), (20, 0), (20, 12)]).is_ok());
    for wrong in [&[(0, 20), (21, 3)][..], &[(1, 3)], &[(0, 20), (20, 13)]] {
        assert!(
            matches!(tree(wrong), Err(canopy_bvh::Error::Tree(_))),
            "{wrong:?}"
        );
    }
}

/// An error in a shader of the caller names the line in the caller's own text.
#[test]
fn errors_in_a_caller_shader_name_its_line() {
    let gpu = gpu();
    let text = "#import \"bvh/bvh.wgsl\"
fn bvh_accepts(triangle: LeafTriangle, barycentric: vec2f) -> bool { return true; }
fn wrong() -> u32 { return nothing; }";
    let error = accel::shader_module(&gpu, "mine.wgsl", text).unwrap_err();
    assert!(error.to_string().starts_with("mine.wgsl:3: "), "{error}");
    let text = "fn right() {}\n#import \"bvh/nothing.wgsl\"";
    let error = accel::shader_module(&gpu, "mine.wgsl", text).unwrap_err();
    assert!(error.to_string().starts_with("mine.wgsl:2: "), "{error}");
}

#[test]
fn the_deepest_tree_is_traversed() {
    // Codes share ever longer prefixes, with a heap of equal codes at the bottom. The tree is as deep as 30
    // bits and 2^12 ties allow.
    let corner = |x: f32| {
        [
            Vec3::splat(x),
            Vec3::splat(x) + Vec3::X * 1e-6,
            Vec3::splat(x) + Vec3::Y * 1e-6,
        ]
    };
    let chain = (0..10)
        .map(|level| corner(0.5f32.powi(level)))
        .chain(vec![corner(0.0); 1 << 12]);
    // A single mesh, and one mesh per triangle. The stack of software adapters has room for the whole TLAS.
    // That of GPUs does not have room for either tree.
    let meshes = chain
        .clone()
        .fold(Soup::default(), |soup, triangle| soup.mesh([triangle]));
    let room = accel::layout::STACK_SIZE / 3;
    for (_, gpu) in implementations() {
        for (soup, is_one) in [
            (Soup::default().mesh(chain.clone()), true),
            (meshes.clone(), false),
        ] {
            let tree = soup.build(&gpu, &Lbvh::new(&gpu));
            let report = tree.read(&gpu).unwrap().validate(&soup.meshes).unwrap();
            let depth = if is_one { report.depth } else { report.tlas_depth };
            assert!(depth >= 10 && (is_one || depth <= room), "{report:?}");
            check_deepest(&gpu, &tree);
        }
    }
}

fn check_deepest(gpu: &Gpu, tree: &Tree) {
    let at = Vec3::new(2e-7, 2e-7, 1.0);
    let ray = Ray {
        origin: at.to_array(),
        t_min: 0.0,
        direction: [0.0, 0.0, -1.0],
        t_max: 2.0,
    };
    let hits = Trace::new(gpu)
        .run(gpu, tree, &[ray], Query::ClosestHit, 1)
        .unwrap();
    assert!((hits[0].t - 1.0).abs() < 1e-5, "{:?}", hits[0]);
}
