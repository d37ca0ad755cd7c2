//! Shaders of the laboratory, in addition to the renderer's.

use super::{
    data,
    view::{lab_rays, lab_show},
};
use canopy_bvh::gpu::{Library, library::wgsl_files};

/// Library with every shader file of the laboratory. A test checks that none is missing.
pub static SHADERS: Library = Library {
    files: wgsl_files![
        "lab/binary.wgsl",
        "lab/cells.wgsl",
        "lab/data.wgsl",
        "lab/grid.wgsl",
        "lab/hit.wgsl",
        "lab/lab_rays.wgsl",
        "lab/lab_show.wgsl",
        "lab/parts.wgsl",
        "lab/reference.wgsl",
        "lab/test_areas.wgsl",
        "lab/test_baldwin_weber.wgsl",
        "lab/test_moller_trumbore.wgsl",
        "lab/test_plucker.wgsl",
        "lab/test_unit_triangle.wgsl",
        "lab/test_watertight.wgsl",
        "lab/trace.wgsl",
        "lab/trail.wgsl",
        "lab/volume_orders.wgsl",
        "lab/walk_grid.wgsl",
        "lab/walk_kd_tree.wgsl",
        "lab/walk_parents.wgsl",
        "lab/walk_private.wgsl",
        "lab/walk_restart.wgsl",
        "lab/walk_skip.wgsl",
        "lab/walk_stack.wgsl",
        "lab/walk_two_level.wgsl",
        "lab/walk_wide.wgsl",
        "lab/walk_workgroup.wgsl",
    ],
    constants: &[data::CONSTANTS, lab_rays::CONSTANTS, lab_show::CONSTANTS],
    proven: &[],
    base: Some(&canopy_render::SHADERS),
};
