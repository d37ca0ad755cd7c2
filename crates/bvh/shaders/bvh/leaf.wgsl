// Writers of leaves. The includer declares `leaf_rows`.
#import "bvh/geometry.wgsl"
#import "bvh/tree.wgsl"

// Stores a triangle and returns its box. A triangle that no tree can hold becomes a point beyond all others, with an
// empty box.
fn leaf_triangle(leaf: u32, triangle: u32) -> Box {
    var t = geometry_triangle(triangle);
    let b = geometry_box(t);
    if b.lower.x > b.upper.x {
        t = Corners(vec3f(EMPTY_BOX_EXTENT), vec3f(EMPTY_BOX_EXTENT), vec3f(EMPTY_BOX_EXTENT));
    }
    let info = triangle_info(triangle);
    leaf_rows(TRIANGLE_ROWS * leaf, tree_row(t.v0, triangle));
    leaf_rows(TRIANGLE_ROWS * leaf + 1u, tree_row(t.v1, info.y));
    leaf_rows(TRIANGLE_ROWS * leaf + 2u, tree_row(t.v2, info.x));
    return b;
}

// Stores a mesh as a leaf of the TLAS and returns its box. Instead of a triangle's words, the leaf stores the index of
// the mesh's first triangle (which is its root), its triangle count and its mesh index.
fn leaf_mesh(leaf: u32, mesh: u32, entry: TlasEntry) -> Box {
    leaf_rows(TRIANGLE_ROWS * leaf, tree_row(entry.box_min, entry.first_triangle));
    leaf_rows(TRIANGLE_ROWS * leaf + 1u, tree_row(entry.box_max, entry.triangle_count));
    leaf_rows(TRIANGLE_ROWS * leaf + 2u, tree_row(entry.box_min, mesh));
    return Box(entry.box_min, entry.box_max);
}
