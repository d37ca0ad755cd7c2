//! Ambient occlusion: rays and filter compared with their twins, means compared with geometry, and histories
//! that end in time.

use crate::common;
use canopy::{
    config::{Antialias, ExposureMode, IndirectLight, OcclusionMode, ShadowMode},
    gpu::Gpu,
    reference::{
        lbvh::{Triangle, triangles},
        occlusion::{self, Occlusion},
        shadow_start::VisiblePoint,
        signal::{self, Eye, SurfacePoint},
        trace::closest_hit,
    },
    render::{Channel, View, frame::blue_noise},
    scene::{AlphaMode, Pose, Scene, Transform},
};

use common::{
    by_lane,
    golden::difference,
    gpu, plane_height, portable_gpu, random_triangles,
    scenes::{Stage, add_cutout, eye, look_at, matte, primitive, quad, scene, sphere},
};
use glam::{DVec3, Mat4, Quat, Vec3};

type Frame = signal::Frame<Occlusion>;

const SIZE: [u32; 2] = [60, 45];
const FAR: f64 = 1e30;

/// A stage with ambient occlusion rays, without history, filter and bounced light.
fn stage<'a>(gpu: &'a Gpu, scene: &'a Scene, size: [u32; 2]) -> Stage<'a> {
    let mut stage = Stage::new(gpu, scene, size);
    stage.config.shadows.mode = ShadowMode::Off;
    stage.config.occlusion.mode = OcclusionMode::Rays;
    stage.config.occlusion.history = 1;
    stage.config.occlusion.filter = false;
    stage.config.occlusion.bounce = IndirectLight::Off;
    stage
}

/// A stage with `rays` rays per pixel and a long history.
fn gathering<'a>(gpu: &'a Gpu, scene: &'a Scene, rays: u32, filter: bool) -> Stage<'a> {
    let mut stage = stage(gpu, scene, SIZE);
    stage.config.occlusion.rays = rays;
    stage.config.occlusion.history = 1000;
    stage.config.occlusion.filter = filter;
    stage
}

fn rest(scene: &Scene) -> Pose {
    Pose::new(scene, None, 0.0)
}

fn both_sides(color: Vec3) -> canopy::scene::Material {
    canopy::scene::Material {
        double_sided: true,
        ..matte(color)
    }
}

/// A floor, a smooth sphere on it, a low wall and a cloud of triangles above.
fn clutter() -> Scene {
    let cloud: Vec<_> = random_triangles(60, 5)
        .into_iter()
        .map(|t| t.map(|v| v * Vec3::new(2.0, 0.5, 2.0) + Vec3::Y * 2.0))
        .collect();
    let wall = Vec3::new(0.3, 0.0, 1.2);
    scene(
        [
            quad(Vec3::new(-4.0, 0.0, 4.0), 8.0 * Vec3::X, -8.0 * Vec3::Z, 0),
            sphere(Vec3::new(0.7, 0.6, 0.5), 0.6, 10, 0),
            quad(Vec3::new(-1.0, 0.0, -0.6), wall, 0.8 * Vec3::Y, 0),
            primitive(&cloud, 0),
        ],
        vec![both_sides(Vec3::ONE)],
    )
}

fn clutter_view() -> View {
    look_at(Vec3::new(1.5, 2.6, 4.2), Vec3::new(0.0, 0.5, 0.0), 30.0)
}

/// Ambient visibility of every pixel of the last frame; `None` without a surface.
fn found(stage: &mut Stage<'_>) -> Vec<Option<(Vec3, f32)>> {
    let words = stage.renderer.read_ambient_visibility(stage.gpu).unwrap();
    let position = stage.channel(Channel::Position);
    assert_eq!(words.len(), position.texels.len());
    let texels = position.texels.iter();
    let visibility =
        |(texel, word): (&[f32; 4], u32)| (texel[3] != 0.0).then(|| occlusion::unpack_visibility(word));
    texels.zip(words).map(visibility).collect()
}

fn shares(stage: &mut Stage<'_>) -> Vec<Option<f32>> {
    let share = |found: Option<(Vec3, f32)>| found.map(|(_, share)| share);
    found(stage).into_iter().map(share).collect()
}

/// Surfaces in the G-buffer of the last frame, for the twin.
fn seen(stage: &mut Stage<'_>, view: View) -> (Vec<Triangle>, Vec<Option<VisiblePoint>>) {
    let merged = stage.merged();
    let triangles = triangles(&merged.positions, &merged.indices);
    let [position, normal] = [Channel::Position, Channel::Normal].map(|c| stage.channel(c).texels);
    let at = |(p, n): (&[f32; 4], &[f32; 4])| {
        let (position, normal) = (Vec3::from_slice(p), Vec3::from_slice(n));
        let along = position - view.eye();
        let hit = closest_hit(&triangles, view.eye(), along, 1e-3, FAR);
        let (triangle, _) = hit.filter(|_| p[3] != 0.0)?;
        Some(VisiblePoint {
            position,
            normal,
            triangle: triangles[triangle],
            corner_normals: merged.indices[triangle].map(|i| merged.normals[i as usize]),
            to_eye: -along.normalize(),
        })
    };
    let pixels = position.iter().zip(&normal).map(at).collect();
    (triangles, pixels)
}

/// Results of the twin's rays `first..first + count` of every pixel.
fn twin_rays(
    (triangles, seen): &(Vec<Triangle>, Vec<Option<VisiblePoint>>),
    width: u32,
    rays: (u32, u32),
    reach: f64,
) -> Frame {
    let pixels = seen.iter().enumerate().map(|(index, seen)| {
        let seen = seen.as_ref()?;
        let pixel = [index as u32 % width, index as u32 / width];
        let surface = SurfacePoint {
            position: seen.position.as_dvec3(),
            last_position: seen.position.as_dvec3(),
            normal: seen.start().geometric_normal,
            mesh: 0,
            frames: 1,
        };
        Some((
            surface,
            occlusion::rays(triangles, seen, (blue_noise::mask(), pixel), rays, reach),
        ))
    });
    pixels.collect()
}

/// Largest difference of visibility among 99 % of the pixels, the mean difference, and the difference of bent
/// normals where visibility is high.
fn differences(gpu: &[Option<(Vec3, f32)>], twin: &Frame, seen: &[Option<VisiblePoint>]) -> [f64; 3] {
    let (mut shares, mut bends, mut missed) = (Vec::new(), Vec::new(), 0);
    for ((gpu, twin), seen) in gpu.iter().zip(twin).zip(seen) {
        assert!(gpu.is_some() || twin.is_none());
        // Exactly on an edge, the twin may see no surface.
        missed += usize::from(gpu.is_some() && twin.is_none());
        let (Some((direction, share)), Some((_, occluded)), Some(seen)) = (gpu, twin, seen) else {
            continue;
        };
        let (bent, visibility) = occluded.visibility(seen.normal);
        shares.push((f64::from(*share) - visibility).abs());
        if visibility > 0.3 {
            bends.push(bent.distance(direction.as_dvec3()));
        }
    }
    assert!(shares.len() > 500 && bends.len() > 300 && missed < 5);
    let mean = shares.iter().sum::<f64>() / shares.len() as f64;
    let quantile = |list: &mut Vec<f64>| {
        list.sort_by(f64::total_cmp);
        list[list.len() * 99 / 100]
    };
    [quantile(&mut shares), mean, quantile(&mut bends)]
}

#[test]
fn ray_hits_match_the_cpu_reference() {
    for gpu in [gpu(), portable_gpu()] {
        let scene = clutter();
        let (pose, view) = (rest(&scene), clutter_view());
        let mut stage = stage(&gpu, &scene, SIZE);
        for (rays, radius) in [(4, 0.0), (3, 0.9)] {
            stage.config.occlusion.rays = rays;
            stage.config.occlusion.radius = radius;
            let reach = if radius > 0.0 { radius.into() } else { FAR };
            for frame in 0..2 {
                stage.draw(&pose, view);
                let gpu = found(&mut stage);
                let seen = seen(&mut stage, view);
                let twin = twin_rays(&seen, SIZE[0], (frame * rays, rays), reach);
                // Half a step of the 10 bits of visibility, and of the 11 bits along each axis.
                let [share, mean, bend] = differences(&gpu, &twin, &seen.1);
                assert!(
                    share < 6e-4 && mean < 1e-3 && bend < 3e-3,
                    "{share} {mean} {bend}"
                );
                // Each frame traces new rays.
                let other = twin_rays(&seen, SIZE[0], (frame * rays + 1, rays), reach);
                assert!(differences(&gpu, &other, &seen.1)[1] > 0.02);
            }
        }
    }
}

#[test]
fn history_and_filter_match_the_cpu_reference() {
    let gpu = gpu();
    let scene = clutter();
    let pose = rest(&scene);
    let mut stage = gathering(&gpu, &scene, 2, true);
    stage.config.occlusion.history = 3;
    let mut before: Option<(Frame, Eye)> = None;
    for frame in 0..5_u32 {
        // The camera moves between the second and the fourth frame.
        let step = Vec3::new(0.11, 0.03, -0.05) * frame.clamp(1, 3) as f32;
        let view = look_at(Vec3::new(1.5, 2.6, 4.2) + step, Vec3::Y * 0.5, 30.0);
        stage.draw(&pose, view);
        let gpu = found(&mut stage);
        let seen = seen(&mut stage, view);
        let noisy = twin_rays(&seen, SIZE[0], (2 * frame, 2), FAR);
        let now = eye(view, SIZE);
        let mean = match &before {
            None => noisy.clone(),
            Some((last, eye)) => signal::accumulate(&noisy, &now, last, eye, 2),
        };
        let counts = |count| mean.iter().flatten().filter(|(p, _)| p.frames == count).count();
        assert!(counts((frame + 1).min(3)) > 1000);
        assert_eq!(counts(1) > 0, [0, 2, 3].contains(&frame), "frame {frame}");
        let filtered = [4, 2, 1]
            .iter()
            .fold(mean.clone(), |all, &step| signal::filter(&all, &now, 2, step));
        // If a ray passes an edge on the other side, the filter spreads the difference over neighbouring
        // pixels.
        let [share, average, bend] = differences(&gpu, &filtered, &seen.1);
        assert!(
            share < 0.02 && average < 2e-3 && bend < 0.02,
            "{frame}: {share} {average} {bend}"
        );
        let [_, unfiltered, _] = differences(&gpu, &mean, &seen.1);
        assert!(unfiltered > 5.0 * average, "{unfiltered}");
        before = Some((mean, now));
    }
}

/// Draws this many frames.
fn gather(stage: &mut Stage<'_>, pose: &Pose, view: View, frames: u32) {
    for _ in 0..frames {
        stage.draw(pose, view);
    }
}

#[test]
fn a_plane_and_a_convex_body_are_unoccluded_everywhere() {
    let gpu = gpu();
    let tilt = Mat4::from_quat(Quat::from_rotation_x(0.3));
    for (primitive, eye) in [
        (
            quad(Vec3::new(-20.0, 0.0, 20.0), 40.0 * Vec3::X, -40.0 * Vec3::Z, 0),
            Vec3::new(1.0, 3.0, 4.0),
        ),
        // Smooth normals deviate from the triangles' normals by up to 20°.
        (sphere(Vec3::ZERO, 1.0, 5, 0), Vec3::new(0.4, 1.0, 2.5)),
    ] {
        let mut scene = scene([primitive], vec![both_sides(Vec3::ONE)]);
        scene.nodes[0].transform = Transform::Matrix(tilt.as_dmat4());
        let view = look_at(eye, Vec3::ZERO, 60.0);
        let mut stage = stage(&gpu, &scene, SIZE);
        stage.config.occlusion.filter = true;
        gather(&mut stage, &rest(&scene), view, 2);
        let normals = stage.channel(Channel::Normal).texels;
        let found = found(&mut stage);
        assert!(found.iter().flatten().count() > 300);
        for (pixel, normal) in found.iter().zip(&normals) {
            let Some((direction, share)) = pixel else {
                continue;
            };
            assert_eq!(*share, 1.0);
            assert!(direction.distance(Vec3::from_slice(normal)) < 2e-3);
        }
    }
}

/// A room seen from within, with its walls divided into `cuts` × `cuts` squares.
fn room(cuts: u32) -> Scene {
    let sides = [Vec3::X, Vec3::Y, Vec3::Z].into_iter().flat_map(|n| [n, -n]);
    let mut walls = Vec::new();
    for normal in sides {
        let u = Vec3::new(normal.y, normal.z, normal.x);
        let v = normal.cross(u);
        let at = |x: u32, y: u32| {
            let side = |i: u32| 2.0 * i as f32 / cuts as f32 - 1.0;
            -normal + side(x) * u + side(y) * v
        };
        for (x, y) in (0..cuts).flat_map(|x| (0..cuts).map(move |y| (x, y))) {
            let corners = [at(x, y), at(x + 1, y), at(x + 1, y + 1), at(x, y + 1)];
            walls.push([corners[0], corners[1], corners[2]]);
            walls.push([corners[0], corners[2], corners[3]]);
        }
    }
    scene([primitive(&walls, 0)], vec![matte(Vec3::ONE)])
}

#[test]
fn a_closed_room_is_fully_occluded_even_in_its_corners() {
    let gpu = gpu();
    let turned = Quat::from_euler(glam::EulerRot::XYZ, 0.3, 0.7, 0.2);
    for (cuts, scale, rotation, offset) in [
        (1, Vec3::ONE, Quat::IDENTITY, Vec3::ZERO),
        (7, Vec3::new(3.0, 1.0, 2.0), turned, Vec3::new(40.0, -3.0, 17.0)),
        (1, Vec3::new(0.01, 0.02, 0.01), turned, Vec3::new(1.0, 0.0, 0.0)),
    ] {
        let mut scene = room(cuts);
        let matrix = Mat4::from_scale_rotation_translation(scale, rotation, offset);
        scene.nodes[0].transform = Transform::Matrix(matrix.as_dmat4());
        let mut stage = stage(&gpu, &scene, [160, 120]);
        stage.config.occlusion.rays = 8;
        stage.config.occlusion.filter = true;
        for (eye, target) in [
            (Vec3::new(0.1, 0.2, 0.3), Vec3::new(-1.0, -1.0, -1.0)),
            (Vec3::new(0.85, 0.9, 0.93), Vec3::ONE),
            (Vec3::new(-0.99, 0.4, 0.0), Vec3::new(-1.0, -1.0, 0.6)),
            (Vec3::new(0.1, -0.2, -0.3), Vec3::new(1.0, 0.9, -0.1)),
        ] {
            let [eye, target] = [eye, target].map(|at| matrix.transform_point3(at));
            let reach = 8.0 * scale.max_element();
            stage.draw(&rest(&scene), look_at(eye, target, reach));
            let shares = shares(&mut stage);
            assert!(shares.iter().all(Option::is_some), "the room is closed");
            let leaks = shares.iter().filter(|&&share| share != Some(0.0)).count();
            assert_eq!(leaks, 0, "{cuts} {scale} {eye}");
        }
    }
}

/// Root mean square and largest difference from `expected`, a function of the position. `None` leaves a
/// position out.
fn errors(stage: &mut Stage<'_>, expected: impl Fn(Vec3) -> Option<(f64, Option<DVec3>)>) -> [f64; 3] {
    let position = stage.channel(Channel::Position).texels;
    let (mut count, mut sum, mut worst, mut bend) = (0, 0.0, 0.0_f64, 0.0_f64);
    for (pixel, at) in found(stage).into_iter().zip(position) {
        let Some((direction, share)) = pixel else {
            continue;
        };
        let Some((expected, bent)) = expected(Vec3::from_slice(&at)) else {
            continue;
        };
        let error = (f64::from(share) - expected).abs();
        (count, sum, worst) = (count + 1, sum + error * error, worst.max(error));
        if let Some(bent) = bent {
            bend = bend.max(bent.distance(direction.as_dvec3()));
        }
    }
    assert!(count > 200, "{count}");
    [(sum / f64::from(count)).sqrt(), worst, bend]
}

/// Next to an endless wall of height h at distance d, the visibility is ½ (1 + d / √(d² + h²)). In the plane
/// across the wall, the cosine-weighted fraction between the normal and an angle β is ½ sin β. The top of the
/// wall is at tan β = d / h.
#[test]
fn visibility_beside_a_wall_matches_geometry() {
    let gpu = gpu();
    let (height, half) = (1.0, 400.0);
    let floor = quad(
        Vec3::new(-1.0, 0.0, half),
        4.0 * Vec3::X,
        -2.0 * half * Vec3::Z,
        0,
    );
    let wall = quad(
        Vec3::new(0.0, 0.0, half),
        -2.0 * half * Vec3::Z,
        height * Vec3::Y,
        0,
    );
    let scene = scene([floor, wall], vec![both_sides(Vec3::ONE)]);
    let view = look_at(Vec3::new(1.5, 2.5, 0.5), Vec3::new(1.2, 0.0, 0.0), 20.0);
    // Mean of the unoccluded directions, in stratified cosine-weighted steps.
    let bent = |distance: f64| {
        let mut sum = DVec3::ZERO;
        for i in 0..128 * 128 {
            let numbers = [i % 128, i / 128].map(|i| (f64::from(i) + 0.5) / 128.0);
            let along = occlusion::direction(Vec3::Y, numbers);
            let top = along.y * distance / -along.x;
            if along.x >= 0.0 || top > f64::from(height) {
                sum += along;
            }
        }
        sum.normalize()
    };
    let expected = |at: Vec3| {
        let (d, h) = (f64::from(at.x), f64::from(height));
        let share = 0.5 * (1.0 + d / d.hypot(h));
        // The integration is slow, so a few pixels are enough.
        let integrates = (at.x * 997.0).fract() < 0.02;
        (at.y < 1e-4 && d > 0.02).then(|| (share, integrates.then(|| bent(d))))
    };
    for (filter, bound) in [(false, 5e-3), (true, 6e-3)] {
        let mut stage = gathering(&gpu, &scene, 16, filter);
        gather(&mut stage, &rest(&scene), view, 32);
        let [mean, worst, bend] = errors(&mut stage, expected);
        assert!(
            mean < bound && worst < 0.03 && bend < 0.03,
            "{mean} {worst} {bend}"
        );
        assert!(errors(&mut stage, |at| expected(at + 0.05 * Vec3::X))[0] > bound);
    }
}

/// A sphere of radius R on a plane occludes R³ / D³, where D is the distance to the sphere's centre. The
/// cosine to its centre is R / D, and its fraction is (R / D)².
#[test]
fn visibility_beside_a_sphere_matches_geometry() {
    let gpu = gpu();
    let floor = quad(Vec3::new(-9.0, 0.0, 9.0), 18.0 * Vec3::X, -18.0 * Vec3::Z, 0);
    let ball = sphere(Vec3::Y, 1.0, 60, 0);
    let scene = scene([floor, ball], vec![matte(Vec3::ONE)]);
    let view = look_at(Vec3::new(0.5, 3.0, 6.0), Vec3::new(0.2, 0.3, 0.0), 40.0);
    let expected = |at: Vec3| {
        let occluded = f64::from(at.distance(Vec3::Y)).powi(-3);
        (at.y < plane_height(&gpu)).then_some((1.0 - occluded, None))
    };
    let mut stage = gathering(&gpu, &scene, 16, true);
    gather(&mut stage, &rest(&scene), view, 32);
    let [mean, worst, _] = errors(&mut stage, expected);
    assert!(mean < 5e-3 && worst < 0.04, "{mean} {worst}");
}

/// Mean difference of two lists of visibilities, and mean difference of the worst hundredth.
fn distance(a: &[Option<f32>], b: &[Option<f32>]) -> [f32; 2] {
    let both = a.iter().zip(b).filter_map(|(a, b)| Some(((*a)? - (*b)?).abs()));
    let mut all: Vec<f32> = both.collect();
    assert!(all.len() > 500);
    all.sort_by(f32::total_cmp);
    let worst = &all[all.len() * 99 / 100..];
    let mean = |list: &[f32]| list.iter().sum::<f32>() / list.len() as f32;
    [mean(&all), mean(worst)]
}

/// Visibility, accurate to a few thousandths.
fn converged(gpu: &Gpu, scene: &Scene, pose: &Pose, view: View) -> Vec<Option<f32>> {
    let mut stage = gathering(gpu, scene, 16, false);
    gather(&mut stage, pose, view, 64);
    shares(&mut stage)
}

#[test]
fn a_still_picture_converges_to_the_result_of_many_rays() {
    let gpu = gpu();
    let scene = clutter();
    let (pose, view) = (rest(&scene), clutter_view());
    let expected = converged(&gpu, &scene, &pose, view);
    for filter in [true, false].into_iter().take(by_lane(1, 2)) {
        let mut stage = gathering(&gpu, &scene, 2, filter);
        let mut errors = Vec::new();
        for frames in [1, 7, 56, 192].into_iter().take(by_lane(3, 4)) {
            gather(&mut stage, &pose, view, frames);
            errors.push(distance(&shares(&mut stage), &expected)[0]);
        }
        assert!(errors.is_sorted_by(|a, b| *b < 0.7 * a), "{errors:?}");
        assert!(errors[0] < if filter { 0.06 } else { 0.25 }, "{errors:?}");
        let last = errors.get(3);
        assert!(last.is_none_or(|error| *error < 0.008), "{errors:?}");
    }
}

#[test]
fn every_sample_of_a_picture_traces_new_rays() {
    let gpu = gpu();
    let scene = clutter();
    let (pose, view) = (rest(&scene), clutter_view());
    let expected = converged(&gpu, &scene, &pose, view);
    let error = |samples| {
        let mut stage = gathering(&gpu, &scene, 1, false);
        stage.supersampled(&pose, view, samples);
        distance(&shares(&mut stage), &expected)[0]
    };
    let [few, many] = [error(1), error(64)];
    assert!(many < 0.25 * few, "{few} {many}");
}

#[test]
fn a_moving_camera_leaves_no_ghosting() {
    let gpu = gpu();
    let scene = clutter();
    let pose = rest(&scene);
    let from = |angle: f32| {
        let eye = Vec3::new(4.4 * angle.sin(), 2.6, 4.4 * angle.cos());
        look_at(eye, Vec3::Y * 0.5, 30.0)
    };
    let last = from(1.2);
    let expected = converged(&gpu, &scene, &pose, last);
    // The same number of frames of one view; a camera path that ends there; a jump to it, at once and after
    // the history has converged again.
    let gone = |way: &[f32]| {
        let mut stage = gathering(&gpu, &scene, 4, true);
        stage.config.occlusion.history = 32;
        for angle in way {
            stage.draw(&pose, from(*angle));
        }
        distance(&shares(&mut stage), &expected)
    };
    let still = gone(&[1.2; 24]);
    let walk: Vec<f32> = (0..24).map(|i| 1.2 - 0.04 * (23 - i) as f32).collect();
    let walked = gone(&walk);
    let first = gone(&[1.2]);
    let mut jump = vec![0.0; 24];
    jump.push(1.2);
    let jumped = gone(&jump);
    jump.extend([1.2; 23]);
    let settled = gone(&jump);
    assert!(
        walked[0] < 2.0 * still[0] && walked[1] < 3.0 * still[1],
        "{walked:?} {still:?}"
    );
    assert!(
        jumped[0] < 1.2 * first[0] && jumped[1] < 1.2 * first[1],
        "{jumped:?} {first:?}"
    );
    assert!(
        settled[0] < 1.3 * still[0] && settled[1] < 1.6 * still[1],
        "{settled:?} {still:?}"
    );
    assert!(
        first[0] > 2.0 * still[0],
        "the history is of use: {first:?} {still:?}"
    );
}

#[test]
fn occlusion_follows_moving_objects() {
    let gpu = gpu();
    let plate = quad(Vec3::new(-0.8, 0.25, 0.8), 1.6 * Vec3::X, -1.6 * Vec3::Z, 0);
    let floor = quad(Vec3::new(-9.0, 0.0, 9.0), 18.0 * Vec3::X, -18.0 * Vec3::Z, 0);
    let scene = scene([floor, plate], vec![both_sides(Vec3::ONE)]);
    let view = look_at(Vec3::new(0.5, 4.0, 5.0), Vec3::ZERO, 40.0);
    let at = |x: f32| {
        let mut pose = rest(&scene);
        pose.world_from_node[1] = Mat4::from_translation(x * Vec3::X).as_dmat4();
        pose
    };
    let expected = |x: f32| converged(&gpu, &scene, &at(x), view);
    let errors = |expected: &[Option<f32>], stage: &mut Stage<'_>| {
        let found = shares(stage);
        distance(&found, expected)
    };
    let mut stage = gathering(&gpu, &scene, 4, true);
    gather(&mut stage, &at(-1.5), view, 40);
    let still = errors(&expected(-1.5), &mut stage);
    // The object jumps. The floor at its old position is unoccluded again once the picture has converged.
    gather(&mut stage, &at(1.5), view, 2);
    let right = expected(1.5);
    let leapt = errors(&right, &mut stage);
    let mut anew = gathering(&gpu, &scene, 4, true);
    gather(&mut anew, &at(1.5), view, 1);
    let anew = errors(&right, &mut anew);
    assert!(
        leapt[0] < 1.2 * anew[0] && leapt[1] < 1.2 * anew[1],
        "{leapt:?} {anew:?}"
    );
    gather(&mut stage, &at(1.5), view, 39);
    let rested = errors(&right, &mut stage);
    assert!(
        rested[0] < 1.5 * still[0] && rested[1] < 1.5 * still[1],
        "{rested:?} {still:?}"
    );
    // While it slides, its occlusion lags behind, but not for long.
    for step in 0..30 {
        stage.draw(&at(1.5 - 0.1 * step as f32), view);
    }
    let slid = errors(&expected(1.5 - 2.9), &mut stage);
    assert!(slid[0] < 0.05 && slid[1] < 0.5, "{slid:?}");
}

/// Moving surfaces keep their history. The whole scene rises towards a static camera, so the surroundings of
/// each point do not change, and the rays of several frames count.
#[test]
fn moving_surfaces_keep_their_history() {
    let gpu = gpu();
    let scene = clutter();
    let view = clutter_view();
    let at = |step: u32| {
        let mut pose = rest(&scene);
        for world_from_node in &mut pose.world_from_node {
            world_from_node.w_axis += (step as f32 * Vec3::new(0.02, 0.05, 0.01)).as_dvec3().extend(0.0);
        }
        pose
    };
    let mut moving = gathering(&gpu, &scene, 2, false);
    for step in 0..8 {
        moving.draw(&at(step), view);
    }
    let mut anew = gathering(&gpu, &scene, 2, false);
    anew.draw(&at(7), view);
    let expected = converged(&gpu, &scene, &at(7), view);
    let error = |mut stage: Stage<'_>| distance(&shares(&mut stage), &expected)[0];
    let (moving, anew) = (error(moving), error(anew));
    println!("{moving:.4} with eight frames, {anew:.4} with one");
    // If only the camera counted as motion, it would be 0.42.
    assert!(moving < 0.25 * anew, "{moving} {anew}");
}

/// A table over a floor that it darkens. The visible part of its top is unoccluded, up to the edge, from the
/// first frame on.
#[test]
fn occlusion_does_not_leak_across_depth_edges() {
    let gpu = gpu();
    let top = quad(Vec3::new(-1.0, 0.3, 1.0), 2.0 * Vec3::X, -2.0 * Vec3::Z, 0);
    let floor = quad(Vec3::new(-9.0, 0.0, 9.0), 18.0 * Vec3::X, -18.0 * Vec3::Z, 0);
    // A wall around it keeps the floor dark.
    let mut parts = vec![top, floor];
    for turn in 0..4 {
        let rotation = Quat::from_rotation_y(turn as f32 * std::f32::consts::FRAC_PI_2);
        let [corner, along] = [Vec3::new(-1.3, 0.0, 1.3), 2.6 * Vec3::X].map(|v| rotation * v);
        parts.push(quad(corner, along, 0.3 * Vec3::Y, 0));
    }
    let scene = scene(parts, vec![both_sides(Vec3::ONE)]);
    let view = look_at(Vec3::new(0.3, 5.0, 1.0), Vec3::ZERO, 40.0);
    let mut stage = gathering(&gpu, &scene, 2, true);
    for _ in 0..3 {
        stage.draw(&rest(&scene), view);
        let position = stage.channel(Channel::Position).texels;
        let found = shares(&mut stage);
        let of = |inside: fn(Vec3) -> bool| {
            let all = position.iter().zip(&found);
            let inside = all.filter(|(at, _)| inside(Vec3::from_slice(&at[..])));
            inside.filter_map(|(_, share)| *share).collect::<Vec<_>>()
        };
        let top = of(|at| at.y > 0.299 && at.x.abs() < 0.999 && at.z.abs() < 0.999);
        let gap = of(|at| at.y < 0.01 && at.x.abs() < 1.25 && at.z.abs() < 1.25);
        assert!(top.len() > 100 && gap.len() > 20, "{} {}", top.len(), gap.len());
        let least = top.iter().copied().fold(1.0, f32::min);
        let most = gap.iter().copied().fold(0.0, f32::max);
        assert!(least == 1.0 && most < 0.9, "{least} {most}");
    }
}

#[test]
fn frames_are_deterministic_and_differ_from_each_other() {
    let gpu = gpu();
    let scene = clutter();
    let pose = rest(&scene);
    let run = || {
        let mut stage = gathering(&gpu, &scene, 2, true);
        let mut words = Vec::new();
        for step in [0.0, 0.1, 0.1] {
            let view = look_at(Vec3::new(1.5 + step, 2.6, 4.2), Vec3::Y * 0.5, 30.0);
            stage.draw(&pose, view);
            words.push(stage.renderer.read_ambient_visibility(&gpu).unwrap());
        }
        words
    };
    let [a, b] = [run(), run()];
    assert!(a == b);
    assert!(a[0] != a[1] && a[1] != a[2]);
}

#[test]
fn occlusion_is_the_same_at_portable_limits_and_in_bands() {
    let mut scene = clutter();
    scene.materials.push(matte(Vec3::X));
    add_cutout(&mut scene);
    let (pose, view) = (rest(&scene), clutter_view());
    let run = |gpu: &Gpu, batch_rays: Option<u32>| {
        let mut stage = gathering(gpu, &scene, 2, true);
        (0..2)
            .map(|_| {
                if let Some(rays) = batch_rays {
                    stage.renderer.budget.batch_rays = rays;
                    stage.renderer.budget.in_parts = true;
                }
                let picture = stage.draw(&pose, view);
                gpu.check().unwrap();
                (picture, stage.renderer.read_ambient_visibility(gpu).unwrap())
            })
            .collect::<Vec<_>>()
    };
    let gpu = gpu();
    let all = run(&gpu, None);
    assert!(all == run(&gpu, Some(1)), "a row of tiles at a time");
    // There, positions are reconstructed from depth. One ray in a thousand may hit something else.
    for ((picture, words), (other, other_words)) in all.iter().zip(run(&portable_gpu(), None)) {
        let differing = words.iter().zip(&other_words).filter(|(a, b)| a != b);
        let differing = differing.count();
        assert!(100 * differing < words.len(), "portable: {differing} words");
        let (mean, _) = difference(picture, &other);
        assert!(mean < 0.02, "portable: {mean}");
    }
}

#[test]
fn history_is_reset_by_a_new_scene_size_setting_or_variant() {
    let gpu = gpu();
    let scene = clutter();
    let pose = rest(&scene);
    let view = clutter_view();
    type Cut = fn(&mut Stage<'_>);
    let cuts: [(&str, Cut); 6] = [
        ("size", |stage| stage.size = [72, 40]),
        ("rays", |stage| stage.config.occlusion.rays = 3),
        ("radius", |stage| stage.config.occlusion.radius = 0.5),
        ("blended", |stage| stage.config.shadows.blended_cast = false),
        ("variant", |stage| {
            stage.uploaded.write_variant(stage.gpu, stage.scene);
        }),
        ("scene", |stage| {
            let uploader = stage.renderer.uploader();
            stage.uploaded = uploader.upload(stage.gpu, stage.scene, &stage.config).unwrap();
        }),
    ];
    for (name, cut) in cuts {
        let first = |frames| {
            let mut stage = gathering(&gpu, &scene, 2, true);
            gather(&mut stage, &pose, view, frames);
            cut(&mut stage);
            stage.draw(&pose, view);
            stage.renderer.read_ambient_visibility(&gpu).unwrap()
        };
        assert!(first(3) == first(0), "{name}");
    }
    // Switching it off and on restarts the history. Settings that do not affect rays change nothing.
    let mut stage = gathering(&gpu, &scene, 2, true);
    let mut draw = |mode, exposure| {
        stage.config.occlusion.mode = mode;
        stage.config.image.exposure = exposure;
        stage.draw(&pose, view);
        stage.renderer.read_ambient_visibility(&gpu).unwrap()
    };
    let first = draw(OcclusionMode::Rays, ExposureMode::Auto);
    assert!(draw(OcclusionMode::Rays, ExposureMode::Stops(1.0)) != first);
    assert!(draw(OcclusionMode::Off, ExposureMode::Auto).is_empty());
    assert!(draw(OcclusionMode::Rays, ExposureMode::Auto) == first);
}

#[test]
fn without_occlusion_rays_no_pass_runs_and_nothing_is_occluded() {
    let gpu = gpu();
    let scene = clutter();
    let (pose, view) = (rest(&scene), clutter_view());
    let mut stage = stage(&gpu, &scene, SIZE);
    let mut draw = |mode| {
        stage.config.occlusion.mode = mode;
        (0..6).for_each(|_| drop(stage.draw(&pose, view)));
        let picture = stage.draw(&pose, view);
        let passes = &stage.renderer.stats().passes;
        let ours = passes.iter().filter(|pass| pass.name.starts_with("occlusion"));
        let ours: Vec<_> = ours.map(|pass| pass.name.clone()).collect();
        let words = stage.renderer.read_ambient_visibility(&gpu).unwrap().len();
        let ambient = stage.channel(Channel::Ambient).texels;
        (picture, ours, words, ambient)
    };
    let on = draw(OcclusionMode::Rays);
    assert_eq!(on.1, ["occlusion_rays", "occlusion_filter"]);
    assert_eq!(on.2, (SIZE[0] * SIZE[1]) as usize);
    assert!(on.3.iter().any(|t| t[0] < 0.5 && t[3] == 1.0));
    let off = draw(OcclusionMode::Off);
    assert_eq!((off.1.len(), off.2), (0, 0));
    assert!(
        off.3.iter().all(|t| t[0] == t[3]),
        "without rays nothing is occluded"
    );
    let luminance = |picture: &[u8]| picture.iter().map(|&b| u64::from(b)).sum::<u64>();
    assert!(luminance(&on.0) < luminance(&off.0));
    let auto = draw(OcclusionMode::Auto);
    let same = if gpu.capabilities.fast_rays { on } else { off };
    assert!(auto.1 == same.1 && auto.2 == same.2);
}

/// Light passes where an alpha mask hides the surface. Blended surfaces block light by their alpha if
/// `shadows.blended_cast` is on.
#[test]
fn occlusion_rays_respect_masked_and_blended_alpha() {
    let gpu = gpu();
    let floor = quad(Vec3::new(-9.0, 0.0, 9.0), 18.0 * Vec3::X, -18.0 * Vec3::Z, 0);
    let lid = quad(Vec3::new(-40.0, 0.5, 40.0), 80.0 * Vec3::X, -80.0 * Vec3::Z, 1);
    let arriving = |alpha_mode, alpha: f32, blended_cast| {
        let mut scene = scene([floor.clone(), lid.clone()], vec![matte(Vec3::ONE); 2]);
        scene.materials[1].double_sided = true;
        scene.materials[1].alpha_mode = alpha_mode;
        scene.materials[1].alpha_cutoff = 0.5;
        scene.materials[1].base_color.w = alpha;
        let mut stage = stage(&gpu, &scene, SIZE);
        stage.config.shadows.blended_cast = blended_cast;
        stage.draw(&rest(&scene), look_at(Vec3::new(0.0, 0.4, 2.0), Vec3::ZERO, 20.0));
        let shares = shares(&mut stage);
        let at = (SIZE[1] * 3 / 4 * SIZE[0] + SIZE[0] / 2) as usize;
        shares[at].unwrap()
    };
    assert_eq!(arriving(AlphaMode::Opaque, 0.2, true), 0.0);
    assert_eq!(arriving(AlphaMode::Mask, 0.8, true), 0.0);
    assert_eq!(arriving(AlphaMode::Mask, 0.2, true), 1.0);
    let share = arriving(AlphaMode::Blend, 0.2, true);
    assert!((share - 0.8).abs() < 0.01, "{share}");
    assert_eq!(arriving(AlphaMode::Blend, 0.0, true), 1.0);
    assert_eq!(arriving(AlphaMode::Blend, 1.0, true), 0.0);
    assert_eq!(arriving(AlphaMode::Blend, 0.2, false), 1.0);
}

/// Between bright walls, light interreflects. Occluded points are brighter than between black walls, by the
/// twin's fit. With a uniform environment of radiance 1, the scattered light equals the albedo.
#[test]
fn occluded_light_bounces_between_bright_walls() {
    let gpu = gpu();
    let floor = quad(Vec3::new(-2.0, 0.0, 2.0), 4.0 * Vec3::X, -4.0 * Vec3::Z, 0);
    let wall = quad(Vec3::new(-2.0, 0.0, 0.0), 4.0 * Vec3::X, 2.0 * Vec3::Y, 0);
    let view = look_at(Vec3::new(0.3, 1.0, 2.0), Vec3::new(0.0, 0.3, 0.0), 20.0);
    let lit = |albedo: f32, mode: OcclusionMode| {
        let mut material = both_sides(Vec3::splat(albedo));
        material.roughness = 1.0;
        let scene = scene([floor.clone(), wall.clone()], vec![material]);
        let mut stage = stage(&gpu, &scene, SIZE);
        stage.config.occlusion.mode = mode;
        stage.config.sun.enabled = canopy::config::Switch::Off;
        stage.config.environment.color = [1.0; 3];
        stage.draw(&rest(&scene), view);
        [Channel::Lit, Channel::Ambient].map(|channel| stage.channel(channel).texels)
    };
    let [[black, visibility], [black_open, _]] =
        [OcclusionMode::Rays, OcclusionMode::Off].map(|mode| lit(0.0, mode));
    for albedo in [0.25, 0.8] {
        let [[grey, _], [open, _]] = [OcclusionMode::Rays, OcclusionMode::Off].map(|mode| lit(albedo, mode));
        let mut occluded = 0;
        for pixel in 0..grey.len() {
            let scattered = f64::from(open[pixel][0] - black_open[pixel][0]);
            let share = f64::from(visibility[pixel][0]);
            if open[pixel][3] == 0.0 || share > 0.95 {
                continue;
            }
            occluded += 1;
            let arrived = f64::from(grey[pixel][0] - black[pixel][0]) / scattered;
            let expected = occlusion::bounced(share, f64::from(albedo));
            assert!(
                (arrived - expected).abs() < 0.02,
                "albedo {albedo}, {share} visible: {arrived}, not {expected}"
            );
            assert!(albedo < 0.5 || expected > share + 0.02 || share < 0.1);
        }
        assert!(occluded > 100, "{occluded}");
    }
}

#[test]
fn environment_lighting_does_not_leak_into_a_closed_room() {
    let gpu = gpu();
    for (roughness, metallic, layered) in [(0.9, 0.0, false), (0.1, 1.0, false), (0.4, 0.3, true)] {
        let mut scene = room(2);
        scene.materials[0].roughness = roughness;
        scene.materials[0].metallic = metallic;
        if layered {
            scene.materials[0].layers = Some(Box::default());
            let layers = scene.materials[0].layers.as_mut().unwrap();
            layers.clearcoat = 0.7;
            layers.sheen_color = Vec3::splat(0.5);
        }
        let mut stage = stage(&gpu, &scene, SIZE);
        stage.config.image.antialias = Antialias::Off;
        stage.config.sun.enabled = canopy::config::Switch::Off;
        let view = look_at(Vec3::new(0.1, 0.2, 0.3), Vec3::new(-1.0, -0.4, -0.8), 10.0);
        let mut lit = |mode| {
            stage.config.occlusion.mode = mode;
            stage.draw(&rest(&scene), view);
            let texels = stage.channel(Channel::Lit).texels;
            texels.iter().map(|t| t[0] + t[1] + t[2]).fold(0.0, f32::max)
        };
        assert!(lit(OcclusionMode::Off) > 0.05);
        assert_eq!(lit(OcclusionMode::Rays), 0.0, "{roughness} {metallic} {layered}");
    }
}
