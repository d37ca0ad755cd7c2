//! Automatic camera motion: the turntable, and the path along the user's keys.

use crate::{
    app::{camera::model::Camera, files::pictures::shown_path, state::State},
    output,
    scene::{
        Projection,
        camera_path::{CameraPath, Key},
        framing::Viewpoint,
    },
};
use std::path::Path;

/// Time in seconds between keys that are added, unless a paused clip determines their time.
const STEP_SECS: f32 = 2.0;

impl State {
    /// Returns the current view as a key of a camera path at `time` seconds. Paths have perspective cameras
    /// only, so an orthographic view gives a key without a field of view.
    fn key_of_view(&self, time: f32) -> Key {
        let view = self.camera.viewpoint();
        let eye = view.eye();
        Key {
            time,
            eye,
            target: eye + view.forward() * self.camera.distance(),
            fov: match view.projection {
                Projection::Perspective { fov_y } => Some(fov_y.to_degrees()),
                Projection::Orthographic { .. } => None,
            },
        }
    }

    /// Adds the current view to the path. The first key is at 0 s. Later ones are at the time of a paused
    /// clip if that is after the last key, or else two seconds after the last key.
    pub(in crate::app) fn add_path_key(&mut self) {
        if self.stage.is_none() {
            return self.notify("there is no scene to look at");
        }
        let last = self.motion.path.keys().last().map(|key| key.time);
        let clip = self.stage.as_ref().map_or(0.0, |stage| stage.time);
        let time = match last {
            None => 0.0,
            Some(last) if clip > last && !self.playback.playing => clip,
            Some(last) => last + STEP_SECS,
        };
        let key = self.key_of_view(time);
        self.motion.path.add(key);
        let count = self.motion.path.keys().len();
        self.notify(format!("keyframe {count} of the camera path at {time:.2} s"));
    }

    /// Replaces a key with the current view.
    pub(in crate::app) fn update_path_key(&mut self, index: usize) {
        let time = self.motion.path.keys()[index].time;
        let key = self.key_of_view(time);
        self.motion.path.replace(index, key);
    }

    /// Moves the camera to the key at `index`, and stops the flight along the path.
    pub(in crate::app) fn go_to_path_key(&mut self, index: usize) {
        self.motion.path.set_playing(None);
        let first = self.motion.path.keys().first().map_or(0.0, |key| key.time);
        self.look_along_path(self.motion.path.keys()[index].time - first);
    }

    /// Moves the camera to the path position `seconds` after the first key.
    fn look_along_path(&mut self, seconds: f32) {
        if let Some(path) = self.motion.path.path(self.config.camera.fov) {
            self.look_from(&path.at(seconds), path.target_at(seconds));
        }
    }

    fn look_from(&mut self, view: &Viewpoint, target: glam::Vec3) {
        self.motion.arm.release(&mut self.camera);
        self.camera = Camera::new(view, target, self.camera.extent());
    }

    /// Starts the flight along the path from its first key, or stops it. Either stops the turntable.
    pub(in crate::app) fn toggle_path(&mut self) {
        self.motion.turntable = false;
        let lasts = self.motion.path.keys().len() > 1;
        if !lasts {
            return self.notify("a camera path needs two keyframes");
        }
        let stops = self.motion.path.is_playing();
        self.motion.path.set_playing((!stops).then_some(0.0));
        self.notify(match stops {
            true => "stopped the camera path",
            false => "playing the camera path",
        });
    }

    /// Starts or stops the turntable. Either stops the flight along the path. It has no effect in walk mode.
    pub(in crate::app) fn toggle_turntable(&mut self) {
        if self.walks() {
            return self.notify("the turntable needs an orbiting camera; J stops walking");
        }
        self.motion.turntable = !self.motion.turntable;
        self.motion.path.set_playing(None);
        self.notify(match self.motion.turntable {
            true => "turntable on; a drag stops it",
            false => "turntable off",
        });
    }

    /// Stops all automatic motion because the user moves the camera.
    pub(in crate::app) fn take_camera(&mut self) {
        self.motion.turntable = false;
        self.motion.path.set_playing(None);
    }

    /// True while the camera moves by itself.
    pub(in crate::app) fn moves_camera(&self) -> bool {
        self.motion.path.is_playing() || self.motion.turntable && !self.walks()
    }

    /// Advances automatic camera motion by `seconds`.
    pub(in crate::app) fn move_camera_for(&mut self, seconds: f32) {
        if self.motion.turntable && !self.walks() {
            let half_turns = self.config.camera.turntable * seconds / 180.0;
            // Seen from above, a drag to the right orbits clockwise, and a positive speed counter-clockwise.
            self.orbit(glam::Vec2::new(-half_turns, 0.0));
        }
        let Some(along) = self.motion.path.playing() else {
            return;
        };
        let along = along + seconds;
        self.look_along_path(along);
        let length = self
            .motion
            .path
            .path(1.0)
            .map_or(0.0, |path| path.duration_secs());
        self.motion.path.set_playing((along < length).then_some(along));
    }

    /// Writes the path to the file that the panel names. Shows an error if that fails.
    pub(in crate::app) fn save_path(&mut self) {
        let outcome = match self.motion.path.path(self.config.camera.fov) {
            Some(path) => output::write(Path::new(&self.motion.path.file), path.text().as_bytes()),
            None => return self.notify("the camera path has no keyframes"),
        };
        match outcome {
            Ok(()) => self.notify(format!("saved {}", shown_path(Path::new(&self.motion.path.file)))),
            Err(error) => self.fail("The camera path could not be saved", error.to_string()),
        }
    }

    /// Replaces the path with the one in the file that the panel names. Shows an error if that fails.
    pub(in crate::app) fn load_path(&mut self) {
        match CameraPath::read(Path::new(&self.motion.path.file), self.config.camera.fov) {
            Ok(path) => {
                self.motion.path.set_keys(path.keys());
                let count = self.motion.path.keys().len();
                self.notify(format!("loaded a camera path of {count} keyframes"));
            }
            Err(error) => self.fail("The camera path could not be read", error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        config::Config,
        scene::{
            Scene,
            framing::Look,
            opened::{OpenedScene, Span},
        },
    };

    fn state() -> State {
        let config = Config::default();
        let mut state = State::new(config.clone());
        let opened = OpenedScene::new(Scene::default(), &config, Span::Clip);
        state.show(vec!["a.glb".into()], opened, &Look::default(), 1.0);
        state
    }

    #[test]
    fn new_keys_are_two_seconds_apart_or_at_the_clip_time() {
        let mut state = state();
        state.playback.playing = false;
        state.add_path_key();
        state.add_path_key();
        state.stage.as_mut().unwrap().time = 7.5;
        state.add_path_key();
        let times = |state: &State| -> Vec<f32> { state.motion.path.keys().iter().map(|k| k.time).collect() };
        assert_eq!(times(&state), [0.0, 2.0, 7.5]);
        state.motion.path.set_time(1, 9.0);
        assert_eq!(times(&state), [0.0, 7.49, 7.5], "it stays between its neighbours");
        state.motion.path.remove(1);
        assert_eq!(times(&state), [0.0, 7.5]);
    }

    #[test]
    fn the_camera_plays_its_path_and_jumps_to_its_keys() {
        let mut state = state();
        state.add_path_key();
        let first = state.camera;
        state.camera.orbit(glam::vec2(0.25, 0.0));
        state.add_path_key();
        let second = state.camera;
        let near = |a: &Camera, b: &Camera| {
            a.eye().distance(b.eye()) < 1e-4 && a.forward().distance(b.forward()) < 1e-4
        };
        state.go_to_path_key(0);
        assert!(near(&state.camera, &first) && !near(&state.camera, &second));
        assert!(
            (state.camera.distance() - first.distance()).abs() < 1e-4,
            "it orbits the same"
        );
        state.toggle_path();
        state.move_camera_for(1.0);
        assert!(state.moves_camera() && !near(&state.camera, &first));
        state.move_camera_for(1.5);
        assert!(!state.moves_camera() && near(&state.camera, &second));
        state.toggle_path();
        state.take_camera();
        assert!(!state.moves_camera());
    }

    #[test]
    fn the_turntable_rotates_by_degrees_per_second() {
        let mut state = state();
        let before = state.camera.eye() - state.camera.pivot();
        state.toggle_turntable();
        state.config.camera.turntable = 90.0;
        (0..10).for_each(|_| state.move_camera_for(0.1));
        let after = state.camera.eye() - state.camera.pivot();
        // Counter-clockwise from above, like the turntable of `canopy render`.
        let quarter = glam::Quat::from_rotation_y(std::f32::consts::FRAC_PI_2);
        assert!((quarter * before).distance(after) < 1e-3, "{before} {after}");
        state.config.camera.turntable = -90.0;
        state.move_camera_for(1.0);
        let back = state.camera.eye() - state.camera.pivot();
        assert!(back.distance(before) < 1e-3, "the other way");
    }

    #[test]
    fn camera_paths_are_saved_and_loaded() {
        let folder = tempfile::tempdir().unwrap();
        let mut state = state();
        state.motion.path.file = folder.path().join("p.json").to_string_lossy().into_owned();
        state.save_path();
        assert!(state.ui.notice.as_ref().unwrap().0.contains("no keyframes"));
        state.add_path_key();
        state.camera.orbit(glam::vec2(0.25, 0.0));
        state.add_path_key();
        state.save_path();
        let keys = state.motion.path.keys().to_vec();
        state.motion.path.remove(0);
        state.load_path();
        assert_eq!(state.motion.path.keys(), keys);
        assert_eq!(state.ui.error, None);
        state.motion.path.file = "nowhere.json".into();
        state.load_path();
        assert!(state.ui.error.as_ref().unwrap().text.contains("nowhere.json"));
    }
}
