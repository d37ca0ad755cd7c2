// Alpha masks: the test that discards fragments of a masked surface.
//
// Coarse mip levels hold means of alpha. A mean does not determine which fraction of a texel reaches the cutoff, so
// thin geometry would vanish with distance. Mip level 0 decides instead, as it does for rays. It is read at a random
// point of the pixel where texels are smaller than pixels, and at the pixel centre where they are larger. The fraction
// of covered pixels is then correct at every distance.
#import "material/alpha.wgsl"
#import "material/material.wgsl"
#import "math/sampling.wgsl"

fn cut_out_texel(modes: u32, x: i32, y: i32) -> f32 {
    let size = vec2i(textureDimensions(base_color_texture));
    let texel = vec2i(alpha_wrap(x, size.x, modes & 3u), alpha_wrap(y, size.y, (modes >> 2u) & 3u));
    return textureLoad(base_color_texture, texel, 0).a;
}

// Returns the alpha at mip level 0. `u`, from 0 to 1, is the point in the pixel.
fn cut_out_alpha(uv: vec4f, color: vec4f, u: vec2f) -> f32 {
    let middle = material_uv(0u, uv);
    let right = dpdx(middle);
    let down = dpdy(middle);
    let size = vec2f(textureDimensions(base_color_texture));
    let texels = max(length(right * size), length(down * size));
    let offset = saturate(texels - 1.0) * (u - 0.5);
    // The same clamp as in material/alpha.wgsl.
    let at = clamp((middle + offset.x * right + offset.y * down) * size, vec2f(-1.0e9), vec2f(1.0e9));
    let is_linear = (material.flags & (MATERIAL_SAMPLER * ALPHA_LINEAR)) != 0u;
    let corner = floor(select(at, at - 0.5, is_linear));
    let weight = select(vec2f(0.0), at - 0.5 - corner, is_linear);
    let c = vec2i(corner);
    let modes = material.flags / MATERIAL_SAMPLER;
    let top = mix(cut_out_texel(modes, c.x, c.y), cut_out_texel(modes, c.x + 1, c.y), weight.x);
    let bottom = mix(cut_out_texel(modes, c.x, c.y + 1), cut_out_texel(modes, c.x + 1, c.y + 1), weight.x);
    return material.base_color.a * color.a * mix(top, bottom, weight.y);
}

fn is_cut_out(in: Fragment) -> bool {
    let u = sampling_point(vec2u(in.clip.xy), frame.cut_out_index, SAMPLE_CUT_OUTS);
    return cut_out_alpha(in.uv, in.color, u) < material.alpha_cutoff;
}
