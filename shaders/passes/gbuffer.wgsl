// gbuffer: draws opaque and masked surfaces into the G-buffer (frame/gbuffer.wgsl defines the encoding).
//
// gbuffer: opaque surfaces, without a discard, which allows early depth testing
// gbuffer_masked: surfaces with an alpha mask
// in   the merged scene (group 2), one material (group 3)
// out  position, normal, albedo, emissive, ids, depth (reversed: 1 near, 0 far)
#import "passes/gbuffer_surface.wgsl"

@fragment
fn gbuffer(in: Fragment, @builtin(front_facing) front: bool) -> GBufferTexel {
    return opaque_texel(in, front, in.triangle);
}

@fragment
fn gbuffer_masked(in: Fragment, @builtin(front_facing) front: bool) -> GBufferTexel {
    return masked_texel(in, front, in.triangle);
}
