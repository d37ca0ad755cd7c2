//! Panel state that is kept between runs: width, tab, folds, recent commands, and the dismissal of the
//! welcome card.

use crate::config::declared::Tab;
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
};

/// Panel state that is kept between runs.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(in crate::app) struct PanelLayout {
    /// Width in points. `None` for the initial width.
    pub(in crate::app) width: Option<f32>,
    /// Title of the current tab. `None` for the first one.
    pub(in crate::app) tab: Option<String>,
    /// Groups that the user has opened or closed.
    pub(in crate::app) open: BTreeMap<String, bool>,
    /// Labels of the recently used palette commands, latest first.
    pub(in crate::app) recent_commands: Vec<String>,
    /// True if the welcome card was dismissed.
    pub(in crate::app) welcomed: bool,
}

impl PanelLayout {
    /// Returns the current tab.
    pub(in crate::app) fn tab(&self) -> Tab {
        let known = Tab::ALL.into_iter();
        let mut known = known.filter(|tab| self.tab.as_deref() == Some(tab.title()));
        known.next().unwrap_or(Tab::Light)
    }

    pub(in crate::app) fn show_tab(&mut self, tab: Tab) {
        self.tab = Some(tab.title().into());
    }
}

/// File that keeps a [`PanelLayout`].
#[derive(Debug)]
pub(in crate::app) struct LayoutFile {
    path: PathBuf,
    /// Content of the file.
    kept: Option<PanelLayout>,
}

impl LayoutFile {
    /// Returns the file in the platform's state folder, if there is one.
    pub(in crate::app) fn of_the_user() -> Option<Self> {
        let folders = directories::ProjectDirs::from("", "", "canopy")?;
        let folder = folders.state_dir().unwrap_or(folders.data_local_dir());
        Some(Self::at(folder.join("panel.json")))
    }

    fn at(path: PathBuf) -> Self {
        Self { path, kept: None }
    }

    /// Reads the file. A missing or broken file yields the initial layout.
    pub(in crate::app) fn read(&mut self) -> PanelLayout {
        let layout = read(&self.path).unwrap_or_else(|error| {
            if error.kind() != io::ErrorKind::NotFound {
                log::warn!(
                    "{}: {error}; the panel starts with its defaults",
                    self.path.display()
                );
            }
            PanelLayout::default()
        });
        self.kept = Some(layout.clone());
        layout
    }

    /// Writes `layout` if it has changed. A write error is logged.
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

/// Writes the file atomically, because another canopy may be reading it.
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
    fn the_panel_layout_round_trips_and_broken_files_give_the_default() {
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
        // An unchanged layout is not written.
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
