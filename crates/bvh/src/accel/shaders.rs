//! The tree's shaders, and their composition with a caller's own shader.

use super::layout::{self, Objects};
use crate::{
    Result,
    gpu::{
        Gpu, Library,
        library::wgsl_files,
        shader::{self, Composed},
    },
};
use std::collections::BTreeMap;

/// Shaders of the tree, for [`Gpu::from_device`].
pub static SHADERS: Library = Library {
    files: wgsl_files![
        "bvh/angle.wgsl",
        "bvh/box.wgsl",
        "bvh/build/bounds.wgsl",
        "bvh/build/cost.wgsl",
        "bvh/build/hierarchy.wgsl",
        "bvh/build/hierarchy_across.wgsl",
        "bvh/build/items.wgsl",
        "bvh/build/mesh_bounds.wgsl",
        "bvh/build/moments.wgsl",
        "bvh/build/morton.wgsl",
        "bvh/build/objects.wgsl",
        "bvh/build/ploc.wgsl",
        "bvh/build/ploc_leaves.wgsl",
        "bvh/build/ploc_links.wgsl",
        "bvh/build/ploc_nodes.wgsl",
        "bvh/build/pyramid.wgsl",
        "bvh/build/pyramid_levels.wgsl",
        "bvh/build/radix_tree.wgsl",
        "bvh/build/ray_nodes.wgsl",
        "bvh/build/regroup.wgsl",
        "bvh/build/scan.wgsl",
        "bvh/build/sort.wgsl",
        "bvh/build/sort_block.wgsl",
        "bvh/build/sort_digit.wgsl",
        "bvh/build/sort_scatter.wgsl",
        "bvh/build/sort_small.wgsl",
        "bvh/build/sort_subgroups.wgsl",
        "bvh/build/tlas.wgsl",
        "bvh/build/tlas_leaves.wgsl",
        "bvh/bvh.wgsl",
        "bvh/bvh_crossings.wgsl",
        "bvh/bvh_intersect_children.wgsl",
        "bvh/bvh_objects_overlap.wgsl",
        "bvh/bvh_nearest.wgsl",
        "bvh/bvh_object.wgsl",
        "bvh/bvh_overlap.wgsl",
        "bvh/bvh_pairs.wgsl",
        "bvh/bvh_pseudonormal.wgsl",
        "bvh/bvh_rays.wgsl",
        "bvh/bvh_region.wgsl",
        "bvh/bvh_steps.wgsl",
        "bvh/bvh_sweep.wgsl",
        "bvh/bvh_penetration.wgsl",
        "bvh/bvh_triangle.wgsl",
        "bvh/bvh_walk.wgsl",
        "bvh/bvh_winding.wgsl",
        "bvh/dispatch.wgsl",
        "bvh/geometry.wgsl",
        "bvh/leaf.wgsl",
        "bvh/morton_code.wgsl",
        "bvh/node.wgsl",
        "bvh/predicate.wgsl",
        "bvh/query/counted.wgsl",
        "bvh/query/crossings.wgsl",
        "bvh/query/nearest.wgsl",
        "bvh/query/nearest_k.wgsl",
        "bvh/query/nearest_sign.wgsl",
        "bvh/query/overlap.wgsl",
        "bvh/query/overlap_pairs.wgsl",
        "bvh/query/query_codes.wgsl",
        "bvh/query/query_order.wgsl",
        "bvh/query/sweep.wgsl",
        "bvh/query/trace.wgsl",
        "bvh/query/winding.wgsl",
        "bvh/ray.wgsl",
        "bvh/ray_node.wgsl",
        "bvh/ray_stack.wgsl",
        "bvh/software/bvh_rays.wgsl",
        "bvh/software/hierarchy_join.wgsl",
        "bvh/software/hierarchy_serial.wgsl",
        "bvh/software/pairs_descend.wgsl",
        "bvh/software/ray_stack.wgsl",
        "bvh/software/sort_serial.wgsl",
        "bvh/software/trace_portable.wgsl",
        "bvh/sorted.wgsl",
        "bvh/tree.wgsl",
        "bvh/tree_read.wgsl",
    ],
    constants: &[layout::CONSTANTS],
    // The vertex indices come from the geometry, which was validated. All other indices are computed by these
    // kernels. Every loop is bounded by a finite count of bits, digits, leaves, levels or unvisited nodes.
    proven: &["bvh/build/", "bvh/query/", "bvh/software/"],
    base: None,
};

/// Composes the caller's shader `text` with the files of its `#import "bvh/bvh.wgsl"` lines into plain WGSL.
/// Errors refer to the shader as `name`. The result works with trees of the device `gpu`. Other devices may
/// bind trees differently.
///
/// `bvh/bvh.wgsl` declares the tree as bind group 1 ([`Tree::bind_group`](super::Tree::bind_group)) and
/// defines `bvh_closest_hit(ray: Ray, leaf_cutoff: u32) -> Hit` and `bvh_any_hit(ray: Ray, leaf_cutoff: u32)
/// -> bool`. The caller's shader defines the any-hit test of triangles with
/// [`ANY_HIT_TEST`](super::layout::ANY_HIT_TEST), `fn bvh_accepts(triangle: LeafTriangle, barycentric: vec2f)
/// -> bool`. `bvh/bvh_nearest.wgsl` and `bvh/bvh_overlap.wgsl` are other queries over the same bind group.
///
/// # Errors
///
/// A missing file or a broken import line, with the file and line.
pub fn compose(gpu: &Gpu, name: &str, text: &str) -> Result<Composed> {
    shader::compose_text(gpu.shaders(), name, text, gpu.capabilities.shader_choices())
}

/// Composes like [`compose`], and compiles the result.
///
/// # Errors
///
/// Any error of [`compose`], and WGSL errors with the file and line in your source or in canopy's.
pub fn shader_module(gpu: &Gpu, name: &str, text: &str) -> Result<wgpu::ShaderModule> {
    shader::create_module(gpu, name, &compose(gpu, name, text)?, false)
}

/// Imports of [`Tree::wgsl`](super::Tree::wgsl).
const QUERIES: &str = "\
#import \"bvh/bvh.wgsl\"
#import \"bvh/bvh_crossings.wgsl\"
#import \"bvh/bvh_nearest.wgsl\"
#import \"bvh/bvh_overlap.wgsl\"
#import \"bvh/bvh_sweep.wgsl\"
";

/// Returns all queries in plain WGSL, for a tree over `objects` at bind group `group`. All global names begin
/// with `bvh_`, `Bvh` or `BVH_`. `accepts` defines `bvh_accepts`.
pub(super) fn queries(gpu: &Gpu, objects: Objects, group: u32, accepts: &str) -> Result<String> {
    let text = format!("{QUERIES}{accepts}\n");
    let composed = compose(gpu, "bvh_accepts", &text)?.text;
    let kind = format!("const BVH_OBJECTS: u32 = {}u;", objects as u32);
    let composed = composed
        .replace("override BVH_OBJECTS: u32 = BVH_TRIANGLES;", &kind)
        .replace("@group(1)", &format!("@group({group})"));
    Ok(prefixed(&composed))
}

/// Removes comments and prefixes every global name.
fn prefixed(text: &str) -> String {
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or(""));
    let code: String = lines
        .filter(|line| !line.trim().is_empty())
        .map(|line| format!("{}\n", line.trim_end()))
        .collect();
    let tokens = tokens(&code);
    let mut globals = BTreeMap::new();
    let mut depth = 0;
    let mut declares = false;
    let mut angles = 0;
    for token in &tokens {
        match *token {
            "{" => depth += 1,
            "}" => depth -= 1,
            "<" if declares => angles += 1,
            ">" if declares => angles -= 1,
            "fn" | "struct" | "const" | "override" | "alias" | "var" if depth == 0 => {
                (declares, angles) = (true, 0);
            }
            name if declares && angles == 0 && is_name(name) => {
                declares = false;
                globals.insert(name, with_prefix(name));
            }
            _ => {}
        }
    }
    let mut last = "";
    let renamed = tokens.iter().map(|token| {
        let is_member = last == ".";
        last = token;
        match globals.get(token) {
            Some(name) if !is_member => name,
            _ => *token,
        }
    });
    renamed.collect()
}

/// Splits WGSL into words and the characters between them, in order.
fn tokens(code: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = code;
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let end = match is_word(first) {
            true => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            false => first.len_utf8(),
        };
        let (token, after) = rest.split_at(end);
        tokens.push(token);
        rest = after;
    }
    tokens
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
}

/// Prefixes a name in the style of its kind: constants, types, or functions and variables.
fn with_prefix(name: &str) -> String {
    let of_kind = |prefix: &str| match name.starts_with(prefix) {
        true => name.to_owned(),
        false => format!("{prefix}{name}"),
    };
    if !name.contains(|c: char| c.is_ascii_lowercase()) {
        of_kind("BVH_")
    } else if name.starts_with(|c: char| c.is_ascii_uppercase()) {
        of_kind("Bvh")
    } else {
        of_kind("bvh_")
    }
}
