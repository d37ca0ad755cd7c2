// project_sh_subgroups: project_sh for devices on which all subgroups have one size. Each subgroup sums its threads,
// and the workgroup sums its subgroups.
//
// It has the inputs and outputs of project_sh.
#import "environment/project_sh_sums.wgsl"

@group(0) @binding(0) var cube: texture_2d_array<f32>;

// The smallest subgroup has four threads.
const SUBGROUPS = MAX_THREADS / 4u;

var<workgroup> values: array<vec4f, MOMENTS * SUBGROUPS>;

fn cube_face() -> u32 {
    return textureDimensions(cube).x;
}

fn cube_texel(at: vec2u, face: u32) -> vec3f {
    return textureLoad(cube, at, face, 0).rgb;
}

@compute @workgroup_size(THREADS)
fn project_sh_subgroups(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
    @builtin(subgroup_id) subgroup: u32,
    @builtin(num_subgroups) subgroups: u32,
    @builtin(subgroup_invocation_id) lane: u32,
) {
    let sums = thread_moments(workgroup, workgroups, thread);
    var all = array<vec4f, MOMENTS>();
    all[0] = vec4f(subgroupAdd(sums.even[0]), subgroupAdd(sums.solid_angle));
    all[1] = vec4f(subgroupAdd(sums.even[1]), 0.0);
    all[2] = vec4f(subgroupAdd(sums.even[2]), 0.0);
    all[3] = vec4f(subgroupAdd(sums.even[3]), 0.0);
    all[4] = vec4f(subgroupAdd(sums.even[4]), 0.0);
    all[5] = vec4f(subgroupAdd(sums.even[5]), 0.0);
    all[ODD] = vec4f(subgroupAdd(sums.odd[0]), 0.0);
    all[ODD + 1u] = vec4f(subgroupAdd(sums.odd[1]), 0.0);
    all[ODD + 2u] = vec4f(subgroupAdd(sums.odd[2]), 0.0);
    if ORDER == 5u {
        all[6] = vec4f(subgroupAdd(sums.even[6]), 0.0);
        all[7] = vec4f(subgroupAdd(sums.even[7]), 0.0);
        all[8] = vec4f(subgroupAdd(sums.even[8]), 0.0);
        all[9] = vec4f(subgroupAdd(sums.even[9]), 0.0);
        all[10] = vec4f(subgroupAdd(sums.even[10]), 0.0);
        all[11] = vec4f(subgroupAdd(sums.even[11]), 0.0);
        all[12] = vec4f(subgroupAdd(sums.even[12]), 0.0);
        all[13] = vec4f(subgroupAdd(sums.even[13]), 0.0);
        all[14] = vec4f(subgroupAdd(sums.even[14]), 0.0);
        all[ODD + 3u] = vec4f(subgroupAdd(sums.odd[3]), 0.0);
        all[ODD + 4u] = vec4f(subgroupAdd(sums.odd[4]), 0.0);
        all[ODD + 5u] = vec4f(subgroupAdd(sums.odd[5]), 0.0);
        all[ODD + 6u] = vec4f(subgroupAdd(sums.odd[6]), 0.0);
        all[ODD + 7u] = vec4f(subgroupAdd(sums.odd[7]), 0.0);
        all[ODD + 8u] = vec4f(subgroupAdd(sums.odd[8]), 0.0);
        all[ODD + 9u] = vec4f(subgroupAdd(sums.odd[9]), 0.0);
    }
    if lane == 0u {
        for (var moment = 0u; moment < MOMENTS; moment++) {
            values[moment * SUBGROUPS + subgroup] = all[moment];
        }
    }
    workgroupBarrier();
    if thread < MOMENTS {
        var sum = vec4f();
        for (var i = 0u; i < subgroups; i++) {
            sum += values[thread * SUBGROUPS + i];
        }
        moments[thread] = sum;
    }
    workgroupBarrier();
    if thread == 0u {
        write_partials(workgroup, workgroups);
    }
}
