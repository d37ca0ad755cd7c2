//! Files that wait for the person to say where they are to be.

use std::path::{Path, PathBuf};

/// A file that is not written yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::app) struct Unsaved {
    /// What it holds, such as `the profile`.
    pub(in crate::app) what: &'static str,
    pub(in crate::app) bytes: Vec<u8>,
    /// What is told beside the name it is saved under.
    pub(in crate::app) note: String,
    /// Where it goes where no dialog can be opened; its name and its ending are those that the dialog begins
    /// with.
    pub(in crate::app) unasked: PathBuf,
}

/// What came of asking for a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::app) enum Place {
    At(PathBuf),
    /// The person closed the dialog.
    Nowhere,
    /// No dialog could be opened.
    NoDialog,
}

impl Unsaved {
    /// The ending of its name.
    pub(in crate::app) fn extension(&self) -> String {
        let extension = self.unasked.extension().unwrap_or_default();
        extension.to_string_lossy().into_owned()
    }

    /// Where it is written if `place` was chosen, or why it is not. What it holds says the ending of its
    /// name: one that the person left out is added, and then nobody was asked whether a file of that name may
    /// be replaced.
    pub(in crate::app) fn target(&self, place: Place) -> Result<PathBuf, String> {
        let chosen = match place {
            Place::At(chosen) => chosen,
            Place::NoDialog => return Ok(self.unasked.clone()),
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
                "{} is there already: choose it by its whole name",
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
    fn names_get_their_ending_and_replace_nothing_that_nobody_was_asked_about() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| Place::At(folder.path().join(name));
        let unsaved = Unsaved {
            what: "the profile",
            bytes: Vec::new(),
            note: String::new(),
            unasked: "/pictures/canopy fox.csv".into(),
        };
        let target = |place| unsaved.target(place);
        assert_eq!(target(at("a.CSV")), Ok(folder.path().join("a.CSV")));
        assert_eq!(target(at("a")), Ok(folder.path().join("a.csv")));
        assert_eq!(target(at("a.json")), Ok(folder.path().join("a.json.csv")));
        assert_eq!(target(Place::NoDialog), Ok("/pictures/canopy fox.csv".into()));
        assert_eq!(target(Place::Nowhere), Err("the profile is not saved".into()));
        std::fs::write(folder.path().join("a.csv"), "").unwrap();
        assert!(target(at("a")).unwrap_err().contains("a.csv is there already"));
        // The dialog has asked about this one.
        assert_eq!(target(at("a.csv")), Ok(folder.path().join("a.csv")));
    }
}
