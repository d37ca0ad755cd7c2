// pairs_descend: finds the pairs of leaves whose boxes touch by descending two BVHs at once.
//
// in   other_rows, other_nodes, other_tree: the other BVH, which may be the same BVH; the BVH (group 1). Ranges of two
//      leaves must have nodes.
// both list: pairs of nodes, or of a node and a leaf. The first dispatch has one workgroup, which descends to level
//      `end` and writes a list of that level. The next dispatch splits it among its workgroups, which descend to the
//      leaves. Each workgroup alternates between two lists of its own.
// out  kept: the remaining pairs of leaves, as query, 0, leaf, 0; within one tree, the lower leaf first
//      numbers: after the leaves' numbers, 1 if a list overflowed. Then nothing is kept, and every leaf has to traverse
//      the tree. The last dispatch, of no levels, writes it.
// Simultaneous traversal (Gottschalk et al. 1996, OBBTree): the traversal from a single leaf visits all nodes above its
// results, whereas this kernel tests a pair of nodes once for all leaves below it. One thread per pair, and a barrier
// between levels. Workgroups communicate only through atomicAdd and atomicMax.
#import "bvh/bvh_objects_overlap.wgsl"
#import "bvh/query/counted.wgsl"
#import "bvh/dispatch.wgsl"
#import "bvh/tree_read.wgsl"

struct DescentQuery {
    // Levels of this dispatch: level..end.
    level: u32,
    end: u32,
    // Number of leaves in the other tree.
    count: u32,
    // 1 for pairs within one tree.
    within: u32,
    // 1 if only objects of different meshes count.
    across: u32,
    // Capacity of each list of a workgroup in the second dispatch, in pairs.
    capacity: u32,
}

// Side of a pair: the index of a node; with BVH_MESH, a leaf of the TLAS; with PAIR_LEAF, a leaf.
const PAIR_LEAF = 0x40000000u;

struct PairList {
    // Number of pairs on the level that is split among workgroups.
    left: atomic<u32>,
    pairs: array<vec2u>,
}

@group(0) @binding(0) var<uniform> query: DescentQuery;
#array read 0 1 other_rows: vec4u
#array read 0 2 other_nodes: vec4u
@group(0) @binding(5) var<storage, read_write> list: PairList;
@group(0) @binding(6) var<uniform> other_tree: TreeInfo;

// Boxes below one side of a pair, and their nodes or leaves. Missing boxes are empty.
struct PairSide {
    lower_x: vec4f,
    lower_y: vec4f,
    lower_z: vec4f,
    upper_x: vec4f,
    upper_y: vec4f,
    upper_z: vec4f,
    numbers: vec4u,
    // Mesh of all objects below, or BVH_MISS if there may be several.
    mesh: u32,
}

fn pair_root(info: TreeInfo) -> u32 {
    return info.triangle_count | select(BVH_MESH, 0u, info.mesh_count > 1u);
}

fn pair_of_node(node: Node, over_meshes: bool) -> PairSide {
    let starts = vec4u(node.first, node.ends.xyz);
    let counts = node.ends - starts;
    let is_leaf = counts <= vec4u(1u);
    let children = bvh_children(node, over_meshes, is_leaf);
    let is_there = (counts != vec4u(0u)) & (bvh_steps(node.lower.x) <= bvh_steps(node.upper.x));
    let step = bvh_grid_step(node);
    let slack = bvh_grid_slack(node.origin, step);
    let low = node.origin - slack;
    let high = node.origin + slack;
    return PairSide(
        select(vec4f(EMPTY_BOX_EXTENT), bvh_steps(node.lower.x) * step.x + low.x, is_there),
        bvh_steps(node.lower.y) * step.y + low.y,
        bvh_steps(node.lower.z) * step.z + low.z,
        select(vec4f(-EMPTY_BOX_EXTENT), bvh_steps(node.upper.x) * step.x + high.x, is_there),
        bvh_steps(node.upper.y) * step.y + high.y,
        bvh_steps(node.upper.z) * step.z + high.z,
        select(children, vec4u(PAIR_LEAF) | starts, is_leaf & vec4<bool>(!over_meshes)),
        select(node.mesh, BVH_MISS, over_meshes),
    );
}

// Returns a leaf as the first of four boxes. Objects that no tree can hold are stored at EMPTY_BOX_EXTENT, and have no
// box.
fn pair_of_leaf(number: u32, leaf: LeafTriangle) -> PairSide {
    let around = bvh_corner_box(leaf);
    let is_here = vec4<bool>(leaf.v0.x < EMPTY_BOX_EXTENT, false, false, false);
    return PairSide(
        select(vec4f(EMPTY_BOX_EXTENT), vec4f(around.lower.x), is_here),
        vec4f(around.lower.y),
        vec4f(around.lower.z),
        select(vec4f(-EMPTY_BOX_EXTENT), vec4f(around.upper.x), is_here),
        vec4f(around.upper.y),
        vec4f(around.upper.z),
        vec4u(number),
        leaf.mesh & ~ANY_HIT_TEST,
    );
}

// Returns the side below a leaf of the TLAS: the root of the mesh, or its only object.
fn pair_of_mesh(mesh: LeafTriangle) -> u32 {
    return mesh.triangle | select(0u, PAIR_LEAF, mesh.payload == 1u);
}

// Reads a side in the BVH of group 1. Single-iteration loops replace branches, because llvmpipe always executes both
// sides of a branch.
fn pair_side(number: u32) -> PairSide {
    var below = number;
    for (var is_mesh = (below & BVH_MESH) != 0u; is_mesh; is_mesh = false) {
        below = pair_of_mesh(tree_triangle(below & ~BVH_MESH));
    }
    var side: PairSide;
    for (var is_node = (below & PAIR_LEAF) == 0u; is_node; is_node = false) {
        side = pair_of_node(tree_node(below), below >= tree.triangle_count);
    }
    for (var is_leaf = (below & PAIR_LEAF) != 0u; is_leaf; is_leaf = false) {
        side = pair_of_leaf(below, tree_triangle(below & ~PAIR_LEAF));
    }
    return side;
}

fn other_leaf(leaf: u32) -> LeafTriangle {
    let row = TRIANGLE_ROWS * leaf;
    let a = other_rows(row);
    let b = other_rows(row + 1u);
    let c = other_rows(row + 2u);
    return LeafTriangle(bitcast<vec3f>(a.xyz), a.w, bitcast<vec3f>(b.xyz), b.w, bitcast<vec3f>(c.xyz), c.w);
}

fn other_node(index: u32) -> Node {
    let row = NODE_ROWS * index;
    let a = other_nodes(row);
    let b = other_nodes(row + 1u);
    let c = other_nodes(row + 2u);
    return Node(bitcast<vec3f>(a.xyz), a.w, b.xyz, b.w, c.xyz, c.w, other_nodes(row + 3u));
}

fn other_side(number: u32) -> PairSide {
    var below = number;
    for (var is_mesh = (below & BVH_MESH) != 0u; is_mesh; is_mesh = false) {
        below = pair_of_mesh(other_leaf(below & ~BVH_MESH));
    }
    var side: PairSide;
    for (var is_node = (below & PAIR_LEAF) == 0u; is_node; is_node = false) {
        side = pair_of_node(other_node(below), below >= other_tree.triangle_count);
    }
    for (var is_leaf = (below & PAIR_LEAF) != 0u; is_leaf; is_leaf = false) {
        side = pair_of_leaf(below, other_leaf(below & ~PAIR_LEAF));
    }
    return side;
}

// Returns a bit for each of the side's boxes that touches a box.
fn pair_touching(side: PairSide, lower: vec3f, upper: vec3f) -> u32 {
    let touches = (side.lower_x <= vec4f(upper.x)) & (side.upper_x >= vec4f(lower.x))
        & (side.lower_y <= vec4f(upper.y)) & (side.upper_y >= vec4f(lower.y))
        & (side.lower_z <= vec4f(upper.z)) & (side.upper_z >= vec4f(lower.z));
    let bits = select(vec4u(0u), vec4u(1u, 2u, 4u, 8u), touches);
    return bits.x | bits.y | bits.z | bits.w;
}

// Returns a bit for each box that is a leaf.
fn pair_single(side: PairSide) -> u32 {
    let bits = select(vec4u(0u), vec4u(1u, 2u, 4u, 8u), (side.numbers & vec4u(PAIR_LEAF)) != vec4u(0u));
    return bits.x | bits.y | bits.z | bits.w;
}

// Overlaps between the boxes of two sides: bit 4 i + k is for box i of `a` and box k of `b`.
struct PairStep {
    // Overlaps that have to be descended further, because at least one of the two boxes is not a leaf.
    deeper: u32,
    leaves: u32,
    a: vec4u,
    b: vec4u,
}

fn pair_step(numbers: vec2u) -> PairStep {
    let a = other_side(numbers.x);
    let b = pair_side(numbers.y);
    var touching = pair_touching(b, vec3f(a.lower_x.x, a.lower_y.x, a.lower_z.x),
        vec3f(a.upper_x.x, a.upper_y.x, a.upper_z.x));
    touching |= pair_touching(b, vec3f(a.lower_x.y, a.lower_y.y, a.lower_z.y),
        vec3f(a.upper_x.y, a.upper_y.y, a.upper_z.y)) << 4u;
    touching |= pair_touching(b, vec3f(a.lower_x.z, a.lower_y.z, a.lower_z.z),
        vec3f(a.upper_x.z, a.upper_y.z, a.upper_z.z)) << 8u;
    touching |= pair_touching(b, vec3f(a.lower_x.w, a.lower_y.w, a.lower_z.w),
        vec3f(a.upper_x.w, a.upper_y.w, a.upper_z.w)) << 12u;
    let of_a = pair_single(a);
    // Each bit of `a` four times, and all bits of `b` four times.
    let spread = (of_a & 1u) | ((of_a & 2u) << 3u) | ((of_a & 4u) << 6u) | ((of_a & 8u) << 9u);
    let single = (spread * 15u) & (pair_single(b) * 0x1111u);
    // For a node paired with itself: each pair of boxes once, and no leaf with itself.
    let is_same = query.within != 0u && numbers.x == numbers.y;
    let once = select(0xffffu, 0x8cefu & ~(single & 0x8421u), is_same);
    let is_apart = query.across == 0u || a.mesh != b.mesh || a.mesh == BVH_MISS;
    touching = select(0u, touching & once, is_apart);
    return PairStep(touching & ~single, touching & single, a.numbers, b.numbers);
}

// Returns the pair of boxes of bit 4 i + k.
fn pair_of_bit(step: PairStep, bit: u32) -> vec2u {
    return vec2u(bvh_child(step.a, bit >> 2u), bvh_child(step.b, bit & 3u));
}

// Returns the kept result for two leaves.
fn pair_kept(pair: vec2u) -> vec4u {
    let leaves = pair & vec2u(~PAIR_LEAF);
    let is_less = query.within == 0u || leaves.x < leaves.y;
    let ordered = select(leaves.yx, leaves, is_less);
    return vec4u(ordered.x, 0u, ordered.y, 0u);
}

// Offset, number and stride of this level's pairs.
var<workgroup> level_pairs: vec3u;
// Number of pairs on the next level.
var<workgroup> next_count: atomic<u32>;

// Marks an overflow by a count that exceeds the buffer of kept pairs.
fn pair_overflow() {
    atomicMax(&kept.count, arrayLength(&kept.results) + 1u);
}

@compute @workgroup_size(TRACE_BLOCK)
fn pairs_descend(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    // The lists of the first dispatch's workgroup come first, then the lists of the second dispatch's workgroups.
    let is_top = query.level == 0u;
    let capacity = select(query.capacity, DESCENT_CAPACITY, is_top);
    let lists = select(2u * (DESCENT_CAPACITY + workgroup.x * capacity), 0u, is_top);
    if thread == 0u {
        // Interleave the pairs, because neighbours in the list have similar amounts of work below them.
        let left = min(atomicLoad(&list.left), DESCENT_CAPACITY);
        let share = (max(left, workgroup.x) - workgroup.x + workgroups.x - 1u) / workgroups.x;
        let shared_out = vec3u((query.level & 1u) * DESCENT_CAPACITY + workgroup.x, share, workgroups.x);
        level_pairs = select(shared_out, vec3u(0u, 1u, 1u), is_top);
        atomicStore(&next_count, 0u);
    }
    var pairs = workgroupUniformLoad(&level_pairs);
    for (var level = query.level; level < query.end && pairs.y != 0u; level++) {
        let next = lists + ((level + 1u) & 1u) * capacity;
        for (var i = thread; i < pairs.y; i += TRACE_BLOCK) {
            let roots = vec2u(pair_root(other_tree), pair_root(tree));
            let step = pair_step(select(list.pairs[pairs.x + pairs.z * i], roots, level == 0u));
            var deeper = step.deeper;
            var at = 0u;
            for (var is_any = deeper != 0u; is_any; is_any = false) {
                at = atomicAdd(&next_count, countOneBits(deeper));
            }
            for (var is_full = at + countOneBits(deeper) > capacity; is_full; is_full = false) {
                pair_overflow();
                deeper = 0u;
            }
            for (at += next; deeper != 0u; at++) {
                list.pairs[at] = pair_of_bit(step, firstTrailingBit(deeper));
                deeper &= deeper - 1u;
            }
            var leaves = step.leaves;
            for (var is_any = leaves != 0u; is_any; is_any = false) {
                at = atomicAdd(&kept.count, countOneBits(leaves));
                leaves = select(leaves, 0u, at + countOneBits(leaves) > arrayLength(&kept.results));
            }
            for (; leaves != 0u; at++) {
                kept.results[at] = pair_kept(pair_of_bit(step, firstTrailingBit(leaves)));
                leaves &= leaves - 1u;
            }
        }
        workgroupBarrier();
        storageBarrier();
        if thread == 0u {
            let count = select(0u, min(atomicLoad(&next_count), capacity), kept_is_whole());
            level_pairs = vec3u(next, count, 1u);
            atomicStore(&next_count, 0u);
        }
        pairs = workgroupUniformLoad(&level_pairs);
    }
    if thread == 0u && is_top {
        atomicStore(&list.left, pairs.y);
    }
    let is_last = query.level == query.end;
    if thread == 0u && !is_last && query.end == PAIR_LEVELS && pairs.y != 0u {
        pair_overflow();
    }
    if thread == 0u && is_last && !kept_is_whole() {
        numbers[query.count] = 1u;
        atomicStore(&kept.count, 0u);
    }
}
