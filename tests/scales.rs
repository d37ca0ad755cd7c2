//! A scene from a millimetre to 100 km, at the origin and 10 km away. The pictures are the same in every
//! shadow mode, from near and from far.

use crate::common;
use canopy::{
    config::{Antialias, ShadowMode, Switch},
    gpu::Gpu,
    render::{Channel, View},
    scene::{
        LightKind, Pose, Projection, Scene, Transform,
        bounds::{Aabb, Bounds},
        framing::Viewpoint,
    },
};
use common::{
    by_lane, gpu,
    scenes::{Stage, add_light, matte, primitive, quad, scene, sphere},
};
use glam::{Mat4, Vec3};

const SIZE: [u32; 2] = [160, 120];
const LENS: Projection = Projection::Perspective { fov_y: 0.8 };
const ASPECT: f32 = SIZE[0] as f32 / SIZE[1] as f32;

/// 10 km, not along an axis.
const FAR_OFF: Vec3 = Vec3::new(6_000.0, 2_000.0, -7_700.0);

/// A box that stands on y = 0.
fn cuboid(center: Vec3, half: Vec3) -> canopy::scene::Primitive {
    let corner = |i: usize| {
        let sign = |bit: usize| if i & bit == 0 { -1.0 } else { 1.0 };
        center + half * Vec3::new(sign(1), sign(2), sign(4))
    };
    let faces = [
        [0, 4, 6, 2],
        [1, 3, 7, 5],
        [0, 1, 5, 4],
        [2, 6, 7, 3],
        [0, 2, 3, 1],
        [4, 5, 7, 6],
    ];
    let triangles: Vec<_> = faces
        .iter()
        .flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]])
        .map(|triangle| triangle.map(corner))
        .collect();
    primitive(&triangles, 0)
}

/// A ground of one unit with a box, a ball and a thin pole on it, lit by the sun and by a point light.
/// `scale` is in metres per unit.
fn unit_scene(scale: f32, offset: Vec3) -> Scene {
    let mut scene = scene(
        [
            quad(Vec3::new(-0.5, 0.0, 0.5), Vec3::X, Vec3::NEG_Z, 0),
            cuboid(Vec3::new(-0.15, 0.1, 0.0), Vec3::splat(0.1)),
            sphere(Vec3::new(0.2, 0.12, 0.1), 0.12, 24, 0),
            cuboid(Vec3::new(0.05, 0.2, -0.25), Vec3::new(0.006, 0.2, 0.006)),
        ],
        vec![matte(Vec3::splat(0.4))],
    );
    let at = Vec3::new(0.3, 0.5, 0.35);
    add_light(&mut scene, LightKind::Point, 0.4 * scale * scale, at, Vec3::ZERO);
    scene.lights[0].range = Some(2.0 * scale);
    let world_from_unit = Mat4::from_translation(offset) * Mat4::from_scale(Vec3::splat(scale));
    for node in &mut scene.nodes {
        let Transform::Matrix(unit_from_node) = node.transform else {
            unreachable!("the scenes of these tests have matrices")
        };
        node.transform = Transform::Matrix(world_from_unit.as_dmat4() * unit_from_node);
    }
    scene
}

/// Viewpoints that frame the whole scene, that are near and grazing, and that are far away.
fn viewpoints(scene: &Scene, scale: f32, offset: Vec3) -> [Viewpoint; 3] {
    let pose = Pose::new(scene, None, 0.0);
    let positions = canopy::reference::deform::deform(scene, &pose).positions;
    let from = |eye: Vec3, target: Vec3| {
        let (eye, target) = (offset + scale * eye, offset + scale * target);
        Viewpoint::look_to(eye, target - eye, Vec3::Y, LENS)
    };
    [
        Viewpoint::framing(&positions, LENS, ASPECT),
        from(Vec3::new(0.1, 0.03, 0.3), Vec3::new(-0.1, 0.05, -0.2)),
        from(Vec3::new(6.0, 5.0, 9.0), Vec3::ZERO),
    ]
}

/// A view with the clip planes that the viewer and `canopy render` choose.
fn view(scene: &Scene, viewpoint: &Viewpoint) -> View {
    let pose = Pose::new(scene, None, 0.0);
    let bounds = Bounds::new(scene).scene(scene, &pose);
    View::new(viewpoint, bounds, f32::INFINITY, None)
}

/// Shadow modes, each with true if lights have a size: the sun 12°, the lamp a fiftieth of a unit.
const MODES: [(ShadowMode, bool); 5] = [
    (ShadowMode::Rays, false),
    (ShadowMode::Map, false),
    (ShadowMode::Off, false),
    (ShadowMode::Rays, true),
    (ShadowMode::Map, true),
];

/// Pictures of every view in every shadow mode.
fn pictures(gpu: &Gpu, scale: f32, offset: Vec3) -> Vec<Vec<u8>> {
    pictures_of(gpu, &unit_scene(scale, offset), scale, offset)
}

fn pictures_of(gpu: &Gpu, scene: &Scene, scale: f32, offset: Vec3) -> Vec<Vec<u8>> {
    let mut stage = Stage::new(gpu, scene, SIZE);
    stage.config.sun.enabled = Switch::On;
    stage.config.image.antialias = Antialias::Off;
    let mut pictures = Vec::new();
    for (mode, is_soft) in MODES {
        stage.config.shadows.mode = mode;
        stage.config.sun.angle = if is_soft { 12.0 } else { 0.0 };
        stage.config.lights.radius = if is_soft { 0.02 * scale } else { 0.0 };
        for viewpoint in viewpoints(scene, scale, offset) {
            let view = view(scene, &viewpoint);
            pictures.push(stage.draw(&Pose::new(scene, None, 0.0), view));
            let depth = stage.channel(Channel::Depth);
            let depths = depth.texels.iter().filter(|texel| texel[3] == 1.0);
            assert!(depths.clone().all(|d| (view.near..view.far).contains(&d[0])));
            gpu.check().unwrap();
        }
    }
    pictures
}

/// Number of pixels that differ by more than a shade, and of all pixels.
fn differing(a: &[u8], b: &[u8]) -> (usize, usize) {
    let pixels = a.chunks(4).zip(b.chunks(4));
    let differs = |(a, b): &(&[u8], &[u8])| a.iter().zip(*b).any(|(a, b)| a.abs_diff(*b) > 8);
    (pixels.filter(differs).count(), a.len() / 4)
}

fn compare(expected: &[Vec<u8>], found: &[Vec<u8>], one_in: usize, what: &str) {
    for (number, (expected, found)) in expected.iter().zip(found).enumerate() {
        let (mode, view) = (MODES[number / 3], number % 3);
        let (differing, all) = differing(expected, found);
        assert!(
            differing * one_in <= all,
            "{what}, {mode:?}, view {view}: {differing} of {all} pixels differ"
        );
    }
}

#[test]
fn pictures_are_the_same_at_every_scale() {
    let gpu = gpu();
    let expected = pictures(&gpu, 1.0, Vec3::ZERO);
    // Differences that the tolerance must detect.
    for view in 0..2 {
        let [rays, map, off, soft_rays, soft_map] = std::array::from_fn(|mode| &expected[3 * mode + view]);
        let (shadowed, all) = differing(rays, off);
        assert!(shadowed * 100 > all, "no shadows in view {view}: {shadowed}");
        let (disagreeing, _) = differing(rays, map);
        assert!(disagreeing * 4 < shadowed, "{disagreeing} of {shadowed}");
        for (hard, soft) in [(rays, soft_rays), (map, soft_map)] {
            let (softened, _) = differing(hard, soft);
            assert!(softened * 400 > all, "no penumbras in view {view}: {softened}");
        }
    }
    for scale in [1e-3, 1e5, 0.03, 70.0].into_iter().take(by_lane(2, 4)) {
        let found = pictures(&gpu, scale, Vec3::ZERO);
        compare(&expected, &found, 500, &format!("{scale} m"));
    }
}

#[test]
fn pictures_are_the_same_ten_kilometres_from_the_origin() {
    let gpu = gpu();
    let expected = pictures(&gpu, 1.0, Vec3::ZERO);
    // At that distance the eye moves in steps of half a millimetre, which is 1 in 2,000 of the pixels across
    // a metre.
    let scales = [(1.0, 100), (30.0, 400), (1e3, 500), (1e5, 500)];
    for (scale, one_in) in scales.into_iter().take(by_lane(1, 4)) {
        let found = pictures(&gpu, scale, FAR_OFF);
        compare(&expected, &found, one_in, &format!("{scale} m, 10 km off"));
    }
}

#[test]
fn the_position_channel_is_in_world_coordinates() {
    let gpu = gpu();
    let scene = unit_scene(1.0, FAR_OFF);
    let pose = Pose::new(&scene, None, 0.0);
    let twin = canopy::reference::deform::deform(&scene, &pose).positions;
    let around = Aabb::from_points(twin.iter().copied());
    let mut stage = Stage::new(&gpu, &scene, SIZE);
    let [whole, ..] = viewpoints(&scene, 1.0, FAR_OFF);
    stage.draw(&pose, view(&scene, &whole));
    // Within the rounding of f32 at 7,700 m.
    let step = 2.0_f32.powi(-11);
    let merged = stage.merged().positions;
    let errors = merged
        .iter()
        .zip(&twin)
        .map(|(a, b)| (*a - *b).abs().max_element());
    assert!(errors.fold(0.0, f32::max) <= 2.0 * step);
    let seen = stage.channel(Channel::Position).texels.into_iter();
    let seen = Aabb::from_points(seen.filter(|t| t[3] == 1.0).map(|t| Vec3::from_slice(&t)));
    let (low, high) = (seen.min - around.min, around.max - seen.max);
    assert!(low.min(high).min_element() > -2.0 * step, "{seen:?} {around:?}");
    assert!(low.max(high).max_element() < 0.05, "{seen:?} {around:?}");
}

/// Vertices far from their own origin lose only the digits that f32 does not hold.
#[test]
fn far_vertices_lose_only_f32_rounding() {
    let gpu = gpu();
    let scene = unit_scene(30.0, Vec3::ZERO);
    let mut baked = unit_scene(30.0, FAR_OFF);
    for (node, mesh) in baked.nodes.iter_mut().zip(&mut baked.meshes) {
        let Transform::Matrix(world_from_mesh) =
            std::mem::replace(&mut node.transform, Transform::Matrix(glam::DMat4::IDENTITY))
        else {
            unreachable!("the scenes of these tests have matrices")
        };
        for position in &mut mesh.primitives[0].positions {
            let world = world_from_mesh.transform_point3(position.as_dvec3());
            *position = world.as_vec3();
        }
    }
    let expected = pictures_of(&gpu, &scene, 30.0, Vec3::ZERO);
    let found = pictures_of(&gpu, &baked, 30.0, FAR_OFF);
    compare(&expected, &found, 300, "baked");
}

#[test]
fn a_millimetre_object_ten_kilometres_away_is_drawn() {
    let gpu = gpu();
    for scale in [1e-3, 0.02] {
        for picture in pictures(&gpu, scale, FAR_OFF) {
            assert_eq!(picture.len(), (4 * SIZE[0] * SIZE[1]) as usize);
        }
    }
}

#[test]
fn distant_objects_are_framed_together_without_near_clipping() {
    let gpu = gpu();
    let apart = 1e5 * Vec3::X;
    let half = Vec3::splat(0.5);
    let scene = scene(
        [cuboid(0.5 * Vec3::Y, half), cuboid(apart + 0.5 * Vec3::Y, half)],
        vec![matte(Vec3::ONE)],
    );
    let pose = Pose::new(&scene, None, 0.0);
    let bounds = Bounds::new(&scene).scene(&scene, &pose);
    let framed = Viewpoint::framing(&bounds.corners(), LENS, ASPECT);
    let clip = view(&scene, &framed).clip_from_offset(ASPECT);
    for corner in bounds.corners() {
        let at = clip * (corner - framed.eye()).extend(1.0);
        assert!(at.truncate().abs().max_element() <= at.w, "{corner} is at {at}");
    }
    // At the relative distance from which an object of a metre would be seen.
    let mut stage = Stage::new(&gpu, &scene, SIZE);
    for (eye, expected) in [(1.5, 1.0), (0.52, 0.02)] {
        let at = Viewpoint::look_to(Vec3::new(0.0, 0.5, eye), Vec3::NEG_Z, Vec3::Y, LENS);
        for (mode, _) in &MODES[..3] {
            stage.config.shadows.mode = *mode;
            stage.draw(&pose, view(&scene, &at));
            let depth = stage.channel(Channel::Depth);
            let [middle, ..] = depth.texels[(SIZE[1] / 2 * SIZE[0] + SIZE[0] / 2) as usize];
            assert!((middle - expected).abs() < 1e-4, "{middle} m for {expected}");
        }
    }
    assert_eq!(Aabb::from_points(bounds.corners()), bounds);
}
