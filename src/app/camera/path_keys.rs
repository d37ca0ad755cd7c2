//! The keys of a camera path, while the person makes them.

use crate::scene::camera_path::{CameraPath, Key};

/// The keys of a camera path, while they are made.
#[derive(Debug, Default)]
pub(in crate::app) struct PathKeys {
    /// The keys, in the order of time.
    keys: Vec<Key>,
    /// Seconds since the first key, while the camera moves along.
    playing: Option<f32>,
    /// The file that it is kept in.
    pub(in crate::app) file: String,
    /// Whether the panel shows the keys, so that the picture shows the curve.
    pub(in crate::app) is_told: bool,
}

impl PathKeys {
    pub(in crate::app) fn keys(&self) -> &[Key] {
        &self.keys
    }

    /// Forgets the keys: they are of another scene.
    pub(in crate::app) fn forget(&mut self) {
        self.keys.clear();
    }

    pub(in crate::app) fn is_playing(&self) -> bool {
        self.playing.is_some()
    }

    /// The path, with keys that have no field of view at `fov` degrees; `None` without keys.
    pub(in crate::app) fn path(&self, fov: f32) -> Option<CameraPath> {
        CameraPath::new(self.keys.clone(), fov).ok()
    }

    /// Seconds since the first key, while the camera moves along.
    pub(in crate::app) fn playing(&self) -> Option<f32> {
        self.playing
    }

    /// Lets the camera move along from so many seconds after the first key, or stop.
    pub(in crate::app) fn set_playing(&mut self, playing: Option<f32>) {
        self.playing = playing;
    }

    /// Adds a key; one at the same time is replaced.
    pub(in crate::app) fn add(&mut self, key: Key) {
        let at = self.keys.partition_point(|known| known.time < key.time);
        match self.keys.get_mut(at).filter(|known| known.time == key.time) {
            Some(known) => *known = key,
            None => self.keys.insert(at, key),
        }
    }

    /// Moves a key in time, between its neighbours.
    pub(in crate::app) fn set_time(&mut self, index: usize, time: f32) {
        const LEAST: f32 = 0.01;
        let neighbour = |index: Option<usize>| index.and_then(|i| self.keys.get(i));
        let least = neighbour(index.checked_sub(1)).map_or(0.0, |key| key.time + LEAST);
        let most = neighbour(Some(index + 1)).map_or(f32::MAX, |key| key.time - LEAST);
        if least <= most {
            self.keys[index].time = time.clamp(least, most);
        }
    }

    /// Replaces a key.
    pub(in crate::app) fn replace(&mut self, index: usize, key: Key) {
        self.keys[index] = key;
    }

    /// Takes other keys, as a file has them.
    pub(in crate::app) fn set_keys(&mut self, keys: &[Key]) {
        self.keys = keys.to_vec();
        self.playing = None;
    }

    pub(in crate::app) fn remove(&mut self, index: usize) {
        self.keys.remove(index);
        self.playing = None;
    }
}
