// shadow_filter: averages the visibility of two lights over frames and over neighbouring pixels.
//
// shadow_accumulate: temporal accumulation
// in   noisy_texture: this frame's noisy result, a layer per light; reprojection taps of each light; last_means;
//      surfaces; last_edges
// out  means_out: means over the frames since the pixel's surface became visible
//      edges_out: for each light with a size, a bit and a frame count (shadow/shadow_edges_word.wgsl). The bit is set
//      if 5 × 5 pixels find different fractions and the history is short. The count is the number of frames in which
//      they have agreed.
// The history loses weight, down to nothing, where the mean of 3 × 3 pixels differs from it by several standard
// deviations. The lighting has then changed (after Schied et al. 2018, "Gradient Estimation for Real-Time Adaptive
// Temporal Filtering"). The history is also clamped to the range of 5 × 5 pixels. A neighbourhood is needed because a
// single pixel has too few rays, and its neighbours' rays are stratified with its own.
//
// shadow_smooth: one round of spatial filtering
// in   means, surfaces
// out  smooth_out: the filtered means (denoise/signal_smooth.wgsl)
//
// shadow_filter: the last round of spatial filtering
// in   means, surfaces; found_texture: this frame's noisy result
// out  shadow_words: the visible fraction of each light with a size
//
// All entry points use one thread per pixel. No other thread writes the words of its pixel.
#import "frame/apron.wgsl"
#import "shadow/blocked_light_mean.wgsl"
#import "math/cubic.wgsl"
#import "shadow/shadow_edges_word.wgsl"
#import "shadow/shadow_words.wgsl"
#import "denoise/signal_smooth.wgsl"
#import "denoise/reprojected.wgsl"

@group(1) @binding(0) var<uniform> row_offset: u32;
@group(1) @binding(1) var<uniform> params: SignalParams;
#texels 1 2 noisy_texture: r32uint array
#texels 1 3 first_reprojected: rg32uint
#texels 1 4 second_reprojected: rg32uint
#texels 1 5 last_means: rg32uint
#texels 1 6 frame_surfaces: rgba32uint
@group(1) @binding(7) var means_out: texture_storage_2d<rg32uint, write>;
@group(1) @binding(8) var edges_out: texture_storage_2d_array<r32uint, write>;
#texels 1 9 last_edges: r32uint array

#texels 1 2 means: rg32uint
#texels 1 3 surfaces: rgba32uint
@group(1) @binding(4) var smooth_out: texture_storage_2d<rg32uint, write>;

#texels 1 4 found_texture: r32uint array
@group(1) @binding(5) var<storage, read_write> shadow_words: array<u32>;

// Number of lights to filter. It is 1 if the second light of the pair has no size or does not exist, and then nothing
// of that light is read or stored. These are separate kernels because a branch on a uniform costs registers even where
// it is not taken.
override SHADOW_LIGHTS: u32 = 2u;

// Range of changes of the 3 × 3 mean over which the history fades out, in standard deviations of one ray per pixel.
const CHANGE_MIN = 2.5;
const CHANGE_MAX = 5.0;

// Blocked fraction in and around the tile this frame, half a word per light.
var<workgroup> found: array<u32, 144>;
// Difference to the history, and the variance of a ray there, packed like a signal.
var<workgroup> changes: array<vec2u, 64>;
// Flags: the results in and around the tile differ from each other; the results differ from the history.
var<workgroup> found_differs: atomic<u32>;
var<workgroup> history_differs: atomic<u32>;

fn noisy_words(pixel: vec2u) -> vec2u {
    var words = vec2u(textureLoad(noisy_texture, pixel, params.layer, 0).r, SIGNAL_UNSENT);
    if SHADOW_LIGHTS == 2u {
        words.y = textureLoad(noisy_texture, pixel, params.layer + 1u, 0).r;
    }
    return signal_sent(words);
}

// Unpacks the blocked fractions and penumbra widths of two lights. Settled results carry no penumbra width.
fn noisy_means(words: vec2u) -> vec4f {
    let found = select(words & vec2u(~SIGNAL_EDGE), words & vec2u(SIGNAL_SHARE), signal_is_kept(words));
    return signal_unpack(found) * vec4f(1.0, PENUMBRA_MAX, 1.0, PENUMBRA_MAX);
}

// Packs the fractions of two lights in a word. The bits sort in the order of the fractions.
fn noisy_shares(words: vec2u) -> u32 {
    return (words.x & SIGNAL_SHARE) | ((words.y & SIGNAL_SHARE) << 16u);
}

fn shares_apart(shares: u32) -> vec2u {
    return vec2u(shares, shares >> 16u) & vec2u(SIGNAL_SHARE);
}

fn last_mean(tap: vec2i, k: u32) -> BlockedLightMean {
    let inside = clamp(tap, vec2i(0), vec2i(frame.size) - 1);
    return blocked_light_mean_unpack(textureLoad(last_means, inside, 0)[k]);
}

// Returns the reprojected mean of light `k`. If the shadow moves, a bicubic filter over 4 × 4 pixels blurs it less than
// a bilinear one. The result is clamped to the range of the four nearest pixels.
fn history_at(reprojected: Reprojected, k: u32) -> BlockedLightMean {
    var history = BlockedLightMean(0.0, 0.0, 0.0);
    var least = vec2f(1.0e9);
    var most = vec2f(0.0);
    for (var i = 0u; i < 4u; i++) {
        let mean = last_mean(reprojected.corner + vec2i(vec2u(i & 1u, i >> 1u)), k);
        history.share += reprojected.weights[i] * mean.share;
        history.width += reprojected.weights[i] * mean.width;
        history.frames += reprojected.weights[i] * mean.frames;
        least = min(least, vec2f(mean.share, mean.width));
        most = max(most, vec2f(mean.share, mean.width));
    }
    if reprojected.moves && all(reprojected.weights > vec4f(0.0)) {
        let x = cubic_weights(reprojected.weights.y + reprojected.weights.w, 0.5);
        let y = cubic_weights(reprojected.weights.z + reprojected.weights.w, 0.5);
        var sum = vec2f(0.0);
        for (var i = 0u; i < 16u; i++) {
            let step = vec2u(i & 3u, i >> 2u);
            let mean = last_mean(reprojected.corner + vec2i(step) - 1, k);
            sum += x[step.x] * y[step.y] * vec2f(mean.share, mean.width);
        }
        sum = clamp(sum, least, most);
        history = BlockedLightMean(sum.x, sum.y, history.frames);
    }
    return history;
}

// Packs the means of two lights. A second light without a size stores nothing, not even its frame count.
fn means_pack(first: BlockedLightMean, second: BlockedLightMean) -> vec2u {
    var words = vec2u(blocked_light_mean_pack(first), 0u);
    if SHADOW_LIGHTS == 2u {
        words.y = blocked_light_mean_pack(second);
    }
    return words;
}

fn second_mean_unpack(word: u32) -> BlockedLightMean {
    if SHADOW_LIGHTS == 2u {
        return blocked_light_mean_unpack(word);
    }
    return BlockedLightMean(0.0, 0.0, 0.0);
}

// Returns the penumbra width in pixels.
fn penumbra_width(share: f32, width: f32) -> f32 {
    return width / max(share, 1.0e-6);
}

// Returns the weight, in frames, of a frame that cast more rays at an edge.
fn edge_frames() -> f32 {
    return f32(frame.edge_light_rays) / f32(frame.light_rays);
}

fn noisy_frames(words: vec2u) -> vec2f {
    return select(vec2f(1.0), vec2f(edge_frames()), signal_is_edge(words));
}

// Returns the number of frames that a mean counts for, on a surface that has been visible for `all` frames. It is at
// most `all` frames, each with at most the weight of an edge frame.
fn frames_of(mean: BlockedLightMean, all: f32) -> f32 {
    return select(min(mean.frames, all * edge_frames()), all, mean.frames > BLOCKED_FRAMES_ALL - 0.5);
}

// Longest history in frames where the light's shadow moves: a constant, plus a number per squared pixel of penumbra
// width. The shadow's motion is only known to about a pixel, which matters less for a wider penumbra. A surface that
// moves gets no constant part, because it turns relative to the light. The numbers were measured
// (docs/benchmarks/shadows.md).
const MOVING_EARLIER = 1.0;
const MOVING_EARLIER_PER_SQUARE = 3.0;

// An edge with a history shorter than this gets more rays in the next frame.
const EDGE_FRAMES = 12.0;

// Returns the number of frames in which the reprojected pixel's neighbourhood agreed, for each of the two lights.
fn frames_settled(reprojected: Reprojected) -> vec2u {
    let at = clamp(reprojected_nearest(reprojected), vec2i(0), vec2i(textureDimensions(last_edges)) - 1);
    return shadow_edges_frames(textureLoad(last_edges, at, params.layer / 2u, 0).r);
}

fn earlier_frames(history: BlockedLightMean, moves: bool, surface: SignalSurface) -> f32 {
    let all = f32(max(surface.frames, 1u) - 1u);
    let width = penumbra_width(history.share, history.width);
    let moving = select(MOVING_EARLIER, 0.0, surface.moved) + MOVING_EARLIER_PER_SQUARE * width * width;
    let most = f32(params.max_history);
    return min(min(frames_of(history, all), most), select(most, moving, moves));
}

@compute @workgroup_size(8, 8)
fn shadow_accumulate(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(local_invocation_id) thread: vec3u,
    @builtin(local_invocation_index) index: u32,
) {
    let first = 8u * workgroup.xy + vec2u(0u, row_offset);
    let pixel = first + thread.xy;
    let inside = all(pixel < frame.size);
    let at = min(pixel, frame.size - 1u);
    if index == 0u {
        atomicStore(&found_differs, 0u);
        atomicStore(&history_differs, 0u);
    }
    workgroupBarrier();
    let corner_found = noisy_shares(noisy_words(first));
    var differs = 0u;
    for (var i = index; i < APRON_TILE * APRON_TILE; i += 64u) {
        let other = noisy_shares(noisy_words(apron_pixel(first, i, frame.size)));
        differs |= other ^ corner_found;
        found[i] = other;
    }
    if differs != 0u {
        atomicOr(&found_differs, 1u);
    }
    let words = noisy_words(at);
    let kept = signal_is_kept(words);
    var noisy = noisy_means(words);
    let reprojected = reprojected_unpack(textureLoad(first_reprojected, at, 0).xy);
    var other = reprojected;
    var a = history_at(reprojected, 0u);
    var b = BlockedLightMean(0.0, 0.0, 0.0);
    if SHADOW_LIGHTS == 2u {
        other = reprojected_unpack(textureLoad(second_reprojected, at, 0).xy);
        b = history_at(other, 1u);
    }
    let surface = signal_surface_unpack(textureLoad(frame_surfaces, at, 0));
    let weights = vec2f(dot(reprojected.weights, vec4f(1.0)), dot(other.weights, vec4f(1.0)));
    let known = weights > vec2f(0.5) & vec2<bool>(inside && surface.frames > 0u);
    let shares = vec2f(a.share, b.share);
    let variance = shares * (1.0 - shares);
    let difference = noisy.xz - shares;
    changes[index] = signal_pack(select(vec4f(0.0), vec4f(difference, variance), known.xyxy));
    if changes[index].x != 0u {
        atomicOr(&history_differs, 1u);
    }
    workgroupBarrier();
    var sum = vec4f(0.0);
    let corner = clamp(thread.xy, vec2u(1u), vec2u(6u)) - 1u;
    // The loops run zero times if the tile agrees with its history and with its surroundings.
    let sums = select(0u, 9u, atomicLoad(&history_differs) != 0u);
    for (var i = 0u; i < sums; i++) {
        sum += signal_unpack(changes[8u * (corner.y + i / 3u) + corner.x + i % 3u]);
    }
    let changed = smoothstep(vec2f(CHANGE_MIN), vec2f(CHANGE_MAX), abs(sum.xy) / sqrt(sum.zw + 0.25));
    // If all neighbours agree, the history is clamped to their value.
    var least = shares_apart(noisy_shares(words));
    var most = least;
    let others = select(0u, 25u, atomicLoad(&found_differs) != 0u);
    for (var i = 0u; i < others; i++) {
        let other = shares_apart(found[(thread.y + i / 5u) * APRON_TILE + thread.x + i % 5u]);
        least = min(least, other);
        most = max(most, other);
    }
    let limited = clamp(shares, signal_unpack(least).xz, signal_unpack(most).xz);
    // Scales the penumbra width with the blocked fraction.
    let scale = min(limited / max(shares, vec2f(1.0e-6)), vec2f(1.0));
    a = BlockedLightMean(limited.x, a.width * scale.x, a.frames);
    b = BlockedLightMean(limited.y, b.width * scale.y, b.frames);
    let earlier = vec2f(earlier_frames(a, reprojected.moves, surface), earlier_frames(b, other.moves, surface));
    let added = noisy_frames(words);
    let gain = select(vec2f(1.0), max(added / (earlier + added), changed), known);
    let shown = select(gain, vec2f(1.0), kept);
    noisy = select(noisy, vec4f(noisy.x, a.width, noisy.z, b.width), (kept & known).xxyy);
    if inside {
        let is_surface = surface.frames > 0u;
        let mean = select(vec4f(0.0), mix(vec4f(a.share, a.width, b.share, b.width), noisy, shown.xxyy), is_surface);
        // A mean as old as the surface stays that way.
        let together = added / gain;
        let counted = select(together, vec2f(BLOCKED_FRAMES_ALL), together > vec2f(BLOCKED_FRAMES_ALL - 1.0));
        let frames = select(counted, vec2f(a.frames, b.frames), kept & known);
        let first_mean = BlockedLightMean(mean.x, mean.y, frames.x);
        let second_mean = BlockedLightMean(mean.z, mean.w, frames.y);
        textureStore(means_out, pixel, vec4u(means_pack(first_mean, second_mean), 0u, 0u));
        // The image is a single texel if no edges are sharpened.
        let edge_layer = params.layer / 2u;
        if edge_layer < textureNumLayers(edges_out) && all(pixel < textureDimensions(edges_out)) {
            let soft = (params.soft > vec2f(0.0)) & vec2<bool>(is_surface);
            let sharpens = soft & vec2<bool>(params.sharpens != 0u);
            let edges = (most > least) & (frames - added < vec2f(EDGE_FRAMES)) & sharpens;
            let is_lit = (most == vec2u(0u)) & (mean.xz == vec2f(0.0));
            let is_blocked = (least == vec2u(SIGNAL_SHARE)) & (mean.xz == vec2f(1.0));
            let before = vec2u(frames_settled(reprojected).x, frames_settled(other).y) * vec2u(known);
            let agreed = min(before + 1u, vec2u(SETTLED_MAX));
            let settled = select(vec2u(0u), agreed, (is_lit | is_blocked) & soft);
            let bits = shadow_edges_pack(edges, settled, is_blocked);
            textureStore(edges_out, pixel, edge_layer, vec4u(bits, 0u, 0u, 0u));
        }
    }
}

fn signal_at(pixel: vec2u) -> vec4f {
    let words = textureLoad(means, pixel, 0).xy;
    let a = blocked_light_mean_unpack(words.x);
    let b = second_mean_unpack(words.y);
    return vec4f(a.share, a.width, b.share, b.width);
}

// Standard deviation of the filter for one ray, as a fraction of the penumbra width.
const PENUMBRA_SHARE = 0.25;

// Returns the variance that this round adds, divided by s², where s is the step of the round. All rounds together may
// be as wide as the penumbra allows, and narrower the more rays there are. Near neighbours come first. The earlier
// rounds add up to (s² − 1) / 6, and this round adds only the variance that is still missing.
fn penumbra_spread(blocked: vec2f, frames: f32) -> f32 {
    let rays = frames * f32(params.rays);
    let deviation = PENUMBRA_SHARE * penumbra_width(blocked.x, blocked.y);
    let square = f32(params.step * params.step);
    let wanted = max(deviation * deviation / rays - (square - 1.0) / 6.0, 0.0) / max(square, 1.0);
    return min(signal_spread(rays), wanted);
}

// Returns the means of a pixel after a round. The filter is no wider than the penumbra, so contact shadows stay sharp.
// Where all nine taps hold the same fraction of a light, as in most of a picture, the weights are not evaluated.
fn smoothed(pixel: vec2u) -> array<BlockedLightMean, 2> {
    let words = textureLoad(means, pixel, 0).xy;
    var first = blocked_light_mean_unpack(words.x);
    var second = second_mean_unpack(words.y);
    var differs = vec2u(0u);
    for (var i = 0u; i < 9u; i++) {
        let tap = vec2i(pixel) + (vec2i(vec2u(i % 3u, i / 3u)) - 1) * i32(params.step);
        let there = all(tap >= vec2i(0)) && all(tap < vec2i(frame.size));
        differs |= textureLoad(means, select(vec2i(pixel), tap, there), 0).xy ^ words;
    }
    let varies = (differs & vec2u(BLOCKED_SHARE_MASK)) != vec2u(0u);
    if any(varies) {
        let n = signal_neighbours(pixel);
        let blocked = n.own + n.ring.edges + n.ring.corners;
        let a = signal_mean(n, penumbra_spread(blocked.xy, frames_of(first, n.frames))).xy;
        var b = vec2f(0.0);
        if SHADOW_LIGHTS == 2u {
            b = signal_mean(n, penumbra_spread(blocked.zw, frames_of(second, n.frames))).zw;
        }
        let own = vec4f(first.share, first.width, second.share, second.width);
        let mean = select(own, vec4f(a, b), varies.xxyy);
        first = BlockedLightMean(mean.x, mean.y, first.frames);
        second = BlockedLightMean(mean.z, mean.w, second.frames);
    }
    return array(first, second);
}

@compute @workgroup_size(8, 8)
fn shadow_smooth(@builtin(global_invocation_id) id: vec3u) {
    let pixel = id.xy + vec2u(0u, row_offset);
    if all(pixel < frame.size) {
        let mean = smoothed(pixel);
        textureStore(smooth_out, pixel, vec4u(means_pack(mean[0], mean[1]), 0u, 0u));
    }
}

@compute @workgroup_size(8, 8)
fn shadow_filter(@builtin(global_invocation_id) id: vec3u) {
    let pixel = id.xy + vec2u(0u, row_offset);
    if any(pixel >= frame.size) || textureLoad(surfaces, pixel, 0).w == 0u {
        return;
    }
    let blocked = smoothed(pixel);
    let word = shadow_word(params.layer, pixel);
    // Hard shadows are not filtered, and surfaces that face away from the light are dark. These lights keep their
    // value.
    var noisy = vec2u(textureLoad(found_texture, pixel, params.layer, 0).r, SIGNAL_UNSENT);
    if SHADOW_LIGHTS == 2u {
        noisy.y = textureLoad(found_texture, pixel, params.layer + 1u, 0).r;
    }
    let counts = (params.soft > vec2f(0.0)) & (noisy != vec2u(SIGNAL_UNSENT));
    let masks = vec2u(255u) * vec2u(counts) << (8u * vec2u(params.layer, params.layer + 1u) % 32u);
    let first = shadow_share_pack(saturate(1.0 - blocked[0].share), params.layer);
    let second = shadow_share_pack(saturate(1.0 - blocked[1].share), params.layer + 1u);
    shadow_words[word] = (shadow_words[word] & ~(masks.x | masks.y)) | (first & masks.x) | (second & masks.y);
}
