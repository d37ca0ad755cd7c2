// occlusion_filter: what rays have found of the light from everywhere, over the frames and over the pixels around.
//
// occlusion_accumulate
// in   fresh: of this frame, from occlusion_rays; G-buffer (position); what the last frame left: last_blocked, last_places
// out  blocked_out, places_out: means over the frames since the pixel's surface came into sight, and where it is
// A surface is looked up where the last frame saw it, in the four pixels around. Those that show the same surface count: one whose plane holds the
// other's point, to within a pixel's side, and whose normal is alike. Where none does the history begins.
//
// occlusion_filter, occlusion_finish
// in   blocked, places
// out  smooth_out; at the end occlusion_words: an Open a pixel
// An edge-avoiding à-trous filter (Dammertz et al. 2010) of 3 × 3 taps, of which `occlusion_finish` is the last round. A tap's weight falls to 0 where
// either plane is a pixel's side away from the other's point. The more rays a pixel has, the nearer the filter keeps to it: a round of
// step s widens by a variance of s² / 2 pixels up to 64 / s² rays, and by 32 / n of more.
//
// One thread per pixel in all of them.
#import "common/blocked.wgsl"
#import "common/frame.wgsl"
#import "common/open.wgsl"

@group(1) @binding(0) var<uniform> params: OcclusionParams;
@group(1) @binding(1) var fresh_texture: texture_2d<u32>;
@group(1) @binding(2) var position_texture: texture_2d<f32>;
@group(1) @binding(3) var last_blocked: texture_2d<u32>;
@group(1) @binding(4) var last_places: texture_2d<u32>;
@group(1) @binding(5) var blocked_out: texture_storage_2d<rg32uint, write>;
@group(1) @binding(6) var places_out: texture_storage_2d<rgba32uint, write>;

@group(1) @binding(1) var blocked_texture: texture_2d<u32>;
@group(1) @binding(2) var places: texture_2d<u32>;
@group(1) @binding(3) var smooth_out: texture_storage_2d<rg32uint, write>;

@group(1) @binding(3) var normal_texture: texture_2d<u32>;
@group(1) @binding(4) var<storage, read_write> occlusion_words: array<u32>;

// How far points of one plane may seem to lie apart: a pixel's side there, and what coordinates have lost to rounding.
fn tolerance(position: vec3f) -> f32 {
    let largest = max(abs(position.x), max(abs(position.y), abs(position.z)));
    return params.pixel_side.x + params.pixel_side.y * dot(position - frame.eye, frame.forward) + 9.5367432e-7 * largest;
}

// Where a point is in the picture, in pixels from its upper left corner; w is that of clip space.
fn in_picture(clip: vec4f) -> vec2f {
    return (clip.xy / clip.w * vec2f(0.5, -0.5) + 0.5) * vec2f(frame.size);
}

@compute @workgroup_size(8, 8)
fn occlusion_accumulate(@builtin(global_invocation_id) id: vec3u) {
    let pixel = id.xy;
    if any(pixel >= frame.size) {
        return;
    }
    let texel = textureLoad(fresh_texture, pixel, 0);
    let fresh = blocked_unpack(texel.xy);
    let place = Place(textureLoad(position_texture, pixel, 0).xyz, octahedral_unpack(texel.z), texel.w);
    let near = tolerance(place.position);
    // By the way that the point itself has come since: a sample's shift within the pixel is no movement.
    let clip = params.clip_from_offset * vec4f(place.position - frame.eye, 1.0);
    let last_clip = params.last_clip_from_offset * vec4f(place.position - params.last_eye, 1.0);
    let at = vec2f(pixel) + in_picture(last_clip) - in_picture(clip);
    let corner = floor(at);
    let part = at - corner;
    var weights = 0.0;
    var share = 0.0;
    var direction = vec3f(0.0);
    var frames = 0.0;
    for (var i = 0u; i < 4u; i++) {
        let step = vec2u(i & 1u, i >> 1u);
        let tap = corner + vec2f(step);
        let seen = all(tap >= vec2f(0.0)) && all(tap < vec2f(frame.size)) && last_clip.w > 0.0;
        let where_ = vec2u(select(vec2f(0.0), tap, seen));
        let last = place_unpack(textureLoad(last_places, where_, 0));
        let off = last.position - place.position;
        let away = max(abs(dot(off, place.normal)), abs(dot(off, last.normal)));
        let same = seen && last.frames > 0u && away < near && dot(last.normal, place.normal) > 0.9;
        let sides = select(1.0 - part, part, step == vec2u(1u));
        let weight = select(0.0, sides.x * sides.y, same);
        let found = blocked_unpack(textureLoad(last_blocked, where_, 0).xy);
        weights += weight;
        share += weight * found.share;
        direction += weight * found.direction;
        frames += weight * f32(last.frames);
    }
    // Of less than a hundredth of a pixel nothing is known.
    let known = select(0.0, 1.0 / max(weights, 0.01), weights > 0.01);
    let earlier = min(u32(round(frames * known)), params.remembered);
    let gain = select(1.0 / f32(earlier + 1u), 1.0, known == 0.0);
    let mean = Blocked(mix(share * known, fresh.share, gain), mix(direction * known, fresh.direction, gain));
    let surface = texel.w != 0u;
    textureStore(blocked_out, pixel, vec4u(select(vec2u(0u), blocked_pack(mean), surface), 0u, 0u));
    textureStore(places_out, pixel, select(vec4u(0u), place_pack(Place(place.position, place.normal, earlier + 1u)), surface));
}

fn smoothed(pixel: vec2u) -> Blocked {
    let place = place_unpack(textureLoad(places, pixel, 0));
    let own = blocked_unpack(textureLoad(blocked_texture, pixel, 0).xy);
    let near = 1.0 / tolerance(place.position);
    let rays = f32(max(place.frames, 1u) * params.rays);
    let spread = select(min(0.5, 32.0 / (rays * f32(params.step * params.step))), 0.0, params.step == 0u);
    // Of a tap to the side, for 1 in the middle.
    let outer = 0.5 * spread / (1.0 - spread);
    var weights = 1.0;
    var share = own.share;
    var direction = own.direction;
    for (var i = 0u; i < 9u; i++) {
        let step = vec2i(vec2u(i % 3u, i / 3u)) - 1;
        let tap = vec2i(pixel) + step * i32(params.step);
        let there = all(tap >= vec2i(0)) && all(tap < vec2i(frame.size)) && any(step != vec2i(0));
        let where_ = vec2u(select(vec2i(pixel), tap, there));
        let other = place_unpack(textureLoad(places, where_, 0));
        let off = other.position - place.position;
        let away = max(abs(dot(off, place.normal)), abs(dot(off, other.normal)));
        let alike = max(dot(other.normal, place.normal), 0.0);
        let alike2 = alike * alike;
        let alike4 = alike2 * alike2;
        // What has fewer frames has more noise.
        let trust = min(f32(other.frames) / f32(max(place.frames, 1u)), 1.0);
        let kernel = select(outer, 1.0, step.x == 0) * select(outer, 1.0, step.y == 0);
        let weight = select(0.0, kernel * trust * alike4 * alike4 * max(1.0 - away * near, 0.0), there && other.frames > 0u && place.frames > 0u);
        let found = blocked_unpack(textureLoad(blocked_texture, where_, 0).xy);
        weights += weight;
        share += weight * found.share;
        direction += weight * found.direction;
    }
    return Blocked(share / weights, direction / weights);
}

@compute @workgroup_size(8, 8)
fn occlusion_filter(@builtin(global_invocation_id) id: vec3u) {
    if all(id.xy < frame.size) {
        textureStore(smooth_out, id.xy, vec4u(blocked_pack(smoothed(id.xy)), 0u, 0u));
    }
}

@compute @workgroup_size(8, 8)
fn occlusion_finish(@builtin(global_invocation_id) id: vec3u) {
    let pixel = id.xy;
    if any(pixel >= frame.size) {
        return;
    }
    let blocked = smoothed(pixel);
    let normal = octahedral_unpack(textureLoad(normal_texture, pixel, 0).r);
    // The mean of all directions, each by its cosine, is two thirds of the normal.
    let rest = 2.0 / 3.0 * normal - blocked.direction;
    let bent = select(normal, normalize(rest), dot(rest, normal) > 1.0e-3);
    occlusion_words[pixel.y * frame.size.x + pixel.x] = open_pack(Open(bent, 1.0 - blocked.share));
}
