//! Settings that affect the rendered picture.

use super::{Config, with_short_numbers};
use std::collections::BTreeMap;
use toml::Value;

/// Sections for the machine, the window and the user, which do not affect pictures.
const NON_PICTURE_SECTIONS: [&str; 5] = ["gpu", "window", "output", "load", "keys"];

/// The only key of [`NON_PICTURE_SECTIONS`] that affects pictures.
const PICTURE_LOAD_KEY: &str = "load.obj_texture";

/// True if `key` affects pictures.
pub fn affects_picture(key: &str) -> bool {
    let section = key.split('.').next().unwrap_or_default();
    key == PICTURE_LOAD_KEY || !NON_PICTURE_SECTIONS.contains(&section)
}

impl Config {
    /// Returns the settings that affect pictures and differ from the defaults.
    pub fn picture_settings(&self) -> BTreeMap<String, Value> {
        let defaults = Self::default().table();
        let mut found = BTreeMap::new();
        for (section, keys) in self.table() {
            let Value::Table(keys) = keys else { continue };
            for (name, value) in keys {
                let key = format!("{section}.{name}");
                let default = defaults.get(&section).and_then(|keys| keys.get(&name));
                if affects_picture(&key) && default != Some(&value) {
                    found.insert(key, with_short_numbers(value));
                }
            }
        }
        found
    }

    /// Returns a copy in which the settings that affect pictures have their defaults.
    pub fn without_picture_settings(&self) -> Self {
        let defaults = Self::default();
        let mut without = Self {
            gpu: self.gpu.clone(),
            window: self.window.clone(),
            output: self.output.clone(),
            keys: self.keys.clone(),
            ..defaults
        };
        let obj_texture = without.load.obj_texture;
        without.load = self.load.clone();
        without.load.obj_texture = obj_texture;
        without
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{ShadowMode, Theme};

    #[test]
    fn picture_settings_leave_out_machine_and_user_settings() {
        let mut config = Config::default();
        assert!(config.picture_settings().is_empty());
        config.gpu.adapter = "of my machine".into();
        config.window.theme = Theme::Light;
        config.load.max_nodes = 7;
        config.set("test", "keys.quit", "F3").unwrap();
        assert!(config.picture_settings().is_empty());
        config.load.obj_texture = true;
        config.shadows.mode = ShadowMode::Map;
        config.image.background = [0.1, 0.2, 0.3];
        let picture_settings = config.picture_settings();
        let keys: Vec<_> = picture_settings.keys().collect();
        assert_eq!(keys, ["image.background", "load.obj_texture", "shadows.mode"]);
        let mut without = config.without_picture_settings();
        assert_eq!(
            (without.window.theme, without.shadows.mode),
            (Theme::Light, ShadowMode::Rays)
        );
        for (key, value) in picture_settings {
            without.set("test", &key, value).unwrap();
        }
        assert_eq!(without, config);
    }
}
