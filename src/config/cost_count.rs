//! What of a ray's cost is shown.

use super::describe::Describe;
use serde::{Deserialize, Serialize};

/// What of a ray's cost is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CostCount {
    /// Nodes and triangles together.
    Both,
    /// Nodes alone.
    Nodes,
    /// Triangles alone.
    Triangles,
}

impl CostCount {
    /// All of them, in the order of lists.
    pub const ALL: [Self; 3] = [Self::Both, Self::Nodes, Self::Triangles];

    /// The name in `config.toml` and in lists.
    pub fn name(self) -> &'static str {
        match self {
            Self::Both => "both",
            Self::Nodes => "nodes",
            Self::Triangles => "triangles",
        }
    }

    /// What nodes and triangles count.
    pub fn weights(self) -> [f32; 2] {
        match self {
            Self::Both => [1.0, 1.0],
            Self::Nodes => [1.0, 0.0],
            Self::Triangles => [0.0, 1.0],
        }
    }
}

impl Describe for CostCount {
    fn what() -> String {
        super::describe::one_of(&Self::ALL.map(Self::name))
    }
}
