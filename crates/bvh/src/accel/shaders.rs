//! The tree's shaders, and how a caller's own shader imports them.

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

/// The shaders of the tree, for [`Gpu::from_device`].
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
        "bvh/bvh_enter.wgsl",
        "bvh/bvh_meets.wgsl",
        "bvh/bvh_nearest.wgsl",
        "bvh/bvh_object.wgsl",
        "bvh/bvh_overlap.wgsl",
        "bvh/bvh_pairs.wgsl",
        "bvh/bvh_pseudonormal.wgsl",
        "bvh/bvh_region.wgsl",
        "bvh/bvh_steps.wgsl",
        "bvh/bvh_sweep.wgsl",
        "bvh/bvh_through.wgsl",
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
        "bvh/software/hierarchy_join.wgsl",
        "bvh/software/hierarchy_serial.wgsl",
        "bvh/software/pairs_descend.wgsl",
        "bvh/software/sort_serial.wgsl",
        "bvh/sorted.wgsl",
        "bvh/tree.wgsl",
        "bvh/tree_read.wgsl",
    ],
    constants: &[layout::CONSTANTS],
    // Numbers of vertices are the geometry's, which is validated; all others are made by these kernels. Every
    // loop counts something that ends: bits, digits, leaves, levels, or nodes to be visited.
    proven: &["bvh/build/", "bvh/query/", "bvh/software/"],
    base: None,
};

/// Plain WGSL of a caller's shader `text`, with the files that its `#import "bvh/bvh.wgsl"` lines name;
/// `name` is the shader's name in errors. It fits trees of the device `gpu`, which may differ in how they are
/// bound.
///
/// `bvh/bvh.wgsl` declares the tree as bind group 1 ([`Tree::bind_group`](super::Tree::bind_group)) and
/// offers `bvh_closest_hit(ray: Ray, leaf_cutoff: u32) -> Hit` and `bvh_any_hit(ray: Ray, leaf_cutoff: u32)
/// -> bool`. The caller's shader defines `fn bvh_accepts(triangle: LeafTriangle, barycentric: vec2f) ->
/// bool`, the any-hit test of triangles with [`ANY_HIT_TEST`](super::layout::ANY_HIT_TEST).
/// `bvh/bvh_nearest.wgsl` and `bvh/bvh_overlap.wgsl` are other queries of the same bind group.
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

/// What [`Tree::wgsl`](super::Tree::wgsl) consists of.
const QUERIES: &str = "\
#import \"bvh/bvh.wgsl\"
#import \"bvh/bvh_crossings.wgsl\"
#import \"bvh/bvh_nearest.wgsl\"
#import \"bvh/bvh_overlap.wgsl\"
#import \"bvh/bvh_sweep.wgsl\"
";

/// All queries in plain WGSL for a tree at bind group `group`, over objects of that kind, with no global names but
/// those that begin with `bvh_`, `Bvh` or `BVH_`. `accepts` defines `bvh_accepts`.
pub(super) fn queries(gpu: &Gpu, objects: Objects, group: u32, accepts: &str) -> Result<String> {
    let text = format!("{QUERIES}{accepts}\n");
    let composed = compose(gpu, "bvh_accepts", &text)?.text;
    let kind = format!("const BVH_OBJECTS: u32 = {}u;", objects as u32);
    let composed = composed
        .replace("override BVH_OBJECTS: u32 = BVH_TRIANGLES;", &kind)
        .replace("@group(1)", &format!("@group({group})"));
    Ok(prefixed(&composed))
}

/// Comments left out, and every global name with a prefix.
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

/// The words of WGSL, and what is between them, in order.
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

/// The name in the manner of its kind: of constants, types, or functions and variables.
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
