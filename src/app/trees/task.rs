//! When the trees that the window shows are counted, and what becomes of their figures.

use crate::app::{
    trees::figures::{Step, has_trees_of},
    viewer::Viewer,
    window::graphics::Graphics,
};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

impl Viewer {
    /// Counts what the trees of the picture that is shown are like, where the panel tells it and they have changed. It
    /// does nothing while a frame of another pose is being drawn.
    pub(in crate::app) fn count_trees(&mut self) {
        self.state.follow_selection_with_boxes();
        self.state.follow_selection_with_overlay();
        let Some(shown) = self.selecting.shown.clone() else {
            return;
        };
        let trees = &mut self.counted_trees;
        if shown.scene != self.scenes {
            self.state.trees.view.figures = None;
            return;
        }
        if trees
            .counted
            .as_ref()
            .is_some_and(|of| of.scene != shown.scene)
        {
            trees.counted = None;
            self.state.trees.view.figures = None;
        }
        self.state.trees.view.figures_lag = !trees.are_of(&shown);
        let is_replaced = self
            .in_flight
            .as_ref()
            .is_some_and(|frame| !has_trees_of(&frame.picture, &shown));
        if !self.state.trees.view.tells_figures || is_replaced {
            return;
        }
        let now = Instant::now();
        let Some(due) = trees.is_due(&shown, now) else {
            return;
        };
        if due > now {
            self.schedule.draw_by(due);
            return;
        }
        let Graphics {
            gpu,
            renderer,
            uploaded: Some(uploaded),
            ..
        } = &self.graphics
        else {
            return;
        };
        let mut encoder = gpu.encoder("tree_figures");
        match renderer.copy_trees(gpu, &mut encoder, uploaded) {
            Ok(None) => {}
            Ok(Some(copy)) => {
                gpu.queue.submit([encoder.finish()]);
                copy.map();
                trees.counting = Some((shown, Step::Reading(copy)));
            }
            Err(error) => {
                // It is not tried again.
                trees.counted = Some(shown);
                self.state.trees.view.figures = Some(Err(error.to_string()));
            }
        }
    }

    /// Takes the figures that have come.
    pub(in crate::app) fn poll_counted_trees(&mut self) {
        let Some(outcome) = self.counted_trees.poll(self.waker.redraw()) else {
            return;
        };
        let figures = outcome.map(Arc::new).map_err(|error| error.to_string());
        if let Ok(figures) = &figures {
            log::debug!(
                "counted the trees: {} nodes, {} leaves, SAH cost {:.3}",
                figures.nodes,
                figures.leaves(),
                figures.sah_cost
            );
        }
        self.state.trees.view.figures = Some(figures);
        self.draw_within(Duration::ZERO);
    }
}
