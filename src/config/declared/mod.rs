//! Presentation of every setting: its label, its control, its position in the panel, and the conditions under
//! which it has an effect.
//!
//! The panel, its filter, the palette, `canopy config` and docs/settings.md all use this one declaration.
//! Types and ranges come from the sections of `config.toml`, and the help text is the comment in that file.

mod analyse;
mod compare;
mod light;
mod output;
mod picture;
mod scene;
mod setting;

pub use setting::{Choice, Control, Group, InactiveReason, Number, PanelState, Setting, Tab, whole};

/// All groups, in the order of the panel.
pub const GROUPS: [&[Group]; 7] = [
    light::PINNED,
    light::GROUPS,
    picture::GROUPS,
    scene::GROUPS,
    analyse::GROUPS,
    compare::GROUPS,
    output::GROUPS,
];

/// Returns every group, in the order of the panel.
pub fn groups() -> impl Iterator<Item = &'static Group> {
    GROUPS.into_iter().flatten()
}

/// Returns the declaration of `key` and the group that contains it.
pub fn declared(key: &str) -> Option<(&'static Group, &'static Setting)> {
    groups().find_map(|group| Some((group, group.all().find(|setting| setting.key == key)?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use std::collections::BTreeSet;

    /// Each key of config.toml is declared exactly once, and every declared key exists.
    #[test]
    fn every_key_is_declared_once() {
        let mut declared = BTreeSet::new();
        for setting in groups().flat_map(Group::all) {
            assert!(declared.insert(setting.key), "{} twice", setting.key);
            assert!(
                !setting.is_key() || !setting.help().is_empty(),
                "{} has no help",
                setting.key
            );
        }
        declared.retain(|key| key.contains('.'));
        let keys = Config::keys();
        let keys: BTreeSet<&str> = keys.iter().map(String::as_str).collect();
        assert_eq!(declared, keys);
    }

    /// Titles are unique, and so are the labels within a group.
    #[test]
    fn headings_and_labels_are_unique() {
        let mut titles: BTreeSet<&str> = Tab::ALL.into_iter().map(Tab::title).collect();
        for group in groups() {
            assert!(titles.insert(group.title), "{} twice", group.title);
            let mut labels = BTreeSet::new();
            for setting in group.all() {
                let is_new = labels.insert(setting.label);
                assert!(is_new, "{}: {} twice", group.title, setting.label);
            }
        }
    }

    /// Controls offer exactly the values that their settings accept.
    #[test]
    fn controls_offer_exactly_the_accepted_values() {
        let config = Config::default();
        for setting in groups().flat_map(Group::all).filter(|s| s.is_key()) {
            let takes = |value: &str| {
                let set = format!("{}={value}", setting.key);
                let taken = config.clone().set_text("test", &set);
                taken.unwrap_or_else(|error| panic!("{error}"));
            };
            match setting.control {
                Control::Switch(_) => ["true", "false"].into_iter().for_each(takes),
                Control::Choice(choices) | Control::List(choices) => {
                    choices.iter().for_each(|choice| takes(choice.value));
                    #[cfg(feature = "viewer")]
                    for known in config.candidates(setting.key) {
                        let is_there = choices.iter().any(|choice| choice.value == known);
                        let is_word = known.starts_with(char::is_alphabetic);
                        assert!(is_there || !is_word, "{}: {known}", setting.key);
                    }
                }
                Control::Slider(number, ends) => {
                    for end in ends {
                        takes(&format!("{end:.*}", number.decimals));
                    }
                }
                Control::Number(number) => {
                    let default = config.value(setting.key).unwrap();
                    takes(&default.to_string());
                    if let Some(from_auto) = number.from_auto {
                        takes("0");
                        takes(&format!("{from_auto}"));
                    }
                }
                Control::Color => takes("[0, 0.5, 1]"),
                Control::Text(_) => takes("\"a\""),
                Control::Size => takes("[640, 480]"),
                Control::Ascending(_, gap) => takes(&format!("[2.0, {:.1}]", 2.0 + gap)),
                Control::Own => {}
            }
        }
    }
}
