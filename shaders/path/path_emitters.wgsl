// Points on emissive triangles, sampled in proportion to their light. The importer binds `table` and `params`.
#import "frame/scene.wgsl"
#import "path/path_sources.wgsl"

struct EmitterPoint {
    position: vec3f,
    // Unit vector to it, and a distance that stops short of it: it would occlude itself.
    direction: vec3f,
    distance: f32,
    // Density per solid angle; 0 if the emitter does not shine this way.
    density: f32,
    material: u32,
    // Both UV sets.
    uv: vec4f,
}

// Returns both UV sets at a point of a triangle with these vertices.
fn path_uv(i: vec3u, w: vec3f) -> vec4f {
    return w.x * vec4f(scene_uv(i.x, 0u), scene_uv(i.x, 1u)) + w.y * vec4f(scene_uv(i.y, 0u), scene_uv(i.y, 1u))
        + w.z * vec4f(scene_uv(i.z, 0u), scene_uv(i.z, 1u));
}

// Samples a point of an emissive triangle, for light that arrives at `origin`. `choice` and `u` are random numbers.
fn path_emitter(origin: vec3f, choice: f32, u: vec2f) -> EmitterPoint {
    var found: EmitterPoint;
    let count = params.emitter_count;
    let sums = params.emitter_word + count;
    if count == 0u {
        return found;
    }
    if table_float(sums + count - 1u) <= 0.0 {
        return found;
    }
    let chosen = path_choose(sums, count, choice);
    let triangle = table[params.emitter_word + chosen.index];
    let root = sqrt(u.x);
    let w = vec3f(1.0 - root, root * (1.0 - u.y), root * u.y);
    let i = vec3u(indices(3u * triangle), indices(3u * triangle + 1u), indices(3u * triangle + 2u));
    let v0 = scene_position(i.x);
    let v1 = scene_position(i.y);
    let v2 = scene_position(i.z);
    let across = cross(v1 - v0, v2 - v0);
    let twice_area = length(across);
    found.position = w.x * v0 + w.y * v1 + w.z * v2;
    let offset = found.position - origin;
    let distance2 = dot(offset, offset);
    found.direction = offset * inverseSqrt(max(distance2, 1.0e-30));
    found.distance = 0.9999 * sqrt(distance2);
    found.material = table[params.emitter_word + 2u * count + chosen.index];
    found.uv = path_uv(i, w);
    let facing = dot(across, -found.direction) / max(twice_area, 1.0e-30);
    let glows_behind = tables[ALPHA_HEADER * found.material + ALPHA_DOUBLE_SIDED] != 0u;
    let is_seen = facing > 0.0 || (glows_behind && facing < 0.0);
    if is_seen && chosen.chance > 0.0 && distance2 > 0.0 {
        found.density = chosen.chance * distance2 / (0.5 * twice_area * abs(facing));
    }
    return found;
}
