//! Files that are written once the user has chosen a path.

use std::path::{Path, PathBuf};

/// A file that has not been written yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::app) struct Unsaved {
    /// Name of the content in messages, such as `the profile`.
    pub(in crate::app) what: &'static str,
    pub(in crate::app) bytes: Vec<u8>,
    /// Text in front of the notice that names the saved path.
    pub(in crate::app) note: String,
    /// Path to write to if no dialog can be opened. A dialog suggests its file name.
    pub(in crate::app) fallback_path: PathBuf,
}

/// Result of asking the user for a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::app) enum Place {
    At(PathBuf),
    /// The user cancelled the dialog.
    Nowhere,
    /// No dialog could be opened.
    NoDialog,
}

impl Unsaved {
    /// Returns the file extension.
    pub(in crate::app) fn extension(&self) -> String {
        let extension = self.fallback_path.extension().unwrap_or_default();
        extension.to_string_lossy().into_owned()
    }

    /// Returns the path to write to for the user's choice `place`. A missing extension is added.
    ///
    /// # Errors
    ///
    /// A message for the user if the dialog was cancelled, or if a file with the added extension exists,
    /// because the dialog has not asked whether that file may be replaced.
    pub(in crate::app) fn target(&self, place: Place) -> Result<PathBuf, String> {
        let chosen = match place {
            Place::At(chosen) => chosen,
            Place::NoDialog => return Ok(self.fallback_path.clone()),
            Place::Nowhere => return Err(format!("{} is not saved", self.what)),
        };
        let extension = self.extension();
        let has_it = |path: &Path| {
            let known = path.extension().and_then(|known| known.to_str());
            known.is_some_and(|known| known.eq_ignore_ascii_case(&extension))
        };
        if extension.is_empty() || has_it(&chosen) {
            return Ok(chosen);
        }
        let mut name = chosen.into_os_string();
        name.push(format!(".{extension}"));
        let path = PathBuf::from(name);
        match path.exists() {
            true => Err(format!(
                "{} exists already: type its full name to overwrite it",
                path.display()
            )),
            false => Ok(path),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_get_an_extension_and_replace_no_file_without_confirmation() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| Place::At(folder.path().join(name));
        let unsaved = Unsaved {
            what: "the profile",
            bytes: Vec::new(),
            note: String::new(),
            fallback_path: "/pictures/canopy fox.csv".into(),
        };
        let target = |place| unsaved.target(place);
        assert_eq!(target(at("a.CSV")), Ok(folder.path().join("a.CSV")));
        assert_eq!(target(at("a")), Ok(folder.path().join("a.csv")));
        assert_eq!(target(at("a.json")), Ok(folder.path().join("a.json.csv")));
        assert_eq!(target(Place::NoDialog), Ok("/pictures/canopy fox.csv".into()));
        assert_eq!(target(Place::Nowhere), Err("the profile is not saved".into()));
        std::fs::write(folder.path().join("a.csv"), "").unwrap();
        assert!(target(at("a")).unwrap_err().contains("a.csv exists already"));
        // The dialog has asked whether this file may be replaced.
        assert_eq!(target(at("a.csv")), Ok(folder.path().join("a.csv")));
    }
}
