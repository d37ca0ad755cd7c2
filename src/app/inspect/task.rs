//! Picking: casts rays through the clicked pixels into the BVHs of the last frame. The results arrive some
//! frames later. Also draws the outlines of selected meshes, and queries the distance between them.

use crate::{
    Error, Result,
    app::{
        self,
        camera::projector::Projector,
        feature::Feature,
        inspect::{
            clicks::{Click, Hover},
            measure::MeasuredPoint,
            mesh_gap::MeshGap,
            selection::{Gap, Selected},
        },
        schedule::PictureKey,
        viewer::Viewer,
        window::graphics::Graphics,
    },
    gpu::PipelineSet,
    render::{GeometryCopy, OUTLINES, OutlineQuery, PickQuery, Picked, View},
};
use glam::Vec2;
use std::{
    sync::{Arc, mpsc},
    time::Duration,
};

/// Maximum number of clicks that have not been submitted. Further clicks are dropped.
const MAX_CLICKS: usize = 8;
/// Maximum distance in logical pixels at which a measured point snaps to a vertex or an edge.
const SNAP_REACH: f32 = 10.0;
/// Width of outlines in logical pixels.
const OUTLINE_WIDTH: f32 = 2.5;

/// Feature that picks the clicked objects.
pub(in crate::app) struct PickFeature;

impl Feature for PickFeature {
    fn follow(&self, viewer: &mut Viewer) -> Result<()> {
        hover(viewer);
        ask_geometry(viewer)
    }

    fn poll(&self, viewer: &mut Viewer) {
        poll_picks(viewer);
        poll_gap(viewer);
    }

    fn is_awaited(&self, viewer: &Viewer) -> bool {
        let selecting = &viewer.selecting;
        let is_reading = selecting.gap.as_ref().is_some_and(MeshGap::is_reading);
        is_reading || asks_hover(viewer) || !selecting.asked.is_empty()
    }

    fn device_lost(&self, viewer: &mut Viewer) -> Result<()> {
        viewer.selecting.reset();
        Ok(())
    }
}

/// Handles a click on the scene: traces a ray in that mode, or else queues a pick.
pub(in crate::app) fn click(viewer: &mut Viewer, beside: bool) {
    let Some(click) = click_at_pointer(viewer, beside) else {
        return;
    };
    if viewer.state.trees.view.traces {
        return app::rays::task::trace(viewer, click);
    }
    if viewer.selecting.clicks.len() < MAX_CLICKS {
        viewer.selecting.clicks.push_back(click);
    }
    viewer.draw_within(Duration::ZERO);
}

/// Returns a click at the position of the pointer in the shown picture. `None` if no picture is shown.
fn click_at_pointer(viewer: &Viewer, beside: bool) -> Option<Click> {
    let shown = viewer.selecting.shown.as_ref()?;
    let origin = viewer.area.origin.map(|side| side as f32);
    Some(Click {
        scene: shown.scene,
        query: PickQuery {
            view: shown.view,
            pixel: viewer.input.pointer() - Vec2::from(origin),
            size: viewer.area.size,
        },
        beside,
        adds: None,
    })
}

/// Queues a pick at the centre of the picture if the user has requested a new light, which is placed relative
/// to that surface. Without a picture, adds the light at once.
pub(in crate::app) fn ask_for_light(viewer: &mut Viewer) {
    let Some(kind) = viewer.state.inspect.outline.adds.take() else {
        return;
    };
    let Some(shown) = viewer.selecting.shown.as_ref() else {
        return viewer.state.add_light(kind, None);
    };
    let size = viewer.area.size;
    viewer.selecting.clicks.push_back(Click {
        scene: shown.scene,
        query: PickQuery {
            view: shown.view,
            pixel: Vec2::new(size[0] as f32, size[1] as f32) * 0.5,
            size,
        },
        beside: false,
        adds: Some(kind),
    });
    viewer.draw_within(Duration::ZERO);
}

/// Requests the point that a click would measure, if the pointer or the picture has moved since the last
/// request. Ends the preview if a click would not measure.
pub(in crate::app) fn hover(viewer: &mut Viewer) {
    let is_measuring = viewer.state.inspect.measure.is_on && viewer.is_in_scene() && viewer.input.hovers();
    let click = click_at_pointer(viewer, false).filter(|_| is_measuring);
    let (Some(click), Some(picture)) = (click, viewer.selecting.shown.clone()) else {
        leave_hover(viewer);
        return;
    };
    let is_asked = |hover: &Hover| {
        hover.number.is_some() || hover.click.query == click.query && hover.picture.has_same_pose(&picture)
    };
    // Only one query runs at a time. When its result arrives, the next one uses the latest position.
    if !viewer.selecting.hovered.as_ref().is_some_and(is_asked) {
        let number = None;
        viewer.selecting.hovered = Some(Hover {
            click,
            picture,
            number,
        });
        viewer.selecting.hovers = true;
        viewer.draw_within(Duration::ZERO);
    }
}

/// Cancels the query of the point under the pointer, and removes the preview of the measurement.
pub(in crate::app) fn leave_hover(viewer: &mut Viewer) {
    (viewer.selecting.hovered, viewer.selecting.hovers) = (None, false);
    if viewer.state.inspect.measure.preview.take().is_some() {
        viewer.draw_within(Duration::ZERO);
    }
}

/// Submits picks, outlines, the traced ray and the readback for the mesh distance for the shown picture. Does
/// nothing while a frame of another pose is in flight, because that overwrites the geometry.
pub(in crate::app) fn ask_geometry(viewer: &mut Viewer) -> Result<()> {
    viewer
        .selecting
        .clicks
        .retain(|click| click.scene == viewer.scenes);
    let Some(shown) = viewer.selecting.shown.clone() else {
        return Ok(());
    };
    let replaces = |picture: &PictureKey| !picture.has_same_pose(&shown);
    let is_replaced = viewer
        .in_flight
        .as_ref()
        .is_some_and(|frame| replaces(&frame.picture));
    let traces = app::rays::task::is_asked(viewer);
    let has_work = traces
        || viewer.selecting.hovers
        || !viewer.selecting.clicks.is_empty()
        || !viewer.state.inspect.selection.is_empty();
    if shown.scene != viewer.scenes || is_replaced || !has_work || !selection_is_ready(viewer)? {
        return Ok(());
    }
    let Graphics { gpu, uploaded, .. } = &viewer.graphics;
    let gpu = gpu.clone();
    if !uploaded
        .as_ref()
        .is_some_and(|uploaded| viewer.graphics.renderer.has_geometry(uploaded))
    {
        return Ok(());
    }
    let mut encoder = gpu.encoder("selection");
    ask_for_clicks(viewer, &mut encoder)?;
    draw_outline(viewer, &mut encoder, &shown)?;
    app::rays::task::ask(viewer, &mut encoder, &shown)?;
    let copies = copy_meshes(viewer, &mut encoder, &shown)?;
    gpu.queue.submit([encoder.finish()]);
    if let Some(copy) = viewer.traced_ray.copy.as_ref().filter(|_| traces) {
        copy.map();
    }
    if let Some((meshes, copies)) = copies {
        viewer.selecting.gap = Some(MeshGap::new(shown, meshes, copies));
    }
    Ok(())
}

/// Returns true if the pipelines of the queries are compiled. Otherwise starts to compile them on a thread.
/// If that has failed, clears the selection and the clicks, and returns the error.
fn selection_is_ready(viewer: &mut Viewer) -> Result<bool> {
    if let Some(compiling) = &viewer.selecting.compiling {
        match compiling.try_recv() {
            Err(mpsc::TryRecvError::Empty) => return Ok(false),
            Err(mpsc::TryRecvError::Disconnected) => {}
            Ok(outcome) => {
                viewer.selecting.compiling = None;
                if outcome.is_err() {
                    viewer.selecting.hovers = false;
                    viewer.selecting.clicks.clear();
                    viewer.state.inspect.selection.clear();
                }
                outcome?;
            }
        }
        viewer.selecting.compiling = None;
    }
    let mut missing = PipelineSet::default();
    let Graphics {
        gpu,
        renderer,
        uploaded,
        ..
    } = &viewer.graphics;
    let Some(uploaded) = uploaded else {
        return Ok(false);
    };
    renderer.selection_pipelines(uploaded, &mut missing);
    if viewer.state.trees.view.traces {
        renderer.path_pipelines(&mut missing);
    }
    if missing.is_empty() {
        return Ok(true);
    }
    let (sender, outcome) = mpsc::channel();
    let (gpu, wake) = (Arc::clone(gpu), viewer.waker.redraw());
    viewer.selecting.compiling = Some(outcome);
    viewer.selecting.thread = Some(std::thread::spawn(move || {
        sender.send(missing.compile(&gpu).map_err(Error::from)).ok();
        wake();
    }));
    Ok(false)
}

fn ask_for_clicks(viewer: &mut Viewer, encoder: &mut wgpu::CommandEncoder) -> Result<()> {
    let Graphics {
        gpu,
        renderer,
        uploaded: Some(uploaded),
        ..
    } = &mut viewer.graphics
    else {
        return Ok(());
    };
    while let Some(click) = viewer.selecting.clicks.front() {
        match renderer.pick(gpu, encoder, uploaded, &click.query) {
            Ok(None) => break,
            Ok(Some(number)) => viewer.selecting.asked.push((number, *click)),
            Err(error) => {
                viewer.selecting.clicks.clear();
                return Err(error.into());
            }
        }
        viewer.selecting.clicks.pop_front();
    }
    if let Some(hover) = &mut viewer.selecting.hovered
        && viewer.selecting.hovers
    {
        viewer.selecting.hovers = false;
        hover.number = renderer.pick(gpu, encoder, uploaded, &hover.click.query)?;
        viewer.selecting.hovers = hover.number.is_none();
    }
    Ok(())
}

/// Draws the outlines of the selected meshes for `picture`, unless they are already drawn or the pipelines
/// are missing.
pub(in crate::app) fn draw_outline(
    viewer: &mut Viewer,
    encoder: &mut wgpu::CommandEncoder,
    picture: &PictureKey,
) -> Result<()> {
    let meshes = viewer.state.inspect.selection.instances();
    let wanted = Some((picture, meshes));
    let outlined = viewer.selecting.outlined.as_ref();
    let is_drawn = outlined.map(|(picture, meshes)| (picture, *meshes)) == wanted;
    if is_drawn || meshes == [None; OUTLINES] || viewer.selecting.compiling.is_some() {
        return Ok(());
    }
    let query = OutlineQuery {
        view: picture.view,
        size: picture.area.size,
        meshes,
        width: OUTLINE_WIDTH * viewer.window.scale_factor() as f32,
    };
    let Graphics {
        gpu,
        renderer,
        uploaded: Some(uploaded),
        ..
    } = &mut viewer.graphics
    else {
        return Ok(());
    };
    let mut missing = PipelineSet::default();
    renderer.selection_pipelines(uploaded, &mut missing);
    if missing.is_empty() && renderer.draw_outline(gpu, encoder, uploaded, &query)? {
        viewer.selecting.outlined = Some((picture.clone(), meshes));
    }
    Ok(())
}

/// True if the last drawn outlines must be shown over the picture.
pub(in crate::app) fn has_outline(viewer: &Viewer) -> bool {
    let meshes = viewer.state.inspect.selection.instances();
    let outlined = viewer.selecting.outlined.as_ref();
    meshes != [None; OUTLINES]
        && outlined.is_some_and(|(picture, of)| *of == meshes && picture.scene == viewer.scenes)
}

/// Records the readback of two selected meshes if their distance in this pose is not known. Returns their
/// indices and the readbacks.
fn copy_meshes(
    viewer: &mut Viewer,
    encoder: &mut wgpu::CommandEncoder,
    picture: &PictureKey,
) -> Result<Option<([usize; 2], [GeometryCopy; 2])>> {
    let [Some(first), Some(second)] = viewer.state.inspect.selection.instances() else {
        viewer.selecting.gap = None;
        return Ok(None);
    };
    let meshes = [first, second];
    if let Some(gap) = &viewer.selecting.gap {
        let is_known = viewer.state.inspect.selection.gap != Gap::Unknown;
        let is_of_pose = is_known && gap.picture.has_same_pose(picture);
        if gap.meshes == meshes && (is_of_pose || !gap.is_done()) {
            return Ok(None);
        }
    }
    let Some(uploaded) = &viewer.graphics.uploaded else {
        return Ok(None);
    };
    let (gpu, renderer) = (&viewer.graphics.gpu, &viewer.graphics.renderer);
    let mut copied = Vec::new();
    for mesh in meshes {
        copied.extend(renderer.copy_mesh(gpu, encoder, uploaded, mesh)?);
    }
    let copied: std::result::Result<[_; 2], _> = copied.try_into();
    Ok(copied.ok().map(|copies| (meshes, copies)))
}

/// Takes the results of picks.
fn poll_picks(viewer: &mut Viewer) {
    let is_asked = asks_hover(viewer) || !viewer.selecting.asked.is_empty();
    let Some(uploaded) = viewer.graphics.uploaded.as_ref().filter(|_| is_asked) else {
        return;
    };
    let mut arrived = Vec::new();
    let collected = |number, picked| arrived.push((number, picked));
    viewer.graphics.renderer.collect_picks(uploaded, collected);
    for (number, picked) in arrived {
        answered(viewer, number, picked);
    }
}

/// True while the point under the pointer is queried.
fn asks_hover(viewer: &Viewer) -> bool {
    let hovered = viewer.selecting.hovered.as_ref();
    hovered.is_some_and(|hover| hover.number.is_some())
}

/// Returns the camera of the picture that the window shows next. `None` unless an overlay is drawn over it:
/// the camera path, marks of lights, or measured lengths.
pub(in crate::app) fn measured_view(viewer: &Viewer) -> Option<View> {
    let has_curve = viewer.state.motion.path.is_in_panel && !viewer.state.motion.path.keys().is_empty();
    let has_lines = has_curve
        || viewer.state.inspect.outline.is_open
        || !viewer.state.inspect.measure.points().is_empty()
        || viewer.state.inspect.measure.preview.is_some()
        || matches!(viewer.state.inspect.selection.gap, Gap::Known(_));
    let shown = viewer.selecting.shown.as_ref().filter(|_| has_lines)?;
    // A frame in parts is shown only once it is done, so the overlays must fit the shown picture. Any other
    // frame is shown together with its overlays.
    if viewer.graphics.renderer.budget.in_parts {
        return Some(shown.view);
    }
    let stage = viewer.state.stage.as_ref()?;
    let bounds = stage.bounds.scene(&stage.scene, &stage.pose());
    let (viewpoint, _) = viewer.state.viewpoint(bounds);
    Some(View {
        world_from_view: viewpoint.world_from_view,
        projection: viewpoint.projection,
        ..shown.view
    })
}

fn poll_gap(viewer: &mut Viewer) {
    let Some(gap) = &mut viewer.selecting.gap else {
        return;
    };
    let Some(found) = gap.poll(viewer.waker.redraw()) else {
        return;
    };
    let [first, second] = viewer.state.inspect.selection.instances();
    let is_wanted = [first, second] == gap.meshes.map(Some);
    if is_wanted && gap.picture.scene == viewer.scenes {
        viewer.state.inspect.selection.gap = found.map_or(Gap::None, Gap::Known);
    }
    viewer.draw_within(Duration::ZERO);
}

/// Returns the measured point of a click whose hit is `picked`.
fn measured_point(viewer: &Viewer, picked: &Picked, click: &Click) -> MeasuredPoint {
    let size = click.query.size.map(|side| side as f32);
    let projector = Projector::new(&click.query.view, size.into());
    let reach = SNAP_REACH * viewer.window.scale_factor() as f32;
    MeasuredPoint::snapped(picked, &projector, click.query.pixel, reach)
}

/// Handles the result of the pick `number`: shows the preview, adds a light, adds a measured point, or
/// selects a mesh. The result of a pick in another scene is dropped.
fn answered(viewer: &mut Viewer, number: u64, picked: Option<Picked>) {
    if let Some(hover) = &mut viewer.selecting.hovered
        && hover.number == Some(number)
    {
        hover.number = None;
        let click = hover.click;
        let preview = picked.map(|picked| measured_point(viewer, &picked, &click));
        if viewer.state.inspect.measure.is_on && click.scene == viewer.scenes {
            viewer.state.inspect.measure.preview = preview;
        }
        viewer.draw_within(Duration::ZERO);
        return;
    }
    let asked = &mut viewer.selecting.asked;
    let Some(at) = asked.iter().position(|(known, _)| *known == number) else {
        return;
    };
    let (_, click) = asked.swap_remove(at);
    if click.scene != viewer.scenes {
        return;
    }
    viewer.draw_within(Duration::ZERO);
    if let Some(kind) = click.adds {
        let middle = picked.map(|picked| picked.position);
        return viewer.state.add_light(kind, middle);
    }
    if viewer.state.inspect.measure.is_on {
        let Some(picked) = picked else {
            return viewer.state.notify("there is no surface to measure");
        };
        let point = measured_point(viewer, &picked, &click);
        return viewer.state.inspect.measure.add(point);
    }
    let stage = viewer.state.stage.as_ref();
    let selected = picked.and_then(|picked| {
        let (node, _) = stage?.scene.instances().nth(picked.mesh)?;
        Some(Selected {
            node,
            mesh: picked.mesh,
            picked: Some(picked),
        })
    });
    viewer.state.inspect.selection.click(selected, click.beside);
}
