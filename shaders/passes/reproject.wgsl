// reproject: finds each pixel's surface in the last frame, for all signals that are averaged over frames.
//
// in   G-buffer (position, ids), the merged scene (group 2), displacement of the surfaces, the last frame's surfaces
// out  reprojected_out: the four pixels of the last frame around the reprojected position, and which of them show the
//      surface. A pixel shows it if the mesh is the same, the normals agree, and one surface's point is within a
//      pixel's width of the other surface's plane.
//      surfaces_out: this frame's surfaces, with the number of frames since each became visible, and whether it has
//      moved
// One thread per pixel.
#import "frame/gbuffer.wgsl"
#import "frame/gbuffer_seen.wgsl"
#import "frame/motion.wgsl"
#import "shadow/shadow_start.wgsl"
#import "denoise/signal_find.wgsl"

@group(1) @binding(0) var<uniform> row_offset: u32;
#texels 1 1 position_texture: rgba32float
#texels 1 2 ids_texture: r32uint
#texels 1 3 displacement_texture: rgba32float
#texels 1 4 last_surfaces: rgba32uint
@group(1) @binding(5) var<storage, read> triangle_info: array<vec2u>;
@group(1) @binding(6) var reprojected_out: texture_storage_2d<rg32uint, write>;
@group(1) @binding(7) var surfaces_out: texture_storage_2d<rgba32uint, write>;
@group(1) @binding(8) var<uniform> motion: MotionParams;
// Maximum history length in frames, without this one. 0 restarts the history.
@group(1) @binding(9) var<uniform> max_history: u32;

@compute @workgroup_size(8, 8)
fn reproject(@builtin(global_invocation_id) id: vec3u) {
    let pixel = id.xy + vec2u(0u, row_offset);
    if any(pixel >= frame.size) {
        return;
    }
    let surface_id = textureLoad(ids_texture, pixel, 0).r;
    if !gbuffer_is_triangle(surface_id) {
        textureStore(reprojected_out, pixel, vec4u(0u));
        textureStore(surfaces_out, pixel, vec4u(0u));
        return;
    }
    let triangle = gbuffer_triangle(surface_id);
    let position = gbuffer_seen(textureLoad(position_texture, pixel, 0), pixel).xyz;
    let normal = shadow_ray_start(surface_id, position).geometric_normal;
    let mesh = (triangle_info[triangle].x * 2654435769u) >> 27u;
    let near = signal_tolerance(position);
    let displacement = motion_displacement(motion, textureLoad(displacement_texture, pixel, 0));
    let last_position = position - displacement;
    let was_in_front = motion_had_in_front(motion, last_position);
    let at = vec2f(pixel) - motion_of_point(motion, position, last_position) + motion.jitter;
    let found = signal_find(at, last_position, normal, mesh, near, was_in_front);
    let earlier = min(u32(round(found.frames)), max_history);
    let same = select(0u, found.same, max_history > 0u);
    textureStore(reprojected_out, pixel, vec4u(reprojected_pack(found.corner, found.part, same, false), 0u, 0u));
    let moved = any(displacement != vec3f(0.0));
    let surface = SignalSurface(position, normal, mesh, moved, earlier + 1u);
    textureStore(surfaces_out, pixel, signal_surface_pack(surface));
}
