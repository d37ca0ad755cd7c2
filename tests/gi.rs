//! Light of all bounces in still pictures: compared with series, closed forms and the path tracer.

use crate::common;
use canopy::{
    config::{ImageMode, IndirectLight, OcclusionMode, Switch},
    gpu::Gpu,
    reference::cells::{CellKey, claimed},
    render::{Channel, View},
    scene::{LightKind, Material, Pose, Scene},
};
use common::{
    by_lane, gpu,
    scenes::{Stage, add_light, look_at, matte, quad, scene, sphere},
};
use glam::Vec3;
use std::collections::{BTreeMap, BTreeSet};

/// Samples of a still picture.
const SAMPLES: u32 = 64;

/// Stage that draws with all bounces and is lit by the scene only.
fn stage<'a>(gpu: &'a Gpu, scene: &'a Scene) -> Stage<'a> {
    let mut stage = Stage::new(gpu, scene, [24, 18]);
    stage.darken();
    stage.config.sun.enabled = Switch::Off;
    stage.config.occlusion.mode = OcclusionMode::Rays;
    stage.config.occlusion.bounce = IndirectLight::Full;
    stage.config.paths.bounces = 64;
    stage
}

fn glowing(albedo: f32, emitted: f32) -> Material {
    Material {
        emissive: Vec3::splat(emitted),
        roughness: 1.0,
        double_sided: true,
        ..matte(Vec3::splat(albedo))
    }
}

/// Returns the mean of the three channels over the picture.
fn mean(stage: &mut Stage<'_>) -> f64 {
    let texels = stage.channel(Channel::Lit).texels;
    let sum: f64 = texels.iter().map(|t| f64::from(t[0] + t[1] + t[2])).sum();
    sum / (3 * texels.len()) as f64
}

/// Returns the mean of a still picture of `samples` samples.
fn still(stage: &mut Stage<'_>, scene: &Scene, view: View, samples: u32) -> f64 {
    stage.config.image.mode = ImageMode::Fast;
    stage.supersampled(&Pose::new(scene, None, 0.0), view, samples);
    mean(stage)
}

/// Returns the mean of the last of `frames` frames in motion, which use the world cache.
fn moving(stage: &mut Stage<'_>, scene: &Scene, view: View, frames: u32) -> f64 {
    stage.config.image.mode = ImageMode::Fast;
    let pose = Pose::new(scene, None, 0.0);
    (0..frames).for_each(|_| drop(stage.draw(&pose, view)));
    mean(stage)
}

/// Returns the mean of the path tracer's picture.
fn traced(stage: &mut Stage<'_>, scene: &Scene, view: View, samples: u32) -> f64 {
    stage.config.image.mode = ImageMode::Path;
    stage.config.paths.samples = samples;
    stage.renderer.path_samples = 64;
    let pose = Pose::new(scene, None, 0.0);
    (0..samples.div_ceil(64)).for_each(|_| drop(stage.draw(&pose, view)));
    mean(stage)
}

#[track_caller]
fn close(what: &str, found: f64, expected: f64, share: f64) {
    assert!(
        (found / expected - 1.0).abs() <= share,
        "{what}: {found}, not {expected}"
    );
}

/// Six walls of a room of 2 m, which face inwards.
fn walls() -> Vec<canopy::scene::Primitive> {
    let [x, y, z] = [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| 2.0 * axis);
    vec![
        quad(Vec3::new(1.0, -1.0, -1.0), z, y, 0),
        quad(Vec3::new(-1.0, -1.0, -1.0), y, z, 0),
        quad(Vec3::new(-1.0, 1.0, -1.0), x, z, 0),
        quad(Vec3::new(-1.0, -1.0, -1.0), z, x, 0),
        quad(Vec3::new(-1.0, -1.0, 1.0), y, x, 0),
        quad(Vec3::new(-1.0, -1.0, -1.0), x, y, 0),
    ]
}

/// A closed room whose walls glow with radiance E and reflect a share ρ has radiance E / (1 − ρ). With one bounce, its
/// walls show E.
#[test]
fn a_closed_room_has_the_light_of_all_bounces() {
    let gpu = gpu();
    for albedo in [0.5, 0.8] {
        // Without a highlight, so that nothing but ρ is reflected.
        let dull = Material {
            layers: Some(Box::new(canopy::scene::Layers {
                specular: 0.0,
                ..Default::default()
            })),
            ..glowing(albedo, 1.0 - albedo)
        };
        let room = scene(walls(), vec![dull]);
        let mut stage = stage(&gpu, &room);
        let view = look_at(Vec3::new(0.3, 0.2, 0.8), Vec3::new(-0.2, -0.1, -1.0), 60.0);
        let found = still(&mut stage, &room, view, SAMPLES);
        close(&format!("albedo {albedo}"), found, 1.0, 0.005);
        let found = moving(&mut stage, &room, view, 40);
        close(&format!("albedo {albedo}, cache"), found, 1.0, 0.03);
        stage.config.occlusion.bounce = IndirectLight::One;
        let found = still(&mut stage, &room, view, 16);
        close(
            &format!("albedo {albedo}, one bounce"),
            found,
            f64::from(1.0 - albedo),
            0.01,
        );
    }
}

/// A corner with a ball, and lamps of geometry of material 2 in shells of glass of material 3.
fn corner(lamps: impl IntoIterator<Item = canopy::scene::Primitive>, glow: f32) -> Scene {
    let mut parts = vec![
        quad(Vec3::new(-2.0, 0.0, 2.0), 4.0 * Vec3::X, -4.0 * Vec3::Z, 0),
        quad(Vec3::new(-2.0, 0.0, -2.0), 4.0 * Vec3::X, 3.0 * Vec3::Y, 0),
        quad(Vec3::new(-2.0, 0.0, 2.0), -4.0 * Vec3::Z, 3.0 * Vec3::Y, 1),
        sphere(Vec3::new(0.4, 0.4, 0.3), 0.4, 24, 0),
    ];
    parts.extend(lamps);
    let red = Material {
        base_color: Vec3::new(0.8, 0.1, 0.1).extend(1.0),
        ..glowing(0.0, 0.0)
    };
    let glass = Material {
        layers: Some(Box::new(canopy::scene::Layers {
            transmission: 1.0,
            ..Default::default()
        })),
        roughness: 0.0,
        ..glowing(1.0, 0.0)
    };
    scene(parts, vec![glowing(0.7, 0.0), red, glowing(0.0, glow), glass])
}

/// Glowing geometry lights the scene as it does in the path tracer.
#[test]
fn a_lamp_of_geometry_is_a_lamp() {
    let gpu = gpu();
    let view = look_at(Vec3::new(1.5, 1.6, 2.6), Vec3::new(-0.3, 0.5, -0.4), 50.0);
    // Above the picture.
    let ball = sphere(Vec3::new(-0.6, 2.6, 0.2), 0.2, 16, 2);
    let strip = quad(Vec3::new(-1.0, 2.7, -0.5), 1.2 * Vec3::X, 0.05 * Vec3::Z, 2);
    for (what, lamp, glow) in [("ball", ball, 12.0), ("strip", strip, 60.0)] {
        let scene = corner([lamp], glow);
        let mut stage = stage(&gpu, &scene);
        let expected = traced(&mut stage, &scene, view, by_lane(512, 2048));
        let found = still(&mut stage, &scene, view, by_lane(SAMPLES, 256));
        close(what, found, expected, 0.01);
        let found = moving(&mut stage, &scene, view, 40);
        close(&format!("{what}, cache"), found, expected, 0.05);
        stage.config.occlusion.bounce = IndirectLight::One;
        let without = still(&mut stage, &scene, view, 8);
        assert!(without < 0.01 * expected, "{what}: {without} without its light");
    }
}

/// Light of the environment that reaches a surface by way of others, and light around a corner.
#[test]
fn a_still_picture_is_as_bright_as_the_path_tracer() {
    let gpu = gpu();
    let scene = corner([], 0.0);
    let view = look_at(Vec3::new(1.5, 1.6, 2.6), Vec3::new(-0.3, 0.5, -0.4), 50.0);
    let mut lit = scene.clone();
    let lamp = Vec3::new(-1.2, 0.3, -1.3);
    add_light(&mut lit, LightKind::Point, 8.0, lamp, Vec3::ZERO);
    for (what, scene, environment) in [("environment", &scene, 1.0), ("lamp", &lit, 0.0)] {
        let mut stage = stage(&gpu, scene);
        stage.config.environment.intensity = environment;
        let expected = traced(&mut stage, scene, view, by_lane(512, 1024));
        let found = still(&mut stage, scene, view, SAMPLES);
        close(what, found, expected, 0.01);
        let found = moving(&mut stage, scene, view, 40);
        close(&format!("{what}, cache"), found, expected, 0.05);
    }
}

/// A lamp of geometry in a shell of clear glass, which no ray of another pass may cross as if it were not there.
#[test]
fn a_lamp_shines_through_glass() {
    let gpu = gpu();
    let center = Vec3::new(-0.6, 2.6, 0.2);
    let scene = corner([sphere(center, 0.4, 16, 2), sphere(center, 0.5, 16, 3)], 3.0);
    let view = look_at(Vec3::new(1.5, 1.6, 2.6), Vec3::new(-0.3, 0.5, -0.4), 50.0);
    let mut stage = stage(&gpu, &scene);
    let expected = traced(&mut stage, &scene, view, by_lane(512, 2048));
    let found = still(&mut stage, &scene, view, by_lane(128, 512));
    close("glass", found, expected, 0.03);
}

/// Frames before a picture leave nothing in it, whatever they average.
#[test]
fn a_still_picture_does_not_depend_on_the_frames_before_it() {
    let gpu = gpu();
    let scene = corner([sphere(Vec3::new(-0.6, 1.5, 0.2), 0.2, 8, 2)], 12.0);
    let view = look_at(Vec3::new(1.5, 1.6, 2.6), Vec3::new(-0.3, 0.5, -0.4), 50.0);
    let pose = Pose::new(&scene, None, 0.0);
    let draw = |before: u32| {
        let mut stage = stage(&gpu, &scene);
        stage.config.environment.intensity = 1.0;
        (0..before).for_each(|_| drop(stage.draw(&pose, view)));
        stage.supersampled(&pose, view, 6);
        stage.channel(Channel::Lit).texels
    };
    assert_eq!(draw(0), draw(3));
}

/// Two runs are the same bit for bit.
#[test]
fn still_pictures_with_all_bounces_repeat() {
    let gpu = gpu();
    let scene = corner([sphere(Vec3::new(-0.6, 1.5, 0.2), 0.2, 8, 2)], 12.0);
    let view = look_at(Vec3::new(1.5, 1.6, 2.6), Vec3::new(-0.3, 0.5, -0.4), 50.0);
    let draw = || {
        let mut stage = stage(&gpu, &scene);
        still(&mut stage, &scene, view, 4);
        stage.channel(Channel::Lit).texels
    };
    assert_eq!(draw(), draw());
}

/// Frames that use the world cache repeat bit for bit, although cells are claimed in any order.
#[test]
fn frames_with_the_world_cache_repeat() {
    let gpu = gpu();
    let scene = corner([sphere(Vec3::new(-0.6, 1.5, 0.2), 0.2, 8, 2)], 12.0);
    let draw = || {
        let mut stage = stage(&gpu, &scene);
        stage.config.environment.intensity = 0.2;
        let pose = Pose::new(&scene, None, 0.0);
        for step in 0..6 {
            let eye = Vec3::new(1.5, 1.6, 2.6 - 0.1 * step as f32);
            stage.draw(&pose, look_at(eye, Vec3::new(-0.3, 0.5, -0.4), 50.0));
        }
        stage.channel(Channel::Lit).texels
    };
    assert_eq!(draw(), draw());
}

/// Twelve frames after the last light has gone out, none of its light is left.
#[test]
fn light_that_is_switched_off_leaves_no_glow() {
    let gpu = gpu();
    let scene = corner([sphere(Vec3::new(-0.6, 2.6, 0.2), 0.2, 16, 2)], 12.0);
    let view = look_at(Vec3::new(1.5, 1.6, 2.6), Vec3::new(-0.3, 0.5, -0.4), 50.0);
    for by_environment in [false, true] {
        let mut stage = stage(&gpu, &scene);
        moving(&mut stage, &scene, view, 4);
        stage.config.materials.emission = !by_environment;
        stage.config.environment.intensity = f32::from(u8::from(by_environment));
        let lit = moving(&mut stage, &scene, view, 24);
        stage.config.materials.emission = false;
        stage.config.environment.intensity = 0.0;
        let dark = moving(&mut stage, &scene, view, 12);
        assert!(dark < 2e-3 * lit, "environment {by_environment}: {dark} of {lit}");
        moving(&mut stage, &scene, view, 4);
        stage.config.materials.emission = !by_environment;
        stage.config.environment.intensity = f32::from(u8::from(by_environment));
        let again = moving(&mut stage, &scene, view, 12);
        close("lit again", again, lit, 0.05);
    }
}

/// A room without light stays dark next to a bright one, behind a wall of one centimetre.
#[test]
fn the_world_cache_does_not_leak_through_a_thin_wall() {
    let gpu = gpu();
    let [x, y, z] = [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| 2.0 * axis);
    // Rooms without a front wall. Floor, ceiling and back wall reach through both.
    let parts = vec![
        quad(Vec3::new(-2.0, -1.0, -1.0), z, 2.0 * x, 0),
        quad(Vec3::new(-2.0, 1.0, -1.0), 2.0 * x, z, 0),
        quad(Vec3::new(-2.0, -1.0, -1.0), 2.0 * x, y, 0),
        quad(Vec3::new(-2.0, -1.0, -1.0), y, z, 0),
        quad(Vec3::new(2.0, -1.0, -1.0), z, y, 0),
        quad(Vec3::new(-0.005, -1.0, -1.0), z, y, 0),
        quad(Vec3::new(0.005, -1.0, -1.0), y, z, 0),
    ];
    let mut scene = scene(parts, vec![glowing(0.7, 0.0)]);
    add_light(
        &mut scene,
        LightKind::Point,
        30.0,
        Vec3::new(1.0, 0.5, 0.0),
        Vec3::ZERO,
    );
    let mut stage = stage(&gpu, &scene);
    stage.size = [160, 80];
    moving(
        &mut stage,
        &scene,
        look_at(Vec3::new(0.0, 0.0, 4.0), Vec3::ZERO, 40.0),
        30,
    );
    let texels = stage.channel(Channel::Lit).texels;
    let half = |left: bool| -> f32 {
        let of = texels.iter().enumerate().filter(|(i, _)| (i % 160 < 80) == left);
        of.map(|(_, texel)| texel[1]).sum()
    };
    let (leaked, lit) = (half(true), half(false));
    assert!(leaked < 3e-3 * lit, "{leaked} of {lit}");
}

/// The first frame claims cells as the CPU reference does, and later ones keep no cell twice.
#[test]
fn claims_of_cells_match_the_cpu_reference() {
    let gpu = gpu();
    let scene = corner([sphere(Vec3::new(-0.6, 1.5, 0.2), 0.2, 8, 2)], 12.0);
    let view = look_at(Vec3::new(1.5, 1.6, 2.6), Vec3::new(-0.3, 0.5, -0.4), 50.0);
    let mut stage = stage(&gpu, &scene);
    stage.size = [160, 120];
    for frames in [1, 5] {
        moving(&mut stage, &scene, view, frames);
        let cells = stage.renderer.read_cells(&gpu).unwrap();
        let slots = cells.len() as u32;
        let words = (0..slots).zip(&cells).filter(|(_, cell)| cell[0] != 0);
        let table: BTreeMap<_, _> = words.map(|(slot, cell)| (slot, cell[0])).collect();
        let key = |(slot, word): (&u32, &u32)| CellKey::from_word(*word, *slot, slots);
        let keys: Vec<_> = table.iter().map(key).collect();
        assert!(keys.len() > 200, "{} cells", keys.len());
        let unique: BTreeSet<_> = keys.iter().map(|key| (key.slot, key.checksum)).collect();
        assert_eq!(unique.len(), keys.len());
        if frames == 1 {
            assert_eq!(claimed(keys, slots), table);
        }
    }
}
