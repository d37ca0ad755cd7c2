//! Motion vectors between the last frame and this one.

use crate::common;
use canopy::{
    config::Config,
    reference::{
        deform::deform,
        motion::{Camera, barycentric, motion},
    },
    render::{Channel, View},
    scene::{self, Pose, Primitive, Progress, Projection, Scene, Shading},
};
use common::{
    gpu,
    scenes::{Stage, look_at, matte, quad, scene, sphere},
};
use glam::{DVec2, DVec3, Mat4, Vec3, Vec4};

const SIZE: [u32; 2] = [72, 48];
/// Tolerance in pixels.
const TOLERANCE: f64 = 0.01;

fn camera(view: View) -> Camera {
    let aspect = SIZE[0] as f32 / SIZE[1] as f32;
    Camera {
        clip_from_offset: view.clip_from_offset(aspect).as_dmat4(),
        eye: view.eye().as_dvec3(),
    }
}

/// Mesh, position and motion of a pixel, from the channels of a frame.
struct Pixel {
    mesh: usize,
    position: DVec3,
    moved: DVec2,
}

/// Pixels that show a surface, and the motion of the background pixels.
fn pixels(stage: &mut Stage<'_>) -> (Vec<Pixel>, Vec<(usize, DVec2)>) {
    let [motion, position, mesh] =
        [Channel::Motion, Channel::Position, Channel::Mesh].map(|channel| stage.channel(channel));
    let (mut shown, mut behind) = (Vec::new(), Vec::new());
    for (at, motion) in motion.texels.iter().enumerate() {
        let moved = DVec2::new(motion[0].into(), motion[1].into());
        if motion[3] == 0.0 {
            behind.push((at, moved));
            continue;
        }
        shown.push(Pixel {
            mesh: mesh.texels[at][0] as usize,
            position: Vec3::from_slice(&position.texels[at]).as_dvec3(),
            moved,
        });
    }
    (shown, behind)
}

/// Triangles of a mesh whose plane contains a point to within `tolerance` metres, with the point inside or
/// near the triangle. GPUs show points around a triangle that is seen edge-on.
fn triangles_at(
    positions: &[Vec3],
    triangles: &[[u32; 3]],
    point: DVec3,
    tolerance: f64,
) -> Vec<([u32; 3], [DVec3; 3])> {
    let corners = |triangle: &[u32; 3]| triangle.map(|i| positions[i as usize].as_dvec3());
    let holds = |triangle: &&[u32; 3]| {
        let corners = corners(triangle);
        let normal = (corners[1] - corners[0]).cross(corners[2] - corners[0]);
        let off = (point - corners[0]).dot(normal.normalize_or_zero()).abs();
        off < tolerance && barycentric(corners, point).min_element() > -3.0
    };
    let found = triangles.iter().filter(holds);
    found.map(|triangle| (*triangle, corners(triangle))).collect()
}

/// Draws `scene` at two consecutive moments, and compares the motion of every pixel with the motion of its
/// triangle's vertices. Returns the longest motion in pixels.
fn check(stage: &mut Stage<'_>, scene: &Scene, moments: [(&Pose, View); 2]) -> f64 {
    let [(last_pose, last_view), (pose, view)] = moments;
    stage.draw(last_pose, last_view);
    stage.draw(pose, view);
    let [now, was] = [pose, last_pose].map(|pose| deform(scene, pose));
    let meshes = stage.merged().meshes;
    let [now_camera, last_camera] = [view, last_view].map(camera);
    let subpixel = f64::from(common::subpixel(stage.gpu) * view.pixel_side(SIZE[1])[1]);
    let (shown, _) = pixels(stage);
    assert!(shown.len() > 300, "{} pixels test little", shown.len());
    let mut longest = 0.0_f64;
    for pixel in shown {
        let range = &meshes[pixel.mesh];
        let triangles = &now.indices[range.start as usize..range.end as usize];
        let cameras = [&now_camera, &last_camera];
        let expected = triangles_at(
            &now.positions,
            triangles,
            pixel.position,
            1e-4 + subpixel * (now_camera.eye - pixel.position).length(),
        );
        let expected = expected.iter().map(|(triangle, corners)| {
            let last_corners = triangle.map(|i| was.positions[i as usize].as_dvec3());
            motion(SIZE, cameras, *corners, last_corners, pixel.position).unwrap()
        });
        let off = |expected: &DVec2| (pixel.moved - *expected).length();
        let expected = expected.min_by(|a, b| off(a).total_cmp(&off(b))).unwrap();
        // Between neighbouring pixels, motions here change by less than a quarter of a pixel.
        let tolerance = TOLERANCE + 0.25 * f64::from(common::subpixel(stage.gpu));
        assert!(
            off(&expected) <= tolerance,
            "{} of mesh {}, not {expected}",
            pixel.moved,
            pixel.mesh
        );
        longest = longest.max(expected.length());
    }
    longest
}

#[test]
fn skins_morphs_nodes_and_the_camera_give_motion_vectors() {
    let gpu = gpu();
    let scene = scene::load(&[], &Config::default().load, &Progress::default()).unwrap();
    let mut stage = Stage::new(&gpu, &scene, SIZE);
    stage.reads.push(Channel::Motion);
    let still = look_at(Vec3::new(3.0, 2.5, 5.0), Vec3::Y, 50.0);
    let moved = look_at(Vec3::new(3.2, 2.4, 4.9), Vec3::new(0.1, 1.0, 0.0), 50.0);
    let poses = [0.7, 0.8, 1.1].map(|time| Pose::new(&scene, Some(0), time));
    for (views, from, to) in [
        ([still, moved], 0, 0),
        ([still, still], 0, 1),
        ([still, moved], 1, 2),
        ([moved, still], 2, 0),
    ] {
        let moments = [(&poses[from], views[0]), (&poses[to], views[1])];
        let longest = check(&mut stage, &scene, moments);
        println!("{from} to {to}: up to {longest:.2} pixels");
        assert!(longest > 0.5, "nothing moves");
    }
}

/// A mirrored mesh has its triangles wound the other way, with their corners in another order.
#[test]
fn mirrored_and_scaled_meshes_have_motion_vectors() {
    let gpu = gpu();
    let scene = scene([sphere(Vec3::ZERO, 1.0, 6, 0)], vec![matte(Vec3::ONE)]);
    let mut stage = Stage::new(&gpu, &scene, SIZE);
    stage.reads.push(Channel::Motion);
    let view = look_at(Vec3::new(0.4, 0.9, 3.0), Vec3::ZERO, 20.0);
    let pose = |matrix: Mat4| {
        let mut pose = Pose::new(&scene, None, 0.0);
        pose.world_from_node[0] = matrix.as_dmat4();
        pose
    };
    let turned = Mat4::from_rotation_y(0.3) * Mat4::from_scale(Vec3::new(1.1, 0.9, 1.0));
    let mirrored = Mat4::from_scale(Vec3::new(-1.0, 1.0, 1.0));
    for (from, to) in [(Mat4::IDENTITY, turned), (turned, mirrored), (mirrored, turned)] {
        let longest = check(&mut stage, &scene, [(&pose(from), view), (&pose(to), view)]);
        assert!(longest > 1.0, "{longest}");
    }
}

/// The first frame of a scene has no previous one. Points at infinity move only with the camera's direction.
#[test]
fn the_first_frame_has_no_motion_and_the_sky_moves_with_rotation() {
    let gpu = gpu();
    let scene = scene([sphere(Vec3::ZERO, 0.5, 6, 0)], vec![matte(Vec3::ONE)]);
    let pose = Pose::new(&scene, None, 0.0);
    let mut stage = Stage::new(&gpu, &scene, SIZE);
    stage.reads.push(Channel::Motion);
    let views = [
        look_at(Vec3::new(0.0, 0.0, 3.0), Vec3::ZERO, 20.0),
        look_at(Vec3::new(0.0, 0.0, 3.0), Vec3::new(0.1, 0.05, 0.0), 20.0),
        look_at(Vec3::new(0.5, 0.0, 3.0), Vec3::new(0.6, 0.05, 0.0), 20.0),
    ];
    stage.draw(&pose, views[0]);
    let (shown, behind) = pixels(&mut stage);
    assert!(shown.iter().all(|pixel| pixel.moved == DVec2::ZERO));
    assert!(behind.iter().all(|(_, moved)| *moved == DVec2::ZERO));
    for pair in views.windows(2) {
        stage.draw(&pose, pair[1]);
        let [last, now] = [0, 1].map(|i| camera(pair[i]));
        let (_, behind) = pixels(&mut stage);
        let offset_from_clip = now.clip_from_offset.inverse();
        for (at, moved) in behind {
            let pixel = DVec2::new((at as u32 % SIZE[0]).into(), (at as u32 / SIZE[0]).into()) + 0.5;
            let clip = (pixel / DVec2::new(SIZE[0].into(), SIZE[1].into()) - 0.5) * DVec2::new(2.0, -2.0);
            let far = offset_from_clip * clip.extend(0.5).extend(1.0);
            let direction = 1e12 * (far.truncate() / far.w).normalize();
            let was = last.in_picture(last.eye + direction, SIZE).unwrap();
            assert!((pixel - was - moved).length() <= TOLERANCE, "{moved} at {pixel}");
        }
    }
    // The camera has not moved, and the frame was not asked for motion.
    stage.reads.clear();
    stage.draw(&pose, views[2]);
    let missing = stage
        .renderer
        .read_channel(&gpu, Channel::Motion, &stage.uploaded.buffers);
    assert!(missing.is_err());
    // A frame without a motion request still serves as the previous frame.
    stage.reads.push(Channel::Motion);
    stage.draw(&pose, views[1]);
    let (shown, _) = pixels(&mut stage);
    assert!(shown.iter().any(|pixel| pixel.moved.length() > 1.0));
}

/// The two ends of a line move differently, and points in between are interpolated.
#[test]
fn lines_and_points_move_with_their_vertices() {
    let gpu = gpu();
    let ends = [
        Vec3::new(-1.0, 0.2, 0.0),
        Vec3::new(1.0, 0.2, 0.0),
        Vec3::new(0.0, -0.4, 0.0),
    ];
    let thin = Primitive {
        positions: ends.to_vec(),
        normals: vec![Vec3::Z; 3],
        tangents: vec![Vec4::new(1.0, 0.0, 0.0, 1.0); 3],
        shading: Shading::Unlit,
        lines: vec![[0, 1]],
        points: vec![2],
        ..Primitive::default()
    };
    // Their numbers follow those of triangles.
    let floor = quad(Vec3::new(-1.0, -0.9, 0.0), 2.0 * Vec3::X, 0.1 * Vec3::Y, 0);
    let scene = scene([floor, thin], vec![matte(Vec3::ONE)]);
    let mut stage = Stage::new(&gpu, &scene, SIZE);
    stage.reads.push(Channel::Motion);
    let view = View {
        projection: Projection::Orthographic { half_height: 1.0 },
        ..look_at(Vec3::Z * 4.0, Vec3::ZERO, 20.0)
    };
    let [first, mut next] = [0.0, 0.0].map(|time| Pose::new(&scene, None, time));
    let right = Mat4::from_translation(Vec3::new(0.125, 0.0, 0.0));
    next.world_from_node[1] = (right * Mat4::from_scale(Vec3::new(1.1, 1.0, 1.0))).as_dmat4();
    stage.draw(&first, view);
    stage.draw(&next, view);
    let (shown, _) = pixels(&mut stage);
    let thin: Vec<_> = shown.iter().filter(|pixel| pixel.mesh == 1).collect();
    assert!(thin.len() > 40, "{}", thin.len());
    for pixel in &thin {
        // x' = 1.1 x + 0.125, with 24 pixels per metre. A pixel's centre is off the point, which was at 0.
        let is_point = pixel.position.y < 0.0;
        let was = if is_point {
            0.0
        } else {
            (pixel.position.x - 0.125) / 1.1
        };
        let expected = DVec2::new(24.0 * (1.1 * was + 0.125 - was), 0.0);
        assert!(
            (pixel.moved - expected).length() <= TOLERANCE,
            "{} at {}, not {expected}",
            pixel.moved,
            pixel.position
        );
    }
    assert!(
        shown
            .iter()
            .filter(|pixel| pixel.mesh == 0)
            .all(|pixel| pixel.moved == DVec2::ZERO)
    );
}
