//! Provenance of a picture: its scene, settings, view and time, as text embedded in its file, from which the
//! picture can be rendered again.
//!
//! It contains nothing about the machine or the user. Files outside the picture's folder are recorded by name
//! only.

mod files;

use crate::{
    Error, Result,
    config::{self, Config, EnvironmentSource, Switch, affects_picture},
    output::embedded,
    scene::{Blend, Projection, framing::Viewpoint, saved_edits::SavedEdits},
};
pub use files::{FileRef, Search};
use files::{is_safe, kept_name};
use glam::{Mat4, Vec3};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};
use toml::Value;

/// Software name in the metadata of pictures.
pub const SOFTWARE: &str = concat!("canopy ", env!("CARGO_PKG_VERSION"));

/// Version of the text format. Later versions are rejected. Pictures of version 1 keep the sky as the
/// environment of scenes without one.
const FORMAT: u32 = 2;

/// Maximum number of scene files, and maximum number of hidden nodes.
const MAX_ENTRIES: usize = 100_000;

/// Maximum number of samples per pixel.
const MAX_SAMPLES: u32 = 4096;

/// Tolerance for the view's axes to be orthonormal.
const TOLERANCE: f32 = 1e-3;

/// Setting keys whose values are file paths.
const FILES: [&str; 2] = ["environment.file", "deviation.file"];

/// Provenance of a picture.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    format: u32,
    /// Version of canopy.
    version: String,
    /// Width and height in pixels.
    pub size: [u32; 2],
    /// Samples per pixel.
    pub samples: u32,
    /// Files of the scene. Empty for the built-in scene.
    files: Vec<FileRef>,
    /// Settings that differ from the defaults, plus the clip, its time and the material variant.
    settings: BTreeMap<String, Value>,
    view: StoredView,
    /// Channel shown. Empty for the lit picture.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub channel: String,
    /// Indices of the nodes that the user has hidden.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hidden: Vec<usize>,
    /// True if the user has edited materials or lights.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub edited: bool,
    /// Edits, or `None` if there are none or they are not stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edits: Option<SavedEdits>,
}

/// A camera in a readable form (`eye`, `target`, `up`, `fov`) and in an exact form, which is read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct StoredView {
    eye: [f32; 3],
    target: [f32; 3],
    up: [f32; 3],
    /// Vertical field of view in degrees, or `None` for an orthographic camera.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fov: Option<f32>,
    world_from_view: [f32; 16],
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fov_radians: Option<f32>,
    /// Half the height of the view in metres, for an orthographic camera.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    half_height: Option<f32>,
}

/// State that determines a picture, in addition to the settings.
#[derive(Debug, Clone, PartialEq)]
pub struct PictureInputs<'a> {
    /// Files of the scene.
    pub files: &'a [PathBuf],
    /// Index of the clip that plays.
    pub clip: Option<usize>,
    /// Blend of clips and morph weights.
    pub blend: Blend,
    /// Time in the clip, in seconds.
    pub time: f32,
    /// Index of the material variant.
    pub variant: Option<usize>,
    /// Camera pose and projection.
    pub viewpoint: Viewpoint,
    /// Distance from the camera to its target, in metres.
    pub distance: f32,
    /// Width and height in pixels.
    pub size: [u32; 2],
    /// Samples per pixel.
    pub samples: u32,
    /// Edits of materials and lights.
    pub edits: SavedEdits,
    /// Indices of the nodes that the user has hidden.
    pub hidden: Vec<usize>,
}

/// Part of the provenance that was left out of a picture's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Omitted {
    /// Edits and hidden nodes.
    Edits,
    /// Everything.
    All,
}

impl Omitted {
    /// Returns the message, to be placed after the name of the picture.
    pub fn text(self) -> &'static str {
        match self {
            Self::Edits => "does not store edits and hidden meshes: there are too many",
            Self::All => "does not store how it was made: the settings are too long",
        }
    }
}

impl Provenance {
    /// Creates the provenance of a picture that shows `shown` with the settings `config`. `folder` is the
    /// picture's folder, or `None` if it is not known yet.
    pub fn new(config: &Config, shown: &PictureInputs<'_>, folder: Option<&Path>) -> Self {
        let mut settings = config.picture_settings();
        // The view is stored separately.
        settings.remove("camera.name");
        settings.remove("camera.fov");
        // A still picture has no playback state.
        settings.remove("animation.play");
        for key in FILES {
            if let Some(Value::String(file)) = settings.get_mut(key) {
                *file = kept_name(Path::new(file), folder);
            }
        }
        let mut set = |key: &str, value: Value| settings.insert(key.into(), value);
        let morphs: Vec<_> = shown.blend.morph_texts().map(Value::String).collect();
        set("animation.clip", Value::String(shown.blend.text(shown.clip)));
        if !morphs.is_empty() {
            set("animation.morphs", Value::Array(morphs));
        }
        // Keeps the exact `f32`, since a shortened decimal would be a different number.
        set("animation.time", Value::Float(f64::from(shown.time)));
        match shown.variant {
            Some(variant) => set("scene.variant", Value::String(variant.to_string())),
            None => settings.remove("scene.variant"),
        };
        let files = shown.files.iter();
        Self {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").into(),
            size: shown.size,
            samples: shown.samples,
            files: files.map(|file| FileRef::new(file, folder)).collect(),
            settings,
            view: StoredView::new(&shown.viewpoint, shown.distance),
            channel: String::new(),
            hidden: shown.hidden.clone(),
            edited: !shown.edits.is_empty(),
            edits: Some(shown.edits.clone()).filter(|edits| !edits.is_empty()),
        }
    }

    /// Returns the text, with at most `most` bytes. If it would be longer or could not be read again, leaves
    /// out the edits and hidden nodes, or everything. Also returns the part that was left out.
    pub fn text_within(mut self, most: usize) -> (Option<String>, Option<Omitted>) {
        let fits = |made: &Self| {
            let text = (made.fault().is_none()).then(|| made.text());
            text.filter(|text| text.len() <= most)
        };
        if let Some(text) = fits(&self) {
            return (Some(text), None);
        }
        (self.hidden, self.edits) = (Vec::new(), None);
        match fits(&self) {
            Some(text) => (Some(text), Some(Omitted::Edits)),
            None => (None, Some(Omitted::All)),
        }
    }

    /// Returns the text for a picture's file, as ASCII-only JSON.
    pub fn text(&self) -> String {
        // Cannot fail, because every field has a JSON form.
        let json = serde_json::to_string(self).unwrap_or_default();
        let mut text = String::with_capacity(json.len());
        for c in json.chars() {
            match c.is_ascii() {
                true => text.push(c),
                false => {
                    let mut units = [0; 2];
                    let units = c.encode_utf16(&mut units).iter();
                    units.for_each(|unit| text.push_str(&format!("\\u{unit:04x}")));
                }
            }
        }
        text
    }

    /// Reads the provenance of the picture at `path`, or returns `None` if it has none.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the file cannot be read. [`Error::Scene`] if the text is invalid, too long or of a
    /// later version, or if it names files outside the picture's folder.
    pub fn read(path: &Path) -> Result<Option<Self>> {
        let Some(text) = embedded::find(path)? else {
            return Ok(None);
        };
        let found = parsed(&text).map_err(|what| Error::scene(path, what))?;
        Ok(Some(found))
    }

    /// Reads the provenance of a picture that must have one.
    ///
    /// # Errors
    ///
    /// Any error of [`Self::read`], and [`Error::Scene`] if the picture has none.
    pub fn required(path: &Path) -> Result<Self> {
        Self::read(path)?.ok_or_else(|| {
            let what = "is a picture without canopy settings, so its scene cannot be reopened";
            Error::scene(path, what)
        })
    }

    /// Returns the paths of the scene's files.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] if a file is missing. The message names it.
    pub fn files(&self, search: &Search<'_>) -> Result<Vec<PathBuf>> {
        self.files.iter().map(|file| search.find(file)).collect()
    }

    /// Sets everything in `config` that affects the picture, and leaves the rest unchanged. Returns a message
    /// for each key that was skipped, because this version does not know it or because it does not affect
    /// pictures.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] if the file that a setting refers to is missing.
    pub fn apply(&self, config: &mut Config, search: &Search<'_>) -> Result<Vec<String>> {
        self.apply_except(config, search, |_| false)
    }

    /// Applies the settings like [`Self::apply`], except file keys for which `given` is true, because the
    /// caller replaces their values. Their files need not exist.
    ///
    /// # Errors
    ///
    /// Any error of [`Self::apply`].
    pub fn apply_except(
        &self,
        config: &mut Config,
        search: &Search<'_>,
        given: impl Fn(&str) -> bool,
    ) -> Result<Vec<String>> {
        let mut set = config.without_picture_settings();
        let mut left = Vec::new();
        let names = |key| self.settings.contains_key(key);
        if self.format == 1 && !names("environment.file") && !names("environment.source") {
            set.environment.source = EnvironmentSource::Sky;
        }
        for (key, value) in &self.settings {
            if FILES.contains(&key.as_str()) && given(key) {
                continue;
            }
            if !affects_picture(key) {
                left.push(format!("{key}: is not a setting of a picture"));
                continue;
            }
            let mut value = value.clone();
            if let (Some(name), true) = (value.as_str(), FILES.contains(&key.as_str()))
                && !name.is_empty()
            {
                let found = search.find(&FileRef::named(name))?;
                value = Value::String(found.to_string_lossy().into_owned());
            }
            if let Err(error) = set.set("", key, value) {
                left.push(match error {
                    Error::Config { what, .. } => what,
                    other => other.to_string(),
                });
            }
        }
        set.animation.play = Switch::Off;
        if let Projection::Perspective { fov_y } = self.viewpoint().projection {
            set.camera.fov = fov_y.to_degrees();
        }
        *config = set;
        Ok(left)
    }

    /// Returns the camera.
    pub fn viewpoint(&self) -> Viewpoint {
        let fov_y = self.view.fov_radians.unwrap_or_default();
        Viewpoint {
            world_from_view: Mat4::from_cols_array(&self.view.world_from_view),
            projection: match self.view.half_height {
                Some(half_height) => Projection::Orthographic { half_height },
                None => Projection::Perspective { fov_y },
            },
        }
    }

    /// Validates the fields, and returns the first problem if there is one.
    fn fault(&self) -> Option<String> {
        if !self.size.iter().all(|side| config::Window::SIZE.contains(side)) {
            return Some(format!("a picture of {} × {} pixels", self.size[0], self.size[1]));
        }
        if !(1..=MAX_SAMPLES).contains(&self.samples) {
            return Some(format!("{} samples", self.samples));
        }
        if self.files.len() > MAX_ENTRIES || self.hidden.len() > MAX_ENTRIES {
            return Some(format!("more than {MAX_ENTRIES} files or hidden nodes"));
        }
        let of_settings = FILES.iter().filter_map(|key| self.settings.get(*key)?.as_str());
        let mut names = self.files.iter().map(FileRef::name).chain(of_settings);
        if let Some(name) = names.find(|name| !name.is_empty() && !is_safe(name)) {
            return Some(format!("the file {name:?} is not in the picture's folder"));
        }
        let edits = self.edits.as_ref().and_then(SavedEdits::fault);
        edits.or_else(|| self.view.fault().map(str::to_owned))
    }
}

fn parsed(text: &str) -> Result<Provenance, String> {
    let json: serde_json::Value =
        serde_json::from_str(text).map_err(|e| format!("its settings are broken: {e}"))?;
    let format = json.get("format").and_then(serde_json::Value::as_u64);
    if let Some(later) = format.filter(|format| *format > u64::from(FORMAT)) {
        let by = json.get("version").and_then(|version| version.as_str());
        let by = by.map_or(String::new(), |version| format!(" of canopy {version}"));
        return Err(format!(
            "its settings{by} have format {later}, which needs a newer canopy"
        ));
    }
    let found: Provenance =
        serde_json::from_value(json).map_err(|e| format!("its settings are broken: {e}"))?;
    match found.fault() {
        Some(what) => Err(format!("its settings are invalid: {what}")),
        None => Ok(found),
    }
}

impl StoredView {
    fn new(view: &Viewpoint, distance: f32) -> Self {
        let target = view.eye() + view.forward() * distance;
        let (fov_radians, half_height) = match view.projection {
            Projection::Perspective { fov_y } => (Some(fov_y), None),
            Projection::Orthographic { half_height } => (None, Some(half_height)),
        };
        Self {
            eye: view.eye().to_array(),
            target: target.to_array(),
            up: view.world_from_view.y_axis.truncate().to_array(),
            fov: fov_radians.map(f32::to_degrees),
            world_from_view: view.world_from_view.to_cols_array(),
            fov_radians,
            half_height,
        }
    }

    fn fault(&self) -> Option<&'static str> {
        let matrix = Mat4::from_cols_array(&self.world_from_view);
        if !matrix.is_finite() || matrix.row(3).to_array() != [0.0, 0.0, 0.0, 1.0] {
            return Some("the view matrix is not affine");
        }
        let [x, y, z] = [matrix.x_axis, matrix.y_axis, matrix.z_axis].map(|axis| axis.truncate());
        let is_one = |axis: Vec3| (axis.length() - 1.0).abs() < TOLERANCE;
        if ![x, y, z].into_iter().all(is_one) || x.cross(y).distance(z) > TOLERANCE {
            return Some("the axes of the view matrix are not a rotation");
        }
        let is_lens = match (self.fov_radians, self.half_height) {
            (Some(fov), None) => fov > 0.0 && fov < std::f32::consts::PI,
            (None, Some(half)) => half.is_finite() && half > 0.0,
            _ => false,
        };
        (!is_lens).then_some("the projection is missing or invalid")
    }
}

#[cfg(test)]
mod tests;
