//! Traces a ray through the BVHs, and shows its path.

use crate::{
    Result,
    app::{
        feature::Feature, inspect::clicks::Click, schedule::PictureKey, viewer::Viewer,
        window::graphics::Graphics,
    },
};
use std::{sync::Arc, time::Duration};

/// Feature that traces rays step by step.
pub(in crate::app) struct RayFeature;

impl Feature for RayFeature {
    fn follow(&self, viewer: &mut Viewer) -> Result<()> {
        redraw(viewer)
    }

    fn poll(&self, viewer: &mut Viewer) {
        poll(viewer);
    }

    fn is_awaited(&self, viewer: &Viewer) -> bool {
        is_awaited(viewer)
    }

    fn device_lost(&self, viewer: &mut Viewer) -> Result<()> {
        viewer.traced_ray.reset();
        viewer.state.trees.view.path = None;
        Ok(())
    }
}

/// Requests the ray through the clicked pixel.
pub(in crate::app) fn trace(viewer: &mut Viewer, click: Click) {
    viewer.traced_ray.click = Some(click);
    viewer.traced_ray.is_asked = true;
    viewer.draw_within(Duration::ZERO);
}

/// Drops an outdated path. Returns true if the last click has to be traced.
pub(in crate::app) fn is_asked(viewer: &mut Viewer) -> bool {
    let traced = &mut viewer.traced_ray;
    let view = &mut viewer.state.trees.view;
    if !view.traces {
        (traced.click, traced.is_asked, traced.copy) = (None, false, None);
        (view.path, traced.of) = (None, None);
        return false;
    }
    let Some(shown) = &viewer.selecting.shown else {
        return false;
    };
    if traced.click.is_some_and(|click| click.scene != viewer.scenes) {
        traced.click = None;
    }
    // A path through outdated BVHs is removed. If only the kind of ray has changed, the ray is traced again.
    if traced.of.is_some() && !traced.is_of(shown, view.path_of) {
        let is_other_ray = traced.of.as_ref().is_some_and(|(_, rays)| *rays != view.path_of);
        traced.is_asked |= is_other_ray && traced.click.is_some();
        (view.path, traced.of, traced.copy) = (None, None, None);
    }
    traced.is_asked && traced.copy.is_none()
}

/// Submits the ray query of the last click.
pub(in crate::app) fn ask(
    viewer: &mut Viewer,
    encoder: &mut wgpu::CommandEncoder,
    shown: &PictureKey,
) -> Result<()> {
    let of = viewer.state.trees.view.path_of;
    let (Some(click), true) = (viewer.traced_ray.click, is_asked(viewer)) else {
        return Ok(());
    };
    let Graphics {
        gpu,
        renderer,
        uploaded: Some(uploaded),
        ..
    } = &viewer.graphics
    else {
        return Ok(());
    };
    let traced = renderer.trace_path(gpu, encoder, uploaded, (&click.query, of));
    viewer.traced_ray.is_asked = false;
    viewer.traced_ray.copy = traced?;
    viewer.traced_ray.of = Some((shown.clone(), of));
    Ok(())
}

/// Takes a path whose readback has completed.
pub(in crate::app) fn poll(viewer: &mut Viewer) {
    let traced = &mut viewer.traced_ray;
    let Some(copy) = traced.copy.take_if(|copy| copy.is_done()) else {
        return;
    };
    let view = &mut viewer.state.trees.view;
    match copy.read() {
        Ok(path) => {
            view.step = path.steps.len().saturating_sub(1);
            log::debug!(
                "a ray visits {} nodes and tests {} triangles",
                path.nodes,
                path.triangles
            );
            view.path = Some(Arc::new(path));
        }
        Err(error) => viewer.state.notify(error.to_string()),
    }
    viewer.draw_within(Duration::ZERO);
}

/// Draws the path over `picture` unless it is already drawn for it.
pub(in crate::app) fn draw(
    viewer: &mut Viewer,
    encoder: &mut wgpu::CommandEncoder,
    picture: &PictureKey,
) -> Result<()> {
    let view = &viewer.state.trees.view;
    let Some(path) = view.path.clone() else {
        viewer.traced_ray.drawn = None;
        return Ok(());
    };
    let wanted = (picture, view.step);
    let drawn = viewer.traced_ray.drawn.as_ref();
    if drawn.map(|(picture, step)| (picture, *step)) == Some(wanted) {
        return Ok(());
    }
    let lines = path.drawn(view.step, 2.0 * viewer.state.camera.distance());
    let Graphics {
        gpu,
        renderer,
        uploaded: Some(uploaded),
        ..
    } = &mut viewer.graphics
    else {
        return Ok(());
    };
    let seen = (&picture.view, picture.area.size, &*viewer.state.config);
    renderer.draw_path(gpu, encoder, uploaded, seen, &lines)?;
    viewer.traced_ray.drawn = Some((picture.clone(), view.step));
    Ok(())
}

/// Draws the path over the shown picture, outside of frames.
pub(in crate::app) fn redraw(viewer: &mut Viewer) -> Result<()> {
    let Some(shown) = viewer.selecting.shown.clone() else {
        return Ok(());
    };
    if viewer.state.trees.view.path.is_none() || shown.scene != viewer.scenes {
        viewer.traced_ray.drawn = None;
        return Ok(());
    }
    let mut encoder = viewer.graphics.gpu.encoder("ray_path");
    draw(viewer, &mut encoder, &shown)?;
    viewer.graphics.gpu.queue.submit([encoder.finish()]);
    Ok(())
}

/// True while the readback of a path is pending.
pub(in crate::app) fn is_awaited(viewer: &Viewer) -> bool {
    viewer.traced_ray.copy.is_some()
}

/// True if a drawn path must be shown over the picture.
pub(in crate::app) fn is_shown(viewer: &Viewer) -> bool {
    viewer.state.trees.view.path.is_some() && viewer.traced_ray.drawn.is_some()
}
