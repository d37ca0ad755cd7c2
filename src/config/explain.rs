//! Explanations of settings, taken from the comments of `config.toml`.

use super::{Config, DEFAULTS, Value, closest::closest_key};
use crate::{Error, Result};

/// Explanation of a setting.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// Comment of the key in `config.toml`, on one line. Empty if the key has none.
    pub comment: String,
    /// Accepted values, such as a list of words or a range.
    pub expected: String,
    /// Default value, or `None` for key bindings, whose defaults only the viewer has.
    pub default: Option<Value>,
}

impl Config {
    /// Explains `key`.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] for an unknown key. The message names the closest known key.
    pub fn explain(key: &str) -> Result<Explanation> {
        if let Some(action) = key.strip_prefix("keys.").filter(|name| !name.is_empty()) {
            return Ok(Explanation {
                comment: format!(
                    "Keys of the viewer's action `{action}`. Every command of a build with the viewer checks \
                     the names of actions and keys. docs/usage/keys.md lists them."
                ),
                expected: "a key such as \"F5\", a list such as [\"F5\", \"Ctrl+R\"], or \"\" for none"
                    .into(),
                default: None,
            });
        }
        let found = Self::expected()
            .iter()
            .find(|(section, name, _)| key.split_once('.') == Some((section, name)));
        let (Some((section, name, expected)), Some(default)) = (found, Self::default().value(key)) else {
            let hint = match closest_key(key, &Self::keys()) {
                Some(known) => format!("did you mean {known}?"),
                None => "`canopy config` lists all keys".into(),
            };
            return Err(Error::Usage(format!("{key}: unknown key; {hint}")));
        };
        Ok(Explanation {
            comment: comment(section, name),
            expected: expected.clone(),
            default: Some(default),
        })
    }
}

/// Returns the comment after a key of `config.toml` as one line, including its continuation lines.
pub(super) fn comment(section: &str, key: &str) -> String {
    let header = format!("[{section}]");
    let mut lines = DEFAULTS
        .lines()
        .skip_while(|line| !line.starts_with(&header))
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .skip_while(|line| !line.starts_with(&format!("{key} =")));
    let first = lines
        .next()
        .and_then(|line| line.split_once('#'))
        .map(|(_, text)| text);
    let rest = lines.map_while(|line| line.strip_prefix(' ')?.trim_start().strip_prefix('#'));
    let words: Vec<&str> = first
        .into_iter()
        .chain(rest)
        .flat_map(str::split_whitespace)
        .collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_of_several_lines_are_joined() {
        assert_eq!(comment("window", "no_such_key"), "");
        let rebuild = comment("tree", "rebuild");
        assert!(rebuild.starts_with("BVH update:"), "{rebuild}");
        assert!(rebuild.ends_with("by refit_growth"), "{rebuild}");
        let last = comment("exposure", "adaptation");
        assert!(last.ends_with("`canopy render`"), "{last}");
    }

    #[test]
    fn settings_are_explained_or_similar_ones_suggested() {
        let explained = Config::explain("shadows.map_resolution").unwrap();
        assert_eq!(explained.expected, "a whole number from 64 to 8192");
        assert_eq!(explained.default, Some(Value::Integer(2048)));
        assert!(explained.comment.starts_with("Texels along an edge"));
        for (wrong, meant) in [
            ("shadows.modes", "shadows.mode"),
            ("shadow.mode", "shadows.mode"),
            ("tonemap", "image.tonemap"),
            ("sun.tonemap", "image.tonemap"),
        ] {
            let message = Config::explain(wrong).unwrap_err().to_string();
            let hint = format!("did you mean {meant}?");
            assert!(message.contains(&hint), "{message}");
        }
        let message = Config::explain("teapot").unwrap_err().to_string();
        assert!(message.contains("canopy config"), "{message}");
    }

    #[test]
    fn every_key_has_a_value_and_an_expectation() {
        let config = Config::default();
        assert!(Config::keys().len() > 60);
        for key in Config::keys() {
            let explained = Config::explain(&key).unwrap();
            assert!(!explained.expected.is_empty(), "{key}");
            // Lines are joined with spaces, which would split a word hyphenated at a line break.
            assert!(!explained.comment.contains("- "), "{key}");
            assert_eq!(config.value(&key), explained.default, "{key}");
        }
    }
}
