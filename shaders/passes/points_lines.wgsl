// points_lines: draws opaque and masked points and lines into the G-buffer, one pixel wide.
//
// in   the merged scene (group 2), one material (group 3), the images that `gbuffer` has drawn
// out  the outputs of `gbuffer`; ids have the bit GBUFFER_NO_TRIANGLE
#import "material/cut_out.wgsl"
#import "passes/gbuffer_drawn.wgsl"
#import "material/points_lines.wgsl"

@fragment
fn points_lines(in: Fragment) -> GBufferTexel {
    let base_color = material_base_color(in.uv, in.color);
    let surface = segment_surface(in, base_color);
    if is_cut_out(in) {
        discard;
    }
    var texel = gbuffer_pack(surface, in.triangle & SEGMENT_NUMBER);
    texel.ids |= GBUFFER_NO_TRIANGLE;
    return gbuffer_drawn(texel);
}
