//! Scene settings whose values are words.

use super::describe::{Describe, one_of};
use crate::choice;
use serde::{Deserialize, Serialize};

choice! {
    /// Movement of the viewer's camera.
    CameraMode {
        /// Orbits and flies through everything.
        Orbit = "orbit",
        /// First-person camera of a walking character.
        Walk = "walk",
    }
}

choice! {
    /// Ground below the scene.
    GroundMode {
        /// [`GroundMode::Shadow`] below scenes that have no floor of their own.
        Auto = "auto",
        /// No ground.
        Off = "off",
        /// Shadow catcher: the background with shadows on it.
        Shadow = "shadow",
        /// Shadow catcher with grid lines for scale.
        Grid = "grid",
    }
}

choice! {
    /// Axis of a file that points up.
    UpAxis {
        /// Axis that the files specify or on which a scan stands, else +Y.
        Auto = "auto",
        /// +Y, as in glTF.
        Y = "y",
        /// +Z.
        Z = "z",
        /// +X.
        X = "x",
        /// −Y.
        NegativeY = "-y",
        /// −Z.
        NegativeZ = "-z",
        /// −X.
        NegativeX = "-x",
    }
}

impl UpAxis {
    /// Returns the next axis, wrapping around the list.
    pub fn next(self) -> Self {
        let axes = &Self::ALL[1..];
        let now = axes.iter().position(|axis| *axis == self);
        axes[now.map_or(0, |now| (now + 1) % axes.len())]
    }
}

/// On, off, or chosen for the scene or the adapter. Files may also use `true` and `false`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", from = "SwitchText")]
pub enum Switch {
    /// Chosen for the scene or the adapter.
    Auto,
    /// Always on.
    On,
    /// Always off.
    Off,
}

/// Representation of a switch in a file.
#[derive(Deserialize)]
#[serde(untagged)]
enum SwitchText {
    Bool(bool),
    Word(SwitchWord),
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum SwitchWord {
    Auto,
    On,
    Off,
}

impl From<SwitchText> for Switch {
    fn from(text: SwitchText) -> Self {
        match text {
            SwitchText::Word(SwitchWord::Auto) => Self::Auto,
            SwitchText::Bool(true) | SwitchText::Word(SwitchWord::On) => Self::On,
            SwitchText::Bool(false) | SwitchText::Word(SwitchWord::Off) => Self::Off,
        }
    }
}

impl Describe for Switch {
    fn type_name() -> String {
        one_of(&["auto", "on", "off"])
    }
}
