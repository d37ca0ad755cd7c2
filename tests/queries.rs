//! Queries through the BVH against every triangle in f64: nearest points, and triangles that overlap boxes.

use crate::common;
use canopy::{
    accel::{
        BoxQuery, Counts, Lbvh, Nearest, NearestPoints, Overlap, Quality, Queries, Search, Tree, Work,
        layout::BVH_MISS, overlap::Touched,
    },
    gpu::Gpu,
    reference::queries,
};
use common::{Random, Soup, by_lane, gpu, implementations, portable_gpu, random_triangles, record, ways};
use glam::Vec3;
use std::collections::BTreeSet;

/// Triangles to build BVHs over: ordinary, many, none, and cases that are bad for BVHs.
fn soups() -> Vec<(&'static str, Soup)> {
    let mut random = Random(7);
    let far = Vec3::new(10_000.0, -3_000.0, 500.0);
    let moved = |triangles: Vec<[Vec3; 3]>| triangles.into_iter().map(move |t| t.map(|v| v + far));
    let slivers = (0..300).map(|_| {
        let (at, along) = (random.cube(), random.cube());
        [at, at + along, at + along + 1e-6 * random.cube()]
    });
    let slivers: Vec<_> = slivers.collect();
    let needles = (0..200).map(|i| {
        let (at, along, across) = (random.cube(), random.cube(), random.cube());
        let width = [1e-2, 1e-3, 1e-4, 1e-5][i % 4];
        [at, at + along, at + along + width * across]
    });
    let needles: Vec<_> = needles.collect();
    let points = (0..40).map(|_| [random.cube(); 3]);
    let points: Vec<_> = points.collect();
    let segments = (0..40).map(|_| {
        let [a, b] = [random.cube(), random.cube()];
        [a, b, 0.5 * (a + b)]
    });
    let segments: Vec<_> = segments.collect();
    let flat = random_triangles(200, 4).into_iter();
    let flat = flat.map(|t| t.map(|v| v * Vec3::new(1.0, 0.0, 1.0)));
    let many = (0..300).fold(Soup::default(), |soup, i| {
        soup.mesh(random_triangles([3, 0, 1, 7][i % 4], i as u64))
    });
    vec![
        ("empty", Soup::default()),
        ("a mesh of nothing", Soup::default().mesh([])),
        ("one", Soup::random(1, 1)),
        ("two", Soup::random(2, 1)),
        ("33", Soup::random(33, 2)),
        ("2,049", Soup::random(2049, 3)),
        ("300 meshes", many),
        ("slivers", Soup::default().mesh(slivers)),
        ("needles", Soup::default().mesh(needles)),
        ("points and segments", Soup::default().mesh(points).mesh(segments)),
        (
            "all the same",
            Soup::default().mesh(vec![random_triangles(1, 5)[0]; 257]),
        ),
        ("flat", Soup::default().mesh(flat)),
        ("far away", Soup::default().mesh(moved(random_triangles(500, 6)))),
    ]
}

/// Centre and size of the triangles.
fn extent(triangles: &[[Vec3; 3]]) -> (Vec3, f32) {
    let corners = || triangles.iter().flatten().copied();
    let (low, high) = (corners().reduce(Vec3::min), corners().reduce(Vec3::max));
    let (low, high) = (low.unwrap_or(-Vec3::ONE), high.unwrap_or(Vec3::ONE));
    (0.5 * (low + high), (high - low).max_element().max(0.1))
}

/// Index, among all triangles, of a triangle in a query's result.
fn number(soup: &Soup, mesh: u32, triangle: u32) -> usize {
    let range = soup.meshes[mesh as usize];
    assert!(triangle < range.triangle_count);
    (range.first_triangle + triangle) as usize
}

/// Fault of a nearest-point result, if any.
fn nearest_fault(
    soup: &Soup,
    triangles: &[[Vec3; 3]],
    [x, y, z, reach]: [f32; 4],
    found: &Nearest,
) -> Option<String> {
    let point = Vec3::new(x, y, z);
    let (_, size) = extent(triangles);
    let scale = point.abs().max_element().max(size);
    // Differences of coordinates are rounded to 2^-24 of them. Needles have steep weights.
    let close = f64::from(scale) * 2e-6;
    let best = queries::nearest(triangles, point);
    let best = best.filter(|(distance, _)| *distance < f64::from(reach) + close);
    if found.mesh == BVH_MISS {
        return best
            .filter(|(distance, _)| *distance < f64::from(reach) - close)
            .map(|best| format!("nothing instead of {best:?}"));
    }
    let Some((distance, _)) = best else {
        return Some("something where nothing is".into());
    };
    let triangle = triangles[number(soup, found.mesh, found.triangle)];
    let at = queries::nearest_on_triangle(&triangle, point);
    let of_named = (at - point.as_dvec3()).length();
    let [v, w] = found.barycentric;
    let by_weights = triangle[0] * (1.0 - v - w) + triangle[1] * v + triangle[2] * w;
    let position = Vec3::from(found.position);
    let faults = [
        ("distance", f64::from(found.distance) - distance),
        ("triangle", of_named - distance),
        ("position", f64::from((position - point).length()) - distance),
        ("weights", f64::from((by_weights - position).length())),
    ];
    let fault = faults.into_iter().find(|(_, off)| off.abs() > close);
    fault.map(|(what, off)| format!("the {what} is {off} off {distance}"))
}

fn points_around(triangles: &[[Vec3; 3]], count: usize, random: &mut Random) -> Vec<[f32; 4]> {
    let (middle, size) = extent(triangles);
    let point = |i: usize| {
        let anywhere = middle + size * [0.6, 3.0][i % 2] * random.cube();
        let within = |t: &[Vec3; 3]| t[0] * 0.3 + t[1] * 0.5 + t[2] * 0.2;
        let of_triangle = triangles.get(i * 7 % triangles.len().max(1));
        let point = match i % 5 {
            0 => of_triangle.map(|t| t[i % 3]),
            1 => of_triangle.map(within),
            _ => None,
        };
        let point = point.unwrap_or(anywhere);
        let reach = [f32::INFINITY, size, 0.1 * size][i % 3];
        point.extend(reach).to_array()
    };
    (0..count).map(point).collect()
}

#[test]
fn nearest_points_match_brute_force() {
    for (kernels, gpu) in implementations() {
        let (lbvh, query) = (Lbvh::new(&gpu), NearestPoints::new(&gpu));
        let mut random = Random(3);
        for (name, soup) in soups() {
            let triangles = soup.triangles();
            let tree = soup.build(&gpu, &lbvh);
            let points = points_around(&triangles, 257, &mut random);
            for cutoff in [1, 4, 32] {
                let found = query.run(&gpu, &tree, &points, cutoff).unwrap();
                assert_eq!(found.len(), points.len());
                for (point, found) in points.iter().zip(&found) {
                    let fault = nearest_fault(&soup, &triangles, *point, found);
                    assert_eq!(fault, None, "{kernels}, {name}, {cutoff}: {point:?} {found:?}");
                }
            }
            assert_eq!(query.run(&gpu, &tree, &[], 4).unwrap(), []);
        }
    }
}

#[test]
fn the_comparison_of_nearest_points_detects_errors() {
    let gpu = gpu();
    let soup = Soup::random(100, 1);
    let triangles = soup.triangles();
    let tree = soup.build(&gpu, &Lbvh::new(&gpu));
    let point = [0.3, 0.2, 0.1, f32::INFINITY];
    let found = NearestPoints::new(&gpu).run(&gpu, &tree, &[point], 4).unwrap()[0];
    let fault = |found: Nearest| nearest_fault(&soup, &triangles, point, &found);
    assert_eq!(fault(found), None);
    let further = Nearest {
        distance: found.distance * 1.001,
        ..found
    };
    let other = Nearest {
        triangle: (found.triangle + 1) % 100,
        ..found
    };
    let moved = Nearest {
        barycentric: [found.barycentric[0] + 0.01, found.barycentric[1]],
        ..found
    };
    let none = Nearest {
        mesh: BVH_MISS,
        ..found
    };
    for wrong in [further, other, moved, none] {
        assert!(fault(wrong).is_some(), "{wrong:?}");
    }
}

#[test]
fn sorted_queries_find_the_same_in_the_same_places() {
    for (kernels, gpu) in ways().into_iter().take(by_lane(1, 2)) {
        let lbvh = Lbvh::new(&gpu);
        let (nearest, overlaps) = (NearestPoints::new(&gpu), Overlap::new(&gpu));
        let mut random = Random(9);
        for (name, soup) in soups() {
            let triangles = soup.triangles();
            let tree = soup.build(&gpu, &lbvh);
            let points = points_around(&triangles, 1021, &mut random);
            let batch = nearest.sorted_batch(&gpu, &points).unwrap();
            let mut encoder = gpu.encoder("test");
            let recorded = nearest.record(&gpu, &mut encoder, &tree, &batch, 4);
            recorded.unwrap();
            let boxes = boxes_around(&triangles, 257, &mut random);
            let given = Queries::new(&gpu, &boxes).unwrap();
            let sorted = Queries::new(&gpu, &boxes).unwrap();
            let sorted = overlaps.sorted(&gpu, sorted).unwrap();
            let mut counts = Vec::new();
            for regions in [given, sorted] {
                let counted = Counts::new(&gpu, 257).unwrap();
                let search = Search::new(&tree);
                let recorded = overlaps.record_count(&gpu, &mut encoder, &search, &regions, &counted);
                recorded.unwrap();
                counts.push(counted.offsets);
            }
            gpu.queue.submit([encoder.finish()]);
            for (point, found) in points.iter().zip(&batch.read(&gpu).unwrap()) {
                let fault = nearest_fault(&soup, &triangles, *point, found);
                assert_eq!(fault, None, "{kernels}, {name}: {point:?} {found:?}");
            }
            let counts: Vec<_> = counts.iter().map(|b| gpu.read(b).unwrap()).collect();
            assert_eq!(counts[0], counts[1], "{kernels}, {name}");
        }
    }
}

/// Boxes of several sizes around the triangles.
fn boxes_around(triangles: &[[Vec3; 3]], count: usize, random: &mut Random) -> Vec<BoxQuery> {
    let (middle, size) = extent(triangles);
    let query = |i: usize| {
        let at = middle + size * random.cube();
        let half = size * [0.02, 0.1, 0.5, 0.0][i % 4] * random.cube().abs();
        BoxQuery {
            lower: (at - half).to_array(),
            upper: (at + half).to_array(),
            ..BoxQuery::default()
        }
    };
    (0..count).map(query).collect()
}

/// Fault of the triangles reported to overlap a box, if any.
fn overlap_fault(triangles: &[[Vec3; 3]], query: &BoxQuery, found: &BTreeSet<usize>) -> Option<String> {
    let [lower, upper] = [query.lower, query.upper].map(Vec3::from);
    let corners = triangles.iter().flatten().chain([&lower, &upper]);
    let scale = corners.map(|v| v.abs().max_element()).fold(0.0, f32::max);
    let close = f64::from(scale) * 5e-7;
    let wrong = |(number, triangle): (usize, &[Vec3; 3])| {
        let gap = queries::box_gap(triangle, lower, upper);
        match found.contains(&number) {
            true if gap > close => Some(format!("{number} is {gap} away")),
            false if gap < -close => Some(format!("{number} is missing: {gap}")),
            _ => None,
        }
    };
    triangles.iter().enumerate().find_map(wrong)
}

/// Triangles of each box, each once.
fn collected(gpu: &Gpu, soup: &Soup, tree: &Tree, boxes: &[BoxQuery], cutoff: u32) -> Vec<BTreeSet<usize>> {
    let query = Overlap::new(gpu);
    let search = Search {
        leaf_cutoff: cutoff,
        ..Search::new(tree)
    };
    let found = query.run(gpu, &search, boxes).unwrap();
    let (offsets, names) = found.read(gpu).unwrap();
    assert_eq!(offsets.len(), boxes.len() + 1);
    assert_eq!(offsets.last().copied(), Some(found.total()));
    assert_eq!(names.len() as u32, found.total());
    let of_box = |pair: &[u32]| {
        let names = &names[pair[0] as usize..pair[1] as usize];
        let numbers: BTreeSet<_> = names.iter().map(|[mesh, t]| number(soup, *mesh, *t)).collect();
        assert_eq!(numbers.len(), names.len(), "a triangle comes up twice");
        numbers
    };
    offsets.windows(2).map(of_box).collect()
}

#[test]
fn box_overlaps_match_f64() {
    for (kernels, gpu) in implementations() {
        let lbvh = Lbvh::new(&gpu);
        let mut random = Random(5);
        for (name, soup) in soups() {
            let triangles = soup.triangles();
            let tree = soup.build(&gpu, &lbvh);
            let boxes = boxes_around(&triangles, 97, &mut random);
            for cutoff in [1, 8] {
                let found = collected(&gpu, &soup, &tree, &boxes, cutoff);
                for (query, found) in boxes.iter().zip(&found) {
                    let fault = overlap_fault(&triangles, query, found);
                    assert_eq!(fault, None, "{kernels}, {name}, {cutoff}: {query:?}");
                }
            }
        }
    }
}

#[test]
fn the_comparison_of_overlaps_detects_errors() {
    let triangles = random_triangles(50, 1);
    let query = BoxQuery {
        lower: [-0.4; 3],
        upper: [0.4; 3],
        ..BoxQuery::default()
    };
    let [lower, upper] = [query.lower, query.upper].map(Vec3::from);
    let touches = |t: &usize| queries::box_gap(&triangles[*t], lower, upper) <= 0.0;
    let right: BTreeSet<_> = (0..50).filter(touches).collect();
    assert!(right.len() > 3 && right.len() < 47);
    assert_eq!(overlap_fault(&triangles, &query, &right), None);
    let missing = (0..50).find(|t| right.contains(t)).unwrap();
    let more = (0..50).find(|t| !right.contains(t)).unwrap();
    let mut wrong = right.clone();
    wrong.remove(&missing);
    assert!(overlap_fault(&triangles, &query, &wrong).is_some());
    wrong = right;
    wrong.insert(more);
    assert!(overlap_fault(&triangles, &query, &wrong).is_some());
}

#[test]
fn single_pass_overlaps_match_and_report_overflow() {
    for gpu in [gpu(), portable_gpu()] {
        let soup = Soup::random(500, 2).mesh(random_triangles(100, 3));
        let triangles = soup.triangles();
        let tree = soup.build(&gpu, &Lbvh::new(&gpu));
        let boxes = boxes_around(&triangles, 64, &mut Random(1));
        let expected = collected(&gpu, &soup, &tree, &boxes, 4);
        let count: usize = expected.iter().map(BTreeSet::len).sum();
        assert!(count > 100);
        let query = Overlap::new(&gpu);
        let batches = [
            Queries::new(&gpu, &boxes).unwrap(),
            query.sorted(&gpu, Queries::new(&gpu, &boxes).unwrap()).unwrap(),
        ];
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
        let rooms = [count + 10, count, count / 3, 1];
        for (room, regions) in rooms
            .into_iter()
            .flat_map(|room| batches.iter().map(move |b| (room, b)))
        {
            let total = gpu.buffer_with("total", &[77_u32], usage);
            let bytes = (room * size_of::<Touched>()) as u64;
            let touched = gpu.buffer("touched", bytes, usage);
            let mut encoder = gpu.encoder("test");
            let (search, into) = (Search::new(&tree), [&total, &touched]);
            query
                .record_append(&gpu, &mut encoder, &search, regions, into)
                .unwrap();
            gpu.queue.submit([encoder.finish()]);
            let total: Vec<u32> = bytemuck::pod_collect_to_vec(&gpu.read(&total).unwrap());
            assert_eq!(total[0], count as u32, "room for {room}");
            let bytes = gpu.read(&touched).unwrap();
            let stored: Vec<Touched> = bytemuck::pod_collect_to_vec(&bytes);
            let stored = &stored[..room.min(count)];
            let pairs: BTreeSet<_> = stored
                .iter()
                .map(|t| (t.query as usize, number(&soup, t.mesh, t.object)))
                .collect();
            assert_eq!(pairs.len(), stored.len());
            assert!(pairs.iter().all(|(query, t)| expected[*query].contains(t)));
        }
    }
}

#[test]
fn overflowed_results_are_searched_again() {
    for gpu in [gpu(), portable_gpu()] {
        let soup = Soup::random(500, 2).mesh(random_triangles(100, 3));
        let tree = soup.build(&gpu, &Lbvh::new(&gpu));
        let boxes = boxes_around(&soup.triangles(), 64, &mut Random(1));
        let expected = collected(&gpu, &soup, &tree, &boxes, 4);
        let count = expected.iter().map(BTreeSet::len).sum::<usize>() as u32;
        let query = Overlap::new(&gpu);
        let (search, regions) = (Search::new(&tree), Queries::new(&gpu, &boxes).unwrap());
        for kept in [0, 1, count / 2, count - 1, count, count + 10] {
            let counts = Counts::with_capacity(&gpu, 64, kept).unwrap();
            let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
            let names = gpu.buffer("names", 8 * u64::from(count), usage);
            let mut encoder = gpu.encoder("test");
            query
                .record_count(&gpu, &mut encoder, &search, &regions, &counts)
                .unwrap();
            query
                .record_collect(&gpu, &mut encoder, &search, &regions, &counts, &names)
                .unwrap();
            gpu.queue.submit([encoder.finish()]);
            let words = |buffer| bytemuck::pod_collect_to_vec(&gpu.read(buffer).unwrap());
            let (offsets, names): (Vec<u32>, Vec<u32>) = (words(&counts.offsets), words(&names));
            for (range, expected) in offsets.windows(2).zip(&expected) {
                let names = &names[2 * range[0] as usize..2 * range[1] as usize];
                let found: Vec<_> = names.chunks(2).map(|n| number(&soup, n[0], n[1])).collect();
                assert_eq!(found.len(), expected.len(), "room for {kept}");
                assert_eq!(&BTreeSet::from_iter(found), expected, "room for {kept}");
            }
        }
        let few = Counts::new(&gpu, 63).unwrap();
        let error = query.record_count(&gpu, &mut gpu.encoder("test"), &search, &regions, &few);
        assert!(error.unwrap_err().to_string().contains("64 queries"));
    }
}

#[test]
fn queries_with_nan_or_infinity_are_answered() {
    let gpu = gpu();
    // No tree holds the triangle of the second mesh.
    let soup = Soup::random(300, 2).mesh([[Vec3::NAN, Vec3::ZERO, Vec3::X]]);
    let tree = soup.build(&gpu, &Lbvh::new(&gpu));
    let query = |lower: [f32; 3], upper: [f32; 3]| BoxQuery {
        lower,
        upper,
        ..BoxQuery::default()
    };
    let (inf, nan) = (f32::INFINITY, f32::NAN);
    let boxes = [
        query([-inf; 3], [inf; 3]),
        query([-f32::MAX; 3], [f32::MAX; 3]),
        query([1.0; 3], [-1.0; 3]),
        query([nan; 3], [1.0; 3]),
        query([-1.0; 3], [nan, 1.0, 1.0]),
        query([50.0; 3], [60.0; 3]),
    ];
    let found = collected(&gpu, &soup, &tree, &boxes, 4);
    let counts: Vec<_> = found.iter().map(BTreeSet::len).collect();
    assert_eq!(counts, [300, 300, 0, 0, 0, 0]);
    assert!(collected(&gpu, &soup, &tree, &[], 4).is_empty());
    let nearest = NearestPoints::new(&gpu);
    let points = [
        [nan, 0.0, 0.0, inf],
        [inf, 0.0, 0.0, inf],
        [0.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, nan],
        [1e30, 0.0, 0.0, inf],
        [0.1, 0.1, 0.1, inf],
    ];
    // They end whatever they find. A valid query among them gets the usual result.
    let found = nearest.run(&gpu, &tree, &points, 4).unwrap();
    let whole = Soup::random(300, 2);
    let fault = nearest_fault(&whole, &whole.triangles(), points[5], &found[5]);
    assert_eq!(fault, None);
    assert_eq!(found[2].mesh, BVH_MISS);
}

#[test]
fn queries_match_brute_force_on_refitted_high_quality_trees() {
    let gpu = gpu();
    let lbvh = Lbvh::with_quality(&gpu, Quality::High);
    let soup = Soup::random(900, 8).mesh(random_triangles(30, 9));
    let mut tree = soup.build(&gpu, &lbvh);
    let query = NearestPoints::new(&gpu);
    let mut random = Random(2);
    let mut moved = soup.clone();
    for work in [Work::Rebuild, Work::Refit, Work::Rebuild] {
        for position in &mut moved.positions {
            *position += 0.05 * random.cube();
        }
        let floats: Vec<[f32; 3]> = moved.positions.iter().map(|p| p.to_array()).collect();
        gpu.queue
            .write_buffer(tree.positions(), 0, bytemuck::cast_slice(&floats));
        record(&gpu, &lbvh, &mut tree, work);
        let triangles = moved.triangles();
        let points = points_around(&triangles, 100, &mut random);
        let found = query.run(&gpu, &tree, &points, 2).unwrap();
        for (point, found) in points.iter().zip(&found) {
            assert_eq!(nearest_fault(&moved, &triangles, *point, found), None);
        }
        let boxes = boxes_around(&triangles, 40, &mut random);
        let found = collected(&gpu, &moved, &tree, &boxes, 2);
        for (query, found) in boxes.iter().zip(&found) {
            assert_eq!(overlap_fault(&triangles, query, found), None);
        }
    }
}

#[test]
fn result_offsets_are_right_over_many_scan_blocks() {
    let gpu = gpu();
    let soup = Soup::random(1, 2);
    let tree = soup.build(&gpu, &Lbvh::new(&gpu));
    let [around, beside] = [2.0, 3.0].map(|upper| BoxQuery {
        lower: [upper - 5.0 * (3.0 - upper); 3],
        upper: [upper; 3],
        ..BoxQuery::default()
    });
    // 293 blocks of the scan, whose sums are too many for one workgroup at once.
    let boxes: Vec<_> = (0..300_000)
        .map(|i| if i % 3 == 0 { around } else { beside })
        .collect();
    let found = Overlap::new(&gpu).run(&gpu, &Search::new(&tree), &boxes).unwrap();
    let (offsets, names) = found.read(&gpu).unwrap();
    assert_eq!(found.total(), 100_000);
    assert!((0..=300_000_u32).all(|i| offsets[i as usize] == i.div_ceil(3)));
    assert!(names.iter().all(|name| *name == [0, 0]));
}

#[test]
fn deep_top_level_trees_lose_no_results() {
    let gpu = gpu();
    let corner = |x: f32| {
        let at = Vec3::splat(x);
        [at, at + Vec3::X * 1e-6, at + Vec3::Y * 1e-6]
    };
    // Pairs of meshes, each nearer to a heap of other meshes. Each level leaves as many entries as possible.
    let pairs = (0..20).flat_map(|level| [corner(0.5f32.powi(level / 2)); 4]);
    let meshes = pairs.chain(vec![corner(0.0); 1 << 10]);
    let soup = meshes.fold(Soup::default(), |soup, triangle| soup.mesh([triangle]));
    let count = soup.meshes.len();
    let everything = BoxQuery {
        lower: [-9.0; 3],
        upper: [9.0; 3],
        ..BoxQuery::default()
    };
    for quality in [Quality::Fast, Quality::High] {
        let tree = soup.build(&gpu, &Lbvh::with_quality(&gpu, quality));
        let found = collected(&gpu, &soup, &tree, &[everything], 1);
        assert_eq!(found[0].len(), count);
        let point = [0.0, 0.0, 1.0, f32::INFINITY];
        let found = NearestPoints::new(&gpu).run(&gpu, &tree, &[point], 1).unwrap();
        assert_eq!(nearest_fault(&soup, &soup.triangles(), point, &found[0]), None);
    }
}

#[test]
fn too_many_boxes_are_an_error() {
    let gpu = portable_gpu();
    let soup = Soup::random(10, 2);
    let tree = soup.build(&gpu, &Lbvh::new(&gpu));
    let everything = BoxQuery {
        lower: [-9.0; 3],
        upper: [9.0; 3],
        ..BoxQuery::default()
    };
    // 160 MB of names, while the device binds at most 128 MiB.
    let boxes = vec![everything; 2_000_000];
    let found = Overlap::new(&gpu).run(&gpu, &Search::new(&tree), &boxes);
    let error = found.unwrap_err();
    assert!(matches!(error, canopy_bvh::Error::Limit { .. }), "{error}");
}
