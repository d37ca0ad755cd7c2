//! Starts measurements of the shown deviation, and passes their statistics to the panel.

use crate::{
    Result,
    app::{deviation::figures::Subject, feature::Feature, viewer::Viewer, window::graphics::Graphics},
    output::deviation_text,
    render::geometry::visible::visible,
};
use std::time::{Duration, Instant};

/// Feature that measures deviation statistics.
pub(in crate::app) struct DeviationFeature;

impl Feature for DeviationFeature {
    fn follow(&self, viewer: &mut Viewer) -> Result<()> {
        measure(viewer)
    }

    fn poll(&self, viewer: &mut Viewer) {
        poll(viewer);
    }

    fn is_awaited(&self, viewer: &Viewer) -> bool {
        viewer.figures.is_reading()
    }

    fn device_lost(&self, viewer: &mut Viewer) -> Result<()> {
        viewer.figures.reset();
        Ok(())
    }
}

/// Starts to measure the shown deviation if the panel shows the statistics and those of the shown picture are
/// not known. Starts nothing while a frame of another pose is in flight, which overwrites the geometry.
pub(in crate::app) fn measure(viewer: &mut Viewer) -> Result<()> {
    let figures = &mut viewer.figures;
    let (Some(compared), Some(shown)) = (&viewer.state.deviation.compared, &viewer.selecting.shown) else {
        viewer.state.deviation.figures = None;
        figures.clear();
        return Ok(());
    };
    let subject = Subject {
        picture: shown.clone(),
        tolerance: compared.range(&viewer.state.config.deviation),
    };
    if figures.keep_to(&subject) {
        viewer.state.deviation.figures = None;
    }
    viewer.state.deviation.figures_lag = !figures.are_of(&subject);
    let is_current = shown.scene == viewer.scenes && shown.comparison == viewer.comparisons;
    let is_replaced = viewer
        .in_flight
        .as_ref()
        .is_some_and(|frame| !frame.picture.has_same_pose(shown));
    if !viewer.state.deviation.shows_figures || !is_current || is_replaced {
        return Ok(());
    }
    let now = Instant::now();
    let Some(due) = figures.is_due(&subject, now) else {
        return Ok(());
    };
    if due > now {
        viewer.schedule.draw_by(due);
        return Ok(());
    }
    let (Some(stage), Some(uploaded)) = (&viewer.state.stage, &viewer.graphics.uploaded) else {
        return Ok(());
    };
    let (gpu, renderer) = (&viewer.graphics.gpu, &viewer.graphics.renderer);
    let mut encoder = gpu.encoder("deviation_figures");
    let copy = match renderer.copy_geometry(gpu, &mut encoder, uploaded) {
        Ok(Some(copy)) => copy,
        Ok(None) => return Ok(()),
        Err(error) => {
            figures.mark_failed(subject);
            viewer.state.deviation.figures = Some(Err(error.to_string()));
            return Ok(());
        }
    };
    gpu.queue.submit([encoder.finish()]);
    let pose = stage.pose_at(shown.clip, &shown.blend, shown.time, &shown.hidden);
    let ranges = uploaded.buffers.meshes.iter().map(|mesh| {
        let first = mesh.first_triangle;
        first..first + mesh.triangle_count
    });
    let ranges = visible(&stage.scene, &pose, ranges).collect();
    figures.start(subject, copy, ranges);
    Ok(())
}

/// Passes the statistics to the panel once they are measured.
pub(in crate::app) fn poll(viewer: &mut Viewer) {
    let Graphics { gpu, renderer, .. } = &viewer.graphics;
    let wake = viewer.waker.redraw();
    let Some((outcome, took)) = viewer.figures.poll(gpu, renderer.compared(), wake) else {
        return;
    };
    viewer.state.deviation.figures = Some(match outcome {
        Ok(statistics) => {
            let lines = deviation_text::lines(&statistics);
            let ms = took.as_millis();
            log::debug!("measured the deviation in {ms} ms: {}", lines.replace('\n', "; "));
            Ok(statistics)
        }
        Err(error) => Err(error.to_string()),
    });
    viewer.draw_within(Duration::ZERO);
}
