//! `config.toml` as a [`Config`]: every default in one place, compiled in, with a user's values laid over it.

use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// The defaults, with their documentation.
const DEFAULTS: &str = include_str!("../config.toml");

/// Every setting, section by section as in `config.toml`, which documents each.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "config.toml is the documentation, key by key")]
pub struct Config {
    pub gpu: Gpu,
    pub window: Window,
    pub output: Output,
    pub load: Load,
    pub scene: Scene,
    pub animation: Animation,
    pub camera: Camera,
    pub tree: Tree,
    pub shadows: Shadows,
    pub occlusion: Occlusion,
    pub sun: Sun,
    pub environment: Environment,
    pub image: Image,
    pub exposure: Exposure,
}

/// Declares a section of the configuration.
macro_rules! section {
    ($(#[$doc:meta])* $name:ident { $($key:ident: $type:ty),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        #[expect(missing_docs, reason = "config.toml is the documentation, key by key")]
        pub struct $name { $(pub $key: $type),* }
    };
}

section!(/// `[gpu]`: which adapter.
Gpu { adapter: String, backend: String, arrays: ArrayMode, pipeline_cache: bool });
section!(/// `[window]`: the viewer's window.
Window { size: [u32; 2], vsync: bool, panel: bool, render_scale: f32, still_samples: u32 });
section!(/// `[output]`: images made without a window.
Output { size: [u32; 2], fps: f32 });
section!(/// `[load]`: what a file may cost.
Load {
    max_file_bytes: u64,
    max_total_bytes: u64,
    max_json_objects: u64,
    max_image_pixels: u64,
    max_environment_pixels: u64,
    max_texture_bytes: u64,
    max_triangles: u64,
    max_vertices: u64,
    max_empty_vertices: u64,
    max_nodes: u64,
    max_joints: u64,
    max_morph_targets: u64,
    max_morph_bytes: u64,
});
section!(/// `[scene]`: what of a scene is shown.
Scene { variant: String });
section!(/// `[animation]`: the clip and its time.
Animation { clip: String, time: f32, speed: f32, play: bool });
section!(/// `[camera]`: the first view.
Camera { name: String, fov: f32, speed: f32 });
section!(/// `[tree]`: how the trees are grown, and how rays use them.
Tree { leaf_cutoff: u32, code_bits: u32, rebuild: Rebuild, refit_growth: f32 });
section!(/// `[shadows]`: how light is blocked.
Shadows {
    mode: ShadowMode,
    compact_rays: bool,
    blended_cast: bool,
    map_resolution: u32,
    map_pcf_width: u32,
    map_depth_bias: f32,
    map_normal_bias: f32,
});
section!(/// `[occlusion]`: how much of the light from everywhere arrives.
Occlusion { mode: OcclusionMode, rays: u32, radius: f32, history: u32, filter: bool });
section!(/// `[sun]`: the light of scenes that have none.
Sun { enabled: Switch, direction: [f32; 3], strength: f32, color: [f32; 3] });
section!(/// `[environment]`: light from all around.
Environment {
    file: String,
    source: Source,
    color: [f32; 3],
    sun: bool,
    intensity: f32,
    rotation: f32,
    haze: f32,
    ground_albedo: f32,
    order: u32,
    face: u32,
    background: Background,
    blur: f32,
});
section!(/// `[image]`: from radiance to the screen.
Image { exposure: String, tonemap: Tonemap, antialias: Antialias, background: [f32; 3], anisotropy: u32 });
section!(/// `[exposure]`: how it follows the picture.
Exposure { percentiles: [f32; 2], compensation: f32, range: [f32; 2], adaptation: f32 });

impl Default for Config {
    #[expect(
        clippy::expect_used,
        reason = "the file is compiled in, and a test parses it"
    )]
    fn default() -> Self {
        toml::from_str(DEFAULTS).expect("config.toml is complete and valid")
    }
}

impl Config {
    /// The defaults, under the platform's `config.toml`, under `canopy.toml` in the current folder, under `explicit`, under
    /// `sets` (`KEY=VALUE`, the value in TOML, where a bare word is a string).
    ///
    /// # Errors
    ///
    /// [`Error::Io`] for a file that cannot be read, [`Error::Config`] naming origin and key for one that is wrong.
    pub fn load(explicit: Option<&Path>, sets: &[String]) -> Result<Self> {
        let mut config = Self::default();
        let implied = [user_file(), Some("canopy.toml".into())];
        for path in implied.into_iter().flatten() {
            match std::fs::read_to_string(&path) {
                Ok(text) => config.merge(&path.display().to_string(), &text)?,
                Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
                Err(e) => return Err(Error::io(path, e)),
            }
        }
        if let Some(path) = explicit {
            let text = std::fs::read_to_string(path).map_err(|e| Error::io(path, e))?;
            config.merge(&path.display().to_string(), &text)?;
        }
        for set in sets {
            config.set_text(set)?;
        }
        Ok(config)
    }

    /// Lays the keys of the TOML document `text` over these settings. `origin` is for messages.
    pub fn merge(&mut self, origin: &str, text: &str) -> Result<()> {
        let document: Table = toml::from_str(text).map_err(|e| {
            let line = e
                .span()
                .map(|span| 1 + text[..span.start].matches('\n').count());
            let place = line
                .map(|line| format!("line {line}: "))
                .unwrap_or_default();
            fault(origin, format!("{place}{}", one_line(e.message())))
        })?;
        for (section, keys) in document {
            let Value::Table(keys) = keys else {
                // A known section with a plain value, or a key outside of any section.
                self.section(origin, &section)?;
                return Err(fault(
                    origin,
                    format!("{section}: is a section, not a value"),
                ));
            };
            for (key, value) in keys {
                self.set(origin, &format!("{section}.{key}"), value)?;
            }
        }
        Ok(())
    }

    /// Sets what `--set KEY=VALUE` asks for.
    fn set_text(&mut self, set: &str) -> Result<()> {
        let origin = "--set";
        let Some((key, text)) = set.split_once('=') else {
            return Err(fault(origin, format!("\"{set}\" is not KEY=VALUE")));
        };
        let (key, text) = (key.trim(), text.trim());
        let value = toml::from_str::<Table>(&format!("value = {text}"))
            .ok()
            .filter(|table| table.len() == 1)
            .and_then(|mut table| table.remove("value"));
        // `camera.name=007` names a camera: no number's spelling may get between.
        let value = match value {
            Some(value) if !(self.is_text(key) && is_number(&value)) => value,
            _ => Value::String(text.into()),
        };
        self.set(origin, key, value)
    }

    /// Sets one key, such as `shadows.mode`. `origin` is for messages.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] for an unknown key, or a value of the wrong type or out of its range; then nothing has changed.
    pub fn set(&mut self, origin: &str, key: &str, value: impl Into<Value>) -> Result<()> {
        let mut value = value.into();
        let Some((section, name)) = key.split_once('.') else {
            self.section(origin, key)?;
            return Err(fault(
                origin,
                format!("{key}: is a section; a key is written SECTION.KEY"),
            ));
        };
        let keys = self.section(origin, section)?;
        if !keys.contains_key(name) {
            let known: Vec<_> = keys.keys().map(String::as_str).collect();
            let what = format!("{key}: unknown key; [{section}] has {}", known.join(", "));
            return Err(fault(origin, what));
        }
        if self.is_text(key) && is_number(&value) {
            value = Value::String(value.to_string());
        }
        let mut table = self.table();
        if let Some(Value::Table(keys)) = table.get_mut(section) {
            keys.insert(name.into(), value);
        }
        let config: Self = table.try_into().map_err(|e: toml::de::Error| {
            fault(origin, format!("{key}: {}", one_line(e.message())))
        })?;
        if let Some((key, what)) = config.out_of_range() {
            return Err(fault(origin, format!("{key}: {what}")));
        }
        *self = config;
        Ok(())
    }

    /// These settings as TOML.
    fn table(&self) -> Table {
        // Every field has a TOML form, so this cannot fail; an empty table would be reported as unknown keys.
        Table::try_from(self).unwrap_or_default()
    }

    /// The keys of a section.
    fn section(&self, origin: &str, section: &str) -> Result<Table> {
        let table = self.table();
        match table.get(section) {
            Some(Value::Table(keys)) => Ok(keys.clone()),
            _ => {
                let known: Vec<_> = table.keys().map(String::as_str).collect();
                let what = format!("{section}: unknown section; there are {}", known.join(", "));
                Err(fault(origin, what))
            }
        }
    }

    /// Whether `key` holds text, which may look like a number.
    fn is_text(&self, key: &str) -> bool {
        let value = key
            .split_once('.')
            .and_then(|(section, name)| self.table().get(section)?.get(name).cloned());
        value.is_some_and(|value| value.is_str())
    }

    /// Whether the sun shines on a scene with or without lights of its own.
    pub fn has_sun(&self, has_lights: bool) -> bool {
        match self.sun.enabled {
            Switch::On => true,
            Switch::Off => false,
            // Pictures of a sky hold its sun.
            Switch::Auto => !has_lights && !self.environment.is_file(),
        }
    }

    /// The first key whose value is out of its range, and why.
    fn out_of_range(&self) -> Option<(&'static str, String)> {
        let pixels = |size: [u32; 2]| size.map(|side| side as f32).to_vec();
        let one = |value: f32| vec![value];
        let all = |color: [f32; 3]| color.to_vec();
        let (shadows, sun, environment) = (&self.shadows, &self.sun, &self.environment);
        let limits = [
            ("window.size", pixels(self.window.size), 1.0..=16384.0),
            (
                "window.still_samples",
                one(self.window.still_samples as f32),
                1.0..=1024.0,
            ),
            ("output.size", pixels(self.output.size), 1.0..=16384.0),
            ("output.fps", one(self.output.fps), 0.001..=1e6),
            ("animation.time", one(self.animation.time), -1e6..=1e6),
            ("animation.speed", one(self.animation.speed), -1e3..=1e3),
            ("camera.fov", one(self.camera.fov), 1.0..=170.0),
            ("camera.speed", one(self.camera.speed), 1e-6..=1e6),
            (
                "tree.leaf_cutoff",
                one(self.tree.leaf_cutoff as f32),
                1.0..=32.0,
            ),
            (
                "tree.refit_growth",
                one(self.tree.refit_growth),
                1.0..=100.0,
            ),
            (
                "shadows.map_resolution",
                one(shadows.map_resolution as f32),
                64.0..=8192.0,
            ),
            (
                "shadows.map_pcf_width",
                one(shadows.map_pcf_width as f32),
                1.0..=7.0,
            ),
            (
                "shadows.map_depth_bias",
                one(shadows.map_depth_bias),
                0.0..=1e3,
            ),
            (
                "shadows.map_normal_bias",
                one(shadows.map_normal_bias),
                0.0..=1e3,
            ),
            (
                "occlusion.rays",
                one(self.occlusion.rays as f32),
                1.0..=16.0,
            ),
            ("occlusion.radius", one(self.occlusion.radius), 0.0..=1e6),
            (
                "occlusion.history",
                one(self.occlusion.history as f32),
                1.0..=1000.0,
            ),
            ("sun.strength", one(sun.strength), 0.0..=1e9),
            ("sun.color", all(sun.color), 0.0..=1e6),
            ("environment.color", all(environment.color), 0.0..=1e6),
            (
                "environment.intensity",
                one(environment.intensity),
                0.0..=1e9,
            ),
            (
                "environment.rotation",
                one(environment.rotation),
                -1e6..=1e6,
            ),
            ("environment.haze", one(environment.haze), 0.0..=20.0),
            (
                "environment.ground_albedo",
                one(environment.ground_albedo),
                0.0..=1.0,
            ),
            ("environment.blur", one(environment.blur), 0.0..=1.0),
            ("image.background", all(self.image.background), 0.0..=1e6),
            (
                "image.anisotropy",
                one(self.image.anisotropy as f32),
                1.0..=16.0,
            ),
            (
                "exposure.percentiles",
                self.exposure.percentiles.to_vec(),
                0.0..=100.0,
            ),
            (
                "exposure.compensation",
                one(self.exposure.compensation),
                -16.0..=16.0,
            ),
            ("exposure.range", self.exposure.range.to_vec(), -64.0..=64.0),
            (
                "exposure.adaptation",
                one(self.exposure.adaptation),
                0.0..=10.0,
            ),
        ];
        for (key, values, range) in limits {
            // NaN is in no range.
            if let Some(value) = values.into_iter().find(|value| !range.contains(value)) {
                let (least, most) = (range.start(), range.end());
                return Some((key, format!("{value} is outside {least} to {most}")));
            }
        }
        self.other_faults()
    }

    /// What a range cannot say.
    fn other_faults(&self) -> Option<(&'static str, String)> {
        let scale = self.window.render_scale;
        if scale != 0.0 && !(0.25..=1.0).contains(&scale) {
            return Some((
                "window.render_scale",
                format!("{scale} is neither 0 (automatic) nor within 0.25 to 1"),
            ));
        }
        let bits = self.tree.code_bits;
        if ![0, 30, 63].contains(&bits) {
            return Some((
                "tree.code_bits",
                format!("{bits} is none of 0 (automatic), 30 and 63"),
            ));
        }
        let order = self.environment.order;
        if ![3, 5].contains(&order) {
            return Some(("environment.order", format!("{order} is neither 3 nor 5")));
        }
        let face = self.environment.face;
        if face != 0 && !(8..=2048).contains(&face) {
            return Some((
                "environment.face",
                format!("{face} is neither 0 (automatic) nor within 8 to 2048"),
            ));
        }
        let width = self.shadows.map_pcf_width;
        if width.is_multiple_of(2) {
            return Some((
                "shadows.map_pcf_width",
                format!("{width} is none of 1, 3, 5 and 7"),
            ));
        }
        let direction = glam::Vec3::from(self.sun.direction);
        if direction.try_normalize().is_none() {
            return Some(("sun.direction", format!("{direction} has no direction")));
        }
        let exposure = &self.image.exposure;
        let ev = exposure.parse::<f32>().unwrap_or(f32::NAN);
        if !["auto", "histogram"].contains(&exposure.as_str()) && !(-64.0..=64.0).contains(&ev) {
            return Some((
                "image.exposure",
                format!("\"{exposure}\" is neither \"auto\", \"histogram\" nor a number of stops"),
            ));
        }
        let [low, high] = self.exposure.percentiles;
        if high < low + 1.0 {
            let what = format!("{high} is not at least 1 above {low}");
            return Some(("exposure.percentiles", what));
        }
        let [least, most] = self.exposure.range;
        if most < least {
            return Some(("exposure.range", format!("ends at {most}, below {least}")));
        }
        None
    }
}

impl Occlusion {
    /// Whether rays are sent on an adapter on which several a pixel are fast, or are not.
    pub fn sends_rays(&self, fast_rays: bool) -> bool {
        match self.mode {
            OcclusionMode::Auto => fast_rays,
            OcclusionMode::Off => false,
            OcclusionMode::Rays => true,
        }
    }
}

impl Image {
    /// The exposure in stops; `None` when it is chosen automatically.
    pub fn exposure_ev(&self) -> Option<f32> {
        self.exposure.parse().ok()
    }

    /// Whether the exposure follows the picture.
    pub fn is_metered(&self) -> bool {
        self.exposure == "histogram"
    }
}

/// The person's own file in the platform's folder for such.
fn user_file() -> Option<PathBuf> {
    let folders = directories::ProjectDirs::from("", "", "canopy")?;
    Some(folders.config_dir().join("config.toml"))
}

fn fault(origin: &str, what: impl Into<String>) -> Error {
    Error::Config {
        origin: origin.into(),
        what: what.into(),
    }
}

fn is_number(value: &Value) -> bool {
    value.is_integer() || value.is_float()
}

fn one_line(message: &str) -> String {
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// When trees are built again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rebuild {
    /// All of them in every frame.
    Frame,
    /// Those of meshes whose vertices have changed.
    Changed,
    /// Where boxes that follow the triangles no longer do.
    Refit,
}

impl Rebuild {
    /// All policies, in the order of lists.
    pub const ALL: [Self; 3] = [Self::Frame, Self::Changed, Self::Refit];

    /// The name in `config.toml` and in lists.
    pub fn name(self) -> &'static str {
        match self {
            Self::Frame => "frame",
            Self::Changed => "changed",
            Self::Refit => "refit",
        }
    }
}

/// How shadows are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ShadowMode {
    /// No shadows.
    Off,
    /// Shadow maps.
    Map,
    /// Rays through the trees.
    Rays,
}

/// Where light from all around comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// The file, where one is named; else the sky.
    Auto,
    /// The sky.
    Sky,
    /// A colour that is the same everywhere.
    Color,
}

/// What is seen behind the scene.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Background {
    /// The environment.
    Environment,
    /// `image.background`.
    Color,
}

impl Sun {
    /// Unit vector to it.
    pub fn to_sun(&self) -> glam::Vec3 {
        -glam::Vec3::from(self.direction)
            .try_normalize()
            .unwrap_or(glam::Vec3::NEG_Y)
    }
}

impl Environment {
    /// Whether light comes from the file.
    pub fn is_file(&self) -> bool {
        self.source == Source::Auto && !self.file.is_empty()
    }

    /// Whether light comes from the sky.
    pub fn is_sky(&self) -> bool {
        self.source != Source::Color && !self.is_file()
    }
}

/// How what is open of the light from everywhere is found out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OcclusionMode {
    /// By rays, but not on software adapters.
    Auto,
    /// Not at all: everything is open.
    Off,
    /// By rays through the trees.
    Rays,
}

impl OcclusionMode {
    /// All of them, in the order of lists.
    pub const ALL: [Self; 3] = [Self::Auto, Self::Off, Self::Rays];

    /// The name in `config.toml` and in lists.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Off => "off",
            Self::Rays => "rays",
        }
    }
}

/// On, off, or as the scene needs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Switch {
    /// When the scene has none of its own.
    Auto,
    /// Always.
    On,
    /// Never.
    Off,
}

/// How large arrays are read on the GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ArrayMode {
    /// As is fastest on the kind of adapter.
    Auto,
    /// From storage buffers.
    Buffers,
    /// From textures.
    Textures,
}

/// How steps of edges are smoothed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Antialias {
    /// Not at all.
    Off,
    /// By their shape (SMAA).
    Smaa,
}

/// The curve from radiance to display, in the order of its numbers in shaders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tonemap {
    /// Clip at one.
    None,
    /// Reinhard's x / (1 + x).
    Reinhard,
    /// Hill's fit of the ACES reference and output transforms.
    Aces,
    /// Khronos PBR Neutral.
    Neutral,
    /// Troy Sobotka's AgX, its base look.
    Agx,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(result: Result<impl Sized>) -> String {
        result.map(drop).unwrap_err().to_string()
    }

    #[test]
    fn defaults_are_in_range() {
        assert_eq!(Config::default().out_of_range(), None);
    }

    /// Every key stands in config.toml with a comment or under a name that says it all, and can be set.
    #[test]
    fn every_key_is_in_the_file_and_can_be_set() {
        let default = Config::default();
        let written: Table = toml::from_str(DEFAULTS).unwrap();
        for (section, keys) in default.table() {
            for (key, value) in keys.as_table().unwrap() {
                let key = format!("{section}.{key}");
                assert!(
                    written[&section]
                        .get(key.rsplit('.').next().unwrap())
                        .is_some(),
                    "{key}"
                );
                let mut config = default.clone();
                config
                    .set_text(&format!("{key}={value}"))
                    .unwrap_or_else(|e| panic!("{e}"));
                assert_eq!(config, default, "{key}");
            }
        }
    }

    #[test]
    fn layers_merge_key_by_key() {
        let mut config = Config::default();
        config.merge("a", "[shadows]\nmode = \"map\"").unwrap();
        config
            .merge("b", "[shadows]\nmap_pcf_width = 5\n[camera]\nfov = 60")
            .unwrap();
        assert_eq!(config.shadows.mode, ShadowMode::Map);
        assert_eq!(config.shadows.map_pcf_width, 5);
        assert_eq!(config.camera.fov, 60.0);
        assert_eq!(
            config.shadows.map_resolution,
            Config::default().shadows.map_resolution
        );
    }

    #[test]
    fn sets_take_toml_and_bare_words() {
        let mut config = Config::default();
        for set in [
            "shadows.mode=map",
            "image.tonemap=\"aces\"",
            "sun.direction=[0, -1, 0.5]",
            "camera.name=007",
            "image.exposure=-1.5",
            "animation.clip = Run fast",
            "camera.fov=30",
        ] {
            config.set_text(set).unwrap();
        }
        assert_eq!(config.shadows.mode, ShadowMode::Map);
        assert_eq!(config.image.tonemap, Tonemap::Aces);
        assert_eq!(config.sun.direction, [0.0, -1.0, 0.5]);
        assert_eq!(config.camera.name, "007");
        assert_eq!(config.image.exposure_ev(), Some(-1.5));
        assert_eq!(config.animation.clip, "Run fast");
        assert_eq!(config.camera.fov, 30.0);
    }

    #[test]
    fn faults_name_origin_and_key() {
        let mut config = Config::default();
        for (text, expected) in [
            (
                "[shadows]\nmode = \"foo\"",
                "f: shadows.mode: unknown variant `foo`, expected one of `off`, `map`, `rays`",
            ),
            (
                "[shadows]\nmodes = 1",
                "f: shadows.modes: unknown key; [shadows] has ",
            ),
            ("[shade]\nmode = 1", "f: shade: unknown section; there are "),
            ("shadows = 1", "f: shadows: is a section, not a value"),
            (
                "[tree]\nleaf_cutoff = 33",
                "f: tree.leaf_cutoff: 33 is outside 1 to 32",
            ),
            (
                "[tree]\nrefit_growth = 0.5",
                "f: tree.refit_growth: 0.5 is outside 1 to 100",
            ),
            (
                "[tree]\nrebuild = \"never\"",
                "f: tree.rebuild: unknown variant `never`, expected one of `frame`, `changed`, `refit`",
            ),
            (
                "[tree]\nleaf_cutoff = -1",
                "f: tree.leaf_cutoff: invalid value",
            ),
            (
                "[camera]\nfov = nan",
                "f: camera.fov: NaN is outside 1 to 170",
            ),
            ("[sun]\ndirection = [0, 0, 0]", "f: sun.direction: "),
            ("[sun]\ndirection = [0, 0]", "f: sun.direction: "),
            (
                "[image]\nexposure = \"bright\"",
                "f: image.exposure: \"bright\" is neither",
            ),
            (
                "[image]\ntonemap = \"linear\"",
                "f: image.tonemap: unknown variant `linear`, expected one of `none`, `reinhard`",
            ),
            (
                "[exposure]\npercentiles = [50, 50.5]",
                "f: exposure.percentiles: 50.5 is not at least 1 above 50",
            ),
            (
                "[exposure]\nadaptation = -1",
                "f: exposure.adaptation: -1 is outside 0 to 10",
            ),
            (
                "[exposure]\nrange = [1, -1]",
                "f: exposure.range: ends at -1, below 1",
            ),
            ("[window]\nvsync = 3", "f: window.vsync: invalid type"),
            ("\n[sun", "f: line 2: "),
        ] {
            let message = message(config.merge("f", text));
            assert!(message.starts_with(expected), "{message}");
            assert!(!message.contains('\n'), "{message}");
        }
        assert_eq!(config, Config::default());
        assert_eq!(
            message(config.set_text("tree.leaf_cutoff")),
            "--set: \"tree.leaf_cutoff\" is not KEY=VALUE"
        );
        assert!(
            message(config.set_text("shadows.map_pcf_width=4")).contains("none of 1, 3, 5 and 7")
        );
    }
}
