//! BVH visualisation. Boxes over the picture match the twin's descent of the trees and the covered pixels.
//! Statistics of trees match the twin's boxes and the triangles in f64.

use crate::common;
use canopy::{
    accel::{Lbvh, Ray, TreeStatistics, tree::TreeData},
    config::{BoxDepths, BoxTrees, CostCount, TreeQuality},
    gpu::{Arrays, Gpu, capabilities::has_room_for_textures},
    output::{magma, picture},
    reference::{
        ray_path::{Visit, visits},
        tree_boxes::{Trees, tree_boxes},
    },
    render::{
        Channel, PathStep, PickQuery, RayKind, RayPath, TreeBoxCounts, View,
        layout::{TREE_BOX_CURRENT, TREE_BOX_LINE, TreeBox, TreeBoxesParams},
        present::tree_boxes::TREE_BOX_LIMIT,
        queries::ray_path::RAY_PATH_STEPS,
    },
    scene::{Material, Pose, Scene},
};

use common::{
    Shared, Soup, by_lane, gpu, random_triangles, rounds_corners_coarsely,
    scenes::{Stage, look_at, matte, primitive, scene, sphere},
    ways,
};
use glam::{DVec3, Vec2, Vec3};

const SIZE: [u32; 2] = [48, 36];

/// The devices of [`ways`] that can draw frames.
fn ways_to_draw() -> impl Iterator<Item = (&'static str, Shared)> {
    let has_room =
        |gpu: &Gpu| gpu.capabilities.arrays == Arrays::Buffers || has_room_for_textures(&gpu.limits);
    let ways: Vec<_> = ways().into_iter().filter(|(_, gpu)| has_room(gpu)).collect();
    assert!(!ways.is_empty());
    ways.into_iter()
}

fn view() -> View {
    look_at(Vec3::new(0.0, 0.5, 6.0), Vec3::ZERO, 100.0)
}

/// Meshes of several sizes: a sphere, one triangle, a soup.
fn meshes() -> Scene {
    let one = [Vec3::ZERO, Vec3::X, Vec3::Y].map(|corner| corner + Vec3::new(-2.0, 0.0, 0.0));
    let moved = |triangle: [Vec3; 3]| triangle.map(|corner| corner + 2.0 * Vec3::X);
    let soup: Vec<_> = random_triangles(333, 5).into_iter().map(moved).collect();
    scene(
        [
            sphere(Vec3::ZERO, 1.0, 12, 0),
            primitive(&[one], 0),
            primitive(&soup, 0),
        ],
        vec![Material {
            double_sided: true,
            ..matte(Vec3::splat(0.5))
        }],
    )
}

/// Trees in the form that the twins read.
fn trees(data: &TreeData) -> Trees<'_> {
    Trees {
        tlas: &data.tlas,
        nodes: &data.nodes,
        triangles: &data.triangles,
        leaf_cutoff: data.leaf_cutoff,
    }
}

/// The boxes of the GPU and of the twin, in the same order, and the counts.
fn both(stage: &mut Stage<'_>, pose: &Pose) -> ([Vec<TreeBox>; 2], Option<TreeBoxCounts>) {
    let settings = stage.config.tree_boxes.clone();
    stage.draw(pose, view());
    stage.gpu.wait().unwrap();
    stage.renderer.collect(stage.gpu);
    let gpus = stage.renderer.read_tree_boxes(stage.gpu).unwrap();
    let tree = &stage.uploaded.state.tree;
    let data = tree.read(stage.gpu).unwrap();
    let triangles = tree.triangle_count();
    let leaves = match settings.of {
        BoxTrees::Meshes => 0..triangles,
        BoxTrees::Top => triangles..triangles + tree.mesh_count(),
        BoxTrees::Mesh(mesh) => {
            let mesh = data.tlas[mesh as usize];
            mesh.first_triangle..mesh.first_triangle + mesh.triangle_count
        }
    };
    let [first_depth, last_depth] = settings.show.range().unwrap_or([1, 0]);
    let params = TreeBoxesParams {
        first_leaf: leaves.start,
        leaf_count: leaves.len() as u32,
        over_meshes: u32::from(settings.of == BoxTrees::Top),
        leaf_cutoff: stage.config.tree.leaf_cutoff,
        first_depth,
        last_depth,
        leaves_alone: u32::from(settings.show == BoxDepths::Leaves),
        ..TreeBoxesParams::default()
    };
    let mut boxes = [gpus, tree_boxes(&params, trees(&data))];
    for boxes in &mut boxes {
        boxes.sort_by_key(|shown| {
            let bits = |corner: [f32; 3]| corner.map(f32::to_bits);
            (shown.depth, bits(shown.lower), bits(shown.upper))
        });
    }
    (boxes, stage.renderer.stats().tree_boxes)
}

#[test]
fn tree_boxes_match_the_cpu_reference() {
    let scene = meshes();
    let pose = Pose::new(&scene, None, 0.0);
    // Drawing on a second device compiles all kernels of a frame. Only the long lane does this.
    for (kernels, gpu) in ways_to_draw().take(by_lane(1, 2)) {
        let mut stage = Stage::new(&gpu, &scene, SIZE);
        let mut numbers = Vec::new();
        for quality in [TreeQuality::Fast, TreeQuality::High] {
            stage.config.tree.quality = quality;
            for (show, of, cutoff) in [
                (BoxDepths::Depths(0, 0), BoxTrees::Meshes, 2),
                (BoxDepths::Depths(3, 3), BoxTrees::Meshes, 2),
                (BoxDepths::Depths(1, 4), BoxTrees::Mesh(2), 1),
                (BoxDepths::Depths(0, 95), BoxTrees::Meshes, 4),
                (BoxDepths::Leaves, BoxTrees::Meshes, 1),
                (BoxDepths::Leaves, BoxTrees::Meshes, 32),
                (BoxDepths::Leaves, BoxTrees::Mesh(0), 8),
                (BoxDepths::Depths(0, 5), BoxTrees::Mesh(1), 8),
                (BoxDepths::Depths(0, 5), BoxTrees::Top, 8),
                (BoxDepths::Leaves, BoxTrees::Top, 8),
            ] {
                stage.config.tree_boxes.show = show;
                stage.config.tree_boxes.of = of;
                stage.config.tree.leaf_cutoff = cutoff;
                let ([gpus, twins], counts) = both(&mut stage, &pose);
                assert_eq!(gpus, twins, "{kernels}, {show} of {of}");
                let deepest = twins.iter().map(|shown| shown.depth).max().unwrap();
                let counts = counts.unwrap();
                assert_eq!((counts.found, counts.drawn), (twins.len() as u32, counts.found));
                assert_eq!(counts.deepest, deepest);
                numbers.push(twins.len());
            }
        }
        // Three roots, some boxes, more boxes, and so on. There are as many leaves of one triangle as
        // triangles.
        assert_eq!([numbers[0], numbers[4], numbers[7]], [3, 528 + 1 + 333, 1]);
        assert_eq!(numbers[9], 3, "the leaves of the top tree are the meshes");
        assert!(numbers[1] > 30 && numbers[3] > numbers[1], "{numbers:?}");
    }
}

/// The comparison above detects a box that is missing, moved, or at another depth.
#[test]
fn the_box_comparison_detects_differences() {
    let scene = meshes();
    let pose = Pose::new(&scene, None, 0.0);
    let gpu = gpu();
    let mut stage = Stage::new(&gpu, &scene, SIZE);
    stage.config.tree_boxes.show = BoxDepths::Depths(0, 2);
    let ([gpus, _], _) = both(&mut stage, &pose);
    stage.config.tree.leaf_cutoff = 32;
    let ([other, _], _) = both(&mut stage, &pose);
    assert_eq!(gpus, other, "so high up nothing is a leaf but a triangle");
    stage.config.tree_boxes.show = BoxDepths::Depths(0, 3);
    let ([other, _], _) = both(&mut stage, &pose);
    assert_ne!(gpus, other);
}

#[test]
fn hidden_meshes_and_disabled_boxes_draw_nothing() {
    let scene = meshes();
    let mut pose = Pose::new(&scene, None, 0.0);
    let gpu = gpu();
    let mut stage = Stage::new(&gpu, &scene, SIZE);
    let plain = stage.draw(&pose, view());
    assert_eq!(stage.renderer.stats().tree_boxes, None);
    assert_eq!(stage.renderer.read_tree_boxes(&gpu).unwrap(), []);
    stage.config.tree_boxes.show = BoxDepths::Depths(0, 0);
    assert_ne!(stage.draw(&pose, view()), plain);
    pose.visible[2] = false;
    let ([gpus, twins], counts) = both(&mut stage, &pose);
    assert_eq!((gpus.len(), counts.unwrap().found), (2, 2));
    assert_eq!(gpus, twins);
    stage.config.tree_boxes.of = BoxTrees::Top;
    stage.config.tree_boxes.show = BoxDepths::Leaves;
    let ([gpus, twins], _) = both(&mut stage, &pose);
    assert_eq!(gpus.len(), 2, "meshes that show");
    assert_eq!(gpus, twins);
    // A mesh that does not exist.
    stage.config.tree_boxes.of = BoxTrees::Mesh(17);
    stage.draw(&pose, view());
    assert_eq!(stage.renderer.read_tree_boxes(&gpu).unwrap(), []);
    stage.config.tree_boxes.show = BoxDepths::Off;
    pose.visible[2] = true;
    assert_eq!(stage.draw(&pose, view()), plain, "nothing is left of them");
    assert_eq!(stage.renderer.stats().tree_boxes, None);
}

#[test]
fn an_empty_scene_has_no_boxes() {
    let scene = Scene::default();
    let pose = Pose::new(&scene, None, 0.0);
    let gpu = gpu();
    let mut stage = Stage::new(&gpu, &scene, SIZE);
    let plain = stage.draw(&pose, view());
    for of in [BoxTrees::Meshes, BoxTrees::Top] {
        stage.config.tree_boxes.show = BoxDepths::Leaves;
        stage.config.tree_boxes.of = of;
        assert_eq!(stage.draw(&pose, view()), plain);
        assert_eq!(stage.renderer.read_tree_boxes(&gpu).unwrap(), []);
    }
}

/// More boxes than the limit are thinned evenly, to the same ones in every frame.
#[test]
fn too_many_boxes_are_thinned() {
    let soup = random_triangles(2 * TREE_BOX_LIMIT as usize + 1000, 3);
    let scene = scene([primitive(&soup, 0)], vec![matte(Vec3::splat(0.5))]);
    let pose = Pose::new(&scene, None, 0.0);
    let gpu = gpu();
    let mut stage = Stage::new(&gpu, &scene, SIZE);
    stage.config.tree_boxes.show = BoxDepths::Leaves;
    stage.config.tree.leaf_cutoff = 1;
    let ([gpus, twins], counts) = both(&mut stage, &pose);
    let counts = counts.unwrap();
    assert_eq!(counts.found as usize, soup.len());
    assert_eq!(counts.drawn as usize, gpus.len());
    let drawn = gpus.len() as u32;
    assert!(drawn <= TREE_BOX_LIMIT && drawn > TREE_BOX_LIMIT / 3, "{drawn}");
    let is_among = |shown: &TreeBox| twins.contains(shown);
    assert!(gpus.iter().step_by(997).all(is_among));
    let ([again, _], _) = both(&mut stage, &pose);
    assert_eq!(gpus, again);
}

/// Pixel at which a point is seen.
fn pixel_of(point: Vec3, view: View) -> Vec2 {
    let aspect = SIZE[0] as f32 / SIZE[1] as f32;
    let clip = view.clip_from_offset(aspect) * (point - view.eye()).extend(1.0);
    let ndc = Vec2::new(clip.x, -clip.y) / clip.w;
    (0.5 * ndc + 0.5) * Vec2::new(SIZE[0] as f32, SIZE[1] as f32)
}

/// Pixels whose colour boxes change, with their distance in pixels from the nearest edge of a box.
fn changed(plain: &[u8], drawn: &[u8], shown: &TreeBox) -> Vec<([u8; 3], f32)> {
    let corner = |bits: usize| {
        let side = |axis: usize| match bits >> axis & 1 {
            0 => shown.lower[axis],
            _ => shown.upper[axis],
        };
        Vec3::new(side(0), side(1), side(2))
    };
    let edges: Vec<[Vec2; 2]> = (0..8)
        .flat_map(|from| (0..3).map(move |axis| (from, from | 1 << axis)))
        .filter(|(from, to)| from != to)
        .map(|(from, to)| [from, to].map(|bits| pixel_of(corner(bits), view())))
        .collect();
    let from_edge = |at: Vec2, [a, b]: [Vec2; 2]| {
        let along = b - a;
        let share = ((at - a).dot(along) / along.length_squared().max(1e-12)).clamp(0.0, 1.0);
        at.distance(a + share * along)
    };
    let mut changed = Vec::new();
    for (pixel, (a, b)) in plain.chunks(4).zip(drawn.chunks(4)).enumerate() {
        if a != b {
            let pixel = pixel as u32;
            let at = Vec2::new((pixel % SIZE[0]) as f32, (pixel / SIZE[0]) as f32) + 0.5;
            let nearest = edges.iter().map(|edge| from_edge(at, *edge));
            changed.push(([b[0], b[1], b[2]], nearest.fold(f32::INFINITY, f32::min)));
        }
    }
    changed
}

/// One box covers its edges and nothing else, in the colour of its depth, and faintly behind surfaces.
#[test]
fn one_box_covers_only_its_edges() {
    let corners = [-Vec3::ONE, Vec3::ONE, Vec3::new(-1.0, 1.0, 0.0)];
    let scene = scene([primitive(&[corners], 0)], vec![matte(Vec3::splat(0.5))]);
    let pose = Pose::new(&scene, None, 0.0);
    let gpu = gpu();
    let mut stage = Stage::new(&gpu, &scene, SIZE);
    let plain = stage.draw(&pose, view());
    stage.config.tree_boxes.show = BoxDepths::Leaves;
    stage.config.tree_boxes.hidden = 1.0;
    stage.config.tree_boxes.width = 2.0;
    let drawn = stage.draw(&pose, view());
    let boxes = stage.renderer.read_tree_boxes(&gpu).unwrap();
    assert_eq!(
        (boxes.len(), boxes[0].lower, boxes[0].upper),
        (1, [-1.0; 3], [1.0; 3])
    );
    let pixels = changed(&plain, &drawn, &boxes[0]);
    assert!(pixels.len() > 150, "{}", pixels.len());
    let far = pixels.iter().map(|(_, distance)| *distance);
    assert!(far.clone().fold(0.0, f32::max) < 1.6, "{far:?}");
    // The centre of the lines has the colour of the root.
    let root = picture::bytes(magma::color(0.3));
    let inked = pixels.iter().filter(|(_, distance)| *distance < 0.4);
    let inked: Vec<_> = inked.map(|(color, _)| *color).collect();
    let differs = |color: &[u8; 3]| color.iter().zip(root).any(|(a, b)| a.abs_diff(b) > 2);
    assert!(
        inked.len() > 40 && !inked.iter().any(differs),
        "{inked:?} {root:?}"
    );
    // Lines behind the triangle are left out or dimmed.
    stage.config.tree_boxes.hidden = 0.0;
    let visible = changed(&plain, &stage.draw(&pose, view()), &boxes[0]);
    assert!(
        visible.len() < pixels.len() - 8,
        "{} {}",
        visible.len(),
        pixels.len()
    );
    stage.config.tree_boxes.hidden = 0.5;
    let dimmed = changed(&plain, &stage.draw(&pose, view()), &boxes[0]);
    assert_eq!(dimmed.len(), pixels.len());
    assert_ne!(dimmed, pixels);
    // The picture of several frames shows the lines once. A picture larger than the traced one shows them
    // too.
    let mean = stage.supersampled(&pose, view(), 3);
    assert!(changed(&plain, &mean, &boxes[0]).len() >= dimmed.len());
    stage.config.tree_boxes.show = BoxDepths::Off;
    let large = stage.stretched(&pose, view(), 1, [96, 64]);
    stage.config.tree_boxes.show = BoxDepths::Leaves;
    assert_ne!(stage.stretched(&pose, view(), 1, [96, 64]), large);
}

/// A shader's colours equal the colours on the CPU.
#[test]
fn shader_colours_equal_the_rust_constants() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/math/magma.wgsl");
    let text = std::fs::read_to_string(path).unwrap();
    let rows = text.lines().filter_map(|line| {
        let row = line.trim().strip_prefix("vec3f(")?.strip_suffix("),")?;
        let numbers = row.split(", ").map(|n| n.parse::<f32>().unwrap() as u8);
        numbers.collect::<Vec<_>>().try_into().ok()
    });
    assert_eq!(rows.collect::<Vec<[u8; 3]>>(), magma::MAGMA);
}

/// Number of leaves of all meshes at each depth, from the twin.
fn leaves_at_depth(data: &TreeData, cutoff: u32) -> Vec<u32> {
    let triangles = data.tlas.iter().map(|mesh| mesh.triangle_count).sum();
    let params = TreeBoxesParams {
        leaf_count: triangles,
        leaf_cutoff: cutoff,
        last_depth: 95,
        leaves_alone: 1,
        ..TreeBoxesParams::default()
    };
    let mut counts = Vec::new();
    for shown in tree_boxes(&params, trees(data)) {
        let depth = shown.depth as usize;
        counts.resize(counts.len().max(depth + 1), 0);
        counts[depth] += 1;
    }
    counts
}

/// Area of the box around leaves, from their triangles.
fn exact_area(data: &TreeData, leaves: std::ops::Range<u32>) -> f64 {
    let triangles = &data.triangles[leaves.start as usize..leaves.end as usize];
    let corners = triangles.iter().flat_map(|t| [t.v0, t.v1, t.v2]);
    let corners: Vec<DVec3> = corners.map(|v| DVec3::from(v.map(f64::from))).collect();
    let lower = corners.iter().copied().reduce(DVec3::min).unwrap();
    let extent = corners.into_iter().reduce(DVec3::max).unwrap() - lower;
    2.0 * extent.dot(DVec3::new(extent.y, extent.z, extent.x))
}

/// Areas of all nodes, and of leaves times their triangles, below the node over these leaves.
fn area_sum(data: &TreeData, cutoff: u32, number: u32, leaves: std::ops::Range<u32>) -> f64 {
    let own = exact_area(data, leaves.clone());
    if leaves.len() as u32 <= cutoff {
        return own * leaves.len() as f64;
    }
    let node = &data.nodes[number as usize];
    let parts = (0..4).filter(|child| !node.leaves(*child).is_empty());
    let below = parts.map(|child| area_sum(data, cutoff, node.child(child), node.leaves(child)));
    own + below.sum::<f64>()
}

/// Fault of the statistics of trees over one mesh or more, if any. `tolerance` is for the cost, whose boxes
/// lie on grids.
fn figures_fault(found: &TreeStatistics, data: &TreeData, cutoff: u32, tolerance: f64) -> Option<String> {
    let twin = leaves_at_depth(data, cutoff);
    if found.leaves_at_depth != twin {
        return Some(format!("leaves {:?}, not {twin:?}", found.leaves_at_depth));
    }
    let triangles: u32 = data.tlas.iter().map(|mesh| mesh.triangle_count).sum();
    let sizes = (0..).zip(&found.leaves_of_size);
    let of_sizes: u32 = sizes.map(|(size, leaves): (u32, _)| size * leaves).sum();
    let leaves: u32 = found.leaves_of_size.iter().sum();
    if (of_sizes, leaves) != (triangles, found.leaves()) {
        return Some(format!("{of_sizes} triangles in {leaves} leaves"));
    }
    for (mesh, entry) in found.meshes.iter().zip(&data.tlas) {
        let first = entry.first_triangle;
        if entry.triangle_count == 0 {
            continue;
        }
        let own = first..first + entry.triangle_count;
        let cost = area_sum(data, cutoff, first, own.clone()) / exact_area(data, own);
        if (mesh.sah_cost / cost - 1.0).abs() > tolerance {
            return Some(format!("cost {}, not {cost}", mesh.sah_cost));
        }
    }
    let sum =
        |count: fn(&canopy::accel::MeshStatistics) -> u32| -> u32 { found.meshes.iter().map(count).sum() };
    let sums = [
        sum(|mesh| mesh.triangles),
        sum(|mesh| mesh.nodes),
        sum(|mesh| mesh.leaves),
    ];
    (sums != [triangles, found.nodes, found.leaves()]).then(|| format!("meshes have {sums:?}"))
}

#[test]
fn tree_statistics_match_the_boxes() {
    let gpu = gpu();
    let lbvh = Lbvh::new(&gpu);
    let soup = Soup::random(700, 3)
        .mesh([])
        .mesh(random_triangles(1, 9))
        .mesh(random_triangles(90, 4));
    let data = soup.tree(&gpu, &lbvh);
    for cutoff in [1, 2, 7, 32] {
        let found = data.statistics(cutoff);
        assert_eq!(figures_fault(&found, &data, cutoff, 0.05), None, "{cutoff}");
        assert!(found.leaves_of_size.len() as u32 <= cutoff + 1);
        assert!(found.tlas_nodes >= 1 && found.sah_cost > 1.0);
    }
    // The validator reports the same.
    let report = data.validate(&soup.meshes).unwrap();
    let found = data.statistics(1);
    assert_eq!((report.nodes, report.depth), (found.nodes as usize, found.depth));
    assert_eq!(report.sah_cost, found.sah_cost);
    let shares: f64 = found.meshes.iter().map(|mesh| mesh.sah_share).sum();
    assert!(
        shares < found.sah_cost && shares > 0.9 * found.sah_cost,
        "the rest is the TLAS"
    );
    // One triangle is tested once. An empty tree costs nothing.
    let one = Soup::random(1, 5).tree(&gpu, &lbvh).statistics(1);
    assert_eq!(
        (one.sah_cost, one.nodes, &one.leaves_at_depth[..]),
        (1.0, 0, &[1][..])
    );
    let none = Soup::default().tree(&gpu, &lbvh).statistics(1);
    assert_eq!(none, TreeStatistics::default());
}

#[test]
fn the_comparison_of_statistics_detects_errors() {
    let gpu = gpu();
    let data = Soup::random(200, 3).tree(&gpu, &Lbvh::new(&gpu));
    let found = data.statistics(4);
    assert_eq!(figures_fault(&found, &data, 4, 0.05), None);
    let refused = |spoil: &dyn Fn(&mut TreeStatistics)| {
        let mut found = found.clone();
        spoil(&mut found);
        assert!(figures_fault(&found, &data, 4, 0.05).is_some());
    };
    refused(&|found| found.leaves_at_depth[3] += 1);
    refused(&|found| found.leaves_of_size[2] += 1);
    refused(&|found| found.meshes[0].sah_cost *= 1.1);
    refused(&|found| found.meshes[0].nodes += 1);
    refused(&|found| found.nodes += 1);
    assert!(
        figures_fault(&found, &data, 5, 0.05).is_some(),
        "of another cutoff"
    );
}

/// The asynchronous copy equals the synchronous read.
#[test]
fn an_asynchronous_tree_copy_equals_the_synchronous_read() {
    let gpu = gpu();
    for scene in [meshes(), Scene::default()] {
        let pose = Pose::new(&scene, None, 0.0);
        let mut stage = Stage::new(&gpu, &scene, SIZE);
        let copy = |stage: &Stage<'_>| {
            let mut encoder = gpu.encoder("test");
            let copied = stage.renderer.copy_trees(&gpu, &mut encoder, &stage.uploaded);
            gpu.queue.submit([encoder.finish()]);
            copied.unwrap()
        };
        assert!(copy(&stage).is_none(), "there is no frame yet");
        stage.draw(&pose, view());
        let copied = copy(&stage).unwrap();
        assert!(copied.statistics(3).is_err(), "nobody has asked for it");
        copied.map();
        gpu.wait().unwrap();
        assert!(copied.is_done());
        let data = stage.uploaded.state.tree.read(&gpu).unwrap();
        assert_eq!(copied.statistics(3).unwrap(), data.statistics(3));
        assert_eq!(data.statistics(3).meshes.len(), scene.meshes.len());
    }
}

/// Path of the ray for the surface at a point of the picture.
fn path(stage: &mut Stage<'_>, pixel: Vec2, of: RayKind) -> RayPath {
    let gpu = stage.gpu;
    let query = PickQuery {
        view: view(),
        pixel,
        size: SIZE,
    };
    let mut encoder = gpu.encoder("test");
    let traced = stage
        .renderer
        .trace_path(gpu, &mut encoder, &stage.uploaded, (&query, of));
    let traced = traced.unwrap().unwrap();
    gpu.queue.submit([encoder.finish()]);
    traced.map();
    gpu.wait().unwrap();
    traced.read().unwrap()
}

/// Centres of pixels all over the picture.
fn pixels() -> impl Iterator<Item = Vec2> {
    let rows = (1..SIZE[1]).step_by(5);
    rows.flat_map(|y| {
        (y % 3..SIZE[0])
            .step_by(5)
            .map(move |x| Vec2::new(x as f32, y as f32) + 0.5)
    })
}

/// Fault of the order of a path's steps, if any.
fn order_fault(path: &RayPath, twin: &[Visit]) -> Option<String> {
    let steps = path.steps.iter().filter_map(|step| match step {
        PathStep::Node { number, .. } => Some((Some(*number), None)),
        PathStep::Triangle { t, .. } => Some((None, Some(t.is_some()))),
        _ => None,
    });
    let twins = twin.iter().map(|visit| match visit {
        Visit::Node(number) => (Some(*number), None),
        Visit::Triangle(_, is_hit) => (None, Some(*is_hit)),
    });
    let (steps, twins): (Vec<_>, Vec<_>) = (steps.collect(), twins.collect());
    let nodes = twins.iter().filter(|(node, _)| node.is_some()).count();
    if (path.nodes as usize, path.triangles as usize) != (nodes, twins.len() - nodes) {
        return Some(format!(
            "{} nodes and {} triangles, not {nodes}",
            path.nodes, path.triangles
        ));
    }
    (steps != twins).then(|| format!("{steps:?}, not {twins:?}"))
}

#[test]
fn traversal_paths_of_camera_rays_match_the_cpu_reference() {
    let scene = meshes();
    let pose = Pose::new(&scene, None, 0.0);
    for (kernels, gpu) in ways_to_draw().take(by_lane(1, 2)) {
        let mut stage = Stage::new(&gpu, &scene, SIZE);
        for cutoff in [1, 4] {
            stage.config.tree.leaf_cutoff = cutoff;
            stage.draw(&pose, view());
            let data = stage.uploaded.state.tree.read(&gpu).unwrap();
            let seen = stage.channel(Channel::Position);
            let (mut hits, mut others) = (0, Vec::new());
            for pixel in pixels() {
                let path = path(&mut stage, pixel, RayKind::Camera);
                let ray = camera_ray(&stage, &path);
                let twin = visits(trees(&data), &ray, cutoff, false);
                others.extend(order_fault(&path, &twin));
                assert_eq!(path.step_count as usize, path.steps.len());
                // The last hit is the displayed surface.
                let hit = path.steps.iter().rev().find_map(|step| match step {
                    PathStep::Triangle { t: Some(t), .. } => Some(
                        Vec3::from(ray.origin)
                            + *t * Vec3::from(ray.direction)
                            + stage.uploaded.buffers.origin,
                    ),
                    _ => None,
                });
                let texel = pixel.as_uvec2().y * SIZE[0] + pixel.as_uvec2().x;
                let texel = seen.texels[texel as usize];
                if let Some(hit) = hit.filter(|_| texel[3] > 0.0) {
                    let distance = hit.distance(Vec3::from_slice(&texel));
                    let most = if rounds_corners_coarsely(&gpu) { 0.02 } else { 1e-3 };
                    assert!(distance < most, "{kernels}, {pixel}: {hit} {texel:?}");
                    hits += 1;
                }
            }
            assert!(hits > 5, "{hits}");
            assert!(others.is_empty(), "{kernels}: {}", others.join("\n"));
        }
    }
}

/// The first ray of a camera path, as traced through the trees.
fn camera_ray(stage: &Stage<'_>, path: &RayPath) -> Ray {
    let Some(PathStep::Ray {
        origin,
        direction,
        t_max,
    }) = path.steps.first()
    else {
        panic!("{path:?}");
    };
    Ray {
        origin: (*origin - stage.uploaded.buffers.origin).to_array(),
        t_min: view().near,
        direction: direction.to_array(),
        t_max: *t_max,
    }
}

/// The comparison above detects another order, a missing visit, and a false hit.
#[test]
fn the_comparison_of_traversal_paths_detects_errors() {
    let scene = meshes();
    let gpu = gpu();
    let mut stage = Stage::new(&gpu, &scene, SIZE);
    stage.draw(&Pose::new(&scene, None, 0.0), view());
    let data = stage.uploaded.state.tree.read(&gpu).unwrap();
    let path = path(&mut stage, Vec2::new(24.5, 18.5), RayKind::Camera);
    let ray = camera_ray(&stage, &path);
    let good = visits(trees(&data), &ray, stage.config.tree.leaf_cutoff, false);
    assert_eq!(order_fault(&path, &good), None);
    assert!(good.len() > 6, "{good:?}");
    let refused = |spoil: &dyn Fn(&mut Vec<Visit>)| {
        let mut twin = good.clone();
        spoil(&mut twin);
        assert!(order_fault(&path, &twin).is_some(), "{twin:?}");
    };
    refused(&|twin| _ = twin.pop());
    refused(&|twin| twin.swap(1, 2));
    refused(&|twin| twin[0] = Visit::Node(0));
    let hit = good
        .iter()
        .position(|visit| matches!(visit, Visit::Triangle(_, true)))
        .unwrap();
    refused(&|twin| twin[hit] = Visit::Triangle(0, false));
    assert!(
        order_fault(&path, &visits(trees(&data), &ray, 32, false)).is_some(),
        "another cutoff"
    );
}

/// The shadow rays of a pixel make the visits that the channel `cost` counts, for point lights and for lights
/// with a size.
#[test]
fn traversal_paths_of_shadow_rays_match_the_cost_channel() {
    let scene = meshes();
    let pose = Pose::new(&scene, None, 0.0);
    let gpu = gpu();
    if gpu.capabilities.has_ray_nodes() {
        // Frames trace rays by bvh/bvh_rays.wgsl, paths by bvh/bvh.wgsl.
        return;
    }
    let mut stage = Stage::new(&gpu, &scene, SIZE);
    for angle in [0.0, 5.0] {
        stage.config.sun.angle = angle;
        stage.draw(&pose, view());
        let cost = stage.channel(Channel::Cost);
        let mut visited = 0;
        for pixel in pixels() {
            let path = path(&mut stage, pixel, RayKind::Shadow);
            let texel = pixel.as_uvec2().y * SIZE[0] + pixel.as_uvec2().x;
            let [nodes, triangles, ..] = cost.texels[texel as usize];
            assert_eq!(
                [path.nodes as f32, path.triangles as f32],
                [nodes, triangles],
                "{pixel}"
            );
            visited += path.nodes;
            let of = |wanted: fn(&PathStep) -> bool| path.steps.iter().filter(|step| wanted(step)).count();
            assert_eq!(
                of(|step| matches!(step, PathStep::Node { .. })),
                path.nodes as usize
            );
            assert_eq!(
                of(|step| matches!(step, PathStep::Triangle { .. })),
                path.triangles as usize
            );
        }
        assert!(visited > 40, "{visited}");
    }
}

/// Depths rise by one from a node to its children, and boxes of children lie within those of parents. The
/// drawing grows step by step.
#[test]
fn traversal_paths_hold_node_depths_and_boxes() {
    let scene = meshes();
    let gpu = gpu();
    let mut stage = Stage::new(&gpu, &scene, SIZE);
    stage.draw(&Pose::new(&scene, None, 0.0), view());
    let data = stage.uploaded.state.tree.read(&gpu).unwrap();
    let path = path(&mut stage, Vec2::new(24.5, 18.5), RayKind::Camera);
    let mut deepest = 0;
    for step in &path.steps {
        let PathStep::Node {
            number,
            mesh,
            depth,
            corners,
            ..
        } = step
        else {
            continue;
        };
        deepest = deepest.max(*depth);
        let params = TreeBoxesParams {
            first_leaf: mesh.map_or(data.tlas.iter().map(|m| m.triangle_count).sum(), |_| 0),
            leaf_count: if mesh.is_some() {
                1 << 20
            } else {
                data.tlas.len() as u32
            },
            over_meshes: u32::from(mesh.is_none()),
            leaf_cutoff: 1,
            first_depth: *depth,
            last_depth: *depth,
            ..TreeBoxesParams::default()
        };
        // A box bounds the node's children, and lies within the quantised box in its parent.
        let holds = |shown: &TreeBox| {
            let lower = corners[0] - stage.uploaded.buffers.origin;
            let upper = corners[1] - stage.uploaded.buffers.origin;
            let margin = 0.01 * (upper - lower).max_element();
            (Vec3::from(shown.lower) - margin).cmple(lower).all()
                && (Vec3::from(shown.upper) + margin).cmpge(upper).all()
        };
        assert!(
            tree_boxes(&params, trees(&data)).iter().any(holds),
            "node {number} at depth {depth}"
        );
    }
    assert!(deepest >= 3, "{deepest}");
    let drawn = |last| path.drawn(last, 10.0);
    let is_line = |shown: &&TreeBox| shown.kind == TREE_BOX_LINE;
    assert_eq!(drawn(0).len(), 1, "the ray alone");
    let nodes = |last| {
        let all = drawn(last);
        all.iter().filter(|shown| !is_line(shown)).count()
    };
    let last = path.steps.len() - 1;
    assert_eq!(nodes(last), path.nodes as usize);
    assert!((1..=last).all(|step| nodes(step) >= nodes(step - 1)));
    let first = path
        .steps
        .iter()
        .position(|step| matches!(step, PathStep::Node { .. }))
        .unwrap();
    let kinds = drawn(first)
        .iter()
        .filter(|shown| shown.kind == TREE_BOX_CURRENT)
        .count();
    assert_eq!(kinds, 1);
    assert!(
        nodes(usize::MAX) == path.nodes as usize,
        "past the end is the end"
    );
}

/// A path longer than its limit reports its length, and an empty scene has none.
#[test]
fn long_traversal_paths_are_truncated_and_empty_scenes_have_none() {
    let gpu = gpu();
    // All boxes overlap, because thin triangles cross each other.
    let mut triangles = random_triangles(4 * RAY_PATH_STEPS as usize, 7);
    for triangle in &mut triangles {
        triangle[1] = triangle[0] + Vec3::new(3.0, 3.0, 0.001);
    }
    let scene = scene([primitive(&triangles, 0)], vec![matte(Vec3::splat(0.5))]);
    let mut stage = Stage::new(&gpu, &scene, SIZE);
    stage.draw(&Pose::new(&scene, None, 0.0), view());
    let longest = pixels()
        .map(|pixel| path(&mut stage, pixel, RayKind::Camera))
        .max_by_key(|path| path.step_count)
        .unwrap();
    println!("{} steps", longest.step_count);
    assert!(longest.steps.len() as u32 == longest.step_count.min(RAY_PATH_STEPS));
    let empty = Scene::default();
    let mut stage = Stage::new(&gpu, &empty, SIZE);
    stage.draw(&Pose::new(&empty, None, 0.0), view());
    for of in [RayKind::Camera, RayKind::Shadow] {
        let path = path(&mut stage, Vec2::new(24.5, 16.5), of);
        assert_eq!((path.nodes, path.triangles), (0, 0));
        assert!(path.drawn(0, 1.0).len() <= 1);
    }
}

/// The channel `cost` has the colours of magma, in the window and in files, with the range of the settings or
/// its own.
#[test]
fn costs_have_the_same_colours_in_the_window_and_in_files() {
    let scene = meshes();
    let pose = Pose::new(&scene, None, 0.0);
    let gpu = gpu();
    let mut stage = Stage::new(&gpu, &scene, SIZE);
    stage.shown = Channel::Cost;
    let mut ranges = Vec::new();
    for (count, range) in [
        (CostCount::Both, 40.0),
        (CostCount::Nodes, 9.0),
        (CostCount::Triangles, 0.0),
        (CostCount::Nodes, 0.0),
        (CostCount::Both, 0.0),
    ] {
        stage.config.cost.count = count;
        stage.config.cost.range = range;
        let picture = stage.draw(&pose, view());
        let image = stage.channel(Channel::Cost);
        let (pixels, expected) = picture::cost(&image, count.weights(), range);
        stage.renderer.collect(&gpu);
        let found = stage.renderer.stats().cost_range.unwrap();
        assert_eq!(found.range, expected, "{count:?}");
        let most = image
            .texels
            .iter()
            .map(|t| t[0] * count.weights()[0] + t[1] * count.weights()[1]);
        let most = most.fold(0.0, f32::max);
        assert!(found.most.is_none_or(|found| found == most), "{found:?} {most}");
        assert_eq!(found.most.is_some(), range == 0.0);
        let mut seen = 0;
        for (shown, written) in picture.chunks(4).zip(pixels.chunks(4)) {
            if written[3] > 0 {
                let near = shown[..3].iter().zip(written).all(|(a, b)| a.abs_diff(*b) <= 1);
                assert!(near, "{shown:?} {written:?}");
                seen += 1;
            }
        }
        assert!(seen > 200, "{seen}");
        ranges.push(expected);
    }
    assert!(ranges[3] > 1.0 && ranges[4] > ranges[3], "{ranges:?}");
    // Another channel has no range.
    stage.shown = Channel::Normal;
    stage.draw(&pose, view());
    assert_eq!(stage.renderer.stats().cost_range, None);
}
