// path_texels: copies a mip level of a texture into the table of the path tracer, four bytes per texel.
//
// in   a texture, and the destination
// out  table: colours are sRGB-encoded, other data is copied unchanged
// One thread per texel.
#import "frame/display.wgsl"

struct PathTexels {
    word: u32,
    level: u32,
    size: vec2u,
    row_offset: u32,
    srgb: u32,
}

@group(0) @binding(0) var<uniform> copied: PathTexels;
@group(0) @binding(1) var texels: texture_2d<f32>;
@group(0) @binding(2) var<storage, read_write> table: array<u32>;

@compute @workgroup_size(8, 8)
fn path_texels(@builtin(global_invocation_id) id: vec3u) {
    let at = id.xy + vec2u(0u, copied.row_offset);
    if any(at >= copied.size) {
        return;
    }
    let texel = textureLoad(texels, at, copied.level);
    let encoded = select(texel, vec4f(srgb_encode(texel.rgb), texel.a), copied.srgb != 0u);
    table[copied.word + at.y * copied.size.x + at.x] = pack4x8unorm(encoded);
}
