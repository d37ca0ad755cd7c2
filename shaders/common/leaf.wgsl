// Bringing an item to its place in leaf order. The includer declares `leaf_rows` to write to.
#import "common/geometry.wgsl"
#import "common/tree.wgsl"

@group(0) @binding(4) var<storage, read> tlas: array<TlasEntry>;
#array read 0 5 order: u32
#array read 0 6 codes: vec4u

// The place that position k of the sorted items is: that of the item which was there before, because each mesh keeps its places.
fn leaf_place(k: u32) -> u32 {
    if params.all_items != 0u {
        return k;
    }
    return codes(k).z;
}

// Stores a triangle and returns its box. One that no tree can hold becomes a point past all others, with an empty box.
fn leaf_triangle(place: u32, code: vec4u) -> Box {
    var t = geometry_triangle(code.z);
    let b = geometry_box(t);
    if b.lower.x > b.upper.x {
        t = Corners(vec3f(BOX_FAR), vec3f(BOX_FAR), vec3f(BOX_FAR));
    }
    leaf_rows(TRIANGLE_ROWS * place, tree_row(t.v0, code.z));
    leaf_rows(TRIANGLE_ROWS * place + 1u, tree_row(t.v1, triangle_info(code.z).y));
    leaf_rows(TRIANGLE_ROWS * place + 2u, tree_row(t.v2, code.w));
    return b;
}

// Stores a mesh, as a leaf of the TLAS, and returns its box: in the words of a triangle its first triangle, which is its root, its number of
// triangles and its own number.
fn leaf_mesh(place: u32, code: vec4u) -> Box {
    let mesh = code.z - params.triangle_count;
    let entry = tlas[mesh];
    leaf_rows(TRIANGLE_ROWS * place, tree_row(entry.box_min, entry.first_triangle));
    leaf_rows(TRIANGLE_ROWS * place + 1u, tree_row(entry.box_max, entry.triangle_count));
    leaf_rows(TRIANGLE_ROWS * place + 2u, tree_row(entry.box_min, mesh));
    return Box(entry.box_min, entry.box_max);
}
