//! Images of the light from all around.

use half::f16;

/// How an image covers the sphere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EnvironmentShape {
    /// u = ½ + atan2(z, x) / 2π and v = acos(y) / π, the first row up.
    Equirectangular,
    /// Six faces below each other: +X, −X, +Y, −Y, +Z, −Z.
    Cube,
}

/// Linear radiance from all around.
#[derive(Debug, Clone)]
pub struct EnvironmentImage {
    /// For messages.
    pub name: String,
    /// How it covers the sphere.
    pub shape: EnvironmentShape,
    /// Texels in a row.
    pub width: u32,
    /// Rows; of a cube six times the width.
    pub height: u32,
    /// Rows from the top.
    pub texels: Vec<[f16; 4]>,
    /// A power of two that texels are to be multiplied by, so that suns fit into them.
    pub scale: f32,
}
