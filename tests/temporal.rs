//! Temporal anti-aliasing: against its twin, against many samples of the same moments, and the trails that it
//! leaves.

use crate::common;
use canopy::{
    config::{Antialias, ShadowMode, Switch, Tonemap},
    gpu::Gpu,
    reference::temporal::{Mean, Pixel, Rows, temporal},
    render::{Channel, FrameSample, View},
    scene::{self, Pose, Scene},
};
use common::{
    by_lane, gpu,
    scenes::{Stage, look_at, matte, quad, scene, sphere},
};
use glam::{DVec2, DVec4, Mat4, Quat, Vec3};

/// Root mean square difference of pictures, in levels.
fn rmse(a: &[u8], b: &[u8]) -> f64 {
    let squares = a.iter().zip(b).map(|(a, b)| f64::from(a.abs_diff(*b)).powi(2));
    (squares.sum::<f64>() / a.len() as f64).sqrt()
}

/// A ball above a floor, before the background.
fn ball() -> Scene {
    scene(
        [
            quad(Vec3::new(-2.0, 0.0, 2.0), 4.0 * Vec3::X, -4.0 * Vec3::Z, 0),
            sphere(Vec3::new(0.0, 0.8, 0.0), 0.5, 8, 1),
        ],
        vec![matte(Vec3::new(0.9, 0.7, 0.3)), matte(Vec3::new(0.1, 0.3, 0.8))],
    )
}

/// Pixels of the last frame, from channels that are exact.
fn seen(stage: &mut Stage<'_>, view: View) -> Vec<Pixel> {
    let channels = [Channel::Lit, Channel::Position, Channel::Motion];
    let [lit, position, motion] = channels.map(|channel| stage.channel(channel).texels);
    let encode = |linear: f32| {
        let linear = f64::from(linear).clamp(0.0, 1.0);
        match linear <= 0.003_130_8 {
            true => 12.92 * linear,
            false => 1.055 * linear.powf(1.0 / 2.4) - 0.055,
        }
    };
    let background = stage.config.image.background.map(encode);
    let pixel = |i: usize| {
        let is_surface = position[i][3] == 1.0;
        let offset = Vec3::from_slice(&position[i]) - view.eye();
        let [r, g, b] = match is_surface {
            true => [0, 1, 2].map(|c| encode(lit[i][c])),
            false => background,
        };
        Pixel {
            encoded: DVec4::new(r, g, b, 1.0),
            depth: match is_surface {
                true => offset.as_dvec3().dot(view.forward().as_dvec3()),
                false => f64::INFINITY,
            },
            moved: DVec2::new(motion[i][0].into(), motion[i][1].into()),
        }
    };
    (0..lit.len()).map(pixel).collect()
}

#[test]
fn the_mean_matches_the_cpu_reference() {
    let (gpu, scene) = (gpu(), ball());
    for (size, shown) in [([64, 48], [64, 48]), ([32, 24], [64, 48]), ([48, 36], [64, 48])] {
        let mut stage = Stage::new(&gpu, &scene, size);
        stage.config.image.antialias = Antialias::Temporal;
        stage.config.image.tonemap = Tonemap::None;
        stage.config.sun.enabled = Switch::On;
        stage.reads.push(Channel::Motion);
        let mut pose = Pose::new(&scene, None, 0.0);
        let mut mean: Option<Vec<Mean>> = None;
        for frame in 0..8 {
            let time = frame as f32;
            // The ball jumps once.
            let jump = if frame < 5 { 0.0 } else { 0.6 };
            pose.world_from_node[1] = Mat4::from_translation((0.02 * time - jump) * Vec3::X).as_dmat4();
            let turn = Quat::from_rotation_y(0.01 * time);
            let view = look_at(turn * Vec3::new(1.5, 1.8, 3.0), 0.4 * Vec3::Y, 50.0);
            // In slices of a few rows. The displayed picture has more of them.
            (stage.renderer.budget.in_parts, stage.renderer.budget.part_pixels) = (true, 512);
            let picture = stage.stretched(&pose, view, 1, shown);
            let pixels = seen(&mut stage, view);
            let now = Rows {
                size,
                pixels: &pixels,
            };
            let last = mean.as_ref().map(|pixels| Rows { size: shown, pixels });
            let jitter = FrameSample::point(frame).as_dvec2();
            let expected = temporal(&now, jitter, last.as_ref(), shown);
            if frame > 0 {
                let levels = |mean: &Mean| mean.color.truncate().to_array();
                let expected: Vec<u8> = expected
                    .iter()
                    .flat_map(|mean| levels(mean).map(encoded).into_iter().chain([255]))
                    .collect();
                let off = picture.iter().zip(&expected).filter(|(a, b)| a.abs_diff(**b) > 2);
                let (off, error) = (off.count(), rmse(&picture, &expected));
                println!("{size:?}, frame {frame}: {off} values off, error {error:.3}");
                // If two depths are nearly equal, the motion may come from another pixel.
                assert!(
                    off < 120 && error < 1.0,
                    "{size:?}, frame {frame}: {off}, {error}"
                );
            }
            mean = Some(expected);
        }
    }
}

fn encoded(linear: f64) -> u8 {
    let encoded = match linear <= 0.003_130_8 {
        true => 12.92 * linear,
        false => 1.055 * linear.powf(1.0 / 2.4) - 0.055,
    };
    (255.0 * encoded).round() as u8
}

/// A way to draw moving pictures: the number of pixels, and the anti-aliasing.
type Way = ([u32; 2], Antialias);

/// A ball that rolls behind a fence of thin bars.
fn fence() -> Scene {
    let bar = |i: u32| {
        let x = -1.9 + 0.2 * i as f32;
        quad(
            Vec3::new(x, 0.0, 0.8),
            0.03 * Vec3::X,
            1.2 * Vec3::Y + 0.1 * Vec3::X,
            2,
        )
    };
    let [floor, ball] = [
        quad(Vec3::new(-2.0, 0.0, 2.0), 4.0 * Vec3::X, -4.0 * Vec3::Z, 0),
        sphere(Vec3::new(0.0, 0.5, 0.0), 0.5, 8, 1),
    ];
    let colors = [[0.9, 0.7, 0.3], [0.1, 0.3, 0.8], [0.05; 3]];
    scene(
        [floor, ball].into_iter().chain((0..20).map(bar)),
        colors
            .map(|color| scene::Material {
                double_sided: true,
                ..matte(color.into())
            })
            .into(),
    )
}

/// Mean errors of some ways to draw, against many samples of the same moments. The camera turns by `speed`
/// radians per frame, and the ball moves by `step` metres.
fn moving_errors(
    gpu: &Gpu,
    scene: &Scene,
    ways: &[Way],
    shown: [u32; 2],
    (speed, step): (f32, f32),
) -> Vec<f64> {
    let stage = |(size, antialias)| {
        let mut stage = Stage::new(gpu, scene, size);
        stage.config.shadows.mode = ShadowMode::Off;
        stage.config.image.antialias = antialias;
        stage
    };
    let mut stages: Vec<_> = ways.iter().copied().map(stage).collect();
    let mut many = stage((shown, Antialias::Off));
    let mut errors = vec![0.0; ways.len()];
    for frame in 0..24 {
        let time = frame as f32;
        let mut pose = Pose::new(scene, None, 0.0);
        pose.world_from_node[1] = Mat4::from_translation(step * time * Vec3::X).as_dmat4();
        let turn = Quat::from_rotation_y(speed * time);
        let view = look_at(turn * Vec3::new(1.5, 1.8, 3.5), 0.5 * Vec3::Y, 50.0);
        let found = stages.iter_mut().map(|s| s.stretched(&pose, view, 1, shown));
        let found: Vec<_> = found.collect();
        if frame == 15 || frame == 23 {
            let expected = many.supersampled(&pose, view, 64);
            for (error, found) in errors.iter_mut().zip(&found) {
                *error += rmse(found, &expected) / 2.0;
            }
        }
    }
    errors
}

#[test]
fn temporal_antialiasing_in_motion_approaches_supersampling() {
    use Antialias::{Off, Smaa, Temporal};
    let gpu = gpu();
    let scene = fence();
    let (full, half) = ([160, 90], [80, 45]);
    let ways = [(full, Smaa), (full, Temporal), (half, Off), (half, Temporal)];
    // The ball moves, or the camera.
    let cases = [(0.0, 0.02, [0.7, 0.6]), (0.005, 0.0, [1.05, 0.75])];
    for (speed, step, most) in cases.into_iter().take(by_lane(1, 2)) {
        let errors = moving_errors(&gpu, &scene, &ways, full, (speed, step));
        println!("{speed} rad, {step} m a frame: {errors:.2?}");
        assert!(errors[1] < most[0] * errors[0], "{speed}: {errors:?}");
        assert!(errors[3] < most[1] * errors[2], "{speed}: {errors:?}");
    }
}

/// A still scene converges to the mean over its pixels' squares. A ball that jumps leaves no trail after four
/// frames. Frames from before another channel was shown are not used.
#[test]
fn static_objects_are_sharp_and_jumping_objects_leave_no_trail() {
    let (gpu, scene) = (gpu(), ball());
    let view = look_at(Vec3::new(1.5, 1.8, 3.0), 0.4 * Vec3::Y, 50.0);
    let stage = |antialias| {
        let mut stage = Stage::new(&gpu, &scene, [96, 72]);
        stage.config.image.antialias = antialias;
        stage.config.shadows.mode = ShadowMode::Off;
        stage
    };
    let (mut temporal, mut many) = (stage(Antialias::Temporal), stage(Antialias::Off));
    let mut pose = Pose::new(&scene, None, 0.0);
    let expected = many.supersampled(&pose, view, 64);
    let hard = rmse(&many.draw(&pose, view), &expected);
    let first = temporal.draw(&pose, view);
    let smaa = stage(Antialias::Smaa).draw(&pose, view);
    assert_eq!(first, smaa, "a single frame is smoothed by its shape");
    let mut still = first;
    for _ in 0..24 {
        still = temporal.draw(&pose, view);
    }
    let error = rmse(&still, &expected);
    println!("still: {error:.2}, {hard:.2} without");
    assert!(error < 0.4 * hard, "{error} of {hard}");
    pose.world_from_node[1] = Mat4::from_translation(0.9 * Vec3::NEG_X).as_dmat4();
    let expected = many.supersampled(&pose, view, 64);
    let errors: Vec<_> = (0..5)
        .map(|_| rmse(&temporal.draw(&pose, view), &expected))
        .collect();
    println!("after a jump: {errors:.2?}, {hard:.2} without a mean");
    // A rim of the former picture may remain, and half of it disappears in each frame.
    assert!(
        errors[0] < 1.5 * hard && errors[2] < 0.9 * hard && errors[4] < 0.65 * hard,
        "{errors:?}"
    );
}
