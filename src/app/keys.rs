//! Key bindings: one table for the keyboard and for the help.

use crate::config::ShadowMode;
use winit::keyboard::{Key, KeyCode, NamedKey};

/// What a key or a button does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    Help,
    Panel,
    Open,
    OpenEnvironment,
    Reload,
    Frame,
    FirstView,
    NextCamera,
    Camera(usize),
    Play,
    NextClip,
    Clip(Option<usize>),
    Variant(Option<usize>),
    Shadows(ShadowMode),
    NextShadows,
    NextOcclusion,
    Antialias,
    Cutoff(i32),
    NextChannel,
    PreviousChannel,
    Reset,
    Fullscreen,
    Screenshot,
    Leave,
    Quit,
}

/// A key and what it does.
pub(super) struct KeyBinding {
    key: Key<&'static str>,
    ctrl: bool,
    /// The key in the help; empty if the line before names it too.
    pub(super) shown: &'static str,
    /// The action in the help.
    pub(super) what: &'static str,
    action: Action,
}

const fn bind(
    key: Key<&'static str>,
    shown: &'static str,
    what: &'static str,
    action: Action,
) -> KeyBinding {
    KeyBinding {
        key,
        ctrl: false,
        shown,
        what,
        action,
    }
}

const fn ctrl(
    key: &'static str,
    shown: &'static str,
    what: &'static str,
    action: Action,
) -> KeyBinding {
    KeyBinding {
        key: Key::Character(key),
        ctrl: true,
        shown,
        what,
        action,
    }
}

const fn letter(letter: &'static str) -> Key<&'static str> {
    Key::Character(letter)
}

const fn named(key: NamedKey) -> Key<&'static str> {
    Key::Named(key)
}

/// Every key, in the order of the help. Letters are those that a keyboard prints, wherever it has them.
pub(super) const BINDINGS: &[KeyBinding] = &[
    bind(letter("h"), "H", "this help", Action::Help),
    bind(named(NamedKey::F1), "", "", Action::Help),
    bind(named(NamedKey::Tab), "Tab", "settings panel", Action::Panel),
    ctrl(
        "o",
        "Ctrl+O",
        "open files (or drop them here)",
        Action::Open,
    ),
    ctrl(
        "e",
        "Ctrl+E",
        "open an environment (or drop it here)",
        Action::OpenEnvironment,
    ),
    bind(
        named(NamedKey::F5),
        "F5",
        "reload the files and keep the view",
        Action::Reload,
    ),
    bind(letter("f"), "F", "frame the scene", Action::Frame),
    bind(
        named(NamedKey::Home),
        "Home",
        "back to the first view",
        Action::FirstView,
    ),
    bind(
        letter("c"),
        "C",
        "next camera of the file",
        Action::NextCamera,
    ),
    bind(
        named(NamedKey::Space),
        "Space",
        "play or pause",
        Action::Play,
    ),
    bind(letter("n"), "N", "next clip", Action::NextClip),
    bind(
        letter("1"),
        "1  2  3",
        "shadows off, map, rays",
        Action::Shadows(ShadowMode::Off),
    ),
    bind(letter("2"), "", "", Action::Shadows(ShadowMode::Map)),
    bind(letter("3"), "", "", Action::Shadows(ShadowMode::Rays)),
    bind(letter("m"), "M", "next shadow mode", Action::NextShadows),
    bind(
        letter("o"),
        "O",
        "next ambient occlusion mode",
        Action::NextOcclusion,
    ),
    bind(
        letter("x"),
        "X",
        "anti-aliasing on or off",
        Action::Antialias,
    ),
    bind(
        letter("["),
        "[  ]",
        "smaller or larger leaves for rays",
        Action::Cutoff(-1),
    ),
    bind(letter("]"), "", "", Action::Cutoff(1)),
    bind(
        letter("v"),
        "V  B",
        "next or previous channel",
        Action::NextChannel,
    ),
    bind(letter("b"), "", "", Action::PreviousChannel),
    bind(letter("r"), "R", "reset all settings", Action::Reset),
    bind(
        named(NamedKey::F11),
        "F11",
        "full screen",
        Action::Fullscreen,
    ),
    bind(
        named(NamedKey::F12),
        "F12",
        "save the window as a picture",
        Action::Screenshot,
    ),
    bind(
        named(NamedKey::Escape),
        "Esc",
        "cancel, close, or quit",
        Action::Leave,
    ),
    ctrl("q", "Ctrl+Q", "quit", Action::Quit),
];

/// Gestures of the mouse and keys that are held, for the help.
pub(super) const GESTURES: &[(&str, &str)] = &[
    ("Left drag", "orbit the scene"),
    ("Middle drag", "pan (or Shift + left drag)"),
    ("Wheel", "zoom"),
    ("Right drag", "look around"),
    ("W A S D", "fly; E up, Q down, Shift faster"),
    ("Right + wheel", "fly speed"),
    ("L + left drag", "move the sun"),
];

/// The action of a pressed key.
pub(super) fn action(key: &Key, ctrl: bool) -> Option<Action> {
    let key = match key {
        Key::Character(text) => Key::Character(text.to_lowercase()),
        Key::Named(named) => Key::Named(*named),
        _ => return None,
    };
    let same = |binding: &&KeyBinding| {
        binding.ctrl == ctrl
            && match (&binding.key, &key) {
                (Key::Character(a), Key::Character(b)) => a == b,
                (Key::Named(a), Key::Named(b)) => a == b,
                _ => false,
            }
    };
    BINDINGS.iter().find(same).map(|binding| binding.action)
}

/// The direction (right, up, back) in which a held key flies. Goes by its position on the keyboard, whatever
/// is printed there.
pub(super) fn flight(key: KeyCode) -> Option<glam::Vec3> {
    Some(match key {
        KeyCode::KeyW => glam::Vec3::NEG_Z,
        KeyCode::KeyS => glam::Vec3::Z,
        KeyCode::KeyA => glam::Vec3::NEG_X,
        KeyCode::KeyD => glam::Vec3::X,
        KeyCode::KeyE => glam::Vec3::Y,
        KeyCode::KeyQ => glam::Vec3::NEG_Y,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_does_two_things() {
        for (i, a) in BINDINGS.iter().enumerate() {
            for b in &BINDINGS[..i] {
                assert!(a.key != b.key || a.ctrl != b.ctrl, "{:?}", a.key);
            }
        }
    }

    #[test]
    fn letters_work_with_shift_and_not_with_ctrl() {
        let key = |text: &str| Key::Character(text.into());
        assert_eq!(action(&key("H"), false), Some(Action::Help));
        assert_eq!(action(&key("h"), true), None);
        assert_eq!(action(&key("o"), true), Some(Action::Open));
        assert_eq!(action(&key("o"), false), Some(Action::NextOcclusion));
        assert_eq!(
            action(&Key::Named(NamedKey::Tab), false),
            Some(Action::Panel)
        );
    }
}
