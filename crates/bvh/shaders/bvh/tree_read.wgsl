// Readers of the BVH in group 1: its nodes, its triangles in leaf order, and the references that a query visits. Each
// kind of query has a file that imports this one.
#import "bvh/tree.wgsl"

@group(1) @binding(0) var<uniform> tree: TreeInfo;
#array read 1 1 tree_node_rows: vec4u
#array read 1 2 tree_triangle_rows: vec4u

fn tree_node(index: u32) -> Node {
    let row = NODE_ROWS * index;
    let a = tree_node_rows(row);
    let b = tree_node_rows(row + 1u);
    let c = tree_node_rows(row + 2u);
    let d = tree_node_rows(row + 3u);
    return Node(bitcast<vec3f>(a.xyz), a.w, b.xyz, b.w, c.xyz, c.w, d);
}

fn tree_triangle(leaf: u32) -> LeafTriangle {
    let row = TRIANGLE_ROWS * leaf;
    let a = tree_triangle_rows(row);
    let b = tree_triangle_rows(row + 1u);
    let c = tree_triangle_rows(row + 2u);
    return LeafTriangle(bitcast<vec3f>(a.xyz), a.w, bitcast<vec3f>(b.xyz), b.w, bitcast<vec3f>(c.xyz), c.w);
}

// Top bit of a reference to a leaf of the TLAS, which is a mesh, rather than to a node.
const BVH_MESH = 0x80000000u;

// True if `next` is a node: neither a mesh nor BVH_MISS, which also has the bit BVH_MESH.
fn bvh_is_node(next: u32) -> bool {
    return (next & BVH_MESH) == 0u;
}

// Converts four bytes to floats, by way of signed integers, because CPUs convert those in a single instruction.
fn bvh_steps(packed: u32) -> vec4f {
    return vec4f(vec4i((vec4u(packed) >> vec4u(0u, 8u, 16u, 24u)) & vec4u(255u)));
}

// Returns a bound on the rounding error of a node's child boxes when grid steps are added to an origin relative to a
// point. The boxes' own slack may be smaller than this error.
fn bvh_grid_slack(start: vec3f, step: vec3f) -> vec3f {
    return (abs(start) + 256.0 * step) * 2.4e-7;
}

// Returns the step lengths of a node's grid.
fn bvh_grid_step(node: Node) -> vec3f {
    return bitcast<vec3f>(node_exponents(node.exponents) << vec3u(23u));
}

// Returns a reference to each child of a node: the index of a node, or the index of a leaf of the TLAS with BVH_MESH.
fn bvh_children(node: Node, over_meshes: bool, is_leaf: vec4<bool>) -> vec4u {
    let starts = vec4u(node.first, node.ends.xyz);
    let is_right = (vec4u(node.exponents >> 24u) & vec4u(1u, 2u, 4u, 8u)) != vec4u(0u);
    let is_mesh = is_leaf & vec4<bool>(over_meshes);
    return select(node.ends - 1u, starts, is_right) | select(vec4u(0u), vec4u(BVH_MESH), is_mesh);
}

// Returns the entry of `numbers` at the lowest two bits of `key`, or BVH_MISS for BVH_MISS.
fn bvh_child(numbers: vec4u, key: u32) -> u32 {
    let pair = select(numbers.xy, numbers.zw, (key & 2u) != 0u);
    return select(select(pair.x, pair.y, (key & 1u) != 0u), BVH_MISS, key == BVH_MISS);
}

// Returns the reference that a query visits first.
fn bvh_root() -> u32 {
    let root = tree.triangle_count | select(BVH_MESH, 0u, tree.mesh_count > 1u);
    return select(root, BVH_MISS, tree.mesh_count == 0u);
}
