// Light of the environment that occluders take from a surface, and what is left of it.
//
// A control variate: the unoccluded light is known, and rays only sample what is blocked. Open surfaces and closed rooms
// thus have no noise.
#import "environment/environment.wgsl"

// Perceptual roughness for which the environment is prefiltered. A small bright light in it then adds little noise.
const BLOCKED_ROUGHNESS = 0.5;
// Maximum of the blocked radiance, in units of its mean over the cosine-weighted hemisphere.
const BLOCKED_MAX = 16.0;

// Returns the environment's radiance in a blocked direction, relative to BLOCKED_MAX times `mean`, which is
// `environment_diffuse` of the normal.
fn blocked_environment(direction: vec3f, mean: vec3f) -> vec3f {
    let radiance = environment_prefiltered(direction, BLOCKED_ROUGHNESS);
    return min(radiance / (BLOCKED_MAX * max(mean, vec3f(1.0e-20))), vec3f(1.0));
}

// Returns the fraction of the environment's diffuse light that is visible. `blocked` is the blocked fraction of the
// rays and the mean of `blocked_environment` over all of them. Where all rays are blocked, nothing is visible.
fn environment_share(blocked: vec4f) -> vec3f {
    let left = vec3f(1.0) - BLOCKED_MAX * blocked.yzw;
    return clamp(left, vec3f(0.0), vec3f(BLOCKED_MAX * (1.0 - blocked.x)));
}
