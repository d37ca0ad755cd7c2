// What a tree is made of. Nodes are numbered like leaves: a mesh's root has the number of its first triangle,
// the TLAS's root that behind the last one. A node is four rows of four words, a triangle three.

struct Node {
    left_min: vec3f,
    first: u32,
    left_max: vec3f,
    split: u32,
    right_min: vec3f,
    last: u32,
    right_max: vec3f,
    mesh: u32,
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
}

fn tree_row(v: vec3f, word: u32) -> vec4u {
    return vec4u(bitcast<vec3u>(v), word);
}
