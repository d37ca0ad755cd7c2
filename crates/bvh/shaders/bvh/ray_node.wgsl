// Nodes for rays on GPUs (bvh/bvh_rays.wgsl), made from the nodes of a tree (bvh/tree.wgsl) by
// bvh/build/ray_nodes.wgsl. A ray node has the index of its node, and five rows of four words:
//
// row 0     origin of the grid of child boxes; a word with the exponent of the grid step and the order of the children
// rows 1–3  x, y and z planes of the children's boxes as halves, in grid steps: four lower planes, four upper planes
// row 4     references to the children, in leaf order
//
// With RAY_BOXES_ARE_BYTES (`gpu.ray_boxes`) it has four rows, and the planes are those of its node:
//
// row 0     origin of the grid; the exponents of its three steps
// rows 1–2  x, y and z planes as bytes: four lower planes, four upper planes; a word with the order of the children,
//           and from bit 9 on a bit for each child that exists
// row 3     references to the children
//
// A reference is the index of a ray node, or a range of 1 to 32 leaves. A leaf of the TLAS, which is a mesh, becomes a
// reference to the mesh's root. So rays need not know where the TLAS ends. A missing child has an empty box, and the
// reference of the child before it.
//
// After all nodes there is one more row for each node of the TLAS: the leaf of the TLAS after its last.
#import "bvh/tree_read.wgsl"

// Returns the row with the references of a node.
fn ray_children_row(node: u32) -> u32 {
    return RAY_NODE_ROWS * node + RAY_NODE_ROWS - 1u;
}

// True if a reference is a ray node: neither leaves nor BVH_MISS.
fn ray_is_node(reference: u32) -> bool {
    return (reference & RAY_LEAVES) == 0u;
}

// Returns the reference to the leaves first..first + count.
fn ray_leaves(first: u32, count: u32) -> u32 {
    return RAY_LEAVES | ((count - 1u) << RAY_COUNT_SHIFT) | first;
}

// Returns the first leaf of a reference to leaves, and the leaf after the last.
fn ray_leaf_range(reference: u32) -> vec2u {
    let first = reference & ((1u << RAY_COUNT_SHIFT) - 1u);
    return vec2u(first, first + ((reference >> RAY_COUNT_SHIFT) & 31u) + 1u);
}

// Returns the index of the additional row of a node of the TLAS.
fn ray_tlas_row(node: u32) -> u32 {
    return RAY_NODE_ROWS * (tree.triangle_count + tree.mesh_count) + node - tree.triangle_count;
}

// Returns the reference to the root of a mesh with the leaves first..first + count. The root has the index of the first
// leaf.
fn ray_mesh_root(first: u32, count: u32, cutoff: u32) -> u32 {
    return select(first, ray_leaves(first, count), count <= cutoff);
}
