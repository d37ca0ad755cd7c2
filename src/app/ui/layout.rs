//! The panel's width, its tab and its foldings, which are kept between runs.

use crate::config::declared::Tab;
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
};

/// The panel's width, its tab and its foldings.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(in crate::app) struct PanelLayout {
    /// In points; `None` for the initial width.
    pub(in crate::app) width: Option<f32>,
    /// Title of the tab that is shown; `None` for the first one.
    pub(in crate::app) tab: Option<String>,
    /// Groups that the person has opened or folded.
    pub(in crate::app) open: BTreeMap<String, bool>,
    /// Labels of the commands of the palette that were used last, the latest first.
    pub(in crate::app) recent_commands: Vec<String>,
    /// Whether the card for the first time was dismissed.
    pub(in crate::app) welcomed: bool,
}

impl PanelLayout {
    /// The tab that is shown.
    pub(in crate::app) fn tab(&self) -> Tab {
        let known = Tab::ALL.into_iter();
        let mut known = known.filter(|tab| self.tab.as_deref() == Some(tab.title()));
        known.next().unwrap_or(Tab::Light)
    }

    pub(in crate::app) fn show_tab(&mut self, tab: Tab) {
        self.tab = Some(tab.title().into());
    }
}

/// The file that keeps a [`PanelLayout`].
#[derive(Debug)]
pub(in crate::app) struct LayoutFile {
    path: PathBuf,
    /// What it holds.
    kept: Option<PanelLayout>,
}

impl LayoutFile {
    /// The file in the platform's folder for the state of programs, if there is one.
    pub(in crate::app) fn of_the_user() -> Option<Self> {
        let folders = directories::ProjectDirs::from("", "", "canopy")?;
        let folder = folders.state_dir().unwrap_or(folders.data_local_dir());
        Some(Self::at(folder.join("panel.json")))
    }

    fn at(path: PathBuf) -> Self {
        Self { path, kept: None }
    }

    /// What the file holds. A missing or broken file is the initial layout.
    pub(in crate::app) fn read(&mut self) -> PanelLayout {
        let layout = read(&self.path).unwrap_or_else(|error| {
            if error.kind() != io::ErrorKind::NotFound {
                log::warn!("{}: {error}; the panel starts anew", self.path.display());
            }
            PanelLayout::default()
        });
        self.kept = Some(layout.clone());
        layout
    }

    /// Keeps `layout`, if it has changed. A file that cannot be written is told of in the log.
    pub(in crate::app) fn follow(&mut self, layout: &PanelLayout) {
        if self.kept.as_ref() == Some(layout) {
            return;
        }
        if let Err(error) = write(&self.path, layout) {
            log::warn!("{}: {error}", self.path.display());
        }
        self.kept = Some(layout.clone());
    }
}

fn read(path: &Path) -> io::Result<PanelLayout> {
    let layout: PanelLayout = serde_json::from_str(&std::fs::read_to_string(path)?)?;
    if layout.width.is_some_and(|width| !(100.0..1e4).contains(&width)) {
        return Err(io::Error::other("the width is out of range"));
    }
    Ok(layout)
}

/// Writes the whole file or nothing: another canopy may be reading it.
fn write(path: &Path, layout: &PanelLayout) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let unfinished = path.with_extension(format!("{}.tmp", std::process::id()));
    std::fs::write(&unfinished, serde_json::to_string_pretty(layout)?)?;
    std::fs::rename(&unfinished, path).inspect_err(|_| {
        std::fs::remove_file(&unfinished).ok();
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layout_comes_back_and_a_broken_file_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/panel.json");
        let mut file = LayoutFile::at(path.clone());
        assert_eq!(file.read(), PanelLayout::default());
        let mut layout = PanelLayout {
            width: Some(412.5),
            ..PanelLayout::default()
        };
        layout.open.insert("Sun".into(), false);
        layout.welcomed = true;
        layout.show_tab(Tab::Analyse);
        file.follow(&layout);
        assert_eq!(LayoutFile::at(path.clone()).read(), layout);
        // Nothing is written that is there already.
        std::fs::remove_file(&path).unwrap();
        file.follow(&layout);
        assert!(!path.exists());
        for broken in ["{", "[]", "{\"width\": 1e30}", "{\"open\": 3}", "\u{0}"] {
            std::fs::write(&path, broken).unwrap();
            assert_eq!(
                LayoutFile::at(path.clone()).read(),
                PanelLayout::default(),
                "{broken}"
            );
        }
        let left = std::fs::read_dir(path.parent().unwrap()).unwrap().count();
        assert_eq!(left, 1, "unfinished files are left");
    }
}
