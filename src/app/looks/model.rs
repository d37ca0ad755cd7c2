//! List of the available looks.

use crate::config::looks;
use std::path::PathBuf;

/// Available looks, and the pending operations on them.
#[derive(Debug, Default)]
pub(in crate::app) struct Looks {
    /// Folder of the user's looks. `None` if the system has no folder for them.
    pub(in crate::app) folder: Option<PathBuf>,
    /// Names of the user's looks.
    names: Vec<String>,
    /// Name that is being typed.
    pub(in crate::app) name: String,
    /// Look that is being renamed.
    pub(in crate::app) renames: Option<String>,
    /// Look whose deletion the user is asked to confirm.
    pub(in crate::app) deletes: Option<String>,
}

impl Looks {
    /// Lists the looks in the user's folder.
    pub(in crate::app) fn of_the_user() -> Self {
        Self::in_folder(looks::user_folder())
    }

    pub(in crate::app) fn in_folder(folder: Option<PathBuf>) -> Self {
        let mut all = Self {
            folder,
            ..Self::default()
        };
        all.list();
        all
    }

    /// Updates the list of the user's looks.
    pub(in crate::app) fn list(&mut self) {
        self.names = self.folder.as_deref().map(looks::of_user_in).unwrap_or_default();
    }

    /// Names of the user's looks.
    pub(in crate::app) fn of_user(&self) -> &[String] {
        &self.names
    }

    /// Returns all applicable looks: the user's looks, then the built-in looks whose names the user has not
    /// used.
    pub(in crate::app) fn all(&self) -> Vec<String> {
        let is_free = |name: &&str| !self.names.iter().any(|own| own == name);
        let built_in = looks::built_in().filter(is_free).map(str::to_owned);
        self.names.iter().cloned().chain(built_in).collect()
    }
}
