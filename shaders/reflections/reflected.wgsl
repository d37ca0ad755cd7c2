// Two words of what a pixel's rays have found: radiance, and in ten bits the distance to what was hit. All zeros where
// none was traced; the distance is about REFLECTION_FAR where nothing was hit.
#import "math/rgb16.wgsl"

// The distance's logarithm, in 32 steps an octave, from 2^-15 on.
const REFLECTED_STEPS = 32.0;
const REFLECTED_LEAST = 15.0;

fn reflected_pack(radiance: vec3f, distance: f32) -> vec2u {
    let steps = (log2(clamp(distance, 1.0e-6, REFLECTION_FAR)) + REFLECTED_LEAST) * REFLECTED_STEPS;
    return rgb16_pack(min(radiance, vec3f(RADIANCE_MAX)), u32(clamp(steps + 0.5, 1.0, 1023.0)));
}

// Radiance and distance; a distance of 0 where nothing was traced.
fn reflected_unpack(words: vec2u) -> vec4f {
    let steps = rgb16_rest(words);
    let distance = exp2(f32(steps) / REFLECTED_STEPS - REFLECTED_LEAST);
    return vec4f(rgb16_unpack(words), select(distance, 0.0, steps == 0u));
}
