//! Views that the user has saved for each scene, kept in a file of the platform's state folder.

use crate::{
    app::files::recent,
    output,
    scene::{Projection, framing::Viewpoint},
};
use glam::Mat4;
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    io::Read as _,
    path::{Path, PathBuf},
};

/// Maximum number of views per scene. Further views are dropped.
pub(in crate::app) const MAX_VIEWS: usize = 50;
/// Maximum number of scenes with views. Beyond it, scenes other than the shown one are dropped, in the order
/// of their keys.
const MAX_SCENES: usize = 200;

/// Maximum number of bytes that are read from the file. A longer file counts as broken.
const MAX_BYTES: u64 = 64 << 20;

/// A named view.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::app) struct Bookmark {
    pub(in crate::app) name: String,
    world_from_view: [f32; 16],
    /// Distance to the pivot in metres.
    pub(in crate::app) distance: f32,
    /// Vertical field of view in radians. `None` for an orthographic view.
    fov_y: Option<f32>,
    /// Half the height of an orthographic view in metres.
    half_height: Option<f32>,
}

impl Bookmark {
    pub(in crate::app) fn new(name: String, view: &Viewpoint, distance: f32) -> Self {
        let (fov_y, half_height) = match view.projection {
            Projection::Perspective { fov_y } => (Some(fov_y), None),
            Projection::Orthographic { half_height } => (None, Some(half_height)),
        };
        Self {
            name,
            world_from_view: view.world_from_view.to_cols_array(),
            distance,
            fov_y,
            half_height,
        }
    }

    /// Returns the view. `None` for values that only a hand-edited file can hold: a matrix with a determinant
    /// other than 1, or a field of view, height or distance out of range.
    pub(in crate::app) fn viewpoint(&self) -> Option<Viewpoint> {
        let world_from_view = Mat4::from_cols_array(&self.world_from_view);
        let is_place = world_from_view.is_finite() && (world_from_view.determinant() - 1.0).abs() < 1e-2;
        let projection = match (self.fov_y, self.half_height) {
            (Some(fov_y), _) => Projection::Perspective { fov_y },
            (None, half_height) => Projection::Orthographic {
                half_height: half_height?,
            },
        };
        let is_lens = match projection {
            Projection::Perspective { fov_y } => fov_y > 0.0 && fov_y < std::f32::consts::PI,
            Projection::Orthographic { half_height } => half_height.is_finite() && half_height > 0.0,
        };
        let is_far = self.distance.is_finite() && self.distance > 0.0;
        (is_place && is_lens && is_far).then_some(Viewpoint {
            world_from_view,
            projection,
        })
    }

    /// Returns the command-line options `--eye`, `--target` and `--fov` for this view. They set no roll, and
    /// an orthographic view becomes a perspective one.
    pub(in crate::app) fn options(&self) -> String {
        let Some(view) = self.viewpoint() else {
            return String::new();
        };
        let eye = view.eye();
        let target = eye + view.forward() * self.distance;
        let fov = self.fov_y.map(|fov| format!(" --fov {}", fov.to_degrees()));
        let vector = |v: glam::Vec3| format!("{},{},{}", v.x, v.y, v.z);
        format!(
            "--eye={} --target={}{}",
            vector(eye),
            vector(target),
            fov.unwrap_or_default()
        )
    }
}

/// Saved views of all scenes, and the rename in progress.
#[derive(Debug, Default)]
pub(in crate::app) struct Bookmarks {
    /// File that stores the views. `None` if they are not stored, or if the file is broken.
    file: Option<PathBuf>,
    /// Views of each scene. The key is the absolute paths of the scene's files, one per line.
    scenes: BTreeMap<String, Vec<Bookmark>>,
    /// Key of the shown scene in `scenes`.
    scene: String,
    /// Index of the view that is being renamed, and the text typed so far.
    pub(in crate::app) renames: Option<(usize, String)>,
}

impl Bookmarks {
    /// Reads the user's views from `bookmarks.json`, next to the list of recent files.
    pub(in crate::app) fn of_the_user() -> Self {
        Self::at(recent::file().map(|file| file.with_file_name("bookmarks.json")))
    }

    pub(in crate::app) fn at(file: Option<PathBuf>) -> Self {
        let scenes = file.as_deref().and_then(read).unwrap_or_default();
        Self {
            file,
            scenes,
            ..Self::default()
        }
    }

    /// Makes the scene of `files` the shown one, and cancels a rename in progress.
    pub(in crate::app) fn show(&mut self, files: &[PathBuf]) {
        let absolute = |file: &PathBuf| {
            let path = std::path::absolute(file).unwrap_or_else(|_| file.clone());
            path.to_string_lossy().into_owned()
        };
        let files: Vec<String> = files.iter().map(absolute).collect();
        (self.scene, self.renames) = (files.join("\n"), None);
    }

    /// Number of scenes that have views.
    #[cfg(test)]
    pub(in crate::app) fn count(&self) -> usize {
        self.scenes.len()
    }

    /// Returns the views of the shown scene.
    pub(in crate::app) fn list(&self) -> &[Bookmark] {
        self.scenes.get(&self.scene).map_or(&[], Vec::as_slice)
    }

    /// Changes and saves the views of the shown scene. The file is read again first, because another window
    /// may have changed it. A broken file is left unchanged, and errors are only logged.
    pub(in crate::app) fn change(&mut self, change: impl FnOnce(&mut Vec<Bookmark>)) {
        if let Some(file) = &self.file {
            match read(file) {
                Some(scenes) => self.scenes = scenes,
                None => {
                    log::warn!("{}: the file is broken and is not changed", file.display());
                    self.file = None;
                }
            }
        }
        let mut list = self.list().to_vec();
        change(&mut list);
        list.truncate(MAX_VIEWS);
        match list.is_empty() {
            true => _ = self.scenes.remove(&self.scene),
            false => _ = self.scenes.insert(self.scene.clone(), list),
        }
        while self.scenes.len() > MAX_SCENES {
            let other = self.scenes.keys().find(|scene| **scene != self.scene).cloned();
            self.scenes.remove(&other.unwrap_or_default());
        }
        if let Some(file) = &self.file
            && let Err(error) = write(file, &self.scenes)
        {
            log::warn!("{error}");
        }
    }

    /// Ends the rename in progress. A blank name leaves the view unchanged.
    pub(in crate::app) fn rename(&mut self) {
        if let Some((index, name)) = self.renames.take()
            && !name.trim().is_empty()
        {
            self.change(|list| {
                if let Some(bookmark) = list.get_mut(index) {
                    bookmark.name = name.trim().into();
                }
            });
        }
    }

    pub(in crate::app) fn delete(&mut self, index: usize) {
        self.renames = None;
        self.change(|list| {
            if index < list.len() {
                list.remove(index);
            }
        });
    }
}

/// Reads the views from `file`, without invalid ones. Returns an empty map for a missing file, and `None` for
/// one that is unreadable or not valid JSON.
fn read(file: &Path) -> Option<BTreeMap<String, Vec<Bookmark>>> {
    let mut text = String::new();
    let mut scenes: BTreeMap<String, Vec<Bookmark>> = match std::fs::File::open(file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => BTreeMap::new(),
        Err(_) => return None,
        Ok(file) => {
            file.take(MAX_BYTES).read_to_string(&mut text).ok()?;
            serde_json::from_str(&text).ok()?
        }
    };
    for list in scenes.values_mut() {
        list.retain(|bookmark| bookmark.viewpoint().is_some());
        list.truncate(MAX_VIEWS);
    }
    Some(scenes)
}

fn write(file: &Path, scenes: &BTreeMap<String, Vec<Bookmark>>) -> crate::Result<()> {
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder).map_err(|e| crate::Error::io(folder, e))?;
    }
    let text = serde_json::to_vec(scenes).unwrap_or_default();
    output::write(file, &text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_bookmarks_have_no_viewpoint() {
        let lens = Projection::Perspective { fov_y: 1.0 };
        let view = Viewpoint {
            world_from_view: Mat4::IDENTITY,
            projection: lens,
        };
        let good = Bookmark::new("a".into(), &view, 1.0);
        assert_eq!(good.viewpoint(), Some(view));
        let mut bad = [good.clone(), good.clone(), good.clone(), good];
        bad[0].world_from_view[0] = f32::NAN;
        bad[1].world_from_view = [0.0; 16];
        bad[2].fov_y = Some(4.0);
        bad[3].distance = -1.0;
        for bookmark in bad {
            assert_eq!(bookmark.viewpoint(), None, "{bookmark:?}");
        }
    }
}
