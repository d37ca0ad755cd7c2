//! Fog: closed forms, quadrature in f64, light shafts, moving lamps, walls, and surfaces seen through fog.

use crate::common;
use canopy::{
    config::{Background, ImageMode, OcclusionMode, PathKernels, ReflectionMode, ShadowMode, Switch},
    gpu::Gpu,
    reference::fog::{self, Fog},
    render::{Channel, View, paths::MAX_ADDED},
    scene::{AlphaMode, LightKind, Material, Pose, Projection, Scene, Transform},
};
use common::{
    by_lane, gpu,
    scenes::{Stage, add_light, look_at, matte, quad, scene},
};
use glam::{DVec3, Mat4, Vec3};

const SIZE: [u32; 2] = [48, 36];

fn both_sides(color: Vec3) -> Material {
    Material {
        double_sided: true,
        ..matte(color)
    }
}

/// A stage lit only by the scene's lights, with ray-traced shadows and uniform fog.
fn stage<'a>(gpu: &'a Gpu, scene: &'a Scene) -> Stage<'a> {
    let mut stage = Stage::new(gpu, scene, SIZE);
    stage.darken();
    stage.config.shadows.mode = ShadowMode::Rays;
    stage.config.fog.density = 0.3;
    stage.config.fog.albedo = [0.9, 0.6, 0.3];
    stage.config.fog.anisotropy = 0.3;
    stage.config.fog.rows = 18;
    stage.config.fog.slices = 32;
    stage
}

/// The same stage with the settings' sun.
fn sunny<'a>(gpu: &'a Gpu, scene: &'a Scene, direction: Vec3) -> Stage<'a> {
    let mut stage = stage(gpu, scene);
    stage.config.sun.enabled = Switch::On;
    stage.config.sun.direction = direction.to_array();
    stage.config.sun.strength = 2.0;
    stage.config.sun.color = [1.0, 0.8, 0.5];
    stage
}

fn medium(stage: &Stage<'_>) -> Fog {
    let fog = &stage.config.fog;
    Fog {
        density: fog.density.into(),
        base: fog.height.into(),
        falloff: fog.height_falloff.into(),
        noise: fog.noise.into(),
        noise_size: fog.noise_size.into(),
    }
}

fn rest(scene: &Scene) -> Pose {
    Pose::new(scene, None, 0.0)
}

/// Inscattering and transmittance of every pixel of the last frame, and the visible point.
fn found(stage: &mut Stage<'_>) -> Vec<(DVec3, f64, Option<DVec3>)> {
    let mut channel = |channel| stage.channel(channel).texels;
    let scattered = channel(Channel::Scattered);
    let (passes, position) = (channel(Channel::Transmittance), channel(Channel::Position));
    let pixels = scattered.iter().zip(&passes).zip(&position);
    pixels
        .map(|((scattered, passes), position)| {
            let at = Vec3::from_slice(position).as_dvec3();
            let seen = (position[3] != 0.0).then_some(at);
            let scattered = Vec3::from_slice(scattered).as_dvec3();
            (scattered, f64::from(passes[0]), seen)
        })
        .collect()
}

/// Origin and unit direction of the view ray of a pixel.
fn ray(view: &View, pixel: usize) -> (DVec3, DVec3) {
    let [x, y] = [pixel as u32 % SIZE[0], pixel as u32 / SIZE[0]];
    let at = glam::Vec2::new(x as f32 + 0.5, y as f32 + 0.5);
    let [origin, direction] = view.ray(at, SIZE);
    (origin.as_dvec3(), direction.as_dvec3().normalize())
}

/// A wall that faces the origin from a distance of 6 metres.
fn wall() -> Scene {
    let corner = Vec3::new(-8.0, -8.0, -6.0);
    scene(
        [quad(corner, 16.0 * Vec3::X, 16.0 * Vec3::Y, 0)],
        vec![both_sides(Vec3::ONE)],
    )
}

fn parallel(mut view: View) -> View {
    view.projection = Projection::Orthographic { half_height: 2.0 };
    view
}

/// Uniform fog and fog with a height falloff, in sunlight without shadows. Transmittance is compared with the
/// closed form, and light with quadrature.
#[test]
fn fog_in_sunlight_matches_the_closed_form() {
    let gpu = gpu();
    let scene = wall();
    let sun = Vec3::new(0.3, -0.5, -1.0);
    let mut stage = sunny(&gpu, &scene, sun);
    stage.config.shadows.mode = ShadowMode::Off;
    let straight = look_at(Vec3::ZERO, Vec3::NEG_Z, 30.0);
    let tilted = look_at(Vec3::new(0.0, 1.0, 0.0), Vec3::new(1.0, 0.0, -3.0), 30.0);
    let views = [straight, tilted, parallel(straight)];
    for (view, falloff) in [(0, 0.0), (1, 0.0), (2, 0.0), (1, 0.7), (2, 0.7)] {
        let view = views[view];
        stage.config.fog.height_falloff = falloff;
        (0..8).for_each(|_| drop(stage.draw(&rest(&scene), view)));
        let fog = medium(&stage);
        let strength = DVec3::new(2.0, 1.6, 1.0) * DVec3::new(0.9, 0.6, 0.3);
        let mut seen = 0;
        for (pixel, (scattered, passes, at)) in found(&mut stage).into_iter().enumerate() {
            let Some(at) = at else { continue };
            let (origin, direction) = ray(&view, pixel);
            let expected = (-fog.optical_depth(origin, at)).exp();
            assert!(
                (passes - expected).abs() <= 0.005 * expected,
                "{falloff}: {passes} {expected}"
            );
            // Positive if the view direction points along the sunlight.
            let cosine = -sun.as_dvec3().normalize().dot(direction);
            let light = fog::phase(0.3_f32.into(), cosine) * strength;
            let expected = (1.0 - expected) * light;
            let off = (scattered - expected).abs().max_element();
            assert!(
                off <= 0.005 * expected.max_element(),
                "{falloff}: {scattered} {expected}"
            );
            seen += 1;
        }
        assert!(seen > 1000);
    }
}

/// The background lies behind the whole fog.
#[test]
fn the_background_lies_behind_all_fog() {
    let gpu = gpu();
    let scene = scene(
        [quad(Vec3::splat(-50.0), Vec3::X, Vec3::Z, 0)],
        vec![matte(Vec3::ONE)],
    );
    let mut stage = stage(&gpu, &scene);
    stage.config.image.background = [0.5; 3];
    stage.config.fog.height_falloff = 0.4;
    let view = look_at(Vec3::Y, Vec3::new(0.0, 1.2, -1.0), 30.0);
    stage.draw(&rest(&scene), view);
    let fog = medium(&stage);
    let lit = stage.channel(Channel::Lit).texels;
    for (pixel, (_, passes, at)) in found(&mut stage).into_iter().enumerate() {
        assert_eq!(at, None);
        let (origin, direction) = ray(&view, pixel);
        let expected = (-fog.optical_depth_beyond(origin, direction)).exp();
        assert!((passes - expected).abs() <= 0.005, "{passes} {expected}");
        let shown = f64::from(lit[pixel][0]);
        assert!((shown - 0.5 * passes).abs() <= 0.002, "{shown} {passes}");
    }
    // The alpha of a transparent picture is one minus the transmittance.
    stage.config.environment.background = Background::Transparent;
    stage.draw(&rest(&scene), view);
    let lit = stage.channel(Channel::Lit).texels;
    for ((_, passes, _), texel) in found(&mut stage).into_iter().zip(lit) {
        assert!((f64::from(texel[3]) - (1.0 - passes)).abs() < 0.002);
    }
}

/// Light of a lamp in fog with a height falloff, attenuated on its way, compared with quadrature.
#[test]
fn lamp_light_is_attenuated_on_its_way_through_fog() {
    let gpu = gpu();
    let mut scene = wall();
    let lamp = Vec3::new(1.0, 0.5, -4.0);
    add_light(&mut scene, LightKind::Point, 5.0, lamp, Vec3::ZERO);
    let mut stage = stage(&gpu, &scene);
    stage.config.fog.height_falloff = 0.5;
    stage.config.fog.anisotropy = -0.2;
    stage.config.fog.rows = 36;
    stage.config.fog.slices = 64;
    let view = look_at(Vec3::new(0.0, 0.2, 0.0), Vec3::NEG_Z, 30.0);
    (0..16).for_each(|_| drop(stage.draw(&rest(&scene), view)));
    let (fog, lamp) = (medium(&stage), lamp.as_dvec3());
    let (mut off, mut sum) = (0.0, 0.0);
    for (pixel, (scattered, _, at)) in found(&mut stage).into_iter().enumerate() {
        let (origin, direction) = ray(&view, pixel);
        let distance = origin.distance(at.unwrap());
        // Light near the lamp is spread over the froxel.
        let to_lamp = (lamp - origin).dot(direction);
        if (origin + to_lamp * direction).distance(lamp) < 0.4 {
            continue;
        }
        let light = |at: DVec3| {
            let to_light = (lamp - at).normalize();
            let arriving = 5.0 * (-fog.optical_depth(at, lamp)).exp() / at.distance_squared(lamp);
            let phase = fog::phase(f64::from(-0.2_f32), to_light.dot(direction));
            DVec3::new(0.9, 0.6, 0.3) * arriving * phase
        };
        let along = (origin, direction);
        let (expected, _) = fog::march(along, distance, 400, |at| fog.extinction(at), light);
        off += (scattered - expected).abs().element_sum();
        sum += expected.element_sum();
    }
    assert!(off < 0.01 * sum, "{off} of {sum}");
}

/// Two walls with a slit between them.
fn slit() -> Scene {
    let far = 20.0;
    let left = Vec3::new(-far, -far, -4.0);
    let right = Vec3::new(0.7, -far, -4.0);
    let side = (far - 0.7) * Vec3::X;
    scene(
        [
            quad(left, side, 2.0 * far * Vec3::Y, 0),
            quad(right, side, 2.0 * far * Vec3::Y, 0),
        ],
        vec![both_sides(Vec3::ZERO)],
    )
}

/// Sunlight through a slit, compared with quadrature with exact visibility, for ray-traced shadows and for
/// shadow maps.
#[test]
fn light_shafts_match_quadrature_with_exact_visibility() {
    let gpu = gpu();
    let scene = slit();
    let sun = Vec3::new(0.5, -0.2, 1.0);
    let mut stage = sunny(&gpu, &scene, sun);
    stage.config.fog.density = 0.15;
    stage.config.fog.rows = 36;
    stage.config.fog.slices = 64;
    stage.config.fog.history = 64;
    let view = look_at(Vec3::new(-2.5, 0.3, 1.0), Vec3::new(0.4, 0.0, -2.0), 30.0);
    // Most of the error comes from the froxels' resolution, which more frames do not change.
    let frames = by_lane([16, 8], [64, 24]);
    (0..frames[0]).for_each(|_| drop(stage.draw(&rest(&scene), view)));
    let by_rays = found(&mut stage);
    stage.config.shadows.mode = ShadowMode::Map;
    (0..frames[1]).for_each(|_| drop(stage.draw(&rest(&scene), view)));
    let by_maps = found(&mut stage);

    let fog = medium(&stage);
    let to_sun = -sun.as_dvec3().normalize();
    let expected = (0..by_rays.len()).map(|pixel| {
        let (origin, direction) = ray(&view, pixel);
        let distance = by_rays[pixel].2.map_or(60.0, |at| at.distance(origin));
        let phase = fog::phase(0.3_f32.into(), to_sun.dot(direction));
        let light = |at: DVec3| {
            let through = at + (-4.0 - at.z) / to_sun.z * to_sun;
            // Behind the walls, nothing occludes the sun.
            let is_lit = at.z < -4.0 || through.x.abs() < 0.7;
            DVec3::splat(if is_lit { 0.9 * 2.0 * phase } else { 0.0 })
        };
        let along = (origin, direction);
        fog::march(along, distance, 4000, |at| fog.extinction(at), light)
            .0
            .x
    });
    let expected: Vec<_> = expected.collect();
    // Leaves out the view through the slit, where the fog is endless.
    let is_wall = |pixel: &usize| by_rays[*pixel].2.is_some();
    let walls: Vec<_> = (0..expected.len()).filter(is_wall).collect();
    assert!(walls.len() > 1000);
    let peak = walls.iter().map(|i| expected[*i]).fold(0.0, f64::max);
    let least = walls.iter().map(|i| expected[*i]).fold(peak, f64::min);
    assert!(least < 0.1 * peak, "{least} {peak}: there is no shaft");
    for found in [&by_rays, &by_maps] {
        let errors = walls.iter().map(|i| found[*i].0.x - expected[*i]);
        let errors: Vec<_> = errors.map(|error| error.abs() / peak).collect();
        let mean = errors.iter().sum::<f64>() / errors.len() as f64;
        let square = errors.iter().map(|error| error * error).sum::<f64>();
        let rms = (square / errors.len() as f64).sqrt();
        let most = errors.iter().copied().fold(0.0, f64::max);
        println!("mean {mean:.4}, RMS {rms:.4}, most {most:.4} of the peak {peak:.4}");
        assert!(rms < 0.02, "{rms}");
    }
}

/// A moving lamp lights its new position at once, and its shadow leaves no trace after eight frames.
#[test]
fn moving_lamps_and_shadows_leave_no_trail() {
    let gpu = gpu();
    let place = |lamp: f32, plate: f32| {
        let corner = Vec3::new(-0.8, -3.0, -3.5);
        let plate_at = Mat4::from_translation(plate * Vec3::X);
        let mut scene = scene(
            [
                quad(Vec3::new(-8.0, -8.0, -6.0), 16.0 * Vec3::X, 16.0 * Vec3::Y, 0),
                quad(corner, 1.6 * Vec3::X, 6.0 * Vec3::Y, 0),
            ],
            vec![both_sides(Vec3::ZERO)],
        );
        scene.nodes[1].transform = Transform::Matrix(plate_at.as_dmat4());
        let at = Vec3::new(lamp, 0.0, -5.0);
        add_light(&mut scene, LightKind::Point, 5.0, at, Vec3::ZERO);
        scene
    };
    let scene = place(-1.5, 90.0);
    let mut stage = stage(&gpu, &scene);
    let view = look_at(Vec3::ZERO, Vec3::NEG_Z, 30.0);
    // Light of both halves of the picture.
    let halves = |stage: &mut Stage<'_>, pose: &Pose, frames: u32| {
        (0..frames).for_each(|_| drop(stage.draw(pose, view)));
        let pixels = found(stage).into_iter().enumerate();
        pixels.fold([0.0; 2], |mut sums, (pixel, (scattered, ..))| {
            sums[usize::from(pixel as u32 % SIZE[0] >= SIZE[0] / 2)] += scattered.x;
            sums
        })
    };
    let moved = |stage: &mut Stage<'_>, from: [f32; 2], to: [f32; 2], frames: u32| {
        let [from, to] = [from, to].map(|[lamp, plate]| rest(&place(lamp, plate)));
        let long = by_lane(20, 40);
        let settled = halves(stage, &to, long);
        let first = halves(stage, &from, long);
        let now = halves(stage, &to, frames);
        for half in 0..2 {
            let (rest, at_first) = (now[half] - settled[half], first[half] - settled[half]);
            assert!(at_first.abs() > 5.0, "{at_first}");
            assert!(rest.abs() < 0.04 * at_first.abs(), "{rest} of {at_first}");
        }
    };
    moved(&mut stage, [-1.5, 90.0], [1.5, 90.0], 1);
    moved(&mut stage, [0.0, -1.2], [0.0, 1.2], 8);
}

/// A closed room stays dark while the sun and the sky are bright outside, even where froxels extend through
/// its walls. A room with an open side does not.
#[test]
fn no_fog_light_leaks_through_walls() {
    let gpu = gpu();
    let side = |corner: [f32; 3], u: Vec3, v: Vec3| quad(corner.into(), u, v, 0);
    let (x, y, z) = (4.0 * Vec3::X, 3.0 * Vec3::Y, 6.0 * Vec3::Z);
    let room = |count: usize| {
        let walls = [
            side([-2.0, 0.0, -3.0], x, y),
            side([-2.0, 0.0, 3.0], x, y),
            side([-2.0, 0.0, -3.0], y, z),
            side([-2.0, 0.0, -3.0], x, z),
            side([-2.0, 3.0, -3.0], x, z),
            side([2.0, 0.0, -3.0], y, z),
        ];
        scene(walls.into_iter().take(count), vec![both_sides(Vec3::ONE)])
    };
    let view = look_at(Vec3::new(0.3, 1.4, 2.6), Vec3::new(-0.2, 1.2, -3.0), 30.0);
    let brightest = |walls: usize, shadows: ShadowMode| {
        let scene = room(walls);
        let mut stage = sunny(&gpu, &scene, Vec3::new(-1.0, -0.6, -0.4));
        stage.config.shadows.mode = shadows;
        stage.config.environment.intensity = 1.0;
        stage.config.occlusion.mode = OcclusionMode::Rays;
        stage.config.fog.rows = 12;
        stage.config.fog.slices = 16;
        (0..12).for_each(|_| drop(stage.draw(&rest(&scene), view)));
        let pixels = found(&mut stage).into_iter();
        pixels.map(|pixel| pixel.0.x).fold(0.0, f64::max)
    };
    assert_eq!(brightest(6, ShadowMode::Rays), 0.0);
    assert!(brightest(5, ShadowMode::Rays) > 0.02);
}

/// A sky of a single colour and nothing else. The fog scatters as much light as it absorbs from the view.
#[test]
fn white_fog_is_invisible_in_a_uniform_environment() {
    let gpu = gpu();
    let scene = scene(
        [quad(Vec3::splat(-90.0), Vec3::X, Vec3::Z, 0)],
        vec![matte(Vec3::ONE)],
    );
    let mut stage = stage(&gpu, &scene);
    stage.config.environment.intensity = 1.0;
    stage.config.environment.color = [0.5; 3];
    stage.config.environment.background = Background::Environment;
    stage.config.fog.albedo = [1.0; 3];
    stage.config.fog.noise = 0.8;
    stage.config.fog.noise_size = 0.5;
    let view = look_at(Vec3::ZERO, Vec3::new(0.2, 0.4, -1.0), 30.0);
    for (occlusion, falloff) in [(OcclusionMode::Off, 0.0), (OcclusionMode::Rays, 0.5)] {
        stage.config.occlusion.mode = occlusion;
        stage.config.fog.height_falloff = falloff;
        stage.draw(&rest(&scene), view);
        for texel in stage.channel(Channel::Lit).texels {
            assert!((texel[0] - 0.5).abs() < 0.004, "{texel:?}");
        }
    }
}

/// The noise matches the twin and is fixed in world space.
#[test]
fn fog_noise_matches_the_cpu_reference() {
    let gpu = gpu();
    let scene = wall();
    let mut stage = stage(&gpu, &scene);
    stage.config.shadows.mode = ShadowMode::Off;
    stage.config.fog.noise = 1.0;
    stage.config.fog.noise_size = 2.0;
    stage.config.fog.rows = 36;
    stage.config.fog.slices = 64;
    for eye in [Vec3::ZERO, Vec3::new(0.6, -0.4, 1.0)] {
        let view = look_at(eye, eye + Vec3::NEG_Z, 30.0);
        stage.draw(&rest(&scene), view);
        let fog = medium(&stage);
        let (mut off, mut plain_off) = (0.0_f64, 0.0_f64);
        for (pixel, (_, passes, at)) in found(&mut stage).into_iter().enumerate() {
            let (origin, direction) = ray(&view, pixel);
            let distance = origin.distance(at.unwrap());
            let none = |_| DVec3::ZERO;
            let along = (origin, direction);
            let (_, expected) = fog::march(along, distance, 200, |at| fog.mottled(at), none);
            off = off.max((passes - expected).abs());
            plain_off = plain_off.max((passes - (-fog.density * distance).exp()).abs());
        }
        assert!(off < 0.03, "{off}");
        assert!(plain_off > 0.1, "{plain_off}: there is no noise");
    }
}

/// The view in a mirror, through a pane and onto a pane includes the fog on the way.
#[test]
fn mirrors_and_panes_include_the_fog_along_the_ray() {
    let gpu = gpu();
    let pane = Material {
        base_color: Vec3::ZERO.extend(0.5),
        emissive: Vec3::splat(0.4),
        alpha_mode: AlphaMode::Blend,
        double_sided: true,
        ..matte(Vec3::ZERO)
    };
    let mirror = Material {
        metallic: 1.0,
        roughness: 0.0,
        ..matte(Vec3::ONE)
    };
    let glowing = Material {
        emissive: Vec3::ONE,
        double_sided: true,
        ..matte(Vec3::ZERO)
    };
    let wide = |from: f32, to: f32, z: f32, material| {
        let side = (to - from) * Vec3::X;
        quad(Vec3::new(from, -9.0, z), side, 18.0 * Vec3::Y, material)
    };
    let scene = scene(
        [
            wide(0.0, 9.0, -2.0, 0),
            wide(-9.0, 0.0, -4.0, 1),
            wide(-9.0, 9.0, 3.0, 2),
        ],
        vec![pane, mirror, glowing],
    );
    let mut stage = stage(&gpu, &scene);
    stage.config.reflections.mode = ReflectionMode::Rays;
    stage.config.shadows.mode = ShadowMode::Off;
    let view = look_at(Vec3::ZERO, Vec3::NEG_Z, 30.0);
    stage.draw(&rest(&scene), view);
    let lit = stage.channel(Channel::Lit).texels;
    let row = (SIZE[1] / 2 * SIZE[0]) as usize;
    let passes = |metres: f64, direction: DVec3| (-0.3 * metres / -direction.z).exp();
    for x in [2, 10, 18, 30, 38, 46] {
        let (shown, (_, direction)) = (f64::from(lit[row + x][0]), ray(&view, row + x));
        let expected = match x < 24 {
            // From the eye to the mirror, and from there to the wall behind the eye.
            true => passes(4.0 + 7.0, direction),
            // The pane, with black behind it.
            false => 0.5 * 0.4 * passes(2.0, direction),
        };
        let off = (shown - expected).abs();
        assert!(off < 0.01 * expected, "{x}: {shown} {expected}");
    }
}

/// Mean radiance of a path-traced picture.
fn traced(stage: &mut Stage<'_>, pose: &Pose, view: View, samples: u32) -> DVec3 {
    stage.config.image.mode = ImageMode::Path;
    stage.config.paths.samples = samples;
    stage.renderer.path_samples = MAX_ADDED;
    (0..samples.div_ceil(MAX_ADDED)).for_each(|_| drop(stage.draw(pose, view)));
    mean(stage)
}

fn mean(stage: &mut Stage<'_>) -> DVec3 {
    let texels = stage.channel(Channel::Lit).texels;
    let sum: DVec3 = texels.iter().map(|t| Vec3::from_slice(t).as_dvec3()).sum();
    sum / texels.len() as f64
}

/// A single test, because compiling the path tracer takes long.
#[test]
fn path_traced_fog_matches_the_froxels_and_conserves_energy() {
    let gpu = gpu();
    paths_scatter_once_as_the_fast_frame_does(&gpu);
    paths_lose_no_light_in_white_fog(&gpu);
}

/// Single scattering is the same in the path tracer with one bounce as in the real-time frame. The light
/// comes from the sun through a slit and from a lamp, in fog with height falloff and noise. The wavefront
/// kernels trace the same paths as the single kernel.
fn paths_scatter_once_as_the_fast_frame_does(gpu: &Gpu) {
    let mut scene = slit();
    scene.materials[0] = both_sides(Vec3::splat(0.5));
    // The lamp is outside the picture, because froxels near a lamp spread its light.
    let lamp = Vec3::new(-1.0, 3.2, -2.5);
    add_light(&mut scene, LightKind::Point, 2.0, lamp, Vec3::ZERO);
    let mut stage = sunny(gpu, &scene, Vec3::new(0.5, -0.2, 1.0));
    let view = look_at(Vec3::new(-2.5, 0.3, 1.0), Vec3::new(0.4, 0.0, -2.0), 30.0);
    let pose = rest(&scene);
    let cases = [(0.0, 0.0), (0.4, 0.9)];
    for (falloff, noise) in cases.into_iter().skip(by_lane(1, 0)) {
        stage.config.fog.height_falloff = falloff;
        stage.config.fog.noise = noise;
        stage.config.fog.noise_size = 1.5;
        stage.config.fog.rows = 36;
        stage.config.fog.slices = 64;
        stage.config.image.mode = ImageMode::Fast;
        (0..by_lane(16, 32)).for_each(|_| drop(stage.draw(&pose, view)));
        let fast = mean(&mut stage);
        stage.config.paths.bounces = 1;
        let paths = traced(&mut stage, &pose, view, 128);
        let off = ((fast - paths) / paths).abs().max_element();
        // In the real-time frame, noise does not affect the attenuation of lamps.
        let allowed = if noise > 0.0 { 0.035 } else { 0.015 };
        assert!(off < allowed, "{fast} {paths}");
        stage.config.fog.density *= 0.8;
        stage.config.image.mode = ImageMode::Fast;
        (0..8).for_each(|_| drop(stage.draw(&pose, view)));
        let other = ((mean(&mut stage) - paths) / paths).abs().max_element();
        assert!(other > 0.04, "{other}");
        stage.config.fog.density /= 0.8;
    }
    // Each wavefront kernel takes long to compile. The quick lane tests them in tests/paths.rs, without fog.
    if by_lane(true, false) {
        return;
    }
    stage.config.paths.bounces = 4;
    let pictures = [PathKernels::One, PathKernels::Separate].map(|kernels| {
        stage.config.paths.kernels = kernels;
        traced(&mut stage, &pose, view, 4);
        stage.channel(Channel::Lit).texels
    });
    let [one, separate] = &pictures;
    let differ = |(a, b): (&[f32; 4], &[f32; 4])| (a[0] - b[0]).abs() > 1e-4 * (1.0 + a[0]);
    let others = one.iter().zip(separate).filter(|pair| differ(*pair));
    assert!(others.count() < one.len() / 50);
}

/// Fog with an albedo of 1 is invisible in front of a uniform sky, however often it scatters.
fn paths_lose_no_light_in_white_fog(gpu: &Gpu) {
    let corner = Vec3::new(-1.0, -1.0, -4.0);
    let scene = scene(
        [quad(corner, 2.0 * Vec3::X, 2.0 * Vec3::Y, 0)],
        vec![Material {
            emissive: Vec3::splat(0.5),
            ..both_sides(Vec3::ZERO)
        }],
    );
    let mut stage = stage(gpu, &scene);
    stage.config.environment.intensity = 1.0;
    stage.config.environment.color = [0.5; 3];
    stage.config.environment.background = Background::Environment;
    stage.config.fog.albedo = [1.0; 3];
    stage.config.fog.noise = 0.7;
    stage.config.fog.height_falloff = 0.3;
    stage.config.paths.bounces = 20;
    let view = look_at(Vec3::ZERO, Vec3::NEG_Z, 30.0);
    let found = traced(&mut stage, &rest(&scene), view, by_lane(32, 64));
    assert!((found.x - 0.5).abs() < 0.005, "{found}");
}

/// Without fog there is no cost: no pass runs, and no image is allocated.
#[test]
fn no_fog_pass_runs_without_fog() {
    let gpu = gpu();
    let scene = wall();
    let mut stage = sunny(&gpu, &scene, Vec3::new(0.3, -0.5, -1.0));
    let view = look_at(Vec3::ZERO, Vec3::NEG_Z, 30.0);
    let passes = |stage: &mut Stage<'_>| {
        for _ in 0..4 {
            stage.draw(&rest(&scene), view);
            stage.renderer.collect(&gpu);
        }
        let timings = &stage.renderer.stats().passes;
        let names = timings.iter().map(|timing| timing.name.to_string());
        names.filter(|name| name.contains("fog")).count()
    };
    assert_eq!(passes(&mut stage), 3);
    stage.config.fog.density = 0.0;
    assert_eq!(passes(&mut stage), 0);
    for (scattered, transmittance, _) in found(&mut stage) {
        assert_eq!((scattered, transmittance), (DVec3::ZERO, 1.0));
    }
}
