// cube_mips: computes a mip level of a cube from the next finer one, weighted by exact solid angles.
//
// in   finer: a level, of any size
// out  coarser: the next level, of half the size, rounded down
// One thread per texel of all six faces. The sum of radiance × solid angle is the same on every level.
#import "environment/cube_box.wgsl"
#import "math/half_float.wgsl"

@group(0) @binding(0) var finer: texture_2d_array<f32>;
@group(0) @binding(1) var coarser: texture_storage_2d_array<rgba16float, write>;

@compute @workgroup_size(8, 8)
fn cube_mips(@builtin(global_invocation_id) id: vec3u) {
    let size = textureDimensions(coarser).x;
    if any(id.xy >= vec2u(size)) {
        return;
    }
    textureStore(coarser, id.xy, id.z, half_float_round(cube_box(id.z, id.xy, size)));
}
