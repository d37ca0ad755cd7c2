//! Key chords, which are keys with modifiers: their notation in the help and in `config.toml`, and matching
//! them with pressed keys.

use crate::config::closest;
use std::fmt;
use winit::keyboard::{Key, KeyCode, ModifiersState, NamedKey};

/// Modifier keys. The super key, which is Command on a Mac, counts as Ctrl.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::app) struct Modifiers {
    pub(in crate::app) ctrl: bool,
    pub(in crate::app) alt: bool,
    pub(in crate::app) shift: bool,
}

/// A key without its modifiers.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Base {
    /// The printed character in lower case.
    Character(String),
    Named(NamedKey),
    /// A key of the number pad by its position, with or without Num Lock.
    Numpad(KeyCode),
}

/// A key with its modifiers: `Ctrl+O`, `F5`, `Space`, `[`, `Num5`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::app) struct Chord {
    modifiers: Modifiers,
    base: Base,
}

/// A pressed key.
#[derive(Debug, Clone)]
pub(in crate::app) struct Press {
    /// Key with the modifiers applied, for example `!` for Shift and 1.
    pub(in crate::app) logical: Key,
    /// Key without the modifiers, for example `1`.
    pub(in crate::app) plain: Key,
    /// Physical position, if the keyboard reports it.
    pub(in crate::app) code: Option<KeyCode>,
    /// Held modifiers.
    pub(in crate::app) modifiers: Modifiers,
}

const NAMED: &[(&str, NamedKey)] = &[
    ("Space", NamedKey::Space),
    ("Tab", NamedKey::Tab),
    ("Enter", NamedKey::Enter),
    ("Esc", NamedKey::Escape),
    ("Backspace", NamedKey::Backspace),
    ("Delete", NamedKey::Delete),
    ("Insert", NamedKey::Insert),
    ("Home", NamedKey::Home),
    ("End", NamedKey::End),
    ("PageUp", NamedKey::PageUp),
    ("PageDown", NamedKey::PageDown),
    ("Left", NamedKey::ArrowLeft),
    ("Right", NamedKey::ArrowRight),
    ("Up", NamedKey::ArrowUp),
    ("Down", NamedKey::ArrowDown),
    ("Pause", NamedKey::Pause),
    ("F1", NamedKey::F1),
    ("F2", NamedKey::F2),
    ("F3", NamedKey::F3),
    ("F4", NamedKey::F4),
    ("F5", NamedKey::F5),
    ("F6", NamedKey::F6),
    ("F7", NamedKey::F7),
    ("F8", NamedKey::F8),
    ("F9", NamedKey::F9),
    ("F10", NamedKey::F10),
    ("F11", NamedKey::F11),
    ("F12", NamedKey::F12),
];

const NUMPAD: &[(&str, KeyCode)] = &[
    ("Num0", KeyCode::Numpad0),
    ("Num1", KeyCode::Numpad1),
    ("Num2", KeyCode::Numpad2),
    ("Num3", KeyCode::Numpad3),
    ("Num4", KeyCode::Numpad4),
    ("Num5", KeyCode::Numpad5),
    ("Num6", KeyCode::Numpad6),
    ("Num7", KeyCode::Numpad7),
    ("Num8", KeyCode::Numpad8),
    ("Num9", KeyCode::Numpad9),
    ("Num.", KeyCode::NumpadDecimal),
    ("Num+", KeyCode::NumpadAdd),
    ("Num-", KeyCode::NumpadSubtract),
    ("Num*", KeyCode::NumpadMultiply),
    ("Num/", KeyCode::NumpadDivide),
    ("NumEnter", KeyCode::NumpadEnter),
];

const MODIFIERS: [&str; 3] = ["Ctrl", "Alt", "Shift"];

impl From<ModifiersState> for Modifiers {
    fn from(state: ModifiersState) -> Self {
        Self {
            ctrl: state.control_key() || state.super_key(),
            alt: state.alt_key(),
            shift: state.shift_key(),
        }
    }
}

/// Returns the part of `text` after the modifier `name` and its plus sign. `None` if `text` does not begin
/// with them or ends there.
fn behind<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (head, rest) = text.split_at_checked(name.len())?;
    let rest = rest.strip_prefix('+').filter(|rest| !rest.is_empty())?;
    head.eq_ignore_ascii_case(name).then_some(rest)
}

impl Chord {
    /// Parses a key in the notation of the help. Upper and lower case are equivalent.
    ///
    /// # Errors
    ///
    /// A message that says why the text is not a key, with a suggestion.
    pub(in crate::app) fn parse(text: &str) -> Result<Self, String> {
        let mut rest = text.trim();
        let mut held = [false; 3];
        while let Some((index, after)) = (0..3).find_map(|i| Some((i, behind(rest, MODIFIERS[i])?))) {
            held[index] = true;
            rest = after;
        }
        let [ctrl, alt, shift] = held;
        let modifiers = Modifiers { ctrl, alt, shift };
        Base::parse(rest)
            .map(|base| Self { modifiers, base })
            .ok_or_else(|| fault(text, rest))
    }

    /// True if this chord is `key` with exactly these modifiers. Number pad chords match only by position.
    fn matches(&self, key: &Key, modifiers: Modifiers) -> bool {
        self.modifiers == modifiers
            && match (&self.base, key) {
                (Base::Character(own), Key::Character(pressed)) => *own == pressed.to_lowercase(),
                (Base::Named(own), Key::Named(pressed)) => own == pressed,
                _ => false,
            }
    }

    fn matches_position(&self, press: &Press) -> bool {
        self.modifiers == press.modifiers
            && matches!(&self.base, Base::Numpad(own) if Some(*own) == press.code)
    }
}

impl Press {
    /// Returns the value of the first of `chords` that matches. The interpretations of the key are tried in
    /// this order: number pad position, character without modifiers, character with modifiers. If no chord
    /// matches, Shift is ignored, because it may only serve to type the character.
    pub(in crate::app) fn find<'a, T: Copy>(
        &self,
        chords: impl Iterator<Item = (&'a Chord, T)> + Clone,
    ) -> Option<T> {
        let held = self.modifiers;
        let without_shift = Modifiers { shift: false, ..held };
        // If Alt changed the printed character, as on a Mac, it is not a modifier of that character.
        let changed = self.logical != self.plain;
        let without_alt = Modifiers {
            alt: held.alt && !changed,
            ..without_shift
        };
        let read_as = |key: &Key, modifiers: Modifiers| {
            let mut chords = chords.clone();
            chords.find(|(chord, _)| chord.matches(key, modifiers))
        };
        let by_position = || {
            let mut chords = chords.clone();
            chords.find(|(chord, _)| chord.matches_position(self))
        };
        by_position()
            .or_else(|| read_as(&self.plain, held))
            .or_else(|| read_as(&self.logical, held))
            .or_else(|| read_as(&self.logical, without_shift))
            .or_else(|| read_as(&self.logical, without_alt))
            .map(|(_, value)| value)
    }
}

impl Base {
    fn parse(text: &str) -> Option<Self> {
        let mut characters = text.chars();
        if let (Some(only), None) = (characters.next(), characters.next()) {
            let printed = !only.is_whitespace() && !only.is_control();
            return printed.then(|| Self::Character(only.to_lowercase().collect()));
        }
        let named = NAMED.iter().find(|(name, _)| name.eq_ignore_ascii_case(text));
        let numpad = NUMPAD.iter().find(|(name, _)| name.eq_ignore_ascii_case(text));
        named
            .map(|(_, key)| Self::Named(*key))
            .or_else(|| numpad.map(|(_, code)| Self::Numpad(*code)))
    }
}

/// Returns the message that says why `text` is not a key. `rest` is the part after the modifiers.
fn fault(text: &str, rest: &str) -> String {
    let names = || {
        let named = NAMED.iter().map(|(name, _)| *name);
        named.chain(NUMPAD.iter().map(|(name, _)| *name))
    };
    if let Some((modifier, _)) = rest
        .split_once('+')
        .filter(|(head, tail)| !head.is_empty() && !tail.is_empty())
        && !modifier.eq_ignore_ascii_case("num")
    {
        return format!(
            "\"{modifier}\" in \"{text}\" is not a modifier; use {}",
            MODIFIERS.join(", ")
        );
    }
    match closest(rest, names()) {
        Some(name) => format!("\"{text}\" is not a key; did you mean \"{name}\"?"),
        None => format!(
            "\"{text}\" is not a key; keys are written like \"F\", \"Ctrl+O\", \"Shift+F12\", \"Space\", \
             \"[\" or \"Num5\""
        ),
    }
}

impl fmt::Display for Chord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Modifiers { ctrl, alt, shift } = self.modifiers;
        for (held, name) in [ctrl, alt, shift].into_iter().zip(MODIFIERS) {
            if held {
                write!(f, "{name}+")?;
            }
        }
        let name = match &self.base {
            Base::Character(text) => return f.write_str(&text.to_uppercase()),
            Base::Named(key) => NAMED.iter().find(|(_, known)| known == key).map(|(n, _)| n),
            Base::Numpad(code) => NUMPAD.iter().find(|(_, known)| known == code).map(|(n, _)| n),
        };
        f.write_str(name.copied().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chord(text: &str) -> Chord {
        Chord::parse(text).unwrap()
    }

    #[test]
    fn chords_round_trip_as_text() {
        for text in [
            "F",
            "Ctrl+O",
            "F5",
            "Space",
            "[",
            "Shift+F12",
            "Alt+1",
            "Num5",
            "Ctrl++",
            "+",
            "Num+",
            "Ctrl+Alt+Shift+Ä",
        ] {
            assert_eq!(chord(text).to_string(), text);
        }
        assert_eq!(chord("shift+ctrl+esc").to_string(), "Ctrl+Shift+Esc");
        for (name, _) in NAMED {
            assert_eq!(chord(name).to_string(), *name);
        }
    }

    #[test]
    fn unknown_keys_are_reported_with_suggestions() {
        let fault = |text| Chord::parse(text).unwrap_err();
        assert_eq!(fault("Spce"), "\"Spce\" is not a key; did you mean \"Space\"?");
        assert_eq!(
            fault("Ctrl+Pgup"),
            "\"Ctrl+Pgup\" is not a key; did you mean \"PageUp\"?"
        );
        assert_eq!(
            fault("Strg+O"),
            "\"Strg\" in \"Strg+O\" is not a modifier; use Ctrl, Alt, Shift"
        );
        for text in ["Ctrl+", "xyzzy", "", " "] {
            assert!(fault(text).contains("keys are written like"), "{}", fault(text));
        }
    }

    fn press(logical: &str, plain: &str, [ctrl, alt, shift]: [bool; 3]) -> Press {
        Press {
            logical: Key::Character(logical.into()),
            plain: Key::Character(plain.into()),
            code: None,
            modifiers: Modifiers { ctrl, alt, shift },
        }
    }

    #[test]
    fn modifiers_match_exactly_except_shift_for_a_character() {
        let bound = ["H", "Ctrl+O", "Shift+1", "1", "[", "/", "Alt+1"].map(|t| (chord(t), t));
        let find = |press: Press| press.find(bound.iter().map(|(chord, text)| (chord, *text)));
        let plain = |text: &str| find(press(text, text, [false; 3]));
        let shift = [false, false, true];
        assert_eq!(plain("h"), Some("H"));
        assert_eq!(find(press("H", "h", shift)), Some("H"));
        assert_eq!(find(press("h", "h", [true, false, false])), None);
        assert_eq!(find(press("h", "h", [false, true, false])), None);
        assert_eq!(find(press("o", "o", [true, false, false])), Some("Ctrl+O"));
        assert_eq!(plain("o"), None);
        assert_eq!(find(press("!", "1", shift)), Some("Shift+1"));
        assert_eq!(plain("1"), Some("1"));
        // A German keyboard, and twice the keyboard of a German Mac.
        assert_eq!(find(press("/", "7", shift)), Some("/"));
        assert_eq!(find(press("[", "5", [false, true, false])), Some("["));
        assert_eq!(find(press("¡", "1", [false, true, false])), Some("Alt+1"));
    }

    #[test]
    fn number_pad_keys_fall_back_to_their_characters() {
        let five = Press {
            code: Some(KeyCode::Numpad5),
            ..press("5", "5", [false; 3])
        };
        let find = |bound: &[Chord]| five.find(bound.iter().map(|c| (c, c)).clone()).cloned();
        assert_eq!(find(&[chord("5")]), Some(chord("5")));
        assert_eq!(find(&[chord("5"), chord("Num5")]), Some(chord("Num5")));
        // The key is pressed without Num Lock.
        let begin = Press {
            logical: Key::Named(NamedKey::Clear),
            ..five.clone()
        };
        let num5 = chord("Num5");
        assert_eq!(begin.find([(&num5, 5)].into_iter()), Some(5));
    }
}
