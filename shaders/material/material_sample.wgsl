// Samples textures of a material from fragments, with the mip level from screen-space derivatives.
#import "frame/frame.wgsl"

fn material_sample(number: u32, texels: texture_2d<f32>, how: sampler, at: vec2f) -> vec4f {
    return textureSampleBias(texels, how, at, frame.texture_bias);
}
