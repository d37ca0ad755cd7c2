// overlap_pairs: finds the pairs of objects that touch each other, within one BVH or between two.
//
// in   other_rows and other_tlas: the leaves and meshes of the other BVH, which may be the same BVH; the BVH (group 1)
// out  pairs_count: numbers, for each leaf of the other BVH the number of objects it touches; kept
//      pairs_collect (numbers holds the offset of each leaf's first pair): pairs
//      pairs_count_kept, which replaces pairs_count on software adapters: the outputs of pairs_count. It tests the
//      pairs that bvh/software/pairs_descend.wgsl has kept, and turns pairs that do not touch into misses. If the kept
//      pairs overflowed, it traverses the tree.
//      pairs_append: total, the number of pairs, which still counts when `appended` is full; appended, pairs, unordered
// One thread per leaf, in leaf order, so that neighbouring threads search near each other. Different workgroups
// communicate only through atomicAdd.
#import "bvh/bvh_pairs.wgsl"
#import "bvh/query/counted.wgsl"
#import "bvh/dispatch.wgsl"

struct ObjectPair {
    // Object of the other tree. Within one tree, the object with the lower mesh and index.
    mesh_a: u32,
    object_a: u32,
    mesh_b: u32,
    object_b: u32,
}

#array read 0 1 other_rows: vec4u
@group(0) @binding(2) var<storage, read> other_tlas: array<TlasEntry>;
@group(0) @binding(5) var<storage, read_write> pairs: array<ObjectPair>;

@group(0) @binding(4) var<storage, read_write> appended: array<ObjectPair>;

fn other_leaf(leaf: u32) -> LeafTriangle {
    let row = TRIANGLE_ROWS * leaf;
    let a = other_rows(row);
    let b = other_rows(row + 1u);
    let c = other_rows(row + 2u);
    return LeafTriangle(bitcast<vec3f>(a.xyz), a.w, bitcast<vec3f>(b.xyz), b.w, bitcast<vec3f>(c.xyz), c.w);
}

// Returns the pair of a leaf of the other tree and the object of this tree whose mesh and index are `name`.
fn pairs_name(leaf: LeafTriangle, name: vec2u) -> ObjectPair {
    let mesh = leaf.mesh & ~ANY_HIT_TEST;
    let other = vec2u(mesh, leaf.triangle - other_tlas[mesh].first_triangle);
    let is_less = other.x < name.x || (other.x == name.x && other.y < name.y);
    if query.within != 0u && !is_less {
        return ObjectPair(name.x, name.y, other.x, other.y);
    }
    return ObjectPair(other.x, other.y, name.x, name.y);
}

// Traverses the tree to count the pairs of a leaf, and keeps them.
fn pairs_count_leaf(i: u32) -> u32 {
    var walk: BvhWalk;
    let search = pairs_begin(i, other_leaf(i), &walk);
    var count = 0u;
    var is_kept = true;
    while pairs_advance(&walk, search) {
        while !bvh_walk_is_done(&walk) {
            let leaf = bvh_walk_leaf(&walk);
            for (var is_found = pairs_accept(search, leaf); is_found; is_found = false) {
                is_kept = is_kept && kept_add(i, count, leaf, walk.first);
                count++;
            }
        }
    }
    return count;
}

@compute @workgroup_size(TRACE_BLOCK)
fn pairs_count(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let i = dispatch_workgroup(workgroup, workgroups) * TRACE_BLOCK + thread;
    if i >= query.count {
        return;
    }
    let count = pairs_count_leaf(i);
    if i < arrayLength(&numbers) {
        numbers[i] = count;
    }
}

@group(0) @binding(3) var<storage, read_write> counted: array<atomic<u32>>;
@group(0) @binding(5) var<storage, read> tree_tlas: array<TlasEntry>;

@compute @workgroup_size(TRACE_BLOCK)
fn pairs_count_kept(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let begin = dispatch_workgroup(workgroup, workgroups) * TRACE_BLOCK + thread;
    let threads = workgroups.x * workgroups.y * TRACE_BLOCK;
    if query.descended == 0u || atomicLoad(&counted[query.count]) != 0u {
        for (var i = begin; i < query.count; i += threads) {
            atomicStore(&counted[i], pairs_count_leaf(i));
        }
        return;
    }
    let count = atomicLoad(&kept.count);
    for (var at = begin; at < count; at += threads) {
        let leaves = kept.results[at].xz;
        let search = pairs_search(leaves.x, other_leaf(leaves.x));
        var result = vec4u(BVH_MISS);
        for (var is_found = pairs_accept(search, leaves.y); is_found; is_found = false) {
            let before = atomicAdd(&counted[leaves.x], 1u);
            let mesh = tree_triangle(leaves.y).mesh & ~ANY_HIT_TEST;
            result = vec4u(leaves.x, before, leaves.y, tree_tlas[mesh].first_triangle);
        }
        kept.results[at] = result;
    }
}

@compute @workgroup_size(TRACE_BLOCK)
fn pairs_collect(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let i = dispatch_workgroup(workgroup, workgroups) * TRACE_BLOCK + thread;
    if kept_is_whole() {
        let count = atomicLoad(&kept.count);
        for (var kept_at = i; kept_at < count; kept_at += workgroups.x * workgroups.y * TRACE_BLOCK) {
            let result = kept.results[kept_at];
            let at = counted_first(result.x) + result.y;
            if result.x < query.count && at < arrayLength(&pairs) {
                pairs[at] = pairs_name(other_leaf(result.x), bvh_leaf_name(result.z, result.w));
            }
        }
        return;
    }
    if i >= query.count {
        return;
    }
    var walk: BvhWalk;
    let search = pairs_begin(i, other_leaf(i), &walk);
    var at = counted_first(i);
    while pairs_advance(&walk, search) {
        while !bvh_walk_is_done(&walk) {
            let leaf = bvh_walk_leaf(&walk);
            for (var is_found = pairs_accept(search, leaf); is_found; is_found = false) {
                if at < arrayLength(&pairs) {
                    pairs[at] = pairs_name(search.other, bvh_walk_name(&walk, leaf));
                }
                at++;
            }
        }
    }
}

@compute @workgroup_size(TRACE_BLOCK)
fn pairs_append(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let i = dispatch_workgroup(workgroup, workgroups) * TRACE_BLOCK + thread;
    if i >= query.count {
        return;
    }
    var walk: BvhWalk;
    let search = pairs_begin(i, other_leaf(i), &walk);
    while pairs_advance(&walk, search) && atomicLoad(&total) < APPENDED_MAX {
        while !bvh_walk_is_done(&walk) {
            let leaf = bvh_walk_leaf(&walk);
            for (var is_found = pairs_accept(search, leaf); is_found; is_found = false) {
                // Stop before the count wraps to 0.
                if atomicLoad(&total) >= APPENDED_MAX {
                    break;
                }
                let at = atomicAdd(&total, 1u);
                if at < min(query.capacity, arrayLength(&appended)) {
                    appended[at] = pairs_name(search.other, bvh_walk_name(&walk, leaf));
                }
            }
        }
    }
}
