// Light of the environment that occluders take from a surface, and what is left of it.
//
// A control variate: the unoccluded light is known, and rays only sample what is blocked. Open surfaces and closed rooms
// thus have no noise.
#import "environment/environment.wgsl"

// Perceptual roughness for which the environment is prefiltered, so that a small bright light in it adds little noise.
const BLOCKED_ROUGHNESS = 0.5;
// Maximum of the blocked light, and of what is visible, in units of the mean over the hemisphere.
const BLOCKED_MAX = 16.0;

// Returns the environment's radiance in a blocked direction, relative to the mean over the cosine-weighted hemisphere and
// to BLOCKED_MAX.
fn blocked_environment(direction: vec3f, normal: vec3f) -> vec3f {
    let mean = max(environment_diffuse(normal), vec3f(1.0e-20));
    return min(environment_prefiltered(direction, BLOCKED_ROUGHNESS) / (BLOCKED_MAX * mean), vec3f(1.0));
}

// Returns the radiance of the visible environment, averaged over the cosine-weighted hemisphere. `blocked` is the blocked
// fraction and the mean of `blocked_environment` over all rays.
fn visible_environment(blocked: vec4f, normal: vec3f) -> vec3f {
    let left = vec3f(1.0) - BLOCKED_MAX * blocked.yzw;
    return environment_diffuse(normal) * clamp(left, vec3f(0.0), vec3f(BLOCKED_MAX * (1.0 - blocked.x)));
}
