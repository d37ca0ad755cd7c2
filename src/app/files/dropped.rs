//! Classification of files and folders that are dropped together.

use crate::{
    app::environment::file::is_environment,
    scene::{folder, picture::is_picture},
};
use std::path::PathBuf;

/// Files and folders that were dropped together, by kind.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::app) struct Dropped {
    /// Scene files and folders, which make one scene.
    pub(in crate::app) scenes: Vec<PathBuf>,
    pub(in crate::app) environment: Option<PathBuf>,
    /// Picture that is the only dropped file. It is reopened from its provenance or compared with.
    pub(in crate::app) picture: Option<PathBuf>,
    /// Number of ignored files: all environments but the last, and files of other kinds, such as the buffers
    /// and textures of a dropped scene.
    pub(in crate::app) ignored: usize,
}

impl Dropped {
    /// Sorts `paths` by kind. Without a scene or an environment, files of unknown kinds count as scenes, so
    /// that loading them gives an error message.
    pub(in crate::app) fn new(paths: Vec<PathBuf>) -> Self {
        let is_scene = |path: &PathBuf| folder::is_scene(path) || path.is_dir();
        let (scenes, others): (Vec<_>, Vec<_>) = paths.into_iter().partition(is_scene);
        let (mut environments, others): (Vec<_>, Vec<_>) =
            others.into_iter().partition(|path| is_environment(path));
        let environment = environments.pop();
        if scenes.is_empty() && environment.is_none() {
            if let [only] = &others[..]
                && is_picture(only)
            {
                return Self {
                    picture: Some(only.clone()),
                    ..Self::default()
                };
            }
            return Self {
                scenes: others,
                ..Self::default()
            };
        }
        Self {
            ignored: environments.len() + others.len(),
            scenes,
            environment,
            picture: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropped_files_are_sorted_into_scene_environment_and_picture() {
        let folder = tempfile::tempdir().unwrap();
        let all = |paths: &[&str]| paths.iter().map(PathBuf::from).collect::<Vec<_>>();
        let mut paths = all(&["a.gltf", "a.bin", "sky.HDR", "a.png", "b.exr", "c.OBJ"]);
        paths.push(folder.path().to_owned());
        let dropped = Dropped::new(paths);
        let mut scenes = all(&["a.gltf", "c.OBJ"]);
        scenes.push(folder.path().to_owned());
        assert_eq!(dropped.scenes, scenes);
        assert_eq!(dropped.environment, Some("b.exr".into()));
        assert_eq!(dropped.ignored, 3);
        let unknown = Dropped::new(all(&["a.fbx"]));
        assert_eq!((unknown.scenes, unknown.ignored), (all(&["a.fbx"]), 0));
        let picture = Dropped::new(all(&["before.png"]));
        assert_eq!(picture.picture, Some("before.png".into()));
        assert_eq!((picture.scenes, picture.ignored), (Vec::new(), 0));
        assert_eq!(Dropped::new(Vec::new()), Dropped::default());
    }
}
