//! Looks in the viewer: applying, saving, renaming and deleting them.

use super::state::State;
use crate::{
    Error, Result,
    config::looks::{self, Look},
};
use std::path::PathBuf;

/// Headline of looks that cannot be used or kept.
const FAILED: &str = "The look cannot be used";

/// The looks there are, and what is being done with them.
#[derive(Debug, Default)]
pub(super) struct Looks {
    /// Where those of the user are; `None` where the system has no folder for them.
    folder: Option<PathBuf>,
    /// Those of the user.
    names: Vec<String>,
    /// The name that is typed.
    pub(super) name: String,
    /// The look that is being renamed to it.
    pub(super) renames: Option<String>,
    /// The look that the person was asked about whether to delete it.
    pub(super) deletes: Option<String>,
}

impl Looks {
    /// Those in the user's folder.
    pub(super) fn of_the_user() -> Self {
        Self::in_folder(looks::user_folder())
    }

    fn in_folder(folder: Option<PathBuf>) -> Self {
        let mut all = Self {
            folder,
            ..Self::default()
        };
        all.list();
        all
    }

    fn list(&mut self) {
        self.names = self
            .folder
            .as_deref()
            .map(looks::of_user_in)
            .unwrap_or_default();
    }

    /// Names of the user's looks.
    pub(super) fn of_user(&self) -> &[String] {
        &self.names
    }

    /// Every look that can be applied: those of the user, then those built in whose names are free.
    pub(super) fn all(&self) -> Vec<String> {
        let is_free = |name: &&str| !self.names.iter().any(|own| own == name);
        let built_in = looks::built_in().filter(is_free).map(str::to_owned);
        self.names.iter().cloned().chain(built_in).collect()
    }
}

impl State {
    /// Applies a look; that can be undone in one step.
    pub(super) fn apply_look(&mut self, name: &str) {
        self.follow_changes(false);
        let before = self.config.clone();
        let found = Look::find(name, self.looks.folder.as_deref());
        match found.and_then(|look| look.apply(&mut self.config)) {
            Ok(()) => {
                self.undo.name(format!("look {name}"));
                self.follow_settings(&before);
                self.follow_changes(false);
                self.notify(format!("look: {name}"));
            }
            Err(error) => self.fail(FAILED, error.to_string()),
        }
    }

    /// Saves these settings as the look that is named, or renames the one that is being renamed.
    pub(super) fn save_look(&mut self) {
        let name = self.looks.name.trim().to_owned();
        let renames = self.looks.renames.take();
        let outcome = self.looks_folder().and_then(|folder| match &renames {
            Some(old) => {
                looks::rename(&folder, old, &name).map(|()| format!("look {old} is now {name}"))
            }
            None => {
                let path = looks::save(&folder, &name, &self.config)?;
                Ok(format!("saved {}", path.display()))
            }
        });
        if outcome.is_ok() {
            self.looks.name.clear();
        }
        self.tell_look(outcome);
    }

    /// Saves these settings in place of a look.
    pub(super) fn overwrite_look(&mut self, name: &str) {
        let folder = self.looks_folder();
        let saved = folder.and_then(|folder| looks::save(&folder, name, &self.config));
        self.tell_look(saved.map(|_| format!("look {name} has these settings")));
    }

    /// Deletes a look, which the person has confirmed.
    pub(super) fn delete_look(&mut self, name: &str) {
        self.looks.deletes = None;
        let folder = self.looks_folder();
        let deleted = folder.and_then(|folder| looks::delete(&folder, name));
        self.tell_look(deleted.map(|()| format!("look {name} is deleted")));
    }

    fn looks_folder(&self) -> Result<PathBuf> {
        let folder = self.looks.folder.clone();
        folder.ok_or_else(|| Error::NotFound("this system has no folder for settings".into()))
    }

    fn tell_look(&mut self, outcome: Result<String>) {
        match outcome {
            Ok(text) => self.notify(text),
            Err(error) => self.fail(FAILED, error.to_string()),
        }
        self.looks.list();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, ShadowMode};

    #[test]
    fn a_look_is_one_step_and_a_broken_one_none() {
        let folder = tempfile::tempdir().unwrap();
        let mut state = State::new(Config::default());
        state.looks = Looks::in_folder(Some(folder.path().into()));
        state.apply_look("Fast");
        assert_eq!(state.config.shadows.mode, ShadowMode::Map);
        state.looks.name = "mine".into();
        state.save_look();
        assert_eq!(state.looks.all(), ["mine", "Fast", "Quality", "Studio"]);
        state.undo(1, false);
        assert_eq!(state.config, Config::default());
        assert_eq!(state.notice.take().unwrap().0, "undone: look Fast");
        state.apply_look("mine");
        assert_eq!(state.config.shadows.mode, ShadowMode::Map);
        state.looks.renames = Some("mine".into());
        state.looks.name = "yours".into();
        state.save_look();
        assert_eq!(state.looks.of_user(), ["yours"]);
        std::fs::write(folder.path().join("yours.toml"), "[sun]\nstrength = -1").unwrap();
        let before = state.config.clone();
        state.apply_look("yours");
        let failure = state.error.take().unwrap();
        assert!(
            failure
                .text
                .contains("yours.toml: sun.strength: -1 is outside"),
            "{failure:?}"
        );
        assert_eq!((state.undo.steps().count(), &state.config), (1, &before));
        state.overwrite_look("yours");
        state.apply_look("yours");
        assert_eq!((state.error.take(), state.undo.steps().count()), (None, 1));
        state.delete_look("yours");
        assert_eq!(state.looks.of_user(), [""; 0]);
    }
}
