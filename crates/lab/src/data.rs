//! Structs and constants that the laboratory's shaders share with Rust.

use canopy_bvh::gpu::{library::wgsl_constants, structs::gpu_structs};

wgsl_constants! {
    /// Number of entries of a traversal stack in private memory.
    pub const LAB_STACK: u32 = 96;
    /// Total size of a workgroup's traversal stacks in 32-bit words. Every adapter has at least 16 KiB of
    /// workgroup memory.
    pub const LAB_WORKGROUP_WORDS: u32 = 3840;
    /// Fraction of a cell by which triangles are extended into adjacent cells, against rounding errors of
    /// rays.
    pub const GRID_SLACK: f64 = 1e-3;
    /// Minimum extent of a box that is divided into cells.
    pub const GRID_MIN: f64 = 1.2e-38;
    /// Maximum number of triangles of a cell that one thread sorts on the GPU. The CPU sorts larger cells
    /// after the readback.
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
        /// Reference to the root (`lab/reference.wgsl`).
        root: u32,
        /// Number of cells of a grid along each axis.
        cells: [u32; 3],
        first_ray: u32,
    }

    /// Parameters of the kernels that build a grid (`lab/grid.wgsl`).
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
        /// Length of the rays, in metres.
        far: f32,
        /// Vector from the eye to the ray origins of pixels at the upper edge.
        up: [f32; 3],
        /// Offset of shadow ray origins from surfaces, in metres.
        step: f32,
        /// Number of triangles in the scene.
        triangle_count: u32,
        _pad: [u32; 3],
    }

    /// Parameters for the image of the channel `lab`.
    LabShowParams {
        size: [u32; 2],
        /// Image to show, a value of `LabShow`.
        show: u32,
        /// 1 for any-hit rays to a light, 0 for primary rays.
        is_shadow: u32,
        /// 1 if `own_hits` is valid, because the rays were also traced through canopy's own BVHs.
        is_checked: u32,
        /// Absolute tolerance for the distances of equal hits, in addition to the relative `LAB_NEAR`.
        slack: f32,
    }

    /// Result of a ray through a volume.
    LabMarchResult {
        /// Radiance towards the ray's origin.
        radiance: [f32; 3],
        /// Transmittance along the ray, from 0 to 1.
        transmittance: f32,
        /// Number of density samples along the ray.
        samples: u32,
        _pad: [u32; 3],
    }
}
