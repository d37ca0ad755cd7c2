//! Chooses, reads and uploads the reference surface that the deviation is measured from.

use crate::{
    Error, Result,
    app::{deviation::file::ComparedWith, feature::Feature, viewer::Viewer, window::graphics::Graphics},
    render::{Channel, inspect::compared_tree::ComparedTree},
};
use std::{path::Path, sync::Arc};

/// Headline of errors of the reference file.
const COMPARED_FAILED: &str = "The file to measure from could not be read";

/// Feature that loads the reference surface.
pub(in crate::app) struct ComparedFeature;

impl Feature for ComparedFeature {
    fn follow(&self, viewer: &mut Viewer) -> Result<()> {
        follow(viewer)
    }

    fn device_lost(&self, viewer: &mut Viewer) -> Result<()> {
        let Graphics { gpu, renderer, .. } = &mut viewer.graphics;
        let surface = viewer.deviation.surface();
        let tree = surface.map(|surface| ComparedTree::new(gpu, surface));
        renderer.set_compared(tree.transpose()?.map(Arc::new));
        Ok(())
    }
}

pub(in crate::app) fn choose(viewer: &mut Viewer, file: &Path) {
    match file.to_str() {
        Some(name) => viewer.state.config.deviation.file = name.into(),
        None => {
            let what = "the name of the file to measure from is not valid Unicode";
            viewer
                .state
                .fail(COMPARED_FAILED, Error::scene(file, what).to_string());
        }
    }
}

/// Reads the reference file that the settings name. Once it is read, switches to the channel of the deviation
/// from it. Without a file, switches back to the lit picture.
pub(in crate::app) fn follow(viewer: &mut Viewer) -> Result<()> {
    let wake = viewer.waker.redraw();
    let Graphics { gpu, renderer, .. } = &mut viewer.graphics;
    if viewer.deviation.follow(&viewer.state.config, wake) {
        viewer.comparisons += 1;
        viewer.state.deviation.compared = None;
        if viewer.state.picture.channel == Channel::Deviation {
            viewer.state.picture.channel = Channel::Lit;
        }
        renderer.set_compared(None);
        return Ok(());
    }
    let before = viewer.deviation.name().map(ToOwned::to_owned);
    match viewer.deviation.poll(&mut viewer.state.config) {
        None => Ok(()),
        Some(Ok(surface)) => {
            let tree = ComparedTree::new(gpu, surface.clone());
            let (tree, outcome) = match tree {
                Ok(tree) => (Some(Arc::new(tree)), Ok(())),
                Err(error) => (None, Err(error)),
            };
            renderer.set_compared(tree);
            viewer.comparisons += 1;
            viewer.state.deviation.compared = Some(ComparedWith::from(&*surface));
            // Reloading the same file does not change the channel.
            if before.as_deref() != viewer.deviation.name() {
                viewer.state.picture.channel = Channel::Deviation;
            }
            outcome.or_else(|error| viewer.report_as(COMPARED_FAILED, error))
        }
        Some(Err(error)) => {
            viewer.state.edits.undo.correct(&viewer.state.config);
            viewer.report_as(COMPARED_FAILED, error)
        }
    }
}
