//! Editable keys of the camera path, and the playback position.

use crate::scene::camera_path::{CameraPath, Key};

/// Editable keys of the camera path, and the playback position.
#[derive(Debug, Default)]
pub(in crate::app) struct PathKeys {
    /// Keys in ascending order of time.
    keys: Vec<Key>,
    /// Seconds since the first key while the camera moves along the path.
    playing: Option<f32>,
    /// Path of the file that the camera path is saved to and loaded from.
    pub(in crate::app) file: String,
    /// True if the panel lists the keys. The picture then shows the path as a curve.
    pub(in crate::app) is_in_panel: bool,
}

impl PathKeys {
    pub(in crate::app) fn keys(&self) -> &[Key] {
        &self.keys
    }

    /// Removes all keys because they belong to another scene.
    pub(in crate::app) fn reset(&mut self) {
        self.keys.clear();
    }

    pub(in crate::app) fn is_playing(&self) -> bool {
        self.playing.is_some()
    }

    /// Returns the path. Keys without a field of view get `fov` degrees. `None` if there are no keys.
    pub(in crate::app) fn path(&self, fov: f32) -> Option<CameraPath> {
        CameraPath::new(self.keys.clone(), fov).ok()
    }

    /// Seconds since the first key while the camera moves along the path.
    pub(in crate::app) fn playing(&self) -> Option<f32> {
        self.playing
    }

    /// Starts the motion from `playing` seconds after the first key, or stops it.
    pub(in crate::app) fn set_playing(&mut self, playing: Option<f32>) {
        self.playing = playing;
    }

    /// Adds a key. It replaces a key at the same time.
    pub(in crate::app) fn add(&mut self, key: Key) {
        let at = self.keys.partition_point(|known| known.time < key.time);
        match self.keys.get_mut(at).filter(|known| known.time == key.time) {
            Some(known) => *known = key,
            None => self.keys.insert(at, key),
        }
    }

    /// Sets the time of a key in seconds, clamped so that it stays 0.01 s away from its neighbours.
    pub(in crate::app) fn set_time(&mut self, index: usize, time: f32) {
        const MIN_GAP_SECS: f32 = 0.01;
        let neighbour = |index: Option<usize>| index.and_then(|i| self.keys.get(i));
        let least = neighbour(index.checked_sub(1)).map_or(0.0, |key| key.time + MIN_GAP_SECS);
        let most = neighbour(Some(index + 1)).map_or(f32::MAX, |key| key.time - MIN_GAP_SECS);
        if least <= most {
            self.keys[index].time = time.clamp(least, most);
        }
    }

    /// Replaces a key.
    pub(in crate::app) fn replace(&mut self, index: usize, key: Key) {
        self.keys[index] = key;
    }

    /// Replaces all keys, which must be in ascending order of time, and stops the motion.
    pub(in crate::app) fn set_keys(&mut self, keys: &[Key]) {
        self.keys = keys.to_vec();
        self.playing = None;
    }

    pub(in crate::app) fn remove(&mut self, index: usize) {
        self.keys.remove(index);
        self.playing = None;
    }
}
