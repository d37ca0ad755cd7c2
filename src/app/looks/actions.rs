//! Applying, saving, renaming and deleting looks.

use crate::{
    Error, Result,
    app::{files::pictures::shown_path, state::State},
    config::looks::{self, Look},
};
use std::path::{Path, PathBuf};

/// Headline of the error for looks that cannot be applied or saved.
const FAILED: &str = "The look cannot be used";

impl State {
    /// Applies a look as one undo step.
    pub(in crate::app) fn apply_look(&mut self, name: &str) {
        self.follow_changes(false);
        let before = self.config.clone();
        let found = Look::find(name, self.files.looks.folder.as_deref());
        match found.and_then(|look| look.apply(&mut self.config)) {
            Ok(()) => {
                self.edits.undo.name(format!("look {name}"));
                self.follow_settings(&before);
                self.follow_changes(false);
                self.notify(format!("look: {name}"));
            }
            Err(error) => self.fail(FAILED, error.to_string()),
        }
    }

    /// Saves the current settings as the look with the typed name, or renames the look that is being renamed.
    pub(in crate::app) fn save_look(&mut self) {
        let name = self.files.looks.name.trim().to_owned();
        let renames = self.files.looks.renames.take();
        let outcome = self.looks_folder().and_then(|folder| match &renames {
            Some(old) => looks::rename(&folder, old, &name).map(|()| format!("renamed look {old} to {name}")),
            None => {
                let path = looks::save(&folder, &name, &self.config)?;
                Ok(format!("saved {}", shown_path(&path)))
            }
        });
        if outcome.is_ok() {
            self.files.looks.name.clear();
        }
        self.tell_look(outcome);
    }

    /// Overwrites a look with the current settings.
    pub(in crate::app) fn overwrite_look(&mut self, name: &str) {
        let folder = self.looks_folder();
        let saved = folder.and_then(|folder| looks::save(&folder, name, &self.config));
        self.tell_look(saved.map(|_| format!("saved these settings in look {name}")));
    }

    /// Deletes a look after the user has confirmed it.
    pub(in crate::app) fn delete_look(&mut self, name: &str) {
        self.files.looks.deletes = None;
        let folder = self.looks_folder();
        let deleted = folder.and_then(|folder| looks::delete(&folder, name));
        self.tell_look(deleted.map(|()| format!("deleted look {name}")));
    }

    /// Copies a look file into the user's looks.
    pub(in crate::app) fn import_look(&mut self, file: &Path) {
        let folder = self.looks_folder();
        let imported = folder.and_then(|folder| looks::import(&folder, file));
        self.tell_look(imported.map(|name| format!("imported look {name}")));
    }

    fn looks_folder(&self) -> Result<PathBuf> {
        let folder = self.files.looks.folder.clone();
        folder.ok_or_else(|| Error::NotFound("this system has no folder for configuration".into()))
    }

    fn tell_look(&mut self, outcome: Result<String>) {
        match outcome {
            Ok(text) => self.notify(text),
            Err(error) => self.fail(FAILED, error.to_string()),
        }
        self.files.looks.list();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        app::looks::model::Looks,
        config::{Config, ShadowMode},
    };

    #[test]
    fn applying_a_look_is_one_undo_step_and_a_broken_look_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let mut state = State::new(Config::default());
        state.files.looks = Looks::in_folder(Some(folder.path().into()));
        state.apply_look("Fast");
        assert_eq!(state.config.shadows.mode, ShadowMode::Map);
        state.files.looks.name = "mine".into();
        state.save_look();
        assert_eq!(
            state.files.looks.all(),
            ["mine", "Fast", "Misty morning", "Outdoors", "Quality", "Studio"]
        );
        state.undo(1, false);
        assert_eq!(state.config, Config::default());
        assert_eq!(state.ui.notice.take().unwrap().0, "undone: look Fast");
        state.apply_look("mine");
        assert_eq!(state.config.shadows.mode, ShadowMode::Map);
        state.files.looks.renames = Some("mine".into());
        state.files.looks.name = "yours".into();
        state.save_look();
        assert_eq!(state.files.looks.of_user(), ["yours"]);
        std::fs::write(folder.path().join("yours.toml"), "[sun]\nstrength = -1").unwrap();
        let before = state.config.clone();
        state.apply_look("yours");
        let failure = state.ui.error.take().unwrap();
        assert!(
            failure.text.contains("yours.toml: sun.strength: -1 is outside"),
            "{failure:?}"
        );
        assert_eq!((state.edits.undo.steps().count(), &state.config), (1, &before));
        state.overwrite_look("yours");
        state.apply_look("yours");
        assert_eq!(
            (state.ui.error.take(), state.edits.undo.steps().count()),
            (None, 1)
        );
        state.delete_look("yours");
        assert_eq!(state.files.looks.of_user(), [""; 0]);
        // An imported look is named after its file and replaces no other look.
        let sent = folder.path().join("sent");
        std::fs::create_dir(&sent).unwrap();
        let file = sent.join("theirs.toml");
        std::fs::write(&file, looks::text(&state.config)).unwrap();
        state.import_look(&file);
        assert_eq!(
            (state.ui.error.take(), state.files.looks.of_user()),
            (None, &["theirs".to_owned()][..])
        );
        state.import_look(&file);
        let failure = state.ui.error.take().unwrap();
        assert!(failure.text.contains("\"theirs\" exists already"), "{failure:?}");
        std::fs::write(&file, "[window]\npanel = false").unwrap();
        std::fs::rename(&file, sent.join("bad.toml")).unwrap();
        state.import_look(&sent.join("bad.toml"));
        let failure = state.ui.error.take().unwrap();
        assert!(
            failure
                .text
                .contains("bad.toml: window.panel: cannot be in a look"),
            "{failure:?}"
        );
        assert_eq!(state.files.looks.of_user(), ["theirs"]);
    }
}
