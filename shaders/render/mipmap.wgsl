// mipmap: a level of a texture from the one above, by a 2 × 2 box filter; sRGB formats are filtered in linear light.
//
// in   the finer level, with a linear sampler
// out  the coarser level
#import "common/cover.wgsl"
@group(0) @binding(0) var finer: texture_2d<f32>;
@group(0) @binding(1) var finer_sampler: sampler;

@fragment
fn mipmap(in: Corner) -> @location(0) vec4f {
    return textureSampleLevel(finer, finer_sampler, in.uv, 0.0);
}
