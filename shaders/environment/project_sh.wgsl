// project_sh: projects the radiance of a cube onto spherical harmonics of three or five bands (Ramamoorthi and Hanrahan
// 2001).
//
// project_sh  in  cube, a level of six layers
//             out partials: coefficients of each workgroup, with the solid angle that it covered
// sum_sh      in  partials
//             out result: 25 coefficients of radiance, then 25 of irradiance, zero past the order
//
// A workgroup of project_sh sums some rows of two opposite faces. A thread sums every THREADS-th of their columns,
// together with the mirrored texels, 8 at a time. The sums are added in workgroup memory, always in the same order.
// Workgroups: parts of the rows (any number) × three axes. sum_sh has a workgroup per coefficient and scales all so
// that the solid angles add up to 4π. Workgroups of a dispatch share no data. project_sh_subgroups and
// project_sh_stored are other implementations of the first pass.
#import "environment/project_sh_gather.wgsl"

@group(0) @binding(0) var cube: texture_2d_array<f32>;

fn cube_face() -> u32 {
    return textureDimensions(cube).x;
}

fn cube_texel(at: vec2u, face: u32) -> vec3f {
    return textureLoad(cube, at, face, 0).rgb;
}

@compute @workgroup_size(THREADS)
fn project_sh(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    gather_moments(thread_moments(workgroup, workgroups, thread), thread);
    if thread == 0u {
        write_partials(workgroup, workgroups);
    }
}
