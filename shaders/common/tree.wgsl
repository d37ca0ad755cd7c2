// What a tree is made of. The index space of nodes is that of places in leaf order: a mesh's root sits at its first triangle.

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
