// blend_gbuffer: writes the front-most blended surface of each pixel to a G-buffer, for its reflection rays.
//
// in   the merged scene (group 2), one material (group 3)
// out  position, normal, albedo, emissive, ids, depth, encoded like in gbuffer.wgsl (frame/gbuffer.wgsl)
#import "passes/gbuffer_surface.wgsl"

@fragment
fn blend_gbuffer(in: Fragment, @builtin(front_facing) front: bool) -> GBufferTexel {
    let base_color = material_base_color(in.uv, in.color);
    let surface = material_surface(in, base_color, front);
    // Fully transparent fragments must not hide surfaces.
    let is_clear = (material.flags & MATERIAL_BLENDED) != 0u && base_color.a < 1.0 / 512.0;
    if is_cut_out(in) || is_clear {
        discard;
    }
    return gbuffer_drawn(gbuffer_pack(surface, in.triangle));
}
