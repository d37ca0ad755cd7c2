// Merged scene geometry, the input of the BVH builder (group 1). It consists of tightly packed world-space positions, a
// triangle list with absolute vertex indices, and two words per triangle: the mesh (with ANY_HIT_TEST) and the caller's
// payload.
//
// The builder sorts items: the triangles of the scene, followed by its meshes, whose tree is the TLAS. Leaves are
// numbered like items. The leaves of a mesh have the indices of its triangles. The leaves of the TLAS have the indices
// of the meshes.
#import "bvh/box.wgsl"

struct BuildParams {
    triangle_count: u32,
    mesh_count: u32,
    // Number of items that this build sorts, and number of triangles among them.
    item_count: u32,
    item_triangles: u32,
    // 1 if this build includes all items, in their original order.
    all_items: u32,
    // Bits of the codes per axis: 10 or fewer, or 21 for codes of 63 bits.
    axis_bits: u32,
    // Maximum number of triangles in a range that gets no node.
    leaf_cutoff: u32,
    // Word offsets of the parts of `scratch` (bvh/sorted.wgsl).
    spans_word: u32,
    across_word: u32,
    list_word: u32,
    level_word: u32,
    // Triangles per thread of bounds.wgsl, and the stride between them: 1 or BOUNDS_THREADS.
    bounds_run: u32,
    bounds_step: u32,
    // Word offsets of the data of bvh/build/ploc_links.wgsl.
    link_word: u32,
    count_word: u32,
    // Index of the first box of each pyramid level, four levels per row.
    level_offset: array<vec4u, 7>,
}

struct MeshRange {
    first_triangle: u32,
    triangle_count: u32,
    first_vertex: u32,
}

@group(0) @binding(0) var<uniform> params: BuildParams;
#array read 1 0 position_words: u32
#array read 1 1 index_words: u32
#array read 1 2 triangle_info: vec2u

fn geometry_position(vertex: u32) -> vec3f {
    let first = 3u * vertex;
    let words = vec3u(position_words(first), position_words(first + 1u), position_words(first + 2u));
    return bitcast<vec3f>(words);
}

struct Corners {
    v0: vec3f,
    v1: vec3f,
    v2: vec3f,
}

fn geometry_triangle(triangle: u32) -> Corners {
    return Corners(
        geometry_position(index_words(3u * triangle)),
        geometry_position(index_words(3u * triangle + 1u)),
        geometry_position(index_words(3u * triangle + 2u)),
    );
}

// Returns the box of a triangle. It is empty, and never hit, if a coordinate cannot be held by a tree.
fn geometry_box(t: Corners) -> Box {
    if !(box_coordinates_valid(t.v0) && box_coordinates_valid(t.v1) && box_coordinates_valid(t.v2)) {
        return box_empty();
    }
    return Box(min(t.v0, min(t.v1, t.v2)), max(t.v0, max(t.v1, t.v2)));
}

// Returns the box of a leaf, a triangle or a mesh, from its three rows.
fn leaf_box(a: vec4u, b: vec4u, c: vec4u) -> Box {
    let v0 = bitcast<vec3f>(a.xyz);
    let v1 = bitcast<vec3f>(b.xyz);
    let v2 = bitcast<vec3f>(c.xyz);
    if v0.x == EMPTY_BOX_EXTENT {
        return box_empty();
    }
    return Box(min(v0, min(v1, v2)), max(v0, max(v1, v2)));
}

fn geometry_mesh(triangle: u32) -> u32 {
    return triangle_info(triangle).x & ~ANY_HIT_TEST;
}

// Offset of a mesh's own box within its BOUNDS_WORDS words of `mesh_bounds`. The bounds of the centres of its triangle
// boxes come first. The scene's box follows the last mesh.
const BOUNDS_BOX = 6u;

// Inverts `ordered` of bvh/build/bounds.wgsl.
fn bounds_float(x: u32) -> f32 {
    return bitcast<f32>(select(~x, x & 0x7fffffffu, (x & 0x80000000u) != 0u));
}

fn bounds_box(lower: vec3u, upper: vec3u) -> Box {
    if upper.x == 0u {
        return box_empty();
    }
    return Box(
        vec3f(bounds_float(~lower.x), bounds_float(~lower.y), bounds_float(~lower.z)),
        vec3f(bounds_float(upper.x), bounds_float(upper.y), bounds_float(upper.z)),
    );
}
