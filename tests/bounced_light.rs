//! One bounce of light at the hits of ambient occlusion rays: compared with its twin, a closed form and the
//! path tracer.

use crate::common;
use canopy::{
    config::{ImageMode, IndirectLight, OcclusionMode, Switch},
    gpu::Gpu,
    reference::{bounced_light::Surroundings, lbvh::triangles, shadow_start::VisiblePoint},
    render::{Channel, View, frame::blue_noise, light::lights},
    scene::{Image, LightKind, Material, Pose, Sampler, Scene, Texture, TextureRef},
};

use common::{
    by_lane, gpu, plane_height, portable_gpu, random_triangles,
    scenes::{Stage, add_light, look_at, matte, primitive, quad, scene, seen_at, sphere},
};
use glam::{Affine2, DVec3, Vec3};
use std::f64::consts::PI;

const SIZE: [u32; 2] = [48, 36];
const FAR: f64 = 1e30;

/// Stage with one occlusion ray per pixel, no history, no filter, and only the scene's own lights.
fn stage<'a>(gpu: &'a Gpu, scene: &'a Scene) -> Stage<'a> {
    let mut stage = Stage::new(gpu, scene, SIZE);
    stage.darken();
    stage.config.occlusion.mode = OcclusionMode::Rays;
    stage.config.occlusion.rays = 1;
    stage.config.occlusion.history = 1;
    stage.config.occlusion.filter = false;
    stage
}

fn rest(scene: &Scene) -> Pose {
    Pose::new(scene, None, 0.0)
}

fn colored(color: Vec3) -> Material {
    Material {
        double_sided: true,
        ..matte(color)
    }
}

/// A red floor, a green smooth sphere on it, a blue wall and a cloud of grey triangles above.
fn clutter() -> Scene {
    let cloud: Vec<_> = random_triangles(30, 5)
        .into_iter()
        .map(|t| t.map(|v| v * Vec3::new(2.0, 0.5, 2.0) + Vec3::Y * 2.0))
        .collect();
    let wall = Vec3::new(0.3, 0.0, 1.2);
    let colors = [
        Vec3::new(0.9, 0.3, 0.2),
        Vec3::new(0.1, 0.8, 0.3),
        Vec3::new(0.2, 0.3, 1.0),
        Vec3::splat(0.5),
    ];
    scene(
        [
            quad(Vec3::new(-4.0, 0.0, 4.0), 8.0 * Vec3::X, -8.0 * Vec3::Z, 0),
            sphere(Vec3::new(0.7, 0.6, 0.5), 0.6, 8, 1),
            quad(Vec3::new(-1.0, 0.0, -0.6), wall, 0.8 * Vec3::Y, 2),
            primitive(&cloud, 3),
        ],
        colors.map(colored).into(),
    )
}

fn clutter_view() -> View {
    look_at(Vec3::new(1.5, 2.6, 4.2), Vec3::new(0.0, 0.5, 0.0), 30.0)
}

/// Bounced light of every pixel of the last frame; black on the background.
fn bounced(stage: &mut Stage<'_>) -> Vec<DVec3> {
    let texels = stage.channel(Channel::Bounced).texels;
    texels.iter().map(|t| Vec3::from_slice(t).as_dvec3()).collect()
}

/// Twin of a stage with a static scene.
struct Twin {
    triangles: Vec<[Vec3; 3]>,
    corner_normals: Vec<[Vec3; 3]>,
    scattered: Vec<DVec3>,
    lights: Vec<canopy::render::layout::Light>,
    seen: Vec<Option<VisiblePoint>>,
}

impl Twin {
    /// Twin of the last frame.
    fn of(stage: &mut Stage<'_>, view: View) -> Self {
        let merged = stage.merged();
        let soup = triangles(&merged.positions, &merged.indices);
        let channels = [Channel::Position, Channel::Normal, Channel::Mesh];
        let [position, normal, mesh] = channels.map(|channel| stage.channel(channel).texels);
        let seen = (0..position.len()).map(|i| {
            let [at, normal] = [position[i], normal[i]].map(|texel| Vec3::from_slice(&texel));
            let told = (at, normal, mesh[i][0] as usize);
            let is_seen = position[i][3] == 1.0;
            is_seen.then(|| seen_at(&merged, &soup, told, view.eye()))?
        });
        let materials = &stage.scene.materials;
        let scattered = merged.materials.iter();
        Self {
            seen: seen.collect(),
            corner_normals: merged
                .indices
                .iter()
                .map(|corners| corners.map(|v| merged.normals[v as usize]))
                .collect(),
            scattered: scattered
                .map(|&i| materials[i as usize].base_color.truncate().as_dvec3())
                .collect(),
            lights: lights::gather(stage.scene, &rest(stage.scene), &stage.config, 1.0),
            triangles: soup,
        }
    }

    /// Bounced light found by ray `k` of each pixel.
    fn bounced(&self, k: u32) -> Vec<Option<DVec3>> {
        let around = Surroundings {
            triangles: &self.triangles,
            corner_normals: &self.corner_normals,
            scattered: &self.scattered,
            lights: &self.lights,
        };
        let pixel = |(index, seen): (u32, &Option<VisiblePoint>)| {
            let random = (blue_noise::mask(), [index % SIZE[0], index / SIZE[0]]);
            Some(around.along(seen.as_ref()?, random, k, FAR))
        };
        (0..).zip(&self.seen).map(pixel).collect()
    }
}

/// With one light there is no random selection. Each pixel finds what its twin finds with the same ray.
#[test]
fn bounced_light_matches_the_cpu_reference() {
    let mut scene = clutter();
    let (from, to) = (Vec3::new(2.0, 3.0, 2.5), Vec3::ZERO);
    add_light(&mut scene, LightKind::Directional, 3.0, from, to);
    let view = clutter_view();
    // On portable devices too, occlusion rays must match their twin.
    for gpu in [gpu(), portable_gpu()].into_iter().take(by_lane(1, 2)) {
        let mut stage = stage(&gpu, &scene);
        stage.config.occlusion.rays = 2;
        stage.draw(&rest(&scene), view);
        let twin = Twin::of(&mut stage, view);
        for frame in 0..3 {
            if frame > 0 {
                stage.draw(&rest(&scene), view);
            }
            let found = bounced(&mut stage);
            // Compares pixels that are bright in either result.
            let alike = |k: u32| {
                let (mut bright, mut same) = (0, 0);
                for (found, twin) in found.iter().zip(twin.bounced(k)) {
                    let Some(twin) = twin else { continue };
                    let is_bright = found.max(twin).max_element() > 0.01;
                    let is_same = (*found - twin).abs().max_element() < 0.01 * twin.length();
                    bright += u32::from(is_bright);
                    same += u32::from(is_bright && is_same);
                }
                assert!(bright > 50, "{bright}");
                f64::from(same) / f64::from(bright)
            };
            // Rays past an edge, or from the smooth surface, may hit something else.
            let (own, other) = (alike(2 * frame + frame % 2), alike(2 * frame + 1 - frame % 2));
            assert!(own > 0.95 && other < 0.5, "frame {frame}: {own} {other}");
        }
    }
}

/// With several lights, one is selected at random, and the mean matches the sum of all.
#[test]
fn randomly_chosen_lights_have_the_mean_of_all_lights() {
    let gpu = gpu();
    let mut scene = clutter();
    let spot = LightKind::Spot {
        inner_angle: 0.3,
        outer_angle: 0.6,
    };
    for (kind, intensity, from) in [
        (LightKind::Directional, 0.3, Vec3::new(2.0, 3.0, 2.5)),
        (LightKind::Point, 3.0, Vec3::new(-1.0, 1.2, 1.0)),
        (spot, 8.0, Vec3::new(2.5, 2.0, -0.5)),
    ] {
        add_light(&mut scene, kind, intensity, from, Vec3::ZERO);
    }
    let view = clutter_view();
    let mut stage = stage(&gpu, &scene);
    let frames = 64;
    let mut sum = vec![DVec3::ZERO; (SIZE[0] * SIZE[1]) as usize];
    for _ in 0..frames {
        stage.draw(&rest(&scene), view);
        sum.iter_mut()
            .zip(bounced(&mut stage))
            .for_each(|(sum, now)| *sum += now);
    }
    let twin = Twin::of(&mut stage, view);
    let mut expected = vec![DVec3::ZERO; sum.len()];
    for k in 0..frames {
        let now = twin.bounced(k);
        expected
            .iter_mut()
            .zip(now)
            .for_each(|(sum, now)| *sum += now.unwrap_or_default());
    }
    // Totals of blocks of 8 × 8 pixels, and of the whole picture.
    let mut totals = [DVec3::ZERO; 2];
    for block in 0..(SIZE[0] / 8) * (SIZE[1] / 8) {
        let corner = [8 * (block % (SIZE[0] / 8)), 8 * (block / (SIZE[0] / 8))];
        let mut of_block = [DVec3::ZERO; 2];
        for i in 0..64 {
            let pixel = ((corner[1] + i / 8) * SIZE[0] + corner[0] + i % 8) as usize;
            if twin.seen[pixel].is_some() {
                of_block[0] += sum[pixel];
                of_block[1] += expected[pixel];
            }
        }
        let [found, wanted] = of_block.map(|sum| sum.element_sum());
        assert!(
            (found - wanted).abs() < 0.1 * wanted + 2.0,
            "block {block}: {found}, not {wanted}"
        );
        totals
            .iter_mut()
            .zip(of_block)
            .for_each(|(total, of_block)| *total += of_block);
    }
    let ratio = totals[0] / totals[1];
    assert!((ratio - 1.0).abs().max_element() < 0.015, "{ratio}");
}

/// A checkerboard of two colours on a wall. Its mean light arrives.
fn checkered(scene: &mut Scene, material: usize) -> Vec3 {
    let texels = (0..64 * 64).flat_map(|i| match (i % 64 / 8 + i / 64 / 8) % 2 {
        0 => [255, 255, 0, 255],
        _ => [0, 0, 255, 255],
    });
    let image = Image::from_rgba8("checker", 64, 64, texels.collect());
    scene.images.push(image);
    let sampler = Sampler::default();
    scene.textures.push(Texture { image: 0, sampler });
    scene.materials[material].base_color_texture = Some(TextureRef {
        texture: 0,
        uv_set: 0,
        texture_from_uv: Affine2::IDENTITY,
    });
    Vec3::splat(0.5)
}

/// Next to an endless wall of height h at distance d, ½ (1 − d / √(d² + h²)) of the floor's view is wall,
/// which reflects sunlight uniformly.
#[test]
fn light_from_a_sunlit_wall_matches_the_form_factor() {
    let gpu = gpu();
    let (height, half) = (1.0, 400.0);
    let along = 2.0 * half * Vec3::Z;
    let floor = quad(Vec3::new(0.0, 0.0, half), 4.0 * Vec3::X, -along, 0);
    let wall = quad(Vec3::new(0.0, 0.0, half), -along, height * Vec3::Y, 1);
    let mut scene = scene([floor, wall], vec![colored(Vec3::ONE); 2]);
    let color = 0.8 * checkered(&mut scene, 1);
    scene.materials[1].base_color = Vec3::splat(0.8).extend(1.0);
    // 30° off the wall's normal, straight above its foot.
    let from = Vec3::new(30.0_f32.to_radians().cos(), 30.0_f32.to_radians().sin(), 0.0);
    add_light(&mut scene, LightKind::Directional, 2.0, from, Vec3::ZERO);
    let radiance = color.as_dvec3() * 2.0 * 30.0_f64.to_radians().cos() / PI;
    let view = look_at(Vec3::new(1.5, 2.5, 0.5), Vec3::new(1.2, 0.0, 0.0), 20.0);
    for filter in [false, true] {
        let mut stage = stage(&gpu, &scene);
        stage.config.occlusion.history = 1000;
        stage.config.occlusion.filter = filter;
        (0..64).for_each(|_| drop(stage.draw(&rest(&scene), view)));
        let position = stage.channel(Channel::Position).texels;
        let (mut count, mut squares, mut sum) = (0, 0.0, 0.0);
        for (found, at) in bounced(&mut stage).into_iter().zip(position) {
            let (d, h) = (f64::from(at[0]), f64::from(height));
            if at[1].abs() < plane_height(&gpu) && d > 0.05 {
                let expected = radiance * 0.5 * (1.0 - d / d.hypot(h));
                let error = ((found - expected) / radiance).element_sum() / 3.0;
                (count, squares, sum) = (count + 1, squares + error * error, sum + error);
            }
        }
        let (deviation, bias) = ((squares / f64::from(count)).sqrt(), sum / f64::from(count));
        let most = if filter { 0.012 } else { 0.03 };
        assert!(
            count > 500 && deviation < most && bias.abs() < 2e-3,
            "{count} {deviation} {bias}"
        );
    }
}

/// In a closed room with a lamp, the frame is as bright as the path tracer with two bounces. The tolerance
/// covers rough highlights, which Lambertian hits leave out. Without the bounce, a large part is missing.
#[test]
fn a_room_is_as_bright_as_path_tracing_with_two_bounces() {
    let gpu = gpu();
    let sides = [Vec3::X, Vec3::Y, Vec3::Z].into_iter().flat_map(|n| [n, -n]);
    let walls = sides.enumerate().map(|(number, normal)| {
        let u = Vec3::new(normal.y, normal.z, normal.x);
        let v = normal.cross(u);
        quad(-normal - u - v, 2.0 * u, 2.0 * v, number % 3)
    });
    let colors = [
        Vec3::new(0.8, 0.3, 0.3),
        Vec3::splat(0.7),
        Vec3::new(0.3, 0.7, 0.4),
    ];
    let mut scene = scene(
        walls,
        colors
            .map(|color| Material {
                roughness: 1.0,
                ..matte(color)
            })
            .into(),
    );
    add_light(
        &mut scene,
        LightKind::Point,
        2.0,
        Vec3::new(0.2, 0.5, -0.1),
        Vec3::ZERO,
    );
    let view = look_at(Vec3::new(0.6, -0.2, 0.8), Vec3::new(-0.5, -0.4, -0.6), 8.0);
    let lit = |bounce: IndirectLight, mode: ImageMode| {
        let mut stage = stage(&gpu, &scene);
        stage.config.occlusion.bounce = bounce;
        stage.config.occlusion.history = 1000;
        stage.config.image.mode = mode;
        (stage.config.paths.bounces, stage.config.paths.samples) = (2, 64);
        stage.renderer.path_samples = 8;
        let frames = match mode {
            ImageMode::Path => 8,
            ImageMode::Fast => by_lane(24, 48),
        };
        (0..frames).for_each(|_| drop(stage.draw(&rest(&scene), view)));
        let texels = stage.channel(Channel::Lit).texels;
        let sum: DVec3 = texels.iter().map(|t| Vec3::from_slice(t).as_dvec3()).sum();
        sum / texels.len() as f64
    };
    let paths = lit(IndirectLight::One, ImageMode::Path);
    let (with, without) = (
        lit(IndirectLight::One, ImageMode::Fast) / paths,
        lit(IndirectLight::Off, ImageMode::Fast) / paths,
    );
    assert!((with - 1.0).abs().max_element() < 0.04, "{with}");
    assert!(without.max_element() < 0.8, "{without}");
}

/// Light bounces from a strong sun. Once it is off, frames soon match those that never saw it, and are equal
/// in the end.
#[test]
fn switched_off_lights_leave_no_bounced_light() {
    let gpu = gpu();
    let mut scene = clutter();
    add_light(&mut scene, LightKind::Point, 1.0, 2.0 * Vec3::Y, Vec3::ZERO);
    let mut stages = [true, false].map(|sunny| {
        let mut stage = stage(&gpu, &scene);
        stage.config.occlusion.history = 32;
        stage.config.sun.enabled = if sunny { Switch::On } else { Switch::Off };
        stage.config.sun.strength = 20.0;
        (0..24).for_each(|_| drop(stage.draw(&rest(&scene), clutter_view())));
        stage
    });
    let sums = |stages: &mut [Stage<'_>; 2]| {
        stages.each_mut().map(|stage| {
            drop(stage.draw(&rest(&scene), clutter_view()));
            bounced(stage).into_iter().map(DVec3::element_sum).sum::<f64>()
        })
    };
    let [with, without] = sums(&mut stages);
    assert!(with > 4.0 * without, "{with} {without}");
    stages[0].config.sun.enabled = Switch::Off;
    let left: Vec<_> = (0..24)
        .map(|_| sums(&mut stages))
        .map(|[sunny, never]| (sunny - never) / (with - without))
        .collect();
    assert!(left[7] < 0.15 && left[23].abs() < 0.02, "{left:?}");
}

/// Without lights, with the setting off, or without occlusion rays, the passes do not run.
#[test]
fn no_bounce_pass_runs_without_lights_or_occlusion_rays() {
    let gpu = gpu();
    let mut lit = clutter();
    add_light(&mut lit, LightKind::Point, 1.0, Vec3::Y, Vec3::ZERO);
    let dark = clutter();
    let one = ["bounced_light", "bounced_filter"];
    let full = ["bounced_cells", "bounced_filter"];
    let cases: [(_, _, _, &[&str]); 5] = [
        (&lit, OcclusionMode::Rays, IndirectLight::One, &one),
        (&lit, OcclusionMode::Rays, IndirectLight::Off, &[]),
        (&lit, OcclusionMode::Off, IndirectLight::One, &[]),
        (&dark, OcclusionMode::Rays, IndirectLight::One, &[]),
        (&lit, OcclusionMode::Rays, IndirectLight::Full, &full),
    ];
    for (scene, mode, bounce, names) in cases {
        let mut stage = stage(&gpu, scene);
        stage.config.occlusion.mode = mode;
        stage.config.occlusion.bounce = bounce;
        assert_eq!(stage.config.sun.enabled, Switch::Off);
        // Pass times arrive some frames later.
        (0..6).for_each(|_| drop(stage.draw(&rest(scene), clutter_view())));
        let passes = &stage.renderer.stats().passes;
        let ours = passes.iter().filter(|pass| pass.name.starts_with("bounced"));
        let ours: Vec<_> = ours.map(|pass| pass.name.as_str()).collect();
        assert_eq!(ours, names);
        let brightest = bounced(&mut stage)
            .into_iter()
            .map(DVec3::max_element)
            .fold(0.0, f64::max);
        assert_eq!(brightest > 0.01, !names.is_empty(), "{brightest}");
    }
}
