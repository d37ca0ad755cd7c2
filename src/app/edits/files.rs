//! Saves and loads edits in files of their own.

use crate::app;
use crate::{
    Error, Result,
    app::{
        files::{pictures, unsaved::Unsaved},
        state::State,
        viewer::Viewer,
    },
    output,
    scene::{edits::SceneEdits, saved_edits::SavedEdits},
};
use std::{collections::BTreeSet, path::Path, sync::Arc};

/// Saves the edits and the hidden nodes at a path that the user chooses. Shows an error for edits that could
/// not be read again.
pub(in crate::app) fn save(viewer: &mut Viewer) {
    let edits = viewer.state.saved_edits();
    if edits.is_empty() {
        return viewer
            .state
            .notify("there are no edits to save: no material or light is edited, and nothing is hidden");
    }
    if let Some(what) = edits.fault() {
        return viewer.state.fail("The edits could not be saved", what);
    }
    app::files::save::ask_to_save(
        viewer,
        Unsaved {
            what: "the edits",
            bytes: edits.text().into_bytes(),
            note: String::new(),
            fallback_path: pictures::new_path(&viewer.picture_name(), "json"),
        },
    );
}

/// Replaces the edits and hidden nodes of the scene with those in a file. Shows an error if reading fails.
pub(in crate::app) fn load(viewer: &mut Viewer, path: &Path) {
    let name = path.file_name().unwrap_or(path.as_os_str());
    match SavedEdits::read(path) {
        Ok(edits) => viewer.state.lay_edits(&name.to_string_lossy(), &edits),
        Err(error) => viewer
            .state
            .fail("The edits could not be loaded", error.to_string()),
    }
}

/// Writes edits to a file.
///
/// # Errors
///
/// [`Error::Scene`] for edits that could not be read again, and any error of writing.
pub(in crate::app) fn write(path: &Path, edits: &SavedEdits) -> Result<()> {
    match edits.fault() {
        Some(what) => Err(Error::scene(path, what)),
        None => output::write(path, edits.text().as_bytes()),
    }
}

impl State {
    /// Returns the current edits and hidden nodes in the form in which they are saved.
    pub(in crate::app) fn saved_edits(&self) -> SavedEdits {
        let stage = self.stage.as_ref();
        stage.map_or_else(SavedEdits::default, |stage| {
            SavedEdits::new(&stage.scene, &stage.applied, &stage.hidden)
        })
    }

    /// Replaces the edits and hidden nodes of the scene with `saved`, as one undo step. `name` is their
    /// source in messages. A notice names saved edits whose objects the scene does not have.
    pub(in crate::app) fn lay_edits(&mut self, name: &str, saved: &SavedEdits) {
        let Some(stage) = &mut self.stage else {
            return self.notify("there is no scene to edit");
        };
        stage.take_edits();
        let found = saved.find(&stage.scene);
        let left = found.unmatched.len();
        self.replace_edits(name, &found.edits, found.hidden);
        self.notify(match found.unmatched.first() {
            None => format!("loaded the edits of {name}"),
            Some(line) if left == 1 => format!("loaded the edits of {name}, except: {line}"),
            Some(line) => format!(
                "loaded the edits of {name}, except: {line}, and {} more",
                left - 1
            ),
        });
    }

    /// Replaces the edits and hidden nodes, given by the indices of this scene, as one undo step. `name` is
    /// their source in the name of the step.
    pub(in crate::app) fn replace_edits(&mut self, name: &str, edits: &SceneEdits, hidden: BTreeSet<usize>) {
        let Some(stage) = &mut self.stage else { return };
        stage.edit(edits);
        stage.hidden = Arc::new(hidden);
        self.inspect.outline.select_nothing();
        self.forget_sun();
        self.edits.undo.name(format!("the edits of {name}"));
        self.follow_changes(false);
    }
}
