//! Key bindings: one table for the keyboard and for the help.

use super::camera::StandardView;
use crate::config::ShadowMode;
use winit::keyboard::{Key, KeyCode, NamedKey};

/// What a key or a button does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    Help,
    Panel,
    Open,
    OpenEnvironment,
    Browse,
    NextFile,
    PreviousFile,
    Reload,
    Watch,
    ObjTexture,
    Frame,
    FirstView,
    Face(StandardView),
    /// Orbits to the left and up by steps of [`ORBIT_STEPS`] to a half turn.
    Orbit([i8; 2]),
    Projection,
    NextUpAxis,
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
    ScreenshotOfWindow,
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

const fn ctrl_named(
    key: NamedKey,
    shown: &'static str,
    what: &'static str,
    action: Action,
) -> KeyBinding {
    KeyBinding {
        key: named(key),
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
    ctrl(
        "p",
        "Ctrl+P",
        "browse files: recent ones and those of a folder",
        Action::Browse,
    ),
    bind(
        named(NamedKey::PageDown),
        "Page Down  Up",
        "next or previous scene of the folder",
        Action::NextFile,
    ),
    bind(named(NamedKey::PageUp), "", "", Action::PreviousFile),
    bind(
        named(NamedKey::F5),
        "F5",
        "reload the files and keep the view",
        Action::Reload,
    ),
    ctrl(
        "r",
        "Ctrl+R",
        "reload by itself when files change",
        Action::Watch,
    ),
    bind(
        letter("u"),
        "U",
        "another axis of the file points up",
        Action::NextUpAxis,
    ),
    bind(
        letter("t"),
        "T",
        "colour an OBJ with the image of its name",
        Action::ObjTexture,
    ),
    bind(letter("f"), "F", "frame the scene", Action::Frame),
    ctrl(
        "1",
        "Ctrl+1  2",
        "front or back view (numpad 1, Ctrl+1)",
        Action::Face(StandardView::Front),
    ),
    ctrl("2", "", "", Action::Face(StandardView::Back)),
    ctrl(
        "3",
        "Ctrl+3  4",
        "right or left view (numpad 3, Ctrl+3)",
        Action::Face(StandardView::Right),
    ),
    ctrl("4", "", "", Action::Face(StandardView::Left)),
    ctrl(
        "5",
        "Ctrl+5  6",
        "top or bottom view (numpad 7, Ctrl+7)",
        Action::Face(StandardView::Top),
    ),
    ctrl("6", "", "", Action::Face(StandardView::Bottom)),
    bind(
        letter("p"),
        "P",
        "perspective or orthographic (numpad 5)",
        Action::Projection,
    ),
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
        "save the scene as a picture",
        Action::Screenshot,
    ),
    ctrl_named(
        NamedKey::F12,
        "Ctrl+F12",
        "save the window with the panel",
        Action::ScreenshotOfWindow,
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

/// Steps of orbiting by a key in a half turn.
pub(super) const ORBIT_STEPS: i8 = 12;

/// The action of a key of the number pad, whatever Num Lock says.
pub(super) fn numpad(key: KeyCode, ctrl: bool) -> Option<Action> {
    Some(match (key, ctrl) {
        (KeyCode::Numpad1, false) => Action::Face(StandardView::Front),
        (KeyCode::Numpad1, true) => Action::Face(StandardView::Back),
        (KeyCode::Numpad3, false) => Action::Face(StandardView::Right),
        (KeyCode::Numpad3, true) => Action::Face(StandardView::Left),
        (KeyCode::Numpad7, false) => Action::Face(StandardView::Top),
        (KeyCode::Numpad7, true) => Action::Face(StandardView::Bottom),
        (KeyCode::Numpad5, _) => Action::Projection,
        (KeyCode::Numpad4, _) => Action::Orbit([1, 0]),
        (KeyCode::Numpad6, _) => Action::Orbit([-1, 0]),
        (KeyCode::Numpad8, _) => Action::Orbit([0, 1]),
        (KeyCode::Numpad2, _) => Action::Orbit([0, -1]),
        (KeyCode::Numpad9, _) => Action::Orbit([ORBIT_STEPS, 0]),
        _ => return None,
    })
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

    #[test]
    fn the_number_pad_has_views_whatever_its_digits_do_elsewhere() {
        let front = Action::Face(StandardView::Front);
        assert_eq!(numpad(KeyCode::Numpad1, false), Some(front));
        let back = Action::Face(StandardView::Back);
        assert_eq!(numpad(KeyCode::Numpad1, true), Some(back));
        assert_eq!(numpad(KeyCode::Numpad5, false), Some(Action::Projection));
        assert_eq!(numpad(KeyCode::Digit1, false), None);
        let key = Key::Character("1".into());
        assert_eq!(action(&key, true), Some(front));
        assert_eq!(action(&key, false), Some(Action::Shadows(ShadowMode::Off)));
    }
}
