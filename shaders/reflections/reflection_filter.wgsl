// reflection_filter: averages reflections over frames and over neighbouring pixels.
//
// reflection_accumulate: temporal accumulation
// in   noisy_words: this frame's result, and sent_texture with its ray directions; reprojection taps; signal_texture:
//      the last frame's means; last_surfaces; the G-buffer (position, normal), lobes, surfaces
// out  signal_out: means over frames
//
// reflection_smooth: one round of spatial filtering
// in   signal_texture, surfaces, the G-buffer
// out  signal_out: the filtered signal (denoise/signal_smooth.wgsl)
//
// reflection_filter: the last round of spatial filtering
// out  reflected_words: the filtered signal
//
// One workgroup per tile that casts rays, in any order, and one thread per pixel. Pixels that cast no ray hold zeros in
// reflected_words and in the means, and undefined values in the images that the rounds exchange. The sharpest lobe of a
// surface decides the filter width. Mirrors with a single lobe have no noise, so they are neither averaged nor
// filtered. Mirrors that choose between lobes are averaged over frames only. The words are defined in
// reflections/reflected.wgsl.
#import "material/brdf.wgsl"
#import "math/color.wgsl"
#import "bvh/dispatch.wgsl"
#import "frame/gbuffer_seen.wgsl"
#import "material/lobes_at.wgsl"
#import "frame/motion.wgsl"
#import "reflections/reflected.wgsl"
#import "material/reflection.wgsl"
#import "reflections/sending_tiles.wgsl"
#import "reflections/sent_ray.wgsl"
#import "denoise/signal_find.wgsl"
#import "denoise/signal_smooth.wgsl"

struct ReflectionFilterParams {
    // Maximum history length in frames, without this one. 0 restarts the history.
    max_history: u32,
    rays: u32,
    // Distance between filter taps in pixels; 0 disables the filter.
    step: u32,
    // Nonzero if the camera, lights or anything in the scene has changed since the last frame.
    moves: u32,
    // Strength of the compression of bright radiance among neighbours, relative to the radiance that is displayed as 1.
    compression: f32,
    // Nonzero if neighbours' rays are reused.
    reuses: u32,
}

@group(1) @binding(0) var<storage, read> sending: SendingTiles;
@group(1) @binding(1) var<uniform> params: ReflectionFilterParams;
@group(1) @binding(2) var position_texture: texture_2d<f32>;
@group(1) @binding(3) var normal_texture: texture_2d<u32>;
@group(1) @binding(4) var surfaces: texture_2d<u32>;
@group(1) @binding(5) var layers_texture: texture_2d<u32>;
@group(1) @binding(6) var glass_texture: texture_2d<u32>;
@group(1) @binding(7) var signal_texture: texture_2d<u32>;
@group(1) @binding(8) var signal_out: texture_storage_2d<rg32uint, write>;
@group(1) @binding(9) var<storage, read> noisy_words: array<vec2u>;
@group(1) @binding(10) var reprojected_texture: texture_2d<u32>;
@group(1) @binding(11) var last_surfaces: texture_2d<u32>;
@group(1) @binding(12) var<uniform> motion: MotionParams;
@group(1) @binding(13) var sent_texture: texture_2d<u32>;

@group(1) @binding(8) var<storage, read_write> reflected_words: array<vec2u>;

struct ReflectingSurface {
    surface: Surface,
    // Roughness of the sharpest lobe.
    roughness: f32,
    // True if all frames give the same result.
    is_mirror: bool,
    traces: bool,
}

fn reflecting_surface_at(pixel: vec2u) -> ReflectingSurface {
    let s = gbuffer_unpack(
        gbuffer_seen(textureLoad(position_texture, pixel, 0), pixel),
        textureLoad(normal_texture, pixel, 0).r,
        0u,
        0u,
    );
    if s.layered {
        let packed = packed_lobes_at(pixel);
        let roughness = lobes_roughness(packed, s);
        let has_choice = lobes_have_coat(packed) || lobes_transmit(packed);
        let is_mirror = roughness < REFLECTION_MIRROR && !has_choice;
        return ReflectingSurface(s, roughness, is_mirror, lobes_send(packed, s));
    }
    let is_mirror = s.roughness < REFLECTION_MIRROR;
    return ReflectingSurface(s, s.roughness, is_mirror, reflection_share(s) > 0.0);
}

// Returns the pixel of a thread, or a position outside the picture if the thread has no pixel.
fn pixel_of(workgroup: vec3u, workgroups: vec3u, local: vec3u) -> vec2u {
    let number = dispatch_workgroup(workgroup, workgroups);
    if number >= sending.count {
        return frame.size;
    }
    let tile = sending.tiles[number];
    return 8u * vec2u(tile & 0xffffu, tile >> 16u) + local.xy;
}

fn word_of(pixel: vec2u) -> u32 {
    return pixel.y * frame.size.x + pixel.x;
}

// Statistics of this frame's rays over 3 × 3 pixels: mean and standard deviation of the compressed radiance, and the
// harmonic mean of the hit distances.
struct RayStatistics {
    mean: vec3f,
    deviation: vec3f,
    distance: f32,
}

fn ray_statistics(pixel: vec2u) -> RayStatistics {
    var sum = vec3f(0.0);
    var squares = vec3f(0.0);
    var count = 0.0;
    var distance = 0.0;
    for (var i = 0u; i < 9u; i++) {
        let step = vec2i(vec2u(i % 3u, i / 3u)) - 1;
        let tap = clamp(vec2i(pixel) + step, vec2i(0), vec2i(frame.size) - 1);
        let found = reflected_unpack(noisy_words[word_of(vec2u(tap))]);
        let weight = select(0.0, 1.0, found.a > 0.0);
        let color = compressed(found.rgb, params.compression);
        sum += weight * color;
        squares += weight * color * color;
        count += weight;
        distance += weight / max(found.a, 1.0e-6);
    }
    let mean = sum / max(count, 1.0);
    let deviation = sqrt(max(squares / max(count, 1.0) - mean * mean, vec3f(0.0)));
    return RayStatistics(mean, deviation, count / max(distance, 1.0e-9));
}

// Returns the weighted mean of the last frame over four pixels. Alpha is the total weight of the pixels that have a
// mean.
fn last_mean(corner: vec2i, weights: vec4f) -> vec4f {
    var mean = vec4f(0.0);
    for (var i = 0u; i < 4u; i++) {
        let tap = clamp(corner + vec2i(vec2u(i & 1u, i >> 1u)), vec2i(0), vec2i(frame.size) - 1);
        let found = reflected_unpack(textureLoad(signal_texture, tap, 0).xy);
        let weight = select(0.0, weights[i], found.a > 0.0);
        mean += weight * vec4f(found.rgb, 1.0);
    }
    return vec4f(mean.rgb / max(mean.a, 0.01), mean.a);
}

// Returns the mean of the last frame at the mirror image that a flat mirror shows. The image lies as far behind the
// mirror as the hit is in front of it.
fn mirrored_mean(pixel: vec2u, s: Surface, surface: SignalSurface, distance: f32) -> vec4f {
    let image = s.position - distance * frame_to_eye(s.position);
    let at = vec2f(pixel) - motion_of_point(motion, image, image) + motion.jitter;
    let near = signal_tolerance(s.position);
    let was_in_front = motion_had_in_front(motion, image);
    let found = signal_find(at, surface.position, surface.normal, surface.mesh, near, was_in_front);
    let reprojected = reprojected_unpack(reprojected_pack(found.corner, found.part, found.same, false));
    return last_mean(reprojected.corner, reprojected.weights);
}

// Returns the filter radius in pixels, a fraction of the lobe's footprint at the hit distance. Points of a plane mirror
// closer than this footprint have similar reflections.
fn lobe_width(s: Surface, alpha: f32, distance: f32) -> f32 {
    return 0.65 * alpha * min(distance, 1.0e3) / max(frame_pixel_width(s.position), 1.0e-9);
}

// Returns the ratio estimator over the rays of a pixel and its eight neighbours. Each ray counts with this pixel's BRDF
// over the density that its direction was sampled with (Stachowiak 2015, "Stochastic Screen-Space Reflections").
// Dividing by the sum of the weights removes most of the weights' noise, and the albedo of the lobe is known. The
// longer the history, the less this estimate counts relative to the pixel's `own` ray. It is not used where the lobe is
// narrower than a pixel, because the reflection then changes faster than a ratio of so few rays can resolve.
fn resolved(
    pixel: vec2u,
    s: Surface,
    surface: SignalSurface,
    own: vec3f,
    distance: f32,
    frames: u32,
) -> vec3f {
    let sent = sent_ray_unpack(textureLoad(sent_texture, pixel, 0).xy);
    let to_eye = frame_to_eye(s.position);
    let n_dot_v = abs(dot(s.normal, to_eye)) + 1.0e-5;
    let alpha = max(s.roughness * s.roughness, 1.0e-4);
    let is_wide = saturate(lobe_width(s, alpha, distance) - 1.0);
    let trust = is_wide * REUSED_FRAMES / max(f32(frames), REUSED_FRAMES);
    // A ray that was sampled below the surface has found nothing and has weight 0. Other rays that neighbours cannot
    // use have no known weight.
    let has_weight = sent.lobe > 0.0 || all(own == vec3f(0.0));
    if trust == 0.0 || !has_weight {
        return own;
    }
    let near = signal_tolerance(s.position);
    var sum = own;
    var weights = sent.lobe;
    for (var i = 0u; i < 9u; i++) {
        let step = vec2i(vec2u(i % 3u, i / 3u)) - 1;
        let at = clamp(vec2i(pixel) + step, vec2i(0), vec2i(frame.size) - 1);
        let tap = vec2u(at);
        let words = textureLoad(sent_texture, tap, 0).xy;
        if i == 4u || all(words == vec2u(0u)) || any(at != vec2i(pixel) + step) {
            continue;
        }
        let found = reflected_unpack(noisy_words[word_of(tap)]);
        // A neighbour far off this surface's plane may see past something that blocks this surface's view.
        let there = signal_surface_unpack(textureLoad(surfaces, tap, 0));
        let off = there.position - surface.position;
        let away = max(abs(dot(off, surface.normal)), abs(dot(off, there.normal)));
        if away > near + REUSED_AWAY * found.a || there.mesh != surface.mesh {
            continue;
        }
        let other = sent_ray_unpack(words);
        // The two pixels share the hit point. For a miss, they share the direction.
        let hit = there.position + found.a * other.direction;
        let to_hit = normalize(hit - s.position);
        let n_dot_l = dot(s.normal, to_hit);
        if found.a == 0.0 || n_dot_l <= 0.0 {
            continue;
        }
        let half_vector = normalize(to_eye + to_hit);
        let lobe = brdf_ggx(s.normal, half_vector, alpha) * brdf_smith(n_dot_l, n_dot_v, alpha) * n_dot_l;
        let weight = min(lobe / other.density, REUSED_MAX);
        sum += weight / other.lobe * found.rgb;
        weights += weight;
    }
    let split = brdf_table_at(s.roughness, saturate(dot(s.normal, to_eye)));
    let ratio = sum * ((split.x + split.y) / max(weights, 1.0e-9));
    return mix(own, ratio, select(0.0, trust, weights > 1.0e-6));
}

// History length up to which neighbours' rays count in full.
const REUSED_FRAMES = 8.0;
// Greatest distance of a neighbour from this surface's plane, relative to the length of its ray.
const REUSED_AWAY = 0.05;
// Greatest weight of a neighbour's ray, so that no single ray dominates by chance.
const REUSED_MAX = 1.0;

@compute @workgroup_size(8, 8)
fn reflection_accumulate(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_id) local: vec3u,
) {
    let pixel = pixel_of(workgroup, workgroups, local);
    if any(pixel >= frame.size) {
        return;
    }
    let words = noisy_words[word_of(pixel)];
    if all(words == vec2u(0u)) {
        textureStore(signal_out, pixel, vec4u(0u));
        return;
    }
    let noisy = reflected_unpack(words);
    let m = reflecting_surface_at(pixel);
    let s = m.surface;
    if m.is_mirror {
        textureStore(signal_out, pixel, vec4u(words, 0u, 0u));
        return;
    }
    let found = ray_statistics(pixel);
    let surface = signal_surface_unpack(textureLoad(surfaces, pixel, 0));
    let reprojected = reprojected_unpack(textureLoad(reprojected_texture, pixel, 0).xy);
    var last = last_mean(reprojected.corner, reprojected.weights);
    let moves = params.moves != 0u;
    if moves && !surface.moved && m.roughness < REFLECTION_NARROW {
        let mirrored = mirrored_mean(pixel, s, surface, found.distance);
        if mirrored.a > 0.5 {
            last = mirrored;
        }
    }
    if moves {
        // Surfaces and their reflections may move differently. Clamps the history to the range of the neighbourhood.
        let color = clamp(
            compressed(last.rgb, params.compression),
            found.mean - found.deviation,
            found.mean + found.deviation,
        );
        last = vec4f(expanded(color, params.compression), last.a);
    }
    let max_history = params.max_history;
    let known = last.a > 0.5 && surface.frames > 0u && max_history > 0u;
    let frames = min(max(surface.frames, 1u) - 1u, max_history) + 1u;
    let gain = select(1.0, 1.0 / f32(frames), known);
    var now = noisy.rgb;
    if params.reuses != 0u && !s.layered {
        now = resolved(pixel, s, surface, noisy.rgb, found.distance, select(1u, frames, known));
    }
    let mean = mix(last.rgb, now, gain);
    textureStore(signal_out, pixel, vec4u(reflected_pack(mean, found.distance), 0u, 0u));
}

// Shading normal of the central pixel, and its α, by which signal_at judges the similarity of lobes.
var<private> own_normal: vec3f;
var<private> own_lobe: f32;

// Returns the compressed radiance, and 1 if traced. Radiance and flag are weighted by the similarity of the lobes.
fn signal_at(pixel: vec2u) -> vec4f {
    let found = reflected_unpack(textureLoad(signal_texture, pixel, 0).xy);
    let other = reflecting_surface_at(pixel);
    let turn = length(other.surface.normal - own_normal);
    let differs = turn + abs(other.roughness * other.roughness - own_lobe);
    let counts = other.traces && found.a > 0.0 && !other.is_mirror;
    let weight = select(0.0, saturate(1.5 - differs / max(own_lobe, 0.01)), counts);
    return weight * vec4f(compressed(found.rgb, params.compression), 1.0);
}

fn smoothed(pixel: vec2u) -> vec2u {
    let words = textureLoad(signal_texture, pixel, 0).xy;
    if all(words == vec2u(0u)) {
        return words;
    }
    let found = reflected_unpack(words);
    let m = reflecting_surface_at(pixel);
    let s = m.surface;
    if m.is_mirror || params.step == 0u {
        return words;
    }
    own_normal = s.normal;
    own_lobe = m.roughness * m.roughness;
    let n = signal_neighbours(pixel);
    let lobe = lobe_width(s, own_lobe, found.a);
    let step = f32(params.step);
    let most = lobe * lobe / (3.0 * step * step);
    let mean = signal_mean(n, min(signal_spread(n.frames * f32(params.rays)), most));
    return reflected_pack(expanded(mean.rgb / max(mean.a, 1.0e-6), params.compression), found.a);
}

@compute @workgroup_size(8, 8)
fn reflection_smooth(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_id) local: vec3u,
) {
    let pixel = pixel_of(workgroup, workgroups, local);
    if all(pixel < frame.size) {
        textureStore(signal_out, pixel, vec4u(smoothed(pixel), 0u, 0u));
    }
}

@compute @workgroup_size(8, 8)
fn reflection_filter(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_id) local: vec3u,
) {
    let pixel = pixel_of(workgroup, workgroups, local);
    if all(pixel < frame.size) {
        reflected_words[word_of(pixel)] = smoothed(pixel);
    }
}
