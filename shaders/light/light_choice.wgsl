// Random selection of lights, in proportion to their unshadowed contributions (resampled importance sampling, Bitterli
// et al. 2020, section 2.4, with all lights as candidates).
//
// A single number u selects for all slots. Slot k holds the light at (u + k) / slots of the running sum. This is
// weighted reservoir sampling whose reservoirs share a stratified number. A light with the fraction n / slots of the
// sum is chosen n times for any u, so important lights are not left to chance.
#import "material/brdf.wgsl"
#import "frame/frame.wgsl"
#import "light/light.wgsl"

struct LightChoice {
    // Distance in the running sum between two selected points.
    step: f32,
    u: f32,
    sum: f32,
    // Number of filled slots.
    chosen: u32,
}

// Begins a selection with the number `u` in [0, 1). `total` is the sum of the weights of all lights.
fn light_choice_begin(total: f32, u: f32) -> LightChoice {
    return LightChoice(total / f32(frame.light_slots), u, 0.0, 0u);
}

// Returns the number of times that the next light is chosen.
fn light_choice_take(choice: ptr<function, LightChoice>, weight: f32) -> u32 {
    (*choice).sum += weight;
    let before = (*choice).chosen;
    let past = ceil((*choice).sum / max((*choice).step, 1.0e-38) - (*choice).u);
    let chosen = clamp(u32(max(past, 0.0)), before, frame.light_slots);
    (*choice).chosen = select(before, chosen, weight > 0.0);
    return (*choice).chosen - before;
}

// Returns the sampling weight of a light: its unshadowed contribution. Layers may reflect light that the BRDF below
// them does not, so every light that illuminates the surface has a minimum weight.
fn light_weight(s: Surface, e: BrdfEye, to_eye: vec3f, sample: LightSample) -> f32 {
    let reflected =
        brdf_evaluate(s, e, to_eye, sample.to_light) + 0.05 * max(dot(s.normal, sample.to_light), 0.0);
    // Bounded, so that the sum over all lights is finite.
    return min(dot(reflected * sample.irradiance, vec3f(0.2126, 0.7152, 0.0722)), 1.0e30);
}
