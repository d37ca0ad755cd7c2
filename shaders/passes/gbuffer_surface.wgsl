// Fragments of the G-buffer, independent of the source of the triangle number.
#import "material/cut_out.wgsl"
#import "passes/gbuffer_drawn.wgsl"
#import "material/material.wgsl"
#import "material/material_sample.wgsl"

fn opaque_texel(in: Fragment, front: bool, triangle: u32) -> GBufferTexel {
    let base_color = material_base_color(in.uv, in.color);
    return gbuffer_drawn(gbuffer_pack(material_surface(in, base_color, front), triangle));
}

// Discards fragments that the alpha mask cuts out.
fn masked_texel(in: Fragment, front: bool, triangle: u32) -> GBufferTexel {
    let base_color = material_base_color(in.uv, in.color);
    let surface = material_surface(in, base_color, front);
    if is_cut_out(in) {
        discard;
    }
    return gbuffer_drawn(gbuffer_pack(surface, triangle));
}
