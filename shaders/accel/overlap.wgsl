// overlap: for each box of a list, the triangles that it touches.
//
// in   boxes; the tree (group 1)
// out  overlap_count: numbers, how many triangles each box touches
//      overlap_collect (numbers holds where each box's triangles begin): names, the mesh and the triangle of
//      each
//      overlap_append: total, how many there are of all boxes, counting on where `touched` is full, up to
//      OVERLAP_MOST; touched, box, mesh and triangle of each, in any order
// One thread per box; with OVERLAP_SORTED in the order of `order`, so that neighbours are side by side. Threads of
// different workgroups meet only in atomicAdd.
#import "common/bvh_overlap.wgsl"
#import "common/dispatch.wgsl"

struct BoxQuery {
    lower: vec3f,
    upper: vec3f,
}

struct Touched {
    query: u32,
    mesh: u32,
    triangle: u32,
}

// The number of boxes; leaf_cutoff; room for `touched`.
@group(0) @binding(0) var<uniform> query: vec4u;
@group(0) @binding(1) var<storage, read> boxes: array<BoxQuery>;
#array read 0 2 order: u32
@group(0) @binding(3) var<storage, read_write> numbers: array<u32>;
@group(0) @binding(4) var<storage, read_write> names: array<vec2u>;

@group(0) @binding(3) var<storage, read_write> total: atomic<u32>;
@group(0) @binding(4) var<storage, read_write> touched: array<Touched>;

// What is counted in one go. Threads between the test and the count are far fewer than what is left above.
const OVERLAP_MOST = 0xf0000000u;

override OVERLAP_SORTED: bool;

// The box of a thread, or BVH_MISS. Buffers are the caller's: nothing is read or written past their ends.
fn overlap_box(thread: u32) -> u32 {
    let count = min(query.x, arrayLength(&boxes));
    if !OVERLAP_SORTED || thread >= count {
        return select(thread, BVH_MISS, thread >= count);
    }
    return order(thread);
}

@compute @workgroup_size(TRACE_BLOCK)
fn overlap_count(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let i = overlap_box(dispatch_workgroup(workgroup, workgroups) * TRACE_BLOCK + thread);
    if i == BVH_MISS {
        return;
    }
    var search = bvh_overlap_begin(boxes[i].lower, boxes[i].upper, query.y);
    var count = 0u;
    while bvh_overlap_next(&search) != BVH_MISS {
        count++;
    }
    if i < arrayLength(&numbers) {
        numbers[i] = count;
    }
}

@compute @workgroup_size(TRACE_BLOCK)
fn overlap_collect(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let i = overlap_box(dispatch_workgroup(workgroup, workgroups) * TRACE_BLOCK + thread);
    if i == BVH_MISS {
        return;
    }
    var search = bvh_overlap_begin(boxes[i].lower, boxes[i].upper, query.y);
    var at = numbers[min(i, arrayLength(&numbers) - 1u)];
    for (var leaf = bvh_overlap_next(&search); leaf != BVH_MISS; leaf = bvh_overlap_next(&search)) {
        if at < arrayLength(&names) {
            names[at] = bvh_overlap_name(&search, leaf);
        }
        at++;
    }
}

@compute @workgroup_size(TRACE_BLOCK)
fn overlap_append(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let i = overlap_box(dispatch_workgroup(workgroup, workgroups) * TRACE_BLOCK + thread);
    if i == BVH_MISS {
        return;
    }
    var search = bvh_overlap_begin(boxes[i].lower, boxes[i].upper, query.y);
    for (var leaf = bvh_overlap_next(&search); leaf != BVH_MISS; leaf = bvh_overlap_next(&search)) {
        // Before it comes round to 0.
        if atomicLoad(&total) >= OVERLAP_MOST {
            break;
        }
        let at = atomicAdd(&total, 1u);
        if at < min(query.z, arrayLength(&touched)) {
            let name = bvh_overlap_name(&search, leaf);
            touched[at] = Touched(i, name.x, name.y);
        }
    }
}
