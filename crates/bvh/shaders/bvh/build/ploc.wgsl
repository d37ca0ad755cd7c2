// ploc: binary trees of lower cost than radix trees: neighbours in Morton order are joined where the box around both
// is smallest (parallel locally-ordered clustering, Meister and Bittner 2018; the distance is half the box's
// perimeter, which has no products that a compiler may fuse, at no loss of quality).
//
// ploc_items     in   positions, indices, order, code_words, tlas
// ploc_clusters  in   the clusters that the level before left
//                out  what bvh/build/ploc_links.wgsl lists
// Chunked, so that no workgroup waits for another: a workgroup joins PLOC_BLOCK neighbours to PLOC_LEFT or fewer in
// workgroup memory, a dispatch a level; the workgroup of the last level joins all. A round joins all pairs of which
// each is the other's nearest of its mesh, at most PLOC_RADIUS away. Of equal distances that of the least i XOR j
// counts, so that neighbours in all-equal input meet in pairs, and the nearest pair of all is always joined. Should
// a compiler round the two threads of a pair differently, a round may join none: the next one has no distances.
// The left of two clusters is the one that comes first, so leaves change their order: ploc_leaves.wgsl.
//
// A tree has at most PLOC_DEPTH levels: where a chunk would leave too few to those after it, distances no longer
// count, and each round halves the clusters. A TLAS must not outgrow a ray's stack (bvh/bvh.wgsl).
#import "bvh/dispatch.wgsl"
#import "bvh/geometry.wgsl"
#import "bvh/build/ploc_links.wgsl"
#import "bvh/tree.wgsl"

struct PlocLevel {
    // What the level before left: how many chunks, the first slot, the first row of `ploc_rows`, and the first word
    // of `scratch`, which says how many clusters each chunk left.
    chunks: u32,
    first_slot: u32,
    first_row: u32,
    first_word: u32,
    // The same of what this level leaves.
    next_slot: u32,
    next_row: u32,
    next_word: u32,
    // Rounds that the levels after this one need at least; 0 for the last level.
    rounds_after: u32,
}

@group(0) @binding(1) var<uniform> level: PlocLevel;
@group(0) @binding(2) var<storage, read_write> ploc_rows: array<vec4u>;
@group(0) @binding(3) var<storage, read> tlas: array<TlasEntry>;

struct Cluster {
    bounds: Box,
    mesh: u32,
    leaves: u32,
    // The slot of its node, or the position of its only leaf.
    node: u32,
    // The position of its first leaf.
    first: u32,
    depth: u32,
}

// The chunk's inputs. Where two clusters are joined, the left one's entry holds both from then on. The right one's
// mesh becomes PLOC_JOINED, its depth the leaves before it in the left one, which its `nearest` names.
var<workgroup> boxes: array<f32, 6u * PLOC_BLOCK>;
var<workgroup> meshes: array<u32, PLOC_BLOCK>;
var<workgroup> leaves: array<u32, PLOC_BLOCK>;
var<workgroup> nodes: array<u32, PLOC_BLOCK>;
var<workgroup> firsts: array<u32, PLOC_BLOCK>;
var<workgroup> depths: array<u32, PLOC_BLOCK>;
// The nearest cluster of each; itself where there is none.
var<workgroup> nearest: array<u32, PLOC_BLOCK>;
// The entries that are clusters still, in order.
var<workgroup> list: array<u32, PLOC_BLOCK>;
// A bit for each of them.
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

fn keep(i: u32, cluster: Cluster) {
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

fn kept(i: u32) -> Cluster {
    return Cluster(box_at(i), meshes[i], leaves[i], nodes[i], firsts[i], depths[i]);
}

// Clusters that remain before entry i.
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

// Whether the cluster is a whole mesh. Then it is done.
fn is_whole(cluster: Cluster) -> bool {
    return cluster.leaves == mesh_span(cluster.mesh).count;
}

// A whole mesh's root has the number of its first leaf, as right children have.
fn finish(cluster: Cluster) {
    if cluster.leaves > 1u {
        scratch[params.count_word + 2u * cluster.node] = cluster.leaves | PLOC_RIGHT;
    }
    scratch[params.count_word + 2u * cluster.first] = PLOC_NONE;
}

// The nearest to the cluster that is number i of `count` in the list.
fn find_nearest(i: u32, count: u32, by_distance: bool) -> u32 {
    let entry = list[i];
    let own = box_at(entry);
    let mesh = meshes[entry];
    var best = i;
    var best_distance = BOX_FAR;
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

// Joins a cluster with its right partner, and stores the binary node of both.
fn join(a: u32, b: u32) {
    let left = kept(a);
    let right = kept(b);
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
    keep(a, both);
    atomicMax(&deepest, depth);
    meshes[b] = PLOC_JOINED;
    depths[b] = left.leaves;
    remove(b);
    if is_whole(both) {
        finish(both);
        remove(a);
    }
}

// Rounds that halve `count` clusters until `goal` are left, and one more, because a mesh may begin at an odd number.
fn halvings(count: u32, goal: u32) -> u32 {
    return 33u - countLeadingZeros((count - 1u) / goal);
}

// Takes a cluster as entry i of the chunk.
fn bring(i: u32, cluster: Cluster) {
    keep(i, cluster);
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

// Lists the clusters that remain, and returns how many.
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

// Joins the chunk's clusters until few are left, and hands those to the next level. A folded dispatch has workgroups
// without a chunk.
fn join_chunk(thread: u32, chunk: u32, is_chunk: bool) {
    let is_last = level.rounds_after == 0u;
    let goal = select(PLOC_LEFT, 0u, is_last);
    workgroupBarrier();
    var count = list_remaining(thread);
    var count_before = PLOC_BLOCK + 1u;
    // Of two rounds one joins a pair at least.
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
    for (var i = thread; i < min(count, PLOC_LEFT); i += PLOC_THREADS) {
        let cluster = kept(list[i]);
        let row = level.next_row + PLOC_ROWS * (PLOC_LEFT * chunk + i);
        ploc_rows[row] = tree_row(cluster.bounds.lower, cluster.leaves);
        ploc_rows[row + 1u] = tree_row(cluster.bounds.upper, cluster.node);
        ploc_rows[row + 2u] = vec4u(cluster.first, cluster.mesh, cluster.depth, 0u);
    }
    if thread == 0u && is_chunk {
        scratch[level.next_word + chunk] = count;
    }
}

// Says where the input that was entry i went.
fn link(slot: u32, i: u32, chunk: u32) {
    var entry = i;
    var offset = 0u;
    while meshes[entry] == PLOC_JOINED {
        offset += depths[entry];
        entry = nearest[entry];
    }
    if remains(entry) {
        ploc_link(slot, level.next_slot + PLOC_LEFT * chunk + rank(entry), offset);
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
        bring(i, item_cluster(first + i));
    }
    join_chunk(thread, chunk, end > 0u);
    for (var i = thread; i < min(end, PLOC_BLOCK); i += PLOC_THREADS) {
        link(first + i, i, chunk);
    }
}

// Whether the level before left a cluster there.
fn is_left(chunk: u32, i: u32) -> bool {
    let before = chunk * (PLOC_BLOCK / PLOC_LEFT) + i / PLOC_LEFT;
    return before < level.chunks && i % PLOC_LEFT < scratch[level.first_word + before];
}

fn left_cluster(number: u32) -> Cluster {
    let row = level.first_row + PLOC_ROWS * number;
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
            bring(i, left_cluster(first + i));
        }
    }
    join_chunk(thread, chunk, chunk * (PLOC_BLOCK / PLOC_LEFT) < level.chunks);
    for (var i = thread; i < PLOC_BLOCK; i += PLOC_THREADS) {
        if is_left(chunk, i) {
            link(level.first_slot + first + i, i, chunk);
        }
    }
}
