// The first ray of a pixel, packed in two words for reuse by its neighbours. All zeros if neighbours cannot use it.
#import "math/octahedral.wgsl"

struct SentRay {
    // Unit vector.
    direction: vec3f,
    // BRDF × cosine / density, without the Fresnel term. At most 4.
    lobe: f32,
    // Density of the direction per steradian, from 2^-32 to 2^32.
    density: f32,
}

fn sent_ray_pack(ray: SentRay) -> vec2u {
    let levels = vec2f(0.25 * ray.lobe, log2(ray.density) / 64.0 + 0.5);
    return vec2u(octahedral_pack(ray.direction), pack2x16unorm(levels));
}

fn sent_ray_unpack(words: vec2u) -> SentRay {
    let levels = unpack2x16unorm(words.y);
    return SentRay(octahedral_unpack(words.x), 4.0 * levels.x, exp2(64.0 * levels.y - 32.0));
}
