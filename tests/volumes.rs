//! Volumes: ray marching against its twin, closed forms and ratio tracking. Also their shadows and their
//! order.

use crate::common;
use canopy::{
    accel::Ray,
    config::{
        Background, Config, EnvironmentSource, ImageMode, PathKernels, ShadowMode, Switch, VolumeTransfer,
    },
    gpu::Gpu,
    lab::{
        data::LabMarchResult,
        volume_orders::{MarchedRays, MarchedVolume, VolumeOrder, VolumeOrders},
    },
    reference::{
        fog::phase,
        lbvh::{Triangle, triangles},
        sampling,
        trace::closest_hit,
        volumes::{LightGrid, Lit, MarchResult, Medium, Order},
    },
    render::{
        Channel, Renderer, View,
        frame::blue_noise,
        layout::{Light as GpuLight, SAMPLE_VOLUMES, VolumeParams},
        paths::MAX_ADDED,
        volumes::{LAYERS, volume_params},
    },
    scene::{
        AlphaMode, Grid, Layers, LightKind, Material, Pose, Primitive, Projection, Scene, Volume,
        volume_lattice::VolumeLattice,
    },
};
use common::{
    Random, by_lane, gpu,
    scenes::{Stage, add_light, glowing, look_at, matte, node, quad, scene},
};
use glam::{DVec3, Mat4, Quat, Vec2, Vec3};
use std::f64::consts::PI;

const SIZE: [u32; 2] = [24, 16];

/// A scalar grid over the cube from −1 to 1.
fn grid(name: &str, size: [u32; 3], value: impl Fn(Vec3) -> f32) -> Grid {
    let scale = 2.0 / Vec3::from(size.map(|side| side as f32));
    let volume_from_voxel = Mat4::from_translation(0.5 * scale - Vec3::ONE) * Mat4::from_scale(scale);
    let [x, y, z] = size;
    let all = (0..z).flat_map(|k| (0..y).flat_map(move |j| (0..x).map(move |i| [i, j, k])));
    let at = |voxel: [u32; 3]| volume_from_voxel.transform_point3(Vec3::from(voxel.map(|at| at as f32)));
    Grid {
        name: name.into(),
        components: 1,
        size,
        volume_from_voxel,
        values: all.map(|voxel| value(at(voxel))).collect(),
        background: 0.0,
    }
}

/// A ball that is densest at its centre.
fn gaussian(side: u32) -> Grid {
    grid("density", [side; 3], |at| (-5.0 * at.length_squared()).exp())
}

fn place(scene: &mut Scene, transform: Mat4, grids: Vec<Grid>) {
    let mut node = node(transform);
    node.volume = Some(scene.volumes.len());
    scene.nodes.push(node);
    scene.volumes.push(Volume {
        name: "smoke".into(),
        grids,
    });
}

fn view() -> View {
    look_at(Vec3::new(0.4, 0.9, 4.0), Vec3::ZERO, 100.0)
}

/// Radiance of each pixel, and the fraction of the background that is covered.
fn lit(stage: &mut Stage<'_>, view: View) -> Vec<[f64; 4]> {
    let pose = Pose::new(stage.scene, None, 0.0);
    stage.draw(&pose, view);
    let texels = stage.channel(Channel::Lit).texels.into_iter();
    texels.map(|texel| texel.map(f64::from)).collect()
}

/// The ray through the centre of a pixel.
fn ray(view: View, pixel: [u32; 2]) -> (DVec3, DVec3) {
    ray_at(view, pixel, [0.5; 2])
}

/// The ray through a position in a pixel, from 0 to 1.
fn ray_at(view: View, pixel: [u32; 2], place: [f64; 2]) -> (DVec3, DVec3) {
    let at = [0, 1].map(|axis| pixel[axis] as f32 + place[axis] as f32);
    let [_, direction] = view.ray(Vec2::from(at), SIZE);
    (view.eye().as_dvec3(), direction.as_dvec3().normalize())
}

fn pixels() -> impl Iterator<Item = [u32; 2]> {
    (0..SIZE[1]).flat_map(|y| (0..SIZE[0]).map(move |x| [x, y]))
}

/// The parameters that the renderer computes for the volume of a stage.
fn params(stage: &Stage<'_>, lattice: &VolumeLattice, lights: usize) -> VolumeParams {
    let node = stage.scene.nodes.iter().position(|node| node.volume.is_some());
    let origin = stage.uploaded.buffers.origin;
    let pose = Pose::new(stage.scene, None, 0.0).translated(-origin.as_dvec3());
    let placed = pose.world_from_node[node.unwrap()].as_mat4() * lattice.volume_from_lattice;
    let look = (lattice.color_temperature.is_some(), lattice.is_hot);
    let shape = (lattice.size, lattice.range);
    volume_params::params(&stage.config.volumes, shape, look, placed, lights).unwrap()
}

fn sun(direction: Vec3, intensity: f32) -> GpuLight {
    GpuLight {
        direction: direction.normalize().to_array(),
        intensity: [intensity; 3],
        ..GpuLight::default()
    }
}

/// Largest difference in radiance, relative to the largest value.
fn difference(a: &[[f64; 4]], b: &[[f64; 4]]) -> f64 {
    let values =
        |pixels: &[[f64; 4]]| -> Vec<f64> { pixels.iter().flat_map(|pixel| pixel[..3].to_vec()).collect() };
    let (a, b) = (values(a), values(b));
    let largest = a.iter().copied().fold(1e-9, f64::max);
    let apart = a.iter().zip(&b).map(|(a, b)| (a - b).abs());
    apart.fold(0.0, f64::max) / largest
}

/// Random numbers in [0, 1).
fn numbers() -> impl FnMut() -> f64 {
    let mut random = Random(1);
    move || f64::from(random.unit())
}

fn stage<'a>(gpu: &'a Gpu, scene: &'a Scene) -> Stage<'a> {
    let mut stage = Stage::new(gpu, scene, SIZE);
    stage.darken();
    stage.config.image.antialias = canopy::config::Antialias::Off;
    stage
}

/// A box of a uniform medium, rotated and stretched, in front of a wall and through it. Its transmittance and
/// single scattering are known.
fn even_box(gpu: &Gpu) {
    let (density, anisotropy) = (0.7, 0.4);
    let transform = Mat4::from_scale_rotation_translation(
        Vec3::new(0.9, 0.6, 0.7),
        Quat::from_rotation_y(0.5),
        Vec3::new(0.1, 0.0, 0.2),
    );
    // The left half of the wall stands within the box.
    let walls = [
        quad(Vec3::new(-4.0, -4.0, 0.2), 4.0 * Vec3::X, 8.0 * Vec3::Y, 0),
        quad(Vec3::new(0.0, -4.0, -2.0), 4.0 * Vec3::X, 8.0 * Vec3::Y, 0),
    ];
    let mut scene = scene(walls, vec![glowing(Vec3::new(2.0, 1.0, 0.5))]);
    let to = Vec3::new(-0.3, -1.0, -0.2);
    add_light(&mut scene, LightKind::Directional, 5.0, Vec3::ZERO, to);
    place(&mut scene, transform, vec![grid("density", [8, 5, 6], |_| 2.0)]);
    let mut stage = stage(gpu, &scene);
    let settings = &mut stage.config.volumes;
    (settings.density, settings.anisotropy) = (0.5 * density, anisotropy);
    settings.shadows = false;
    let albedo = DVec3::from(settings.albedo.map(f64::from));
    let seen = lit(&mut stage, view());
    stage.config.volumes.enabled = false;
    let bare = lit(&mut stage, view());
    stage.config.volumes.enabled = true;
    let mut met = 0;
    for ((pixel, found), bare) in pixels().zip(&seen).zip(&bare) {
        let (origin, direction) = ray(view(), pixel);
        let [first, end] = within(transform, (origin, direction));
        let wall = |z: f64| (z - origin.z) / direction.z;
        let far = match origin.x + wall(0.2) * direction.x < 0.0 {
            true => wall(0.2),
            false => wall(-2.0),
        };
        let width = (end.min(far) - first).max(0.0);
        let kept = (-f64::from(density) * width).exp();
        let wall = DVec3::from_slice(bare);
        let phase = phase(f64::from(anisotropy), -to.normalize().as_dvec3().dot(direction));
        let exact = kept * wall + (1.0 - kept) * albedo * 5.0 * phase;
        let found = DVec3::from_slice(found);
        let error = ((found - exact) / exact.max(DVec3::splat(1e-3)))
            .abs()
            .max_element();
        assert!(error <= 5e-3, "{pixel:?}: {found} for {exact}");
        met += u32::from(width > 0.1);
    }
    assert!(met > 60, "{met}");
    // Under a uniform sky, the scattered light is as bright as the sky for every phase function.
    stage.config.environment.intensity = 1.0;
    stage.config.environment.source = EnvironmentSource::Color;
    stage.config.volumes.density = 1e3;
    let sky = stage.config.environment.clone();
    let thick = lit(&mut stage, view());
    let middle = thick[(SIZE[1] / 2 * SIZE[0] + SIZE[0] / 2) as usize];
    let phase = {
        let (_, direction) = ray(view(), [SIZE[0] / 2, SIZE[1] / 2]);
        phase(f64::from(anisotropy), -to.normalize().as_dvec3().dot(direction))
    };
    let expected = 0.9 * (f64::from(sky.intensity * sky.color[0]) + 5.0 * phase);
    assert!(
        (middle[0] / expected - 1.0).abs() < 1e-2,
        "{middle:?} for {expected}"
    );
}

/// A ball of smoke that shadows itself, against ratio tracking. Also with half the step length, and in both
/// orders.
fn ball(gpu: &Gpu) {
    let far = quad(Vec3::new(50.0, 50.0, -60.0), Vec3::X, Vec3::Y, 0);
    let mut scene = scene([far], vec![matte(Vec3::ONE)]);
    let to = Vec3::new(-1.0, -0.4, -0.3);
    add_light(&mut scene, LightKind::Directional, 8.0, Vec3::ZERO, to);
    place(&mut scene, Mat4::from_scale(Vec3::splat(1.2)), vec![gaussian(24)]);
    let mut stage = stage(gpu, &scene);
    stage.config.volumes.density = 4.0;
    stage.config.volumes.anisotropy = 0.3;
    let found = lit(&mut stage, view());
    let lattice = VolumeLattice::new(&scene.volumes[0], 2048).unwrap();
    let params = params(&stage, &lattice, 1);
    let medium = Medium {
        lattice: &lattice,
        params: &params,
    };
    let lights = [sun(to, 8.0)];
    let mut random = numbers();
    let origin = stage.uploaded.buffers.origin.as_dvec3();
    let block: Vec<_> = pixels()
        .filter(|[x, y]| (9..15).contains(x) && (6..10).contains(y))
        .collect();
    let (mut fast, mut exact) = (DVec3::ZERO, DVec3::ZERO);
    for pixel in &block {
        fast += DVec3::from_slice(&found[(pixel[1] * SIZE[0] + pixel[0]) as usize]);
        let (eye, direction) = ray(view(), *pixel);
        exact += medium.tracked(&lights, (eye - origin, direction, 1e30), 4096, &mut random);
    }
    let error = (fast.x / exact.x - 1.0).abs();
    assert!(error <= 1e-2, "{error}");
    // The comparison must detect a ball without self-shadowing.
    stage.config.volumes.shadows = false;
    let even = lit(&mut stage, view());
    assert!(difference(&found, &even) > 0.2);
    stage.config.volumes.shadows = true;
    // With half the step length, the mean over the jitter changes little, and so does every pixel.
    let step = stage.config.volumes.step;
    for (factor, most) in [(0.5, 1e-2), (0.25, 1e-2)] {
        stage.config.volumes.step = factor * step;
        let halved = lit(&mut stage, view());
        let apart = difference(&found, &halved);
        assert!(apart <= most, "{apart}");
    }
    stage.config.volumes.step = 16.0;
    let coarse = lit(&mut stage, view());
    assert!(
        difference(&found, &coarse) > 1e-2,
        "long steps are told from short ones"
    );
}

/// Triangles of a stage's meshes.
fn soup(stage: &Stage<'_>) -> Vec<Triangle> {
    let merged = stage.merged();
    triangles(&merged.positions, &merged.indices)
}

/// A sparse, coloured, hot volume between a floor and an opaque screen, lit by two lights. Every pixel equals
/// the twin's pixel. The twin skips no brick.
fn twin(gpu: &Gpu) {
    let floor = quad(Vec3::new(-3.0, -1.1, 3.0), 6.0 * Vec3::X, -6.0 * Vec3::Z, 0);
    let screen = quad(Vec3::new(0.2, 1.4, -1.0), Vec3::X, 2.0 * Vec3::Z, 0);
    let mut black = matte(Vec3::ZERO);
    black.double_sided = true;
    black.unlit = true;
    let mut scene = scene([floor, screen], vec![black]);
    add_light(
        &mut scene,
        LightKind::Point,
        30.0,
        Vec3::new(1.5, 3.0, 0.5),
        Vec3::ZERO,
    );
    add_light(
        &mut scene,
        LightKind::Directional,
        4.0,
        Vec3::ZERO,
        Vec3::new(1.0, -0.2, -0.6),
    );
    let size = [20, 33, 17];
    let mut color = grid("Cd", size, |_| 0.0);
    color.components = 3;
    color.values = (0..color.values.len())
        .flat_map(|i| [0.2 + 0.8 * (i % 20) as f32 / 20.0, 0.5, 1.0])
        .collect();
    let transform = Mat4::from_scale_rotation_translation(
        Vec3::new(0.9, 1.0, 0.8),
        Quat::from_rotation_z(0.3),
        Vec3::new(0.0, 0.2, 0.0),
    );
    let grids = vec![
        grid("density", size, blobs),
        grid("temperature", size, |at| 800.0 * blobs(at * 1.1)),
        color,
    ];
    place(&mut scene, transform, grids);
    let mut stage = stage(gpu, &scene);
    let settings = &mut stage.config.volumes;
    (settings.density, settings.emission) = (2.0, 3.0);
    settings.light_cells = 12;
    let lattice = VolumeLattice::new(&scene.volumes[0], 2048).unwrap();
    let compare = |stage: &mut Stage<'_>, most: f64| {
        let found = lit(stage, view());
        let position = stage.channel(Channel::Position).texels;
        let params = params(stage, &lattice, 2);
        let medium = Medium {
            lattice: &lattice,
            params: &params,
        };
        let origin = stage.uploaded.buffers.origin;
        let point = GpuLight {
            kind: 1,
            position: (Vec3::new(1.5, 3.0, 0.5) - origin).to_array(),
            intensity: [30.0; 3],
            ..GpuLight::default()
        };
        let lights = [point, sun(Vec3::new(1.0, -0.2, -0.6), 4.0)];
        let soup = soup(stage);
        let is_open = |position: DVec3, direction: DVec3, distance: f64| {
            let (from, along) = (position.as_vec3(), direction.as_vec3());
            closest_hit(&soup, from, along, 0.0, distance).is_none()
        };
        let grid: Option<LightGrid> = stage
            .config
            .volumes
            .shadows
            .then(|| medium.light_grid(&lights, is_open));
        let nothing = |_: DVec3| DVec3::ZERO;
        let lit = Lit {
            lights: &lights,
            sky: &nothing,
            sky_on_surface: &nothing,
            grid: grid.as_ref(),
        };
        let mask = blue_noise::mask();
        let mut samples = [0; 2];
        let twin: Vec<_> = pixels()
            .zip(&position)
            .map(|(pixel, position)| {
                let (eye, direction) = ray(view(), pixel);
                let far = match position[3] {
                    0.0 => 1e30,
                    _ => (DVec3::from_slice(&position.map(f64::from)) - eye).dot(direction),
                };
                let [jitter, _] = sampling::point(mask, pixel, 0, SAMPLE_VOLUMES);
                let along = (eye - origin.as_dvec3(), direction, far);
                let seen = medium.march(&lit, along, jitter, Order::FrontToBack);
                let back = medium.march(&lit, along, jitter, Order::BackToFront);
                samples[0] += seen.samples;
                samples[1] += back.samples;
                if params.isovalue < 0.0 {
                    let largest = seen.radiance.max_element().max(1e-3);
                    let apart = (seen.radiance - back.radiance).abs().max_element();
                    assert!(apart <= 1e-2 * largest, "both orders: {seen:?} {back:?}");
                }
                [
                    seen.radiance.x,
                    seen.radiance.y,
                    seen.radiance.z,
                    1.0 - seen.transmittance,
                ]
            })
            .collect();
        let wrong = found
            .iter()
            .zip(&twin)
            .filter(|(found, twin)| (0..3).any(|k| (found[k] - twin[k]).abs() > most * twin[k].max(0.05)));
        let wrong = wrong.count();
        let bright = twin
            .iter()
            .filter(|twin| twin[..3].iter().any(|value| *value > 0.02))
            .count();
        assert!(bright > 12, "{bright}");
        (wrong, twin, samples)
    };
    let (wrong, scattered, samples) = compare(&mut stage, 1e-2);
    assert!(wrong <= 4, "{wrong}");
    assert!(samples[0] <= samples[1]);
    stage.config.volumes.step *= 0.5;
    let halved = lit(&mut stage, view());
    stage.config.volumes.step *= 2.0;
    // Other settings restart the sampling sequence, so both sample at the same fraction of their steps.
    let whole = lit(&mut stage, view());
    let apart = difference(&whole, &halved);
    assert!(apart <= 1e-2, "steps of half the length: {apart}");
    // With values mapped to colour and opacity, as a volume and as a surface.
    stage.config.volumes.transfer = VolumeTransfer::Heat;
    stage.config.volumes.emission = 0.0;
    let (wrong, transferred, _) = compare(&mut stage, 1e-2);
    assert!(wrong <= 4, "{wrong}");
    assert!(difference(&scattered, &transferred) > 0.1);
    stage.config.volumes.transfer = VolumeTransfer::Off;
    stage.config.volumes.isovalue = 0.4;
    let (wrong, surface, _) = compare(&mut stage, 2e-2);
    assert!(wrong <= 12, "{wrong}");
    assert!(difference(&scattered, &surface) > 0.1);
    // Nothing of it remains if volumes are off.
    stage.config.volumes.enabled = false;
    let without = lit(&mut stage, view());
    assert!(difference(&surface, &without) > 0.5);
}

/// A floor below a box gets sunlight through it. The box gets it past the object above.
fn shadow(gpu: &Gpu) {
    let floor = quad(Vec3::new(-3.0, -1.5, 3.0), 6.0 * Vec3::X, -6.0 * Vec3::Z, 0);
    let mut scene = scene([floor], vec![matte(Vec3::ONE)]);
    add_light(&mut scene, LightKind::Directional, 3.0, Vec3::ZERO, Vec3::NEG_Y);
    place(&mut scene, Mat4::IDENTITY, vec![grid("density", [8; 3], |_| 1.0)]);
    let mut stage = stage(gpu, &scene);
    stage.config.volumes.density = 0.6;
    let down = look_at(Vec3::new(0.0, -1.2, 3.5), Vec3::new(0.0, -1.5, 0.0), 100.0);
    stage.config.volumes.albedo = [0.0; 3];
    for mode in [ShadowMode::Rays, ShadowMode::Map] {
        stage.config.shadows.mode = mode;
        stage.config.volumes.enabled = true;
        let with = lit(&mut stage, down);
        let position = stage.channel(Channel::Position).texels;
        stage.config.volumes.enabled = false;
        let without = lit(&mut stage, down);
        let mut shaded = 0;
        for (i, at) in position.iter().enumerate() {
            let is_below = at[3] != 0.0 && at[0].abs().max(at[2].abs()) < 0.95 && at[2] < 1.0;
            // The volume in front of the eye dims the result once more, so only view rays below the box
            // count.
            if is_below && at[1] < -1.4 {
                let share = with[i][0] / without[i][0];
                let eye = DVec3::new(0.0, -1.2, 3.5);
                let to = DVec3::new(f64::from(at[0]), f64::from(at[1]), f64::from(at[2]));
                assert!(eye.y < -1.0 && to.y < -1.0);
                assert!((share - (-1.2_f64).exp()).abs() < 6e-3, "{at:?}: {share}");
                shaded += 1;
            }
        }
        assert!(shaded > 10, "{shaded}");
    }
}

#[test]
fn a_uniform_box_matches_the_closed_form() {
    even_box(&gpu());
}

#[test]
fn a_ball_of_smoke_matches_ratio_tracking() {
    ball(&gpu());
}

#[test]
fn pixels_match_the_cpu_reference() {
    twin(&gpu());
}

#[test]
fn volumes_cast_shadows_on_surfaces() {
    shadow(&gpu());
}

/// Nodes with a shared volume also share its memory and its light grids. They look the same as with separate
/// copies: immediately, in the next frame, and after some are hidden and shown again.
#[test]
fn instances_of_a_volume_look_like_separate_copies() {
    let gpu = gpu();
    let wall = quad(Vec3::new(-4.0, -4.0, -2.0), 8.0 * Vec3::X, 8.0 * Vec3::Y, 0);
    let mut shared = scene([wall], vec![matte(Vec3::ONE)]);
    let to = Vec3::new(-0.4, -0.6, -0.5);
    add_light(&mut shared, LightKind::Directional, 5.0, Vec3::ZERO, to);
    let first = shared.nodes.len();
    for number in 0..11 {
        let at = Vec3::new(
            -1.5 + 0.3 * number as f32,
            0.2 * (number % 3) as f32,
            -0.1 * number as f32,
        );
        let transform = Mat4::from_scale_rotation_translation(
            Vec3::splat(0.3),
            Quat::from_rotation_y(0.2 * number as f32),
            at,
        );
        place(
            &mut shared,
            transform,
            vec![grid("density", [6, 7, 5], |at| 2.0 + at.x)],
        );
    }
    let copies = shared.clone();
    shared.volumes.truncate(1);
    for node in &mut shared.nodes[first..] {
        node.volume = Some(0);
    }
    let mut pictures = [&shared, &copies].map(|scene| {
        let mut stage = stage(&gpu, scene);
        let mut pose = Pose::new(scene, None, 0.0);
        let mut pictures = Vec::new();
        for hidden in [&[][..], &[], &[first + 1, first + 4], &[]] {
            for (node, is_visible) in pose.visible.iter_mut().enumerate() {
                *is_visible = !hidden.contains(&node);
            }
            stage.draw(&pose, view());
            pictures.push(stage.channel(Channel::Lit).texels);
        }
        pictures
    });
    let copies = std::mem::take(&mut pictures[1]);
    assert!(pictures[0] == copies);
    assert!(copies[0] != copies[2]);
}

/// A grid too long for a texture of the adapter is refused by name.
#[test]
fn grids_longer_than_a_texture_are_refused() {
    let gpu = gpu();
    let long = gpu.limits.max_texture_dimension_3d + 1;
    let mut scene = Scene::default();
    place(
        &mut scene,
        Mat4::IDENTITY,
        vec![grid("density", [long, 1, 1], |_| 1.0)],
    );
    let renderer = Renderer::new(&gpu).unwrap();
    let config = Config::default();
    let refused = renderer.uploader().upload(&gpu, &scene, &config);
    let Err(canopy_bvh::Error::Limit { what, needed, .. }) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(what, "volume smoke");
    assert_eq!(needed, format!("{long} × 1 × 1 voxels"));
    // This length fits.
    let mut short = Scene::default();
    place(
        &mut short,
        Mat4::IDENTITY,
        vec![grid("density", [long - 1, 1, 1], |_| 1.0)],
    );
    renderer.uploader().upload(&gpu, &short, &config).unwrap();
}

/// The fog in front of a volume attenuates it.
#[test]
fn fog_in_front_of_a_volume_attenuates_it() {
    let gpu = gpu();
    let mut scene = scene(
        [quad(Vec3::splat(-90.0), Vec3::X, Vec3::Y, 0)],
        vec![matte(Vec3::ONE)],
    );
    place(&mut scene, Mat4::IDENTITY, vec![grid("density", [8; 3], |_| 1.0)]);
    let mut stage = Stage::new(&gpu, &scene, SIZE);
    stage.darken();
    stage.config.shadows.mode = ShadowMode::Off;
    stage.config.volumes.density = 60.0;
    stage.config.volumes.albedo = [0.0; 3];
    let sun = Vec3::new(0.3, -0.5, -1.0);
    stage.config.sun.enabled = Switch::On;
    stage.config.sun.direction = sun.to_array();
    stage.config.sun.strength = 2.0;
    stage.config.sun.color = [1.0; 3];
    stage.config.fog.density = 0.3;
    stage.config.fog.albedo = [1.0; 3];
    stage.config.fog.anisotropy = 0.0;
    let view = look_at(4.0 * Vec3::Z, Vec3::ZERO, 100.0);
    let shown = lit(&mut stage, view);
    let mut seen = 0;
    for ([x, y], texel) in pixels().zip(shown) {
        let (_, direction) = ray(view, [x, y]);
        let front = 3.0 / -direction.z;
        // Well within its front face.
        if (front * direction).abs().truncate().max_element() < 0.9 {
            let scattered = 2.0 * phase(0.0, 0.0);
            let expected = scattered * (1.0 - (-0.3 * (front + 1.0 / 60.0)).exp());
            let off = (texel[0] - expected).abs();
            assert!(off < 0.03 * expected, "{texel:?} {expected}");
            seen += 1;
        }
    }
    assert!(seen > 50, "{seen}");
}

/// A view of only the central pixels as a picture of their own, a quarter as wide and high.
fn close_up() -> View {
    let mut view = view();
    view.projection = Projection::Perspective {
        fov_y: 2.0 * (0.25 * 0.4_f32.tan()).atan(),
    };
    view
}

/// Mean radiance of the central pixels, with this number of paths each. The quick lane draws only these
/// pixels. With a quarter of the work, they get four times as many paths.
fn traced(stage: &mut Stage<'_>, samples: u32) -> DVec3 {
    let (view, samples) = by_lane((close_up(), samples / 4), (view(), samples));
    let mode = std::mem::replace(&mut stage.config.image.mode, ImageMode::Path);
    stage.config.paths.samples = samples;
    stage.renderer.path_samples = MAX_ADDED;
    let drawn = (0..samples.div_ceil(MAX_ADDED)).map(|_| lit(stage, view));
    let last = drawn.last().unwrap();
    stage.config.image.mode = mode;
    let all: DVec3 = last.iter().map(|texel| DVec3::from_slice(texel)).sum();
    by_lane(all / last.len() as f64, mean_of_middle(&last))
}

/// A visible uniform sky, and a volume of these grids in front of it.
fn under_sky(grids: Vec<Grid>) -> Scene {
    let far = quad(Vec3::new(50.0, 50.0, -60.0), Vec3::X, Vec3::Y, 0);
    let mut scene = scene([far], vec![matte(Vec3::ONE)]);
    place(&mut scene, Mat4::from_rotation_y(0.4), grids);
    scene
}

fn with_sky(stage: &mut Stage<'_>, radiance: f32) {
    stage.config.environment.intensity = 1.0;
    stage.config.environment.source = EnvironmentSource::Color;
    stage.config.environment.color = [radiance; 3];
    stage.config.image.background = [radiance; 3];
    stage.config.environment.background = Background::Environment;
}

fn near(found: DVec3, expected: DVec3, share: f64) {
    let off = (found / expected - 1.0).abs().max_element();
    assert!(off <= share, "{found} for {expected}");
}

/// A single test, because most of its time is the compilation of the path tracer.
#[test]
fn path_traced_volumes_match_closed_forms_and_ratio_tracking() {
    let gpu = gpu();
    paths_know_volumes_as_closed_forms_do(&gpu);
    paths_through_smoke_are_those_of_ratio_tracking(&gpu);
    surfaces_of_volumes_are_matte_by_paths(&gpu);
}

/// Transmittance, emission, and energy conservation of white smoke, by paths. All of them are known.
fn paths_know_volumes_as_closed_forms_do(gpu: &Gpu) {
    let size = [20, 24, 12];
    let scene = under_sky(vec![
        grid("density", size, |_| 1.0),
        grid("temperature", size, |_| 1000.0),
    ]);
    let mut stage = stage(gpu, &scene);
    with_sky(&mut stage, 0.5);
    let density = 0.6;
    let settings = &mut stage.config.volumes;
    (settings.density, settings.emission) = (density, 2.0);
    (settings.albedo, settings.shadows) = ([0.0; 3], false);
    let glow = volume_params::blackbody(settings.hottest);
    let glow = DVec3::from_slice(&glow.as_flattened().last().unwrap().map(f64::from));
    // The box is uniform, and all rays of a pixel cross the same length of it, to within a few hundredths.
    let lattice = VolumeLattice::new(&scene.volumes[0], 2048).unwrap();
    let medium = Medium {
        lattice: &lattice,
        params: &params(&stage, &lattice, 0),
    };
    let origin = stage.uploaded.buffers.origin.as_dvec3();
    let block: Vec<_> = pixels().filter(is_middle).collect();
    let through: f64 = (block.iter())
        .map(|pixel| {
            let (eye, direction) = ray(view(), *pixel);
            medium.transmittance(eye - origin, direction, 1e30)
        })
        .sum();
    let through = through / block.len() as f64;
    let expected = 0.5 * through + glow * 2.0 / f64::from(density) * (1.0 - through);
    near(traced(&mut stage, 1024), expected, 5e-3);
    // White smoke before a uniform sky is as bright as the sky for every phase function.
    let settings = &mut stage.config.volumes;
    (settings.density, settings.emission) = (3.0, 0.0);
    (settings.albedo, settings.anisotropy) = ([1.0; 3], 0.5);
    stage.config.paths.bounces = 64;
    near(traced(&mut stage, 256), DVec3::splat(0.5), 1e-2);
    stage.config.volumes.albedo = [0.9; 3];
    let gray = traced(&mut stage, 64);
    assert!(gray.x < 0.45, "{gray}");
}

/// Two balls of smoke with much empty space between, lit by the sun and a lamp. Paths with single scattering
/// match ratio tracking in f64, and several kernels match a single one. The surface of a ball equals the
/// surface in the fast frame.
fn paths_through_smoke_are_those_of_ratio_tracking(gpu: &Gpu) {
    let balls = |at: Vec3| {
        let ball = |middle: Vec3| (1.0 - 4.0 * at.distance_squared(middle)).max(0.0);
        ball(Vec3::new(0.0, 0.0, 0.4)) + ball(Vec3::new(0.9, -0.1, -0.9))
    };
    let mut scene = under_sky(vec![grid("density", [33, 40, 37], balls)]);
    let to = Vec3::new(-1.0, -0.4, -0.3);
    add_light(&mut scene, LightKind::Directional, 8.0, Vec3::ZERO, to);
    let at = Vec3::new(-1.6, 0.5, 1.0);
    add_light(&mut scene, LightKind::Point, 20.0, at, Vec3::ZERO);
    let mut stage = stage(gpu, &scene);
    let settings = &mut stage.config.volumes;
    (settings.density, settings.anisotropy) = (6.0, 0.3);
    stage.config.paths.bounces = 1;
    let lattice = VolumeLattice::new(&scene.volumes[0], 2048).unwrap();
    let medium = Medium {
        lattice: &lattice,
        params: &params(&stage, &lattice, 2),
    };
    let origin = stage.uploaded.buffers.origin;
    let lamp = GpuLight {
        kind: 1,
        position: (at - origin).to_array(),
        intensity: [20.0; 3],
        ..sun(to, 0.0)
    };
    let lights = [sun(to, 8.0), lamp];
    let mut random = numbers();
    let block: Vec<_> = pixels().filter(is_middle).collect();
    // All over the pixels, like paths.
    let places = 512;
    let mut exact = DVec3::ZERO;
    for pixel in &block {
        for _ in 0..places {
            let place = [random(), random()];
            let (eye, direction) = ray_at(view(), *pixel, place);
            let ray = (eye - origin.as_dvec3(), direction, 1e30);
            exact += medium.tracked(&lights, ray, 8, &mut random);
        }
    }
    let exact = exact / f64::from(places * block.len() as u32);
    let found = traced(&mut stage, 1024);
    near(found, exact, 1e-2);
    // Separate kernels for each step take long to compile. The quick lane has them in tests/paths.rs, without
    // volumes.
    if by_lane(true, false) {
        return;
    }
    let pictures = [PathKernels::One, PathKernels::Separate].map(|kernels| {
        stage.config.paths.kernels = kernels;
        stage.config.paths.bounces = 4;
        traced(&mut stage, 2);
        stage.channel(Channel::Lit).texels
    });
    let [one, separate] = &pictures;
    let differ = |(a, b): (&[f32; 4], &[f32; 4])| (a[0] - b[0]).abs() > 1e-4 * (1.0 + a[0]);
    let others = one.iter().zip(separate).filter(|pair| differ(*pair));
    assert!(others.count() < one.len() / 50);
}

/// The flat surface of a volume, lit by the sun and a lamp. By paths and in the fast frame, it equals a matte
/// wall.
fn surfaces_of_volumes_are_matte_by_paths(gpu: &Gpu) {
    let mut scene = under_sky(vec![grid("density", [16, 16, 24], |at| 1.0 - at.z)]);
    let to = Vec3::new(-1.0, -0.4, -0.8);
    add_light(&mut scene, LightKind::Directional, 3.0, Vec3::ZERO, to);
    let lamp = Vec3::new(0.4, 0.5, 2.0);
    add_light(&mut scene, LightKind::Point, 5.0, lamp, Vec3::ZERO);
    let mut stage = stage(gpu, &scene);
    stage.config.volumes.isovalue = 0.5;
    stage.config.paths.bounces = 1;
    let normal = Quat::from_rotation_y(0.4).as_dquat() * DVec3::Z;
    let albedo = DVec3::from(stage.config.volumes.albedo.map(f64::from));
    let block: Vec<_> = pixels().filter(is_middle).collect();
    let sum: DVec3 = (block.iter())
        .map(|pixel| {
            let (eye, direction) = ray(view(), *pixel);
            let at = eye - eye.dot(normal) / direction.dot(normal) * direction;
            let to_lamp = lamp.as_dvec3() - at;
            let by_sun = 3.0 * -to.normalize().as_dvec3().dot(normal);
            let by_lamp = 5.0 * to_lamp.normalize().dot(normal) / to_lamp.length_squared();
            albedo * (by_sun + by_lamp) / PI
        })
        .sum();
    let exact = sum / block.len() as f64;
    near(traced(&mut stage, 256), exact, 5e-3);
    near(mean_of_middle(&lit(&mut stage, view())), exact, 5e-3);
}

/// True if a pixel is near the centre, where a volume is deepest.
fn is_middle([x, y]: &[u32; 2]) -> bool {
    (9..15).contains(x) && (6..10).contains(y)
}

fn mean_of_middle(picture: &[[f64; 4]]) -> DVec3 {
    let inside = picture.iter().zip(pixels()).filter(|(_, pixel)| is_middle(pixel));
    let inside: Vec<_> = inside.map(|(texel, _)| DVec3::from_slice(texel)).collect();
    inside.iter().sum::<DVec3>() / inside.len() as f64
}

/// Interval of distances in which a ray is in the cube from −1 to 1 at `transform`. It may be empty.
fn within(transform: Mat4, (origin, direction): (DVec3, DVec3)) -> [f64; 2] {
    let inverse = transform.as_dmat4().inverse();
    let start = inverse.transform_point3(origin);
    let along = inverse.transform_vector3(direction);
    let faces = [-DVec3::ONE, DVec3::ONE].map(|face| (face - start) / along);
    let [low, high] = [faces[0].min(faces[1]), faces[0].max(faces[1])];
    [low.max_element(), high.min_element()]
}

/// Light transmitted and added by uniform boxes and uniform fog in sunlight, before a wall and behind one.
#[test]
fn channels_hold_transmittance_and_light_of_volumes_and_fog() {
    let gpu = gpu();
    // Between the boxes to the left, in front of both to the right, and a little of the background.
    let walls = [
        quad(Vec3::new(-3.0, -4.0, -2.0), 3.2 * Vec3::X, 8.0 * Vec3::Y, 0),
        quad(Vec3::new(0.7, -4.0, 1.5), 0.3 * Vec3::X, 8.0 * Vec3::Y, 0),
    ];
    let mut scene = scene(walls, vec![matte(Vec3::ONE)]);
    let boxes = [
        Mat4::from_rotation_y(0.4) * Mat4::from_scale(Vec3::new(0.9, 0.7, 0.6)),
        Mat4::from_translation(Vec3::new(0.3, -0.4, -4.0)),
    ];
    for transform in boxes {
        place(&mut scene, transform, vec![grid("density", [6; 3], |_| 1.0)]);
    }
    let mut stage = stage(&gpu, &scene);
    stage.config.shadows.mode = ShadowMode::Off;
    let settings = &mut stage.config.volumes;
    (settings.density, settings.anisotropy, settings.shadows) = (0.8, 0.0, false);
    settings.step = 0.25;
    let albedo = f64::from(settings.albedo[0]);
    let sun = &mut stage.config.sun;
    (sun.enabled, sun.strength, sun.color) = (Switch::On, 2.0, [1.0; 3]);
    stage.config.fog.albedo = [0.5; 3];
    stage.config.fog.anisotropy = 0.0;
    let light = 2.0 * phase(0.0, 0.0);
    for density in [0.0, 0.2] {
        stage.config.fog.density = density;
        stage.reads = vec![Channel::Transmittance, Channel::Scattered];
        lit(&mut stage, view());
        let mut channels = || {
            [Channel::Transmittance, Channel::Scattered, Channel::Position]
                .map(|channel| stage.channel(channel).texels)
        };
        let [passes, scattered, position] = channels();
        let mut kinds = [0; 4];
        for (i, pixel) in pixels().enumerate() {
            let along = ray(view(), pixel);
            let far = match position[i][3] {
                0.0 => f64::INFINITY,
                _ => (DVec3::from_slice(&position[i].map(f64::from)) - along.0).dot(along.1),
            };
            let fog = |distance: f64| (-f64::from(density) * distance).exp();
            let fog = |distance: f64| if density > 0.0 { fog(distance) } else { 1.0 };
            let (mut through, mut added) = (fog(far), 0.5 * light * (1.0 - fog(far)));
            let mut met = 0;
            for transform in [boxes[1], boxes[0]] {
                let [first, end] = within(transform, along);
                let width = (end.min(far) - first).max(0.0);
                if width == 0.0 {
                    continue;
                }
                met += 1;
                let kept = (-0.8 * width).exp();
                // The mean distance of its visible part.
                let middle = fog(first + 1.0 / 0.8 - width * kept / (1.0 - kept));
                added = kept * added + (1.0 - kept) * light * (middle * albedo + 0.5 * (1.0 - middle));
                through *= kept;
            }
            let place = if far < 4.0 { 3 } else { met };
            kinds[place] += u32::from(far < 4.0 && met == 0 || far >= 4.0);
            let [passes, scattered] = [passes[i], scattered[i]].map(|texel| f64::from(texel[0]));
            let most = if density > 0.0 { 1e-2 } else { 3e-3 };
            let off = (passes - through).abs();
            assert!(
                off <= most * through.max(1e-3),
                "{pixel:?}: {passes} for {through}"
            );
            let off = (scattered - added).abs();
            assert!(
                off <= most * added.max(1e-2),
                "{pixel:?}: {scattered} for {added}"
            );
        }
        // Past both boxes, through one, through both, in front.
        assert!(kinds.iter().all(|count| *count > 8), "{kinds:?}");
        // The comparison must detect the picture without the boxes.
        stage.config.volumes.enabled = false;
        lit(&mut stage, view());
        let without = stage.channel(Channel::Transmittance).texels;
        let apart = passes.iter().zip(&without);
        let apart = apart.filter(|(a, b)| a[0] < 0.9 * b[0]).count();
        assert!(apart > 40, "{apart}");
        stage.config.volumes.enabled = true;
    }
    // A channel that was not requested is unknown.
    stage.reads.clear();
    lit(&mut stage, view());
    let buffers = &stage.uploaded.buffers;
    let unknown = stage.renderer.read_channel(&gpu, Channel::Scattered, buffers);
    assert!(
        matches!(unknown, Err(canopy_bvh::Error::NotFound(_))),
        "{unknown:?}"
    );
}

/// More boxes than the limit of fragments, veils behind the last of these and shortly before it, and a wall.
fn many_boxes(materials: Vec<Material>) -> (Scene, [Mat4; LAYERS + 1]) {
    let corner = Vec3::new(-20.0, -20.0, 0.0);
    let walls = [(-12.0, 0), (-8.2, 1), (-6.6, 1)].map(|(z, material)| {
        let corner = corner + z * Vec3::Z;
        quad(corner, 40.0 * Vec3::X, 40.0 * Vec3::Y, material)
    });
    let mut many = scene(walls, materials);
    add_light(&mut many, LightKind::Directional, 5.0, Vec3::ZERO, Vec3::Z);
    let boxes: [Mat4; LAYERS + 1] = std::array::from_fn(|i| {
        let at = Vec3::new(
            0.0,
            0.1 * i as f32,
            -(i as f32) - f32::from(u8::from(i == LAYERS)),
        );
        Mat4::from_translation(at) * Mat4::from_scale(Vec3::new(9.0, 1.0, 0.3))
    });
    for transform in boxes {
        place(&mut many, transform, vec![grid("density", [6; 3], |_| 1.0)]);
    }
    (many, boxes)
}

/// Blended surfaces behind two uniform boxes, between them, in one and in front of both, against the closed
/// form. Glass and a line behind both, against their appearance without the boxes.
#[test]
fn blended_surfaces_composite_behind_within_and_before_volumes() {
    let gpu = gpu();
    let emitted = Vec3::new(0.4, 0.3, 0.1);
    let blended = |material: Material| Material {
        alpha_mode: AlphaMode::Blend,
        base_color: material.base_color.truncate().extend(0.5),
        ..material
    };
    let veil = blended(glowing(Vec3::new(0.1, 0.8, 0.4)));
    let unlit = blended(Material {
        unlit: true,
        ..matte(Vec3::new(0.2, 0.7, 0.3))
    });
    let glass = Material {
        roughness: 0.0,
        layers: Some(Box::new(Layers {
            transmission: 1.0,
            ..Layers::default()
        })),
        ..matte(Vec3::new(0.3, 0.6, 0.9))
    };
    let materials = vec![glowing(emitted), veil, unlit.clone(), glass];
    let (many, many_placed) = many_boxes(materials.clone());
    // Columns of the picture, the depth at which they stand and their material.
    let strips = [
        (0..3, -6.5, 1),
        (3..6, -2.0, 1),
        (6..9, 0.1, 1),
        (9..12, -2.0, 2),
        (12..14, 2.0, 1),
        (16..19, -7.9, 3),
    ];
    let eye = 4.0;
    let across = |column: f32, z: f32| {
        let ndc = 2.0 * column / SIZE[0] as f32 - 1.0;
        let aspect = SIZE[0] as f32 / SIZE[1] as f32;
        ndc * aspect * 0.4_f32.tan() * (eye - z)
    };
    let strip = |columns: &std::ops::Range<i32>, z: f32, material: usize| {
        let [first, end] = [columns.start, columns.end].map(|at| across(at as f32, z));
        let corner = Vec3::new(first, -9.0, z);
        quad(corner, (end - first) * Vec3::X, 18.0 * Vec3::Y, material)
    };
    let wall = strip(&(-2..26), -8.0, 0);
    let line = Primitive {
        positions: [19.6, 23.4].map(|x| Vec3::new(across(x, -7.9), 0.3, -7.9)).into(),
        normals: vec![Vec3::Z; 2],
        tangents: vec![Vec3::X.extend(1.0); 2],
        lines: vec![[0, 1]],
        material: 2,
        ..Primitive::default()
    };
    let quads = strips
        .iter()
        .map(|(columns, z, material)| strip(columns, *z, *material));
    let mut scene = scene(quads.chain([wall, line]), materials);
    // It shines from behind, on the boxes and on no surface.
    add_light(&mut scene, LightKind::Directional, 5.0, Vec3::ZERO, Vec3::Z);
    let boxes = [
        Mat4::from_scale(Vec3::new(8.0, 1.0, 1.0)),
        Mat4::from_translation(Vec3::new(0.0, 0.6, -4.0)) * Mat4::from_scale(Vec3::new(9.0, 1.2, 1.0)),
    ];
    for transform in boxes {
        place(&mut scene, transform, vec![grid("density", [6; 3], |_| 1.0)]);
    }
    let mut stage = stage(&gpu, &scene);
    let density = 0.4;
    let settings = &mut stage.config.volumes;
    (settings.density, settings.anisotropy, settings.shadows) = (density, 0.0, false);
    let scattered = 0.9 * 5.0 * phase(0.0, 0.0);
    let view = look_at(eye * Vec3::Z, Vec3::ZERO, 100.0);
    stage.reads = vec![Channel::Transmittance, Channel::Scattered];
    let mut draw = |fog: f32, boxes: bool| {
        (stage.config.fog.density, stage.config.volumes.enabled) = (fog, boxes);
        let seen = lit(&mut stage, view);
        let [passes, scattered] =
            [Channel::Transmittance, Channel::Scattered].map(|channel| stage.channel(channel).texels);
        (seen, passes, scattered)
    };
    let (found, ..) = draw(0.0, true);
    let wall_color = emitted.as_dvec3();
    let (mut told, mut inside) = ([0; 6], 0);
    for ([x, y], found) in pixels().zip(&found) {
        let Some(kind) = strips[..5]
            .iter()
            .position(|(columns, ..)| columns.contains(&(x as i32)))
        else {
            continue;
        };
        let (_, z, material) = strips[kind];
        let along = ray(view, [x, y]);
        let at = |z: f32| f64::from(z - eye) / along.1.z;
        let own = match material {
            1 => DVec3::new(0.1, 0.8, 0.4),
            _ => DVec3::new(0.2, 0.7, 0.3),
        };
        // From the wall to the eye: the light transmitted by each part of a box, and the light added there.
        let through = |color: DVec3, [first, end]: [f64; 2]| {
            let spans = [boxes[1], boxes[0]].map(|transform| within(transform, along));
            spans.into_iter().fold(color, |color, [enters, leaves]| {
                let width = (leaves.min(end) - enters.max(first)).max(0.0);
                let kept = (-f64::from(density) * width).exp();
                kept * color + (1.0 - kept) * scattered
            })
        };
        let behind = through(wall_color, [at(z), f64::INFINITY]);
        let exact = through(0.5 * behind + 0.5 * own, [0.0, at(z)]);
        let found = DVec3::from_slice(found);
        let error = ((found - exact) / exact).abs().max_element();
        assert!(error <= 5e-3, "[{x}, {y}] at {z}: {found} for {exact}");
        // Drawn over everything, or behind everything.
        let over = 0.5 * through(wall_color, [0.0, f64::INFINITY]) + 0.5 * own;
        let below = through(0.5 * wall_color + 0.5 * own, [0.0, f64::INFINITY]);
        let apart = |other: DVec3| ((found - other) / exact).abs().max_element() > 0.02;
        told[kind] += u32::from(if kind == 0 { apart(over) } else { apart(below) });
        inside += u32::from(kind == 2 && apart(over) && apart(below));
    }
    assert!(told[..5].iter().all(|count| *count > 8), "{told:?}");
    assert!(inside > 8, "{inside}");
    // Any surface behind all scattering media is seen through them.
    for fog in [0.0, 0.05] {
        let (bare, bare_passes, bare_scattered) = draw(fog, false);
        let (found, passes, scattered) = draw(fog, true);
        let mut seen = [0; 2];
        for (i, [x, _]) in pixels().enumerate() {
            let kind = usize::from(x > 18);
            let is_other = (0..3).any(|k| {
                let plain = f64::from(bare_passes[i][0]) * wall_color[k];
                (bare[i][k] - plain - f64::from(bare_scattered[i][k])).abs() > 0.03
            });
            if x < 16 || !is_other {
                continue;
            }
            seen[kind] += 1;
            let kept = f64::from(passes[i][0] / bare_passes[i][0]);
            for k in 0..3 {
                let added = f64::from(scattered[i][k]) - kept * f64::from(bare_scattered[i][k]);
                let exact = added + kept * bare[i][k];
                let off = (found[i][k] - exact).abs();
                assert!(off <= 0.01 * exact, "{i}, fog {fog}: {} for {exact}", found[i][k]);
            }
        }
        assert!(seen[0] > 30 && seen[1] > 2, "{seen:?}");
    }
    // The shape of a volume for a fragment, in front of a surface of equal values, and behind it.
    let settings = &mut stage.config.volumes;
    (settings.enabled, settings.isovalue, settings.density) = (true, 0.5, 1.0);
    stage.config.fog.density = 0.0;
    let solid = lit(&mut stage, view);
    let mut met = [0; 2];
    for (i, [x, y]) in pixels().enumerate() {
        let along = ray(view, [x, y]);
        let [enters, leaves] = within(boxes[0], along);
        let z = match x {
            3..6 => -2.0_f32,
            12..14 => 2.0,
            _ => continue,
        };
        if leaves - enters < 0.2 {
            continue;
        }
        let is_front = z > 0.0;
        met[usize::from(is_front)] += 1;
        let own = if is_front { 0.4 } else { 0.0 };
        assert!((solid[i][1] - own).abs() < 2e-3, "[{x}, {y}]: {:?}", solid[i]);
    }
    assert!(met[0] > 10 && met[1] > 6, "{met:?}");
    // Behind the last volume within the limit of fragments, in perspective and in a parallel projection.
    stage.uploaded = stage
        .renderer
        .uploader()
        .upload(&gpu, &many, &stage.config)
        .unwrap();
    stage.scene = &many;
    stage.config.volumes.isovalue = 0.0;
    let mut parallel = view;
    parallel.projection = Projection::Orthographic { half_height: 2.0 };
    for view in [view, parallel] {
        let found = lit(&mut stage, view);
        for (pixel, found) in pixels().zip(&found) {
            let middle = Vec2::from(pixel.map(|at| at as f32 + 0.5));
            let [origin, direction] = view.ray(middle, SIZE).map(|v| v.as_dvec3());
            let along = (origin, direction.normalize());
            let at = |z: f64| (z - origin.z) / along.1.z;
            let through = |color: DVec3, [first, end]: [f64; 2]| {
                many_placed.iter().rev().fold(color, |color, transform| {
                    let [enters, leaves] = within(*transform, along);
                    let width = (leaves.min(end) - enters.max(first)).max(0.0);
                    let kept = (-width).exp();
                    kept * color + (1.0 - kept) * scattered
                })
            };
            let behind = through(wall_color, [at(-8.2), f64::INFINITY]);
            let veil = DVec3::new(0.1, 0.8, 0.4);
            let between = through(0.5 * behind + 0.5 * veil, [at(-6.6), at(-8.2)]);
            let exact = through(0.5 * between + 0.5 * veil, [0.0, at(-6.6)]);
            let found = DVec3::from_slice(found);
            let error = ((found - exact) / exact).abs().max_element();
            assert!(error <= 5e-3, "{pixel:?}: {found} for {exact}");
        }
    }
}

/// Blobs in the cube from −1 to 1, with empty bricks between them.
fn blobs(at: Vec3) -> f32 {
    let near = |middle: Vec3| (1.0 - 3.0 * at.distance_squared(middle)).max(0.0);
    near(Vec3::new(-0.5, -0.4, 0.3)) + 2.0 * near(Vec3::new(0.4, 0.5, -0.2))
}

/// Results of rays in a volume, from both kernels of the laboratory and from the twin.
fn orders(
    gpu: &Gpu,
    volume: &Volume,
    params: &VolumeParams,
    rays: &[Ray],
) -> ([Vec<LabMarchResult>; 2], [Vec<MarchResult>; 2]) {
    let kernels = VolumeOrders::new(gpu);
    let lattice = VolumeLattice::new(volume, 2048).unwrap();
    let uploaded = MarchedVolume::new(gpu, "test", &lattice, params).unwrap();
    let list = MarchedRays::new(gpu, rays).unwrap();
    let seen = VolumeOrder::ALL.map(|order| {
        let mut encoder = gpu.encoder("test");
        kernels
            .record(gpu, &mut encoder, &uploaded, &list, order)
            .unwrap();
        gpu.queue.submit([encoder.finish()]);
        list.results(gpu).unwrap()
    });
    let medium = Medium {
        lattice: &lattice,
        params,
    };
    let even = |_: DVec3| DVec3::ONE;
    let lit = Lit {
        lights: &[],
        sky: &even,
        sky_on_surface: &even,
        grid: None,
    };
    let twin = [Order::FrontToBack, Order::BackToFront].map(|order| {
        let one = |ray: &Ray| {
            let [origin, direction] = [ray.origin, ray.direction].map(|v| Vec3::from(v).as_dvec3());
            medium.march(&lit, (origin, direction, ray.t_max.into()), 0.5, order)
        };
        rays.iter().map(one).collect()
    });
    (seen, twin)
}

/// Largest difference of the results, as a fraction of the brightest.
fn unlike(seen: &[LabMarchResult], twin: &[MarchResult]) -> f64 {
    let brightest = twin.iter().map(|seen| seen.radiance.max_element());
    let brightest = brightest.fold(0.05, f64::max);
    let apart = seen.iter().zip(twin).map(|(seen, twin)| {
        let radiance = Vec3::from(seen.radiance).as_dvec3() - twin.radiance;
        let through = f64::from(seen.transmittance) - twin.transmittance;
        through.abs().max(radiance.abs().max_element() / brightest)
    });
    apart.fold(0.0, f64::max)
}

/// Both orders of the laboratory match the twin, for sparse and hot volumes, for mapped colours, and for
/// surfaces. For a volume without an empty brick, they also take the twin's samples.
#[test]
fn both_laboratory_march_orders_match_the_cpu_reference() {
    let gpu = gpu();
    let size = [40, 33, 36];
    let temperature = grid("temperature", size, |at| 800.0 * blobs(at * 1.1));
    let sparse = Volume {
        name: "sparse".into(),
        grids: vec![grid("density", size, blobs), temperature],
    };
    let full = Volume {
        name: "full".into(),
        grids: vec![grid("density", size, |at| 1.0 + 0.5 * at.x)],
    };
    let mut random = Random(7);
    let mut ray = |t_max: f32| {
        let origin = 4.0 * random.cube().normalize();
        Ray {
            origin: origin.to_array(),
            t_min: 0.0,
            direction: (random.cube() - origin).normalize().to_array(),
            t_max,
        }
    };
    // Some end within, and one is a gap.
    let mut rays: Vec<Ray> = (0..300)
        .map(|i| ray(if i % 4 == 0 { 4.0 } else { 1e30 }))
        .collect();
    rays[5].t_max = 0.0;
    let placed = |volume: &Volume, settings: &canopy::config::Volumes| {
        let lattice = VolumeLattice::new(volume, 2048).unwrap();
        let look = (lattice.color_temperature.is_some(), lattice.is_hot);
        let shape = (lattice.size, lattice.range);
        volume_params::params(settings, shape, look, lattice.volume_from_lattice, 0).unwrap()
    };
    let mut settings = Config::default().frame.volumes;
    let mut ended = 0;
    let samples = |seen: &[LabMarchResult]| seen.iter().map(|seen| seen.samples).sum::<u32>();
    // In thin smoke every step counts in both orders. Rays end early in thick smoke.
    for (density, emission, transfer, isovalue, most) in [
        (0.7, 0.0, VolumeTransfer::Off, 0.0, 1e-3),
        (6.0, 2.0, VolumeTransfer::Off, 0.0, 3e-3),
        (2.0, 0.0, VolumeTransfer::Heat, 0.0, 1e-2),
        (6.0, 0.0, VolumeTransfer::Off, 0.4, 1e-2),
    ] {
        (settings.density, settings.emission) = (density, emission);
        (settings.transfer, settings.isovalue) = (transfer, isovalue);
        let params = placed(&sparse, &settings);
        let (seen, [_, twin]) = orders(&gpu, &sparse, &params, &rays);
        let case = format!("{emission} {transfer:?} {isovalue}");
        for seen in &seen {
            let far = seen.iter().zip(&twin).filter(|(seen, twin)| {
                unlike(std::slice::from_ref(*seen), std::slice::from_ref(*twin)) > most
            });
            // A ray may graze a surface that it just misses in the twin.
            let allowed = if isovalue > 0.0 { 3 } else { 0 };
            let far = far.count();
            assert!(far <= allowed, "{case}: {far}");
            assert_eq!(seen[5].samples, 0);
            assert_eq!(seen[5].transmittance, 1.0);
        }
        let [front, back] = [0, 1].map(|order| samples(&seen[order]));
        let all: u32 = twin.iter().map(|seen| seen.samples).sum();
        assert!(front <= back && back < all, "{case}: {front} {back} {all}");
        ended += back - front;
        // The comparison must detect a volume of another density.
        if isovalue == 0.0 {
            settings.density *= 1.1;
            let (other, _) = orders(&gpu, &sparse, &placed(&sparse, &settings), &rays);
            assert!(unlike(&other[0], &twin) > 1e-2, "{case}");
            settings.density /= 1.1;
        }
    }
    assert!(ended > 1000, "rays end early: {ended}");
    (settings.emission, settings.isovalue) = (0.0, 0.0);
    let (seen, twin) = orders(&gpu, &full, &placed(&full, &settings), &rays);
    for (seen, twin) in seen.iter().zip(&twin) {
        assert!(unlike(seen, twin) < 2e-3);
        let other = seen
            .iter()
            .zip(twin)
            .filter(|(seen, twin)| seen.samples != twin.samples);
        // Rounding decides if nearly one more step fits, and if almost no light is left.
        let other = other.count();
        assert!(other <= 6, "{other}");
    }
}
