//! Chooses, reads and shows the environment file.

use crate::{
    Error, Result,
    app::{feature::Feature, files::recent::Opened, viewer::Viewer, window::graphics::Graphics},
    render,
};
use std::{path::Path, time::Instant};

/// Headline of errors of the environment file.
const ENVIRONMENT_FAILED: &str = "The environment could not be read";

/// Feature that loads environment files.
pub(in crate::app) struct EnvironmentFeature;

impl Feature for EnvironmentFeature {
    fn follow(&self, viewer: &mut Viewer) -> Result<()> {
        follow(viewer)
    }
}

pub(in crate::app) fn choose(viewer: &mut Viewer, file: &Path) {
    match file.to_str() {
        Some(name) => viewer.environment.choose(name.into()),
        None => {
            let what = "the name of the environment is not valid Unicode";
            let error = Error::scene(file, what).to_string();
            viewer.state.fail(ENVIRONMENT_FAILED, error);
        }
    }
}

/// Reads the environment file that the user chose or the settings name, and shows it once it is read.
pub(in crate::app) fn follow(viewer: &mut Viewer) -> Result<()> {
    let Graphics { gpu, renderer, .. } = &mut viewer.graphics;
    let most = render::environment::most_texels(gpu, &viewer.state.config);
    let wake = viewer.waker.redraw();
    viewer.environment.follow(&viewer.state.config, most, wake);
    let outcome = viewer.environment.poll(&mut viewer.state.config);
    if outcome.is_some() {
        viewer.leaving.ended_load(Instant::now());
    }
    match outcome {
        None => Ok(()),
        Some(Ok(image)) => {
            image.warnings.iter().for_each(|line| log::warn!("{line}"));
            viewer.state.environment.warnings.clone_from(&image.warnings);
            viewer.state.environment.sun_of_file = image.sun;
            let shown = renderer.set_environment(gpu, Some(&image));
            viewer.environments += 1;
            let file = &viewer.state.config.environment.file;
            viewer.remember(Opened::Environment(file.into()));
            shown.or_else(|error| viewer.report_as(ENVIRONMENT_FAILED, error))
        }
        Some(Err(error)) => {
            viewer.state.edits.undo.correct(&viewer.state.config);
            viewer.report_as(ENVIRONMENT_FAILED, error)
        }
    }
}
