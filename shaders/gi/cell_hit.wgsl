// Hits that the world cache keeps. They stay valid while the scene moves, unlike leaves of the BVH. The first word is a
// surface id, or 0 for a miss. The second has the barycentric coordinates in 2 × 9 bits, the direction back along the
// ray in 2 × 5, and its length relative to the cell in 4: half octaves, of which the last one stands for all longer
// rays.
#import "ambient/occlusion_hit.wgsl"
#import "bvh/tree_read.wgsl"
#import "frame/frame.wgsl"
#import "frame/gbuffer_ids.wgsl"
#import "frame/scene.wgsl"
#import "math/octahedral.wgsl"

// Side of a cell as a fraction of the picture's height at its distance, and in pixels. The larger one counts: a cell
// needs several readers.
const CELL_SHARE = 0.06;
const CELL_PIXELS = 8.0;
const CELL_LONGEST = 15u;

struct CellSurface {
    position: vec3f,
    // Normal of the triangle, on the side of the ray.
    normal: vec3f,
    // Unit vector to the origin of the ray.
    to_reader: vec3f,
    // Length of the ray in sides of a cell.
    sides: f32,
}

// Returns the side of a cell, in metres.
fn cell_side(position: vec3f) -> f32 {
    let pixel_side = frame.pixel_side.x + frame.pixel_side.y * distance(position, frame.eye);
    return max(pixel_side * max(CELL_SHARE * f32(frame.size.y), CELL_PIXELS), 1.0e-6);
}

// Returns the surface id of a hit of an occlusion ray.
fn cell_hit_id(hit: OcclusionHit) -> u32 {
    return (tree_triangle(hit.leaf).triangle + 1u) | GBUFFER_HIT | select(0u, GBUFFER_BACK, hit.is_back);
}

// Returns the surface at a hit of an occlusion ray from `origin`.
fn cell_surface_found(hit: OcclusionHit, origin: vec3f) -> CellSurface {
    let triangle = tree_triangle(hit.leaf);
    let across = cross(triangle.v1 - triangle.v0, triangle.v2 - triangle.v0);
    let along = mat2x3f(triangle.v1 - triangle.v0, triangle.v2 - triangle.v0) * hit.barycentric;
    let position = triangle.v0 + along;
    let t = max(distance(origin, position), 1.0e-20);
    let sides = t / cell_side(position);
    return CellSurface(position, cell_normal(across, hit.is_back), (origin - position) / t, sides);
}

fn cell_normal(across: vec3f, is_back: bool) -> vec3f {
    let length2 = dot(across, across);
    let front = select(vec3f(0.0, 1.0, 0.0), across * inverseSqrt(length2), length2 > 0.0);
    return select(front, -front, is_back);
}

// Packs a hit of an occlusion ray from `origin` to keep it.
fn cell_hit_pack(hit: OcclusionHit, origin: vec3f) -> vec2u {
    let surface = cell_surface_found(hit, origin);
    let to_reader = octahedral_pack_22(surface.to_reader);
    let octaves = clamp(2.0 * log2(surface.sides) + 8.0, 0.0, f32(CELL_LONGEST));
    let steps = vec2u(hit.barycentric * 511.0);
    let coarse = vec2u(to_reader >> 6u, to_reader >> 17u) & vec2u(31u);
    let packed = steps.x | (steps.y << 9u) | (coarse.x << 18u) | (coarse.y << 23u) | (u32(octaves) << 28u);
    return vec2u(cell_hit_id(hit), packed);
}

fn cell_barycentric(hit: vec2u) -> vec2f {
    return (vec2f(vec2u(hit.y, hit.y >> 9u) & vec2u(511u)) + 0.25) / 511.5;
}

// Returns the point with barycentric coordinates of the triangle with a surface id.
fn cell_point(id: u32, barycentric: vec2f) -> vec3f {
    let i = 3u * gbuffer_triangle(id);
    let v0 = scene_position(indices(i));
    let v1 = scene_position(indices(i + 1u));
    let v2 = scene_position(indices(i + 2u));
    return v0 + mat2x3f(v1 - v0, v2 - v0) * barycentric;
}

fn cell_surface(hit: vec2u) -> CellSurface {
    let i = 3u * gbuffer_triangle(hit.x);
    let v0 = scene_position(indices(i));
    let across = cross(scene_position(indices(i + 1u)) - v0, scene_position(indices(i + 2u)) - v0);
    let coarse = vec2u(hit.y >> 18u, hit.y >> 23u) & vec2u(31u);
    let to_reader = octahedral_unpack_22((coarse.x << 6u) | (coarse.y << 17u) | 0x10020u);
    let octaves = hit.y >> 28u;
    let sides = select(exp2(0.5 * f32(octaves) - 4.0), 1.0e10, octaves == CELL_LONGEST);
    let normal = cell_normal(across, (hit.x & GBUFFER_BACK) != 0u);
    return CellSurface(cell_point(hit.x, cell_barycentric(hit)), normal, to_reader, sides);
}
