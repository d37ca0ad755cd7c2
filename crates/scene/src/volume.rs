//! Volumes: what a medium is made of, on grids.

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
    /// Name of the file or of the node that brought it; may be empty.
    pub name: String,
    /// Its grids, each of another quantity, in the order of the file. At least one.
    pub grids: Vec<Grid>,
}

/// A dense grid of values. Between the centres of its voxels values are interpolated linearly; outside of
/// them they are the background.
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    /// Name in the file, which tells the quantity: `density`, `temperature`, `Cd`.
    pub name: String,
    /// Numbers of a voxel: 1, or 3 for a colour or a vector.
    pub components: usize,
    /// Voxels along x, y and z; none is 0.
    pub size: [u32; 3],
    /// From voxels to the axes of the volume, which its node places: the centre of the first voxel is at the
    /// origin, that of its neighbour along x at (1, 0, 0). Affine, and it can be inverted.
    pub volume_from_voxel: Mat4,
    /// The numbers of all voxels, x fastest and z slowest: finite.
    pub values: Vec<f32>,
    /// The value outside, in every component.
    pub background: f32,
}
