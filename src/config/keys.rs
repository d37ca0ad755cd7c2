//! `[keys]`: key bindings of the user, as text. Only a build with the viewer knows the actions and keys. It
//! checks them in every command that reads settings.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Key bindings by action name.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Keys(BTreeMap<String, BoundKeys>);

/// Keys of one action, which replace its default keys.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(from = "Text", into = "Text")]
pub struct BoundKeys {
    /// Keys as the user wrote them. An empty list removes all keys of the action.
    pub keys: Vec<String>,
    /// File that sets them, or `--set`, for messages.
    pub origin: String,
}

/// [`BoundKeys`] in TOML.
#[derive(Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a key such as \"F5\", a list such as [\"F5\", \"Ctrl+R\"], or \"\" for none"
)]
enum Text {
    One(String),
    Several(Vec<String>),
}

impl From<Text> for BoundKeys {
    fn from(text: Text) -> Self {
        let mut keys = match text {
            Text::One(key) => vec![key],
            Text::Several(keys) => keys,
        };
        keys.retain(|key| !key.trim().is_empty());
        Self {
            keys,
            origin: String::new(),
        }
    }
}

impl From<BoundKeys> for Text {
    fn from(mut bound: BoundKeys) -> Self {
        match bound.keys.len() {
            0 | 1 => Self::One(bound.keys.pop().unwrap_or_default()),
            _ => Self::Several(bound.keys),
        }
    }
}

/// Compares the keys but not their origin.
impl PartialEq for BoundKeys {
    fn eq(&self, other: &Self) -> bool {
        self.keys == other.keys
    }
}

impl Keys {
    /// Returns every action that the user has bound, in alphabetical order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &BoundKeys)> {
        self.0.iter().map(|(name, bound)| (name.as_str(), bound))
    }

    /// Returns the keys of an action if the user has bound it.
    pub fn get(&self, action: &str) -> Option<&BoundKeys> {
        self.0.get(action)
    }

    /// Copies the origins of `before`, because they do not survive the conversion to TOML.
    pub(super) fn keep_origins(&mut self, before: &Self) {
        for (name, bound) in &before.0 {
            self.set_origin(name, &bound.origin);
        }
    }

    pub(super) fn set_origin(&mut self, action: &str, origin: &str) {
        if let Some(bound) = self.0.get_mut(action) {
            origin.clone_into(&mut bound.origin);
        }
    }
}
