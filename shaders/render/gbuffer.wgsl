// gbuffer: draws opaque and masked surfaces into the G-buffer (common/gbuffer.wgsl defines the encoding).
//
// gbuffer: opaque surfaces, without a discard, so that the depth test runs first; gbuffer_masked: surfaces
// that their alpha cuts out
// in   the merged scene (group 2), one material (group 3)
// out  position, normal, albedo, emissive, ids, depth (reversed: 1 near, 0 far)
#import "common/material.wgsl"

@fragment
fn gbuffer(in: Fragment, @builtin(front_facing) front: bool) -> GBufferTexel {
    let base_color = material_base_color(in.uv, in.color, material_bias());
    return gbuffer_pack(material_surface(in, base_color, front), in.triangle);
}

@fragment
fn gbuffer_masked(in: Fragment, @builtin(front_facing) front: bool) -> GBufferTexel {
    let base_color = material_base_color(in.uv, in.color, material_bias());
    let surface = material_surface(in, base_color, front);
    if base_color.a < material.alpha_cutoff {
        discard;
    }
    return gbuffer_pack(surface, in.triangle);
}
