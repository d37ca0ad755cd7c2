// Temporal mean of a signal. The importer binds the textures that this file reads, and defines `signal_load(words:
// vec2u) -> vec4f`.
#import "denoise/signal_smooth.wgsl"
#import "denoise/reprojected.wgsl"

@group(1) @binding(0) var<uniform> row_offset: u32;
@group(1) @binding(1) var<uniform> params: SignalParams;
#texels 1 2 noisy_texture: r32uint array
#texels 1 3 reprojected_texture: rg32uint
#texels 1 4 last_signal: rg32uint
#texels 1 5 frame_surfaces: rgba32uint

// Returns the mean over the frames since the pixel's surface became visible.
fn signal_accumulated(pixel: vec2u) -> vec4f {
    let first = textureLoad(noisy_texture, pixel, params.layer, 0).r;
    let noisy = signal_load(vec2u(first, textureLoad(noisy_texture, pixel, params.layer + 1u, 0).r));
    let reprojected = reprojected_unpack(textureLoad(reprojected_texture, pixel, 0).xy);
    var history = vec4f(0.0);
    for (var i = 0u; i < 4u; i++) {
        let tap = clamp(reprojected.corner + vec2i(vec2u(i & 1u, i >> 1u)), vec2i(0), vec2i(frame.size) - 1);
        history += reprojected.weights[i] * signal_load(textureLoad(last_signal, tap, 0).xy);
    }
    let frames = signal_surface_unpack(textureLoad(frame_surfaces, pixel, 0)).frames;
    let known = dot(reprojected.weights, vec4f(1.0)) > 0.5 && frames > 0u;
    let gain = select(1.0, 1.0 / f32(min(max(frames, 1u) - 1u, params.max_history) + 1u), known);
    return select(vec4f(0.0), mix(history, noisy, gain), frames > 0u);
}
