//! The ground below a scene: its shadows compared with geometry in f64, and its grid. Otherwise it looks like
//! the background.

use crate::common;
use canopy::{
    config::{Antialias, Background, Config, GroundMode, OcclusionMode, ShadowMode, Switch, Tonemap},
    reference::{ground, tonemap},
    render::{
        Channel, View,
        layout::{Exposure, Light, TonemapParams},
    },
    scene::{
        LightKind, Pose, Progress, Projection, Scene, TextureSupport,
        framing::Ground,
        opened::{OpenedScene, Span},
        srgb,
    },
};

use common::{
    gpu, rounds_corners_coarsely,
    scenes::{Stage, add_light, look_at, matte, quad, scene, sphere},
};
use glam::{DVec2, DVec3, Mat4, Vec3};
use std::f64::consts::PI;

const SIZE: [u32; 2] = [80, 60];
const REACH: f32 = 10.0;

const GROUND: Ground = Ground {
    middle: DVec3::new(0.5, 0.0, -0.25),
    reach: REACH,
    spacing: 0.0,
};

/// A square of two metres, one metre above the ground.
fn slab() -> Scene {
    let corner = Vec3::new(-1.0, 1.0, 1.0);
    let square = quad(corner, 2.0 * Vec3::X, -2.0 * Vec3::Z, 0);
    scene([square], vec![matte(Vec3::splat(0.5))])
}

/// Point of the plane y = `height` at a pixel's centre.
fn point_at(view: View, pixel: [u32; 2], height: f64) -> Option<DVec3> {
    let aspect = SIZE[0] as f32 / SIZE[1] as f32;
    let [right, up] = view.half_extents(aspect).map(Vec3::as_dvec3);
    let at = |axis: usize| 2.0 * (f64::from(pixel[axis]) + 0.5) / f64::from(SIZE[axis]) - 1.0;
    let ray = view.forward().as_dvec3() + at(0) * right - at(1) * up;
    let eye = view.eye().as_dvec3();
    let distance = (height - eye.y) / ray.y;
    (distance > 0.0).then(|| eye + distance * ray)
}

/// Distance in metres of a point from the slab's edge; negative outside.
fn inside(point: DVec3) -> f64 {
    (1.0 - point.x.abs()).min(1.0 - point.z.abs())
}

fn pixels() -> impl Iterator<Item = (usize, [u32; 2])> {
    (0..SIZE[1]).flat_map(|y| (0..SIZE[0]).map(move |x| ((y * SIZE[0] + x) as usize, [x, y])))
}

/// Pixels and points of the ground that `slab` does not hide.
fn free_ground(view: View) -> Vec<(usize, DVec3)> {
    let sees = |(index, pixel)| {
        let over = point_at(view, pixel, 1.0).is_none_or(|p| inside(p) < -0.05);
        let point = point_at(view, pixel, 0.0)?;
        over.then_some((index, point))
    };
    pixels().filter_map(sees).collect()
}

fn from_middle(point: DVec3) -> DVec2 {
    let offset = point - GROUND.middle;
    DVec2::new(offset.x, offset.z) / f64::from(REACH)
}

/// A stage under a sun of 3 lux, along `direction`.
fn sunny<'a>(gpu: &'a canopy::gpu::Gpu, scene: &'a Scene, direction: Vec3) -> Stage<'a> {
    let mut stage = Stage::new(gpu, scene, SIZE);
    stage.config.sun.enabled = Switch::On;
    stage.config.sun.direction = direction.to_array();
    stage.config.sun.strength = 3.0;
    stage.config.sun.color = [1.0, 0.8, 0.5];
    stage.config.environment.color = [0.2, 0.3, 0.4];
    stage.config.image.background = [0.25, 0.5, 1.0];
    stage.ground = Some(GROUND);
    stage
}

/// The shadow of a square in the sun, by rays and by maps, is where geometry predicts it. It is as deep as
/// the lights make it, and fades out with the ground. Everything else is the background, bit for bit.
#[test]
fn the_shadow_of_a_square_matches_the_projected_geometry() {
    let gpu = gpu();
    let scene = slab();
    let direction = Vec3::new(0.6, -1.0, 0.3);
    let mut stage = sunny(&gpu, &scene, direction);
    let pose = Pose::new(&scene, None, 0.0);
    let view = look_at(Vec3::new(2.0, 7.0, 9.0), Vec3::new(0.0, 0.0, 1.0), 100.0);
    let free = free_ground(view);
    let to_sun = -direction.as_dvec3().normalize();
    let irradiance = 3.0 * DVec3::new(1.0, 0.8, 0.5);
    let sun = Light {
        direction: (-to_sun.as_vec3()).to_array(),
        intensity: irradiance.as_vec3().to_array(),
        ..Light::default()
    };
    let diffuse = DVec3::new(0.2, 0.3, 0.4);
    let background = DVec3::new(0.25, 0.5, 1.0);
    for (mode, near_edge) in [(ShadowMode::Rays, 0.01), (ShadowMode::Map, 0.06)] {
        stage.config.shadows.mode = mode;
        stage.draw(&pose, view);
        let shown = stage.channel(Channel::Lit).texels;
        let (mut dark, mut bright, mut beyond) = (0, 0, 0);
        for (index, point) in &free {
            let within = inside(*point + to_sun / to_sun.y);
            if within.abs() < near_edge {
                continue;
            }
            let visible = if within > 0.0 { 0.0 } else { 1.0 };
            let lit = ground::lit(point.as_vec3(), &[sun], &[visible], diffuse, DVec3::ONE);
            let seen = ground::shadow_opacity(from_middle(*point));
            let expected = background * DVec3::ONE.lerp(lit, seen);
            let found = DVec3::from_array([0, 1, 2].map(|c| f64::from(shown[*index][c])));
            let error = (found - expected).abs().max_element();
            assert!(error < 2e-3, "{mode:?} {point}: {found}, not {expected}");
            let taken = 1.0 - DVec3::ONE.lerp(lit, seen).dot(DVec3::new(0.2126, 0.7152, 0.0722));
            assert!((f64::from(shown[*index][3]) - taken).abs() < 2e-3);
            match (seen, visible) {
                (0.0, _) => beyond += 1,
                (_, 0.0) => dark += 1,
                _ => bright += 1,
            }
        }
        assert!(
            dark > 60 && bright > 1000 && beyond > 20,
            "{dark} {bright} {beyond}"
        );
    }
    // The comparison must fail if the shadow is elsewhere.
    let shadow_of = |direction: Vec3| {
        let mut stage = sunny(&gpu, &scene, direction);
        stage.draw(&pose, view);
        stage.channel(Channel::Lit).texels
    };
    let [here, there] = [direction, Vec3::new(0.55, -1.0, 0.3)].map(shadow_of);
    let apart = free
        .iter()
        .filter(|(i, _)| (here[*i][0] - there[*i][0]).abs() > 0.05);
    assert!(apart.count() > 3);
}

/// The background in a shadow is displayed in proportion, without applying the tone curve to the remaining
/// light. The curve subtracts 0.04 from the darkest channel, and would turn a dark grey blue.
#[test]
fn shadows_keep_the_colour_of_the_background() {
    let gpu = gpu();
    let scene = slab();
    let direction = Vec3::new(0.6, -1.0, 0.3);
    let mut stage = sunny(&gpu, &scene, direction);
    stage.config.image.tonemap = Tonemap::Neutral;
    stage.config.image.antialias = Antialias::Off;
    stage.config.environment.background = Background::Environment;
    // Sunlight is white, and the light in the shadow is bluish.
    stage.config.sun.color = [1.0; 3];
    stage.config.environment.color = [0.15, 0.2, 0.3];
    let pose = Pose::new(&scene, None, 0.0);
    let view = look_at(Vec3::new(2.0, 7.0, 9.0), Vec3::new(0.0, 0.0, 1.0), 100.0);
    let params = TonemapParams {
        curve: 3,
        ..TonemapParams::default()
    };
    let toned = |radiance: DVec3| {
        let exposure = Exposure {
            scale: 1.0,
            ..Exposure::default()
        };
        let shown = tonemap::tonemap(&params, &exposure, radiance, DVec3::ZERO);
        shown.map(|encoded| srgb::decode(encoded as f32).into())
    };
    for samples in [1, 4] {
        let picture = stage.supersampled(&pose, view, samples);
        let lit = stage.channel(Channel::Lit).texels;
        let mut dark = 0;
        for (index, _) in free_ground(view) {
            // At shadow edges, several samples average both.
            let texel = DVec3::from_array([0, 1, 2].map(|c| f64::from(lit[index][c])));
            let kept = 1.0 - f64::from(lit[index][3]);
            if !(0.1..0.25).contains(&kept) {
                continue;
            }
            let expected = kept * toned(texel / kept);
            for (axis, linear) in expected.to_array().into_iter().enumerate() {
                let encoded = f64::from(srgb::encode(linear as f32));
                let found = f64::from(picture[4 * index + axis]);
                assert!(
                    (found - 255.0 * encoded).abs() < 1.5,
                    "{found} {encoded} {texel} {kept}"
                );
            }
            // The tone curve of the remaining light would have almost no red.
            assert!(toned(texel).x < 5e-3 && picture[4 * index] > 20, "{texel}");
            dark += 1;
        }
        assert!(dark > 30, "{dark}");
    }
}

/// Occlusion of uniform light by a ball above the ground: cos θ sin² α, for a ball above the horizon with
/// angular radius α, at θ from the vertical.
#[test]
fn occlusion_below_a_ball_matches_the_closed_form() {
    let gpu = gpu();
    let (radius, height) = (0.6, 1.0);
    let ball = sphere(Vec3::new(0.0, height as f32, 0.0), radius as f32, 48, 0);
    let scene = scene([ball], vec![matte(Vec3::splat(0.5))]);
    let mut stage = Stage::new(&gpu, &scene, SIZE);
    stage.ground = Some(GROUND);
    stage.config.shadows.mode = ShadowMode::Off;
    stage.config.sun.enabled = Switch::Off;
    stage.config.occlusion.mode = OcclusionMode::Rays;
    stage.config.occlusion.rays = 16;
    stage.config.occlusion.history = 1000;
    stage.config.occlusion.filter = false;
    stage.config.environment.ground_albedo = 0.0;
    let pose = Pose::new(&scene, None, 0.0);
    let view = look_at(Vec3::new(0.0, 3.0, 6.0), Vec3::ZERO, 100.0);
    (0..16).for_each(|_| drop(stage.draw(&pose, view)));
    let ambient = stage.channel(Channel::Ambient).texels;
    let shown = stage.channel(Channel::Lit).texels;
    let background = f64::from(stage.config.image.background[0]);
    let (mut square, mut sum, mut count) = (0.0, 0.0, 0.0);
    let mut least = 1.0_f64;
    for (index, pixel) in pixels() {
        let Some(point) = point_at(view, pixel, 0.0) else {
            continue;
        };
        // In the view, the ball covers points closer to its centre than its radius.
        let ray = (point - view.eye().as_dvec3()).normalize();
        let to_ball = DVec3::new(0.0, height, 0.0) - view.eye().as_dvec3();
        let past = (to_ball - ray * to_ball.dot(ray)).length();
        if past < radius * 1.05 || from_middle(point).length() > 0.5 {
            continue;
        }
        let distance = (point.x * point.x + point.z * point.z + height * height).sqrt();
        let blocked = (radius / distance).powi(2) * height / distance;
        let error = f64::from(ambient[index][0]) - (1.0 - blocked);
        (square, sum, count) = (square + error * error, sum + error, count + 1.0);
        least = least.min(1.0 - blocked);
        // Nothing else is lit, so the background is as bright as that.
        let share = f64::from(shown[index][0]) / background;
        assert!((share - f64::from(ambient[index][0])).abs() < 2e-3);
    }
    let (error, mean) = (f64::sqrt(square / count), sum / count);
    println!("visibility of {count} points from {least:.3} on: error {error:.4}, mean {mean:.5}");
    assert!(count > 800.0 && least < 0.72, "{count} {least}");
    assert!(error < 0.012 && mean.abs() < 2e-3, "{error} {mean}");
}

/// Randomly chosen lights give the same mean as all lights. Without a shadow, that is the background.
#[test]
fn randomly_chosen_lights_keep_the_mean_background() {
    let gpu = gpu();
    let mut scene = slab();
    for i in 0..12 {
        let turn = std::f32::consts::FRAC_PI_6 * i as f32;
        let at = Vec3::new(4.0 * turn.cos(), 2.0 + 0.1 * i as f32, 4.0 * turn.sin());
        add_light(&mut scene, LightKind::Point, (1 + i) as f32, at, Vec3::ZERO);
    }
    let mut stage = sunny(&gpu, &scene, Vec3::NEG_Y);
    stage.config.sun.enabled = Switch::Off;
    stage.config.shadows.max_rays = 2;
    let pose = Pose::new(&scene, None, 0.0);
    // Away from the square and its shadows.
    let view = look_at(Vec3::new(5.0, 1.5, 5.0), Vec3::new(5.0, 0.0, 2.0), 100.0);
    stage.ground = Some(Ground {
        middle: DVec3::new(5.0, 0.0, 3.0),
        ..GROUND
    });
    stage.supersampled(&pose, view, 64);
    let shown = stage.channel(Channel::Lit).texels;
    let ground: Vec<_> = shown.iter().filter(|texel| texel[3].abs() < 0.3).collect();
    let mean = ground.iter().map(|texel| f64::from(texel[2])).sum::<f64>() / ground.len() as f64;
    assert!(ground.len() > 2000, "{}", ground.len());
    assert!((mean - 1.0).abs() < 0.01, "{mean}");
}

/// Lines at whole metres, stronger ones, and the two axes, with the widths and colours of the twin.
#[test]
fn grid_lines_lie_at_whole_metres() {
    let gpu = gpu();
    let scene = slab();
    let mut stage = sunny(&gpu, &scene, Vec3::NEG_Y);
    stage.config.sun.enabled = Switch::Off;
    let pose = Pose::new(&scene, None, 0.0);
    let background = DVec3::new(0.25, 0.5, 1.0);
    let half_height = 6.0;
    let metres_a_pixel = 2.0 * f64::from(half_height) / f64::from(SIZE[1]);
    for (spacing, off) in [(1.0, 0.0), (10.0, 0.0), (1.0, 200.0), (2.0, 30_000.0)] {
        stage.ground = Some(Ground {
            middle: DVec3::new(off.into(), 0.0, 0.0),
            reach: 50.0,
            spacing,
        });
        // Off the lines by a fraction of a pixel.
        let eye = Vec3::new(off + 0.07, 20.0, 0.03);
        let view = View {
            world_from_view: Mat4::from_cols(
                glam::Vec4::X,
                glam::Vec4::NEG_Z,
                glam::Vec4::Y,
                eye.extend(1.0),
            ),
            projection: Projection::Orthographic { half_height },
            near: 0.1,
            far: 100.0,
        };
        stage.draw(&pose, view);
        let shown = stage.channel(Channel::Lit).texels;
        let mut lines = 0;
        for (index, [x, y]) in pixels() {
            let offset = DVec2::new(f64::from(x) + 0.5 - 40.0, f64::from(y) + 0.5 - 30.0);
            let point = eye.as_dvec3() + (offset.x * DVec3::X + offset.y * DVec3::Z) * metres_a_pixel;
            if off == 0.0 && point.x.abs().max(point.z.abs()) < 1.2 {
                // The square is visible here.
                continue;
            }
            let at = DVec2::new(point.x, point.z) / f64::from(spacing);
            let covered = ground::grid(at, DVec2::splat(metres_a_pixel / f64::from(spacing)));
            let axis = at.abs().min_element() < metres_a_pixel / f64::from(spacing);
            let found = DVec3::from_array([0, 1, 2].map(|c| f64::from(shown[index][c])));
            let plain = background.lerp(DVec3::splat(0.05), covered);
            // f32 locates a line 200 km away to within a thousandth.
            let is_coarse = off > 1000.0 || rounds_corners_coarsely(&gpu);
            let tolerance = if is_coarse { 0.03 } else { 6e-3 };
            if !axis {
                let error = (found - plain).abs().max_element();
                assert!(error < tolerance, "{spacing} {at}: {found}, not {plain}");
            } else if covered > 0.5 && (at.abs().max_element().fract() - 0.5).abs() < 0.3 {
                // Red runs along x, blue along z. Other lines cross them.
                let is_along_x = at.y.abs() < at.x.abs();
                let line = (found - (1.0 - covered) * background) / covered;
                assert_eq!(line.x > line.z, is_along_x, "{at}: {line}");
            }
            lines += usize::from(covered > 0.2);
        }
        assert!(lines > 100, "{lines} pixels show lines {spacing} m apart");
        // Between its lines, the grid leaves the background unchanged.
        assert!(shown.iter().any(|texel| texel[3] == 0.0));
    }
}

/// The ground is invisible from below and when it is off. Other channels hold the background there, and the
/// trees and the merged triangles do not contain it.
#[test]
fn the_ground_is_invisible_outside_its_shadow_and_from_below() {
    let gpu = gpu();
    let scene = slab();
    let mut stage = sunny(&gpu, &scene, Vec3::new(0.6, -1.0, 0.3));
    let pose = Pose::new(&scene, None, 0.0);
    stage.reads.push(Channel::Motion);
    let above = look_at(Vec3::new(2.0, 5.0, 7.0), Vec3::ZERO, 100.0);
    let below = look_at(Vec3::new(2.0, -3.0, 7.0), Vec3::ZERO, 100.0);
    let from_below = stage.draw(&pose, below);
    let with = stage.draw(&pose, above);
    let free = free_ground(above);
    for channel in [Channel::Position, Channel::Depth, Channel::Mesh, Channel::Albedo] {
        let texels = stage.channel(channel).texels;
        assert!(free.iter().all(|(i, _)| texels[*i][3] == 0.0), "{channel:?}");
    }
    for channel in [Channel::Shadow, Channel::Ambient, Channel::Motion] {
        let texels = stage.channel(channel).texels;
        let near = free
            .iter()
            .filter(|(_, point)| from_middle(*point).length() < 0.99);
        assert!(near.clone().count() > 1000);
        assert!(near.clone().all(|(i, _)| texels[*i][3] == 1.0), "{channel:?}");
    }
    let merged = stage.merged();
    assert_eq!((merged.indices.len(), merged.positions.len()), (2, 6));
    stage.ground = None;
    assert_eq!(from_below, stage.draw(&pose, below));
    let without = stage.draw(&pose, above);
    let differ: Vec<_> = (0..with.len() / 4)
        .filter(|i| with[4 * i..4 * i + 4] != without[4 * i..4 * i + 4])
        .collect();
    let is_free = |i: &usize| free.iter().any(|(free, _)| free == i);
    assert!(differ.len() > 60);
    // The square is unchanged, except at its edges, where anti-aliasing mixes it with its surroundings.
    let at_edge = |i: &usize| {
        let pixel = [(*i as u32) % SIZE[0], (*i as u32) / SIZE[0]];
        point_at(above, pixel, 1.0).is_some_and(|p| inside(p).abs() < 0.5)
    };
    assert!(differ.iter().all(|i| is_free(i) || at_edge(i)));
}

/// A transparent picture holds the shadow as alpha.
#[test]
fn transparent_images_hold_the_ground_shadow_as_alpha() {
    let gpu = gpu();
    let scene = slab();
    let direction = Vec3::new(0.6, -1.0, 0.3);
    let mut stage = sunny(&gpu, &scene, direction);
    stage.config.environment.background = Background::Transparent;
    let pose = Pose::new(&scene, None, 0.0);
    let view = look_at(Vec3::new(2.0, 7.0, 9.0), Vec3::new(0.0, 0.0, 1.0), 100.0);
    let picture = stage.draw(&pose, view);
    let to_sun = -direction.as_dvec3().normalize();
    let sun = 3.0 * to_sun.y * DVec3::new(1.0, 0.8, 0.5);
    let sky = PI * DVec3::new(0.2, 0.3, 0.4);
    let taken = (sun / (sun + sky)).dot(DVec3::new(0.2126, 0.7152, 0.0722));
    let mut dark = 0;
    for (index, point) in free_ground(view) {
        let within = inside(point + to_sun / to_sun.y);
        // Anti-aliasing mixes edges.
        if within.abs() < 0.3 || inside(point_at_slab(view, index)).abs() < 0.5 {
            continue;
        }
        let expected = if within > 0.0 { 255.0 * taken } else { 0.0 };
        let texel = &picture[4 * index..4 * index + 4];
        assert_eq!(texel[..3], [0, 0, 0], "{point}");
        assert!((f64::from(texel[3]) - expected).abs() < 1.0, "{point}: {texel:?}");
        dark += usize::from(within > 0.0);
    }
    assert!(dark > 20, "{dark}");
}

fn point_at_slab(view: View, index: usize) -> DVec3 {
    let pixel = [index as u32 % SIZE[0], index as u32 / SIZE[0]];
    point_at(view, pixel, 1.0).unwrap_or(DVec3::splat(100.0))
}

/// Motion vectors of the shadow equal the motion vectors of the ground under camera motion, whatever else
/// moves.
#[test]
fn ground_motion_vectors_follow_only_the_camera() {
    let gpu = gpu();
    let scene = slab();
    let mut stage = sunny(&gpu, &scene, Vec3::NEG_Y);
    stage.reads.push(Channel::Motion);
    let pose = Pose::new(&scene, None, 0.0);
    let view = |x: f32| look_at(Vec3::new(x, 5.0, 7.0), Vec3::new(x * 0.5, 0.0, 0.0), 100.0);
    let (last, now) = (view(2.0), view(2.2));
    let mut moved = pose.clone();
    moved.world_from_node[0] = Mat4::from_translation(0.1 * Vec3::Y).as_dmat4();
    stage.draw(&moved, last);
    stage.draw(&pose, now);
    let motion = stage.channel(Channel::Motion).texels;
    let in_picture = |view: View, point: DVec3| {
        let clip_from_offset = view.clip_from_offset(SIZE[0] as f32 / SIZE[1] as f32).as_dmat4();
        let clip = clip_from_offset * (point - view.eye().as_dvec3()).extend(1.0);
        let [width, height] = SIZE.map(f64::from);
        DVec2::new(0.5 * width, -0.5 * height) * clip.truncate().truncate() / clip.w
    };
    let mut longest = 0.0_f64;
    for (index, point) in free_ground(now) {
        if from_middle(point).length() > 0.99 {
            continue;
        }
        let expected = in_picture(now, point) - in_picture(last, point);
        let found = DVec2::new(motion[index][0].into(), motion[index][1].into());
        assert!(
            (found - expected).length() < 0.01,
            "{point}: {found}, not {expected}"
        );
        longest = longest.max(expected.length());
    }
    assert!(longest > 1.0, "{longest}");
}

/// The built-in scene has a floor. A ball has none, and gets the ground.
#[test]
fn a_scene_without_a_floor_gets_one() {
    let config = Config::default();
    let progress = Progress::default();
    let support = TextureSupport::default();
    let built_in = OpenedScene::load(&[], &config, support, Span::Clip, &progress).unwrap();
    assert_eq!(built_in.first.ground(GroundMode::Auto), None);
    assert!(built_in.first.ground(GroundMode::Shadow).is_some());
    let ball = scene(
        [sphere(Vec3::new(0.0, 3.0, 0.0), 1.0, 16, 0)],
        vec![matte(Vec3::ONE)],
    );
    let opened = OpenedScene::new(ball, &config, Span::MOMENT);
    let ground = opened.first.ground(GroundMode::Auto).unwrap();
    assert!(ground.middle.distance(DVec3::new(0.0, 2.0, 0.0)) < 1e-3);
}
