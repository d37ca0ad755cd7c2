// Nodes of four children from a binary tree. A node starts with the children of a binary node, and repeatedly replaces
// the largest by its own two children until it has four. Every binary node with more leaves than the cutoff gets a
// node, with the same index. Rays visit only some of them, because parents adopt their grandchildren.
//
// In a TLAS over more meshes than the traversal stack has entries, a grandchild is not replaced again. So each level
// stands for two binary levels, and no traversal by bvh/bvh.wgsl overflows its stack.
//
// The includer declares `node_rows`, and defines `node_children(whole: Child) -> Pair`, which returns the two children
// of a binary node.
#import "bvh/geometry.wgsl"
#import "bvh/sorted.wgsl"
#import "bvh/tree.wgsl"

// Child of a binary node: its box, its first and last leaf, 1 if it is a right child, and extra data for
// `node_children`.
struct Child {
    bounds: Box,
    first: u32,
    last: u32,
    is_right: u32,
    slot: u32,
}

struct Pair {
    left: Child,
    right: Child,
}

// Returns the size that decides which child is replaced, or a negative number for a child that stays.
fn node_size(child: Child, stays: bool) -> f32 {
    return select(box_half_perimeter(child.bounds), -1.0, stays);
}

// Quantises the corners of four boxes along one axis and packs them. They are rounded outwards, never inside the exact
// box.
fn node_axis(lower: vec4f, upper: vec4f, origin: f32, exponent: u32) -> vec2u {
    // Inverse of the step. It is a power of two as well, so products with it are exact.
    let per_step = bitcast<f32>((254u - exponent) << 23u);
    let low = clamp(floor((lower - origin) * per_step - NODE_SLACK), vec4f(0.0), vec4f(255.0));
    let high = clamp(ceil((upper - origin) * per_step + NODE_SLACK), vec4f(0.0), vec4f(255.0));
    let is_empty = lower > upper;
    return vec2u(
        pack4xU8(select(vec4u(low), vec4u(255u), is_empty)),
        pack4xU8(select(vec4u(high), vec4u(0u), is_empty)),
    );
}

// Returns the maximum number of leaves in a range that gets no node.
fn node_cutoff(mesh: u32) -> u32 {
    return select(params.leaf_cutoff, 1u, mesh == params.mesh_count);
}

// True if a child of the binary node `whole` must not be replaced, because it is a leaf, or a grandchild in a large
// TLAS. `middle` is the first leaf of the right child of `whole`.
fn node_stays(child: Child, whole: Child, middle: u32, mesh: u32) -> bool {
    let is_half = (child.first == whole.first && child.last + 1u == middle)
        || (child.first == middle && child.last == whole.last);
    let is_large_tlas = mesh == params.mesh_count && mesh > STACK_SIZE;
    return child.last - child.first < node_cutoff(mesh) || (is_large_tlas && !is_half);
}

fn node_write(index: u32, a: Child, b: Child, c: Child, d: Child, mesh: u32) {
    var around = box_union(box_union(a.bounds, b.bounds), box_union(c.bounds, d.bounds));
    if around.lower.x > around.upper.x {
        around = Box(vec3f(0.0), vec3f(0.0));
    }
    let extent = around.upper - around.lower;
    node_area_store(index, 2.0 * dot(extent, extent.yzx));
    let largest = max(abs(around.lower), abs(around.upper));
    let step = max(max(extent * NODE_STEP_SHARE, largest * NODE_STEP_MIN), vec3f(NODE_STEP_TINY));
    // Round up to the next power of two.
    let exponents = (bitcast<vec3u>(step) + vec3u(0x7fffffu)) >> vec3u(23u);
    // Start one step below the box, so that its lower side has slack as well.
    let origin = around.lower - bitcast<vec3f>(exponents << vec3u(23u));
    let x = node_axis(
        vec4f(a.bounds.lower.x, b.bounds.lower.x, c.bounds.lower.x, d.bounds.lower.x),
        vec4f(a.bounds.upper.x, b.bounds.upper.x, c.bounds.upper.x, d.bounds.upper.x),
        origin.x,
        exponents.x,
    );
    let y = node_axis(
        vec4f(a.bounds.lower.y, b.bounds.lower.y, c.bounds.lower.y, d.bounds.lower.y),
        vec4f(a.bounds.upper.y, b.bounds.upper.y, c.bounds.upper.y, d.bounds.upper.y),
        origin.y,
        exponents.y,
    );
    let z = node_axis(
        vec4f(a.bounds.lower.z, b.bounds.lower.z, c.bounds.lower.z, d.bounds.lower.z),
        vec4f(a.bounds.upper.z, b.bounds.upper.z, c.bounds.upper.z, d.bounds.upper.z),
        origin.z,
        exponents.z,
    );
    let rights = a.is_right | (b.is_right << 1u) | (c.is_right << 2u) | (d.is_right << 3u);
    let packed = exponents.x | (exponents.y << 8u) | (exponents.z << 16u) | (rights << 24u);
    let ends = vec4u(a.last, b.last, c.last, d.last) + 1u;
    node_rows(NODE_ROWS * index, tree_row(origin, packed));
    node_rows(NODE_ROWS * index + 1u, vec4u(x.x, y.x, z.x, a.first));
    node_rows(NODE_ROWS * index + 2u, vec4u(x.y, y.y, z.y, mesh));
    node_rows(NODE_ROWS * index + 3u, ends);
}

// Makes the node for a binary node with more leaves than the cutoff, in a mesh's tree or in the TLAS.
fn node_make(index: u32, whole: Child, mesh: u32) {
    var pair = node_children(whole);
    let middle = pair.right.first;
    let missing = Child(box_empty(), whole.last + 1u, whole.last, 0u, 0u);
    // The children, in leaf order.
    var a = pair.left;
    var b = pair.right;
    var c = missing;
    var d = missing;
    for (var count = 2u; count < 4u; count++) {
        // Replace the first of the largest children.
        let size_a = node_size(a, node_stays(a, whole, middle, mesh));
        let size_b = node_size(b, node_stays(b, whole, middle, mesh));
        let size_c = node_size(c, count < 3u || node_stays(c, whole, middle, mesh));
        let largest = max(max(size_a, size_b), size_c);
        if largest < 0.0 {
            break;
        }
        // This call appears once in the source, because llvmpipe executes both sides of every branch.
        var opened = c;
        if size_a == largest {
            opened = a;
        } else if size_b == largest {
            opened = b;
        }
        pair = node_children(opened);
        if size_a == largest {
            d = c;
            c = b;
            b = pair.right;
            a = pair.left;
        } else if size_b == largest {
            d = c;
            c = pair.right;
            b = pair.left;
        } else {
            d = pair.right;
            c = pair.left;
        }
    }
    node_write(index, a, b, c, d, mesh);
}
