//! Counts the statistics of the shown BVHs, and stores the results.

use crate::{
    Result,
    app::{
        feature::Feature,
        trees::figures::{Step, has_trees_of},
        viewer::Viewer,
        window::graphics::Graphics,
    },
};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// Feature that counts BVH statistics.
pub(in crate::app) struct TreeFeature;

impl Feature for TreeFeature {
    fn follow(&self, viewer: &mut Viewer) -> Result<()> {
        count(viewer);
        Ok(())
    }

    fn poll(&self, viewer: &mut Viewer) {
        poll(viewer);
    }

    fn is_awaited(&self, viewer: &Viewer) -> bool {
        viewer.counted_trees.is_reading()
    }

    fn device_lost(&self, viewer: &mut Viewer) -> Result<()> {
        viewer.counted_trees.reset();
        Ok(())
    }
}

/// Restricts boxes and lines to the selection, and starts to count the BVHs if the panel shows the statistics
/// and the BVHs have changed. No count starts while a frame with other BVHs is in flight.
pub(in crate::app) fn count(viewer: &mut Viewer) {
    viewer.state.follow_selection_with_boxes();
    viewer.state.follow_selection_with_overlay();
    let Some(shown) = viewer.selecting.shown.clone() else {
        return;
    };
    let trees = &mut viewer.counted_trees;
    if shown.scene != viewer.scenes {
        viewer.state.trees.view.figures = None;
        return;
    }
    if trees.counted.as_ref().is_some_and(|of| of.scene != shown.scene) {
        trees.counted = None;
        viewer.state.trees.view.figures = None;
    }
    viewer.state.trees.view.figures_lag = !trees.are_of(&shown);
    let is_replaced = viewer
        .in_flight
        .as_ref()
        .is_some_and(|frame| !has_trees_of(&frame.picture, &shown));
    if !viewer.state.trees.view.shows_figures || is_replaced {
        return;
    }
    let now = Instant::now();
    let Some(due) = trees.is_due(&shown, now) else {
        return;
    };
    if due > now {
        viewer.schedule.draw_by(due);
        return;
    }
    let Graphics {
        gpu,
        renderer,
        uploaded: Some(uploaded),
        ..
    } = &viewer.graphics
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
            // A failed count is not tried again.
            trees.counted = Some(shown);
            viewer.state.trees.view.figures = Some(Err(error.to_string()));
        }
    }
}

/// Stores the statistics once they are available.
pub(in crate::app) fn poll(viewer: &mut Viewer) {
    let Some(outcome) = viewer.counted_trees.poll(viewer.waker.redraw()) else {
        return;
    };
    let figures = outcome.map(Arc::new).map_err(|error| error.to_string());
    if let Ok(figures) = &figures {
        log::debug!(
            "counted the BVHs: {} nodes, {} leaves, SAH cost {:.3}",
            figures.nodes,
            figures.leaves(),
            figures.sah_cost
        );
    }
    viewer.state.trees.view.figures = Some(figures);
    viewer.draw_within(Duration::ZERO);
}
