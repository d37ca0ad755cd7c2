// Reflection result of a pixel, packed in two words: radiance, and the hit distance in ten bits. Both words are zero if
// no ray was traced. The distance is about REFLECTION_FAR for a miss.
#import "math/rgb16.wgsl"

// The distance is stored as a logarithm, in 32 steps per octave from 2^-15 on.
const REFLECTED_STEPS = 32.0;
const REFLECTED_MIN = 15.0;

fn reflected_pack(radiance: vec3f, distance: f32) -> vec2u {
    let steps = (log2(clamp(distance, 1.0e-6, REFLECTION_FAR)) + REFLECTED_MIN) * REFLECTED_STEPS;
    return rgb16_pack(min(radiance, vec3f(RADIANCE_MAX)), u32(clamp(steps + 0.5, 1.0, 1023.0)));
}

// Returns the radiance and distance. The distance is 0 if no ray was traced.
fn reflected_unpack(words: vec2u) -> vec4f {
    let steps = rgb16_rest(words);
    let distance = exp2(f32(steps) / REFLECTED_STEPS - REFLECTED_MIN);
    return vec4f(rgb16_unpack(words), select(distance, 0.0, steps == 0u));
}
