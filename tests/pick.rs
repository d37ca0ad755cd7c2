//! Picking with a click: rays through the BVHs of deformed meshes against the G-buffer.

use crate::common;
use canopy::{
    config::{Config, ShadowMode},
    gpu::Gpu,
    reference::trace::intersect,
    render::{Element, Merged, PickQuery, Picked, View},
    scene::{self, AlphaMode, Pose, Progress, Projection, Scene},
};
use common::{
    Random, gpu, rounds_corners_coarsely,
    scenes::{Stage, add_cutout, look_at, matte, primitive, quad, scene},
};
use glam::{Mat4, Vec2, Vec3};

const SIZE: [u32; 2] = [160, 90];

/// Picks the surface at a point, and waits for the result.
fn pick(stage: &mut Stage<'_>, view: View, pixel: Vec2) -> Option<Picked> {
    let gpu = stage.gpu;
    let mut encoder = gpu.encoder("pick");
    let size = stage.size;
    let query = PickQuery { view, pixel, size };
    let asked = stage.renderer.pick(gpu, &mut encoder, &stage.uploaded, &query);
    let asked = asked.unwrap().unwrap();
    gpu.queue.submit([encoder.finish()]);
    for _ in 0..1000 {
        let mut answer = None;
        let collected = |number, hit| {
            assert_eq!(number, asked);
            answer = Some(hit);
        };
        stage.renderer.collect_picks(&stage.uploaded, collected);
        if let Some(hit) = answer {
            return hit;
        }
        gpu.wait().unwrap();
    }
    panic!("no answer came");
}

/// Merged index of a picked triangle.
fn merged_triangle(picked: &Picked, merged: &Merged) -> Option<u32> {
    match picked.element {
        Element::Triangle { number, .. } => Some(merged.meshes[picked.mesh].start + number),
        _ => None,
    }
}

/// True if the G-buffer may show another triangle than the first hit of the ray through the pixel's centre.
/// Either the rasteriser has moved corners by a part of a pixel, or both lie at the same depth.
fn is_tie(
    stage: &Stage<'_>,
    merged: &Merged,
    view: View,
    pixel: Vec2,
    shown: Option<u32>,
    picked: Option<u32>,
) -> bool {
    let depth = |triangle: u32, offset: Vec2| {
        let [origin, direction] = view.ray(pixel + offset, SIZE);
        let corners = merged.indices[triangle as usize].map(|i| merged.positions[i as usize]);
        intersect(origin, direction, &corners)
    };
    let moved = if rounds_corners_coarsely(stage.gpu) {
        1.0 / 8.0
    } else {
        1.0 / 64.0
    };
    let nearby = (0..8).map(|i| Vec2::from_angle(std::f32::consts::FRAC_PI_4 * i as f32) * moved);
    let offsets: Vec<_> = nearby.chain([Vec2::ZERO]).collect();
    let crosses = |triangle: u32| {
        let hits: Vec<_> = offsets.iter().map(|o| depth(triangle, *o).is_some()).collect();
        hits.contains(&true) && hits.contains(&false)
    };
    let is_at_edge = [shown, picked].into_iter().flatten().any(crosses);
    let depths = [shown, picked].map(|triangle| depth(triangle?, Vec2::ZERO));
    let is_as_far = matches!(depths, [Some(a), Some(b)] if (a - b).abs() <= 1e-5 * a.abs());
    is_at_edge || is_as_far
}

/// Numbers of picks that agree with the G-buffer and of ties, among `count` random pixels.
fn compare(stage: &mut Stage<'_>, pose: &Pose, view: View, count: u32, seed: u64) -> [u32; 2] {
    stage.draw(pose, view);
    let shown = stage.renderer.read_triangles(stage.gpu).unwrap();
    let merged = stage.merged();
    let mut random = Random(seed);
    let (mut same, mut ties) = (0, 0);
    for _ in 0..count {
        let [x, y] = SIZE.map(|side| random.bits() % side);
        let pixel = Vec2::new(x as f32, y as f32) + 0.5;
        // The built-in scene has no ground below it in this test.
        let shown = shown[(y * SIZE[0] + x) as usize];
        let picked = pick(stage, view, pixel);
        let triangle = picked.and_then(|picked| merged_triangle(&picked, &merged));
        if triangle == shown {
            same += 1;
        } else {
            assert!(
                is_tie(stage, &merged, view, pixel, shown, triangle),
                "at {pixel} the picture shows {shown:?} and {picked:?} is picked"
            );
            ties += 1;
        }
    }
    [same, ties]
}

fn orthographic(view: View, half_height: f32) -> View {
    View {
        projection: Projection::Orthographic { half_height },
        ..view
    }
}

/// The built-in scene with all transparent materials made opaque, because the G-buffer holds nothing else.
fn solid_builtin() -> Scene {
    let mut scene = scene::load(&[], &Config::default().load, &Progress::default()).unwrap();
    for material in scene.materials.iter_mut().filter(|m| m.is_blended()) {
        material.alpha_mode = AlphaMode::Opaque;
        material.layers = None;
    }
    scene
}

/// Skins, morph targets and instances at several times of the clip, seen from several places.
#[test]
fn a_pick_is_the_triangle_in_the_gbuffer() {
    let gpu = gpu();
    let scene = solid_builtin();
    let mut stage = Stage::new(&gpu, &scene, SIZE);
    stage.config.shadows.mode = ShadowMode::Off;
    let far = look_at(Vec3::new(9.0, 6.0, 12.0), Vec3::new(0.0, 2.0, 0.0), 60.0);
    let near = look_at(Vec3::new(2.5, 2.0, 4.0), Vec3::new(0.0, 1.0, 0.0), 60.0);
    let (mut same, mut ties) = (0, 0);
    let views = [
        (0.0, far),
        (0.7, near),
        (1.9, orthographic(far, 4.0)),
        (3.1, near),
    ];
    for (seed, (time, view)) in (1..).zip(views) {
        let pose = Pose::new(&scene, Some(0), time);
        let [agree, tie] = compare(&mut stage, &pose, view, 250, seed);
        (same, ties) = (same + agree, ties + tie);
    }
    println!("{same} picks are what the G-buffer shows, {ties} lie on edges");
    assert_eq!(same + ties, 1000);
    let most = if rounds_corners_coarsely(&gpu) { 50 } else { 5 };
    assert!(ties <= most, "{ties} of 1000 pixels lie on edges");
}

/// The comparison detects a mesh at another place than in the picture.
#[test]
fn the_comparison_detects_errors() {
    let gpu = gpu();
    let scene = solid_builtin();
    let mut stage = Stage::new(&gpu, &scene, SIZE);
    stage.config.shadows.mode = ShadowMode::Off;
    let view = look_at(Vec3::new(2.5, 2.0, 4.0), Vec3::new(0.0, 1.0, 0.0), 60.0);
    stage.draw(&Pose::new(&scene, Some(0), 1.0), view);
    let shown = stage.renderer.read_triangles(&gpu).unwrap();
    stage.draw(&Pose::new(&scene, Some(0), 1.6), view);
    let merged = stage.merged();
    let mut random = Random(7);
    let faults = (0..200).filter(|_| {
        let [x, y] = SIZE.map(|side| random.bits() % side);
        let pixel = Vec2::new(x as f32, y as f32) + 0.5;
        let picked = pick(&mut stage, view, pixel);
        let picked = picked.and_then(|picked| merged_triangle(&picked, &merged));
        let shown = shown[(y * SIZE[0] + x) as usize];
        picked != shown && !is_tie(&stage, &merged, view, pixel, shown, picked)
    });
    assert!(faults.count() > 0, "a moved mesh is not noticed");
}

/// A card with a hole, a single-sided wall seen from behind, a blended sheet, and an empty region.
fn cards() -> Scene {
    let wall = quad(Vec3::new(-2.0, -2.0, -1.0), Vec3::X * 4.0, Vec3::Y * 4.0, 0);
    let card = quad(Vec3::new(-1.0, -1.0, 0.0), Vec3::X * 2.0, Vec3::Y * 2.0, 1);
    let back = quad(Vec3::new(1.0, -1.0, 1.0), Vec3::X * -2.0, Vec3::Y * 2.0, 2);
    let materials = (0..3).map(|_| matte(Vec3::splat(0.5))).collect();
    let mut scene = scene([wall, card, back], materials);
    add_cutout(&mut scene);
    scene
}

fn front() -> View {
    look_at(Vec3::Z * 6.0, Vec3::ZERO, 20.0)
}

fn middle(gpu: &Gpu, scene: &Scene, pixel: Vec2) -> Option<Picked> {
    let mut stage = Stage::new(gpu, scene, SIZE);
    stage.draw(&Pose::new(scene, None, 0.0), front());
    pick(&mut stage, front(), pixel)
}

#[test]
fn picks_follow_visibility_in_the_picture() {
    let gpu = gpu();
    let (centre, beside) = (Vec2::new(80.5, 45.5), Vec2::new(95.5, 45.5));
    let mut scene = cards();
    let mesh = |scene: &Scene, at| middle(&gpu, scene, at).map(|picked| picked.mesh);
    assert_eq!(mesh(&scene, centre), Some(0), "through the hole, past a back");
    assert_eq!(mesh(&scene, beside), Some(1), "the card around it");
    assert_eq!(mesh(&scene, Vec2::new(1.5, 45.5)), None, "beside everything");
    scene.materials[2].double_sided = true;
    assert_eq!(mesh(&scene, centre), Some(2), "a back that shows");
    scene.materials[2].alpha_mode = AlphaMode::Blend;
    assert_eq!(mesh(&scene, centre), Some(2), "a blended sheet");
    scene.materials[2].base_color.w = 0.0;
    assert_eq!(mesh(&scene, centre), Some(0), "a clear one");
    let mut hidden = Pose::new(&scene, None, 0.0);
    hidden.visible[0] = false;
    let mut stage = Stage::new(&gpu, &scene, SIZE);
    stage.draw(&hidden, front());
    assert_eq!(pick(&mut stage, front(), centre), None, "a hidden mesh");
}

#[test]
fn picks_report_position_normal_and_uv() {
    let gpu = gpu();
    let mut scene = scene(
        [quad(Vec3::new(-2.0, -2.0, 0.0), Vec3::X * 4.0, Vec3::Y * 4.0, 0)],
        vec![matte(Vec3::ONE)],
    );
    // Far from the origin, so that the frame moves its own origin.
    let offset = Vec3::new(5000.0, -300.0, 70.0);
    scene.nodes[0].transform = scene::Transform::Matrix(Mat4::from_translation(offset).as_dmat4());
    let mut stage = Stage::new(&gpu, &scene, SIZE);
    let view = look_at(offset + Vec3::Z * 6.0, offset, 20.0);
    stage.draw(&Pose::new(&scene, None, 0.0), view);
    for view in [view, orthographic(view, 2.5)] {
        let hit = pick(&mut stage, view, Vec2::new(100.0, 30.0)).unwrap();
        let [origin, direction] = view.ray(Vec2::new(100.0, 30.0), SIZE);
        let expected = origin + direction * 6.0;
        assert!(hit.position.distance(expected) < 2e-3, "{hit:?} {expected}");
        let Element::Triangle {
            number,
            corners,
            normal,
            uv,
        } = hit.element
        else {
            panic!("{hit:?}");
        };
        assert!(normal.distance(Vec3::Z) < 1e-6 && number < 2);
        let from_corner = (expected - offset + Vec3::new(2.0, 2.0, 0.0)) / 4.0;
        assert!(uv.distance(from_corner.truncate()) < 1e-3, "{uv} {from_corner}");
        assert!(corners.contains(&(offset - Vec3::new(2.0, 2.0, 0.0))));
    }
}

/// Points and lines are in no tree, and are one pixel wide. A pick finds them within a few pixels.
#[test]
fn picks_find_points_and_lines_within_a_few_pixels() {
    let gpu = gpu();
    let mut lines = primitive(&[], 0);
    lines.positions = vec![Vec3::X * -1.0, Vec3::X, Vec3::Y, Vec3::Y * 2.0];
    lines.normals = vec![Vec3::Z; 4];
    lines.tangents = vec![Vec3::X.extend(1.0); 4];
    lines.lines = vec![[2, 3], [0, 1]];
    let mut scene = scene([lines], vec![matte(Vec3::ONE)]);
    let found = |scene: &Scene, y: f32| middle(&gpu, scene, Vec2::new(85.5, 45.0 + y));
    let hit = found(&scene, 3.0).unwrap();
    assert_eq!((hit.mesh, hit.element), (0, Element::Line(1)));
    assert!(hit.position.y.abs() < 1e-4, "{hit:?}");
    assert_eq!(found(&scene, 12.0), None);
    scene.meshes[0].primitives[0].lines.clear();
    scene.meshes[0].primitives[0].points = vec![0, 1];
    let at = |x| middle(&gpu, &scene, Vec2::new(x, 45.0)).map(|hit| hit.element);
    let x = 80.0 + 45.0 / (0.4_f32.tan() * 6.0);
    assert_eq!(at(x + 2.0), Some(Element::Point(1)));
    assert_eq!(at(80.0), None);
}

#[test]
fn empty_scenes_and_missing_frames_give_no_pick() {
    let gpu = gpu();
    let scene = Scene::default();
    let mut stage = Stage::new(&gpu, &scene, SIZE);
    let query = PickQuery {
        view: front(),
        pixel: Vec2::splat(40.0),
        size: SIZE,
    };
    let mut encoder = gpu.encoder("pick");
    let asked = stage.renderer.pick(&gpu, &mut encoder, &stage.uploaded, &query);
    assert_eq!(asked.unwrap(), None);
    stage.draw(&Pose::new(&scene, None, 0.0), front());
    assert_eq!(pick(&mut stage, front(), query.pixel), None);
}
