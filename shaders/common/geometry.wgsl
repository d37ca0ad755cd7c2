// The merged scene as the tree's builder reads it (group 0): tight world positions, a triangle list with absolute vertex numbers,
// and two words per triangle: the mesh (with NEEDS_CONSENT) and the caller's payload.
//
// The builder sorts items: a scene's triangles, and after them its meshes, whose tree is the TLAS. Places in leaf order are numbered like
// items, and each mesh's triangles, like the meshes themselves, keep to the places that their own numbers have.
#import "common/box.wgsl"

struct BuildParams {
    triangle_count: u32,
    mesh_count: u32,
    // Items that this build sorts, and how many of them are triangles.
    item_count: u32,
    item_triangles: u32,
    // 1 where those are all, in order.
    all_items: u32,
    // Of the codes: 10 or fewer, or 21 for codes of 63 bits.
    axis_bits: u32,
    // First box of each level of the pyramid, four levels a row.
    level_offset: array<vec4u, 7>,
}

struct MeshRange {
    first_triangle: u32,
    triangle_count: u32,
    first_vertex: u32,
}

@group(0) @binding(0) var<uniform> params: BuildParams;
#array read 0 1 position_words: u32
#array read 0 2 index_words: u32
#array read 0 3 triangle_info: vec2u

fn geometry_position(vertex: u32) -> vec3f {
    return bitcast<vec3f>(vec3u(position_words(3u * vertex), position_words(3u * vertex + 1u), position_words(3u * vertex + 2u)));
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

// Empty for a triangle with a coordinate that no tree can hold: it is never hit.
fn geometry_box(t: Corners) -> Box {
    if !(box_coordinates_valid(t.v0) && box_coordinates_valid(t.v1) && box_coordinates_valid(t.v2)) {
        return box_empty();
    }
    return Box(min(t.v0, min(t.v1, t.v2)), max(t.v0, max(t.v1, t.v2)));
}

fn geometry_mesh(triangle: u32) -> u32 {
    return triangle_info(triangle).x & ~NEEDS_CONSENT;
}

// Of a mesh's BOUNDS_WORDS in `mesh_bounds` the first half is the box around its centroids; from here on its own box. Behind the last mesh
// stands the scene's box.
const BOUNDS_BOX = 6u;

// Undoes `ordered` of accel/bounds.wgsl.
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
