// depth_of_field: blurs radiance like a thin lens, before exposure.
//
// depth_of_field_circles: one thread per pixel
// in   the G-buffer's position
// out  the radius in pixels of the circle of confusion (Potmesil and Chakravarty 1982, "Synthetic Image Generation with
//      a Lens and Aperture Camera Model"). It is negative in front of the focus, and at most DEPTH_OF_FIELD_LIMIT. Also
//      the maximum radius of each tile.
// depth_of_field: one thread per pixel
// in   hdr, display, those circles
// out  hdr and display, blurred. Each pixel gathers from the neighbours whose circles cover it. The foreground spreads
//      over the background. The background spreads no farther than the pixel's own circle, so that it does not bleed
//      into sharp surfaces. Values stay unchanged where no circle nearby is larger than half a pixel.
// Workgroups share data only through atomicMax.
#import "frame/frame.wgsl"
#import "frame/gbuffer_position.wgsl"
#import "math/half_float.wgsl"

struct DepthOfFieldParams {
    // Diameter of the aperture, and focal length, in metres.
    aperture: f32,
    focal_length: f32,
    // Focus distance along the view in metres; 0 to focus on the centre of the picture.
    focus: f32,
    // Pixels per metre of the sensor.
    pixels_per_metre: f32,
}

@group(1) @binding(0) var<uniform> row_offset: u32;
@group(1) @binding(1) var<uniform> params: DepthOfFieldParams;
@group(1) @binding(2) var position_texture: texture_2d<f32>;
@group(1) @binding(3) var circles_out: texture_storage_2d<r32float, write>;
@group(1) @binding(4) var<storage, read_write> tiles: array<atomic<u32>>;

@group(1) @binding(2) var circles_texture: texture_2d<f32>;
@group(1) @binding(3) var<storage, read> largest: array<f32>;
@group(1) @binding(4) var hdr_texture: texture_2d<f32>;
@group(1) @binding(5) var display_texture: texture_2d<f32>;
@group(1) @binding(6) var hdr_out: texture_storage_2d<rgba16float, write>;
@group(1) @binding(7) var display_out: texture_storage_2d<rgba16float, write>;

fn tiles_in_row() -> u32 {
    return (frame.size.x + DEPTH_OF_FIELD_TILE - 1u) / DEPTH_OF_FIELD_TILE;
}

// Returns the view depth in metres; very large for the background.
fn depth_at(pixel: vec2u) -> f32 {
    let seen = textureLoad(position_texture, pixel, 0);
    let depth = gbuffer_depth(seen, frame.eye, frame.forward);
    return select(depth, DEPTH_OF_FIELD_FAR, gbuffer_w(seen) == 0.0);
}

@compute @workgroup_size(8, 8)
fn depth_of_field_circles(@builtin(global_invocation_id) thread: vec3u) {
    let pixel = vec2u(thread.x, thread.y + row_offset);
    if any(pixel >= frame.size) {
        return;
    }
    let depth = max(depth_at(pixel), 1.0e-6);
    let middle = depth_at(frame.size / 2u);
    let chosen = select(params.focus, middle, params.focus == 0.0);
    // Nothing nearer than the focal length can be in focus.
    let focus = max(chosen, 1.01 * params.focal_length);
    let scale = 0.5 * params.aperture * params.focal_length / (focus - params.focal_length) * params.pixels_per_metre;
    let radius = clamp(scale * (depth - focus) / depth, -DEPTH_OF_FIELD_LIMIT, DEPTH_OF_FIELD_LIMIT);
    textureStore(circles_out, pixel, vec4f(radius, 0.0, 0.0, 0.0));
    let tile = pixel / DEPTH_OF_FIELD_TILE;
    // Non-negative floats sort like their bits.
    atomicMax(&tiles[tile.y * tiles_in_row() + tile.x], bitcast<u32>(abs(radius)));
}

// Returns the largest radius of the circles that may cover a pixel. No radius exceeds the width of a tile.
fn reach_of(pixel: vec2u) -> f32 {
    let tile = vec2i(pixel / DEPTH_OF_FIELD_TILE);
    let last = vec2i((frame.size - 1u) / DEPTH_OF_FIELD_TILE);
    var reach = 0.0;
    for (var y = -1; y <= 1; y++) {
        for (var x = -1; x <= 1; x++) {
            let at = vec2u(clamp(tile + vec2i(x, y), vec2i(0), last));
            reach = max(reach, largest[at.y * tiles_in_row() + at.x]);
        }
    }
    return reach;
}

// Returns a random rotation that differs between neighbours and from frame to frame.
fn turn_of(pixel: vec2u) -> f32 {
    var hash = ((pixel.x + 1u) * 0x9e3779b9u) ^ ((pixel.y + 1u) * 0x85ebca6bu) ^ (frame.sample_index * 0xc2b2ae35u);
    hash = (hash ^ (hash >> 16u)) * 0x7feb352du;
    hash = (hash ^ (hash >> 15u)) * 0x846ca68bu;
    return f32(hash >> 16u) / 65536.0 * 2.0 * PI;
}

// Returns the fraction of a pixel's light that its circle spreads to a pixel at this distance.
fn spread(radius: f32, away: f32) -> f32 {
    return saturate(radius + 0.5 - away) / max(PI * radius * radius, 1.0);
}

@compute @workgroup_size(8, 8)
fn depth_of_field(@builtin(global_invocation_id) thread: vec3u) {
    let pixel = vec2u(thread.x, thread.y + row_offset);
    if any(pixel >= frame.size) {
        return;
    }
    let reach = reach_of(pixel);
    let hdr = textureLoad(hdr_texture, pixel, 0);
    let display = textureLoad(display_texture, pixel, 0);
    if reach <= 0.5 {
        textureStore(hdr_out, pixel, hdr);
        textureStore(display_out, pixel, display);
        return;
    }
    let own = textureLoad(circles_texture, pixel, 0).x;
    let turn = turn_of(pixel);
    // Number of pixels per sample.
    let area = PI * reach * reach / f32(DEPTH_OF_FIELD_SAMPLES);
    var weight = spread(abs(own), 0.0);
    var seen = weight * hdr;
    var seen_display = weight * display;
    var cover = 0.0;
    var front = vec4f(0.0);
    var front_display = vec4f(0.0);
    for (var i = 0u; i < DEPTH_OF_FIELD_SAMPLES; i++) {
        let away = reach * sqrt((f32(i) + 0.5) / f32(DEPTH_OF_FIELD_SAMPLES));
        let angle = turn + f32(i) * DEPTH_OF_FIELD_GOLDEN_ANGLE;
        let offset = vec2i(round(away * vec2f(cos(angle), sin(angle))));
        let at = vec2i(pixel) + offset;
        if any(at < vec2i(0)) || any(at >= vec2i(frame.size)) || all(offset == vec2i(0)) {
            continue;
        }
        let other = textureLoad(circles_texture, at, 0).x;
        let distance = length(vec2f(offset));
        let is_front = other < own - 0.5;
        let radius = select(min(abs(other), abs(own)), abs(other), is_front);
        let share = area * spread(radius, distance);
        if share <= 0.0 {
            continue;
        }
        let sent = textureLoad(hdr_texture, at, 0);
        let sent_display = textureLoad(display_texture, at, 0);
        if is_front {
            cover += share;
            front += share * sent;
            front_display += share * sent_display;
        } else {
            weight += share;
            seen += share * sent;
            seen_display += share * sent_display;
        }
    }
    let share = saturate(cover);
    let in_front = max(cover, 1.0e-6);
    let blurred = mix(seen / weight, front / in_front, share);
    let blurred_display = mix(seen_display / weight, front_display / in_front, share);
    textureStore(hdr_out, pixel, half_float_round(blurred));
    textureStore(display_out, pixel, half_float_round(blurred_display));
}
