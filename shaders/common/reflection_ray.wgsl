// A ray of reflection_rays, as the passes over its hit read it.
#import "common/octahedral.wgsl"
#import "common/rgb16.wgsl"

struct ReflectionRay {
    // Unit vector.
    direction: vec3f,
    // What the picture gains, over `Bounces::once` of its surface, from a unit of radiance against the ray.
    carried: vec3f,
    // Metres that a pixel covers at the hit, across the ray.
    width: f32,
}

fn reflection_ray_pack(ray: ReflectionRay) -> vec4u {
    return vec4u(octahedral_pack(ray.direction), rgb16_pack(ray.carried, 0u), bitcast<u32>(ray.width));
}

fn reflection_ray_unpack(words: vec4u) -> ReflectionRay {
    return ReflectionRay(octahedral_unpack(words.x), rgb16_unpack(words.yz), bitcast<f32>(words.w));
}
