// Writing an item as a leaf; what it is made of is group 2. The includer declares `leaf_rows` to write to.
#import "common/geometry.wgsl"
#import "common/tree.wgsl"

@group(2) @binding(0) var<storage, read> tlas: array<TlasEntry>;
#array read 2 1 order: u32
#array read 2 2 codes: vec4u

// The leaf that position k of the sorted items is: that of the item which was there before, because each mesh
// keeps its leaves.
fn leaf_index(k: u32) -> u32 {
    if params.all_items != 0u {
        return k;
    }
    return codes(k).z;
}

// Stores a triangle and returns its box. One that no tree can hold becomes a point past all others, with an
// empty box.
fn leaf_triangle(leaf: u32, code: vec4u) -> Box {
    var t = geometry_triangle(code.z);
    let b = geometry_box(t);
    if b.lower.x > b.upper.x {
        t = Corners(vec3f(BOX_FAR), vec3f(BOX_FAR), vec3f(BOX_FAR));
    }
    leaf_rows(TRIANGLE_ROWS * leaf, tree_row(t.v0, code.z));
    leaf_rows(TRIANGLE_ROWS * leaf + 1u, tree_row(t.v1, triangle_info(code.z).y));
    leaf_rows(TRIANGLE_ROWS * leaf + 2u, tree_row(t.v2, code.w));
    return b;
}

// Stores a mesh, as a leaf of the TLAS, and returns its box: in the words of a triangle its first triangle,
// which is its root, its number of triangles and its own number.
fn leaf_mesh(leaf: u32, code: vec4u) -> Box {
    let mesh = code.z - params.triangle_count;
    let entry = tlas[mesh];
    leaf_rows(TRIANGLE_ROWS * leaf, tree_row(entry.box_min, entry.first_triangle));
    leaf_rows(TRIANGLE_ROWS * leaf + 1u, tree_row(entry.box_max, entry.triangle_count));
    leaf_rows(TRIANGLE_ROWS * leaf + 2u, tree_row(entry.box_min, mesh));
    return Box(entry.box_min, entry.box_max);
}
