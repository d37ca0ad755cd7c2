// Packing of a reflection ray and its hit for later passes. They are layers of one texture, because the passes that
// shade layered materials have no binding left for more.
#import "math/octahedral.wgsl"
#import "math/rgb16.wgsl"

const HITS_TRIANGLE = 0u;
const HITS_RAY = 1u;
const HITS_AMBIENT = 2u;

struct ReflectionHit {
    // Id in the encoding of the G-buffer.
    id: u32,
    material: u32,
    // Barycentric weights of the triangle's second and third vertex.
    barycentric: vec2f,
}

struct ReflectionRay {
    // Unit vector.
    direction: vec3f,
    // Throughput of the ray, divided by the sum of the lobe weights of the pixel's surface
    // (material/lobe_weights.wgsl).
    carried: vec3f,
    // Width of a pixel's footprint at the hit, across the ray, in metres.
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
