//! `[keys]`: the keys that a user has given to actions, as text. Which actions and keys there are is known to
//! the viewer alone, which checks them before its window opens.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Keys by the names of actions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Keys(BTreeMap<String, BoundKeys>);

/// The keys of one action, in place of those that it has by default.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(from = "Text", into = "Text")]
pub struct BoundKeys {
    /// The keys as they are written; none takes the action its keys.
    pub keys: Vec<String>,
    /// For messages: the file that sets them, or `--set`.
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

/// Where keys come from makes no difference.
impl PartialEq for BoundKeys {
    fn eq(&self, other: &Self) -> bool {
        self.keys == other.keys
    }
}

impl Keys {
    /// Every action that the user has given keys to, in alphabetical order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &BoundKeys)> {
        self.0.iter().map(|(name, bound)| (name.as_str(), bound))
    }

    /// The keys of an action, where the user has given it any.
    pub fn get(&self, action: &str) -> Option<&BoundKeys> {
        self.0.get(action)
    }

    /// Takes over the origins of `before`, which TOML has no place for.
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
