// The merged scene as the tree's builder reads it (group 0): tight world positions, a triangle list with absolute vertex numbers,
// and two words per triangle: the mesh (with NEEDS_CONSENT) and the caller's payload.
#import "common/box.wgsl"

struct BuildParams {
    triangle_count: u32,
    mesh_count: u32,
    // First box of each level of the pyramid, four levels a row.
    level_offset: array<vec4u, 7>,
}

struct MeshRange {
    first_triangle: u32,
    triangle_count: u32,
    first_vertex: u32,
}

@group(0) @binding(0) var<uniform> params: BuildParams;
@group(0) @binding(1) var<storage, read> positions: array<f32>;
@group(0) @binding(2) var<storage, read> indices: array<u32>;
@group(0) @binding(3) var<storage, read> triangle_info: array<vec2u>;

fn geometry_position(vertex: u32) -> vec3f {
    return vec3f(positions[3u * vertex], positions[3u * vertex + 1u], positions[3u * vertex + 2u]);
}

struct Corners {
    v0: vec3f,
    v1: vec3f,
    v2: vec3f,
}

fn geometry_triangle(triangle: u32) -> Corners {
    return Corners(
        geometry_position(indices[3u * triangle]),
        geometry_position(indices[3u * triangle + 1u]),
        geometry_position(indices[3u * triangle + 2u]),
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
    return triangle_info[triangle].x & ~NEEDS_CONSENT;
}
