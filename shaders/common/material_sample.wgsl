// Sampling textures of a material from fragments, whose neighbours tell the level.
#import "common/frame.wgsl"

// The branch is on a number of its own, which changes seldom (common/unseen.wgsl): Mesa's software adapter (lavapipe
// 22) reads single pixels from elsewhere where textures that are filtered anisotropically have a bias, even of 0.
fn material_sample(number: u32, texels: texture_2d<f32>, how: sampler, at: vec2f) -> vec4f {
    if frame.biases_textures != 0u {
        return textureSampleBias(texels, how, at, frame.texture_bias);
    }
    return textureSample(texels, how, at);
}
