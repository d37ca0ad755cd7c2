//! Structs and constants that the laboratory's shaders share with Rust.

use canopy_bvh::gpu::{library::wgsl_constants, structs::gpu_structs};

wgsl_constants! {
    /// Entries of the stacks of the laboratory's walks in private memory.
    pub const LAB_STACK: u32 = 96;
    /// Words of the stacks of a workgroup, which has 16 KiB everywhere.
    pub const LAB_WORKGROUP_WORDS: u32 = 3840;
    /// Share of a cell by which triangles reach into the next one, for what rounding does to rays.
    pub const GRID_SLACK: f64 = 1e-3;
    /// Least extent of a box that is divided into cells.
    pub const GRID_LEAST: f64 = 1.2e-38;
    /// Triangles of a cell that one thread sorts.
    pub const GRID_ORDERED: u32 = 1024;
    /// Cells for each triangle of the lower level of two.
    pub const GRID_LOWER_DENSITY: f64 = 2.0;
    /// Most cells along an axis of it.
    pub const GRID_LOWER_SIDE: f64 = 64.0;
    /// How much larger than the whole three areas may be where a ray hits.
    pub const LAB_AREAS_SLACK: f64 = 1.00001;
}

gpu_structs! {
    /// What the kernels of the laboratory trace, and where they begin.
    LabQuery {
        /// Lower corner of the box of all triangles.
        lower: [f32; 3],
        ray_count: u32,
        upper: [f32; 3],
        /// A reference: see `lab/reference.wgsl`.
        root: u32,
        /// Cells of a grid along each axis.
        cells: [u32; 3],
        first_ray: u32,
    }

    /// The cells of a grid of the laboratory: see `lab/grid.wgsl`.
    LabGrid {
        lower: [f32; 3],
        /// Threads that there is work for.
        count: u32,
        upper: [f32; 3],
        cells: u32,
        side: [u32; 3],
        _pad: u32,
    }

    /// A hit of the laboratory.
    LabHit {
        /// Distance in units of the direction's length; the ray's `t_max` for a miss.
        t: f32,
        /// Weights of the second and the third corner.
        u: f32,
        v: f32,
        /// Number of the triangle in the order of the structure; `BVH_MISS` for a miss.
        leaf: u32,
    }

    /// How the rays of the channel `lab` are made.
    LabRayParams {
        /// From the eye to where the rays of the pixels at the right edge start; zero but for orthographic views.
        right: [f32; 3],
        /// How far rays go.
        far: f32,
        /// From the eye to where the rays of the pixels at the upper edge start.
        up: [f32; 3],
        /// How far from surfaces shadow rays start.
        step: f32,
        /// Triangles of the scene.
        triangle_count: u32,
        _pad: [u32; 3],
    }

    /// What the channel `lab` shows of its rays.
    LabShowParams {
        size: [u32; 2],
        /// A `LabShow`.
        show: u32,
        /// Whether rays go to a light, and ask for any hit.
        is_shadow: u32,
        /// Whether they were traced through canopy's own trees, too.
        is_checked: u32,
        /// How far apart two hits are that are not the same, beside a ten-thousandth of their distance.
        slack: f32,
    }

    /// What a ray sees of a volume in the laboratory.
    LabSeen {
        /// Radiance towards the beginning of the ray.
        radiance: [f32; 3],
        /// The share of light from behind that comes through.
        through: f32,
        /// Samples that were taken.
        samples: u32,
        _pad: [u32; 3],
    }
}
