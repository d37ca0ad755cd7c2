//! The laboratory. Every triangle test is compared with its twin, and every combination with a test of every
//! triangle in f64. Columns of wrong hits must not always be 0.

use crate::common::{self, folder::canopy_in};
use canopy::{
    accel::{
        Lbvh, Query, Ray, Trace,
        layout::{BVH_MISS, Visits},
    },
    config::{LabRays, LabShow},
    gpu::Gpu,
    lab::{
        Kernels, LabBuild, LabCounts, LabGeometry, LabView, RayList, Structure, StructureData, Triangle,
        TriangleTest, Uploaded, Walk,
        binary_tree::BinaryTree,
        data::{LabHit, LabRayParams, LabShowParams},
        exact::{self, Exact, Mismatches},
        grid_build::GridBuild,
        kernels::Threads,
        ray_order::RayOrder,
    },
    reference::{
        lab_tests::{self as twin, Counted, Number, TriangleHit},
        lab_view::{self, Eye, GAP, VisibleTriangle},
        lab_walks::{self, Walked},
    },
    render::{Channel, View},
    scene::{Pose, Projection, Scene, Transform},
};

use common::{
    Random, Soup, by_lane, gpu, own_gpu, random_triangles, rounds_corners_coarsely,
    scenes::{Stage, look_at, matte, primitive, quad, scene, sphere},
};
use glam::Vec3;
use serde_json::Value;
use std::{path::Path, process::Output};

fn twin_of<N: Number>(test: TriangleTest) -> fn(&[[f32; 4]; 3], &Ray) -> TriangleHit<N> {
    match test {
        TriangleTest::Areas => twin::areas,
        TriangleTest::MollerTrumbore => twin::moller_trumbore,
        TriangleTest::BaldwinWeber => twin::baldwin_weber,
        TriangleTest::UnitTriangle => twin::unit_triangle,
        TriangleTest::Plucker => twin::plucker,
        TriangleTest::Watertight => twin::watertight,
    }
}

/// Rays in all directions from around the cube of ±1 into it.
fn rays(count: usize, seed: u64) -> Vec<Ray> {
    let mut random = Random(seed);
    let mut ray = |_| {
        let origin = 2.0 * random.cube();
        let direction = (random.cube() - origin).normalize();
        Ray {
            origin: origin.to_array(),
            t_min: 0.0,
            direction: direction.to_array(),
            t_max: 10.0,
        }
    };
    (0..count).map(&mut ray).collect()
}

fn exact(triangles: &[Triangle], rays: &[Ray]) -> Vec<Option<Exact>> {
    rays.iter().map(|ray| exact::closest(triangles, ray)).collect()
}

/// One leaf that holds up to eight triangles.
fn one_leaf(triangles: &[Triangle]) -> StructureData {
    let tree = Structure::Sah.tree(triangles).unwrap().with_leaves(8);
    tree.binary().unwrap()
}

fn trace(
    gpu: &Gpu,
    built: &StructureData,
    triangles: &[Triangle],
    rays: &[Ray],
    test: TriangleTest,
) -> Vec<LabHit> {
    let scene = Uploaded::new(gpu, built, triangles, test, Walk::Private).unwrap();
    let list = RayList::new(gpu, rays).unwrap();
    let kernels = Kernels::new(gpu, test, Walk::Private);
    kernels
        .run(gpu, &scene, &list, Query::ClosestHit, Threads::PerRay)
        .unwrap()
}

/// A row of triangles with shared edges, seen along −z, far from the origin, and rays exactly at points of
/// those edges.
fn strip(far: f32) -> (Vec<Triangle>, Vec<Ray>) {
    let corner = |i: usize, random: &mut Random| {
        let x = i as f32 * 0.37 + 0.1 * random.unit();
        Vec3::new(
            far + x,
            far + (i % 2) as f32 + 0.1 * random.unit(),
            far + 0.05 * random.unit(),
        )
    };
    let mut random = Random(5);
    let corners: Vec<Vec3> = (0..10).map(|i| corner(i, &mut random)).collect();
    let triangles: Vec<Triangle> = (0..8)
        .map(|i| [corners[i], corners[i + 1], corners[i + 2]])
        .collect();
    let mut ray = |i: usize| {
        // Edges between two triangles.
        let edge = 1 + i % 8;
        let (a, b) = (corners[edge], corners[edge + 1]);
        let at = a + (b - a) * (0.05 + 0.9 * random.unit());
        let away = (random.cube() * 0.5 + 1.5 * Vec3::Z).normalize();
        let origin = at + 3.0 * away;
        Ray {
            origin: origin.to_array(),
            t_min: 0.0,
            direction: (at - origin).to_array(),
            t_max: 10.0,
        }
    };
    // Edge 8 has a triangle on one side only.
    let rays = (0..8 * 600).filter(|i| i % 8 != 7).map(&mut ray).collect();
    (triangles, rays)
}

#[test]
fn triangle_tests_match_the_cpu_reference() {
    let gpu = gpu();
    let mut soup = Soup::random(6, 3).triangles();
    for triangle in &mut soup {
        // Large enough to be hit often.
        let center = (triangle[0] + triangle[1] + triangle[2]) / 3.0;
        *triangle = triangle.map(|corner| center + 3.0 * (corner - center));
    }
    // One without area, which is never hit.
    soup.push([Vec3::ZERO, Vec3::X, 2.0 * Vec3::X]);
    let built = one_leaf(&soup);
    let rays = rays(4000, 7);
    for test in TriangleTest::ALL {
        let hits = trace(&gpu, &built, &soup, &rays, test);
        let twin = twin_of::<f32>(test);
        let mut differ = 0;
        for (ray, hit) in rays.iter().zip(&hits) {
            let mut nearest = (
                LabHit {
                    t: ray.t_max,
                    leaf: BVH_MISS,
                    ..LabHit::default()
                },
                *ray,
            );
            for (leaf, triangle) in (0..).zip(&built.order) {
                let rows = test.rows(&soup[*triangle as usize]);
                if let Some([t, u, v]) = twin(&rows, &nearest.1) {
                    nearest = (LabHit { t, u, v, leaf }, Ray { t_max: t, ..*ray });
                }
            }
            let (expected, _) = nearest;
            let near = |a: f32, b: f32| (a - b).abs() < 1e-3;
            let same = hit.leaf == expected.leaf
                && near(hit.t, expected.t)
                && near(hit.u, expected.u)
                && near(hit.v, expected.v);
            differ += u32::from(!same);
        }
        let found = hits.iter().filter(|hit| hit.leaf != BVH_MISS).count();
        assert!(found > 300, "{}: {found} hits", test.name());
        assert!(
            hits.iter()
                .all(|hit| hit.leaf == BVH_MISS || built.order[hit.leaf as usize] != 6)
        );
        // With different rounding, a ray at an edge may hit the other side.
        assert!(differ <= 4, "{}: {differ} differ", test.name());
    }
}

#[test]
fn cracks_are_counted_and_the_watertight_test_has_no_cracks() {
    let gpu = gpu();
    let mut cracks = 0;
    for far in [0.0, 1000.0] {
        let (triangles, rays) = strip(far);
        let built = one_leaf(&triangles);
        let exact = exact(&triangles, &rays);
        assert!(exact.iter().all(Option::is_some));
        let wrong = |test| -> Mismatches {
            let hits = trace(&gpu, &built, &triangles, &rays, test);
            exact::compare(hits, &exact, Query::ClosestHit, 1e-3)
        };
        let all = TriangleTest::ALL.map(|test| (test.name(), wrong(test)));
        let of = |test: TriangleTest| all[TriangleTest::ALL.iter().position(|t| *t == test).unwrap()].1;
        assert_eq!(of(TriangleTest::Watertight).missed, 0, "{all:?}");
        // Möller-Trumbore has few cracks, so the cracks of both strips are added.
        cracks += of(TriangleTest::MollerTrumbore).cracks;
        assert!(of(TriangleTest::UnitTriangle).cracks > 0, "{far}: {all:?}");
    }
    assert!(cracks > 0);
}

#[test]
fn arithmetic_operations_of_triangle_tests_are_counted() {
    let triangle = [Vec3::ZERO, Vec3::X, Vec3::Y];
    let ray = Ray {
        origin: [0.25, 0.25, 1.0],
        t_min: 0.0,
        direction: [0.0, 0.0, -1.0],
        t_max: 5.0,
    };
    let count = |test: TriangleTest| {
        let rows = test.rows(&triangle);
        Counted::operations(|| assert!(twin_of::<Counted>(test)(&rows, &ray).is_some()))
    };
    // Two crosses (9 each), four dots (5 each), three differences (3 each), a division, three products and a
    // sum.
    assert_eq!(count(TriangleTest::MollerTrumbore), 18 + 20 + 9 + 1 + 3 + 1);
    let counts = TriangleTest::ALL.map(count);
    assert!(counts.iter().all(|count| (20..120).contains(count)), "{counts:?}");
    assert!(count(TriangleTest::BaldwinWeber) < count(TriangleTest::UnitTriangle));
    assert!(count(TriangleTest::UnitTriangle) < count(TriangleTest::MollerTrumbore));
}

/// The structure in the layout that `walk` reads.
fn built(gpu: &Gpu, soup: &Soup, structure: Structure, walk: Walk) -> StructureData {
    let triangles = soup.triangles();
    if let Some(built) = structure.cells(&triangles).unwrap() {
        return built;
    }
    let tree = match structure.on_gpu() {
        Some(quality) => {
            let lbvh = Lbvh::with_quality(gpu, quality);
            let data = soup.build(gpu, &lbvh).read(gpu).unwrap();
            BinaryTree::from_data(&data, &triangles).unwrap()
        }
        None => structure.tree(&triangles).unwrap(),
    };
    let tree = tree.with_leaves(4);
    check_tree(&tree, &triangles);
    tree.laid_out(walk.layout()).unwrap().unwrap()
}

/// Every triangle occurs once, in boxes that contain it.
fn check_tree(tree: &BinaryTree, triangles: &[Triangle]) {
    let mut seen = vec![0; triangles.len()];
    for node in &tree.nodes {
        if node.children.is_none() {
            for leaf in node.leaves.clone() {
                let triangle = tree.order[leaf as usize] as usize;
                seen[triangle] += 1;
                for corner in triangles[triangle] {
                    assert!(corner.cmpge(node.bounds.min).all() && corner.cmple(node.bounds.max).all());
                }
            }
        }
        for child in node.children.into_iter().flatten() {
            let child = &tree.nodes[child as usize];
            assert_eq!(child.bounds.union(node.bounds), node.bounds);
        }
    }
    assert!(seen.iter().all(|times| *times == 1));
}

/// True if all entry points of a traversal are compiled, which takes long. For other traversals, the quick
/// lane has any-hit kernels, and those that count the visits of closest-hit rays.
fn is_compiled_whole(walk: Walk) -> bool {
    by_lane([Walk::Private, Walk::Grid, Walk::KdTree].contains(&walk), true)
}

#[test]
fn every_traversal_of_every_structure_matches_brute_force() {
    let gpu = gpu();
    let soup = Soup::random(700, 11);
    let triangles = soup.triangles();
    let mut rays = rays(900, 13);
    // Along the axes, and a gap.
    for (i, axis) in [Vec3::X, Vec3::NEG_Y, Vec3::Z].into_iter().enumerate() {
        rays[i].origin = (-2.0 * axis).to_array();
        rays[i].direction = axis.to_array();
    }
    rays[3].t_max = -1.0;
    let expected = exact(&triangles, &rays);
    let list = RayList::new(&gpu, &rays).unwrap();
    let test = TriangleTest::Watertight;
    for walk in Walk::ALL {
        let kernels = Kernels::new(&gpu, test, walk);
        let queries: &[Query] = match is_compiled_whole(walk) {
            true => &[Query::ClosestHit, Query::AnyHit],
            false => &[Query::AnyHit],
        };
        for structure in Structure::ALL.into_iter().filter(|s| s.has(walk)) {
            let what = format!("{} through {}", walk.name(), structure.name());
            let built = built(&gpu, &soup, structure, walk);
            let scene = Uploaded::new(&gpu, &built, &triangles, test, walk).unwrap();
            for &query in queries {
                let run = |threads| kernels.run(&gpu, &scene, &list, query, threads).unwrap();
                let hits = run(Threads::PerRay);
                let wrong = exact::compare(hits.clone(), &expected, query, 1e-5);
                assert_eq!(wrong.all(), 0, "{what}, {query:?}: {wrong:?}");
                let found = hits.iter().filter(|hit| hit.leaf != BVH_MISS).count();
                assert!(found > 100, "{what}: {found}");
                // Persistent threads run the same traversal in separate kernels.
                let persists = by_lane(false, structure == Structure::Sah);
                if persists || walk == Walk::Grid {
                    assert_eq!(run(Threads::Persistent), hits, "{what}");
                }
            }
            let visits = kernels.count(&gpu, &scene, &list, Query::ClosestHit).unwrap();
            assert_eq!(visits[3].nodes + visits[3].triangles, 0, "a gap is no ray");
            check_visits(&what, (&built, walk), (&triangles, test), &rays, &visits);
            let nodes: u32 = visits.iter().map(|v| v.nodes).sum();
            assert!(nodes > 900 && nodes < 900 * 200, "{what}: {nodes} nodes");
        }
    }
}

/// Number of rays whose visits differ from a twin.
fn visited_otherwise<'a>(
    on: Walked<'a>,
    test: lab_walks::Test,
    by: fn(&mut lab_walks::Walk<'a>),
    rays: &[Ray],
    visits: &[Visits],
) -> usize {
    let differs = |(ray, visited): &(&Ray, &Visits)| {
        let mut twin = lab_walks::Walk::new(on, test, **ray, false);
        if ray.t_max > ray.t_min {
            by(&mut twin);
        }
        (twin.nodes, twin.triangles) != (visited.nodes, visited.triangles)
    };
    rays.iter().zip(visits).filter(differs).count()
}

/// Visits of rays match the twin of the traversal, and do not match the twin of another traversal. With
/// different rounding, a ray may miss a box or a cell.
fn check_visits(
    what: &str,
    (built, walk): (&StructureData, Walk),
    (triangles, test): (&[Triangle], TriangleTest),
    rays: &[Ray],
    visits: &[Visits],
) {
    let rows = built
        .order
        .iter()
        .map(|number| test.rows(&triangles[*number as usize]));
    let rows: Vec<_> = rows.collect();
    let on = Walked {
        rows: &built.rows,
        links: &built.links,
        triangles: &rows,
        bounds: [built.bounds.min, built.bounds.max],
        root: built.root,
        cells: built.cells,
    };
    let differing = |by| visited_otherwise(on, twin_of(test), by, rays, visits);
    let own = differing(match walk {
        Walk::Private | Walk::Workgroup => lab_walks::Walk::with_stack,
        Walk::Restart => lab_walks::Walk::with_restarts,
        Walk::Parents => lab_walks::Walk::by_parent_links,
        Walk::Skip => lab_walks::Walk::by_skip_links,
        Walk::Wide => lab_walks::Walk::wide,
        Walk::Grid => lab_walks::Walk::cells,
        Walk::TwoLevel => lab_walks::Walk::cells_of_cells,
        Walk::KdTree => lab_walks::Walk::kd_tree,
    });
    assert!(own * 100 <= rays.len(), "{what}: {own} rays visit something else");
    if walk == Walk::Private {
        let other = differing(lab_walks::Walk::by_parent_links);
        assert!(other * 4 > rays.len(), "{what}: {other}");
    }
}

#[test]
fn gpu_grids_match_the_cpu_reference() {
    let gpu = gpu();
    let build = GridBuild::new(&gpu);
    let soup = |count, seed| Soup::random(count, seed).triangles();
    let flat = |triangle: Triangle| triangle.map(|corner| corner.with_y(0.25));
    let mut wide = soup(300, 2);
    wide.push([Vec3::splat(-1.0), Vec3::splat(1.0), Vec3::new(1.0, -1.0, 0.5)]);
    // More than one thread sorts.
    let mut pile = vec![[0.3, 0.301, 0.302].map(Vec3::splat); 1100];
    pile.extend(soup(50, 7));
    let inputs = [
        ("one", soup(1, 1)),
        ("two", soup(2, 1)),
        ("65", soup(65, 3)),
        ("2,000", soup(2000, 4)),
        ("flat", soup(257, 5).into_iter().map(flat).collect()),
        ("equal", vec![soup(1, 6)[0]; 130]),
        ("a point", vec![[Vec3::ONE; 3]; 3]),
        ("a pile", pile),
        ("one is wide", wide),
    ];
    for (what, triangles) in &inputs {
        for structure in [Structure::Grid, Structure::TwoLevel] {
            let two_level = structure.grid_levels().unwrap();
            let found = build.run(&gpu, triangles, two_level).unwrap();
            let twin = structure.cells(triangles).unwrap().unwrap();
            let differs = |a: &StructureData, b: &StructureData| {
                (a.rows != b.rows)
                    .then_some("rows")
                    .or((a.links != b.links).then_some("links"))
                    .or(((a.cells, a.node_count) != (b.cells, b.node_count)).then_some("cells"))
            };
            assert_eq!(differs(&found, &twin), None, "{what}: {}", structure.name());
            let numbers = twin.links.len() - triangles.len();
            assert!(numbers > 1, "{what}: {} links", twin.links.len());
            if triangles.len() > 2 && !["equal", "a point"].contains(what) {
                // Another order of the triangles gives another grid.
                let turned: Vec<_> = triangles.iter().rev().copied().collect();
                let other = build.run(&gpu, &turned, two_level).unwrap();
                assert_eq!(differs(&other, &twin), Some("links"), "{what}");
            }
        }
    }
    assert!(build.run(&gpu, &[], false).is_err());

    let mut gpu = own_gpu();
    gpu.limits.max_storage_buffer_binding_size = 1 << 27;
    let build = GridBuild::new(&gpu);
    // Triangles across everything, and a heap as wide as an upper cell. Both are refused before a GPU counts
    // them.
    let mut across = soup(20_000, 8);
    across.extend(vec![[-0.9, 0.9, 0.8].map(Vec3::splat); 1000]);
    let mut heap = soup(10_000, 9);
    heap.extend(vec![[0.0676, 0.1676, 0.1].map(Vec3::splat); 10_000]);
    for (triangles, two_level) in [(across, false), (heap, true)] {
        let failed = build.run(&gpu, &triangles, two_level);
        assert!(
            matches!(failed, Err(canopy_bvh::Error::Limit { .. })),
            "{two_level}"
        );
    }
}

#[test]
fn tree_quality_metrics_match_closed_forms() {
    // Two unit squares in a box of 1 × 1 × 2, one at each end, without overlap.
    let square = |z: f32| {
        let corner = |x, y| Vec3::new(x, y, z);
        [
            [corner(0.0, 0.0), corner(1.0, 0.0), corner(1.0, 1.0)],
            [corner(0.0, 0.0), corner(1.0, 1.0), corner(0.0, 1.0)],
        ]
    };
    let triangles = [square(0.0), square(2.0)].concat();
    let tree = Structure::Sah.tree(&triangles).unwrap().with_leaves(2);
    assert_eq!(tree.nodes.len(), 3);
    let quality = tree.quality(&triangles);
    // The root has an area of 10, and each leaf an area of 2 and two triangles.
    assert!(
        (quality.sah - (1.0 + 2.0 * 2.0 * 2.0 / 10.0)).abs() < 1e-9,
        "{quality:?}"
    );
    assert_eq!(quality.epo, 0.0);
    // A triangle that extends into the other leaf's box.
    let mut crossing = triangles.clone();
    crossing[2] = [Vec3::ZERO, Vec3::X, Vec3::new(0.0, 0.5, 2.0)];
    let crossed = Structure::Sah.tree(&crossing).unwrap().with_leaves(1);
    assert!(crossed.quality(&crossing).epo > 0.0);
    assert_eq!(tree.levels(), 1);
}

#[test]
fn ray_orders_do_not_change_the_hits() {
    let gpu = gpu();
    let soup = Soup::random(200, 2);
    let triangles = soup.triangles();
    let rays = rays(300, 4);
    let built = one_leaf(&triangles);
    for order in RayOrder::ALL {
        let ordered = order.of(&rays);
        let hits = trace(&gpu, &built, &triangles, &ordered, TriangleTest::Plucker);
        let expected = exact(&triangles, &ordered);
        assert_eq!(exact::compare(hits, &expected, Query::ClosestHit, 1e-5).all(), 0);
    }
}

const SIZE: [u32; 2] = [44, 26];

/// A sphere and a soup above a floor.
fn seen() -> Scene {
    let moved = |triangle: [Vec3; 3]| triangle.map(|corner| corner + 1.5 * Vec3::X);
    let soup: Vec<_> = random_triangles(300, 5).into_iter().map(moved).collect();
    let corner = Vec3::new(-2.5, -1.2, -2.0);
    let parts = [
        sphere(Vec3::new(-1.0, 0.0, 0.0), 1.0, 12, 0),
        primitive(&soup, 0),
        quad(corner, 4.0 * Vec3::Z, 5.0 * Vec3::X, 0),
    ];
    let mut material = matte(Vec3::splat(0.5));
    material.double_sided = true;
    scene(parts, vec![material])
}

fn front() -> View {
    look_at(Vec3::new(0.3, 0.5, 5.0), Vec3::ZERO, 100.0)
}

/// The `lab` channel of a stage.
fn view_of<'a>(stage: &'a Stage<'_>) -> &'a LabView {
    LabView::of(&stage.renderer).unwrap()
}

/// Draws the `lab` channel. Returns its pixels and the counts of its rays.
fn draw(stage: &mut Stage<'_>, view: View) -> (Vec<[f32; 4]>, LabCounts) {
    LabView::follow(&mut stage.renderer, &stage.config.lab);
    stage.draw(&Pose::new(stage.scene, None, 0.0), view);
    stage.renderer.collect(stage.gpu);
    stage.gpu.wait().unwrap();
    stage.renderer.collect(stage.gpu);
    let texels = stage.channel(Channel::Lab).texels;
    (texels, view_of(stage).counts().unwrap())
}

/// Triangles of the last frame in its space.
fn geometry(stage: &Stage<'_>) -> LabGeometry {
    let merged = stage.merged();
    let origin = stage.uploaded.buffers.origin;
    LabGeometry::new(&merged.positions, &merged.indices, merged.meshes, origin)
}

/// A stage that has drawn its triangles, and these triangles.
fn staged<'a>(gpu: &'a Gpu, scene: &'a Scene, size: [u32; 2], view: View) -> (Stage<'a>, LabGeometry) {
    let mut stage = Stage::new(gpu, scene, size);
    stage.reads = Vec::new();
    stage.draw(&Pose::new(scene, None, 0.0), view);
    let found = geometry(&stage);
    assert!(LabView::of(&stage.renderer).is_none(), "free where nobody asks");
    let blank = stage
        .renderer
        .read_channel(gpu, Channel::Lab, &stage.uploaded.buffers);
    assert!(blank.is_err());
    stage.reads = vec![Channel::Lab];
    (stage, found)
}

fn set(stage: &mut Stage<'_>, geometry: &mut LabGeometry) {
    let build = LabBuild::from(&stage.config.lab);
    let scene = geometry.build(stage.gpu, build).unwrap();
    LabView::within(&mut stage.renderer, stage.gpu, &stage.config.lab).set(Some(scene.into()));
}

fn read<T: bytemuck::Pod>(gpu: &Gpu, buffer: &wgpu::Buffer) -> Vec<T> {
    bytemuck::pod_collect_to_vec(&gpu.read(buffer).unwrap())
}

/// Pixels of a picture in the order of the rays.
fn in_tiles(texels: &[[f32; 4]], size: [u32; 2]) -> Vec<Option<[f32; 4]>> {
    let inside = |pixel: &glam::UVec2| pixel.x < size[0] && pixel.y < size[1];
    let texel = |pixel: glam::UVec2| texels[(pixel.y * size[0] + pixel.x) as usize];
    let pixels = lab_view::pixels(size);
    pixels
        .map(|pixel| Some(pixel).filter(inside).map(texel))
        .collect()
}

fn near(a: &[f32], b: &[f32], most: f32) -> bool {
    a.iter().zip(b).all(|(a, b)| (a - b).abs() <= most)
}

/// True if two rays are equal up to rounding.
fn same_ray(a: &Ray, b: &Ray) -> bool {
    // World positions are rounded at a magnitude of 400 m.
    near(&a.origin, &b.origin, 4e-5)
        && near(&a.direction, &b.direction, 1e-5)
        && (a.t_max - b.t_max).abs() <= 1e-4 * b.t_max
}

/// Every traversal of every structure, in a single renderer. Hits match canopy's own trees and a test of
/// every triangle in f64. Counts match the kernels of `canopy lab`.
#[test]
fn the_channel_traces_every_traversal_of_every_structure() {
    let (gpu, scene) = (gpu(), seen());
    let (mut stage, mut geometry) = staged(&gpu, &scene, SIZE, front());
    let covered = stage.channel(Channel::Position).texels;
    let covered = covered.iter().filter(|texel| texel[3] != 0.0).count() as u64;
    stage.config.lab.show = LabShow::Difference;
    // The quick lane uses the kernels of the test of all traversals.
    stage.config.lab.test = by_lane(TriangleTest::Watertight, stage.config.lab.test);
    let mut expected: Option<Vec<Option<Exact>>> = None;
    for structure in Structure::ALL {
        let is_wanted = |walk: &Walk| structure.has(*walk) && is_compiled_whole(*walk);
        for walk in Walk::ALL.into_iter().filter(is_wanted) {
            let what = format!("{} through {}", walk.name(), structure.name());
            (stage.config.lab.walk, stage.config.lab.structure) = (walk, structure);
            set(&mut stage, &mut geometry);
            let (texels, counts) = draw(&mut stage, front());
            assert_eq!(counts.rays, u64::from(SIZE[0] * SIZE[1]), "{what}");
            assert!(counts.hits.abs_diff(covered) < 8, "{what}: {counts:?}");
            // A ray through an edge may hit another triangle, or none.
            assert!(counts.wrong.unwrap() < 3, "{what}: {counts:?}");
            let red = texels.iter().filter(|texel| texel[0] > texel[1]).count();
            assert_eq!(red as u64, counts.wrong.unwrap(), "{what}");
            let list = view_of(&stage).list().unwrap();
            let hits: Vec<LabHit> = read(&gpu, &list.hits);
            let rays: Vec<Ray> = read(&gpu, &list.rays);
            let sent = |i: &usize| rays[*i].t_max > rays[*i].t_min;
            let sent: Vec<usize> = (0..rays.len()).filter(sent).collect();
            let expected = expected.get_or_insert_with(|| {
                let rays: Vec<Ray> = sent.iter().map(|i| rays[*i]).collect();
                exact(geometry.triangles(), &rays)
            });
            let hits = sent.iter().map(|i| hits[*i]);
            let wrong = exact::compare(hits, expected, Query::ClosestHit, 1e-5);
            assert!(wrong.all() < 3, "{what}: {wrong:?}");
            let visits: Vec<Visits> = read(&gpu, &list.visits);
            let sum =
                |of: fn(&Visits) -> u32| -> u64 { sent.iter().map(|i| u64::from(of(&visits[*i]))).sum() };
            assert_eq!(counts.nodes, sum(|v| v.nodes), "{what}");
            assert_eq!(counts.triangles, sum(|v| v.triangles), "{what}");
            assert!(counts.nodes > counts.rays && counts.steps * 32 > counts.nodes);
            // Measured like in the command, from its own list of the same rays.
            if [Walk::Private, Walk::Skip, Walk::Grid].contains(&walk) && structure != Structure::Ploc {
                let triangles = geometry.triangles();
                let built = match structure.cells(triangles).unwrap() {
                    Some(cells) => cells,
                    None if structure == Structure::Sah => {
                        let tree = structure.tree(triangles).unwrap().with_leaves(4);
                        tree.laid_out(walk.layout()).unwrap().unwrap()
                    }
                    None => continue,
                };
                let test = stage.config.lab.test;
                let uploaded = Uploaded::new(&gpu, &built, triangles, test, walk).unwrap();
                let list = RayList::new(&gpu, &rays).unwrap();
                let kernels = Kernels::new(&gpu, test, walk);
                let counted = kernels.count(&gpu, &uploaded, &list, Query::ClosestHit);
                assert_eq!(counted.unwrap(), visits, "{what}");
            }
        }
    }
    // Persistent threads find the same. An unsupported combination gives a one-line error.
    let per_ray = draw(&mut stage, front()).0;
    stage.config.lab.threads = Threads::Persistent;
    assert_eq!(draw(&mut stage, front()).0, per_ray);
    stage.config.lab.walk = Walk::Skip;
    let error = geometry.build(&gpu, LabBuild::from(&stage.config.lab));
    let line = error.unwrap_err().to_string();
    assert!(
        line.contains("skip-links does not support the structure kd-tree; use kd-short-stack"),
        "{line}"
    );
}

/// Rays and pixels match the twins, for every display mode, both kinds of rays and both kinds of views.
#[test]
fn rays_and_pixels_of_the_channel_match_the_cpu_reference() {
    let (gpu, mut scene) = (gpu(), seen());
    // Far from the origin, so that the frame moves its own origin.
    let far = Transform::Matrix(glam::Mat4::from_translation(400.0 * Vec3::X).as_dmat4());
    scene.nodes.iter_mut().for_each(|node| node.transform = far);
    let mut view = look_at(Vec3::new(400.3, 0.5, 5.0), 400.0 * Vec3::X, 100.0);
    let (mut stage, mut geometry) = staged(&gpu, &scene, SIZE, view);
    set(&mut stage, &mut geometry);
    let origin = stage.uploaded.buffers.origin;
    let order = {
        let tree = Structure::Sah.tree(geometry.triangles()).unwrap();
        tree.with_leaves(4).laid_out(Walk::Private.layout())
    };
    let order = order.unwrap().unwrap().order;
    let normal = |triangle: &u32| {
        let [a, b, c] = geometry.triangles()[*triangle as usize];
        (b - a).cross(c - a).normalize()
    };
    let normals: Vec<Vec3> = order.iter().map(normal).collect();
    let to_sun = -Vec3::from(stage.config.sun.direction).normalize();
    for (kind, is_parallel) in [
        (LabRays::Primary, false),
        (LabRays::Primary, true),
        (LabRays::Shadow, false),
    ] {
        if is_parallel {
            view.projection = Projection::Orthographic { half_height: 1.4 };
        } else {
            view.projection = front().projection;
        }
        stage.config.lab.rays = kind;
        for show in LabShow::ALL {
            stage.config.lab.show = show;
            let (texels, counts) = draw(&mut stage, view);
            let list = view_of(&stage).list().unwrap();
            let rays: Vec<Ray> = read(&gpu, &list.rays);
            if show == LabShow::Picture {
                check_rays(&mut stage, view, &rays, to_sun);
            }
            let list = view_of(&stage).list().unwrap();
            let (hits, visits) = (read(&gpu, &list.hits), read(&gpu, &list.visits));
            let query = match kind {
                LabRays::Primary => Query::ClosestHit,
                LabRays::Shadow => Query::AnyHit,
            };
            let tree = &stage.uploaded.state.tree;
            let own = Trace::new(&gpu).run(&gpu, tree, &rays, query, 4).unwrap();
            let params = LabShowParams {
                size: SIZE,
                show: show as u32,
                is_shadow: u32::from(kind == LabRays::Shadow),
                is_checked: u32::from(show == LabShow::Difference),
                slack: 3e-6,
            };
            let kinds = [LabShow::Nodes, LabShow::Triangles, LabShow::Both].map(|show| show as u32);
            let (shown, sums) = lab_view::show(
                &params,
                (&rays, &hits, &visits),
                &normals,
                &own,
                [0.85, 0.15, 0.2],
                (&kinds, LabShow::Divergence as u32),
            );
            for (of_twin, texel) in shown.iter().zip(in_tiles(&texels, SIZE)) {
                let same = texel.is_none_or(|texel| near(&texel, of_twin, 2e-3));
                assert!(same, "{kind:?} {show:?}: {texel:?}, not {of_twin:?}");
            }
            let of_gpu = [
                counts.rays,
                counts.hits,
                counts.nodes,
                counts.triangles,
                counts.steps,
                counts.wrong.unwrap_or(0),
            ];
            assert_eq!(of_gpu, sums, "{kind:?} {show:?}");
            assert_eq!(counts.wrong.is_some(), show == LabShow::Difference);
            // The comparison must detect wrong hits.
            let mut fewer = hits.clone();
            fewer.iter_mut().for_each(|hit: &mut LabHit| hit.leaf = BVH_MISS);
            let params = LabShowParams {
                is_checked: 1,
                ..params
            };
            let input = (&rays[..], &fewer[..], &visits[..]);
            let greys = [0.85, 0.15, 0.2];
            let (_, wrong) = lab_view::show(&params, input, &normals, &own, greys, (&kinds, 9));
            assert!(wrong[5] > 20, "{kind:?}: {wrong:?}");
            assert!(
                counts.hits > 20 && origin.x > 100.0,
                "{kind:?}: {counts:?} {origin}"
            );
        }
    }
}

/// Asserts that the rays of a frame match the twin.
fn check_rays(stage: &mut Stage<'_>, view: View, rays: &[Ray], to_sun: Vec3) {
    let origin = stage.uploaded.buffers.origin;
    let view = view.translated(-origin);
    let is_shadow = stage.config.lab.rays == LabRays::Shadow;
    let [right, up] = match view.projection {
        Projection::Perspective { .. } => [Vec3::ZERO; 2],
        Projection::Orthographic { half_height } => {
            let aspect = SIZE[0] as f32 / SIZE[1] as f32;
            let axes = view.world_from_view;
            [
                axes.x_axis.truncate() * half_height * aspect,
                axes.y_axis.truncate() * half_height,
            ]
        }
    };
    let [view_right, view_up] = view.half_extents(SIZE[0] as f32 / SIZE[1] as f32);
    let eye = Eye {
        at: view.eye(),
        middle_right_up: [view.forward(), view_right, view_up],
        size: SIZE,
    };
    let positions = stage.channel(Channel::Position).texels;
    let ids = stage.renderer.read_triangles(stage.gpu).unwrap();
    let merged = stage.merged();
    let position = |pixel: glam::UVec2| {
        let at = (pixel.y * SIZE[0] + pixel.x) as usize;
        let triangle = merged.indices[ids[at]? as usize];
        let [x, y, z, _] = positions[at];
        let position = Vec3::new(x, y, z) - origin;
        Some(VisibleTriangle {
            position,
            triangle: triangle.map(|vertex| merged.positions[vertex as usize] - origin),
            to_eye: (view.eye() - position).normalize(),
        })
    };
    let seen: Vec<Option<VisibleTriangle>> = lab_view::pixels(SIZE)
        .map(|pixel| match pixel.x < SIZE[0] && pixel.y < SIZE[1] {
            true => position(pixel),
            false => None,
        })
        .collect();
    // A ten-thousandth of half the diagonal.
    let start = |(ray, seen): (&Ray, &Option<VisibleTriangle>)| {
        let away = Vec3::from(ray.origin) - seen.as_ref()?.position;
        (ray.t_max > 0.0 && is_shadow).then(|| away.length())
    };
    let steps: Vec<f32> = rays.iter().zip(&seen).filter_map(start).collect();
    let step = steps.iter().sum::<f32>() / steps.len().max(1) as f32;
    assert!(!is_shadow || (1e-4..4e-4).contains(&step), "{step}");
    let params = LabRayParams {
        right: right.to_array(),
        far: if is_shadow { f32::INFINITY } else { view.far },
        up: up.to_array(),
        step,
        ..LabRayParams::default()
    };
    let mut sent = 0;
    let mut differ = 0;
    for ((ray, pixel), seen) in rays.iter().zip(lab_view::pixels(SIZE)).zip(&seen) {
        let mut expected = match is_shadow {
            true => lab_view::shadow(seen.as_ref(), &params, (to_sun, 1e30)),
            false => lab_view::primary(&eye, &params, pixel),
        };
        if is_shadow && expected != GAP {
            // The offset from the surface and the length of rays are rounded.
            assert!(ray.t_max == 0.0 || ray.t_max > 1e4);
            expected.t_max = ray.t_max.max(1.0);
        }
        sent += u32::from(ray.t_max > 0.0);
        differ += u32::from(!same_ray(ray, &expected));
    }
    assert!(sent > 100, "{sent}");
    // A surface seen edge-on may face either way.
    assert!(differ <= if is_shadow { 2 } else { 0 }, "{differ}");
}

/// Far from the origin, the area test loses hits, which the channel counts and shows in red. The watertight
/// test loses none.
#[test]
fn lost_hits_of_a_leaky_triangle_test_are_counted_and_shown() {
    const FAR: f32 = 30_000.0;
    let gpu = gpu();
    let there = |far: f32| -> Vec<Triangle> { strip(far).0 };
    // The frame's origin is at their centre.
    let parts = [primitive(&there(FAR), 0), primitive(&there(-FAR), 0)];
    let scene = scene(parts, vec![matte(Vec3::splat(0.5))]);
    let at = Vec3::splat(FAR) + Vec3::new(1.7, 0.5, 0.0);
    let view = look_at(at + 3.0 * Vec3::Z, at, 1e5);
    let (mut stage, mut geometry) = staged(&gpu, &scene, [48, 32], view);
    stage.config.lab.show = LabShow::Difference;
    let mut wrong = |test: TriangleTest| {
        stage.config.lab.test = test;
        set(&mut stage, &mut geometry);
        let (texels, counts) = draw(&mut stage, view);
        let red = texels.iter().filter(|texel| texel[0] > texel[1]).count();
        assert_eq!(red as u64, counts.wrong.unwrap(), "{}", test.name());
        assert!(counts.rays == 48 * 32);
        [counts.wrong.unwrap(), counts.hits]
    };
    let [watertight, areas] = [TriangleTest::Watertight, TriangleTest::Areas].map(&mut wrong);
    let told = format!("{watertight:?} {areas:?}");
    assert!(watertight[0] <= 2 && watertight[1] > 300, "{told}");
    assert!(areas[0] > 20, "{told}");
}

/// Runs `canopy lab` in `folder`.
fn lab(folder: &Path, line: &str) -> Output {
    canopy_in(folder, &format!("lab {line}")).output().unwrap()
}

fn succeeds(folder: &Path, line: &str) -> String {
    let output = lab(folder, line);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{line}: {stderr}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_command_measures_and_writes_and_reads_ray_files() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let scene = "v -1 0 -1\nv 1 0 -1\nv 1 0 1\nv -1 0 1\nf 4 3 2 1\n\
                 v -0.3 0.5 -0.3\nv 0.3 0.5 -0.3\nv 0 0.5 0.3\nf 7 6 5\n";
    std::fs::write(folder.join("scene.obj"), scene).unwrap();
    let size = "--size 24x18 --samples 2 --warm-up 0";
    succeeds(folder, &format!("scene.obj {size} -q --write-rays rays"));
    let sets = std::fs::read_dir(folder.join("rays")).unwrap().count();
    assert_eq!(sets, 16);
    let measured = format!(
        "scene.obj {size} -q --rays rays/primary.rays --rays rays/shadow-hard-shuffled.rays \
         --walk private-stack,cells --leaf 1 --json --html page.html"
    );
    let report: Value = serde_json::from_str(&succeeds(folder, &measured)).unwrap();
    assert_eq!(report["skipped"], serde_json::json!([]));
    let runs = report["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 2 * 2);
    for run in runs {
        assert_eq!(run["wrong"], 0, "{run}");
        assert!(run["checked"].as_u64().unwrap() > 100, "{run}");
        for key in [
            "mrays_per_s",
            "nodes_per_ray",
            "lockstep_steps",
            "hit_share",
            "bytes",
            "operations",
        ] {
            assert!(run[key].as_f64().unwrap() > 0.0, "{key}: {run}");
        }
    }
    // The same fraction of rays hits something in every structure.
    assert_eq!(runs[0]["hit_share"], runs[2]["hit_share"]);
    assert!(runs[0]["hit_share"].as_f64().unwrap() > 0.1);
    let page = std::fs::read_to_string(folder.join("page.html")).unwrap();
    assert!(page.contains("shadow-hard-shuffled") && page.contains("<script>") && !page.contains("src="));

    let mut broken = std::fs::read(folder.join("rays/primary.rays")).unwrap();
    broken[100] ^= 1;
    std::fs::write(folder.join("broken.rays"), broken).unwrap();
    for (line, code, expected) in [
        (
            "scene.obj --rays broken.rays",
            1,
            "broken.rays: is damaged: the hash of its rays",
        ),
        ("scene.obj --rays scene.obj", 1, "scene.obj: is not a ray file"),
        ("scene.obj --rays none.rays", 1, "none.rays: "),
        ("scene.obj --sets sideways", 2, "no ray set \"sideways\""),
        (
            "scene.obj --walk cells --structure sah",
            2,
            "none of these traversals",
        ),
        ("scene.obj --walk ladder", 2, "expected one of private-stack"),
    ] {
        let output = lab(folder, line);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{line}: {stderr}");
        assert!(stderr.contains(expected), "{line}: {stderr}");
    }
}

/// A file with only a volume has primary rays, and rows for both orders.
#[test]
fn the_command_measures_a_file_with_only_a_volume() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mut file =
        b"NRRD0004\ntype: float\ndimension: 3\nsizes: 12 12 12\nspacings: 100 100 100\nencoding: raw\n\
        endian: little\n\n"
            .to_vec();
    file.extend((0..12 * 12 * 12).flat_map(|i| (1.0 + (i % 12) as f32 / 12.0).to_le_bytes()));
    std::fs::write(folder.join("smoke.nrrd"), file).unwrap();
    let line = "smoke.nrrd --size 24x18 --samples 2 --warm-up 0 -q --json --set volumes.density=20";
    let report: Value = serde_json::from_str(&succeeds(folder, line)).unwrap();
    let runs = report["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 2, "{report}");
    for (run, walk) in runs.iter().zip(["front to back", "back to front"]) {
        assert_eq!(run["walk"], walk);
        assert_eq!((&run["wrong"], &run["ray_count"]), (&0.into(), &432.into()));
        for key in ["mrays_per_s", "samples_per_ray", "bytes"] {
            assert!(run[key].as_f64().unwrap() > 0.0, "{key}: {run}");
        }
        assert!(run["gpu_ms"]["median"].as_f64().unwrap() > 0.0, "{run}");
    }
    let [front, back] = [0, 1].map(|row: usize| runs[row]["samples_per_ray"].as_f64().unwrap());
    assert!(front < back, "{front} {back}");
    std::fs::write(folder.join("empty.obj"), "v 0 0 0\n").unwrap();
    let output = lab(folder, "empty.obj");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("no triangles and no volumes"), "{stderr}");
}

/// The channel of a picture reports the same counts as the command with the same rays.
#[test]
fn the_channel_and_the_command_report_the_same_counts() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mut scene = String::from("v -2 0 -2\nv 2 0 -2\nv 2 0 2\nv -2 0 2\nf 4 3 2 1\n");
    for (i, triangle) in random_triangles(60, 3).iter().enumerate() {
        for corner in triangle {
            scene += &format!("v {} {} {}\n", corner.x, corner.y + 1.5, corner.z);
        }
        let first = 5 + 3 * i;
        scene += &format!("f {first} {} {}\n", first + 1, first + 2);
    }
    std::fs::write(folder.join("scene.obj"), scene).unwrap();
    let measured = succeeds(
        folder,
        "scene.obj -q --size 40x24 --samples 1 --warm-up 0 --check 0 --sets primary,shadow-hard \
         --structure grid --walk cells --order given --json",
    );
    let report: Value = serde_json::from_str(&measured).unwrap();
    let gpu = gpu();
    let way = "--set lab.structure=grid --set lab.walk=cells";
    // Shadow rays start at the hits of primary rays.
    let kinds = ["primary", "shadow"].into_iter().enumerate();
    for (run, rays) in kinds.skip(by_lane(1, 0)) {
        let line = format!(
            "render scene.obj -q -o a.png --size 40x24 {way} --set lab.rays={rays} \
             --set lab.show=difference --aov lab={rays}.exr --aov lab={rays}.png --stats s.json"
        );
        let output = canopy_in(folder, &line).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let stats = std::fs::read_to_string(folder.join("s.json")).unwrap();
        let stats: Value = serde_json::from_str(&stats).unwrap();
        let (found, run) = (&stats["lab"], &report["runs"][run]);
        assert!(found["wrong"].as_u64().unwrap() < 3, "{found}");
        assert_eq!(
            (&found["structure"], &found["set"]),
            (&"grid".into(), &rays.into())
        );
        // The frame rasterises the surfaces at which shadow rays start, while the command traces them.
        for (key, most) in [
            ("nodes_per_ray", 0.01),
            ("triangles_per_ray", 0.01),
            ("lockstep_steps", 0.02),
            ("bytes", 0.0),
        ] {
            let [found, measured] = [found, run].map(|of| of[key].as_f64().unwrap());
            let off = (found - measured).abs() / measured;
            let most = if rounds_corners_coarsely(&gpu) { 0.2 } else { most };
            assert!(off <= most, "{rays} {key}: {found} {measured}");
        }
        let off = found["rays"].as_f64().unwrap() - run["ray_count"].as_f64().unwrap();
        assert!(off.abs() <= 3.0, "{found} {run}");
    }
    let line = "render scene.obj -o a.png --aov lab=b.png --set lab.structure=grid";
    let output = canopy_in(folder, line).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    let why = "the traversal private-stack does not support the structure grid; use cells";
    assert!(stderr.contains(why), "{stderr}");
}
