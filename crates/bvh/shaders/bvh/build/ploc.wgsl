// ploc: builds binary trees of lower cost than radix trees by merging the neighbours with the smallest merged bounds.
//
// ploc_items     in   positions, indices, order, code_words, tlas
// ploc_clusters  in   the clusters that the previous level passed on
//                out  the data listed in bvh/build/ploc_links.wgsl
// Parallel locally-ordered clustering (Meister and Bittner 2018) in Morton order. The distance is the sum of the merged
// box's extents, which has no products that a compiler may fuse, at no loss of quality. The clustering is chunked, so
// that no workgroup waits for another: a workgroup merges PLOC_BLOCK neighbours to PLOC_MAX_OUTPUT or fewer in
// workgroup memory, with one dispatch per level. The last level has one workgroup, which merges all. A round merges all
// pairs that are mutual nearest neighbours in the same mesh, at most PLOC_RADIUS apart. Ties go to the smallest i XOR
// j, so that neighbours in all-equal input form pairs, and the nearest pair of all is always merged. If a compiler
// rounds differently in the two threads of a pair, a round may merge none. The next round then ignores distances. The
// left of two clusters is the one that comes first in the current order. Merging changes the order of leaves: see
// ploc_leaves.wgsl.
//
// A tree has at most PLOC_DEPTH levels. If a chunk would leave too few levels to later ones, it ignores distances, and
// each round halves the clusters. The limit also keeps a TLAS within a ray's stack (bvh/bvh.wgsl).
#import "bvh/dispatch.wgsl"
#import "bvh/geometry.wgsl"
#import "bvh/build/ploc_links.wgsl"
#import "bvh/tree.wgsl"

struct PlocLevel {
    // Input: number of chunks of the previous level, offsets of its slots and of its rows in `ploc_rows`, and offset of
    // the words in `scratch` that hold the cluster count of each chunk.
    chunks: u32,
    first_slot: u32,
    row_offset: u32,
    first_word: u32,
    // Output: the same offsets for the clusters that this level passes on.
    next_slot: u32,
    next_row: u32,
    next_word: u32,
    // Minimum number of rounds that later levels need, or 0 for the last level.
    rounds_after: u32,
}

@group(0) @binding(1) var<uniform> level: PlocLevel;
@group(0) @binding(2) var<storage, read_write> ploc_rows: array<vec4u>;
@group(0) @binding(3) var<storage, read> tlas: array<TlasEntry>;

struct Cluster {
    bounds: Box,
    mesh: u32,
    leaves: u32,
    // Slot of its node, or the position of its only leaf.
    node: u32,
    // Position of its first leaf.
    first: u32,
    depth: u32,
}

// Clusters of the chunk. When two are merged, the left entry becomes the merged cluster. In the right entry, the mesh
// becomes PLOC_JOINED, the depth becomes the number of leaves of the left cluster, and `nearest` is the left entry.
var<workgroup> boxes: array<f32, 6u * PLOC_BLOCK>;
var<workgroup> meshes: array<u32, PLOC_BLOCK>;
var<workgroup> leaves: array<u32, PLOC_BLOCK>;
var<workgroup> nodes: array<u32, PLOC_BLOCK>;
var<workgroup> firsts: array<u32, PLOC_BLOCK>;
var<workgroup> depths: array<u32, PLOC_BLOCK>;
// Nearest neighbour of each entry, or the entry itself if there is none.
var<workgroup> nearest: array<u32, PLOC_BLOCK>;
// Remaining entries, in order.
var<workgroup> list: array<u32, PLOC_BLOCK>;
// Bit mask of the remaining entries.
var<workgroup> remaining: array<atomic<u32>, PLOC_BLOCK / 32u>;
var<workgroup> remaining_count: u32;
var<workgroup> deepest: atomic<u32>;

const PLOC_JOINED = 0xffffffffu;

fn box_at(i: u32) -> Box {
    return Box(
        vec3f(boxes[i], boxes[PLOC_BLOCK + i], boxes[2u * PLOC_BLOCK + i]),
        vec3f(boxes[3u * PLOC_BLOCK + i], boxes[4u * PLOC_BLOCK + i], boxes[5u * PLOC_BLOCK + i]),
    );
}

fn cluster_store(i: u32, cluster: Cluster) {
    for (var axis = 0u; axis < 3u; axis++) {
        boxes[axis * PLOC_BLOCK + i] = cluster.bounds.lower[axis];
        boxes[(3u + axis) * PLOC_BLOCK + i] = cluster.bounds.upper[axis];
    }
    meshes[i] = cluster.mesh;
    leaves[i] = cluster.leaves;
    nodes[i] = cluster.node;
    firsts[i] = cluster.first;
    depths[i] = cluster.depth;
}

fn cluster_load(i: u32) -> Cluster {
    return Cluster(box_at(i), meshes[i], leaves[i], nodes[i], firsts[i], depths[i]);
}

// Returns the number of remaining clusters before entry i.
fn rank(i: u32) -> u32 {
    var count = 0u;
    for (var bit = 0u; bit < i; bit += 32u) {
        let word = atomicLoad(&remaining[bit / 32u]);
        count += countOneBits(word << ((32u - min(i - bit, 32u)) % 32u));
    }
    return count;
}

fn remains(i: u32) -> bool {
    return (atomicLoad(&remaining[i / 32u]) & (1u << (i % 32u))) != 0u;
}

fn remove(i: u32) {
    atomicAnd(&remaining[i / 32u], ~(1u << (i % 32u)));
}

// True if the cluster is a complete mesh, which needs no further merging.
fn is_whole(cluster: Cluster) -> bool {
    return cluster.leaves == mesh_span(cluster.mesh).count;
}

// Marks a complete mesh. Its root has the index of its first leaf, like a right child.
fn finish(cluster: Cluster) {
    if cluster.leaves > 1u {
        scratch[params.count_word + 2u * cluster.node] = cluster.leaves | PLOC_RIGHT;
    }
    scratch[params.count_word + 2u * cluster.first] = PLOC_NONE;
}

// Returns the nearest neighbour of the cluster at index i of `count` in the list.
fn find_nearest(i: u32, count: u32, by_distance: bool) -> u32 {
    let entry = list[i];
    let own = box_at(entry);
    let mesh = meshes[entry];
    var best = i;
    var best_distance = EMPTY_BOX_EXTENT;
    let end = min(i + PLOC_RADIUS + 1u, count);
    for (var j = max(i, PLOC_RADIUS) - PLOC_RADIUS; j < end; j++) {
        let other = list[j];
        let distance = select(0.0, box_half_perimeter(box_union(own, box_at(other))), by_distance);
        let is_nearer = distance < best_distance || (distance == best_distance && (i ^ j) < (i ^ best));
        if j != i && meshes[other] == mesh && (best == i || is_nearer) {
            best = j;
            best_distance = distance;
        }
    }
    return list[best];
}

// Merges a cluster with its right partner, and stores their binary node.
fn join(a: u32, b: u32) {
    let left = cluster_load(a);
    let right = cluster_load(b);
    let node = right.first;
    let bounds = box_union(left.bounds, right.bounds);
    ploc_rows[2u * node] = tree_row(bounds.lower, left.node);
    ploc_rows[2u * node + 1u] = tree_row(bounds.upper, right.node);
    scratch[params.count_word + 2u * node + 1u] = left.leaves;
    if left.leaves > 1u {
        scratch[params.count_word + 2u * left.node] = left.leaves;
    }
    if right.leaves > 1u {
        scratch[params.count_word + 2u * right.node] = right.leaves | PLOC_RIGHT;
    }
    let depth = 1u + max(left.depth, right.depth);
    let both = Cluster(bounds, left.mesh, left.leaves + right.leaves, node, left.first, depth);
    cluster_store(a, both);
    atomicMax(&deepest, depth);
    meshes[b] = PLOC_JOINED;
    depths[b] = left.leaves;
    remove(b);
    if is_whole(both) {
        finish(both);
        remove(a);
    }
}

// Returns the number of rounds that halve `count` clusters to at most `goal`, plus one because a mesh may begin at an
// odd index.
fn halvings(count: u32, goal: u32) -> u32 {
    return 33u - countLeadingZeros((count - 1u) / goal);
}

// Adds a cluster as entry i of the chunk.
fn cluster_add(i: u32, cluster: Cluster) {
    cluster_store(i, cluster);
    if is_whole(cluster) {
        finish(cluster);
    } else {
        atomicOr(&remaining[i / 32u], 1u << (i % 32u));
        atomicMax(&deepest, cluster.depth);
    }
}

fn begin(thread: u32) {
    for (var word = thread; word < PLOC_BLOCK / 32u; word += PLOC_THREADS) {
        atomicStore(&remaining[word], 0u);
    }
    if thread == 0u {
        atomicStore(&deepest, 0u);
    }
    workgroupBarrier();
}

// Lists the remaining clusters, and returns their number.
fn list_remaining(thread: u32) -> u32 {
    for (var i = thread; i < PLOC_BLOCK; i += PLOC_THREADS) {
        if remains(i) {
            list[rank(i)] = i;
        }
    }
    let count = rank(select(0u, PLOC_BLOCK, thread == 0u));
    if thread == 0u {
        remaining_count = count;
    }
    return workgroupUniformLoad(&remaining_count);
}

// Merges the chunk's clusters until few are left, and passes those on to the next level. In a folded dispatch, some
// workgroups have no chunk.
fn join_chunk(thread: u32, chunk: u32, is_chunk: bool) {
    let is_last = level.rounds_after == 0u;
    let goal = select(PLOC_MAX_OUTPUT, 0u, is_last);
    workgroupBarrier();
    var count = list_remaining(thread);
    var count_before = PLOC_BLOCK + 1u;
    // At least every second round merges a pair, which bounds the loop.
    for (var round = 0u; round < 2u * PLOC_BLOCK; round++) {
        if count <= goal {
            break;
        }
        let least_depth = atomicLoad(&deepest) + halvings(count, max(goal, 1u)) + level.rounds_after;
        let by_distance = least_depth < PLOC_DEPTH && count < count_before;
        count_before = count;
        for (var i = thread; i < count; i += PLOC_THREADS) {
            nearest[list[i]] = find_nearest(i, count, by_distance);
        }
        workgroupBarrier();
        for (var i = thread; i < count; i += PLOC_THREADS) {
            let entry = list[i];
            let partner = nearest[entry];
            if partner > entry && nearest[partner] == entry {
                join(entry, partner);
            }
        }
        workgroupBarrier();
        count = list_remaining(thread);
    }
    if is_last {
        return;
    }
    for (var i = thread; i < min(count, PLOC_MAX_OUTPUT); i += PLOC_THREADS) {
        let cluster = cluster_load(list[i]);
        let row = level.next_row + PLOC_ROWS * (PLOC_MAX_OUTPUT * chunk + i);
        ploc_rows[row] = tree_row(cluster.bounds.lower, cluster.leaves);
        ploc_rows[row + 1u] = tree_row(cluster.bounds.upper, cluster.node);
        ploc_rows[row + 2u] = vec4u(cluster.first, cluster.mesh, cluster.depth, 0u);
    }
    if thread == 0u && is_chunk {
        scratch[level.next_word + chunk] = count;
    }
}

// Stores the target of the input cluster at entry i: the cluster that it was merged into on the next level, or, if its
// mesh is complete, its leaf.
fn link(slot: u32, i: u32, chunk: u32) {
    var entry = i;
    var offset = 0u;
    while meshes[entry] == PLOC_JOINED {
        offset += depths[entry];
        entry = nearest[entry];
    }
    if remains(entry) {
        ploc_link(slot, level.next_slot + PLOC_MAX_OUTPUT * chunk + rank(entry), offset);
    } else {
        let span = mesh_span(meshes[entry]);
        ploc_link(slot, PLOC_DONE, span.first + span.shift + offset);
    }
}

fn item_cluster(k: u32) -> Cluster {
    let item = sorted_item(k);
    var bounds: Box;
    if item.mesh < params.mesh_count {
        bounds = geometry_box(geometry_triangle(order(k) + mesh_span(item.mesh).shift));
    } else {
        let entry = tlas[order(k) - params.item_triangles];
        bounds = Box(entry.box_min, entry.box_max);
    }
    return Cluster(bounds, item.mesh, 1u, k, k, 0u);
}

@compute @workgroup_size(PLOC_THREADS)
fn ploc_items(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let chunk = dispatch_workgroup(workgroup, workgroups);
    let first = chunk * PLOC_BLOCK;
    let end = max(params.item_count, first) - first;
    begin(thread);
    for (var i = thread; i < min(end, PLOC_BLOCK); i += PLOC_THREADS) {
        cluster_add(i, item_cluster(first + i));
    }
    join_chunk(thread, chunk, end > 0u);
    for (var i = thread; i < min(end, PLOC_BLOCK); i += PLOC_THREADS) {
        link(first + i, i, chunk);
    }
}

// True if the previous level passed a cluster to this entry.
fn is_left(chunk: u32, i: u32) -> bool {
    let before = chunk * (PLOC_BLOCK / PLOC_MAX_OUTPUT) + i / PLOC_MAX_OUTPUT;
    return before < level.chunks && i % PLOC_MAX_OUTPUT < scratch[level.first_word + before];
}

fn left_cluster(number: u32) -> Cluster {
    let row = level.row_offset + PLOC_ROWS * number;
    let lower = ploc_rows[row];
    let upper = ploc_rows[row + 1u];
    let rest = ploc_rows[row + 2u];
    let bounds = Box(bitcast<vec3f>(lower.xyz), bitcast<vec3f>(upper.xyz));
    return Cluster(bounds, rest.y, lower.w, upper.w, rest.x, rest.z);
}

@compute @workgroup_size(PLOC_THREADS)
fn ploc_clusters(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let chunk = dispatch_workgroup(workgroup, workgroups);
    let first = chunk * PLOC_BLOCK;
    begin(thread);
    for (var i = thread; i < PLOC_BLOCK; i += PLOC_THREADS) {
        if is_left(chunk, i) {
            cluster_add(i, left_cluster(first + i));
        }
    }
    join_chunk(thread, chunk, chunk * (PLOC_BLOCK / PLOC_MAX_OUTPUT) < level.chunks);
    for (var i = thread; i < PLOC_BLOCK; i += PLOC_THREADS) {
        if is_left(chunk, i) {
            link(level.first_slot + first + i, i, chunk);
        }
    }
}
