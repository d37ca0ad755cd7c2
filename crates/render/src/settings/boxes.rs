//! Selection of the BVH boxes that are drawn.

use canopy_scene::settings::describe::Describe;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Depths of the BVH boxes that are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum BoxDepths {
    /// No boxes.
    Off,
    /// Leaf boxes.
    Leaves,
    /// Range of levels below the root, inclusive.
    Depths(u32, u32),
}

impl BoxDepths {
    /// Maximum depth that can be selected. No BVH is deeper.
    pub const DEEPEST: u32 = 95;

    /// Returns the minimum and maximum depth, or `None` if nothing is drawn.
    pub fn range(self) -> Option<[u32; 2]> {
        match self {
            Self::Off => None,
            Self::Leaves => Some([0, Self::DEEPEST]),
            Self::Depths(first, last) => Some([first, last]),
        }
    }
}

impl Describe for BoxDepths {
    fn type_name() -> String {
        "\"off\", \"leaves\", a depth such as \"3\" or a range such as \"0-4\"".into()
    }
}

impl fmt::Display for BoxDepths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => f.write_str("off"),
            Self::Leaves => f.write_str("leaves"),
            Self::Depths(first, last) if first == last => first.fmt(f),
            Self::Depths(first, last) => write!(f, "{first}-{last}"),
        }
    }
}

impl From<BoxDepths> for String {
    fn from(depths: BoxDepths) -> Self {
        depths.to_string()
    }
}

impl TryFrom<String> for BoxDepths {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let depth = |text: &str| text.parse().ok().filter(|depth| *depth <= Self::DEEPEST);
        let (first, last) = text.split_once('-').unwrap_or((&text, &text));
        match (text.as_str(), depth(first), depth(last)) {
            ("off", ..) => Ok(Self::Off),
            ("leaves", ..) => Ok(Self::Leaves),
            (_, Some(first), Some(last)) if first <= last => Ok(Self::Depths(first, last)),
            _ => Err(format!(
                "\"{text}\" is not off, leaves, a depth up to {} or a range such as 0-4",
                Self::DEEPEST
            )),
        }
    }
}

/// BVHs whose boxes are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum BoxTrees {
    /// BVHs of all meshes.
    Meshes,
    /// Top-level BVH over the meshes (TLAS).
    Top,
    /// BVH of one mesh instance, by its index.
    Mesh(u32),
}

impl Describe for BoxTrees {
    fn type_name() -> String {
        "\"meshes\", \"top\" or the number of a mesh in quotes".into()
    }
}

impl fmt::Display for BoxTrees {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Meshes => f.write_str("meshes"),
            Self::Top => f.write_str("top"),
            Self::Mesh(mesh) => mesh.fmt(f),
        }
    }
}

impl From<BoxTrees> for String {
    fn from(trees: BoxTrees) -> Self {
        trees.to_string()
    }
}

impl TryFrom<String> for BoxTrees {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match (text.as_str(), text.parse()) {
            ("meshes", _) => Ok(Self::Meshes),
            ("top", _) => Ok(Self::Top),
            (_, Ok(mesh)) => Ok(Self::Mesh(mesh)),
            _ => Err(format!("\"{text}\" is not meshes, top or the number of a mesh")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tree_box_settings_round_trip_as_text() {
        for text in ["off", "leaves", "0", "7", "0-4", "95"] {
            let depths = BoxDepths::try_from(text.to_owned());
            assert_eq!(depths.map(String::from), Ok(text.to_owned()));
        }
        assert_eq!(BoxDepths::try_from("3-3".to_owned()), Ok(BoxDepths::Depths(3, 3)));
        for text in ["", "-", "4-0", "96", "0-96", "1-2-3", "leaf", "-1"] {
            assert!(BoxDepths::try_from(text.to_owned()).is_err(), "{text}");
        }
        for text in ["meshes", "top", "12"] {
            let trees = BoxTrees::try_from(text.to_owned());
            assert_eq!(trees.map(String::from), Ok(text.to_owned()));
        }
        for text in ["", "mesh", "-1", "1.5"] {
            assert!(BoxTrees::try_from(text.to_owned()).is_err(), "{text}");
        }
    }
}
