//! When the deviation that the window shows is measured, and what becomes of its figures.

use crate::{
    Result,
    app::{deviation::figures::Subject, viewer::Viewer, window::graphics::Graphics},
    output::deviation_text,
    render::geometry::shown::visible,
};
use std::time::{Duration, Instant};

impl Viewer {
    /// Measures what the window shows, where the panel tells it and it has changed. It does nothing while a
    /// frame of another pose is being drawn.
    pub(in crate::app) fn measure_deviation(&mut self) -> Result<()> {
        let figures = &mut self.figures;
        let (Some(compared), Some(shown)) = (&self.state.deviation.compared, &self.selecting.shown)
        else {
            self.state.deviation.figures = None;
            figures.clear();
            return Ok(());
        };
        let subject = Subject {
            picture: shown.clone(),
            tolerance: compared.range(&self.state.config.deviation),
        };
        if figures.keep_to(&subject) {
            self.state.deviation.figures = None;
        }
        self.state.deviation.figures_lag = !figures.are_of(&subject);
        let is_current = shown.scene == self.scenes && shown.comparison == self.comparisons;
        let is_replaced = self
            .in_flight
            .as_ref()
            .is_some_and(|frame| !frame.picture.has_pose_of(shown));
        if !self.state.deviation.tells_figures || !is_current || is_replaced {
            return Ok(());
        }
        let now = Instant::now();
        let Some(due) = figures.is_due(&subject, now) else {
            return Ok(());
        };
        if due > now {
            self.schedule.draw_by(due);
            return Ok(());
        }
        let (Some(stage), Some(uploaded)) = (&self.state.stage, &self.graphics.uploaded) else {
            return Ok(());
        };
        let (gpu, renderer) = (&self.graphics.gpu, &self.graphics.renderer);
        let mut encoder = gpu.encoder("deviation_figures");
        let copy = match renderer.copy_geometry(gpu, &mut encoder, uploaded) {
            Ok(Some(copy)) => copy,
            Ok(None) => return Ok(()),
            Err(error) => {
                figures.give_up(subject);
                self.state.deviation.figures = Some(Err(error.to_string()));
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

    /// Takes the figures that have come.
    pub(in crate::app) fn poll_figures(&mut self) {
        let Graphics { gpu, renderer, .. } = &self.graphics;
        let wake = self.waker.redraw();
        let Some((outcome, took)) = self.figures.poll(gpu, renderer.compared(), wake) else {
            return;
        };
        self.state.deviation.figures = Some(match outcome {
            Ok(statistics) => {
                let lines = deviation_text::lines(&statistics);
                let ms = took.as_millis();
                log::debug!(
                    "measured the deviation in {ms} ms: {}",
                    lines.replace('\n', "; ")
                );
                Ok(statistics)
            }
            Err(error) => Err(error.to_string()),
        });
        self.draw_within(Duration::ZERO);
    }
}
