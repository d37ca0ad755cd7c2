//! Shadows of lights with a size: rays over their area, against closed forms and integrals in f64. Many
//! lights within a budget.

use crate::common;
use canopy::{
    config::{Config, ShadowMode, Switch},
    reference::{
        lbvh::{Triangle, triangles},
        light_area::LightSeen,
        shadow_motion::{self, Blocker, Middle},
        shadow_start::ShadowStart,
        signal::{self, Blocked, Eye, Frame, Shadow, SurfacePoint},
    },
    render::{Channel, FrameSample, View, frame::blue_noise, layout::SAMPLE_LIGHTS},
    scene::{self, LightKind, Pose, Progress, Scene},
};

use common::{
    by_lane, gpu,
    scenes::{Stage, add_light, eye, look_at, matte, picture, primitive, quad, scene, seen_at, sphere},
};
use glam::{DVec3, Mat4, Vec3};

/// A light of a scene, as the tests place it.
#[derive(Clone, Copy)]
enum Lamp {
    /// In this direction, with an angular diameter in degrees.
    Sun(Vec3, f32),
    /// At a point, with a radius in metres.
    Sphere(Vec3, f32),
}

impl Lamp {
    fn seen_from(self, point: Vec3) -> LightSeen {
        match self {
            Self::Sun(to_sun, angle) => LightSeen {
                to_light: to_sun.as_dvec3().normalize(),
                distance: None,
                radius: (0.5 * f64::from(angle)).to_radians().sin(),
            },
            Self::Sphere(at, radius) => {
                let offset = at.as_dvec3() - point.as_dvec3();
                LightSeen {
                    to_light: offset.normalize(),
                    distance: Some(offset.length()),
                    radius: radius.into(),
                }
            }
        }
    }
}

/// A floor with a ball, a bar and a roof above.
fn things() -> Scene {
    let roof = [[0.4, 1.3, -0.5], [1.4, 1.3, -0.5], [0.9, 1.6, 0.6]];
    scene(
        [
            quad(Vec3::new(-3.0, 0.0, 3.0), 6.0 * Vec3::X, -6.0 * Vec3::Z, 0),
            sphere(Vec3::new(-0.8, 0.5, 0.2), 0.5, 5, 0),
            quad(Vec3::new(0.1, 0.0, 0.8), 0.05 * Vec3::X, 1.2 * Vec3::Y, 0),
            primitive(&[roof.map(Vec3::from)], 0),
        ],
        vec![scene::Material {
            double_sided: true,
            ..matte(Vec3::ONE)
        }],
    )
}

/// A stage on which only `lamp` shines.
fn lit<'a>(gpu: &'a canopy::gpu::Gpu, scene: &'a mut Scene, lamp: Lamp, size: [u32; 2]) -> Stage<'a> {
    if let Lamp::Sphere(at, _) = lamp {
        add_light(scene, LightKind::Point, 10.0, at, Vec3::ZERO);
    }
    let mut stage = Stage::new(gpu, scene, size);
    match lamp {
        Lamp::Sun(to_sun, angle) => {
            stage.config.sun.enabled = Switch::On;
            stage.config.sun.direction = (-to_sun).to_array();
            stage.config.sun.angle = angle;
        }
        Lamp::Sphere(_, radius) => stage.config.lights.radius = radius,
    }
    stage
}

/// Turns off the filter and the history of shadows.
fn unfiltered(stage: &mut Stage<'_>) {
    stage.config.shadows.filter = false;
    stage.config.shadows.history = 1;
}

/// Data of a pixel of the last frame: the start of its rays, and the share of the light that the frame found.
struct Shown {
    pixel: [u32; 2],
    light: LightSeen,
    start: ShadowStart,
    share: f64,
}

/// Every pixel of the last frame that faces the lamp's centre, and the scene's triangles.
fn shown(stage: &mut Stage<'_>, lamp: Lamp, view: View) -> (Vec<Option<Shown>>, Vec<Triangle>) {
    let channels = [Channel::Position, Channel::Normal, Channel::Mesh, Channel::Shadow];
    let [position, normal, mesh, shadow] = channels.map(|channel| stage.channel(channel).texels);
    let merged = stage.merged();
    let soup = triangles(&merged.positions, &merged.indices);
    let pixel = |i: usize| {
        let at = (position[i][3] == 1.0).then(|| Vec3::from_slice(&position[i]))?;
        let facing = (at, Vec3::from_slice(&normal[i]), mesh[i][0] as usize);
        let seen = seen_at(&merged, &soup, facing, view.eye())?;
        let (light, start) = (lamp.seen_from(at), seen.start());
        let cosine = seen.normal.as_dvec3().dot(light.to_light);
        let faces = cosine > 0.01 && start.horizon_normal.dot(light.to_light) > 0.01;
        faces.then(|| Shown {
            pixel: [i as u32 % stage.size[0], i as u32 / stage.size[0]],
            light,
            start,
            share: f64::from(shadow[i][0]),
        })
    };
    ((0..position.len()).map(pixel).collect(), soup)
}

const LAMPS: [(&str, Lamp); 4] = [
    ("a wide sun", Lamp::Sun(Vec3::new(0.5, 1.0, 0.4), 12.0)),
    ("an evening sun", Lamp::Sun(Vec3::new(1.0, 0.25, 0.3), 3.0)),
    ("a lamp", Lamp::Sphere(Vec3::new(0.2, 2.2, 0.3), 0.35)),
    (
        "a lamp in the floor",
        Lamp::Sphere(Vec3::new(0.9, 0.15, 1.4), 0.3),
    ),
];

fn view() -> View {
    look_at(Vec3::new(0.5, 2.6, 3.6), Vec3::new(0.0, 0.2, 0.0), 20.0)
}

#[test]
fn shadow_visibility_matches_the_cpu_reference() {
    let gpu = gpu();
    for (name, lamp) in LAMPS {
        for (rays, compact) in [(1, true), (4, true), (4, false)] {
            let mut scene = things();
            let mut stage = lit(&gpu, &mut scene, lamp, [48, 32]);
            let pose = Pose::new(stage.scene, None, 0.0);
            stage.config.shadows.rays = rays;
            stage.config.shadows.compact_rays = compact;
            unfiltered(&mut stage);
            // The second frame has rays of its own.
            stage.draw(&pose, view());
            stage.draw(&pose, view());
            let (pixels, soup) = shown(&mut stage, lamp, view());
            let (mut differing, mut soft, mut compared) = (0, 0, 0);
            for pixel in pixels.iter().flatten() {
                let numbers = (blue_noise::mask(), pixel.pixel, SAMPLE_LIGHTS);
                let expected = pixel
                    .light
                    .visible_share(&soup, &pixel.start, numbers, (rays, rays));
                compared += 1;
                soft += u32::from(expected > 0.0 && expected < 1.0);
                differing += u32::from((expected - pixel.share).abs() > 0.003);
            }
            assert!(compared > 700, "{name}: {compared}");
            assert!(rays == 1 || soft > 8, "{name}: {soft} pixels in a penumbra");
            assert!(
                differing * 200 <= compared,
                "{name}, {rays} rays, compact {compact}: {differing} of {compared} differ"
            );
        }
    }
}

/// Visible fraction of a disc whose centre is `t` radii past a straight edge.
fn share_past_edge(t: f64) -> f64 {
    let t = t.clamp(-1.0, 1.0);
    1.0 - (t.acos() - t * (1.0 - t * t).sqrt()) / std::f64::consts::PI
}

#[test]
fn the_penumbra_of_a_straight_edge_matches_the_closed_form() {
    const ANGLE: f32 = 4.0;
    const HEIGHT: f32 = 2.0;
    let gpu = gpu();
    // The roof covers x < 0.
    let mut scene = scene(
        [
            quad(Vec3::new(-1.0, 0.0, 1.0), 2.0 * Vec3::X, -2.0 * Vec3::Z, 0),
            quad(Vec3::new(-9.0, HEIGHT, 9.0), 9.0 * Vec3::X, -18.0 * Vec3::Z, 0),
        ],
        vec![matte(Vec3::ONE)],
    );
    let lamp = Lamp::Sun(Vec3::Y, ANGLE);
    let mut stage = lit(&gpu, &mut scene, lamp, [96, 24]);
    let pose = Pose::new(stage.scene, None, 0.0);
    stage.config.shadows.rays = 64;
    unfiltered(&mut stage);
    let view = look_at(Vec3::new(0.0, 0.08, 0.02), Vec3::ZERO, 20.0);
    let mut sums = vec![0.0; 96 * 24];
    const FRAMES: usize = 4;
    for _ in 0..FRAMES {
        stage.draw(&pose, view);
        let shadow = stage.channel(Channel::Shadow).texels;
        for (sum, found) in sums.iter_mut().zip(shadow) {
            *sum += f64::from(found[0]) / FRAMES as f64;
        }
    }
    let reach = f64::from(HEIGHT) * (0.5 * f64::from(ANGLE)).to_radians().tan();
    let position = stage.channel(Channel::Position).texels;
    let mut errors = Vec::new();
    for (sum, at) in sums.iter().zip(&position).filter(|(_, at)| at[3] == 1.0) {
        let past = f64::from(at[0]) / reach;
        let error = sum - share_past_edge(past);
        match past.abs() < 1.0 {
            true => errors.push(error),
            false => assert_eq!(error, 0.0, "{past} radii past the edge"),
        }
    }
    let count = errors.len() as f64;
    assert!(count > 100.0, "{count} pixels are in the penumbra");
    let bias = errors.iter().sum::<f64>() / count;
    let rms = (errors.iter().map(|e| e * e).sum::<f64>() / count).sqrt();
    let far = errors.iter().filter(|e| e.abs() > 0.01).count() as f64 / count;
    let most = errors.iter().fold(0.0_f64, |most, e| most.max(e.abs()));
    println!("{count} pixels: {rms:.5} rms, {bias:.6} mean, {most:.4} most, {far:.4} past 1 %");
    assert!(bias.abs() < 5e-4, "a bias of {bias}");
    assert!(rms < 0.005 && most < 0.02 && far < 0.05, "{rms}, {most}, {far}");
}

/// Error of the mean of 64 frames of a still picture, relative to the integral over the light in f64. Returns
/// its root mean square and its mean.
fn still_picture_error(lamp: Lamp) -> [f64; 2] {
    const FRAMES: u32 = 64;
    let gpu = gpu();
    let size = [64, 40];
    let mut scene = things();
    let mut stage = lit(&gpu, &mut scene, lamp, size);
    let pose = Pose::new(stage.scene, None, 0.0);
    let target = picture(&gpu, size);
    let mut sums = vec![[0.0, 0.0, 0.0]; (size[0] * size[1]) as usize];
    for index in 0..FRAMES {
        let sample = FrameSample::of(index, FRAMES);
        let encoder = stage.record_only(&pose, view(), sample, &target);
        stage.renderer.submit(&gpu, encoder);
        gpu.wait().unwrap();
        let (pixels, soup) = shown(&mut stage, lamp, view());
        for (sum, pixel) in sums.iter_mut().zip(&pixels) {
            let Some(pixel) = pixel else { continue };
            // Points of a dimension that no pass uses, different in every frame.
            let numbers = (blue_noise::mask(), pixel.pixel, 9999);
            let rays = (12 * index, 12);
            let whole = pixel.light.visible_share(&soup, &pixel.start, numbers, rays);
            *sum = [sum[0] + pixel.share, sum[1] + whole, sum[2] + 1.0];
        }
    }
    let errors = sums.iter().filter(|sum| sum[2] > 0.0);
    let errors: Vec<f64> = errors.map(|sum| (sum[0] - sum[1]) / sum[2]).collect();
    let count = errors.len() as f64;
    assert!(count > 1200.0);
    let square: f64 = errors.iter().map(|e| e * e).sum::<f64>() / count;
    [square.sqrt(), errors.iter().sum::<f64>() / count]
}

#[test]
fn a_still_picture_converges_to_the_integral_over_the_light() {
    // The rays of the other lamps are compared with the twin in shadow_visibility_matches_the_cpu_reference.
    for (name, lamp) in &LAMPS[by_lane(2..3, 0..4)] {
        let [rms, mean] = still_picture_error(*lamp);
        println!("{name}: {rms:.4}, mean {mean:.5}");
        assert!(rms <= 0.02 && mean.abs() <= 0.002, "{name}: {rms}, mean {mean}");
    }
}

#[test]
fn lights_without_size_ignore_soft_shadow_settings() {
    let gpu = gpu();
    for lamp in [
        Lamp::Sun(Vec3::new(0.5, 1.0, 0.4), 0.0),
        Lamp::Sphere(Vec3::new(0.2, 2.2, 0.3), 0.0),
    ] {
        let mut scene = things();
        let mut stage = lit(&gpu, &mut scene, lamp, [96, 64]);
        let pose = Pose::new(stage.scene, None, 0.0);
        let hard = stage.draw(&pose, view());
        stage.config.shadows.rays = 16;
        assert!(stage.draw(&pose, view()) == hard);
        let shadow = stage.channel(Channel::Shadow).texels;
        assert!(shadow.iter().all(|share| [0.0, 1.0].contains(&share[0])));
        stage.config.sun.angle = 4.0;
        stage.config.lights.radius = 0.2;
        assert!(stage.draw(&pose, view()) != hard, "soft shadows are the same");
    }
}

/// `count` lamps of different strength over the scene.
fn stadium(count: usize) -> Scene {
    let mut scene = things();
    for i in 0..count {
        let turn = i as f32 * 2.4;
        let at = Vec3::new(3.0 * turn.cos(), 1.0 + 0.07 * i as f32, 3.0 * turn.sin());
        let kind = LightKind::Point;
        add_light(&mut scene, kind, 1.0 + (i * i % 17) as f32, at, Vec3::ZERO);
    }
    scene
}

/// Mean radiance of a picture over many frames, and the greatest number of rays of a frame.
fn mean_radiance(scene: &Scene, max_rays: u32, rays: u32, frames: u32) -> (Vec<[f32; 4]>, u64) {
    let gpu = gpu();
    let size = [32, 20];
    let mut stage = Stage::new(&gpu, scene, size);
    stage.darken();
    stage.config.lights.radius = 0.1;
    stage.config.shadows.max_rays = max_rays;
    stage.config.shadows.rays = rays;
    let pose = Pose::new(scene, None, 0.0);
    stage.supersampled(&pose, view(), frames);
    stage.renderer.collect(&gpu);
    let sent = stage.renderer.stats().rays;
    (stage.channel(Channel::Lit).texels, sent)
}

fn luminance(texel: &[f32; 4]) -> f64 {
    DVec3::new(texel[0].into(), texel[1].into(), texel[2].into()).dot(DVec3::new(0.21, 0.72, 0.07))
}

#[test]
fn many_lights_stay_within_the_ray_budget_and_are_unbiased() {
    // A quarter of the frames leaves at most twice the noise.
    let (frames, noise) = by_lane((24, 2.0), (96, 1.0));
    let pixels = 32 * 20;
    let scene = stadium(60);
    let (all, sent) = mean_radiance(&scene, 1024, 1, frames);
    assert!(sent > 30 * pixels, "{sent} rays without a budget");
    for (max_rays, rays) in [(8, 2), (8, 1), (1, 1)].into_iter().take(by_lane(1, 3)) {
        let (chosen, sent) = mean_radiance(&scene, max_rays, rays, frames);
        assert!(sent > 0 && sent <= u64::from(max_rays) * pixels, "{sent} rays");
        let [sum, expected] = [&chosen, &all].map(|m| m.iter().map(luminance).sum::<f64>());
        let bias = sum / expected - 1.0;
        let errors = chosen.iter().zip(&all);
        let square: f64 = errors.map(|(a, b)| (luminance(a) - luminance(b)).powi(2)).sum();
        let rms = (square / pixels as f64).sqrt() / (expected / pixels as f64);
        println!("{max_rays} rays, {rays} a light: bias {bias:.5}, error {rms:.4}");
        assert!(bias.abs() < 0.004 * noise, "{max_rays} rays: a bias of {bias}");
        assert!(
            rms < noise * if max_rays == 1 { 0.12 } else { 0.05 },
            "{max_rays}: {rms}"
        );
    }
}

fn root_mean_square(a: &[[f32; 4]], b: &[[f32; 4]]) -> f64 {
    let seen = a.iter().zip(b).filter(|(a, _)| a[3] == 1.0);
    let squares: Vec<f64> = seen.map(|(a, b)| f64::from(a[0] - b[0]).powi(2)).collect();
    (squares.iter().sum::<f64>() / squares.len() as f64).sqrt()
}

/// Errors of the visibility from one ray per pixel, against 48 rays, in some frames of the built-in scene's
/// clip. The settings are for the filter, the history and edges. Ten frames come before, like in a running
/// viewer.
fn moving_errors(angle: f32, settings: &[(bool, u32, u32)]) -> Vec<(f64, u64)> {
    let gpu = gpu();
    let scene = scene::load(&[], &Config::default().load, &Progress::default()).unwrap();
    let stage = |(filter, history, edge_rays)| {
        let mut stage = Stage::new(&gpu, &scene, [160, 90]);
        stage.config.sun.enabled = Switch::On;
        stage.config.sun.angle = angle;
        stage.config.shadows.filter = filter;
        stage.config.shadows.history = history;
        stage.config.shadows.edge_rays = edge_rays;
        stage
    };
    let mut stages: Vec<_> = settings.iter().copied().map(stage).collect();
    let mut converged = stage((false, 1, 1));
    converged.config.shadows.rays = 48;
    let view = look_at(Vec3::new(6.0, 4.0, 8.0), Vec3::Y, 100.0);
    let mut errors = vec![(0.0, 0); settings.len()];
    let (frames, every) = by_lane((30, 10), (40, 5));
    let measured: Vec<_> = (10..frames).filter(|i| i % every == every - 1).collect();
    for frame in 0..frames {
        let pose = Pose::new(&scene, Some(0), frame as f32 / 30.0);
        let shadow = |stage: &mut Stage<'_>| {
            stage.draw(&pose, view);
            stage.channel(Channel::Shadow).texels
        };
        if measured.contains(&frame) {
            let expected = shadow(&mut converged);
            for ((error, rays), stage) in errors.iter_mut().zip(&mut stages) {
                *error += root_mean_square(&shadow(stage), &expected) / measured.len() as f64;
                stage.renderer.collect(&gpu);
                *rays += stage.renderer.stats().rays;
            }
        } else {
            // Without a history, earlier frames have no effect.
            for stage in &mut stages {
                if stage.config.shadows.history > 1 {
                    stage.draw(&pose, view);
                }
            }
        }
    }
    errors
}

#[test]
fn history_and_filter_reduce_the_error_of_a_moving_scene() {
    let errors = moving_errors(8.0, &[(true, 32, 1), (false, 1, 1), (true, 1, 1)]);
    println!("{errors:.4?}");
    let [(both, _), (neither, _), (filtered, _)] = errors[..] else {
        unreachable!("three settings")
    };
    assert!(both < 0.3 * neither, "{both} of {neither}");
    assert!(
        filtered < 0.85 * neither,
        "{filtered} of {neither} without history"
    );
    // The twins and shadow_edges_without_history_get_more_rays test narrow penumbras.
    if by_lane(true, false) {
        return;
    }
    // A narrow penumbra holds little information about surfaces that have moved past it.
    let errors = moving_errors(0.53, &[(true, 32, 1), (false, 1, 1), (true, 32, 6)]);
    println!("{errors:.4?}");
    let [(both, _), (neither, rays), (more, sent)] = errors[..] else {
        unreachable!("three settings")
    };
    assert!(both < 0.42 * neither, "{errors:?}");
    // More rays where the shadows move remove a third of the remaining error. Hardly more are traced than one
    // per pixel.
    assert!(more < 0.24 * neither && more < 0.66 * both, "{errors:?}");
    assert!(sent < rays * 11 / 10, "{errors:?}");
}

/// A light's shadow is the same without other lights, with a light without a size, and with a light with a
/// size, which other kernels filter. The camera and the ball move between frames.
#[test]
fn a_second_light_does_not_change_the_shadow_of_the_first() {
    let gpu = gpu();
    let shadow = |radius: Option<f32>| {
        let mut scene = things();
        if radius.is_some() {
            let at = Vec3::new(0.2, 2.2, 0.3);
            add_light(&mut scene, LightKind::Point, 10.0, at, Vec3::ZERO);
        }
        let mut stage = lit(&gpu, &mut scene, LAMPS[0].1, [64, 40]);
        stage.config.lights.radius = radius.unwrap_or_default();
        let mut pose = Pose::new(stage.scene, None, 0.0);
        let mut texels = Vec::new();
        for frame in 0..6 {
            let moved = 0.02 * frame as f32 * Vec3::X;
            pose.world_from_node[1] = Mat4::from_translation(moved).as_dmat4();
            let eye = Vec3::new(0.5, 2.6, 3.6) + moved;
            stage.draw(&pose, look_at(eye, Vec3::new(0.0, 0.2, 0.0), 20.0));
            texels.extend(stage.channel(Channel::Shadow).texels);
        }
        texels
    };
    let alone = shadow(None);
    let partly = alone.iter().filter(|texel| (0.05..0.95).contains(&texel[0]));
    assert!(partly.count() > 300, "there are penumbras");
    assert!(alone == shadow(Some(0.0)) && alone == shadow(Some(0.2)));
}

/// A second light that gets a size has no history then. Frames in which it had no size must not count as
/// light that arrived.
#[test]
fn a_light_that_gets_a_size_starts_without_history() {
    let gpu = gpu();
    let mut scene = things();
    let at = Vec3::new(0.2, 2.2, 0.3);
    for (intensity, at) in [(0.001, Vec3::new(-2.0, 2.0, 1.0)), (10.0, at)] {
        add_light(&mut scene, LightKind::Point, intensity, at, Vec3::ZERO);
    }
    let pose = Pose::new(&scene, None, 0.0);
    let lit_after = |frames: u32, history: u32, rays: u32| {
        let mut stage = Stage::new(&gpu, &scene, [66, 40]);
        stage.darken();
        stage.config.shadows.history = history;
        stage.config.shadows.rays = rays;
        stage.config.lights.radii = vec![0.1, 0.0];
        for _ in 0..frames {
            stage.draw(&pose, view());
        }
        stage.config.lights.radii = vec![0.1, 0.35];
        stage.draw(&pose, view());
        stage.channel(Channel::Lit).texels
    };
    let expected = lit_after(0, 1, 64);
    let [alone, after] = [1, 32].map(|history| {
        let texels = lit_after(5, history, 1);
        root_mean_square(&texels, &expected)
    });
    println!("{alone} without history, {after} after five frames without a size");
    assert!((after - alone).abs() < 0.01 * alone, "{after} of {alone}");
}

/// Shadows with edges of a frame, and the number of rays that it traces.
fn found_and_sent(stage: &mut Stage<'_>) -> (Vec<[f32; 4]>, u64) {
    let pose = Pose::new(stage.scene, None, 0.0);
    stage.draw(&pose, look_at(Vec3::new(-0.5, 3.0, 3.5), Vec3::ZERO, 20.0));
    stage.renderer.collect(stage.gpu);
    let sent = stage.renderer.stats().rays;
    (stage.channel(Channel::Shadow).texels, sent)
}

/// The second frame traces more rays where 5 × 5 pixels of the first frame found different visibilities,
/// unless there is history. A list and a thread for every pixel give the same.
#[test]
fn shadow_edges_without_history_get_more_rays() {
    let gpu = gpu();
    let size = [72, 48];
    let card = quad(Vec3::new(-0.7, 1.0, 0.7), 1.4 * Vec3::X, -1.4 * Vec3::Z, 0);
    let floor = quad(Vec3::new(-4.0, 0.0, 4.0), 8.0 * Vec3::X, -8.0 * Vec3::Z, 0);
    let sun = Lamp::Sun(Vec3::new(1.0, 1.0, 0.2), 20.0);
    let pictures = [true, false].map(|lists| {
        let mut scene = scene([floor.clone(), card.clone()], vec![matte(Vec3::ONE)]);
        let mut stage = lit(&gpu, &mut scene, sun, size);
        stage.config.shadows.filter = false;
        stage.config.shadows.edge_rays = 4;
        stage.config.shadows.compact_rays = lists;
        let (found, once) = found_and_sent(&mut stage);
        let [width, height] = size.map(|side| side as usize);
        let around = |i: usize| {
            (0..25).map(move |k: usize| {
                let at = |at: usize, step: usize, side: usize| (at + step).saturating_sub(2).min(side - 1);
                at(i / width, k / 5, height) * width + at(i % width, k % 5, width)
            })
        };
        // Nothing blocks the light of the background.
        let surfaces = stage.channel(Channel::Position).texels;
        let is_surface = |i: usize| surfaces[i][3] == 1.0;
        let share = |i: usize| if is_surface(i) { found[i][0] } else { 1.0 };
        let is_edge = |i: &usize| is_surface(*i) && around(*i).any(|k| share(k) != share(*i));
        let edges = (0..width * height).filter(is_edge).count() as u64;
        let (next, more) = found_and_sent(&mut stage);
        assert!(edges > 200, "{edges}");
        assert_eq!(more, once + 3 * edges, "{lists}");
        for _ in 0..20 {
            found_and_sent(&mut stage);
        }
        let (then, later) = found_and_sent(&mut stage);
        assert!(later < once + 3 * edges / 10, "{later} of {once}");
        [(next, more), (then, later)]
    });
    assert_eq!(pictures[0], pictures[1]);

    // A light without a size gets no more rays if there is a light with a size, in this test a lamp below the
    // floor.
    let mut scene = scene([floor, card], vec![matte(Vec3::ONE)]);
    let below = -5.0 * Vec3::Y;
    add_light(&mut scene, LightKind::Point, 1.0, below, Vec3::ZERO);
    let hard = Lamp::Sun(Vec3::new(1.0, 1.0, 0.2), 0.0);
    let mut stage = lit(&gpu, &mut scene, hard, size);
    stage.config.lights.radius = 0.2;
    stage.config.shadows.edge_rays = 4;
    let [(_, once), (_, more)] = [(); 2].map(|()| found_and_sent(&mut stage));
    assert_eq!(once, more);
}

/// The pose in which the card hangs at a point, or is hidden.
fn card_at(stage: &Stage<'_>, at: Option<Vec3>) -> Pose {
    let mut pose = Pose::new(stage.scene, None, 0.0);
    pose.world_from_node[1] = Mat4::from_translation(at.unwrap_or_default()).as_dmat4();
    pose.visible[1] = at.is_some();
    pose
}

/// A floor below a card, under a lamp. Settled pixels are traced in one frame of `retrace`.
fn card_above_a_floor<'a>(
    gpu: &'a canopy::gpu::Gpu,
    scene: &'a mut Scene,
    lamp: Lamp,
    retrace: u32,
) -> Stage<'a> {
    let card = quad(Vec3::new(-0.3, 0.0, 0.3), 0.6 * Vec3::X, -0.6 * Vec3::Z, 0);
    let floor = quad(Vec3::new(-4.0, 0.0, 4.0), 8.0 * Vec3::X, -8.0 * Vec3::Z, 0);
    *scene = common::scenes::scene([floor, card], vec![matte(Vec3::ONE)]);
    let mut stage = lit(gpu, scene, lamp, [72, 48]);
    stage.config.shadows.retrace = retrace;
    stage
}

/// Shadow rays of the last frame.
fn rays_sent(stage: &mut Stage<'_>) -> u64 {
    stage.renderer.collect(stage.gpu);
    stage.renderer.stats().rays
}

/// If the visibility of the neighbourhood has been constant for long, rays are traced in turns: each pixel
/// once in the set number of frames. The picture equals the picture with all rays.
#[test]
fn settled_pixels_are_traced_in_turns() {
    let gpu = gpu();
    let lamp = Lamp::Sun(Vec3::new(0.3, 1.0, 0.2), 4.0);
    let mut scenes = [Scene::default(), Scene::default()];
    let [all, by_turns] = &mut scenes;
    let mut all = card_above_a_floor(&gpu, all, lamp, 1);
    let mut by_turns = card_above_a_floor(&gpu, by_turns, lamp, 8);
    let pose = card_at(&all, Some(Vec3::Y));
    let view = look_at(Vec3::new(0.0, 5.0, 3.0), Vec3::ZERO, 20.0);
    let mut sent = [0, 0];
    for frame in 0..28 {
        for (stage, sent) in [&mut all, &mut by_turns].into_iter().zip(&mut sent) {
            stage.draw(&pose, view);
            if frame >= 20 {
                *sent += rays_sent(stage);
            }
        }
    }
    let [every, few] = sent;
    // An eighth of them, and the neighbours of edges.
    assert!(few > every / 8 && few < every / 3, "{few} of {every}");
    let [every, few] = [&mut all, &mut by_turns].map(|stage| stage.channel(Channel::Shadow).texels);
    assert_eq!(every, few);
}

/// A change that affects settled pixels is visible immediately.
#[test]
fn changes_that_affect_settled_pixels_are_traced_at_once() {
    let gpu = gpu();
    let sun = |x: f32| Lamp::Sun(Vec3::new(x, 1.0, 0.3), 3.0);
    let lamp = Lamp::Sphere(Vec3::new(0.8, 3.0, 0.5), 0.15);
    let here = Some(Vec3::new(-0.6, 0.9, 0.2));
    // The card jumps, and is hidden.
    let places = [
        Some(Vec3::new(0.7, 0.4, -0.3)),
        Some(Vec3::new(0.3, 2.1, 0.2)),
        None,
    ];
    let jumps = places.iter().flat_map(|&there| {
        [sun(0.4), lamp]
            .into_iter()
            .flat_map(move |lamp| [(lamp, here, there), (lamp, there, here)])
    });
    // Every fifth jump includes each position, and either light and direction.
    let jumps = jumps.step_by(by_lane(5, 1));
    let view = look_at(Vec3::new(0.0, 5.0, 3.0), Vec3::ZERO, 20.0);
    let shadow = |stage: &mut Stage<'_>, pose: &Pose| {
        stage.draw(pose, view);
        stage.channel(Channel::Shadow).texels
    };
    for (lamp, before, after) in jumps {
        let [every, few] = [1, 64].map(|retrace| {
            let mut scene = Scene::default();
            let mut stage = card_above_a_floor(&gpu, &mut scene, lamp, retrace);
            let [before, after] = [before, after].map(|at| card_at(&stage, at));
            for _ in 0..12 {
                stage.draw(&before, view);
            }
            let rest = shadow(&mut stage, &before);
            [rest, shadow(&mut stage, &after), shadow(&mut stage, &after)]
        });
        let changed = root_mean_square(&every[0], &every[2]);
        assert!(changed > 0.05, "{changed}");
        for (every, few) in every.iter().zip(&few) {
            let difference = root_mean_square(every, few);
            assert!(
                difference < 0.1 * changed,
                "{difference} of {changed}: {before:?} to {after:?}"
            );
        }
    }
    // A sun that rotates.
    let [every, few] = [1, 64].map(|retrace| {
        let mut scene = Scene::default();
        let mut stage = card_above_a_floor(&gpu, &mut scene, sun(0.4), retrace);
        let pose = card_at(&stage, here);
        for _ in 0..12 {
            stage.draw(&pose, view);
        }
        stage.config.sun.direction = [0.5, -1.0, -0.3];
        [(); 2].map(|()| shadow(&mut stage, &pose))
    });
    for (every, few) in every.iter().zip(&few) {
        assert!(root_mean_square(every, few) < 0.01);
    }
}

/// Animated materials do not discard the history of a shadow that moves.
#[test]
fn animated_materials_keep_the_shadow_history() {
    let gpu = gpu();
    let lamp = Lamp::Sun(Vec3::new(0.4, 1.0, 0.3), 8.0);
    let view = look_at(Vec3::new(0.0, 5.0, 3.0), Vec3::ZERO, 20.0);
    let pictures = [1, 64].map(|retrace| {
        let mut scene = Scene::default();
        let mut stage = card_above_a_floor(&gpu, &mut scene, lamp, retrace);
        for frame in 0..16 {
            let at = Vec3::new(0.03 * frame as f32 - 0.5, 1.0, 0.0);
            let mut pose = card_at(&stage, Some(at));
            let mut material = stage.scene.materials[0].clone();
            material.roughness = 0.5 + 0.02 * frame as f32;
            pose.materials = vec![(0, material)];
            stage.draw(&pose, view);
        }
        stage.channel(Channel::Shadow).texels
    });
    assert_eq!(pictures[0], pictures[1]);
}

/// Mean visibility, in each frame after a jump, of the pixels in the shadow of a card above a floor. The card
/// jumps aside after `before` frames.
fn after_a_jump(before: u32) -> Vec<f64> {
    let gpu = gpu();
    let card = quad(Vec3::new(-0.7, 1.0, 0.7), 1.4 * Vec3::X, -1.4 * Vec3::Z, 0);
    let floor = quad(Vec3::new(-4.0, 0.0, 4.0), 8.0 * Vec3::X, -8.0 * Vec3::Z, 0);
    let mut scene = scene([floor, card], vec![matte(Vec3::ONE)]);
    let mut stage = lit(
        &gpu,
        &mut scene,
        Lamp::Sun(Vec3::new(1.0, 1.0, 0.0), 10.0),
        [120, 80],
    );
    let pose = |at: Vec3| {
        let mut pose = Pose::new(stage.scene, None, 0.0);
        pose.world_from_node[1] = Mat4::from_translation(at).as_dmat4();
        pose
    };
    // It also rises, so that both frames have moved. The shadow stays in place.
    let rests: Vec<_> = (0..before).map(|i| pose(1e-3 * i as f32 * Vec3::Y)).collect();
    let jumps: Vec<_> = (0..8)
        .map(|i| pose(Vec3::new(1.6, 1e-3 * i as f32, 0.0)))
        .collect();
    let view = look_at(Vec3::new(0.0, 6.0, 0.01), Vec3::ZERO, 20.0);
    for pose in &rests {
        stage.draw(pose, view);
    }
    let dark = stage.channel(Channel::Shadow).texels;
    let position = stage.channel(Channel::Position).texels;
    jumps
        .iter()
        .map(|pose| {
            stage.draw(pose, view);
            let shadow = stage.channel(Channel::Shadow).texels;
            let left = (0..dark.len())
                .filter(|i| dark[*i][0] < 0.02 && position[*i][1] < 0.5 && position[*i][0] < -0.5);
            let shares: Vec<f64> = left.map(|i| f64::from(shadow[i][0])).collect();
            assert!(shares.len() > 100);
            shares.iter().sum::<f64>() / shares.len() as f64
        })
        .collect()
}

#[test]
fn a_moving_shadow_leaves_no_trail() {
    let shares = after_a_jump(20);
    println!("{shares:.4?}");
    assert!(shares[3] > 0.98, "{shares:?}");
}

/// Mean and root mean square of the difference in visibility between soft shadow maps and 64 rays per pixel.
fn map_difference(lamp: Lamp) -> [f64; 2] {
    let gpu = gpu();
    let mut scene = things();
    let mut stage = lit(&gpu, &mut scene, lamp, [96, 64]);
    let pose = Pose::new(stage.scene, None, 0.0);
    unfiltered(&mut stage);
    stage.config.shadows.rays = 64;
    stage.draw(&pose, view());
    let (pixels, _) = shown(&mut stage, lamp, view());
    stage.config.shadows.mode = ShadowMode::Map;
    stage.draw(&pose, view());
    let map = stage.channel(Channel::Shadow).texels;
    let seen = pixels.iter().zip(&map);
    let errors = seen.filter_map(|(pixel, map)| Some(f64::from(map[0]) - pixel.as_ref()?.share));
    let errors: Vec<f64> = errors.collect();
    let count = errors.len() as f64;
    let square = errors.iter().map(|e| e * e).sum::<f64>() / count;
    [errors.iter().sum::<f64>() / count, square.sqrt()]
}

#[test]
fn shadow_map_penumbrae_match_the_light_size() {
    for (name, lamp) in &LAMPS[..3] {
        let [mean, rms] = map_difference(*lamp);
        println!("{name}: {mean:.4} mean, {rms:.4} rms");
        assert!(mean.abs() < 0.02 && rms < 0.12, "{name}: {mean}, {rms}");
    }
}

/// Result of the twin for frame number `index`, one ray per pixel. Also returns the shadows where mesh 1 has
/// `moved` and is the only blocker of light.
fn twin_rays(
    stage: &mut Stage<'_>,
    lamp: Lamp,
    eye: &Eye,
    index: u32,
    moved: Vec3,
) -> (Frame<Blocked>, Vec<Shadow>) {
    let channels = [Channel::Position, Channel::Normal, Channel::Mesh];
    let [position, normal, mesh] = channels.map(|channel| stage.channel(channel).texels);
    let merged = stage.merged();
    let soup = triangles(&merged.positions, &merged.indices);
    let pixel = |i: usize| {
        let at = (position[i][3] == 1.0).then(|| Vec3::from_slice(&position[i]))?;
        let mesh = mesh[i][0] as usize;
        let facing = (at, Vec3::from_slice(&normal[i]), mesh);
        let seen = seen_at(&merged, &soup, facing, eye.position.as_vec3())?;
        let (light, start) = (lamp.seen_from(at), seen.start());
        let pixel = [i as u32 % eye.size[0], i as u32 / eye.size[0]];
        let numbers = (blue_noise::mask(), pixel, SAMPLE_LIGHTS);
        let (share, distance) = light.blocked(&soup, &start, numbers, (index, 1));
        let behind = light.distance.map_or(1.0, |all| all - distance);
        let width = 2.0 * light.radius * distance / behind / eye.pixel_width(start.position);
        let last = if mesh == 1 { at - moved } else { at };
        let point = SurfacePoint {
            position: at.as_dvec3(),
            last_position: last.as_dvec3(),
            normal: start.geometric_normal,
            mesh,
            frames: 1,
        };
        let width = share * width;
        let frames = 1.0;
        Some((point, Blocked { share, width, frames }))
    };
    let found: Frame<Blocked> = (0..position.len()).map(pixel).collect();
    let corners = soup[soup.len() - 1].map(Vec3::as_dvec3);
    let card = Blocker {
        corners,
        last_corners: corners.map(|corner| corner - moved.as_dvec3()),
    };
    let surface = |seen: &Option<(SurfacePoint, Blocked)>| seen.map(|(at, _)| (at, at.normal));
    let surfaces: Vec<_> = found.iter().map(surface).collect();
    let blocks = |seen: &Option<(SurfacePoint, Blocked)>| {
        seen.filter(|(_, blocked)| blocked.share > 0.0).map(|_| card)
    };
    let blockers: Vec<_> = found.iter().map(blocks).collect();
    let middle = match lamp {
        Lamp::Sun(to_sun, _) => Middle::Towards(to_sun.as_dvec3().normalize()),
        Lamp::Sphere(at, _) => Middle::At(at.as_dvec3()),
    };
    let shadows = shadow_motion::shadows(middle, eye.size[0] as usize, &surfaces, &blockers);
    (found, shadows)
}

#[test]
fn history_and_filter_match_the_cpu_reference() {
    compare_with_twins(Lamp::Sun(Vec3::new(1.0, 1.0, 0.2), 20.0));
    compare_with_twins(Lamp::Sphere(Vec3::new(0.6, 2.4, 0.3), 0.4));
}

fn compare_with_twins(lamp: Lamp) {
    const HISTORY: u32 = 6;
    let gpu = gpu();
    let size = [72, 48];
    // One card over a floor, so any first hit of a ray is at this distance.
    let card = quad(Vec3::new(-0.7, 1.0, 0.7), 1.4 * Vec3::X, -1.4 * Vec3::Z, 0);
    let floor = quad(Vec3::new(-4.0, 0.0, 4.0), 8.0 * Vec3::X, -8.0 * Vec3::Z, 0);
    let mut scene = scene([floor, card], vec![matte(Vec3::ONE)]);
    let mut stage = lit(&gpu, &mut scene, lamp, size);
    stage.config.shadows.history = HISTORY;
    let mut before: Option<(Frame<Blocked>, Eye, Vec3)> = None;
    for frame in 0..10_u32 {
        // The card moves a little, jumps and rests. The camera does the same.
        let at = Vec3::X * [0.0, 0.05, 0.1, 0.9, 0.92, 0.94, 0.96, 0.96, 0.96, 0.96][frame as usize];
        let step = Vec3::new(0.04, 0.02, -0.03) * frame.min(3) as f32;
        let view = look_at(Vec3::new(-0.5, 3.0, 3.5) + step, Vec3::ZERO, 20.0);
        let mut pose = Pose::new(stage.scene, None, 0.0);
        pose.world_from_node[1] = Mat4::from_translation(at).as_dmat4();
        stage.draw(&pose, view);
        let found = stage.channel(Channel::Shadow).texels;
        let now = eye(view, size);
        let moved = before.as_ref().map_or(Vec3::ZERO, |(.., was)| at - *was);
        let (noisy, shadows) = twin_rays(&mut stage, lamp, &now, frame, moved);
        let max_history = HISTORY.min(frame + 1) - 1;
        let mean = match &before {
            None => noisy.clone(),
            Some((last, eye, _)) => {
                signal::accumulate_blocked(&noisy, &now, last, eye, &shadows, max_history)
            }
        };
        let filtered = [4, 2, 1].iter().fold(mean.clone(), |all, step| {
            signal::filter_blocked(&all, &now, 1, *step)
        });
        let difference = |twin: &Frame<Blocked>| {
            let both = found.iter().zip(twin);
            let off = both.filter_map(|(found, twin)| {
                let (_, blocked) = twin.as_ref()?;
                Some((1.0 - blocked.share - f64::from(found[0])).abs())
            });
            let mut off: Vec<f64> = off.collect();
            assert!(off.len() > 2000);
            off.sort_by(f64::total_cmp);
            let mean = off.iter().sum::<f64>() / off.len() as f64;
            [off[off.len() * 98 / 100], mean]
        };
        let ([most, average], [_, unfiltered]) = (difference(&filtered), difference(&mean));
        assert!(most < 0.02 && average < 3e-3, "{frame}: {most}, {average}");
        assert!(unfiltered > 3.0 * average, "{frame}: {unfiltered}");
        before = Some((mean, now, at));
    }
}

/// Ratio of the error of the last of 30 frames, in visibility, to the error of one frame's rays. It measures
/// the gain from history for a card that moves by `card`, or a floor that moves by `floor`, in one frame.
/// With `dim` lamps that give almost no light, a further lamp shines and its radiance is compared. Without
/// any, it is the sun.
fn error_with_history(card: Mat4, floor: Mat4, dim: usize) -> f64 {
    error_of_history(&gpu(), card, floor, dim)
}

fn error_of_history(gpu: &canopy::gpu::Gpu, card: Mat4, floor: Mat4, dim: usize) -> f64 {
    let at = quad(Vec3::new(-0.7, 1.0, 0.7), 1.4 * Vec3::X, -1.4 * Vec3::Z, 0);
    let below = quad(Vec3::new(-4.0, 0.0, 4.0), 8.0 * Vec3::X, -8.0 * Vec3::Z, 0);
    let mut scene = scene([below, at], vec![matte(Vec3::ONE)]);
    for _ in 0..dim {
        add_light(&mut scene, LightKind::Point, 1e-6, 3.0 * Vec3::Y, Vec3::ZERO);
    }
    let (lamp, channel) = match dim {
        0 => (Lamp::Sun(Vec3::new(1.0, 1.0, 0.2), 6.0), Channel::Shadow),
        _ => (Lamp::Sphere(Vec3::new(1.0, 2.4, 0.2), 0.2), Channel::Lit),
    };
    let mut stage = lit(gpu, &mut scene, lamp, [120, 76]);
    if dim > 0 {
        stage.darken();
    }
    let mut pose = Pose::new(stage.scene, None, 0.0);
    let poses: Vec<Pose> = (0..30)
        .map(|_| {
            for (node, step) in [floor, card].into_iter().enumerate() {
                pose.world_from_node[node] = step.as_dmat4() * pose.world_from_node[node];
            }
            pose.clone()
        })
        .collect();
    let mut last_of = |history: u32, rays: u32, poses: &[Pose]| {
        stage.config.shadows.history = history;
        stage.config.shadows.filter = history > 1;
        stage.config.shadows.rays = rays;
        let view = look_at(Vec3::new(-0.5, 3.0, 3.5), Vec3::ZERO, 20.0);
        for pose in poses {
            stage.draw(pose, view);
        }
        stage.channel(channel).texels
    };
    let all = last_of(32, 1, &poses);
    let [one, exact] = [1, 64].map(|rays| last_of(1, rays, &poses[29..]));
    root_mean_square(&all, &exact) / root_mean_square(&one, &exact)
}

#[test]
fn a_shadow_keeps_its_history_while_it_moves() {
    let (still, turn) = (Mat4::IDENTITY, Mat4::from_rotation_y(0.02));
    let by = Mat4::from_translation;
    let cases = [
        ("the floor turns", still, turn, 0, 0.25),
        ("a card turns under the fourth lamp", turn, still, 3, 0.25),
        ("a card turns under the third lamp", turn, still, 2, 0.25),
        ("a card slides", by(Vec3::new(0.02, 0.0, 0.01)), still, 0, 0.25),
        ("a card rises", by(0.01 * Vec3::Y), still, 0, 0.25),
        ("a card turns", turn, still, 0, 0.25),
        ("the floor slides", still, by(0.02 * Vec3::X), 0, 0.25),
        // The penumbra becomes narrower, and the shadow runs across the surface.
        ("the floor rises", still, by(0.01 * Vec3::Y), 0, 0.42),
    ];
    for (name, card, floor, dim, most) in cases.into_iter().take(by_lane(2, 8)) {
        let ratio = error_with_history(card, floor, dim);
        println!("{name}: {ratio:.3}");
        assert!(ratio < most, "{name}: {ratio}");
    }
}

/// The same error for a card that slides, on an adapter with this limit of image layers.
fn error_with_layers(layers: u32) -> f64 {
    let mut gpu = gpu();
    gpu.limits.max_texture_array_layers = layers;
    error_of_history(&gpu, Mat4::from_translation(0.04 * Vec3::X), Mat4::IDENTITY, 0)
}

#[test]
fn moving_shadows_lose_history_without_tracking_layers() {
    let [followed, not_followed] = [256, 3].map(error_with_layers);
    println!("{followed:.3}, {not_followed:.3}");
    assert!(followed < 0.3, "{followed}");
    // With all of the history it is 0.65.
    assert!(
        not_followed > 2.0 * followed && not_followed < 0.6,
        "{not_followed}"
    );
}
