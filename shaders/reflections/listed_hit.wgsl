// The hits that one dispatch shades, by number: bindings 0 to 3 of group 1, and each hit as a fragment.
#import "reflections/hit_fragment.wgsl"
#import "reflections/hit_range.wgsl"
#import "frame/ray_list.wgsl"
#import "reflections/reflection_ray.wgsl"

struct HitMaterial {
    range: u32,
    // Number of the material. In the kernel for materials without textures, the stride of `materials` in vectors.
    material: u32,
}

@group(1) @binding(0) var<uniform> shaded: HitMaterial;
@group(1) @binding(1) var<uniform> ranges: array<HitRange, REFLECTION_BINS + 1u>;
@group(1) @binding(2) var<storage, read> sorted: array<u32>;
@group(1) @binding(3) var hits_texture: texture_2d_array<u32>;

struct ListedHit {
    pixel: vec2u,
    hit: ReflectionHit,
    // True if the number is within the range.
    exists: bool,
}

fn listed_hit(number: u32) -> ListedHit {
    if number >= ranges[shaded.range].count {
        return ListedHit(vec2u(0u), ReflectionHit(0u, 0u, vec2f(0.0)), false);
    }
    let entry = sorted[ranges[shaded.range].first + number];
    if entry == HIT_NONE {
        return ListedHit(vec2u(0u), ReflectionHit(0u, 0u, vec2f(0.0)), false);
    }
    let pixel = ray_list_pixel(entry);
    return ListedHit(pixel, reflection_hit_unpack(textureLoad(hits_texture, pixel, HITS_TRIANGLE, 0)), true);
}

// True if this dispatch shades the hit. Materials may share a range.
fn listed_hit_is_shaded(listed: ListedHit) -> bool {
    return listed.exists && listed.hit.material == shaded.material;
}

fn listed_ray(listed: ListedHit) -> ReflectionRay {
    return reflection_ray_unpack(textureLoad(hits_texture, listed.pixel, HITS_RAY, 0));
}

fn listed_fragment(listed: ListedHit, ray: ReflectionRay) -> HitFragment {
    return hit_fragment(listed.hit.id, listed.hit.barycentric, ray.direction, ray.width);
}
