//! Triangles that pass through each other: pairs found through the BVH, and the marks and counts of a frame.
//! Both are compared with every pair of triangles in f64.

use crate::common;
use canopy::{
    accel::{ObjectPair, OverlapPairs, Pairs},
    gpu::Gpu,
    output::{intersection_colors, picture::viewable},
    reference::{lbvh::Triangle, queries::through},
    render::{Channel, FrameSample, IntersectionCounts, Merged, View},
    scene::{MorphTarget, Pose, Primitive, Scene},
};
use common::{
    Random, Soup, by_lane, gpu, random_triangles,
    scenes::{Stage, look_at, matte, picture, primitive, quad, scene, sphere},
    stocked, ways,
};
use glam::{Mat4, Quat, Vec3};
use std::collections::{BTreeMap, BTreeSet};

/// Penetration depth from which triangles with coordinates up to 2 must be found.
const SURE: f64 = 1e-4;
/// Rounding error of a zero depth in f64.
const NOISE: f64 = 1e-12;

type Names = BTreeSet<[u32; 4]>;

/// Fault of a list of intersecting pairs of triangles in meshes, if any. Every listed pair must intersect,
/// and every pair deeper than `sure` must be listed.
fn pairs_fault(
    found: &Names,
    a: &[Vec<Triangle>],
    b: &[Vec<Triangle>],
    counts: impl Fn([u32; 2], [u32; 2]) -> bool,
    sure: f64,
) -> Option<String> {
    let named = |meshes: &[Vec<Triangle>]| -> Vec<_> {
        let named = (0..).zip(meshes.to_vec());
        let of_mesh = |(mesh, triangles): (u32, Vec<Triangle>)| {
            let numbered = (0..).zip(triangles);
            numbered.map(move |(number, triangle)| ([mesh, number], triangle))
        };
        named.flat_map(of_mesh).collect()
    };
    let (mut known, second) = (0, named(b));
    for (x, first) in named(a) {
        for (y, second) in &second {
            if !counts(x, *y) {
                continue;
            }
            let depth = through(&first, second);
            let is_found = found.contains(&[x[0], x[1], y[0], y[1]]);
            known += usize::from(is_found);
            if is_found && depth < NOISE {
                return Some(format!("{x:?} {y:?} only touch, or do not"));
            }
            if !is_found && depth > sure.max(NOISE) {
                return Some(format!("{x:?} {y:?} are missing, by {depth}"));
            }
        }
    }
    (known != found.len()).then(|| "pairs that do not count".into())
}

fn pairs(gpu: &Gpu, asked: &Pairs<'_>) -> Names {
    let found = OverlapPairs::new(gpu).run(gpu, asked).unwrap();
    let (_, pairs) = found.read(gpu).unwrap();
    let names = pairs.iter();
    let names: Names = names
        .map(|p| [p.mesh_a, p.object_a, p.mesh_b, p.object_b])
        .collect();
    assert_eq!(names.len(), pairs.len(), "a pair comes up twice");
    names
}

/// Triangles of each mesh.
fn of_meshes(soup: &Soup) -> Vec<Vec<Triangle>> {
    let triangles = soup.triangles();
    let of_mesh = |mesh: &canopy::accel::MeshRange| {
        let first = mesh.first_triangle as usize;
        triangles[first..first + mesh.triangle_count as usize].to_vec()
    };
    soup.meshes.iter().map(of_mesh).collect()
}

fn tree(gpu: &Gpu, soup: &Soup) -> canopy::accel::Tree {
    soup.build(gpu, &canopy::accel::Lbvh::new(gpu))
}

/// Triangles with corners on a grid. Many touch, are coplanar, or have no area, and nothing is rounded.
fn on_a_grid(count: usize, seed: u64) -> Vec<Triangle> {
    let mut random = Random(seed);
    let mut corner = || (random.cube() * 2.5).round() / 2.0;
    (0..count).map(|_| [corner(), corner(), corner()]).collect()
}

#[test]
fn intersecting_pairs_match_brute_force_over_all_triangle_pairs() {
    for (kernels, gpu) in ways() {
        let random = |seed| {
            Soup::random(90, seed)
                .mesh([])
                .mesh(random_triangles(60, seed + 1))
        };
        let grids = |seed| {
            Soup::default()
                .mesh(on_a_grid(70, seed))
                .mesh(on_a_grid(50, seed + 1))
                .mesh(on_a_grid(1, seed + 2))
        };
        for (first, second, sure) in [
            (random(3), random(7), SURE),
            // Triangles on a grid are found exactly.
            (grids(11), grids(17), 0.0),
        ] {
            let (a, b) = (of_meshes(&first), of_meshes(&second));
            let (tree, other) = (tree(&gpu, &first), tree(&gpu, &second));
            for cutoff in [1, 8] {
                let ask = |mut asked: Pairs<'_>| {
                    asked.search.leaf_cutoff = cutoff;
                    pairs(&gpu, &asked.through())
                };
                let within = ask(Pairs::within(&tree));
                assert!(within.len() > 50, "{}", within.len());
                let fault = pairs_fault(&within, &a, &a, |x, y| x < y, sure);
                assert_eq!(fault, None, "{kernels}, within");
                let across = ask(Pairs::within(&tree).across());
                assert!(
                    across.len() > 10 && across.len() < within.len(),
                    "{}",
                    across.len()
                );
                let fault = pairs_fault(&across, &a, &a, |x, y| x[0] < y[0], sure);
                assert_eq!(fault, None, "{kernels}, across");
                let between = ask(Pairs::between(&other, &tree));
                let fault = pairs_fault(&between, &b, &a, |_, _| true, sure);
                assert_eq!(fault, None, "{kernels}, between");
            }
        }
    }
}

/// Leaves up to and beyond the ends of subgroups and workgroups.
#[test]
fn intersecting_pairs_match_brute_force_for_any_triangle_count() {
    for (kernels, gpu) in ways().into_iter().take(by_lane(1, 2)) {
        let query = OverlapPairs::new(&gpu);
        for count in [1, 2, 31, 32, 33, 255, 256, 257, 1001] {
            let soup = Soup::random(count / 2, 23).mesh(random_triangles(count - count / 2, 29));
            let tree = tree(&gpu, &soup);
            let asked = Pairs::within(&tree).across().through();
            let (_, found) = query.run(&gpu, &asked).unwrap().read(&gpu).unwrap();
            let names = |p: &ObjectPair| [p.mesh_a, p.object_a, p.mesh_b, p.object_b];
            let found: Names = found.iter().map(names).collect();
            let meshes = of_meshes(&soup);
            let fault = pairs_fault(&found, &meshes, &meshes, |x, y| x[0] < y[0], SURE);
            assert_eq!(fault, None, "{kernels}, {count}");
            assert!(count < 255 || !found.is_empty());
        }
    }
}

#[test]
fn the_comparisons_detect_errors() {
    let gpu = gpu();
    let soup = Soup::default().mesh(on_a_grid(60, 1)).mesh(on_a_grid(40, 2));
    let (meshes, tree) = (of_meshes(&soup), tree(&gpu, &soup));
    let found = pairs(&gpu, &Pairs::within(&tree).across().through());
    let fault = |found: &Names| pairs_fault(found, &meshes, &meshes, |x, y| x[0] < y[0], 0.0);
    assert_eq!(fault(&found), None);
    let mut less = found.clone();
    less.pop_first();
    assert!(fault(&less).unwrap().contains("missing"));
    // Pairs that only touch are extra.
    let touching = pairs(&gpu, &Pairs::within(&tree).across());
    assert!(fault(&touching).unwrap().contains("only touch"));
    let mut others = found;
    others.insert([0, 0, 0, 1]);
    assert!(fault(&others).unwrap().contains("do not count"));

    let counts = IntersectionCounts {
        triangles: 2,
        pairs: 1,
        ..IntersectionCounts::default()
    };
    let known = Known {
        triangles: [3, 5].into(),
        meshes: [([0, 1], 1)].into(),
    };
    assert!(counts_fault(&counts, &known).is_some());
    let listed = IntersectionCounts {
        meshes: vec![canopy::render::MeshPair {
            meshes: [0, 1],
            pairs: 1,
        }],
        ..counts
    };
    assert_eq!(counts_fault(&listed, &known), None);
    let more = Known {
        triangles: [3, 5, 6].into(),
        ..known
    };
    assert!(counts_fault(&listed, &more).is_some());
}

/// The two triangles of a floor, and one that stands on it, leans over it, or passes through it.
#[test]
fn touching_triangles_do_not_intersect_in_the_cpu_reference() {
    let floor = [Vec3::ZERO, Vec3::X * 4.0, Vec3::Z * 4.0];
    let at = |x: f32, y: f32, z: f32| Vec3::new(x, y, z);
    let is_through = |triangle: Triangle| {
        let depths = [through(&floor, &triangle), through(&triangle, &floor)];
        assert_eq!(depths[0], depths[1]);
        depths[0]
    };
    let deep = is_through([at(1.0, -0.5, 1.0), at(1.5, 1.0, 1.0), at(2.0, 1.0, 1.0)]);
    assert!((0.1..0.5).contains(&deep), "{deep}");
    for touching in [
        // On a corner, on an edge, in the plane.
        [at(1.0, 0.0, 1.0), at(1.5, 1.0, 1.0), at(2.0, 1.0, 1.0)],
        [at(1.0, 0.0, 1.0), at(1.5, 0.0, 1.0), at(2.0, 1.0, 1.0)],
        [at(1.0, 0.0, 1.0), at(1.5, 0.0, 1.0), at(1.0, 0.0, 1.5)],
        // Through the plane outside the floor, and with an edge along its edge.
        [at(-1.0, -0.5, 1.0), at(-1.0, 1.0, 1.0), at(-2.0, 1.0, 1.0)],
        [at(0.0, -1.0, 1.0), at(0.0, 1.0, 1.0), at(-2.0, 1.0, 1.0)],
        // Without area.
        [at(1.0, -1.0, 1.0), at(1.0, 1.0, 1.0), at(1.0, 0.0, 1.0)],
        [at(1.0, 0.0, 1.0); 3],
    ] {
        assert_eq!(is_through(touching), 0.0, "{touching:?}");
    }
}

/// Intersections in the merged triangles of a frame.
#[derive(Debug, Default, PartialEq)]
struct Known {
    triangles: BTreeSet<u32>,
    /// Number of pairs of triangles for each pair of meshes.
    meshes: BTreeMap<[usize; 2], u32>,
}

impl Known {
    fn new(merged: &Merged) -> Self {
        let mut known = Self::default();
        let triangle =
            |number: u32| merged.indices[number as usize].map(|vertex| merged.positions[vertex as usize]);
        for (b, second) in merged.meshes.iter().enumerate() {
            for (a, first) in merged.meshes[..b].iter().enumerate() {
                for s in first.clone() {
                    for t in second.clone() {
                        let depth = through(&triangle(s), &triangle(t));
                        // The scenes avoid cases that rounding decides.
                        assert!(depth == 0.0 || depth > 1e-5, "{s} {t}: {depth}");
                        if depth > 0.0 {
                            known.triangles.extend([s, t]);
                            *known.meshes.entry([a, b]).or_default() += 1;
                        }
                    }
                }
            }
        }
        known
    }
}

/// Fault of the counts of a frame, if any.
fn counts_fault(counts: &IntersectionCounts, known: &Known) -> Option<String> {
    let rows = counts.meshes.iter().map(|pair| (pair.meshes, pair.pairs));
    let listed: BTreeMap<_, _> = rows.collect();
    let is_same = counts.triangles as usize == known.triangles.len()
        && counts.pairs == known.meshes.values().sum::<u32>()
        && listed == known.meshes
        && listed.len() == counts.meshes.len()
        && counts.meshes.is_sorted_by(|a, b| a.pairs >= b.pairs)
        && counts.unlisted == 0;
    (!is_same).then(|| format!("{counts:?} instead of {known:?}"))
}

const SIZE: [u32; 2] = [80, 60];

fn view() -> View {
    look_at(Vec3::new(3.0, 2.5, 4.0), Vec3::ZERO, 20.0)
}

/// Waits for the counts of the last frame.
fn counts(stage: &mut Stage<'_>) -> Option<IntersectionCounts> {
    for _ in 0..3 {
        stage.renderer.collect(stage.gpu);
        stage.gpu.wait().unwrap();
    }
    let stats = stage.renderer.stats();
    stats.intersections.as_deref().cloned()
}

/// Draws a frame and compares counts, marks and pixels with all pairs of triangles. Returns the expected
/// intersections.
fn check(stage: &mut Stage<'_>, pose: &Pose) -> Known {
    stage.reads = vec![Channel::Intersections];
    stage.shown = Channel::Intersections;
    let shown = stage.draw(pose, view());
    let known = Known::new(&stage.merged());
    let counts = counts(stage).unwrap();
    assert_eq!(counts_fault(&counts, &known), None);
    let triangles = stage.renderer.read_triangles(stage.gpu).unwrap();
    let image = stage.channel(Channel::Intersections);
    let normals = stage.channel(Channel::Normal).texels;
    let positions = stage.channel(Channel::Position).texels;
    let eye = view().eye();
    for (pixel, triangle) in triangles.iter().enumerate() {
        let [through, facing, _, alpha] = image.texels[pixel];
        let is_through = triangle.is_some_and(|triangle| known.triangles.contains(&triangle));
        assert_eq!((through == 1.0, alpha == 1.0), (is_through, triangle.is_some()));
        if triangle.is_some() {
            let [normal, position] = [&normals, &positions].map(|c| Vec3::from_slice(&c[pixel]));
            let expected = normal.dot((eye - position).normalize()).abs();
            assert!((facing - expected).abs() < 1e-4, "{facing} {expected}");
            let color = intersection_colors::color(is_through, facing).to_array();
            for (byte, expected) in shown[4 * pixel..].iter().zip(color) {
                assert!((f32::from(*byte) - 255.0 * expected).abs() < 1.1, "{pixel}");
            }
        }
    }
    // An exported file shows the same.
    let viewable = viewable(Channel::Intersections, &image);
    for (pixel, _) in triangles.iter().enumerate().filter(|(_, t)| t.is_some()) {
        let [file, window] = [&viewable, &shown].map(|picture| &picture[4 * pixel..][..3]);
        assert!(file.iter().zip(window).all(|(a, b)| a.abs_diff(*b) <= 1));
    }
    known
}

/// A box of twelve triangles.
fn block(middle: Vec3, half: Vec3, turn: Quat) -> Primitive {
    let mut triangles = Vec::new();
    for (axis, side) in [(0, 1.0), (0, -1.0), (1, 1.0), (1, -1.0), (2, 1.0), (2, -1.0)] {
        let [n, u, v] = [0, 1, 2].map(|i| Vec3::AXES[(axis + i) % 3]);
        let corner = |s: f32, t: f32| middle + turn * (half * (side * n + side * s * u + t * v));
        let [a, b, c, d] = [
            corner(-1.0, -1.0),
            corner(1.0, -1.0),
            corner(1.0, 1.0),
            corner(-1.0, 1.0),
        ];
        triangles.extend([[a, b, c], [a, c, d]]);
    }
    primitive(&triangles, 0)
}

fn upright(middle: Vec3) -> Primitive {
    block(middle, Vec3::splat(0.5), Quat::IDENTITY)
}

fn of(primitives: impl IntoIterator<Item = Primitive>) -> Scene {
    scene(primitives, vec![matte(Vec3::splat(0.6))])
}

#[test]
fn intersecting_and_touching_boxes_are_distinguished() {
    let gpu = gpu();
    let turned = block(
        Vec3::new(0.4, 0.3, 0.35),
        Vec3::new(0.5, 0.4, 0.6),
        Quat::from_euler(glam::EulerRot::XYZ, 0.4, 0.9, 0.2),
    );
    let floor = quad(Vec3::new(-2.0, -0.5, -2.0), Vec3::Z * 4.0, Vec3::X * 4.0, 0);
    for (primitives, least) in [
        (vec![upright(Vec3::ZERO), turned.clone()], 8),
        // On the floor, side by side, corner to corner, flush, and the same box twice.
        (vec![upright(Vec3::ZERO), floor.clone()], 0),
        (vec![upright(Vec3::ZERO), upright(Vec3::X)], 0),
        (vec![upright(Vec3::ZERO), upright(Vec3::ONE)], 0),
        (vec![upright(Vec3::ZERO), upright(Vec3::X * 0.5)], 0),
        (vec![upright(Vec3::ZERO), upright(Vec3::ZERO)], 0),
        // One within the other.
        (
            vec![
                upright(Vec3::ZERO),
                block(Vec3::ZERO, Vec3::splat(0.25), Quat::IDENTITY),
            ],
            0,
        ),
        // Sunk into the floor, and three at once.
        (vec![upright(Vec3::NEG_Y * 0.25), floor.clone()], 8),
        (vec![upright(Vec3::NEG_Y * 0.25), floor, turned.clone()], 16),
        // A mesh is not tested against itself.
        (
            vec![Primitive {
                indices: [turned.indices.clone(), vec![[0, 7, 20]]].concat(),
                ..turned
            }],
            0,
        ),
        (Vec::new(), 0),
    ] {
        let what = primitives.len();
        let scene = of(primitives);
        let mut stage = Stage::new(&gpu, &scene, SIZE);
        let known = check(&mut stage, &Pose::new(&scene, None, 0.0));
        let found = known.triangles.len();
        assert!(found >= least && (least > 0 || found == 0), "{what}: {known:?}");
    }
}

/// Boxes on a much larger floor, rotated and moved, rest on it despite rounding.
#[test]
fn boxes_standing_on_a_floor_do_not_intersect_it() {
    let gpu = gpu();
    let mut random = Random(5);
    for scale in [1e-3, 1.0, 1e3] {
        let corner = Vec3::new(-3.0, 0.0, -3.0) * scale;
        let mut primitives = vec![quad(corner, Vec3::Z * 6.0 * scale, Vec3::X * 6.0 * scale, 0)];
        primitives.extend([0.5, 0.3].map(|half| block(Vec3::Y * half, Vec3::splat(half), Quat::IDENTITY)));
        let scene = of(primitives);
        let mut stage = Stage::new(&gpu, &scene, SIZE);
        stage.reads = vec![Channel::Intersections];
        for _ in 0..6 {
            let mut pose = Pose::new(&scene, None, 0.0);
            let lean = Mat4::from_quat(Quat::from_euler(
                glam::EulerRot::XYZ,
                random.unit(),
                random.unit(),
                random.unit(),
            ));
            pose.world_from_node[0] = lean.as_dmat4();
            for (node, x) in [(1, 1.1), (2, -0.9)] {
                let turn = Mat4::from_rotation_y(6.0 * random.unit());
                let to = Vec3::new(x, 0.0, random.unit()) * scale;
                let size = Mat4::from_scale(Vec3::splat(scale));
                pose.world_from_node[node] = (lean * Mat4::from_translation(to) * turn * size).as_dmat4();
            }
            stage.draw(&pose, look_at(Vec3::ONE * 3.0 * scale, Vec3::ZERO, 20.0 * scale));
            let found = counts(&mut stage).unwrap();
            assert_eq!(found, IntersectionCounts::default(), "{scale}");
            // At a depth of a thousandth of the box's side, they intersect.
            pose.world_from_node[1] *= Mat4::from_translation(Vec3::NEG_Y * 1e-3).as_dmat4();
            stage.draw(&pose, look_at(Vec3::ONE * 3.0 * scale, Vec3::ZERO, 20.0 * scale));
            let found = counts(&mut stage).unwrap();
            assert_eq!(found.meshes.len(), 1, "{scale}: {found:?}");
            assert!(found.triangles >= 6 && found.meshes[0].meshes == [0, 1]);
        }
    }
}

/// Moving, morphed and hidden meshes change the result from frame to frame. Instances count as meshes.
#[test]
fn intersections_follow_the_pose() {
    let gpu = gpu();
    let ball = |rings| sphere(Vec3::ZERO, 0.7, rings, 0);
    let mut grows = ball(6);
    grows.targets = vec![MorphTarget {
        positions: grows.positions.iter().map(|p| *p * 0.8).collect(),
        normals: vec![Vec3::ZERO; grows.normals.len()],
        tangents: vec![Vec3::ZERO; grows.tangents.len()],
        ..MorphTarget::default()
    }];
    let mut scene = of([ball(7), grows]);
    // A second instance of the first mesh.
    let mut again = scene.nodes[0].clone();
    again.mesh = Some(0);
    scene.nodes.push(again);
    let mut stage = Stage::new(&gpu, &scene, SIZE);
    let mut rest = Pose::new(&scene, None, 0.0);
    for (node, x) in [(0, -1.6), (1, 0.03), (2, 1.7)] {
        let turn = Mat4::from_rotation_z(0.3 * x + 0.1);
        rest.world_from_node[node] =
            (Mat4::from_translation(Vec3::new(x, 0.05 * x, 0.07 * x)) * turn).as_dmat4();
    }
    assert_eq!(check(&mut stage, &rest), Known::default());
    let mut larger = rest.clone();
    larger.weights[1] = vec![1.0];
    let known = check(&mut stage, &larger);
    let meshes: Vec<_> = known.meshes.keys().copied().collect();
    assert_eq!(meshes, [[0, 1], [1, 2]]);
    let mut nearer = rest.clone();
    nearer.world_from_node[0].w_axis.x = -1.1;
    let known = check(&mut stage, &nearer);
    assert_eq!(known.meshes.keys().collect::<Vec<_>>(), [&[0, 1]]);
    // The same frame again keeps the result.
    assert_eq!(check(&mut stage, &nearer), known);
    let mut hidden = larger.clone();
    hidden.visible[2] = false;
    hidden.weights[1] = vec![1.0];
    let known = check(&mut stage, &hidden);
    assert_eq!(known.meshes.keys().collect::<Vec<_>>(), [&[0, 1]]);
    assert_eq!(check(&mut stage, &rest), Known::default());
}

/// Crossing bars. Pairs beyond the capacity for pairs of meshes are still counted.
#[test]
fn mesh_pairs_beyond_the_capacity_are_still_counted() {
    let gpu = gpu();
    for (bars, has_room) in [(25_u16, true), (40, false)] {
        let bar = |i: u16, across: bool| {
            let at = 2.0 * f32::from(i) / f32::from(bars) - 1.0;
            let (along, aside) = if across {
                (Vec3::X, Vec3::Z)
            } else {
                (Vec3::Z, Vec3::X)
            };
            let start = aside * at - 1.5 * along + Vec3::Y * if across { 0.0 } else { 0.004 };
            // Two adjacent triangles, so that pairs of meshes and of triangles have different numbers.
            let triangles = [0.0, 0.007].map(|by| {
                let start = start + by * aside;
                [
                    start - 0.01 * Vec3::Y,
                    start + 3.0 * along,
                    start + 0.02 * Vec3::Y,
                ]
            });
            primitive(&triangles, 0)
        };
        let all = (0..bars).map(|i| bar(i, true));
        let scene = of(all.chain((0..bars).map(|i| bar(i, false))));
        let mut stage = Stage::new(&gpu, &scene, [18, 18]);
        stage.reads = vec![Channel::Intersections];
        stage.draw(&Pose::new(&scene, None, 0.0), view());
        let known = Known::new(&stage.merged());
        let found = counts(&mut stage).unwrap();
        let pairs: u32 = known.meshes.values().sum();
        assert!(found.pairs == pairs && pairs as usize > 2 * known.meshes.len());
        assert_eq!(found.triangles as usize, known.triangles.len());
        let listed: BTreeSet<_> = found.meshes.iter().map(|pair| pair.meshes).collect();
        assert_eq!(listed.len(), found.meshes.len(), "twice in the list");
        let is_known = |pair: &canopy::render::MeshPair| known.meshes.get(&pair.meshes) == Some(&pair.pairs);
        assert!(found.meshes.iter().all(is_known));
        let of_list: u32 = found.meshes.iter().map(|pair| pair.pairs).sum();
        assert_eq!(of_list + found.unlisted, pairs);
        assert_eq!(found.unlisted == 0, has_room, "{}", known.meshes.len());
    }
}

/// Frames in parts give the same result as whole frames. Without a request, nothing is searched.
#[test]
fn frames_in_parts_find_the_same_intersections() {
    let gpu = gpu();
    let ball = |by: Vec3| {
        let triangles = stocked::sphere(55).into_iter();
        let moved: Vec<_> = triangles.map(|t| t.map(|corner| corner + by)).collect();
        primitive(&moved, 0)
    };
    let scene = of([ball(Vec3::ZERO), ball(Vec3::new(0.61, 0.1, 0.07))]);
    let mut stage = Stage::new(&gpu, &scene, [18, 18]);
    stage.config.tree.rebuild = canopy::config::Rebuild::Frame;
    let pose = Pose::new(&scene, None, 0.0);
    stage.draw(&pose, view());
    assert_eq!(counts(&mut stage), None);
    let channel = Channel::Intersections;
    let buffers = &stage.uploaded.buffers;
    let error = stage.renderer.read_channel(&gpu, channel, buffers).unwrap_err();
    assert!(error.to_string().contains("intersections"), "{error}");
    stage.reads = vec![channel];
    let mut found = Vec::new();
    for in_parts in [true, false] {
        stage.renderer.budget.in_parts = in_parts;
        stage.draw(&pose, view());
        found.push(counts(&mut stage).unwrap());
    }
    assert!(found[0].triangles > 200, "{found:?}");
    assert_eq!(found[0], found[1]);
    // A dropped frame leaves nothing behind, and the next one is complete.
    stage.renderer.budget.in_parts = true;
    let target = picture(&gpu, [16, 16]);
    let encoder = stage.record_only(&pose, view(), FrameSample::SINGLE, &target);
    stage.renderer.finish(encoder);
    stage.renderer.submit_part(&gpu);
    stage.renderer.cancel(&gpu, &mut stage.uploaded).unwrap();
    stage.draw(&pose, view());
    assert_eq!(counts(&mut stage).as_ref(), Some(&found[0]));
    stage.reads = Vec::new();
    stage.draw(&pose, view());
    assert_eq!(counts(&mut stage), None);
}

/// Counts arrive while frames follow one another without a wait, like in the window.
#[test]
fn counts_follow_moving_meshes_without_waiting() {
    let gpu = gpu();
    let turn = Quat::from_euler(glam::EulerRot::XYZ, 0.4, 0.9, 0.2);
    let scene = of([upright(Vec3::ZERO), block(Vec3::ZERO, Vec3::splat(0.3), turn)]);
    for in_parts in [false, true] {
        let mut stage = Stage::new(&gpu, &scene, [18, 18]);
        let target = picture(&gpu, [16, 16]);
        let mut seen = BTreeSet::new();
        for frame in 0..24_u16 {
            stage.reads = vec![Channel::Intersections; usize::from(frame > 2)];
            let mut pose = Pose::new(&scene, None, 0.0);
            pose.world_from_node[1] = Mat4::from_translation(Vec3::X * f32::from(frame) * 0.05).as_dmat4();
            stage.renderer.budget.in_parts = in_parts;
            let encoder = stage.record_only(&pose, view(), FrameSample::SINGLE, &target);
            stage.renderer.finish(encoder);
            while !stage.renderer.submit_part(&gpu) {}
            gpu.wait().unwrap();
            stage.renderer.collect(&gpu);
            let found = stage.renderer.stats().intersections.as_deref();
            seen.extend(found.map(|found| found.pairs));
        }
        assert!(seen.len() > 4, "{in_parts}: {seen:?}");
    }
}
