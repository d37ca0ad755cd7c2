// Choosing lights at random, each as often in the mean as its share of what all would give unshadowed
// (resampled importance sampling, Bitterli et al. 2020, section 2.4, with all lights as candidates).
//
// One number u chooses for all slots: slot k holds the light at (u + k) / slots of the running sum. That is
// weighted reservoir sampling whose reservoirs share a stratified number. A light with a share of n / slots
// is chosen n times whatever u is, so lights that matter are not left to chance.
#import "material/brdf.wgsl"
#import "frame/frame.wgsl"
#import "light/light.wgsl"

struct LightChoice {
    // Of the running sum, between the points at which lights are chosen.
    step: f32,
    u: f32,
    sum: f32,
    // Slots that are filled.
    chosen: u32,
}

// `total` is the sum of all weights.
fn light_choice_begin(total: f32, u: f32) -> LightChoice {
    return LightChoice(total / f32(frame.light_slots), u, 0.0, 0u);
}

// How often the next light is chosen.
fn light_choice_take(choice: ptr<function, LightChoice>, weight: f32) -> u32 {
    (*choice).sum += weight;
    let before = (*choice).chosen;
    let past = ceil((*choice).sum / max((*choice).step, 1.0e-38) - (*choice).u);
    let chosen = clamp(u32(max(past, 0.0)), before, frame.light_slots);
    (*choice).chosen = select(before, chosen, weight > 0.0);
    return (*choice).chosen - before;
}

// The weight by which a light is chosen: what it gives to the surface unshadowed. Layers may reflect what the
// BRDF below them does not, so every light that reaches the surface has some.
fn light_weight(s: Surface, e: BrdfEye, to_eye: vec3f, sample: LightSample) -> f32 {
    let reflected =
        brdf_evaluate(s, e, to_eye, sample.to_light) + 0.05 * max(dot(s.normal, sample.to_light), 0.0);
    // Bounded, so that the sum over all lights is finite.
    return min(dot(reflected * sample.irradiance, vec3f(0.2126, 0.7152, 0.0722)), 1.0e30);
}
