//! Frames with more lights than every pixel can look at.

use crate::common;
use canopy::{
    config::{Config, ImageMode, OcclusionMode, ReflectionMode, ShadowMode},
    gpu::Gpu,
    reference::{
        light_tree::{self, LightTree},
        sampling,
    },
    render::{
        Channel, View,
        frame::blue_noise,
        layout::{LIGHT_LIMIT, Light, SAMPLE_LIGHT_CHOICE},
        light::{light_tree as tree_of_lights, lights},
    },
    scene::{AlphaMode, Layers, LightKind, Material, Pose, Primitive, Scene, bounds::Bounds},
};
use common::{
    by_lane, gpu,
    scenes::{Stage, add_cutout, add_light, look_at, matte, quad, scene},
};
use glam::{DVec3, Vec3, Vec4};
use std::ops::Range;

const SIZE: [u32; 2] = [32, 20];

/// A floor of 8 × 8 m.
fn floor() -> Primitive {
    quad(Vec3::new(-4.0, 0.0, 4.0), 8.0 * Vec3::X, -8.0 * Vec3::Z, 0)
}

/// A grey floor without lights.
fn grey() -> Scene {
    scene([floor()], vec![matte(Vec3::splat(0.7))])
}

/// Adds lamps of every kind above the floor. A few are very close to it, and some have a range.
fn add_lamps(scene: &mut Scene, numbers: Range<usize>) {
    let mut random = common::Random(11);
    for number in 0..numbers.end {
        let from = 4.0 * random.cube() + 0.05 * Vec3::Y;
        let from = Vec3::new(from.x, from.y.abs().max(0.1), from.z);
        let (kind, intensity) = match number % 4 {
            _ if number == 40 => (LightKind::Directional, 20.0),
            0 => (
                LightKind::Spot {
                    inner_angle: 0.2,
                    outer_angle: 0.7,
                },
                2.0,
            ),
            _ => (LightKind::Point, 0.2 + (number % 7) as f32 * 0.1),
        };
        let to = from + random.cube() - Vec3::Y;
        if numbers.contains(&number) {
            add_light(scene, kind, intensity, from, to);
            scene.lights.last_mut().unwrap().range = (number % 3 == 0).then_some(2.0);
        }
    }
}

fn view() -> View {
    look_at(Vec3::new(2.0, 3.0, 4.0), Vec3::ZERO, 50.0)
}

fn stage<'a>(gpu: &'a Gpu, scene: &'a Scene, mode: ShadowMode) -> Stage<'a> {
    let mut stage = Stage::new(gpu, scene, SIZE);
    stage.darken();
    stage.config.shadows.mode = mode;
    stage.config.shadows.max_rays = 8;
    stage
}

fn lit(stage: &mut Stage<'_>, frames: u32) -> Vec<DVec3> {
    let pose = Pose::new(stage.scene, None, 0.0);
    stage.supersampled(&pose, view(), frames);
    let texels = stage.channel(stage.shown).texels;
    let color = |texel: &[f32; 4]| DVec3::new(texel[0].into(), texel[1].into(), texel[2].into());
    texels.iter().map(color).collect()
}

fn mean(pixels: &[DVec3]) -> f64 {
    pixels.iter().map(|pixel| pixel.y).sum::<f64>() / pixels.len() as f64
}

/// Light is additive. A frame looks at all of 250 lights, so four such frames have all the light of 1000.
#[test]
fn surfaces_are_lit_by_all_lights() {
    let gpu = gpu();
    let blended = Material {
        alpha_mode: AlphaMode::Blend,
        base_color: Vec4::new(0.7, 0.7, 0.7, 0.6),
        ..matte(Vec3::ONE)
    };
    let coated = Material {
        layers: Some(Box::new(Layers {
            clearcoat: 1.0,
            clearcoat_roughness: 0.5,
            ..Layers::default()
        })),
        ..matte(Vec3::splat(0.7))
    };
    let frames = by_lane(16, 64);
    let lit_by = |material: &Material, numbers| {
        let mut scene = scene([floor()], vec![material.clone()]);
        add_lamps(&mut scene, numbers);
        scene
    };
    // Nothing casts a shadow.
    for mode in [ShadowMode::Off, ShadowMode::Rays] {
        for (name, material) in [
            ("matte", matte(Vec3::splat(0.7))),
            ("blended", blended.clone()),
            ("coated", coated.clone()),
        ] {
            let ratio = ratio(
                |numbers| lit_by(&material, numbers),
                |scene| mean(&lit(&mut stage(&gpu, scene, mode), frames)),
            );
            println!("{name}, {mode:?}: {ratio:.4}");
            assert!((ratio - 1.0).abs() < 0.01, "{name}, {mode:?}: {ratio}");
        }
    }
}

/// A floor before a mirror.
fn mirrored(numbers: Range<usize>) -> Scene {
    let mirror = Material {
        metallic: 1.0,
        roughness: 0.0,
        ..matte(Vec3::ONE)
    };
    let wall = quad(Vec3::new(-4.0, 0.0, -4.0), 8.0 * Vec3::X, 5.0 * Vec3::Y, 1);
    let mut scene = scene([floor(), wall], vec![matte(Vec3::splat(0.7)), mirror]);
    add_lamps(&mut scene, numbers);
    scene
}

/// Returns the ratio of a mean under 1000 lamps to the sum of means under parts of them.
fn ratio(scene: impl Fn(Range<usize>) -> Scene, mean: impl Fn(&Scene) -> f64) -> f64 {
    let parts = (0..4).map(|part| mean(&scene(250 * part..250 * part + 250)));
    mean(&scene(0..1000)) / parts.sum::<f64>()
}

/// Hits of reflection rays draw lights of their own.
#[test]
fn mirrors_show_all_lights() {
    let gpu = gpu();
    let frames = by_lane(12, 48);
    let ratio = ratio(mirrored, |scene| {
        let mut stage = stage(&gpu, scene, ShadowMode::Rays);
        stage.config.reflections.mode = ReflectionMode::Rays;
        stage.shown = Channel::Reflection;
        let frames = (0..frames).map(|_| mean(&lit(&mut stage, 1)));
        frames.sum::<f64>()
    });
    assert!((ratio - 1.0).abs() < 0.02, "{ratio}");
}

#[test]
fn paths_are_lit_by_all_lights() {
    let gpu = gpu();
    let lit_by = |numbers| {
        let mut scene = grey();
        add_lamps(&mut scene, numbers);
        scene
    };
    let ratio = ratio(lit_by, |scene| {
        let mut stage = stage(&gpu, scene, ShadowMode::Rays);
        stage.config.image.mode = ImageMode::Path;
        stage.config.paths.samples = 64;
        stage.renderer.path_samples = 64;
        mean(&lit(&mut stage, 1))
    });
    assert!((ratio - 1.0).abs() < 0.02, "{ratio}");
}

/// Lights of a frame in the order of their tree.
fn frame_lights(scene: &Scene, stage: &Stage<'_>) -> Vec<Light> {
    let pose = Pose::new(scene, None, 0.0);
    let radius = Bounds::new(scene).scene(scene, &pose).radius();
    let mut lights = lights::gather(scene, &pose, &stage.config, radius);
    tree_of_lights::sort(&mut lights);
    lights
}

#[test]
fn pixels_draw_the_lights_of_the_reference() {
    let gpu = gpu();
    let mut scene = grey();
    add_lamps(&mut scene, 0..700);
    let mut stage = stage(&gpu, &scene, ShadowMode::Off);
    stage.draw(&Pose::new(&scene, None, 0.0), view());
    let chosen = stage.renderer.read_chosen_lights(&gpu).unwrap();
    let positions = stage.channel(Channel::Position).texels;
    let lights = frame_lights(&scene, &stage);
    let tree = LightTree::new(&lights);
    let (mut same, mut compared) = (0, 0);
    for (pixel, position) in positions.iter().enumerate().filter(|(_, texel)| texel[3] == 1.0) {
        let at = DVec3::new(position[0].into(), position[1].into(), position[2].into());
        let place = [pixel as u32 % SIZE[0], pixel as u32 / SIZE[0]];
        let [_, u] = sampling::point(blue_noise::mask(), place, 0, SAMPLE_LIGHT_CHOICE);
        let u = light_tree::number(u, place, 0);
        for (slot, word) in chosen[pixel].iter().enumerate() {
            let expected = tree.draw(at, DVec3::Y, (slot as f64 + u) / 8.0);
            let weight = f64::from(f32::from_bits((word & 0xffff_0000) >> 1));
            let index = (word & 0xffff) as usize;
            compared += 1;
            same += match expected {
                Some((light, chance)) => {
                    let is_same = index == light && (weight * 8.0 * chance - 1.0).abs() < 0.01;
                    u32::from(is_same)
                }
                None => u32::from(weight == 0.0),
            };
        }
    }
    println!("{same} of {compared}");
    // A number that lies at the border between two lights may go either way.
    assert!(
        compared > 3000 && same * 1000 > compared * 995,
        "{same} of {compared}"
    );
}

/// Edits may add lights to an uploaded scene, whose images may have left the memory by then.
#[test]
fn a_scene_may_get_more_lights_than_it_was_uploaded_with() {
    let gpu = gpu();
    let pane = quad(Vec3::new(-1.0, 0.2, 1.0), 2.0 * Vec3::X, -2.0 * Vec3::Z, 1);
    let mut some = scene([floor(), pane], vec![matte(Vec3::splat(0.7)), matte(Vec3::ONE)]);
    add_cutout(&mut some);
    add_lamps(&mut some, 0..2);
    let mut all = some.clone();
    add_lamps(&mut all, 2..300);
    let mut stage_of_some = stage(&gpu, &some, ShadowMode::Rays);
    lit(&mut stage_of_some, 1);
    let fresh = lit(&mut stage(&gpu, &all, ShadowMode::Rays), 1);
    all.images.iter_mut().for_each(|image| image.levels = Vec::new());
    stage_of_some.scene = &all;
    assert!(mean(&fresh) > 0.01);
    assert_eq!(lit(&mut stage_of_some, 1), fresh);
}

/// A hundred equal lamps at one point are as bright as all of them in a frame that looks at each, and then draws from
/// the tree.
#[test]
fn lamps_at_one_point_are_all_drawn() {
    let gpu = gpu();
    for kind in [LightKind::Point, LightKind::Directional] {
        let mut scene = grey();
        for _ in 0..100 {
            add_light(&mut scene, kind, 1.0, Vec3::Y, Vec3::ZERO);
        }
        let mut stage = stage(&gpu, &scene, ShadowMode::Rays);
        let [all, drawn] = [1024, 8].map(|max_rays| {
            stage.config.shadows.max_rays = max_rays;
            mean(&lit(&mut stage, 1))
        });
        assert!(
            all > 0.1 && (drawn / all - 1.0).abs() < 0.01,
            "{kind:?}: {drawn} of {all}"
        );
    }
}

/// The light of lamps that are close together reaches far, also past the light of a sun.
#[test]
fn lamps_at_one_point_are_seen_from_afar() {
    let gpu = gpu();
    let plain = quad(
        Vec3::new(-900.0, 0.0, 900.0),
        1800.0 * Vec3::X,
        -1800.0 * Vec3::Z,
        0,
    );
    let mut scene = scene([plain], vec![matte(Vec3::splat(0.7))]);
    for _ in 0..200 {
        add_light(
            &mut scene,
            LightKind::Point,
            1e6,
            Vec3::new(0.0, 20.0, 0.0),
            Vec3::ZERO,
        );
    }
    add_light(&mut scene, LightKind::Directional, 1e-3, Vec3::Y, Vec3::ZERO);
    let mut stage = stage(&gpu, &scene, ShadowMode::Rays);
    let pose = Pose::new(&scene, None, 0.0);
    let [all, drawn] = [1024, 8].map(|max_rays| {
        stage.config.shadows.max_rays = max_rays;
        let from = Vec3::new(800.0, 3.0, 0.0);
        stage.supersampled(&pose, look_at(from, from - Vec3::new(1.0, 2.0, 0.0), 2000.0), 16);
        let texels = stage.channel(Channel::Lit).texels;
        texels.iter().map(|texel| f64::from(texel[1])).sum::<f64>()
    });
    assert!(all > 0.1 && (drawn / all - 1.0).abs() < 0.02, "{drawn} of {all}");
}

/// Fog, bounces, glass and shadow maps look at lights too.
#[test]
fn every_pass_runs_with_ten_thousand_lights() {
    let gpu = gpu();
    let mut glass = matte(Vec3::ONE);
    glass.layers = Some(Box::new(Layers {
        transmission: 1.0,
        ..Layers::default()
    }));
    let pane = quad(Vec3::new(-1.0, 0.0, 1.0), 2.0 * Vec3::X, 2.0 * Vec3::Y, 1);
    let mut scene = scene([floor(), pane], vec![matte(Vec3::splat(0.7)), glass]);
    add_lamps(&mut scene, 0..10_000);
    for mode in [ShadowMode::Rays, ShadowMode::Map] {
        let mut stage = stage(&gpu, &scene, mode);
        stage.config.fog.density = 0.05;
        stage.config.shadows.map_resolution = 128;
        stage.config.occlusion.mode = OcclusionMode::Rays;
        stage.config.reflections.mode = ReflectionMode::Rays;
        let pixels = lit(&mut stage, 2);
        assert!(pixels.iter().all(|pixel| pixel.is_finite()) && mean(&pixels) > 1.0);
        assert_eq!(stage.renderer.stats().lights, 10_000);
    }
}

#[test]
fn lights_beyond_the_limit_are_off() {
    let mut scene = grey();
    for _ in 0..LIGHT_LIMIT + 3 {
        add_light(&mut scene, LightKind::Point, 1.0, Vec3::Y, Vec3::ZERO);
    }
    let config = Config::default();
    let lights = lights::gather(&scene, &Pose::new(&scene, None, 0.0), &config, 1.0);
    assert_eq!(lights.len(), LIGHT_LIMIT as usize);
    assert_eq!(lights::lights_beyond_limit(&scene, &config), 3);
}
