// occlusion_filter: filters the ambient occlusion over frames and over neighbouring pixels.
//
// occlusion_accumulate
// in   fresh: this frame's signal from occlusion_rays; G-buffer (position); where that was in the last frame; the
//      last frame's history: last_occlusion, last_surfaces
// out  occlusion_out, surfaces_out: means over the frames since the pixel's surface became visible, and that
//      surface
// The last frame's history is read where the last frame saw the surface's point, from the four pixels around it.
// Pixels count that show the same surface: either plane holds the other's point to within a pixel's width,
// and the normals agree. Where none does, the history begins anew.
//
// occlusion_filter, occlusion_finish
// in   occlusion_texture, surfaces
// out  smooth_out; at the end occlusion_words: an AmbientVisibility per pixel
// An edge-avoiding à-trous filter (Dammertz et al. 2010) of 3 × 3 taps; `occlusion_finish` is the last round.
// The weight of a tap falls to 0 where either plane is a pixel's width away from the other's point. The more
// rays a pixel has, the narrower its filter: a round of step s widens by a variance of s² / 2 pixels up to 64
// / s² rays, and by 32 / n for more rays n.
//
// One thread per pixel in all of them.
#import "common/occlusion_signal.wgsl"
#import "common/frame.wgsl"
#import "common/motion.wgsl"
#import "common/ambient_visibility.wgsl"

@group(1) @binding(0) var<uniform> first_row: u32;
@group(1) @binding(1) var<uniform> params: OcclusionParams;
@group(1) @binding(2) var fresh_texture: texture_2d<u32>;
@group(1) @binding(3) var position_texture: texture_2d<f32>;
@group(1) @binding(4) var last_occlusion: texture_2d<u32>;
@group(1) @binding(5) var last_surfaces: texture_2d<u32>;
@group(1) @binding(6) var occlusion_out: texture_storage_2d<rg32uint, write>;
@group(1) @binding(7) var surfaces_out: texture_storage_2d<rgba32uint, write>;
@group(1) @binding(8) var last_position_texture: texture_2d<f32>;
@group(1) @binding(9) var<uniform> motion: MotionParams;

@group(1) @binding(2) var occlusion_texture: texture_2d<u32>;
@group(1) @binding(3) var surfaces: texture_2d<u32>;
@group(1) @binding(4) var smooth_out: texture_storage_2d<rg32uint, write>;

@group(1) @binding(4) var normal_texture: texture_2d<u32>;
@group(1) @binding(5) var<storage, read_write> occlusion_words: array<u32>;

// Distance within which points count as lying in one plane: a pixel's width there, plus the rounding of
// coordinates.
fn tolerance(position: vec3f) -> f32 {
    let largest = max(abs(position.x), max(abs(position.y), abs(position.z)));
    return frame_pixel_width(position) + 9.5367432e-7 * largest;
}

@compute @workgroup_size(8, 8)
fn occlusion_accumulate(@builtin(global_invocation_id) id: vec3u) {
    let pixel = id.xy + vec2u(0u, first_row);
    if any(pixel >= frame.size) {
        return;
    }
    let texel = textureLoad(fresh_texture, pixel, 0);
    let fresh = occlusion_unpack(texel.xy);
    let pixel_surface = OcclusionSurface(
        textureLoad(position_texture, pixel, 0).xyz,
        octahedral_unpack(texel.z),
        texel.w,
    );
    let near = tolerance(pixel_surface.position);
    let last_position = textureLoad(last_position_texture, pixel, 0).xyz;
    let was_in_front = motion_had_in_front(motion, last_position);
    let at = vec2f(pixel) - motion_of_point(motion, pixel_surface.position, last_position);
    let corner = floor(at);
    let part = at - corner;
    var weights = 0.0;
    var share = 0.0;
    var direction = vec3f(0.0);
    var frames = 0.0;
    for (var i = 0u; i < 4u; i++) {
        let step = vec2u(i & 1u, i >> 1u);
        let tap = corner + vec2f(step);
        let seen = all(tap >= vec2f(0.0)) && all(tap < vec2f(frame.size)) && was_in_front;
        let tap_texel = vec2u(select(vec2f(0.0), tap, seen));
        let last = occlusion_surface_unpack(textureLoad(last_surfaces, tap_texel, 0));
        let off = last.position - last_position;
        let away = max(abs(dot(off, pixel_surface.normal)), abs(dot(off, last.normal)));
        let same = seen && last.frames > 0u && away < near && dot(last.normal, pixel_surface.normal) > 0.9;
        let sides = select(1.0 - part, part, step == vec2u(1u));
        let weight = select(0.0, sides.x * sides.y, same);
        let found = occlusion_unpack(textureLoad(last_occlusion, tap_texel, 0).xy);
        weights += weight;
        share += weight * found.share;
        direction += weight * found.direction;
        frames += weight * f32(last.frames);
    }
    // Less than a hundredth of a pixel counts as no history.
    let known = select(0.0, 1.0 / max(weights, 0.01), weights > 0.01);
    let earlier = min(u32(round(frames * known)), params.remembered);
    let gain = select(1.0 / f32(earlier + 1u), 1.0, known == 0.0);
    let mean = Occlusion(
        mix(share * known, fresh.share, gain),
        mix(direction * known, fresh.direction, gain),
    );
    let is_surface = texel.w != 0u;
    let packed = select(vec2u(0u), occlusion_pack(mean), is_surface);
    textureStore(occlusion_out, pixel, vec4u(packed, 0u, 0u));
    let history = OcclusionSurface(pixel_surface.position, pixel_surface.normal, earlier + 1u);
    textureStore(surfaces_out, pixel, select(vec4u(0u), occlusion_surface_pack(history), is_surface));
}

fn smoothed(pixel: vec2u) -> Occlusion {
    let pixel_surface = occlusion_surface_unpack(textureLoad(surfaces, pixel, 0));
    let own = occlusion_unpack(textureLoad(occlusion_texture, pixel, 0).xy);
    let near = 1.0 / tolerance(pixel_surface.position);
    let rays = f32(max(pixel_surface.frames, 1u) * params.rays);
    let spread = select(min(0.5, 32.0 / (rays * f32(params.step * params.step))), 0.0, params.step == 0u);
    // Weight of an outer tap relative to the one in the middle.
    let outer = 0.5 * spread / (1.0 - spread);
    var weights = 1.0;
    var share = own.share;
    var direction = own.direction;
    for (var i = 0u; i < 9u; i++) {
        let step = vec2i(vec2u(i % 3u, i / 3u)) - 1;
        let tap = vec2i(pixel) + step * i32(params.step);
        let there = all(tap >= vec2i(0)) && all(tap < vec2i(frame.size)) && any(step != vec2i(0));
        let tap_texel = vec2u(select(vec2i(pixel), tap, there));
        let other = occlusion_surface_unpack(textureLoad(surfaces, tap_texel, 0));
        let off = other.position - pixel_surface.position;
        let away = max(abs(dot(off, pixel_surface.normal)), abs(dot(off, other.normal)));
        let alike = max(dot(other.normal, pixel_surface.normal), 0.0);
        let alike2 = alike * alike;
        let alike4 = alike2 * alike2;
        // A pixel with fewer frames is noisier.
        let trust = min(f32(other.frames) / f32(max(pixel_surface.frames, 1u)), 1.0);
        let kernel = select(outer, 1.0, step.x == 0) * select(outer, 1.0, step.y == 0);
        let counts = there && other.frames > 0u && pixel_surface.frames > 0u;
        let weight = select(0.0, kernel * trust * alike4 * alike4 * max(1.0 - away * near, 0.0), counts);
        let found = occlusion_unpack(textureLoad(occlusion_texture, tap_texel, 0).xy);
        weights += weight;
        share += weight * found.share;
        direction += weight * found.direction;
    }
    return Occlusion(share / weights, direction / weights);
}

@compute @workgroup_size(8, 8)
fn occlusion_filter(@builtin(global_invocation_id) id: vec3u) {
    let pixel = id.xy + vec2u(0u, first_row);
    if all(pixel < frame.size) {
        textureStore(smooth_out, pixel, vec4u(occlusion_pack(smoothed(pixel)), 0u, 0u));
    }
}

@compute @workgroup_size(8, 8)
fn occlusion_finish(@builtin(global_invocation_id) id: vec3u) {
    let pixel = id.xy + vec2u(0u, first_row);
    if any(pixel >= frame.size) {
        return;
    }
    let occlusion = smoothed(pixel);
    let normal = octahedral_unpack(textureLoad(normal_texture, pixel, 0).r);
    // The mean of all directions of the hemisphere, weighted by the cosine, is two thirds of the normal.
    let rest = 2.0 / 3.0 * normal - occlusion.direction;
    let bent = select(normal, normalize(rest), dot(rest, normal) > 1.0e-3);
    let ambient = AmbientVisibility(bent, 1.0 - occlusion.share);
    occlusion_words[pixel.y * frame.size.x + pixel.x] = ambient_visibility_pack(ambient);
}
