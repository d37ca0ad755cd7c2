//! The tree's shaders, and how a caller's own shader imports them.

use super::layout;
use crate::{
    Result,
    gpu::{
        Gpu, Library,
        library::wgsl_files,
        shader::{self, Composed},
    },
};

/// The shaders of the tree, for [`Gpu::from_device`].
pub static SHADERS: Library = Library {
    files: wgsl_files![
        "accel/bounds.wgsl",
        "accel/cost.wgsl",
        "accel/hierarchy.wgsl",
        "accel/hierarchy_across.wgsl",
        "accel/morton.wgsl",
        "accel/nearest.wgsl",
        "accel/overlap.wgsl",
        "accel/ploc.wgsl",
        "accel/ploc_leaves.wgsl",
        "accel/ploc_nodes.wgsl",
        "accel/pyramid.wgsl",
        "accel/query_codes.wgsl",
        "accel/regroup.wgsl",
        "accel/scan.wgsl",
        "accel/software/hierarchy_join.wgsl",
        "accel/software/hierarchy_serial.wgsl",
        "accel/software/sort_serial.wgsl",
        "accel/sort.wgsl",
        "accel/sort_small.wgsl",
        "accel/sort_subgroups.wgsl",
        "accel/tlas.wgsl",
        "accel/tlas_leaves.wgsl",
        "accel/trace.wgsl",
        "common/box.wgsl",
        "common/bvh.wgsl",
        "common/bvh_nearest.wgsl",
        "common/bvh_overlap.wgsl",
        "common/dispatch.wgsl",
        "common/geometry.wgsl",
        "common/items.wgsl",
        "common/leaf.wgsl",
        "common/mesh_bounds.wgsl",
        "common/morton.wgsl",
        "common/node.wgsl",
        "common/ploc.wgsl",
        "common/pyramid.wgsl",
        "common/radix_tree.wgsl",
        "common/ray.wgsl",
        "common/sort.wgsl",
        "common/sort_block.wgsl",
        "common/sort_scatter.wgsl",
        "common/sorted.wgsl",
        "common/tree.wgsl",
        "common/tree_read.wgsl",
        "common/unseen.wgsl",
    ],
    constants: &[layout::CONSTANTS],
    // Numbers of vertices are the geometry's, which is validated; all others are made by these kernels. Every
    // loop counts something that ends: bits, digits, leaves, levels, or nodes to be visited.
    proven: &["accel/"],
    base: None,
};

/// Plain WGSL of a caller's shader `text`, with the files that its `#import "common/bvh.wgsl"` lines name;
/// `name` is the shader's name in errors. It fits trees of the device `gpu`, which may differ in how they are
/// bound.
///
/// `common/bvh.wgsl` declares the tree as bind group 1 ([`Tree::bind_group`](super::Tree::bind_group)) and
/// offers `bvh_closest_hit(ray: Ray, leaf_cutoff: u32) -> Hit` and `bvh_any_hit(ray: Ray, leaf_cutoff: u32)
/// -> bool`. The caller's shader defines `fn bvh_accepts(triangle: LeafTriangle, barycentric: vec2f) ->
/// bool`, the any-hit test of triangles with [`ANY_HIT_TEST`](super::layout::ANY_HIT_TEST).
/// `common/bvh_nearest.wgsl` and `common/bvh_overlap.wgsl` are other queries of the same bind group.
///
/// # Errors
///
/// A missing file or a broken import line, with the file and line.
pub fn compose(gpu: &Gpu, name: &str, text: &str) -> Result<Composed> {
    shader::compose_text(gpu.shaders(), name, text, gpu.capabilities.arrays)
}

/// As [`compose`], compiled.
///
/// # Errors
///
/// As there, and those of the WGSL, with the file and line of the caller's text or of canopy's.
pub fn shader_module(gpu: &Gpu, name: &str, text: &str) -> Result<wgpu::ShaderModule> {
    shader::create_module(gpu, name, &compose(gpu, name, text)?, false)
}
