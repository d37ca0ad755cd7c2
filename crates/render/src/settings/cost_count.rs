//! Counters of the channel `cost`.

use canopy_scene::choice;

choice! {
    /// Counter that the channel `cost` shows.
    CostCount {
        /// Nodes and triangles together.
        Both = "both",
        /// Nodes only.
        Nodes = "nodes",
        /// Triangles only.
        Triangles = "triangles",
    }
}

impl CostCount {
    /// Returns the weights of nodes and triangles in the count.
    pub fn weights(self) -> [f32; 2] {
        match self {
            Self::Both => [1.0, 1.0],
            Self::Nodes => [1.0, 0.0],
            Self::Triangles => [0.0, 1.0],
        }
    }
}
