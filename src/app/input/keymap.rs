//! Active keymap: the default keys, overridden by the user's section `[keys]`.

use crate::{
    Error, Result,
    app::input::{
        chord::{Chord, Press},
        keys::{Action, BINDINGS, KeyBinding},
    },
    config::{BoundKeys, Keys, closest},
};

/// Keys of every action, in the order of [`BINDINGS`].
#[derive(Debug, Clone)]
pub(in crate::app) struct Keymap(Vec<Vec<Chord>>);

impl Default for Keymap {
    fn default() -> Self {
        // None is dropped: a test parses every default.
        let chords = |binding: &KeyBinding| {
            let keys = binding.keys.iter();
            keys.filter_map(|key| Chord::parse(key).ok()).collect()
        };
        Self(BINDINGS.iter().map(chords).collect())
    }
}

fn fault(origin: &str, name: &str, what: impl std::fmt::Display) -> Error {
    let what = format!("keys.{name}: {what}");
    match origin {
        "--set" => Error::Usage(format!("{origin}: {what}")),
        _ => Error::Config {
            origin: origin.into(),
            what,
        },
    }
}

impl Keymap {
    /// Creates a keymap from the defaults. Each entry of `keys` replaces the default keys of its action.
    ///
    /// # Errors
    ///
    /// [`Error::Config`], or [`Error::Usage`] for `--set`, for an action or a key that does not exist, and
    /// for a key that two actions share.
    pub(in crate::app) fn new(keys: &Keys) -> Result<Self> {
        let mut map = Self::default();
        for (name, bound) in keys.iter() {
            let position = BINDINGS.iter().position(|binding| binding.name == name);
            let Some(position) = position else {
                return Err(fault(&bound.origin, name, unknown_action(name)));
            };
            let chords = bound.keys.iter().map(|key| Chord::parse(key));
            map.0[position] = chords
                .collect::<Result<_, _>>()
                .map_err(|why| fault(&bound.origin, name, why))?;
        }
        map.check(keys)?;
        Ok(map)
    }

    /// Returns an error for a key that two actions share. It blames an action that is in `keys`.
    fn check(&self, keys: &Keys) -> Result<()> {
        let of_user = |index: usize| -> Option<&BoundKeys> { keys.get(BINDINGS[index].name) };
        for (a, chords) in self.0.iter().enumerate() {
            for b in 0..a {
                let Some(chord) = chords.iter().find(|chord| self.0[b].contains(chord)) else {
                    continue;
                };
                // At least one of the two bindings is the user's, because the defaults are distinct.
                let (own, other) = if of_user(a).is_some() { (a, b) } else { (b, a) };
                let (own_name, other) = (BINDINGS[own].name, BINDINGS[other].name);
                let origin = of_user(own).map_or("", |bound| &bound.origin);
                let what = format!(
                    "{chord} is also a key of {other}; set keys.{other} to another key, or to \"\" for none"
                );
                return Err(fault(origin, own_name, what));
            }
        }
        Ok(())
    }

    /// Returns the action that is bound to a pressed key.
    pub(in crate::app) fn action(&self, press: &Press) -> Option<Action> {
        let rows = BINDINGS.iter().zip(&self.0);
        press.find(rows.flat_map(|(binding, chords)| {
            let action = binding.action;
            chords.iter().map(move |chord| (chord, action))
        }))
    }

    /// Returns the keys of `action` in the notation of the help. Empty without keys.
    pub(in crate::app) fn keys_of(&self, action: Action) -> String {
        let mut rows = BINDINGS.iter().zip(&self.0);
        let row = rows.find(|(binding, _)| binding.action == action);
        row.map_or_else(String::new, |(_, chords)| joined(chords))
    }

    /// Returns the keys of `action` in parentheses, with a space before them, for the end of a tooltip. Empty
    /// without keys.
    pub(in crate::app) fn hint(&self, action: Action) -> String {
        match self.keys_of(action) {
            keys if keys.is_empty() => keys,
            keys => format!(" ({keys})"),
        }
    }

    /// Returns the keys and the description of every action that has a key, for the help.
    pub(in crate::app) fn help(&self) -> impl Iterator<Item = (String, &'static str)> {
        let rows = BINDINGS.iter().zip(&self.0);
        rows.filter(|(_, chords)| !chords.is_empty())
            .map(|(binding, chords)| (joined(chords), binding.what))
    }
}

fn joined(chords: &[Chord]) -> String {
    let keys: Vec<_> = chords.iter().map(Chord::to_string).collect();
    keys.join(", ")
}

fn unknown_action(name: &str) -> String {
    let names = || BINDINGS.iter().map(|binding| binding.name);
    match closest(name, names()) {
        Some(known) => format!("unknown action; did you mean {known}?"),
        None => {
            let names: Vec<_> = names().collect();
            format!("unknown action; actions are {}", names.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{app::input::chord::Modifiers, config::Config};
    use winit::keyboard::Key;

    fn keymap(text: &str) -> Result<Keymap> {
        let mut config = Config::default();
        config.merge("my.toml", &format!("[keys]\n{text}"))?;
        Keymap::new(&config.keys)
    }

    fn message(text: &str) -> String {
        keymap(text).unwrap_err().to_string()
    }

    fn pressed(map: &Keymap, character: &str, ctrl: bool) -> Option<Action> {
        map.action(&Press {
            logical: Key::Character(character.into()),
            plain: Key::Character(character.into()),
            code: None,
            modifiers: Modifiers {
                ctrl,
                ..Modifiers::default()
            },
        })
    }

    #[test]
    fn default_bindings_are_valid_and_unique() {
        for binding in BINDINGS {
            for key in binding.keys {
                assert_eq!(
                    Chord::parse(key).map(|chord| chord.to_string()).as_deref(),
                    Ok(*key)
                );
            }
        }
        Keymap::new(&Keys::default()).unwrap();
    }

    #[test]
    fn user_bindings_replace_the_defaults_of_an_action() {
        let map = keymap("frame = [\"0\", \"Ctrl+0\"]\nnext_camera = \"\"\npanel = \"F\"").unwrap();
        assert_eq!(pressed(&map, "0", false), Some(Action::Frame));
        assert_eq!(pressed(&map, "0", true), Some(Action::Frame));
        assert_eq!(pressed(&map, "f", false), Some(Action::Panel));
        assert_eq!(pressed(&map, "c", false), None);
        assert_eq!(pressed(&map, "h", false), Some(Action::Help));
        assert_eq!(map.keys_of(Action::Frame), "0, Ctrl+0");
        assert_eq!(map.keys_of(Action::NextCamera), "");
        assert_eq!(map.hint(Action::Frame), " (0, Ctrl+0)");
        assert_eq!(map.hint(Action::NextCamera), "");
        let help: Vec<_> = map.help().collect();
        assert!(help.contains(&("0, Ctrl+0".into(), "frame the scene")));
        assert!(help.iter().all(|(_, what)| *what != "next camera of the file"));
    }

    #[test]
    fn bindings_may_be_numbers_or_empty_lists() {
        let map = keymap("shadows_off = []\nframe = 1").unwrap();
        assert_eq!(pressed(&map, "1", false), Some(Action::Frame));
    }

    #[test]
    fn invalid_bindings_report_the_key_and_its_origin() {
        assert_eq!(
            message("frmae = \"0\""),
            "my.toml: keys.frmae: unknown action; did you mean frame?"
        );
        assert!(message("zzz = \"0\"").starts_with("my.toml: keys.zzz: unknown action; actions are help, "));
        assert_eq!(
            message("frame = \"Spce\""),
            "my.toml: keys.frame: \"Spce\" is not a key; did you mean \"Space\"?"
        );
        assert_eq!(
            message("frame = \"C\""),
            "my.toml: keys.frame: C is also a key of next_camera; set keys.next_camera to another key, or to \
             \"\" for none"
        );
        let both = message("frame = \"0\"\nreset = \"0\"");
        assert!(
            both.contains("keys.reset") && both.contains("keys.frame"),
            "{both}"
        );
        assert!(message("frame = true").starts_with("my.toml: keys.frame: "));
    }

    /// The section Actions of `docs/usage/keys.md` has exactly one row for every action, with its default
    /// keys.
    #[test]
    fn the_documentation_lists_every_action_with_its_default_keys() {
        let page = include_str!("../../../docs/usage/keys.md");
        let section = page.split("\n## Actions\n").nth(1).unwrap();
        let section = section.split("\n#").next().unwrap();
        let rows = section.lines().filter(|line| line.starts_with("| `"));
        let documented: Vec<_> = rows
            .map(|row| {
                let cells: Vec<_> = row
                    .split(" | ")
                    .map(|cell| cell.trim_matches(['|', ' ']))
                    .collect();
                (cells[0].trim_matches('`').to_owned(), cells[1].to_owned())
            })
            .collect();
        let keys = |binding: &KeyBinding| {
            let keys: Vec<_> = binding.keys.iter().map(|key| format!("`{key}`")).collect();
            (binding.name.to_owned(), keys.join(", "))
        };
        let expected: Vec<_> = BINDINGS.iter().map(keys).collect();
        assert_eq!(documented, expected);
    }
}
