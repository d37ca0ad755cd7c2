// hierarchy: builds leaves and all nodes within an aligned block of ITEMS sorted items.
//
// in   positions, indices, triangle_info, order, code_words; leaf_rows of meshes (tlas_leaves.wgsl)
// out  leaf_rows of triangles; nodes[i] and its area for every binary node i within a block that has more leaves than
//      the cutoff; the area −1 for all other nodes; the pyramid levels from PYRAMID_FIRST_LEVEL on; the list of nodes
//      that extend beyond their block, unordered
// The nodes are those of the radix tree over each mesh's codes and over the meshes (bvh/build/radix_tree.wgsl),
// collapsed to four children (bvh/node.wgsl). Nearly all lie within a block. hierarchy_across.wgsl makes the nodes that
// span blocks. One workgroup per block. Each thread has two neighbouring items, and so two binary nodes. Threads
// communicate through workgroup memory, and through the block's own leaf_rows after a storage barrier.
//
// Each binary node's box is computed once, from the pyramid. The boxes then replace the pyramid, for the nodes that
// adopt their grandchildren. Most binary nodes have too few leaves to become nodes. The others are compacted into a
// list, so that each thread makes one of them.
#import "bvh/dispatch.wgsl"
#import "bvh/leaf.wgsl"
#import "bvh/build/pyramid_levels.wgsl"
#import "bvh/build/radix_tree.wgsl"
#import "bvh/sorted.wgsl"

#array write 0 1 leaf_rows: vec4u
#array write 0 2 node_rows: vec4u

// Threads per block, half the number of items. More than BLOCK / 2 only if there is a single block, for which the other
// kernels have nothing to do.
override HIERARCHY_THREADS: u32 = BLOCK / 2u;
override ITEMS: u32 = 2u * HIERARCHY_THREADS;
override CODES_HERE: u32 = ITEMS + 2u;
override WORDS_HERE: u32 = 6u * (ITEMS - 2u);

// Codes of the block, with one neighbour on either side. Once the binary nodes are known, each position holds its node
// instead: the packed range and split (`link_of`).
var<workgroup> codes_here: array<vec2u, CODES_HERE>;
// First the pyramid of the block, without the leaves and without the top. Then the boxes of binary nodes, without those
// of the first and the last position, which are no children of nodes in this block. For BLOCK items, it fills the 16
// KiB of workgroup memory that every device has, together with the codes.
var<workgroup> boxes_here: array<f32, WORDS_HERE>;
// Number of nodes that extend beyond the block, and number of nodes that this block makes.
var<workgroup> across_here: atomic<u32>;
var<workgroup> made_here: atomic<u32>;

var<private> block_first: u32;

fn code_at(k: u32) -> vec2u {
    return codes_here[k + 1u - block_first];
}

fn leaf_box_here(leaf: u32) -> Box {
    let row = TRIANGLE_ROWS * leaf;
    return leaf_box(leaf_rows_array[row], leaf_rows_array[row + 1u], leaf_rows_array[row + 2u]);
}

// Returns the index of a box of the pyramid in `boxes_here`.
fn pyramid_place(level: u32, index: u32) -> u32 {
    return ITEMS - ((2u * ITEMS) >> level) + index;
}

// Returns the bounds of the positions first..end within the block, from at most two boxes per level.
fn range_box(first: u32, end: u32) -> Box {
    var b = box_empty();
    let shift = block_first + leaf_shift;
    if (first & 1u) != 0u {
        b = leaf_box_here(first + shift);
    }
    if (end & 1u) != 0u {
        b = box_union(b, leaf_box_here(end - 1u + shift));
    }
    var left = (first + 1u) >> 1u;
    var right = end >> 1u;
    for (var level = 1u; left < right; level++) {
        if (left & 1u) != 0u {
            b = box_union(b, box_here(pyramid_place(level, left)));
            left++;
        }
        if (right & 1u) != 0u {
            right--;
            b = box_union(b, box_here(pyramid_place(level, right)));
        }
        left >>= 1u;
        right >>= 1u;
    }
    return b;
}

fn box_here(place: u32) -> Box {
    let at = 6u * place;
    return Box(
        vec3f(boxes_here[at], boxes_here[at + 1u], boxes_here[at + 2u]),
        vec3f(boxes_here[at + 3u], boxes_here[at + 4u], boxes_here[at + 5u]),
    );
}

fn keep_here(place: u32, b: Box) {
    let at = 6u * place;
    for (var axis = 0u; axis < 3u; axis++) {
        boxes_here[at + axis] = b.lower[axis];
        boxes_here[at + 3u + axis] = b.upper[axis];
    }
}

// Packs a binary node: its first and last position, and the last position of its left child, within the block.
fn link_of(first: u32, last: u32, split: u32) -> u32 {
    return first | (last << 10u) | (split << 20u);
}

// Returns the first and last position of a node within the block, and the last position of its left child.
fn link_range(link: u32) -> vec3u {
    return (vec3u(link) >> vec3u(0u, 10u, 20u)) & vec3u(1023u);
}

// Returns the box of a child. A left child has the index of its last leaf, a right child that of its first.
fn child_box(place: u32, is_leaf: bool) -> Box {
    if is_leaf {
        return leaf_box_here(block_first + place + leaf_shift);
    }
    return box_here(place - 1u);
}

fn node_children(whole: Child) -> Pair {
    let range = link_range(codes_here[whole.slot + 1u].x);
    let split = range.z;
    let shift = block_first + leaf_shift;
    let left = child_box(split, split == range.x);
    let right = child_box(split + 1u, split + 1u == range.y);
    return Pair(
        Child(left, range.x + shift, split + shift, 0u, split),
        Child(right, split + 1u + shift, range.y + shift, 1u, split + 1u),
    );
}

@compute @workgroup_size(HIERARCHY_THREADS)
fn hierarchy(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let block = dispatch_workgroup(workgroup, workgroups);
    block_first = block * ITEMS;
    let pair = block_first + 2u * thread;
    var meshes = vec2u(0u);
    var around = box_empty();
    for (var half = 0u; half < 2u; half++) {
        let k = pair + half;
        if k < params.item_count {
            let item = sorted_item(k);
            let shift = mesh_span(item.mesh).shift;
            meshes[half] = item.mesh;
            codes_here[k + 1u - block_first] = item.code;
            if item.mesh < params.mesh_count {
                around = box_union(around, leaf_triangle(k + shift, order(k) + shift));
            } else {
                around = box_union(around, leaf_box_here(k + shift));
            }
        }
    }
    if thread == 0u {
        atomicStore(&across_here, 0u);
        atomicStore(&made_here, 0u);
        if block_first > 0u && block_first < params.item_count {
            codes_here[0] = sorted_item(block_first - 1u).code;
        }
    } else if thread == 1u && block_first + ITEMS < params.item_count {
        codes_here[ITEMS + 1u] = sorted_item(block_first + ITEMS).code;
    }

    keep_here(pyramid_place(1u, thread), around);
    for (var level = 2u; (ITEMS >> level) > 0u; level++) {
        workgroupBarrier();
        if thread < (ITEMS >> level) {
            let place = pyramid_place(level - 1u, 2u * thread);
            let b = box_union(box_here(place), box_here(place + 1u));
            // The top box is not stored, because no node within the block has a child that spans the block.
            if (ITEMS >> level) > 1u {
                keep_here(pyramid_place(level, thread), b);
            }
            if level >= PYRAMID_FIRST_LEVEL {
                pyramid_keep(level, (block_first >> level) + thread, b);
            }
        }
    }
    storageBarrier();
    workgroupBarrier();

    // The thread's binary nodes that are within the block, and their boxes.
    var links = vec2u(0u);
    var boxes: array<Box, 2>;
    for (var half = 0u; half < 2u; half++) {
        let k = pair + half;
        if k < params.item_count {
            let span = mesh_span(meshes[half]);
            leaf_shift = span.shift;
            node_area_store(k + leaf_shift, -1.0);
            let first = i32(span.first);
            let last = first + i32(span.count) - 1;
            if i32(k) < last {
                // Search one position beyond the block. A node that extends to that position may extend further.
                let from_here = max(first, i32(block_first) - 1);
                let to_here = min(last, i32(block_first + ITEMS));
                let range = node_range(i32(k), from_here, to_here);
                if i32(range.x) < i32(block_first) || range.y >= block_first + ITEMS {
                    scratch[params.list_word + block_first + atomicAdd(&across_here, 1u)] = k;
                } else {
                    let split = u32(split_of(i32(range.x), i32(range.y)));
                    let here = vec3u(range, split) - block_first;
                    links[half] = link_of(here.x, here.y, here.z);
                    boxes[half] = range_box(here.x, here.y + 1u);
                    if node_is_made(range, meshes[half]) {
                        // Fill the list from its other end. Each position is in at most one of the two lists, so the
                        // lists cannot collide.
                        let place = ITEMS - 1u - atomicAdd(&made_here, 1u);
                        scratch[params.list_word + block_first + place] = k - block_first;
                    }
                }
            }
        }
    }
    storageBarrier();
    workgroupBarrier();
    for (var half = 0u; half < 2u; half++) {
        let place = 2u * thread + half;
        codes_here[place + 1u].x = links[half];
        if place > 0u && place + 1u < ITEMS {
            keep_here(place - 1u, boxes[half]);
        }
    }
    workgroupBarrier();
    let made = atomicLoad(&made_here);
    for (var i = thread; i < made; i += HIERARCHY_THREADS) {
        let place = scratch[params.list_word + block_first + ITEMS - 1u - i];
        let range = link_range(codes_here[place + 1u].x);
        let k = block_first + place;
        let mesh = sorted_item(k).mesh;
        leaf_shift = mesh_span(mesh).shift;
        let shift = block_first + leaf_shift;
        node_make(place + shift, Child(box_empty(), range.x + shift, range.y + shift, 0u, place), mesh);
    }
    if thread == 0u && block_first < params.item_count {
        scratch[params.across_word + block] = atomicLoad(&across_here);
    }
}
