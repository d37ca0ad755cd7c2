//! Settings that differ from those at the start.

use crate::config::Config;
use std::{collections::BTreeMap, rc::Rc};
use toml::Value;

/// Every changed key with its value at the start in TOML.
pub(in crate::app) type StartValues = BTreeMap<String, String>;

/// Settings that differ from those at the start, compared again only after changes.
#[derive(Debug, Default)]
pub(in crate::app) struct Changes {
    compared: Option<(Config, Config)>,
    values: Rc<StartValues>,
    now: Option<(Config, Rc<BTreeMap<String, Value>>)>,
}

impl Changes {
    /// Returns the changes from `start` to `now`.
    pub(in crate::app) fn between(&mut self, start: &Config, now: &Config) -> Rc<StartValues> {
        let known = self.compared.as_ref();
        if known.is_none_or(|(known_start, known_now)| known_start != start || known_now != now) {
            self.values = Rc::new(compare(start, now));
            self.compared = Some((start.clone(), now.clone()));
        }
        self.values.clone()
    }

    /// Returns every key of `now` with its value.
    pub(in crate::app) fn values(&mut self, now: &Config) -> Rc<BTreeMap<String, Value>> {
        match &self.now {
            Some((known, values)) if known == now => values.clone(),
            _ => {
                let values = Rc::new(now.values());
                self.now = Some((now.clone(), values.clone()));
                values
            }
        }
    }
}

fn compare(start: &Config, now: &Config) -> StartValues {
    let now = now.values();
    let changed = start
        .values()
        .into_iter()
        .filter(|(key, value)| now.get(key) != Some(value));
    changed.map(|(key, value)| (key, value.to_string())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ShadowMode;

    #[test]
    fn changed_settings_are_listed_with_their_start_values() {
        let start = Config::default();
        let mut now = start.clone();
        let mut changes = Changes::default();
        assert!(changes.between(&start, &now).is_empty());
        now.shadows.mode = ShadowMode::Off;
        now.environment.color[1] = 0.5;
        let values = changes.between(&start, &now);
        let expected = [
            ("environment.color", "[0.35, 0.38, 0.42]"),
            ("shadows.mode", "\"rays\""),
        ];
        let expected = expected.map(|(key, value)| (key.to_owned(), value.to_owned()));
        assert_eq!(*values, BTreeMap::from(expected));
        now = start.clone();
        assert!(changes.between(&start, &now).is_empty());
    }
}
