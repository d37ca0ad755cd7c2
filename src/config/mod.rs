//! `config.toml` as a [`Config`]. The file with all defaults is compiled in, and the user's values are
//! applied on top.

#[cfg(feature = "viewer")]
mod candidates;
#[cfg(feature = "viewer")]
mod changes;
mod closest;
pub mod declared;
pub mod explain;
mod keys;
pub mod layered;
pub mod looks;
mod of_pictures;
mod sections;

#[cfg(feature = "viewer")]
pub use candidates::KeyDescription;
pub use canopy_lab::settings::{Lab, LabRays, LabShow, LabStructure, LabTest, LabThreads, LabWalk};
pub use canopy_render::settings::{
    AdapterTraits, Animation, Antialias, Ascending, Background, BoxDepths, BoxTrees, Camera, CameraMode,
    Cost, CostCount, DepthOfField, Deviation, Direction, Environment, EnvironmentSource, Exposure,
    ExposureMode, Fog, GroundMode, HitOrder, Image, ImageMode, IndirectLight, Lights, Load, Materials,
    Occlusion, OcclusionMode, Overlay, PathKernels, Paths, RayListing, Rebuild, ReflectionMode, Reflections,
    Scene, ShadowMode, Shadows, Sun, Switch, Tonemap, Tree, TreeBoxes, TreeQuality, UpAxis, VolumeTransfer,
    Volumes, ZeroOr,
};
pub(crate) use closest::closest;
pub use keys::{BoundKeys, Keys};
pub use of_pictures::affects_picture;
pub use sections::{ArrayMode, Gpu, Output, RayBoxes, RayStack, Theme, Window};

use crate::{Error, Result};
use canopy_render::settings::Settings as FrameSettings;
use canopy_scene::{
    settings,
    settings::{DEFAULTS, Expectation, Sections as _},
};
use std::{collections::HashMap, sync::LazyLock};
use toml::{Table, Value};

settings! {
    /// Every setting. The sections are those of `config.toml`, which documents each key.
    Config {
        gpu: Gpu,
        window: Window,
        output: Output,
        lab: Lab,
    }
    over frame: FrameSettings;
    with keys: Keys;
}

/// Section without a fixed set of keys. Its keys are actions, which only the viewer knows.
const FREE: &str = "keys";

impl Config {
    /// Returns a copy whose frame settings are [resolved](FrameSettings::resolved).
    pub fn resolved(&self, adapter: AdapterTraits) -> Self {
        let mut config = self.clone();
        config.frame = self.frame.resolved(adapter);
        config
    }

    /// Returns a copy whose frame settings are [adapted to a still picture](FrameSettings::for_still).
    pub fn for_still(&self) -> Self {
        let mut config = self.clone();
        config.frame = self.frame.for_still();
        config
    }

    /// Applies the keys of the TOML document `text`. `origin` names its source in messages.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] if `text` is not valid TOML, and any error of [`Self::set`].
    pub fn merge(&mut self, origin: &str, text: &str) -> Result<()> {
        for (key, value) in document(self, origin, text)? {
            self.set(origin, &key, value)?;
        }
        Ok(())
    }

    /// Sets one key from `KEY=VALUE`, the form of `--set`, and returns the key. `origin` names its source in
    /// messages.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] if there is no `=`, and any error of [`Config::set`].
    pub fn set_text(&mut self, origin: &str, set: &str) -> Result<String> {
        let Some((key, text)) = set.split_once('=') else {
            return Err(fault(origin, format!("\"{set}\" is not KEY=VALUE")));
        };
        let (key, text) = (key.trim(), text.trim());
        let value = toml::from_str::<Table>(&format!("value = {text}"))
            .ok()
            .filter(|table| table.len() == 1)
            .and_then(|mut table| table.remove("value"));
        // `camera.name=007` names a camera, so text that looks like a number keeps its spelling.
        let value = match value {
            Some(value) if !(self.is_text(key) && is_number(&value)) => value,
            _ => Value::String(text.into()),
        };
        self.set(origin, key, value)?;
        Ok(key.into())
    }

    /// Sets one key, such as `shadows.mode`. `origin` names its source in messages.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] for an unknown key, or for a value of the wrong type or outside its range. The
    /// settings are then unchanged.
    pub fn set(&mut self, origin: &str, key: &str, value: impl Into<Value>) -> Result<()> {
        let mut value = value.into();
        let Some((section, name)) = key.split_once('.') else {
            self.section(origin, key, key)?;
            return Err(fault(
                origin,
                format!("{key}: is a section; a key is written SECTION.KEY"),
            ));
        };
        let keys = self.section(origin, section, key)?;
        if !keys.contains_key(name) && section != FREE {
            let known: Vec<_> = keys.keys().map(String::as_str).collect();
            let hint = match closest::closest_key(key, &Self::keys()) {
                Some(known) => format!("did you mean {known}?"),
                None => format!("[{section}] has {}", known.join(", ")),
            };
            return Err(fault(origin, format!("{key}: unknown key; {hint}")));
        }
        if self.is_text(key) && is_number(&value) {
            value = Value::String(value.to_string());
        }
        let given = value.to_string();
        let mut table = self.table();
        if let Some(Value::Table(keys)) = table.get_mut(section) {
            keys.insert(name.into(), value);
        }
        let mut config: Self = table.try_into().map_err(|e: toml::de::Error| {
            if section == FREE {
                return fault(origin, format!("{key}: {}", one_line(e.message())));
            }
            let all = Self::expected().iter();
            let expected = all.filter(|(of, key, _)| (*of, *key) == (section, name));
            let expected: String = expected.map(|(.., expected)| expected.as_str()).collect();
            let given = shortened(&given);
            fault(origin, format!("{key}: expected {expected}, got {given}"))
        })?;
        config.keys.keep_origins(&self.keys);
        if section == "keys" {
            config.keys.set_origin(name, origin);
        }
        if let Some((key, why)) = config.value_fault() {
            return Err(fault(origin, format!("{key}: {why}")));
        }
        *self = config;
        Ok(())
    }

    /// Returns the smallest and largest number that `key` accepts, not counting a 0 that means automatic.
    pub fn range(key: &str) -> Option<[f64; 2]> {
        static ALL: LazyLock<HashMap<String, [f64; 2]>> = LazyLock::new(|| {
            let all = Config::ranges().into_iter();
            all.map(|(section, key, ends)| (format!("{section}.{key}"), ends))
                .collect()
        });
        ALL.get(key).copied()
    }

    /// Returns every key with a text of the values that it accepts, in the order of `config.toml`.
    fn expected() -> &'static [Expectation] {
        static ALL: LazyLock<Vec<Expectation>> = LazyLock::new(|| {
            let mut all = Config::expectations();
            all.sort_by_cached_key(|(section, ..)| DEFAULTS.find(&format!("\n[{section}]")));
            all
        });
        &ALL
    }

    /// Returns every key, `SECTION.KEY`, in the order of `config.toml`.
    pub fn keys() -> Vec<String> {
        let keys = Self::expected().iter();
        keys.map(|(section, key, _)| format!("{section}.{key}")).collect()
    }

    /// Returns every key like [`Self::keys`], followed by the keys of `[keys]` that the user has set.
    pub fn set_keys(&self) -> Vec<String> {
        let bound = self.keys.iter().map(|(name, _)| format!("keys.{name}"));
        Self::keys().into_iter().chain(bound).collect()
    }

    /// Returns the value of `key`.
    pub fn value(&self, key: &str) -> Option<Value> {
        let (section, name) = key.split_once('.')?;
        let value = self.table().get(section)?.get(name)?.clone();
        Some(with_short_numbers(value))
    }

    /// Returns the keys whose values differ from the defaults, with their values.
    pub fn not_default(&self) -> Vec<(String, Value)> {
        let defaults = Self::default();
        let keys = self.set_keys().into_iter();
        let valued = keys.filter_map(|key| self.value(&key).map(|value| (key, value)));
        let differs = |(key, value): &(String, Value)| defaults.value(key).as_ref() != Some(value);
        valued.filter(differs).collect()
    }

    /// Converts the settings to TOML.
    fn table(&self) -> Table {
        // Cannot fail, because every field has a TOML form. An empty table would be reported as unknown keys.
        Table::try_from(self).unwrap_or_default()
    }

    /// Returns the keys of a section with their values. `key` is the text that the user wrote, for the error
    /// message.
    fn section(&self, origin: &str, section: &str, key: &str) -> Result<Table> {
        let table = self.table();
        match table.get(section) {
            Some(Value::Table(keys)) => Ok(keys.clone()),
            _ => {
                let known: Vec<_> = table.keys().map(String::as_str).collect();
                let hint = match closest::closest_key(key, &Self::keys()) {
                    Some(known) if key.contains('.') || origin == "--set" => {
                        format!("did you mean {known}?")
                    }
                    _ => match closest(section, known.iter().copied()) {
                        Some(known) => format!("did you mean [{known}]?"),
                        None => format!("sections are {}", known.join(", ")),
                    },
                };
                Err(fault(origin, format!("{section}: unknown section; {hint}")))
            }
        }
    }

    /// True if `key` holds text, which may look like a number.
    fn is_text(&self, key: &str) -> bool {
        key.starts_with("keys.") || self.value(key).is_some_and(|value| value.is_str())
    }
}

/// Returns the keys of the TOML document `text`, as `SECTION.KEY`, with their values.
fn document(config: &Config, origin: &str, text: &str) -> Result<Vec<(String, Value)>> {
    let document: Table = toml::from_str(text).map_err(|e| {
        let line = e.span().map(|span| 1 + text[..span.start].matches('\n').count());
        let place = line.map(|line| format!("line {line}: ")).unwrap_or_default();
        fault(origin, format!("{place}{}", one_line(e.message())))
    })?;
    let mut all = Vec::new();
    for (section, keys) in document {
        let Value::Table(keys) = keys else {
            // Fails for a key outside of any section, or for a section that has a plain value.
            config.section(origin, &section, &section)?;
            return Err(fault(origin, format!("{section}: is a section, not a value")));
        };
        config.section(origin, &section, &section)?;
        all.extend(
            keys.into_iter()
                .map(|(key, value)| (format!("{section}.{key}"), value)),
        );
    }
    Ok(all)
}

/// Shortens a value to one line that fits a message.
fn shortened(value: &str) -> String {
    const LONGEST: usize = 60;
    let line = one_line(value);
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
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

/// Rounds numbers to `f32`, the precision of settings. As an `f64`, 0.35 would print sixteen digits.
fn with_short_numbers(value: Value) -> Value {
    match value {
        Value::Float(number) => {
            let short = (number as f32).to_string().parse();
            Value::Float(short.unwrap_or(number))
        }
        Value::Array(values) => Value::Array(values.into_iter().map(with_short_numbers).collect()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(result: Result<impl Sized>) -> String {
        result.map(drop).unwrap_err().to_string()
    }

    #[test]
    fn defaults_are_in_range() {
        assert_eq!(Config::default().value_fault(), None);
    }

    /// Every key is in config.toml and can be set to its own value.
    #[test]
    fn every_setting_is_in_the_default_file_and_can_be_set() {
        let default = Config::default();
        let written: Table = toml::from_str(DEFAULTS).unwrap();
        for (section, keys) in default.table() {
            for (key, value) in keys.as_table().unwrap() {
                let key = format!("{section}.{key}");
                assert!(
                    written[&section].get(key.rsplit('.').next().unwrap()).is_some(),
                    "{key}"
                );
                let mut config = default.clone();
                config
                    .set_text("--set", &format!("{key}={value}"))
                    .unwrap_or_else(|e| panic!("{e}"));
                assert_eq!(config, default, "{key}");
            }
        }
    }

    /// A range in a comment of config.toml equals the declared range.
    #[test]
    fn the_file_documents_the_declared_ranges() {
        let mut documented = 0;
        for (section, key, declared) in Config::limits() {
            let line = documentation(section, key);
            let words: Vec<&str> = line.split(|c: char| !c.is_alphanumeric() && c != '.').collect();
            let ranges = words.windows(3).filter(|words| {
                words[1] == "to" && words[0].parse::<f32>().is_ok() && words[2].parse::<f32>().is_ok()
            });
            for range in ranges {
                let range = range.join(" ");
                assert_eq!(range.trim_end_matches('.'), declared, "{section}.{key}");
                documented += 1;
            }
        }
        assert!(documented > 8, "only {documented} ranges were found");
    }

    /// Returns the comment after a key in config.toml.
    fn documentation(section: &str, key: &str) -> &'static str {
        let of_section = DEFAULTS.split(&format!("\n[{section}]")).nth(1).unwrap();
        let of_section = of_section.split("\n[").next().unwrap();
        let of_key = of_section
            .lines()
            .find(|line| line.starts_with(&format!("{key} =")));
        of_key.unwrap().split_once('#').map_or("", |(_, comment)| comment)
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
    fn set_options_accept_toml_and_bare_words() {
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
            config.set_text("--set", set).unwrap();
        }
        assert_eq!(config.shadows.mode, ShadowMode::Map);
        assert_eq!(config.image.tonemap, Tonemap::Aces);
        assert_eq!(config.sun.direction, [0.0, -1.0, 0.5]);
        assert_eq!(config.camera.name, "007");
        assert_eq!(config.image.exposure, ExposureMode::Stops(-1.5));
        assert_eq!(config.animation.clip, "Run fast");
        assert_eq!(config.camera.fov, 30.0);
    }

    /// Key bindings are text, even where TOML would read a number, and know their origin.
    #[test]
    fn key_bindings_are_read_as_text_with_their_origin() {
        let mut config = Config::default();
        config
            .merge("a", "[keys]\nframe = [\"G\", \"\"]\nplay = \"P\"\npanel = \"\"")
            .unwrap();
        for set in ["keys.play=5", "keys.reset=[", "keys.quit=Ctrl+W", "camera.fov=30"] {
            config.set_text("--set", set).unwrap();
        }
        let keys = |name| {
            let bound = config.keys.get(name).unwrap();
            (bound.keys.join(" "), bound.origin.as_str())
        };
        assert_eq!(keys("frame"), ("G".into(), "a"));
        assert_eq!(keys("panel"), (String::new(), "a"));
        assert_eq!(keys("play"), ("5".into(), "--set"));
        assert_eq!(keys("reset"), ("[".into(), "--set"));
        assert_eq!(keys("quit"), ("Ctrl+W".into(), "--set"));
        assert_eq!(config.keys.iter().count(), 5);
    }

    /// Words and numbers in stops round-trip through TOML.
    #[test]
    fn exposure_modes_round_trip_as_words_or_stops() {
        let mut config = Config::default();
        for (text, mode) in [
            ("\"auto\"", ExposureMode::Auto),
            ("\"histogram\"", ExposureMode::Histogram),
            ("\"-1.5\"", ExposureMode::Stops(-1.5)),
            ("2", ExposureMode::Stops(2.0)),
            ("0.1", ExposureMode::Stops(0.1)),
        ] {
            let document = format!("[image]\nexposure = {text}");
            config.merge("f", &document).unwrap();
            assert_eq!(config.image.exposure, mode);
            let written = String::from(config.image.exposure);
            assert_eq!(ExposureMode::try_from(written), Ok(mode));
        }
    }

    #[test]
    fn config_errors_name_origin_and_key() {
        let mut config = Config::default();
        for (text, expected) in [
            (
                "[shadows]\nmode = \"foo\"",
                "f: shadows.mode: expected off, map or rays, got \"foo\"",
            ),
            (
                "[shadows]\nmodes = 1",
                "f: shadows.modes: unknown key; did you mean shadows.mode?",
            ),
            (
                "[shadows]\nteapot = 1",
                "f: shadows.teapot: unknown key; [shadows] has blended_cast, ",
            ),
            (
                "[shadow]\nmode = 1",
                "f: shadow: unknown section; did you mean [shadows]?",
            ),
            ("[teapot]\nlid = 1", "f: teapot: unknown section; sections are "),
            (
                "[shadows]\nmap_resolution = \"big\"",
                "f: shadows.map_resolution: expected a whole number from 64 to 8192, got \"big\"",
            ),
            (
                "[shadows]\nmap_pcf_width = [3]",
                "f: shadows.map_pcf_width: expected 1, 3, 5 or 7, got [3]",
            ),
            (
                "[window]\nrender_scale = \"half\"",
                "f: window.render_scale: expected 0 (automatic), or a number from 0.25 to 1, got \"half\"",
            ),
            (
                "[window]\nsize = [1, 2, 3]",
                "f: window.size: expected a list of 2 whole numbers from 1 to 16384, got [1, 2, 3]",
            ),
            (
                "[exposure]\npercentiles = 5",
                "f: exposure.percentiles: expected a list of 2 numbers from 0 to 100, the second at least 1 \
                 above the first, got 5",
            ),
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
                "f: tree.rebuild: expected frame, changed or refit, got \"never\"",
            ),
            (
                "[tree]\nleaf_cutoff = -1",
                "f: tree.leaf_cutoff: expected a whole number from 1 to 32, got -1",
            ),
            ("[camera]\nfov = nan", "f: camera.fov: NaN is outside 1 to 170"),
            ("[sun]\ndirection = [0, 0, 0]", "f: sun.direction: "),
            ("[sun]\ndirection = [0, 0]", "f: sun.direction: "),
            (
                "[image]\nexposure = \"bright\"",
                "f: image.exposure: expected \"auto\", \"histogram\" or stops (EV) in quotes, from \
                 -64 to 64, got \"bright\"",
            ),
            (
                "[image]\nexposure = \"100\"",
                "f: image.exposure: expected \"auto\", \"histogram\" or stops (EV) in quotes, from \
                 -64 to 64, got \"100\"",
            ),
            (
                "[image]\nexposure = nan",
                "f: image.exposure: expected \"auto\", \"histogram\" or stops (EV) in quotes, from \
                 -64 to 64, got \"nan\"",
            ),
            (
                "[environment]\norder = 4",
                "f: environment.order: 4 is not one of 3 and 5",
            ),
            (
                "[tree]\ncode_bits = 31",
                "f: tree.code_bits: 31 is not one of 0 (automatic), 30 and 63",
            ),
            (
                "[window]\nrender_scale = 0.1",
                "f: window.render_scale: 0.1 is neither 0 (automatic) nor within 0.25 to 1",
            ),
            (
                "[image]\ntonemap = \"linear\"",
                "f: image.tonemap: expected none, reinhard, aces, neutral or agx, got \"linear\"",
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
            (
                "[window]\nvsync = 3",
                "f: window.vsync: expected true or false, got 3",
            ),
            ("[keys]\nframe = true", "f: keys.frame: expected a key"),
            ("[keys]\nframe = [1]", "f: keys.frame: expected a key"),
            ("\n[sun", "f: line 2: "),
        ] {
            let message = message(config.merge("f", text));
            assert!(message.starts_with(expected), "{message}");
            assert!(!message.contains('\n'), "{message}");
        }
        assert_eq!(config, Config::default());
        assert_eq!(
            message(config.set_text("--set", "tree.leaf_cutoff")),
            "--set: \"tree.leaf_cutoff\" is not KEY=VALUE"
        );
        assert!(
            message(config.set_text("--set", "shadows.map_pcf_width=4")).contains("not one of 1, 3, 5 and 7")
        );
    }
}
