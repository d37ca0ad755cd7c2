// Roughness-dependent fraction of the reflection that is traced.
#import "frame/frame.wgsl"
#import "frame/gbuffer.wgsl"

struct TracedReflection {
    // Radiance divided by the directional albedo (`brdf_reflected` of material/brdf.wgsl); with layers, divided by the
    // sum of the lobe weights (material/lobe_weights.wgsl).
    radiance: vec3f,
    // Fraction of the reflection that was traced. The prefiltered environment supplies the remaining fraction. With
    // layers, it is 1 if anything was traced.
    share: f32,
}

// Returns the reflection of a pixel without traced rays.
fn reflected_nothing() -> TracedReflection {
    return TracedReflection(vec3f(0.0), 0.0);
}

// Returns the traced fraction of the reflection: 1 below a roughness, then fading to 0.
fn reflection_share_of(roughness: f32) -> f32 {
    // A roughness of 0 is fully traced, however low the limit.
    let fade = max(min(REFLECTION_FADE, frame.reflect_below), 1.0e-6);
    return saturate((frame.reflect_below - roughness) / fade);
}

fn reflection_share(s: Surface) -> f32 {
    return select(reflection_share_of(s.roughness), 0.0, s.unlit);
}
