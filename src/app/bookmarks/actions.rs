//! Actions that save the current view and return to a saved one.

use crate::app::{
    bookmarks::model::{Bookmark, MAX_VIEWS},
    input::keys::Action,
    state::State,
};

impl State {
    /// Saves the current view for the shown scene, or notifies the user why that is impossible.
    pub(in crate::app) fn bookmark(&mut self) {
        if self.stage.is_none() {
            return self.notify("no scene is shown yet");
        }
        let count = self.files.bookmarks.list().len();
        if count >= MAX_VIEWS {
            return self.notify(format!("a scene can have at most {MAX_VIEWS} saved views"));
        }
        let name = format!("view {}", count + 1);
        let view = Bookmark::new(name, &self.camera.viewpoint(), self.camera.distance());
        self.files.bookmarks.change(|list| list.push(view));
        self.notify(format!("saved as view {}", count + 1));
    }

    /// Moves the camera to the saved view `index`, counted from 0, or notifies the user that it does not
    /// exist.
    pub(in crate::app) fn go_to_bookmark(&mut self, index: usize) {
        let found = self.files.bookmarks.list().get(index).cloned();
        match found.and_then(|found| Some((found.viewpoint()?, found))) {
            Some((view, found)) => {
                self.see(&view, found.distance);
                self.notify(found.name);
            }
            None => {
                let keys = self.ui.keymap.hint(Action::Bookmark);
                self.notify(format!(
                    "there is no saved view {}: save one first{keys}",
                    index + 1
                ));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        app::{bookmarks::model::Bookmarks, state::Stage},
        config::Config,
        scene::{
            Scene,
            framing::Viewpoint,
            opened::{OpenedScene, Span},
        },
    };

    #[test]
    fn bookmarks_are_stored_per_scene() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("new/bookmarks.json");
        let mut state = State::new(Config::default());
        state.files.bookmarks = Bookmarks::at(Some(file.clone()));
        state.bookmark();
        assert_eq!(state.files.bookmarks.list(), []);
        let opened = OpenedScene::new(Scene::default(), &state.config, Span::Clip);
        state.stage = Some(Stage::new(vec!["a.glb".into()], opened, 0.0));
        state.files.bookmarks.show(&["a.glb".into()]);
        let first = state.camera;
        state.bookmark();
        state.orbit(glam::vec2(0.2, 0.1));
        state.bookmark();
        let second = state.camera;
        state.go_to_bookmark(0);
        let near = |a: Viewpoint, b: Viewpoint| a.world_from_view.abs_diff_eq(b.world_from_view, 1e-5);
        assert!(near(state.camera.viewpoint(), first.viewpoint()));
        assert!((state.camera.distance() - first.distance()).abs() < 1e-4);
        state.go_to_bookmark(7);
        assert!(state.ui.notice.as_ref().unwrap().0.contains("no saved view 8"));
        state.files.bookmarks.renames = Some((1, " aside ".into()));
        state.files.bookmarks.rename();
        // Another window reads the views from the file, and only those of its own scene.
        let mut other = Bookmarks::at(Some(file.clone()));
        other.show(&["b.glb".into()]);
        assert_eq!(other.list(), []);
        other.show(&["a.glb".into()]);
        assert_eq!(other.list()[1].name, "aside");
        assert!(near(other.list()[1].viewpoint().unwrap(), second.viewpoint()));
        let options = other.list()[1].options();
        assert!(
            options.starts_with("--eye=") && options.ends_with("--fov 45"),
            "{options}"
        );
        other.delete(0);
        other.delete(0);
        assert_eq!(Bookmarks::at(Some(file.clone())).count(), 0);
        for broken in ["{", "[]", "{\"a\": 3}", "{\"a\": [{\"name\": \"x\"}]}"] {
            std::fs::write(&file, broken).unwrap();
            assert_eq!(Bookmarks::at(Some(file.clone())).count(), 0, "{broken}");
        }
    }
}
