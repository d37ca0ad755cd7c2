// A ray of reflection_rays and its hit, as later passes read them: layers of one texture, because passes that shade
// materials with layers have no room for more.
#import "math/octahedral.wgsl"
#import "math/rgb16.wgsl"

const HITS_TRIANGLE = 0u;
const HITS_RAY = 1u;
const HITS_AMBIENT = 2u;

struct ReflectionHit {
    // Of the G-buffer.
    id: u32,
    material: u32,
    // Weights of the triangle's second and third vertex.
    barycentric: vec2f,
}

struct ReflectionRay {
    // Unit vector.
    direction: vec3f,
    // What the picture gains, over `brdf_reflected` of its surface, from a unit of radiance against the ray.
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

fn reflection_hit_pack(hit: ReflectionHit) -> vec4u {
    return vec4u(bitcast<vec2u>(hit.barycentric), hit.id, hit.material);
}

fn reflection_hit_unpack(words: vec4u) -> ReflectionHit {
    return ReflectionHit(words.z, words.w, bitcast<vec2f>(words.xy));
}
