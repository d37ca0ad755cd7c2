//! Structs and constants that the laboratory's shaders share with Rust.

use canopy_bvh::gpu::{library::wgsl_constants, structs::gpu_structs};

wgsl_constants! {
    /// Entries of a traversal stack in private memory.
    pub const LAB_STACK: u32 = 96;
    /// Words of all traversal stacks of a workgroup. Every adapter has 16 KiB of workgroup memory.
    pub const LAB_WORKGROUP_WORDS: u32 = 3840;
    /// Fraction of a cell by which triangles are extended into adjacent cells, against rounding errors of
    /// rays.
    pub const GRID_SLACK: f64 = 1e-3;
    /// Minimum extent of a box that is divided into cells.
    pub const GRID_MIN: f64 = 1.2e-38;
    /// Maximum number of triangles of a cell that one thread sorts.
    pub const GRID_ORDERED: u32 = 1024;
    /// Cells per triangle of the lower level of a two-level grid.
    pub const GRID_LOWER_DENSITY: f64 = 2.0;
    /// Maximum number of cells along an axis of the lower level.
    pub const GRID_LOWER_SIDE: f64 = 64.0;
    /// Tolerance for the sum of the three areas at a hit, relative to the triangle's area.
    pub const LAB_AREAS_SLACK: f64 = 1.00001;
}

gpu_structs! {
    /// Inputs of the laboratory's traversal kernels.
    LabQuery {
        /// Lower corner of the bounding box of all triangles.
        lower: [f32; 3],
        ray_count: u32,
        upper: [f32; 3],
        /// Reference of the root (`lab/reference.wgsl`).
        root: u32,
        /// Number of cells of a grid along each axis.
        cells: [u32; 3],
        first_ray: u32,
    }

    /// Cells of a grid (`lab/grid.wgsl`).
    LabGrid {
        lower: [f32; 3],
        /// Number of active threads.
        count: u32,
        upper: [f32; 3],
        cells: u32,
        side: [u32; 3],
        _pad: u32,
    }

    /// Hit of a ray.
    LabHit {
        /// Distance in units of the direction's length, or the ray's `t_max` for a miss.
        t: f32,
        /// Barycentric weights of the second and third corners.
        u: f32,
        v: f32,
        /// Index of the triangle in the order of the structure, or `BVH_MISS` for a miss.
        leaf: u32,
    }

    /// Parameters for the rays of the channel `lab`.
    LabRayParams {
        /// Vector from the eye to the ray origins of pixels at the right edge. Zero except for orthographic
        /// views.
        right: [f32; 3],
        /// Length of the rays.
        far: f32,
        /// Vector from the eye to the ray origins of pixels at the upper edge.
        up: [f32; 3],
        /// Offset of shadow rays from surfaces.
        step: f32,
        /// Number of triangles in the scene.
        triangle_count: u32,
        _pad: [u32; 3],
    }

    /// Parameters for the image of the channel `lab`.
    LabShowParams {
        size: [u32; 2],
        /// Value of `LabShow`.
        show: u32,
        /// 1 if rays go to a light and are any-hit.
        is_shadow: u32,
        /// 1 if the rays were also traced through canopy's own BVHs.
        is_checked: u32,
        /// Tolerance for equal hits, in addition to a ten-thousandth of their distance.
        slack: f32,
    }

    /// Result of a ray through a volume.
    LabMarchResult {
        /// Radiance towards the ray's origin.
        radiance: [f32; 3],
        /// Transmittance.
        transmittance: f32,
        /// Number of samples.
        samples: u32,
        _pad: [u32; 3],
    }
}
