//! Settings as keys and values, and saving them to the user's `config.toml`.

use super::{
    Config,
    layered::{Layered, is_missing, user_file},
    looks::absolute,
    with_short_numbers,
};
use crate::{Error, Result, atomic_file};
use std::{collections::BTreeMap, path::PathBuf};
use toml::Value;

/// Keys that are specific to a scene or a run. They are not saved, because they would be wrong defaults for
/// another scene or run.
const RUN_KEYS: [&str; 11] = [
    "animation.clip",
    "animation.loop_from",
    "animation.loop_to",
    "animation.morphs",
    "animation.time",
    "camera.name",
    "deviation.file",
    "gpu.adapter",
    "gpu.backend",
    "scene.up",
    "scene.variant",
];

impl Config {
    /// Returns every key, such as `shadows.mode`, with its value.
    pub fn values(&self) -> BTreeMap<String, Value> {
        let mut values = BTreeMap::new();
        for (section, keys) in self.table() {
            let keys = keys.as_table().cloned().unwrap_or_default();
            values.extend(keys.into_iter().map(|(key, value)| {
                let key = format!("{section}.{key}");
                (key, with_short_numbers(value))
            }));
        }
        values
    }

    /// Returns the keys whose values differ from the built-in defaults or from the settings files that canopy
    /// reads by default. Setting them reproduces the same result on any machine.
    pub fn overrides(&self) -> BTreeMap<String, Value> {
        let defaults = Self::default();
        let usual = Layered::read(None, &[]);
        let usual = usual.map_or_else(|_| defaults.values(), |usual| usual.config.values());
        let defaults = defaults.values();
        let mut values = self.values();
        values.retain(|key, value| defaults.get(key) != Some(value) || usual.get(key) != Some(value));
        values
    }

    /// Writes the keys whose values differ from the user's `config.toml` into that file. Keys that the file
    /// does not set are compared with the defaults. Leaves out keys of a scene or a run, and keeps everything
    /// else in the file. Returns the file and the number of keys written.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the file cannot be read or written, [`Error::Config`] if it is not valid.
    pub fn save_as_defaults(&self) -> Result<(PathBuf, usize)> {
        let path = user_file().ok_or_else(|| Error::Config {
            origin: "config.toml".into(),
            what: "this system has no folder for configuration".into(),
        })?;
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(e) if is_missing(&e) => String::new(),
            Err(e) => return Err(Error::io(path, e)),
        };
        let (text, count) = self.merged_into(&path.display().to_string(), &text)?;
        if count > 0 {
            let folder = path.parent().map_or(Ok(()), std::fs::create_dir_all);
            folder.map_err(|e| Error::io(&path, e))?;
            atomic_file::write(&path, text.as_bytes())?;
        }
        Ok((path, count))
    }

    /// Updates each key of the TOML document `text` whose value differs from these settings, except
    /// [`RUN_KEYS`]. Returns the document and the number of updated keys.
    fn merged_into(&self, origin: &str, text: &str) -> Result<(String, usize)> {
        let mut usual = Self::default();
        usual.merge(origin, text)?;
        let usual = usual.values();
        let mut document: toml_edit::DocumentMut = text.parse().map_err(|e| Error::Config {
            origin: origin.into(),
            what: super::one_line(&format!("{e}")),
        })?;
        let mut count = 0;
        for (key, value) in self.values() {
            let Some((section, name)) = key.split_once('.') else {
                continue;
            };
            if usual.get(&key) == Some(&value) || RUN_KEYS.contains(&key.as_str()) {
                continue;
            }
            let value: toml_edit::Value =
                absolute(&key, value)
                    .to_string()
                    .parse()
                    .map_err(|e| Error::Config {
                        origin: origin.into(),
                        what: format!("{key}: {e}"),
                    })?;
            put(&mut document, section, name, value);
            count += 1;
        }
        Ok((document.to_string(), count))
    }
}

/// Sets a key of a document and keeps the comment after it.
fn put(document: &mut toml_edit::DocumentMut, section: &str, name: &str, value: toml_edit::Value) {
    let table = document
        .entry(section)
        .or_insert_with(|| toml_edit::Item::Table(toml_edit::Table::new()));
    let Some(table) = table.as_table_like_mut() else {
        return;
    };
    match table.get_mut(name).and_then(toml_edit::Item::as_value_mut) {
        Some(old) => {
            let decor = old.decor().clone();
            *old = value;
            *old.decor_mut() = decor;
        }
        None => {
            table.insert(name, toml_edit::Item::Value(value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{DEFAULTS, ShadowMode};
    use toml::Table;

    #[test]
    fn values_match_the_default_file() {
        let written: Table = toml::from_str(DEFAULTS).unwrap();
        let config = Config::default();
        let values = config.values();
        assert_eq!(values["environment.color"], written["environment"]["color"]);
        let count: usize = written.values().map(|t| t.as_table().unwrap().len()).sum();
        assert_eq!(values.len(), count);
        for (key, value) in &values {
            assert_eq!(config.value(key).as_ref(), Some(value), "{key}");
        }
        assert_eq!(config.value("sun"), None);
    }

    #[test]
    fn changed_keys_are_merged_into_a_user_s_file() {
        let mut config = Config::default();
        config.shadows.mode = ShadowMode::Map;
        config.image.background = [0.1, 0.25, 1.0];
        config.animation.time = 3.0;
        config.camera.fov = 45.0;
        let text = "# mine\n[shadows]\nmode = \"off\" # dark\n\n[camera]\nfov = 60.0\nspeed = 2.0\n";
        let (merged, count) = config.merged_into("f", text).unwrap();
        assert_eq!(count, 4, "{merged}");
        for kept in [
            "# mine",
            "# dark",
            "mode = \"map\" # dark",
            "fov = 45.0",
            "speed = 1.0",
        ] {
            assert!(merged.contains(kept), "{kept} is not in {merged}");
        }
        let mut read = Config::default();
        read.merge("f", &merged).unwrap();
        config.animation.time = 0.0;
        assert_eq!(read, config);
        // A second save has nothing to write.
        assert_eq!(config.merged_into("f", &merged).unwrap(), (merged, 0));
    }

    #[test]
    fn broken_files_are_not_merged_into() {
        let config = Config::default();
        for broken in ["[sun", "[sun]\nx = 1"] {
            assert!(config.merged_into("f", broken).is_err(), "{broken}");
        }
    }
}
