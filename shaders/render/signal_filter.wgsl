// signal_filter: averages a sampled signal over frames and over neighbouring pixels.
//
// signal_accumulate
// in   fresh: this frame's signal, two layers of words; taps of the last frame; last_signal: its means;
//      surfaces
// out  signal_out: means over the frames since the pixel's surface became visible
// Where 3 × 3 pixels find more or less than their history by several standard deviations, it is of other light
// and counts less, down to nothing (after Schied et al. 2018, "Gradient Estimation for Real-Time Adaptive
// Temporal Filtering"). It is never beyond what 5 × 5 pixels find. What one pixel finds says little; its
// neighbours' rays are spread evenly with it. While anything in the scene moves, the history of a light is
// short (common/signal_smooth.wgsl).
//
// signal_filter, signal_filter_lights
// in   signal_texture, surfaces
// out  smooth_out: a round of the filter (common/signal_smooth.wgsl)
//
// One thread per pixel in all of them.
#import "common/signal_smooth.wgsl"
#import "common/signal_taps.wgsl"

@group(1) @binding(0) var<uniform> first_row: u32;
@group(1) @binding(1) var<uniform> params: SignalParams;
@group(1) @binding(2) var fresh_texture: texture_2d_array<u32>;
@group(1) @binding(3) var taps_texture: texture_2d<u32>;
@group(1) @binding(4) var last_signal: texture_2d<u32>;
@group(1) @binding(5) var frame_surfaces: texture_2d<u32>;
@group(1) @binding(6) var signal_out: texture_storage_2d<rg32uint, write>;

@group(1) @binding(2) var signal_texture: texture_2d<u32>;
@group(1) @binding(3) var surfaces: texture_2d<u32>;
@group(1) @binding(4) var smooth_out: texture_storage_2d<rg32uint, write>;

// Changes of the mean of 3 × 3 pixels that mean nothing, and that end the history, in standard deviations of
// what one ray a pixel finds.
const CHANGE_LEAST = 2.5;
const CHANGE_MOST = 5.0;
// Pixels around a tile that its pixels look at, and pixels of both along an edge.
const APRON = 2u;
const APRON_TILE = 12u;

// What this frame found in and around the tile, of the two numbers that are compared.
var<workgroup> found: array<vec2f, 144>;
// What it found less what the history holds, and the variance that rays have there.
var<workgroup> changes: array<vec4f, 64>;

fn fresh_signal(pixel: vec2u) -> vec4f {
    let words = vec2u(
        textureLoad(fresh_texture, pixel, params.layer, 0).r,
        textureLoad(fresh_texture, pixel, params.layer + 1u, 0).r,
    );
    return signal_unpack(select(words, vec2u(0u), words == vec2u(SIGNAL_UNSENT)));
}

@compute @workgroup_size(8, 8)
fn signal_accumulate(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(local_invocation_id) thread: vec3u,
    @builtin(local_invocation_index) index: u32,
) {
    let first = vec2i(8u * workgroup.xy + vec2u(0u, first_row));
    for (var i = index; i < APRON_TILE * APRON_TILE; i += 64u) {
        let around = first + vec2i(vec2u(i % APRON_TILE, i / APRON_TILE)) - i32(APRON);
        found[i] = fresh_signal(vec2u(clamp(around, vec2i(0), vec2i(frame.size) - 1))).xz;
    }
    let pixel = vec2u(first) + thread.xy;
    let inside = all(pixel < frame.size);
    let at = min(pixel, frame.size - 1u);
    let fresh = fresh_signal(at);
    let taps = signal_taps_unpack(textureLoad(taps_texture, at, 0).xy);
    var history = vec4f(0.0);
    for (var i = 0u; i < 4u; i++) {
        let tap = clamp(taps.corner + vec2i(vec2u(i & 1u, i >> 1u)), vec2i(0), vec2i(frame.size) - 1);
        history += taps.weights[i] * signal_unpack(textureLoad(last_signal, tap, 0).xy);
    }
    let surface = signal_surface_unpack(textureLoad(frame_surfaces, at, 0));
    let frames = surface.frames;
    let known = dot(taps.weights, vec4f(1.0)) > 0.5 && inside && frames > 0u;
    // Not below 0: the third number of a signal that is not compared may be negative.
    let variance = max(history * (1.0 - history), vec4f(0.0)).xz;
    changes[index] = select(vec4f(0.0), vec4f((fresh - history).xz, variance), known);
    workgroupBarrier();
    var sum = vec4f(0.0);
    let corner = clamp(thread.xy, vec2u(1u), vec2u(6u)) - 1u;
    for (var i = 0u; i < 9u; i++) {
        sum += changes[8u * (corner.y + i / 3u) + corner.x + i % 3u];
    }
    let differences = params.change * abs(sum.xy) / sqrt(sum.zw + 0.25);
    let changed = smoothstep(CHANGE_LEAST, CHANGE_MOST, max(differences.x, differences.y));
    // Where all neighbours find the same, the history has to agree.
    var least = vec2f(1.0);
    var most = vec2f(0.0);
    for (var i = 0u; i < 25u; i++) {
        let other = found[(thread.y + i / 5u) * APRON_TILE + thread.x + i % 5u];
        least = min(least, other);
        most = max(most, other);
    }
    let limited = clamp(history.xz, least, most);
    let share = mix(history.xz, limited, params.change);
    // What is left of the penumbra's width is in the same proportion.
    let scale = share / max(history.xz, vec2f(1.0e-6));
    history = vec4f(share.x, history.y * mix(1.0, min(scale.x, 1.0), params.change.x), share.y,
        history.w * mix(1.0, min(scale.y, 1.0), params.change.y));
    let counted = vec2f(signal_earlier(history.xy, surface.moved), signal_earlier(history.zw, surface.moved));
    let earlier = min(vec2f(f32(max(frames, 1u) - 1u)), counted);
    let gain = select(vec2f(1.0), max(1.0 / (earlier + 1.0), vec2f(changed)), known);
    if inside {
        let mean = select(vec4f(0.0), mix(history, fresh, gain.xxyy), frames > 0u);
        textureStore(signal_out, pixel, vec4u(signal_pack(mean), 0u, 0u));
    }
}

@compute @workgroup_size(8, 8)
fn signal_filter(@builtin(global_invocation_id) id: vec3u) {
    let pixel = id.xy + vec2u(0u, first_row);
    if all(pixel < frame.size) {
        textureStore(smooth_out, pixel, vec4u(signal_pack(signal_smoothed(pixel)), 0u, 0u));
    }
}

@compute @workgroup_size(8, 8)
fn signal_filter_lights(@builtin(global_invocation_id) id: vec3u) {
    let pixel = id.xy + vec2u(0u, first_row);
    if all(pixel < frame.size) {
        textureStore(smooth_out, pixel, vec4u(signal_pack(signal_smoothed_lights(pixel)), 0u, 0u));
    }
}
