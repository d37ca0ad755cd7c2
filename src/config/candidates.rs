//! List of all settings, and suggested values for a setting.

use super::{Config, explain::comment};
use canopy_scene::settings::describe::Describe;

/// A setting in the list of all settings.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyDescription {
    /// `SECTION.KEY`.
    pub key: String,
    /// Comment of the key in `config.toml`, on one line. Empty if the key has none.
    pub comment: String,
    /// Accepted values, such as a list of words or a range.
    pub expected: String,
}

impl Config {
    /// Returns every setting, in the order of `config.toml`.
    pub fn described() -> Vec<KeyDescription> {
        let all = Self::expected().iter();
        all.map(|(section, name, expected)| KeyDescription {
            key: format!("{section}.{name}"),
            comment: comment(section, name),
            expected: expected.clone(),
        })
        .collect()
    }

    /// Returns the values listed in [`KeyDescription::expected`] of `key`, in that order, such as all words
    /// of a choice or the ends of a range. The list is empty for text and for unknown keys.
    pub fn candidates(&self, key: &str) -> Vec<String> {
        let all = Self::expected().iter();
        let mut found = all.filter(|(section, name, _)| key.split_once('.') == Some((section, name)));
        let Some((.., expected)) = found.next() else {
            return Vec::new();
        };
        if *expected == <String as Describe>::type_name() {
            return Vec::new();
        }
        let mut values: Vec<String> = Vec::new();
        for word in expected.split([' ', ',', '(', ')']) {
            let is_new = !word.is_empty() && !values.iter().any(|value| value == word);
            let is_taken = || {
                let set = format!("{key}={word}");
                self.clone().set_text("", &set).is_ok()
            };
            if is_new && is_taken() {
                values.push(word.into());
            }
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_of_every_setting_are_valid() {
        let config = Config::default();
        for (key, expected) in [
            ("shadows.mode", &["off", "map", "rays"][..]),
            ("window.vsync", &["true", "false"]),
            ("camera.fov", &["1", "170"]),
            ("window.render_scale", &["0", "0.25", "1"]),
            ("tree.code_bits", &["0", "30", "63"]),
            ("scene.up", &["auto", "y", "z", "x", "-y", "-z", "-x"]),
            ("environment.file", &[]),
            ("sun.direction", &[]),
            ("sun.teapot", &[]),
        ] {
            assert_eq!(config.candidates(key), expected, "{key}");
        }
        for key in Config::keys() {
            for value in config.candidates(&key) {
                let mut set = config.clone();
                set.set_text("", &format!("{key}={value}")).unwrap();
            }
        }
    }

    #[test]
    fn every_setting_is_described() {
        let told = Config::described();
        assert_eq!(told.len(), Config::keys().len());
        let mode = told.iter().find(|told| told.key == "tree.rebuild").unwrap();
        let explained = Config::explain("tree.rebuild").unwrap();
        assert_eq!(
            (&mode.comment, &mode.expected),
            (&explained.comment, &explained.expected)
        );
    }
}
