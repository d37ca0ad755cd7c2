// pairs_descend: finds the pairs of leaves whose boxes touch by going down both trees at once, level by level
// (simultaneous traversal: Gottschalk et al. 1996, OBBTree). A leaf that walks by itself visits all nodes above it; here
// a pair of nodes is tested once for all leaves below it.
//
// in   other_rows, other_nodes, other_tree: the other tree, which may be the same one; the tree (group 1)
// both level_pairs: the pairs of a level, for which it has two halves by turns, and how many each level has
// out  kept: the pairs of leaves that are left, as query, 0, leaf, 0; within one tree the first is the less
//      numbers: behind those of the leaves, 1 where something found no room, and all leaves have to walk; nothing is kept
//      then
// One thread per pair, each of which takes several of a large level. A dispatch of many workgroups does one level.
// Small levels, and those that are left below, are done by one workgroup in one dispatch, with barriers between
// them. Workgroups meet only in atomicAdd and atomicMax.
#import "common/bvh_meets.wgsl"
#import "common/counted.wgsl"
#import "common/dispatch.wgsl"
#import "common/tree_read.wgsl"

struct DescentQuery {
    // The levels that the dispatch does: from one to before another. With that one it is the last dispatch.
    level: u32,
    end: u32,
    // Leaves of the other tree.
    count: u32,
    // 1 within one tree.
    within: u32,
    // 1 where only objects of different meshes count.
    across: u32,
}

// What a side of a pair is: the number of a node; with BVH_MESH, a mesh's leaf of the TLAS; with PAIR_LEAVES, the
// number of the first of up to four leaves, and how many follow it from bit 28 on.
const PAIR_LEAVES = 0x40000000u;
const PAIR_COUNT_BIT = 28u;
const PAIR_LEAF = (1u << PAIR_COUNT_BIT) - 1u;

struct LevelPairs {
    // Of those below the last level, too.
    counts: array<atomic<u32>, PAIR_LEVELS + 1u>,
    pairs: array<vec2u>,
}

@group(0) @binding(0) var<uniform> query: DescentQuery;
#array read 0 1 other_rows: vec4u
#array read 0 2 other_nodes: vec4u
@group(0) @binding(5) var<storage, read_write> level_pairs: LevelPairs;
@group(0) @binding(6) var<uniform> other_tree: TreeInfo;

// The boxes of what is below a side, and what they hold. Boxes that are missing are empty.
struct PairSide {
    lower_x: vec4f,
    lower_y: vec4f,
    lower_z: vec4f,
    upper_x: vec4f,
    upper_y: vec4f,
    upper_z: vec4f,
    numbers: vec4u,
    // The mesh of all of it; BVH_MISS where there are several.
    mesh: u32,
}

fn pair_root(info: TreeInfo) -> u32 {
    return info.triangle_count | select(BVH_MESH, 0u, info.mesh_count > 1u);
}

// What a mesh of `count` leaves is, whose first one is `first`.
fn pair_of_mesh(first: u32, count: u32, leaf_cutoff: u32) -> u32 {
    return select(first, PAIR_LEAVES | ((count - 1u) << PAIR_COUNT_BIT) | first, count <= leaf_cutoff);
}

fn pair_of_node(node: Node, over_meshes: bool, leaf_cutoff: u32) -> PairSide {
    let starts = vec4u(node.first, node.ends.xyz);
    let counts = node.ends - starts;
    let is_leaf = counts <= vec4u(select(leaf_cutoff, 1u, over_meshes));
    let leaves = vec4u(PAIR_LEAVES) | ((counts - 1u) << vec4u(PAIR_COUNT_BIT)) | starts;
    let children = bvh_children(node, over_meshes, is_leaf);
    let is_there = (counts != vec4u(0u)) & (bvh_steps(node.lower.x) <= bvh_steps(node.upper.x));
    let step = bvh_grid_step(node);
    let slack = bvh_grid_slack(node.origin, step);
    let low = node.origin - slack;
    let high = node.origin + slack;
    return PairSide(
        select(vec4f(BOX_FAR), bvh_steps(node.lower.x) * step.x + low.x, is_there),
        bvh_steps(node.lower.y) * step.y + low.y,
        bvh_steps(node.lower.z) * step.z + low.z,
        select(vec4f(-BOX_FAR), bvh_steps(node.upper.x) * step.x + high.x, is_there),
        bvh_steps(node.upper.y) * step.y + high.y,
        bvh_steps(node.upper.z) * step.z + high.z,
        select(children, leaves, is_leaf & vec4<bool>(!over_meshes)),
        select(node.mesh, BVH_MISS, over_meshes),
    );
}

fn pair_of_nothing() -> PairSide {
    let far = vec4f(BOX_FAR);
    return PairSide(far, far, far, -far, -far, -far, vec4u(0u), BVH_MISS);
}

// Puts leaf number `first` + `i` into box `i`.
fn pair_put_leaf(side: ptr<function, PairSide>, first: u32, i: u32, leaf: LeafTriangle) {
    let around = bvh_corner_box(leaf);
    // What no tree can hold lies at BOX_FAR.
    let is_here = (vec4u(0u, 1u, 2u, 3u) == vec4u(i)) & vec4<bool>(leaf.v0.x < BOX_FAR);
    (*side).lower_x = select((*side).lower_x, vec4f(around.lower.x), is_here);
    (*side).lower_y = select((*side).lower_y, vec4f(around.lower.y), is_here);
    (*side).lower_z = select((*side).lower_z, vec4f(around.lower.z), is_here);
    (*side).upper_x = select((*side).upper_x, vec4f(around.upper.x), is_here);
    (*side).upper_y = select((*side).upper_y, vec4f(around.upper.y), is_here);
    (*side).upper_z = select((*side).upper_z, vec4f(around.upper.z), is_here);
    (*side).numbers = select((*side).numbers, vec4u(PAIR_LEAVES | (first + i)), is_here);
    (*side).mesh = leaf.mesh & ~ANY_HIT_TEST;
}

// How many leaves a side is; 0 for a node.
fn pair_leaves(number: u32) -> u32 {
    return select(0u, ((number >> PAIR_COUNT_BIT) & 3u) + 1u, (number & PAIR_LEAVES) != 0u);
}

// Loops of one round stand where branches would, which software adapters always run.
fn pair_side(number: u32) -> PairSide {
    var below = number;
    for (var is_mesh = (below & BVH_MESH) != 0u; is_mesh; is_mesh = false) {
        let mesh = tree_triangle(below & ~BVH_MESH);
        below = pair_of_mesh(mesh.triangle, mesh.payload, tree.leaf_cutoff);
    }
    var side = pair_of_nothing();
    let leaves = pair_leaves(below);
    for (var is_node = leaves == 0u; is_node; is_node = false) {
        side = pair_of_node(tree_node(below), below >= tree.triangle_count, tree.leaf_cutoff);
    }
    for (var i = 0u; i < leaves; i++) {
        let first = below & PAIR_LEAF;
        pair_put_leaf(&side, first, i, tree_triangle(first + i));
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
        let mesh = other_leaf(below & ~BVH_MESH);
        below = pair_of_mesh(mesh.triangle, mesh.payload, other_tree.leaf_cutoff);
    }
    var side = pair_of_nothing();
    let leaves = pair_leaves(below);
    for (var is_node = leaves == 0u; is_node; is_node = false) {
        side = pair_of_node(other_node(below), below >= other_tree.triangle_count, other_tree.leaf_cutoff);
    }
    for (var i = 0u; i < leaves; i++) {
        let first = below & PAIR_LEAF;
        pair_put_leaf(&side, first, i, other_leaf(first + i));
    }
    return side;
}

// A bit for each of the boxes that touch a box.
fn pair_touching(side: PairSide, lower: vec3f, upper: vec3f) -> u32 {
    let touches = (side.lower_x <= vec4f(upper.x)) & (side.upper_x >= vec4f(lower.x))
        & (side.lower_y <= vec4f(upper.y)) & (side.upper_y >= vec4f(lower.y))
        & (side.lower_z <= vec4f(upper.z)) & (side.upper_z >= vec4f(lower.z));
    let bits = select(vec4u(0u), vec4u(1u, 2u, 4u, 8u), touches);
    return bits.x | bits.y | bits.z | bits.w;
}

// A bit for each box that is a single leaf.
fn pair_single(side: PairSide) -> u32 {
    let is_single = (side.numbers >> vec4u(PAIR_COUNT_BIT)) == vec4u(PAIR_LEAVES >> PAIR_COUNT_BIT);
    let bits = select(vec4u(0u), vec4u(1u, 2u, 4u, 8u), is_single);
    return bits.x | bits.y | bits.z | bits.w;
}

// Which boxes of two sides touch: bit 4 i + k for box i of `a` and box k of `b`.
struct PairStep {
    // Of boxes that hold more than a leaf each.
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
    // Four times each bit of one side, and four times all bits of the other.
    let spread = (of_a & 1u) | ((of_a & 2u) << 3u) | ((of_a & 4u) << 6u) | ((of_a & 8u) << 9u);
    let single = (spread * 15u) & (pair_single(b) * 0x1111u);
    // Of a pair of the same: each pair of boxes once, and no leaf with itself.
    let is_same = query.within != 0u && numbers.x == numbers.y;
    let once = select(0xffffu, 0x8cefu & ~(single & 0x8421u), is_same);
    let is_apart = query.across == 0u || a.mesh != b.mesh || a.mesh == BVH_MISS;
    touching = select(0u, touching & once, is_apart);
    return PairStep(touching & ~single, touching & single, a.numbers, b.numbers);
}

// The pair of a bit.
fn pair_of_bit(step: PairStep, bit: u32) -> vec2u {
    return vec2u(bvh_child(step.a, bit >> 2u), bvh_child(step.b, bit & 3u));
}

// What is kept of two leaves.
fn pair_kept(pair: vec2u) -> vec4u {
    let leaves = pair & vec2u(PAIR_LEAF);
    let is_less = query.within == 0u || leaves.x < leaves.y;
    let ordered = select(leaves.yx, leaves, is_less);
    return vec4u(ordered.x, 0u, ordered.y, 0u);
}

// How many pairs the threads of a workgroup have found: of the next level in the low half, kept in the high half.
var<workgroup> found: atomic<u32>;
// Where those of the workgroup begin.
var<workgroup> begin: vec2u;
// Pairs of this level.
var<workgroup> level_count: u32;

// Where the pairs of a level begin.
fn pair_half(level: u32) -> u32 {
    return select(0u, arrayLength(&level_pairs.pairs) / 2u, (level & 1u) != 0u);
}

// Makes room for `wanted` pairs of both kinds in the lists of all workgroups, by one thread. Returns where it begins, and
// BVH_MISS where there is none.
fn pair_room(wanted: u32, next: u32) -> vec2u {
    let counts = vec2u(wanted & 0xffffu, wanted >> 16u);
    let at = vec2u(atomicAdd(&level_pairs.counts[next], counts.x), atomicAdd(&kept.count, counts.y));
    let is_full = at + counts > vec2u(arrayLength(&level_pairs.pairs) / 2u, arrayLength(&kept.results));
    if is_full.x {
        atomicMax(&kept.count, arrayLength(&kept.results) + 1u);
    }
    return select(at + vec2u(pair_half(next), 0u), vec2u(BVH_MISS), is_full);
}

@compute @workgroup_size(TRACE_BLOCK)
fn pairs_descend(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let threads = workgroups.x * workgroups.y * TRACE_BLOCK;
    for (var level = query.level; level < query.end; level++) {
        if thread == 0u {
            let known = select(atomicLoad(&level_pairs.counts[level]), 1u, level == 0u);
            level_count = select(0u, min(known, arrayLength(&level_pairs.pairs) / 2u), kept_is_whole());
        }
        let count = workgroupUniformLoad(&level_count);
        if count == 0u {
            break;
        }
        for (var first = dispatch_workgroup(workgroup, workgroups) * TRACE_BLOCK; first < count; first += threads) {
            let i = first + thread;
            let roots = vec2u(pair_root(other_tree), pair_root(tree));
            let listed = level_pairs.pairs[pair_half(level) + min(i, count - 1u)];
            let step = pair_step(select(listed, roots, level == 0u));
            var deeper = select(0u, step.deeper, i < count);
            var leaves = select(0u, step.leaves, i < count);

            // One atomic operation between workgroups for 64 pairs.
            if thread == 0u {
                atomicStore(&found, 0u);
            }
            workgroupBarrier();
            let before = atomicAdd(&found, countOneBits(deeper) | (countOneBits(leaves) << 16u));
            workgroupBarrier();
            if thread == 0u {
                begin = pair_room(atomicLoad(&found), level + 1u);
            }
            let begins = workgroupUniformLoad(&begin);
            deeper = select(deeper, 0u, begins.x == BVH_MISS);
            leaves = select(leaves, 0u, begins.y == BVH_MISS);
            for (var at = begins.x + (before & 0xffffu); deeper != 0u; at++) {
                level_pairs.pairs[at] = pair_of_bit(step, firstTrailingBit(deeper));
                deeper &= deeper - 1u;
            }
            for (var at = begins.y + (before >> 16u); leaves != 0u; at++) {
                kept.results[at] = pair_kept(pair_of_bit(step, firstTrailingBit(leaves)));
                leaves &= leaves - 1u;
            }
        }
        storageBarrier();
    }
    // The last dispatch is one workgroup.
    if query.end == PAIR_LEVELS && thread == 0u {
        let is_left = atomicLoad(&level_pairs.counts[PAIR_LEVELS]) != 0u;
        if is_left || !kept_is_whole() {
            numbers[query.count] = 1u;
            atomicStore(&kept.count, 0u);
        }
    }
}
