//! BVH queries between frames: collision of the walker, and obstacles between the camera and its pivot.
//!
//! The queries are submitted while no frame of the scene is in flight, so that an idle GPU runs them at once.
//! Results usually arrive within a millisecond, in time for the next frame. A later result is used by the
//! frame after its arrival.

use crate::{
    Result,
    app::{
        camera::walker::{Surroundings, WalkOutcome},
        feature::Feature,
        schedule::in_flight::InFlight,
        viewer::Viewer,
        window::graphics::Graphics,
    },
    config::CameraMode,
    gpu::PipelineSet,
    render::{UploadedScene, queries::walk::CollisionGeometry},
    scene::{Projection, framing},
};
use glam::Vec3;
use std::time::Duration;

/// Maximum time that the window waits for a result, a quarter of a frame at 60 Hz.
const TIMEOUT: Duration = Duration::from_millis(4);

/// Interval at which a result that misses the timeout is polled.
const AGAIN: Duration = Duration::from_millis(10);

/// Maximum radius of the sphere that is swept from the pivot to the camera, as a fraction of the scene's
/// extent.
const LARGEST_BALL: f32 = 1e-2;

/// Feature that runs the BVH queries of the camera and the walker.
pub(in crate::app) struct ObstacleFeature;

impl Feature for ObstacleFeature {
    fn follow(&self, viewer: &mut Viewer) -> Result<()> {
        ask(viewer)
    }
}

/// Runs the BVH query of the camera mode.
pub(in crate::app) fn ask(viewer: &mut Viewer) -> Result<()> {
    let Graphics { gpu, renderer, .. } = &mut viewer.graphics;
    // The pending result of the other mode is fetched and dropped, or it would stay pending for ever.
    match viewer.state.config.camera.mode {
        CameraMode::Walk => {
            renderer.camera_arm.answer(gpu, Duration::ZERO);
            walk(viewer)
        }
        CameraMode::Orbit => {
            renderer.walk.answer(gpu, Duration::ZERO);
            viewer.walker.leave();
            hold_arm(viewer)
        }
    }
}

/// True if the BVHs exist and can be queried now. No frame may be in flight, except one at rest while the
/// walker moves. The kernels must be compiled. With a fixed number of frames the query compiles them.
fn can_ask(viewer: &Viewer) -> bool {
    let Graphics {
        renderer, uploaded, ..
    } = &viewer.graphics;
    let mut missing = PipelineSet::default();
    renderer.camera_pipelines(&viewer.state.config.camera, &mut missing);
    let has_trees = |scene: &UploadedScene| renderer.has_geometry(scene);
    let waits = |drawn: &InFlight| !(drawn.frame.is_still && viewer.walker.moves());
    !viewer.in_flight.as_ref().is_some_and(waits)
        && uploaded.as_ref().is_some_and(has_trees)
        && (missing.is_empty() || viewer.schedule.has_frame_limit())
}

/// Takes the pending result of the walker, or submits a query for the time since the last one and waits
/// briefly for its result. Leaves walk mode if the camera was moved by other means or there is no ground.
fn walk(viewer: &mut Viewer) -> Result<()> {
    if viewer.walker.was_left(&viewer.state.camera, viewer.scenes) {
        viewer.state.config.camera.mode = CameraMode::Orbit;
        viewer.walker.leave();
        return Ok(());
    }
    let Some(around) = can_ask(viewer).then(|| surroundings(viewer)).flatten() else {
        return Ok(());
    };
    let camera = &mut viewer.state.camera;
    if matches!(camera.projection, Projection::Orthographic { .. }) {
        let eye = camera.eye();
        camera.switch_projection(viewer.state.config.camera.fov.to_radians());
        camera.move_eye(eye);
    }
    let Graphics {
        gpu,
        renderer,
        uploaded: Some(uploaded),
        ..
    } = &mut viewer.graphics
    else {
        return Ok(());
    };
    // A result that was too late for the last frame is used before the next query.
    let mut answer = renderer.walk.answer(gpu, Duration::ZERO);
    if answer.is_none() && !renderer.walk.is_pending() {
        let question = viewer.walker.next_query(&viewer.state.camera, &around);
        let walked = CollisionGeometry::from(&*uploaded);
        let asked = renderer
            .walk
            .submit(gpu, walked, &question.params, question.is_start);
        if asked.is_err() {
            viewer.state.config.camera.mode = CameraMode::Orbit;
            return Ok(asked?);
        }
        answer = renderer.walk.answer(gpu, TIMEOUT);
    }
    let camera = &mut viewer.state.camera;
    let news = answer.and_then(|state| viewer.walker.apply_result(&state, camera, &around));
    if news.is_some() {
        let [x, y, z] = camera.eye().to_array();
        log::trace!("the eye is at {x}, {y}, {z}");
    }
    match news {
        Some(WalkOutcome::IsBack) => viewer
            .state
            .notify("fell out of the scene; back to the start of the walk"),
        Some(WalkOutcome::NoGround) => {
            viewer.state.config.camera.mode = CameraMode::Orbit;
            viewer.state.notify("there is no surface to walk on");
        }
        Some(WalkOutcome::Walks) | None => {}
    }
    Ok(())
}

fn surroundings(viewer: &Viewer) -> Option<Surroundings> {
    let stage = viewer.state.stage.as_ref()?;
    let uploaded = viewer.graphics.uploaded.as_ref()?;
    let config = &viewer.state.config;
    Some(Surroundings {
        scene: viewer.scenes,
        origin: uploaded.buffers.origin,
        bounds: stage.bounds.scene(&stage.scene, &stage.pose()),
        ground: stage.ground(config.scene.ground),
        leaf_cutoff: config.tree.leaf_cutoff,
        height: config.camera.person,
        speed: config.camera.walk_speed,
    })
}

/// Queries how far the camera may be from its pivot, and limits the arm to it. Releases the arm if it is
/// inactive or the setting `avoid_walls` is off.
fn hold_arm(viewer: &mut Viewer) -> Result<()> {
    let Graphics { gpu, renderer, .. } = &mut viewer.graphics;
    let share = renderer.camera_arm.answer(gpu, Duration::ZERO);
    if !viewer.state.config.camera.avoid_walls || !viewer.state.motion.arm.holds() {
        let state = &mut viewer.state;
        state.motion.arm.release(&mut state.camera);
        return Ok(());
    }
    reach(viewer, share);
    let Some(around) = can_ask(viewer).then(|| surroundings(viewer)).flatten() else {
        return Ok(());
    };
    let camera = &viewer.state.camera;
    let Projection::Perspective { fov_y } = camera.projection else {
        // An orthographic viewpoint is always moved outside the scene, so nothing is in its way.
        viewer.state.motion.arm.reach(f32::INFINITY);
        return Ok(());
    };
    // The sphere contains the corners of the near plane, so that these touch no surface.
    let (near, _) = camera
        .viewpoint()
        .clip_planes(around.bounds, camera.distance(), around.ground.as_ref());
    let [width, height] = viewer.area.size.map(|side| side.max(1) as f32);
    let up = (0.5 * fov_y).tan();
    let corner = Vec3::new(up * width / height, up, 1.0).length();
    let radius = (near * corner).min(LARGEST_BALL * framing::extent(around.bounds));
    let ends = [camera.pivot(), camera.eye()];
    let Graphics {
        gpu,
        renderer,
        uploaded: Some(uploaded),
        ..
    } = &mut viewer.graphics
    else {
        return Ok(());
    };
    let arm = &mut renderer.camera_arm;
    if !arm.is_pending() {
        if let Err(error) = arm.submit(gpu, uploaded, ends, radius) {
            viewer.state.config.camera.avoid_walls = false;
            return Err(error.into());
        }
        let share = arm.answer(gpu, TIMEOUT);
        reach(viewer, share);
    }
    Ok(())
}

/// Limits the arm to the fraction `share` of the camera's distance, if there is a result.
fn reach(viewer: &mut Viewer, share: Option<f32>) {
    if let Some(share) = share {
        let far = share * viewer.state.camera.distance();
        viewer.state.motion.arm.reach(far);
    }
}

/// Returns true if the walker moves or a query is pending. For a pending query it schedules a redraw soon,
/// even while the GPU is busy.
pub(in crate::app) fn wait(viewer: &mut Viewer) -> bool {
    let renderer = &viewer.graphics.renderer;
    let is_awaited = renderer.walk.is_pending() || renderer.camera_arm.is_pending();
    if is_awaited {
        viewer.draw_within(AGAIN);
    }
    is_awaited || viewer.walker.moves()
}
