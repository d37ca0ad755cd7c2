// Data structures of a BVH. Nodes are numbered like leaves. A mesh's root has the index of its first triangle, the
// TLAS's root the index after the last triangle. A node has four rows of four words, a triangle three.

// Node of up to four children, whose boxes are quantised to a grid: see accel::layout::Node.
struct Node {
    origin: vec3f,
    exponents: u32,
    lower: vec3u,
    first: u32,
    upper: vec3u,
    mesh: u32,
    ends: vec4u,
}

struct LeafTriangle {
    v0: vec3f,
    triangle: u32,
    v1: vec3f,
    payload: u32,
    v2: vec3f,
    mesh: u32,
}

struct TlasEntry {
    node_count: u32,
    node_offset: u32,
    vertex_offset: u32,
    index_offset: u32,
    box_min: vec3f,
    first_triangle: u32,
    box_max: vec3f,
    triangle_count: u32,
}

struct TreeInfo {
    triangle_count: u32,
    mesh_count: u32,
    leaf_cutoff: u32,
}

// Returns the biased exponents of a node's grid steps, one per axis.
fn node_exponents(packed: u32) -> vec3u {
    return (vec3u(packed) >> vec3u(0u, 8u, 16u)) & vec3u(255u);
}

fn tree_row(v: vec3f, word: u32) -> vec4u {
    return vec4u(bitcast<vec3u>(v), word);
}
