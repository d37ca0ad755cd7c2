// Which surfaces trace what they reflect, and which of it they show.
#import "frame/frame.wgsl"
#import "frame/gbuffer.wgsl"

struct Reflected {
    // Radiance over the share of light that the surface reflects at once (`brdf_reflected` of material/brdf.wgsl); with
    // layers, over the sum of its lobes' weights (material/lobe_weights.wgsl).
    radiance: vec3f,
    // The share of it that rays have found. The prefiltered environment has the rest. With layers, 1 where rays have
    // found anything.
    share: f32,
}

// Where nothing is traced.
fn reflected_nothing() -> Reflected {
    return Reflected(vec3f(0.0), 0.0);
}

// The share that rays find: all of it below a roughness, then less and less.
fn reflection_share_of(roughness: f32) -> f32 {
    // A roughness of 0 is traced whole, however low the limit.
    let fade = max(min(REFLECTION_FADE, frame.reflect_below), 1.0e-6);
    return saturate((frame.reflect_below - roughness) / fade);
}

fn reflection_share(s: Surface) -> f32 {
    return select(reflection_share_of(s.roughness), 0.0, s.unlit);
}
