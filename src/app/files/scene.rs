//! Loads and shows the files of the scene.

use crate::{
    Error, Result,
    app::{self, feature::Feature, files::recent::Opened, input::keys::Action, ui, viewer::Viewer},
    render::UploadedScene,
    scene::opened::OpenedScene,
};
use std::{path::PathBuf, time::Instant};

/// Feature that loads scenes.
pub(in crate::app) struct LoadFeature;

impl Feature for LoadFeature {
    fn follow(&self, viewer: &mut Viewer) -> Result<()> {
        poll(viewer)
    }

    fn device_lost(&self, viewer: &mut Viewer) -> Result<()> {
        // A load for the lost device starts again.
        if let Some(loading) = &viewer.loading {
            viewer.load(loading.files.clone());
        }
        Ok(())
    }
}

/// Shows the scene once it is loaded, or reports why it cannot be opened.
pub(in crate::app) fn poll(viewer: &mut Viewer) -> Result<()> {
    let Some(loading) = &viewer.loading else {
        return Ok(());
    };
    // Buffers on a lost device are useless. `device_lost` loads the scene again.
    if viewer.graphics.gpu.lost().is_some() {
        return Ok(viewer.graphics.gpu.check()?);
    }
    let Some(outcome) = loading.poll() else {
        return Ok(());
    };
    if matches!(outcome, Err(Error::Gpu(_))) && viewer.graphics.is_lost() {
        return Ok(viewer.graphics.gpu.check()?);
    }
    let headline = format!("{} could not be opened", name_of(&loading.files));
    viewer.loading = None;
    viewer.leaving.ended_load(Instant::now());
    let shown = outcome.and_then(|(opened, uploaded)| show(viewer, opened, uploaded));
    shown.or_else(
        |error| match app::files::task::choose_among_scenes(viewer, error) {
            Some(error) => viewer.report_as(headline, error),
            None => Ok(()),
        },
    )
}

fn show(viewer: &mut Viewer, mut opened: OpenedScene, uploaded: UploadedScene) -> Result<()> {
    if viewer.schedule.has_frame_limit() {
        opened = opened.checked()?;
    }
    let warnings = &opened.scene.warnings;
    warnings.iter().for_each(|line| log::warn!("{line}"));
    let aspect = viewer.aspect();
    let files = std::mem::take(&mut opened.files);
    viewer.asked.clone_from(&files);
    viewer.remember(Opened::Scene(files.clone()));
    let before = viewer.state.stage.as_ref();
    let variant = before.filter(|s| s.files == files).and_then(|s| s.variant);
    viewer.state.show(files, opened, &viewer.options.look, aspect);
    app::files::reopen::follow_picture(viewer);
    if let Some(edits) = viewer.options.edits.take() {
        viewer.state.lay_edits("the command line", &edits);
    }
    viewer.graphics.uploaded = Some(uploaded);
    viewer.scenes += 1;
    let stage = viewer.state.stage.as_ref();
    let variants = stage.map_or(0, |stage| stage.scene.variants.len());
    if variant.is_some_and(|variant| variant < variants) {
        viewer.perform(Action::Variant(variant));
    }
    if viewer.schedule.has_frame_limit() {
        viewer.state.files.offers.clear();
    }
    let name = viewer.state.stage.as_ref().map(|stage| stage.name());
    viewer.set_title(name.as_deref());
    app::compare::task::begin(viewer)
}

/// Returns the progress of loading the scene, or else side B, or else the environment. `None` if nothing is
/// being loaded.
pub(in crate::app) fn progress(viewer: &Viewer) -> Option<ui::LoadProgress> {
    let side = viewer.comparing.loading.as_ref().map(|(_, loading)| loading);
    let scene = viewer.loading.as_ref().or(side).map(|loading| {
        let (stage, share) = loading.progress();
        ui::LoadProgress {
            name: name_of(&loading.files),
            stage,
            share,
        }
    });
    let environment = || {
        Some(ui::LoadProgress {
            name: name_of(&[viewer.environment.loading()?.into()]),
            stage: "reading the environment".into(),
            share: 0.0,
        })
    };
    scene.or_else(environment)
}

fn name_of(files: &[PathBuf]) -> String {
    let name = |path: &PathBuf| path.file_name().map(|n| n.to_string_lossy().into_owned());
    files
        .first()
        .and_then(name)
        .unwrap_or_else(|| "the built-in scene".into())
}
