// project_sh_stored: project_sh over half floats in a storage texture, for software adapters. Mesa's llvmpipe takes
// half the time for it, because for a sampled texture it looks up the level's size at every texel.
//
// It has the inputs and outputs of project_sh.
#import "environment/project_sh_gather.wgsl"

@group(0) @binding(0) var cube: texture_storage_2d_array<rgba16float, read>;

fn cube_face() -> u32 {
    return textureDimensions(cube).x;
}

fn cube_texel(at: vec2u, face: u32) -> vec3f {
    return textureLoad(cube, at, face).rgb;
}

@compute @workgroup_size(THREADS)
fn project_sh_stored(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    gather_moments(thread_moments(workgroup, workgroups, thread), thread);
    if thread == 0u {
        write_partials(workgroup, workgroups);
    }
}
