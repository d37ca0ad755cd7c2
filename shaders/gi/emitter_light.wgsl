// Light of emissive triangles at matte surfaces. A point of an emitter and a cosine-distributed ray are sampled, with
// weights by the balance heuristic (Veach and Guibas 1995, "Optimally Combining Sampling Techniques for Monte Carlo
// Rendering"). The importer binds `table` and `params`.
#import "math/color.wgsl"
#import "path/path_emitters.wgsl"
#import "shadow/shadow_ray.wgsl"

// Light, relative to the radiance that is displayed as white, above which each sample casts a ray. Less light casts
// fewer, which is Russian roulette.
const EMITTER_SURE = 0.25;
// Least probability of a ray.
const EMITTER_LEAST = 0.02;

// Returns the mean radiance over the cosine-weighted hemisphere that a sampled point of an emitter sends. `choice` are
// the random numbers for the choices of an emitter and of casting a ray, `u` those for the point.
fn emitter_light(start: ShadowStart, normal: vec3f, choice: vec2f, u: vec2f) -> vec3f {
    let found = path_emitter(start.origin, choice.x, u);
    let cosine = dot(normal, found.direction);
    if found.density <= 0.0 || cosine <= 0.0 || dot(start.horizon_normal, found.direction) <= 0.0 {
        return vec3f(0.0);
    }
    let density = cosine / PI;
    let light = path_emission(found.material, found.uv) * (density / (density + found.density));
    let chance = clamp(luminance(light) / (EMITTER_SURE * frame.unlit_radiance), EMITTER_LEAST, 1.0);
    if choice.y >= chance {
        return vec3f(0.0);
    }
    let hit = shadow_ray_hit(start, found.direction, found.distance, true);
    return light * ((1.0 - hit.blocked) / chance);
}

// Returns the radiance of an emissive triangle that a cosine-distributed ray hits, with its weight.
fn emitted_light(start: ShadowStart, normal: vec3f, direction: vec3f, triangle: LeafTriangle, at: vec2f) -> vec3f {
    let across = cross(triangle.v1 - triangle.v0, triangle.v2 - triangle.v0);
    let material = triangle.payload;
    let is_back = dot(across, direction) > 0.0;
    if is_back && tables[ALPHA_HEADER * material + ALPHA_DOUBLE_SIDED] == 0u {
        return vec3f(0.0);
    }
    let i = vec3u(0u, 1u, 2u) + 3u * triangle.triangle;
    let w = vec3f(1.0 - at.x - at.y, at);
    let uv = path_uv(vec3u(indices(i.x), indices(i.y), indices(i.z)), w);
    let emission = path_emission(material, uv);
    if !any(emission > vec3f(0.0)) {
        return vec3f(0.0);
    }
    let offset = w.x * triangle.v0 + w.y * triangle.v1 + w.z * triangle.v2 - start.origin;
    let area = max(0.5 * abs(dot(across, direction)), 1.0e-30);
    let density = max(dot(normal, direction), 0.0) / PI;
    let other = path_emitter_chance(triangle.triangle) * dot(offset, offset) / area;
    return emission * (density / max(density + other, 1.0e-30));
}
