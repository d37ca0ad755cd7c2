//! Camera paths with keys, from a JSON file.
//!
//! ```json
//! {"keys": [
//!     {"time": 0, "eye": [4, 2, 4], "target": [0, 1, 0], "fov": 45},
//!     {"time": 2, "eye": [-4, 2, 4], "target": [0, 1, 0]}
//! ]}
//! ```
//!
//! Times are in seconds and increase from key to key. Positions are in world space, in metres. The vertical
//! field of view is in degrees, and defaults to the field of view of the settings.
//!
//! Eyes and targets follow a cubic Hermite spline whose tangents are the mean slopes around each key (Catmull
//! and Rom 1974, for non-uniform times). Fields of view are interpolated linearly.

use super::{Projection, framing::Viewpoint};
use crate::{Error, Result};
use glam::{Mat4, Quat, Vec3};
use serde::Deserialize;
use std::path::Path;

/// Maximum size of a file, in bytes.
const MAX_BYTES: u64 = 16 << 20;

/// A camera path with at least one key.
#[derive(Debug, Clone, PartialEq)]
pub struct CameraPath {
    keys: Vec<Key>,
    /// Vertical field of view of keys without one, in degrees.
    fov: f32,
}

/// Camera at a time.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Key {
    /// Time in seconds.
    pub time: f32,
    /// Eye position in world space, in metres.
    pub eye: Vec3,
    /// Look-at point in world space, in metres.
    pub target: Vec3,
    /// Vertical field of view in degrees; `None` for the default.
    pub fov: Option<f32>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    keys: Vec<Key>,
}

/// Rotates a view about the vertical axis through `center` by `angle` radians, counter-clockwise seen from
/// above.
pub fn turned(first: &Viewpoint, center: Vec3, angle: f32) -> Viewpoint {
    let turn = Mat4::from_translation(center)
        * Mat4::from_quat(Quat::from_rotation_y(angle))
        * Mat4::from_translation(-center);
    Viewpoint {
        world_from_view: turn * first.world_from_view,
        projection: first.projection,
    }
}

impl CameraPath {
    /// Reads a file. `fov` is the default field of view in degrees.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the file cannot be read, and [`Error::Scene`] with the key that is invalid.
    pub fn read(path: &Path, fov: f32) -> Result<Self> {
        let length = std::fs::metadata(path).map_err(|e| Error::io(path, e))?.len();
        if length > MAX_BYTES {
            return Err(Error::scene(
                path,
                "is larger than 16 MiB, the limit for camera paths",
            ));
        }
        let bytes = std::fs::read(path).map_err(|e| Error::io(path, e))?;
        Self::parse(&bytes, fov).map_err(|what| Error::scene(path, what))
    }

    fn parse(bytes: &[u8], fov: f32) -> std::result::Result<Self, String> {
        let file: File = serde_json::from_slice(bytes).map_err(|e| format!("is not a camera path: {e}"))?;
        Self::new(file.keys, fov)
    }

    /// Creates a path along `keys`. `fov` is the default field of view in degrees.
    ///
    /// # Errors
    ///
    /// A description of the fault and the key that has it.
    pub fn new(keys: Vec<Key>, fov: f32) -> std::result::Result<Self, String> {
        if keys.is_empty() {
            return Err("a camera path needs at least one key".into());
        }
        for (index, key) in keys.iter().enumerate() {
            let fault = if !(key.time.is_finite() && key.eye.is_finite() && key.target.is_finite()) {
                "has a number that is too large"
            } else if key.eye == key.target {
                "has its target at its eye"
            } else if !key.fov.is_none_or(|fov| (1.0..=170.0).contains(&fov)) {
                "needs a fov from 1 to 170 degrees"
            } else if index > 0 && key.time <= keys[index - 1].time {
                "is not later than the previous key"
            } else {
                continue;
            };
            return Err(format!("keys[{index}] {fault}"));
        }
        Ok(Self { keys, fov })
    }

    /// Returns the keys in the order of time.
    pub fn keys(&self) -> &[Key] {
        &self.keys
    }

    /// Returns the text of the file that [`CameraPath::read`] reads.
    pub fn text(&self) -> String {
        let line = |key: &Key| {
            let vector = |v: Vec3| format!("[{}, {}, {}]", v.x, v.y, v.z);
            let fov = key.fov.map(|fov| format!(", \"fov\": {fov}"));
            let (time, eye, target) = (key.time, vector(key.eye), vector(key.target));
            let fov = fov.unwrap_or_default();
            format!("    {{\"time\": {time}, \"eye\": {eye}, \"target\": {target}{fov}}}")
        };
        let lines: Vec<_> = self.keys.iter().map(line).collect();
        format!("{{\"keys\": [\n{}\n]}}\n", lines.join(",\n"))
    }

    /// Returns the time from the first to the last key, in seconds.
    pub fn duration_secs(&self) -> f32 {
        let [first, last] = [self.keys.first(), self.keys.last()];
        first
            .zip(last)
            .map_or(0.0, |(first, last)| last.time - first.time)
    }

    /// Returns the number of frames from the first key to the last at `fps` frames per second; at most a
    /// million.
    pub fn frames(&self, fps: f32) -> u32 {
        // The tolerance keeps an integer number of frames an integer after a division and a multiplication.
        (self.duration_secs() * fps + 1e-3).floor().min(1e6 - 1.0) as u32 + 1
    }

    /// Returns the look-at point `seconds` after the first key.
    pub fn target_at(&self, seconds: f32) -> Vec3 {
        let (ends, t) = self.between(seconds);
        self.spline(ends, t, |key| key.target)
    }

    /// Returns the camera `seconds` after the first key. Before the first and after the last key it stands
    /// still.
    pub fn at(&self, seconds: f32) -> Viewpoint {
        let ([a, b], t) = self.between(seconds);
        let fov = |key: usize| self.keys[key].fov.unwrap_or(self.fov);
        let (eye, target) = (
            self.spline([a, b], t, |key| key.eye),
            self.spline([a, b], t, |key| key.target),
        );
        let fov_y = (fov(a) + (fov(b) - fov(a)) * t).to_radians();
        Viewpoint::look_to(eye, target - eye, Vec3::Y, Projection::Perspective { fov_y })
    }

    /// Returns the keys around a time, and the interpolation parameter between them, from 0 to 1.
    fn between(&self, seconds: f32) -> ([usize; 2], f32) {
        let first = self.keys[0];
        let last = self.keys[self.keys.len() - 1];
        let time = (first.time + seconds).clamp(first.time, last.time);
        let next = self.keys.partition_point(|key| key.time <= time);
        let (a, b) = (next - 1, next.min(self.keys.len() - 1));
        let length = self.keys[b].time - self.keys[a].time;
        let t = if length > 0.0 {
            (time - self.keys[a].time) / length
        } else {
            0.0
        };
        ([a, b], t)
    }

    /// Evaluates the spline between two keys at `t` from 0 to 1.
    fn spline(&self, [a, b]: [usize; 2], t: f32, point: impl Fn(&Key) -> Vec3) -> Vec3 {
        let slope = |key: usize| {
            let before = &self.keys[key.saturating_sub(1)];
            let after = &self.keys[(key + 1).min(self.keys.len() - 1)];
            let length = after.time - before.time;
            let way = point(after) - point(before);
            if length > 0.0 { way / length } else { Vec3::ZERO }
        };
        let length = self.keys[b].time - self.keys[a].time;
        let (t2, t3) = (t * t, t * t * t);
        (2.0 * t3 - 3.0 * t2 + 1.0) * point(&self.keys[a])
            + (t3 - 2.0 * t2 + t) * length * slope(a)
            + (3.0 * t2 - 2.0 * t3) * point(&self.keys[b])
            + (t3 - t2) * length * slope(b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> std::result::Result<CameraPath, String> {
        CameraPath::parse(text.as_bytes(), 45.0)
    }

    #[test]
    fn the_path_interpolates_its_keys_and_keeps_straight_lines() {
        let path = r#"{"keys": [
            {"time": 1, "eye": [0, 0, 5], "target": [0, 0, 0], "fov": 30},
            {"time": 2, "eye": [1, 0, 5], "target": [1, 0, 0]},
            {"time": 4, "eye": [3, 0, 5], "target": [3, 0, 0], "fov": 60}
        ]}"#;
        let path = parse(path).unwrap();
        assert_eq!(path.duration_secs(), 3.0);
        // At one metre per second, regardless of the distance between keys.
        for (seconds, x, fov) in [
            (-1.0, 0.0, 30.0),
            (0.5, 0.5, 37.5),
            (1.0, 1.0, 45.0),
            (2.0, 2.0, 52.5),
            (9.0, 3.0, 60.0),
        ] {
            let view = path.at(seconds);
            assert!(
                (view.eye() - Vec3::new(x, 0.0, 5.0)).length() < 1e-5,
                "{seconds}: {view:?}"
            );
            assert!((view.forward() - Vec3::NEG_Z).length() < 1e-5);
            let Projection::Perspective { fov_y } = view.projection else {
                panic!("{view:?}")
            };
            assert!((fov_y.to_degrees() - fov).abs() < 1e-3, "{seconds}: {fov_y}");
        }
    }

    #[test]
    fn camera_paths_round_trip_through_a_file() {
        let key = |time, fov| Key {
            time,
            eye: Vec3::new(0.1, time, 5.0),
            target: Vec3::X,
            fov,
        };
        let path = CameraPath::new(vec![key(0.0, None), key(1.25, Some(30.0))], 45.0).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("path.json");
        std::fs::write(&file, path.text()).unwrap();
        assert_eq!(CameraPath::read(&file, 45.0).unwrap(), path);
    }

    /// A counter-clockwise rotation by 90° moves a camera from the front to the right.
    #[test]
    fn turntable_rotations_are_about_the_centre() {
        let lens = Projection::Perspective { fov_y: 1.0 };
        let center = Vec3::new(1.0, 0.0, 0.0);
        let first = Viewpoint::look_to(Vec3::new(1.0, 2.0, 5.0), Vec3::NEG_Z, Vec3::Y, lens);
        let view = turned(&first, center, std::f32::consts::FRAC_PI_2);
        assert!((view.eye() - Vec3::new(6.0, 2.0, 0.0)).length() < 1e-5);
        assert!((view.forward() - Vec3::NEG_X).length() < 1e-5);
    }

    #[test]
    fn the_velocity_is_continuous_at_corners() {
        let path = r#"{"keys": [
            {"time": 0, "eye": [0, 0, 0], "target": [0, 0, -9]},
            {"time": 1, "eye": [2, 0, 0], "target": [2, 0, -9]},
            {"time": 2, "eye": [2, 2, 0], "target": [2, 2, -9]}
        ]}"#;
        let path = parse(path).unwrap();
        let velocity = |at: f32| (path.at(at + 1e-3).eye() - path.at(at - 1e-3).eye()) / 2e-3;
        let around = [velocity(0.995), velocity(1.005)];
        assert!((around[0] - around[1]).length() < 0.1, "{around:?}");
        assert!(
            (around[0] - Vec3::new(1.0, 1.0, 0.0)).length() < 0.1,
            "{around:?}"
        );
    }

    #[test]
    fn invalid_camera_paths_report_the_fault() {
        let key = r#"{"time": 0, "eye": [0, 0, 1], "target": [0, 0, 0]}"#;
        assert!(parse(&format!(r#"{{"keys": [{key}]}}"#)).is_ok());
        for (text, part) in [
            ("".to_owned(), "not a camera path"),
            (r#"{"keys": []}"#.to_owned(), "at least one key"),
            (format!(r#"{{"keys": [{key}, {key}]}}"#), "keys[1] is not later"),
            (
                key.replace("[0, 0, 1]", "[0, 0, 0]"),
                "keys[0] has its target at its eye",
            ),
            (
                key.replace("\"time\": 0", "\"time\": 0, \"fov\": 0"),
                "keys[0] needs a fov",
            ),
            (key.replace("\"time\"", "\"when\""), "unknown field `when`"),
            (key.replace("[0, 0, 1]", "[0, 0, 1e39]"), "keys[0] has a number"),
        ] {
            let text = if text.starts_with("{\"time\"") || text.starts_with("{\"when\"") {
                format!(r#"{{"keys": [{text}]}}"#)
            } else {
                text
            };
            let why = parse(&text).unwrap_err();
            assert!(why.contains(part), "{text}: {why}");
        }
    }
}
