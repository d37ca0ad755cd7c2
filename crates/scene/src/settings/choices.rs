//! Settings of a scene that are words.

use super::describe::{Describe, one_of};
use crate::choice;
use serde::{Deserialize, Serialize};

choice! {
    /// Movement of the viewer's camera.
    CameraMode {
        /// It orbits and flies through everything.
        Orbit = "orbit",
        /// It is the eye of a person who walks.
        Walk = "walk",
    }
}

choice! {
    /// Ground below the scene.
    GroundMode {
        /// [`GroundMode::Shadow`] below scenes that have no floor of their own.
        Auto = "auto",
        /// Nothing.
        Off = "off",
        /// The background, on which shadows fall.
        Shadow = "shadow",
        /// The same, with lines that tell metres.
        Grid = "grid",
    }
}

choice! {
    /// The axis of a file that points up.
    UpAxis {
        /// Stated by the files; else +Y.
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
    /// The next axis after this one, around the list.
    pub fn next(self) -> Self {
        let axes = &Self::ALL[1..];
        let now = axes.iter().position(|axis| *axis == self);
        axes[now.map_or(0, |now| (now + 1) % axes.len())]
    }
}

/// On, off, or as the scene or the adapter needs it. Files may also say `true` and `false`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", from = "SwitchText")]
pub enum Switch {
    /// By what the scene or the adapter needs.
    Auto,
    /// Always.
    On,
    /// Never.
    Off,
}

/// A switch in a file.
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
    fn what() -> String {
        one_of(&["auto", "on", "off"])
    }
}
