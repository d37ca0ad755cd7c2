// Hits that the world cache keeps. They stay valid while the scene moves, unlike leaves of the BVH. The first word is a
// surface id, or 0 for a miss. The second has the barycentric coordinates in 2 × 9 bits, the direction back along the ray in
// 2 × 5, and its length relative to the cell in 4: half octaves, of which the last one stands for all longer rays.
#import "ambient/occlusion_hit.wgsl"
#import "bvh/tree_read.wgsl"
#import "frame/frame.wgsl"
#import "frame/gbuffer_ids.wgsl"
#import "frame/scene.wgsl"
#import "math/octahedral.wgsl"

// Side of a cell as a fraction of the picture's height at its distance, and in pixels. The larger one counts: a cell
// needs several readers.
const CELL_SHARE = 0.04;
const CELL_PIXELS = 8.0;
const CELL_LONGEST = 15u;

struct CellSurface {
    position: vec3f,
    // Normal of the triangle, on the side of the ray.
    normal: vec3f,
    // Unit vector to the origin of the ray.
    to_reader: vec3f,
    // Length of the ray in sides of a cell, rounded down.
    sides: f32,
}

// Returns the side of a cell, in metres.
fn cell_side(position: vec3f) -> f32 {
    let pixel_side = frame.pixel_side.x + frame.pixel_side.y * distance(position, frame.eye);
    return max(pixel_side * max(CELL_SHARE * f32(frame.size.y), CELL_PIXELS), 1.0e-6);
}

// Turns a hit of an occlusion ray from `origin` into one that is kept.
fn cell_hit(words: vec2u, origin: vec3f) -> vec2u {
    if words.x == OCCLUSION_UNHIT.x {
        return vec2u(0u);
    }
    let found = occlusion_hit_unpack(words);
    let triangle = tree_triangle(found.leaf);
    let position = triangle.v0 + mat2x3f(triangle.v1 - triangle.v0, triangle.v2 - triangle.v0) * found.barycentric;
    let t = max(distance(origin, position), 1.0e-20);
    let to_reader = octahedral_pack_22((origin - position) / t);
    let octaves = clamp(2.0 * log2(t / cell_side(position)) + 8.0, 0.0, f32(CELL_LONGEST));
    let steps = vec2u(round(found.barycentric * 511.0));
    let id = (triangle.triangle + 1u) | GBUFFER_HIT | select(0u, GBUFFER_BACK, found.is_back);
    let coarse = vec2u(to_reader >> 6u, to_reader >> 17u) & vec2u(31u);
    return vec2u(id, steps.x | (steps.y << 9u) | (coarse.x << 18u) | (coarse.y << 23u) | (u32(octaves) << 28u));
}

fn cell_surface(hit: vec2u) -> CellSurface {
    let i = 3u * gbuffer_triangle(hit.x);
    let v0 = scene_position(indices(i));
    let v1 = scene_position(indices(i + 1u));
    let v2 = scene_position(indices(i + 2u));
    let at = vec2f(vec2u(hit.y, hit.y >> 9u) & vec2u(511u)) / 511.0;
    let across = cross(v1 - v0, v2 - v0);
    let length2 = dot(across, across);
    let front = select(vec3f(0.0, 1.0, 0.0), across * inverseSqrt(length2), length2 > 0.0);
    let normal = select(front, -front, (hit.x & GBUFFER_BACK) != 0u);
    let coarse = vec2u(hit.y >> 18u, hit.y >> 23u) & vec2u(31u);
    let to_reader = octahedral_unpack_22((coarse.x << 6u) | (coarse.y << 17u) | 0x10020u);
    let octaves = hit.y >> 28u;
    let sides = select(exp2(0.5 * f32(octaves) - 4.0), 1.0e10, octaves == CELL_LONGEST);
    return CellSurface(v0 + mat2x3f(v1 - v0, v2 - v0) * at, normal, to_reader, sides);
}
