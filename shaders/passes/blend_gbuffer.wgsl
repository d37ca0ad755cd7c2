// blend_gbuffer: the front-most blended surface of each pixel, in the G-buffer's encoding
// (frame/gbuffer.wgsl), for the rays that it sends.
//
// in   the merged scene (group 2), one material (group 3)
// out  position, normal, albedo, emissive, ids, depth: as gbuffer.wgsl
#import "passes/gbuffer_surface.wgsl"

@fragment
fn blend_gbuffer(in: Fragment, @builtin(front_facing) front: bool) -> GBufferTexel {
    let base_color = material_base_color(in.uv, in.color);
    let surface = material_surface(in, base_color, front);
    // What is not there hides nothing.
    let is_clear = (material.flags & MATERIAL_BLENDED) != 0u && base_color.a < 1.0 / 512.0;
    if is_cut_out(in) || is_clear {
        discard;
    }
    return gbuffer_drawn(gbuffer_pack(surface, in.triangle));
}
