// pyramid: adds PYRAMID_STEP levels to the box pyramid that hierarchy.wgsl or an earlier dispatch began.
//
// in   scratch: the pyramid's level `base_level`
// out  its levels base_level + 1 … base_level + PYRAMID_STEP
// Two dispatches cover 2^27 leaves. The box of a node that spans blocks is the union over its range, read from the
// pyramid. So threads of different nodes neither wait for nor race with each other. A workgroup reduces 2^PYRAMID_STEP
// boxes. Above the first of its levels, threads communicate only through shared memory.
#import "bvh/dispatch.wgsl"
#import "bvh/build/pyramid_levels.wgsl"

@group(0) @binding(1) var<storage, read_write> scratch: array<u32>;
@group(0) @binding(2) var<uniform> base_level: vec4u;

const THREADS = 1u << (PYRAMID_STEP - 1u);

var<workgroup> shared_lower: array<vec3f, THREADS>;
var<workgroup> shared_upper: array<vec3f, THREADS>;

fn load_or_empty(level: u32, index: u32) -> Box {
    if index < pyramid_size(level) {
        return pyramid_kept(level, index);
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
        if thread < (THREADS >> step) {
            pyramid_keep(base + step + 1u, index, b);
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
