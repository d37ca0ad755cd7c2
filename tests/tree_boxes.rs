//! Boxes of the trees over the picture: which ones, against the twin's walk down the trees, and which pixels they
//! cover.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use canopy::{
    config::{BoxDepths, BoxTrees, TreeQuality},
    gpu::layout::{TreeBox, TreeBoxesParams},
    output::magma,
    reference::tree_boxes::tree_boxes,
    render::{TreeBoxCounts, View, tree_boxes::TREE_BOX_LIMIT},
    scene::{Pose, Scene},
};
use common::{
    gpu, random_triangles,
    scenes::{Stage, look_at, matte, primitive, scene, sphere},
    ways,
};
use glam::{Vec2, Vec3};

const SIZE: [u32; 2] = [48, 32];

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
        vec![matte(Vec3::splat(0.5))],
    )
}

/// The boxes that the GPU shows and those of the twin, in the same order, and what was counted.
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
    let mut boxes = [gpus, tree_boxes(&params, &data)];
    for boxes in &mut boxes {
        boxes.sort_by_key(|shown| {
            let bits = |corner: [f32; 3]| corner.map(f32::to_bits);
            (shown.depth, bits(shown.lower), bits(shown.upper))
        });
    }
    (boxes, stage.renderer.stats().tree_boxes)
}

#[test]
fn boxes_are_those_of_the_twin() {
    let scene = meshes();
    let pose = Pose::new(&scene, None, 0.0);
    for (kernels, gpu) in ways() {
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
                assert_eq!(
                    (counts.found, counts.drawn),
                    (twins.len() as u32, counts.found)
                );
                assert_eq!(counts.deepest, deepest);
                numbers.push(twins.len());
            }
        }
        // Three roots, some boxes, more boxes, …; leaves of one triangle are as many as triangles.
        assert_eq!([numbers[0], numbers[4], numbers[7]], [3, 528 + 1 + 333, 1]);
        assert_eq!(numbers[9], 3, "the leaves of the top tree are the meshes");
        assert!(numbers[1] > 30 && numbers[3] > numbers[1], "{numbers:?}");
    }
}

/// The comparison above tells a box that is missing, moved, or at another depth.
#[test]
fn other_boxes_are_told_apart() {
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
fn what_is_hidden_or_off_has_no_boxes() {
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
    // A mesh that is not there.
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

/// More boxes than there is room for are thinned evenly, and to the same ones in every frame.
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
    assert!(
        drawn <= TREE_BOX_LIMIT && drawn > TREE_BOX_LIMIT / 3,
        "{drawn}"
    );
    let is_among = |shown: &TreeBox| twins.contains(shown);
    assert!(gpus.iter().step_by(997).all(is_among));
    let ([again, _], _) = both(&mut stage, &pose);
    assert_eq!(gpus, again);
}

/// The pixel at which a point is seen.
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
fn pixels_of_one_box_lie_along_its_edges() {
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
    // The middle of the lines has the colour of the root.
    let root = canopy::output::picture::bytes(magma::color(0.3));
    let inked = pixels.iter().filter(|(_, distance)| *distance < 0.4);
    let inked: Vec<_> = inked.map(|(color, _)| *color).collect();
    let differs = |color: &[u8; 3]| color.iter().zip(root).any(|(a, b)| a.abs_diff(b) > 2);
    assert!(
        inked.len() > 40 && !inked.iter().any(differs),
        "{inked:?} {root:?}"
    );
    // Lines that the triangle hides are left out or dimmed.
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
    // The picture of several frames shows them once, and a larger picture than was traced too.
    let mean = stage.supersampled(&pose, view(), 3);
    assert!(changed(&plain, &mean, &boxes[0]).len() >= dimmed.len());
    stage.config.tree_boxes.show = BoxDepths::Off;
    let large = stage.stretched(&pose, view(), 1, [96, 64]);
    stage.config.tree_boxes.show = BoxDepths::Leaves;
    assert_ne!(stage.stretched(&pose, view(), 1, [96, 64]), large);
}

/// A shader's colours are those of the program.
#[test]
fn colours_of_shaders_are_those_of_the_program() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/common/magma.wgsl");
    let text = std::fs::read_to_string(path).unwrap();
    let rows = text.lines().filter_map(|line| {
        let row = line.trim().strip_prefix("vec3f(")?.strip_suffix("),")?;
        let numbers = row.split(", ").map(|n| n.parse::<f32>().unwrap() as u8);
        numbers.collect::<Vec<_>>().try_into().ok()
    });
    assert_eq!(rows.collect::<Vec<[u8; 3]>>(), magma::MAGMA);
}
