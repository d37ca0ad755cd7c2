//! The looks that the viewer knows.

use crate::config::looks;
use std::path::PathBuf;

/// The looks there are, and what is being done with them.
#[derive(Debug, Default)]
pub(in crate::app) struct Looks {
    /// Where those of the user are; `None` where the system has no folder for them.
    pub(in crate::app) folder: Option<PathBuf>,
    /// Those of the user.
    names: Vec<String>,
    /// The name that is typed.
    pub(in crate::app) name: String,
    /// The look that is being renamed to it.
    pub(in crate::app) renames: Option<String>,
    /// The look that the person was asked about whether to delete it.
    pub(in crate::app) deletes: Option<String>,
}

impl Looks {
    /// Those in the user's folder.
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

    /// Looks for those of the user again.
    pub(in crate::app) fn list(&mut self) {
        self.names = self.folder.as_deref().map(looks::of_user_in).unwrap_or_default();
    }

    /// Names of the user's looks.
    pub(in crate::app) fn of_user(&self) -> &[String] {
        &self.names
    }

    /// Every look that can be applied: those of the user, then those built in whose names are free.
    pub(in crate::app) fn all(&self) -> Vec<String> {
        let is_free = |name: &&str| !self.names.iter().any(|own| own == name);
        let built_in = looks::built_in().filter(is_free).map(str::to_owned);
        self.names.iter().cloned().chain(built_in).collect()
    }
}
