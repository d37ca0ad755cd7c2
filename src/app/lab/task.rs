//! Builds the lab's structure for the window's rays, and installs the result.

use crate::{
    Result,
    app::{feature::Feature, lab::model::Subject, viewer::Viewer, window::graphics::Graphics},
    lab::{LabBuild, LabScene, LabView, view},
    render::{Channel, geometry::visible::visible},
};
use std::{sync::Arc, time::Duration};

/// Feature that builds the lab's structures.
pub(in crate::app) struct LabFeature;

impl Feature for LabFeature {
    fn follow(&self, viewer: &mut Viewer) -> Result<()> {
        follow(viewer)
    }

    fn poll(&self, viewer: &mut Viewer) {
        poll(viewer);
    }

    fn is_awaited(&self, viewer: &Viewer) -> bool {
        viewer.lab.is_reading()
    }

    fn device_lost(&self, viewer: &mut Viewer) -> Result<()> {
        viewer.lab.reset();
        Ok(())
    }
}

/// Starts to rebuild the structure if the channel `lab` is shown and the pose or the build settings have
/// changed. Any other channel removes the structure. No build starts while a frame of another pose is in
/// flight, unless a clip plays.
pub(in crate::app) fn follow(viewer: &mut Viewer) -> Result<()> {
    if viewer.state.picture.channel != Channel::Lab {
        if is_traced(viewer) {
            replace(viewer, None);
        }
        viewer.lab.reset();
        viewer.state.trees.lab.built = None;
        return Ok(());
    }
    let Some(shown) = viewer.selecting.shown.clone() else {
        return Ok(());
    };
    if is_traced(viewer) && !viewer.lab.is_of_scene(viewer.scenes) {
        replace(viewer, None);
        viewer.state.trees.lab.built = None;
    }
    let Graphics {
        gpu,
        renderer,
        uploaded,
        ..
    } = &viewer.graphics;
    if let Err(error) = view::check_size(gpu, viewer.area.size) {
        viewer.state.trees.lab.built = Some(Err(error.to_string()));
    }
    let subject = Subject {
        build: LabBuild::from(&viewer.state.config.lab),
        picture: shown,
    };
    viewer.state.trees.lab.lags = !viewer.lab.has_traced(&subject);
    let picture = &subject.picture;
    let is_replaced = viewer
        .in_flight
        .as_ref()
        .is_some_and(|frame| !frame.picture.has_same_pose(picture));
    // While a clip plays, frames of other poses are always in flight. The triangles are then from the last
    // complete frame.
    let plays = viewer
        .state
        .stage
        .as_ref()
        .is_some_and(|stage| stage.time != picture.time);
    if picture.scene != viewer.scenes || (is_replaced && !plays) || !viewer.lab.is_due(&subject) {
        return Ok(());
    }
    if viewer.lab.has_triangles_of(&subject) {
        viewer.lab.start(gpu, subject, viewer.waker.redraw());
        return Ok(());
    }
    let (Some(stage), Some(uploaded)) = (&viewer.state.stage, uploaded) else {
        return Ok(());
    };
    let mut encoder = gpu.encoder("lab.triangles");
    let copy = match renderer.copy_geometry(gpu, &mut encoder, uploaded) {
        Ok(Some(copy)) => copy,
        Ok(None) => return Ok(()),
        Err(error) => {
            viewer.lab.mark_failed(subject);
            viewer.state.trees.lab.built = Some(Err(error.to_string()));
            return Ok(());
        }
    };
    gpu.queue.submit([encoder.finish()]);
    let pose = stage.pose_at(picture.clip, &picture.blend, picture.time, &picture.hidden);
    let ranges = uploaded.buffers.meshes.iter().map(|mesh| {
        let first = mesh.first_triangle;
        first..first + mesh.triangle_count
    });
    let ranges = visible(&stage.scene, &pose, ranges).collect();
    let origin = uploaded.buffers.origin;
    viewer.lab.read(subject, copy, ranges, origin);
    Ok(())
}

/// Installs the structure once it is built.
pub(in crate::app) fn poll(viewer: &mut Viewer) {
    let wake = viewer.waker.redraw();
    let Some((subject, outcome)) = viewer.lab.poll(&viewer.graphics.gpu, wake) else {
        return;
    };
    let told = match outcome {
        Ok(scene) => {
            let told = (scene.build, scene.figures);
            log::debug!(
                "built {} over {} triangles in {:.1} ms",
                subject.build.structure.name(),
                scene.figures.triangles,
                scene.figures.build_ms
            );
            replace(viewer, Some(Arc::new(scene)));
            viewer.lab.traces(viewer.labs, subject);
            Ok(told)
        }
        Err(error) => {
            replace(viewer, None);
            Err(error.to_string())
        }
    };
    viewer.state.trees.lab.built = Some(told);
    viewer.draw_within(Duration::ZERO);
}

/// True while rays traverse a structure.
fn is_traced(viewer: &Viewer) -> bool {
    LabView::of(&viewer.graphics.renderer).is_some_and(|view| view.scene().is_some())
}

/// Installs the structure for the next picture. `None` removes it.
fn replace(viewer: &mut Viewer, scene: Option<Arc<LabScene>>) {
    let Graphics { gpu, renderer, .. } = &mut viewer.graphics;
    LabView::within(renderer, gpu, &viewer.state.config.lab).set(scene);
    viewer.labs += 1;
}
