// pyramid: PYRAMID_STEP levels of boxes above one level, so that three dispatches cover 2^27 leaves. A node's
// box is the union over its range of leaves, read from here: no thread ever waits for, or races with, the
// thread of another node.
//
// in   leaf_rows, or of the pyramid level `base_level`
// out  pyramid, levels base_level + 1 … base_level + PYRAMID_STEP
// A workgroup reduces 2^PYRAMID_STEP boxes. Above the first of its levels, threads meet in shared memory
// only.
#import "common/dispatch.wgsl"
#import "common/geometry.wgsl"
#import "common/pyramid.wgsl"

@group(0) @binding(1) var<storage, read_write> pyramid: array<f32>;
@group(0) @binding(2) var<uniform> base_level: vec4u;
#array read 0 3 leaf_rows: vec4u

const THREADS = 1u << (PYRAMID_STEP - 1u);

var<workgroup> shared_lower: array<vec3f, THREADS>;
var<workgroup> shared_upper: array<vec3f, THREADS>;

// Boxes on a level.
fn level_size(level: u32) -> u32 {
    return (params.triangle_count + params.mesh_count + (1u << level) - 1u) >> level;
}

fn pyramid_store(level: u32, index: u32, b: Box) {
    let at = pyramid_word(level, index);
    for (var axis = 0u; axis < 3u; axis++) {
        pyramid[at + axis] = b.lower[axis];
        pyramid[at + 3u + axis] = b.upper[axis];
    }
}

fn load_or_empty(level: u32, index: u32) -> Box {
    if index < level_size(level) {
        return pyramid_load(level, index);
    }
    return box_empty();
}

@compute @workgroup_size(THREADS)
fn pyramid_levels(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let base = base_level.x;
    var index = dispatch_workgroup(workgroup, workgroups) * THREADS + thread;
    var b = box_union(load_or_empty(base, 2u * index), load_or_empty(base, 2u * index + 1u));
    for (var step = 0u; step < PYRAMID_STEP; step++) {
        let level = base + step + 1u;
        let live = thread < (THREADS >> step);
        // The level of one box is the last.
        if live && index < level_size(level) && level_size(level - 1u) > 1u {
            pyramid_store(level, index, b);
        }
        shared_lower[thread] = b.lower;
        shared_upper[thread] = b.upper;
        workgroupBarrier();
        let pair = min(2u * thread, THREADS - 2u);
        b = Box(min(shared_lower[pair], shared_lower[pair + 1u]), max(shared_upper[pair], shared_upper[pair + 1u]));
        index = (index - thread) / 2u + thread;
        workgroupBarrier();
    }
}
