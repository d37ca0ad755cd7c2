// temporal: averages the jittered frames of a moving picture; shown: writes the mean.
//
// in   picture: the frame, tone-mapped and sRGB-encoded; position and displacement of its pixels' surfaces; last_mean,
//      last_samples and last_box: the mean of the earlier frames, its number of samples, and the colours that it was
//      clamped to
// out  mean_out, linear; samples_out; box_out; shown encodes and dithers the mean. All have the output size, which may
//      be larger than the frame's.
//
// The mean is reprojected with the motion of the nearest surface among the four surrounding pixels. It is clamped to
// the colours of 3 × 3 pixels (after Karis 2014, "High-Quality Temporal Supersampling"). Some frames miss geometry
// thinner than a pixel, so the colours of earlier frames extend the clamp, with a weight that decays. A sample is
// weighted by its distance from the centre of the output pixel, so that a larger output fills in over some frames
// (after Herrera et al. 2020, "A Survey of Temporal Antialiasing Techniques", section 5).
// temporal: one thread per output pixel. shown: a full-screen triangle.
#import "math/cubic.wgsl"
#import "frame/fullscreen.wgsl"
#import "frame/display.wgsl"
#import "frame/dither.wgsl"
#import "frame/gbuffer_seen.wgsl"
#import "frame/motion.wgsl"

struct TemporalParams {
    // Sample jitter of the frame, relative to the pixel centres, in pixels, y down.
    jitter: vec2f,
    // Nonzero if last_mean belongs to the previous frame.
    continues: u32,
    // Same as TonemapParams.dither.
    dither: u32,
}

@group(1) @binding(0) var<uniform> row_offset: u32;
@group(1) @binding(1) var<uniform> params: TemporalParams;
@group(1) @binding(2) var<uniform> motion: MotionParams;
@group(1) @binding(3) var picture_texture: texture_2d<f32>;
@group(1) @binding(4) var position_texture: texture_2d<f32>;
@group(1) @binding(5) var displacement_texture: texture_2d<f32>;
@group(1) @binding(6) var last_mean_texture: texture_2d<f32>;
@group(1) @binding(7) var last_mean_sampler: sampler;
@group(1) @binding(8) var last_samples_texture: texture_2d<f32>;
@group(1) @binding(9) var last_box_texture: texture_2d<u32>;
@group(1) @binding(10) var mean_out: texture_storage_2d<rgba16float, write>;
@group(1) @binding(11) var samples_out: texture_storage_2d<r32float, write>;
@group(1) @binding(12) var box_out: texture_storage_2d<rg32uint, write>;

@group(0) @binding(0) var<uniform> shown_params: TemporalParams;
@group(0) @binding(1) var mean_texture: texture_2d<f32>;

// Exponent of the filter where there is no mean yet: a Gaussian with a standard deviation of half a frame pixel.
const SMOOTHNESS = 2.0;
// Bounds on the luma, the chroma and the coverage of the mean.
struct ColorBox {
    least: vec4f,
    most: vec4f,
}

const BOX_OFFSET = vec4f(0.0, 0.5, 0.5, 0.0);

fn box_pack(box: ColorBox) -> vec2u {
    return vec2u(pack4x8unorm(box.least + BOX_OFFSET), pack4x8unorm(box.most + BOX_OFFSET));
}

fn box_unpack(words: vec2u) -> ColorBox {
    return ColorBox(unpack4x8unorm(words.x) - BOX_OFFSET, unpack4x8unorm(words.y) - BOX_OFFSET);
}

// Returns YCoCg of encoded colours: luma and two chroma differences, perceptually about uniform.
fn ycocg(c: vec3f) -> vec3f {
    return vec3f(0.25 * c.r + 0.5 * c.g + 0.25 * c.b, 0.5 * (c.r - c.b), 0.5 * c.g - 0.25 * (c.r + c.b));
}

fn from_ycocg(c: vec3f) -> vec3f {
    let middle = c.x - c.z;
    return vec3f(middle + c.y, c.x + c.z, middle - c.y);
}

// Returns the mean of the earlier frames at a point of the picture. At a pixel centre it is the pixel's value.
fn last_mean(at: vec2f) -> vec4f {
    let places = cubic_taps(at, vec2f(textureDimensions(last_mean_texture)), TEMPORAL_SLOPE);
    var sum = vec4f(0.0);
    var weights = 0.0;
    for (var i = 0u; i < 5u; i++) {
        let place = places[i];
        sum += place.z * textureSampleLevel(last_mean_texture, last_mean_sampler, place.xy, 0.0);
        weights += place.z;
    }
    return saturate(sum / weights);
}

@compute @workgroup_size(8, 8)
fn temporal(@builtin(global_invocation_id) id: vec3u) {
    let pixel = id.xy + vec2u(0u, row_offset);
    let shown_size = textureDimensions(mean_out);
    if any(pixel >= shown_size) {
        return;
    }
    // In frame pixels.
    let scale = vec2f(frame.size) / vec2f(shown_size);
    let at = (vec2f(pixel) + 0.5) * scale;
    let sampled_at = at - params.jitter;
    // `sharpness` weights a sample by its distance from the centre of the output pixel, as a Gaussian with a standard
    // deviation of 0.35 pixels at full scale and 0.39 at half scale. `blurring` reduces the sample count of the mean
    // where it is resampled. Like the other constants of this pass, they were tuned by measurement at these two scales
    // (docs/benchmarks/antialiasing.md).
    let fineness = min(scale.x, scale.y);
    let sharpness = 2.4 + 1.8 * fineness;
    let blurring = 14.0 - 8.0 * fineness;
    let corner = vec2i(floor(sampled_at)) - 1;
    var encoded = vec4f(0.0);
    var weights = 0.0;
    var smoothed = vec4f(0.0);
    var smooth_weights = 0.0;
    var box = ColorBox(vec4f(1.0e9), vec4f(-1.0e9));
    var nearest = vec2u(0u);
    var nearest_depth = 3.0e38;
    for (var i = 0u; i < 9u; i++) {
        let tap = vec2u(clamp(corner + vec2i(vec2u(i % 3u, i / 3u)), vec2i(0), vec2i(frame.size) - 1));
        let color = textureLoad(picture_texture, tap, 0);
        let off = (vec2f(tap) + 0.5 - sampled_at) / scale;
        let weight = exp(-sharpness * dot(off, off));
        encoded += weight * color;
        weights += weight;
        let wide = off * scale;
        let smooth_weight = exp(-SMOOTHNESS * dot(wide, wide));
        smoothed += smooth_weight * color;
        smooth_weights += smooth_weight;
        let compared = vec4f(ycocg(color.rgb), color.a);
        box.least = min(box.least, compared);
        box.most = max(box.most, compared);
        let seen = textureLoad(position_texture, tap, 0);
        let depth = select(2.0e38, gbuffer_depth(seen, frame.eye, frame.forward), gbuffer_w(seen) != 0.0);
        let is_nearer = depth < nearest_depth && all(abs(wide) <= vec2f(1.0));
        nearest = select(nearest, tap, is_nearer);
        nearest_depth = select(nearest_depth, depth, is_nearer);
    }
    let position = gbuffer_seen(textureLoad(position_texture, nearest, 0), nearest);
    let last_position = position.xyz - motion_displacement(motion, textureLoad(displacement_texture, nearest, 0));
    let is_surface = position.w != 0.0;
    let surface_motion = motion_of_point(motion, position.xyz, last_position);
    let moved = select(motion_of_direction(motion, frame_ray(nearest)), surface_motion, is_surface);
    let last_at = (at - moved) / scale;
    let was_seen = all(last_at >= vec2f(0.0)) & all(last_at < vec2f(shown_size))
        & (!is_surface | motion_had_in_front(motion, last_position));
    let is_known = was_seen & (params.continues != 0u);
    let history_at = select(vec2f(pixel) + 0.5, last_at, is_known);
    let last_samples = textureLoad(last_samples_texture, vec2u(history_at), 0).r;
    let last = last_mean(history_at);
    let last_box = box_unpack(textureLoad(last_box_texture, vec2u(history_at), 0).xy);
    // If the frame shows none of the earlier frames' colours around this pixel, the earlier surface is gone. Eight-bit
    // rounding is less than a tenth of the threshold.
    let apart = max(last_box.least - box.most, box.least - last_box.most);
    let most_apart = max(max(apart.x, apart.y), max(apart.z, apart.w));
    let other = smoothstep(0.1 * TEMPORAL_OTHER_COLORS, TEMPORAL_OTHER_COLORS, most_apart);
    let same = select(0.0, 1.0 - other, is_known);
    box.least = min(box.least, mix(box.least, last_box.least, TEMPORAL_MEMORY * same));
    box.most = max(box.most, mix(box.most, last_box.most, TEMPORAL_MEMORY * same));
    let compared = vec4f(ycocg(srgb_encode(last.rgb)), last.a);
    let middle = 0.5 * (box.least + box.most);
    let reach = 0.5 * (box.most - box.least) + 1.0e-3;
    let off = abs((compared - middle) / reach);
    let farthest = max(max(off.x, off.y), max(off.z, off.w));
    let confined = middle + (compared - middle) / max(farthest, 1.0);
    let kept = vec4f(srgb_decode(saturate(from_ycocg(confined.xyz))), saturate(confined.w));
    // Repeated resampling blurs the mean. Between pixels it counts for fewer samples.
    let between = fract(history_at - 0.5);
    let blur = 2.0 * sqrt(max(between.x * (1.0 - between.x), between.y * (1.0 - between.y)));
    let counted = min(last_samples, TEMPORAL_SAMPLES / (1.0 + blurring * blur));
    let samples = same * counted / (1.0 + TEMPORAL_FORGETTING * max(farthest - 1.0, 0.0));
    // Without a mean, weighting few samples by distance would show the sample pattern.
    let sharp = encoded / max(weights, 1.0e-20);
    let now_encoded = mix(smoothed / smooth_weights, sharp, saturate(samples));
    let now = vec4f(srgb_decode(now_encoded.rgb), now_encoded.a);
    // The first frame counts fully, however far its sample is from the pixel centre.
    let weight = max(min(weights, 1.0), 1.0e-3);
    let result = mix(kept, now, weight / (weight + samples));
    textureStore(mean_out, pixel, result);
    textureStore(samples_out, pixel, vec4f(samples + weight, 0.0, 0.0, 0.0));
    textureStore(box_out, pixel, vec4u(box_pack(box), 0u, 0u));
}

@fragment
fn shown(in: Corner) -> @location(0) vec4f {
    let at = vec2u(in.clip.xy);
    let linear = textureLoad(mean_texture, at, 0);
    let encoded = srgb_encode(linear.rgb);
    return vec4f(select(encoded, dither(encoded, at), shown_params.dither != 0u), linear.a);
}
