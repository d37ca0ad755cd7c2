// motion: computes the displacement of each pixel's surface point since the last frame.
//
// in   G-buffer (position, ids), the merged scene (group 2), last_positions: its vertices in the last frame
// out  displacement: in metres along the world's axes; zeros on the background
// One thread per pixel. A point keeps its position in its triangle or on its line. Its displacement is therefore the
// mean of the vertices' displacements, weighted by its barycentric coordinates. Weighting differences makes rounding
// errors in the coordinates of slivers irrelevant where all vertices move alike.
#import "frame/gbuffer.wgsl"
#import "frame/gbuffer_seen.wgsl"
#import "frame/motion.wgsl"
#import "frame/scene.wgsl"
#import "frame/segment.wgsl"

@group(1) @binding(0) var<uniform> row_offset: u32;
@group(1) @binding(1) var<uniform> params: MotionParams;
#texels 1 2 position_texture: rgba32float
#texels 1 3 ids_texture: r32uint
#array read 1 4 last_positions: u32
@group(1) @binding(5) var displacement_out: texture_storage_2d<rgba32float, write>;

// Returns the displacement of a vertex since the last frame.
fn path(vertex: u32) -> vec3f {
    let first = 3u * vertex;
    let last = bitcast<vec3f>(vec3u(last_positions(first), last_positions(first + 1u), last_positions(first + 2u)));
    return scene_position(vertex) - last;
}

fn triangle_path(triangle: u32, position: vec3f) -> vec3f {
    let i = vec3u(indices(3u * triangle), indices(3u * triangle + 1u), indices(3u * triangle + 2u));
    let a = scene_position(i.x) - position;
    let b = scene_position(i.y) - position;
    let c = scene_position(i.z) - position;
    let normal = cross(b - a, c - a);
    let areas = vec3f(dot(cross(b, c), normal), dot(cross(c, a), normal), dot(cross(a, b), normal));
    let area = areas.x + areas.y + areas.z;
    let weights = select(vec3f(1.0 / 3.0), areas / area, area > 0.0);
    return mat3x3f(path(i.x), path(i.y), path(i.z)) * weights;
}

fn segment_path(segment: u32, position: vec3f) -> vec3f {
    let place = segment_place(segment, params.triangle_count, position);
    return mix(path(place.vertices.x), path(place.vertices.y), place.share);
}

@compute @workgroup_size(8, 8)
fn motion(@builtin(global_invocation_id) id: vec3u) {
    let pixel = id.xy + vec2u(0u, row_offset);
    if any(pixel >= frame.size) {
        return;
    }
    let texel = gbuffer_seen(textureLoad(position_texture, pixel, 0), pixel);
    let surface_id = textureLoad(ids_texture, pixel, 0).r;
    var moved = vec3f(0.0);
    if gbuffer_is_triangle(surface_id) {
        moved = triangle_path(surface_id - 1u, texel.xyz);
    } else if surface_id != 0u {
        moved = segment_path((surface_id & ~GBUFFER_NO_TRIANGLE) - 1u, texel.xyz);
    }
    textureStore(displacement_out, pixel, vec4f(moved, 0.0));
}
