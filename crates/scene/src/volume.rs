//! Volumes: grids of the quantities of a medium.

mod blosc;
mod cursor;
mod inflate;
pub(super) mod load;
mod nanovdb;
mod nifti;
mod nrrd;
mod openvdb;
mod placement;
mod reading;
mod scalar;
mod sparse;

use glam::Mat4;

/// A volume of smoke, fire or cloud, or a scan.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Volume {
    /// Name of the file or node that it comes from; may be empty.
    pub name: String,
    /// Grids of different quantities, in the order of the file. There is at least one.
    pub grids: Vec<Grid>,
}

/// A dense grid of values. Values are interpolated linearly between voxel centres. Outside of them the
/// background applies.
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    /// Name in the file, which identifies the quantity: `density`, `temperature`, `Cd`.
    pub name: String,
    /// Number of components per voxel: 1, or 3 for a colour or a vector.
    pub components: usize,
    /// Number of voxels along x, y and z; never 0.
    pub size: [u32; 3],
    /// Transform from voxels to the axes of the volume, which its node places. The centre of the first voxel
    /// is at the origin, and the centre of its neighbour along x at (1, 0, 0). It is affine and invertible.
    pub volume_from_voxel: Mat4,
    /// Components of all voxels, all finite, with x fastest and z slowest.
    pub values: Vec<f32>,
    /// Value outside, for every component.
    pub background: f32,
}
