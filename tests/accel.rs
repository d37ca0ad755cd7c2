//! The tree, stage by stage against its CPU twins, and rays against every triangle in f64.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use canopy::{
    accel::{
        Lbvh, lbvh,
        sort::RadixSort,
        trace::{Query, Ray, Trace},
    },
    gpu::{Gpu, layout::MeshRange},
    reference::{self, trace::closest_hit},
    scene::bounds::Aabb,
};
use common::{Random, Soup, gpu, portable_gpu, random_triangles};
use glam::Vec3;
use proptest::{prelude::*, test_runner::TestRunner};

/// Sizes at which workgroups, rounds and blocks begin and end, and one large odd number.
const SIZES: [usize; 12] = [0, 1, 2, 31, 32, 33, 255, 256, 257, 2048, 2049, 10_007];

fn read_words(gpu: &Gpu, buffer: &wgpu::Buffer, count: usize) -> Vec<u32> {
    bytemuck::pod_collect_to_vec(&gpu.read(buffer).unwrap()[..4 * count])
}

/// Sorts on the GPU.
fn sorted(gpu: &Gpu, sort: &RadixSort, keys: &[u32], bits: u32) -> (Vec<u32>, Vec<u32>) {
    let count = keys.len();
    let buffers = sort.buffers(gpu, count as u32, bits);
    let values: Vec<u32> = (0..count as u32).collect();
    gpu.queue
        .write_buffer(&buffers.keys, 0, bytemuck::cast_slice(keys));
    gpu.queue
        .write_buffer(&buffers.values, 0, bytemuck::cast_slice(&values));
    let mut encoder = gpu.encoder("test");
    sort.record(
        &mut encoder.begin_compute_pass(&Default::default()),
        &buffers,
        bits,
    );
    gpu.queue.submit([encoder.finish()]);
    (
        read_words(gpu, &buffers.keys, count),
        read_words(gpu, &buffers.values, count),
    )
}

/// What is wrong with a sort: the twin is the standard library's stable sort.
fn sort_fault(keys: &[u32], bits: u32, result: &(Vec<u32>, Vec<u32>)) -> Option<String> {
    let mask = if bits == 32 {
        u32::MAX
    } else {
        (1 << bits) - 1
    };
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
fn sort_equals_its_twin() {
    let gpu = gpu();
    let sort = RadixSort::new(&gpu).unwrap();
    let mut random = Random(1);
    for size in SIZES {
        let kinds: [Vec<u32>; 4] = [
            (0..size).map(|_| random.bits()).collect(),
            vec![0xdead_beef; size],
            (0..size as u32).rev().collect(),
            (0..size).map(|_| random.bits() & 3).collect(),
        ];
        for keys in kinds {
            assert_eq!(sort_fault(&keys, 32, &sorted(&gpu, &sort, &keys, 32)), None);
        }
    }
    // Past SORT_SERIAL_BLOCKS blocks, scan has a workgroup per digit.
    let keys: Vec<u32> = (0..140_001).map(|_| random.bits() >> 7).collect();
    assert_eq!(sort_fault(&keys, 32, &sorted(&gpu, &sort, &keys, 32)), None);
    // Bits above those asked for are ignored.
    let keys: Vec<u32> = (0..5000).map(|_| random.bits()).collect();
    assert_eq!(sort_fault(&keys, 16, &sorted(&gpu, &sort, &keys, 16)), None);
}

#[test]
fn the_sort_comparer_can_fail() {
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

#[test]
fn sort_of_any_keys_is_stable() {
    let gpu = gpu();
    let sort = RadixSort::new(&gpu).unwrap();
    let strategy = (proptest::collection::vec(any::<u32>(), 0..5000), 0u32..32);
    TestRunner::new(ProptestConfig {
        cases: 24,
        failure_persistence: None,
        ..ProptestConfig::default()
    })
    .run(&strategy, |(keys, shift)| {
        let keys: Vec<u32> = keys.into_iter().map(|key| key >> shift).collect();
        prop_assert_eq!(sort_fault(&keys, 32, &sorted(&gpu, &sort, &keys, 32)), None);
        Ok(())
    })
    .unwrap();
}

/// Undoes the encoding of accel/bounds.wgsl.
fn decode_bounds(words: &[u32]) -> Aabb {
    if words[3] == 0 {
        return Aabb::EMPTY;
    }
    let float = |x: u32| f32::from_bits(if x >> 31 == 1 { x & 0x7fff_ffff } else { !x });
    Aabb {
        min: Vec3::from_array([0, 1, 2].map(|i| float(!words[i]))),
        max: Vec3::from_array([3, 4, 5].map(|i| float(words[i]))),
    }
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
    for (i, x) in [
        f32::NAN,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::MAX,
        1e16,
        -1e16,
    ]
    .into_iter()
    .enumerate()
    {
        bad[40 * i][i % 3].y = x;
    }
    bad[299] = [Vec3::ZERO; 3];
    inputs.push(("not finite".into(), Soup::default().mesh(bad)));
    inputs.push((
        "all NaN".into(),
        Soup::default().mesh(vec![[Vec3::NAN; 3]; 70]),
    ));
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
    // Sizes around the ends of the first sort's two mesh bits and of the second sort's digits; empty and single meshes among them.
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

fn check_build(gpu: &Gpu) {
    let lbvh = Lbvh::new(gpu).unwrap();
    for (name, soup) in inputs() {
        let (triangles, meshes) = (soup.triangles(), &soup.meshes);
        let tree = soup.build(gpu, &lbvh);

        let words = read_words(gpu, tree.mesh_bounds(), 6 * meshes.len());
        let bounds: Vec<Aabb> = words.chunks(6).map(decode_bounds).collect();
        assert_eq!(
            bounds,
            reference::lbvh::bounds(&triangles, meshes),
            "bounds of {name}"
        );

        let codes = read_words(gpu, tree.codes(), triangles.len());
        let twin = reference::lbvh::morton(&triangles, meshes, &bounds);
        let unequal = codes.iter().zip(&twin).filter(|(a, b)| a != b).count();
        assert_eq!(unequal, 0, "morton codes of {name}");

        let order = read_words(gpu, tree.order(), triangles.len());
        assert_eq!(
            order,
            reference::lbvh::order(&codes, meshes),
            "order of {name}"
        );

        let data = tree.read(gpu).unwrap();
        let leaves = reference::lbvh::leaves(&triangles, &soup.info, &order);
        assert!(data.triangles == leaves, "leaves of {name}");

        let sorted_codes: Vec<u32> = order
            .iter()
            .map(|triangle| codes[*triangle as usize])
            .collect();
        let nodes = reference::lbvh::hierarchy(&sorted_codes, &leaves, meshes);
        for (place, (node, twin)) in data.nodes.iter().zip(&nodes).enumerate() {
            if let Some(twin) = twin {
                assert_eq!(node, twin, "node {place} of {name}");
            }
        }
        assert_eq!(
            data.tlas,
            reference::lbvh::tlas(&leaves, meshes),
            "tlas of {name}"
        );
        data.validate(meshes)
            .unwrap_or_else(|e| panic!("{name}: {e}"));
    }
}

#[test]
fn every_stage_equals_its_twin() {
    check_build(&gpu());
}

#[test]
fn every_stage_equals_its_twin_at_portable_limits() {
    check_build(&portable_gpu());
}

#[test]
fn a_rebuild_gives_the_same_tree() {
    let gpu = gpu();
    let lbvh = Lbvh::new(&gpu).unwrap();
    let soup = Soup::random(3000, 5).mesh(random_triangles(500, 6));
    let tree = soup.build(&gpu, &lbvh);
    let first = tree.read(&gpu).unwrap();
    common::record(&gpu, &lbvh, &tree);
    let second = tree.read(&gpu).unwrap();
    assert!(first.triangles == second.triangles && first.tlas == second.tlas);
    // The last place of each mesh holds no node.
    assert!(
        (0..3499)
            .filter(|place| *place != 2999)
            .all(|place| first.nodes[place] == second.nodes[place])
    );
}

#[test]
fn the_validator_can_fail() {
    let gpu = gpu();
    let soup = Soup::random(100, 3).mesh(random_triangles(50, 4));
    let good = soup.tree(&gpu, &Lbvh::new(&gpu).unwrap());
    let report = good.validate(&soup.meshes).unwrap();
    assert_eq!(report.nodes, 148);
    assert!(report.depth >= 7 && report.sah_cost > 1.0, "{report:?}");
    let refused = |what: &str, spoil: &dyn Fn(&mut canopy::accel::validate::TreeData)| {
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
        data.nodes[5].left_max[0] += 1.0;
    });
    refused("a box that is too small", &|data| {
        data.nodes[0].right_min[1] += 0.5;
    });
    refused("a node split outside its range", &|data| {
        data.nodes[0].split = 99;
    });
    refused("a node with another range", &|data| data.nodes[7].last += 1);
    refused("a cycle", &|data| data.nodes[1] = data.nodes[0]);
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

fn rays(count: usize, seed: u64) -> Vec<Ray> {
    let mut random = Random(seed);
    (0..count)
        .map(|_| {
            let origin = random.cube() * 1.5;
            let direction = (random.cube() * 0.7 - origin).normalize();
            Ray {
                origin: origin.to_array(),
                t_min: 0.0,
                direction: direction.to_array(),
                t_max: 10.0,
            }
        })
        .collect()
}

#[test]
fn rays_hit_what_brute_force_hits_at_every_leaf_cutoff() {
    let gpu = gpu();
    let soup = Soup::random(1500, 21)
        .mesh(random_triangles(1, 22))
        .mesh([])
        .mesh(random_triangles(333, 23));
    let tree = soup.build(&gpu, &Lbvh::new(&gpu).unwrap());
    let data = tree.read(&gpu).unwrap();
    let trace = Trace::new(&gpu).unwrap();
    let triangles = soup.triangles();
    let mut rays = rays(600, 24);
    // Directions along the axes meet slabs at which 0 · ∞ lies in wait.
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
        .map(|ray| {
            closest_hit(
                &triangles,
                ray.origin.into(),
                ray.direction.into(),
                0.0,
                10.0,
            )
        })
        .collect();
    assert!(
        brute.iter().flatten().count() > 100,
        "the rays hit too little to test anything"
    );
    let first = trace.run(&gpu, &tree, &rays, Query::ClosestHit, 1).unwrap();
    for (ray, (hit, brute)) in first.iter().zip(&brute).enumerate() {
        match brute {
            None => assert_eq!(hit.place, u32::MAX, "ray {ray} hits nothing"),
            Some((triangle, t)) => {
                assert_ne!(
                    hit.place,
                    u32::MAX,
                    "ray {ray} misses triangle {triangle} at {t}"
                );
                assert_eq!(
                    data.triangles[hit.place as usize].triangle, *triangle as u32,
                    "ray {ray}"
                );
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
                .run(&gpu, &tree, &rays, Query::ClosestHit, leaf_cutoff)
                .unwrap(),
            first,
            "leaf cutoff {leaf_cutoff}"
        );
        let any = trace
            .run(&gpu, &tree, &rays, Query::AnyHit, leaf_cutoff)
            .unwrap();
        assert!(
            any.iter()
                .zip(&first)
                .all(|(a, b)| (a.place == u32::MAX) == (b.place == u32::MAX)),
            "any hit, leaf cutoff {leaf_cutoff}"
        );
    }
}

#[test]
fn the_deepest_tree_is_traversed() {
    // Codes that share ever longer prefixes, and a heap of equal ones below: as deep as 30 bits and 2^12 ties allow.
    let corner = |x: f32| {
        [
            Vec3::splat(x),
            Vec3::splat(x) + Vec3::X * 1e-6,
            Vec3::splat(x) + Vec3::Y * 1e-6,
        ]
    };
    let gpu = gpu();
    let chain = (0..10)
        .map(|level| corner(0.5f32.powi(level)))
        .chain(vec![corner(0.0); 1 << 12]);
    let soup = Soup::default().mesh(chain);
    let tree = soup.build(&gpu, &Lbvh::new(&gpu).unwrap());
    let report = tree.read(&gpu).unwrap().validate(&soup.meshes).unwrap();
    assert!(report.depth > 20, "{report:?}");
    let at = Vec3::new(2e-7, 2e-7, 1.0);
    let ray = Ray {
        origin: at.to_array(),
        t_min: 0.0,
        direction: [0.0, 0.0, -1.0],
        t_max: 2.0,
    };
    let hits = Trace::new(&gpu)
        .unwrap()
        .run(&gpu, &tree, &[ray], Query::ClosestHit, 1)
        .unwrap();
    assert!((hits[0].t - 1.0).abs() < 1e-5, "{:?}", hits[0]);
}

#[test]
fn the_pyramid_has_every_level() {
    assert_eq!(lbvh::pyramid_levels(0).1, 0);
    assert_eq!(lbvh::pyramid_levels(1).1, 1);
    assert_eq!(
        lbvh::pyramid_levels(5),
        (
            [
                [0, 5, 8, 10],
                [11; 4],
                [11; 4],
                [11; 4],
                [11; 4],
                [11; 4],
                [11; 4]
            ],
            11
        )
    );
}
