//! Uploads edited materials, also those of side B.

use crate::{
    Result,
    app::{self, feature::Feature, viewer::Viewer, window::graphics::Graphics},
};

/// Headline of errors of uploading an edit.
const FAILED: &str = "The edit cannot be shown";

/// Feature that uploads edited materials.
pub(in crate::app) struct EditFeature;

impl Feature for EditFeature {
    fn follow(&self, viewer: &mut Viewer) -> Result<()> {
        write(viewer)
    }
}

/// Uploads the edited materials. If side B shows the same files, its edits are applied too: those that it
/// keeps, or else those of A.
pub(in crate::app) fn write(viewer: &mut Viewer) -> Result<()> {
    app::inspect::task::ask_for_light(viewer);
    let Graphics {
        gpu,
        renderer,
        uploaded,
        ..
    } = &mut viewer.graphics;
    let Some(stage) = &mut viewer.state.stage else {
        return Ok(());
    };
    let mut outcome = Ok(());
    let changed = std::mem::take(&mut stage.changed_materials);
    if let Some(uploaded) = uploaded
        && !changed.is_empty()
    {
        outcome = renderer.write_materials(gpu, &stage.scene, &changed, uploaded);
    }
    if let Some(side) = &mut viewer.comparing.side
        && side.source.scene.is_some()
    {
        let kept = viewer.state.compare.scene();
        let kept = kept.and_then(|scene| scene.edits.as_deref());
        side.stage.edit(kept.unwrap_or(stage.applied.edits()));
        let changed = std::mem::take(&mut side.stage.changed_materials);
        if !changed.is_empty() {
            let (scene, uploaded) = (&side.stage.scene, &mut side.uploaded);
            outcome = outcome.and_then(|()| side.renderer.write_materials(gpu, scene, &changed, uploaded));
        }
    }
    outcome.or_else(|error| viewer.report_as(FAILED, error))
}
