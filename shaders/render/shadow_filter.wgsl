// shadow_filter: the last round of the filter over the visibility of two lights, and what lighting reads of
// it.
//
// in   signal_texture, surfaces; the slots of the two lights, and what this frame's rays found
// out  shadow_words: the visible share of each that has a size
// One thread per pixel, which alone writes the words of its pixel. The rounds before are those of every
// signal (render/signal_filter.wgsl).
#import "common/shadow_words.wgsl"
#import "common/signal_smooth.wgsl"

@group(1) @binding(0) var<uniform> first_row: u32;
@group(1) @binding(1) var<uniform> params: SignalParams;
@group(1) @binding(2) var signal_texture: texture_2d<u32>;
@group(1) @binding(3) var surfaces: texture_2d<u32>;
@group(1) @binding(4) var fresh_texture: texture_2d_array<u32>;
@group(1) @binding(5) var<storage, read_write> shadow_words: array<u32>;

@compute @workgroup_size(8, 8)
fn shadow_filter(@builtin(global_invocation_id) id: vec3u) {
    let pixel = id.xy + vec2u(0u, first_row);
    if any(pixel >= frame.size) || textureLoad(surfaces, pixel, 0).w == 0u {
        return;
    }
    let blocked = signal_smoothed_lights(pixel);
    let word = shadow_word(params.layer, pixel);
    // Lights whose shadows are hard are no signal, and surfaces that face away are dark: what they have
    // stays.
    let fresh = vec2u(
        textureLoad(fresh_texture, pixel, params.layer, 0).r,
        textureLoad(fresh_texture, pixel, params.layer + 1u, 0).r,
    );
    let counts = (params.change > vec2f(0.0)) & (fresh != vec2u(SIGNAL_UNSENT));
    let masks = vec2u(255u) * vec2u(counts) << (8u * vec2u(params.layer, params.layer + 1u) % 32u);
    let first = shadow_share_pack(saturate(1.0 - blocked.x), params.layer);
    let second = shadow_share_pack(saturate(1.0 - blocked.z), params.layer + 1u);
    shadow_words[word] = (shadow_words[word] & ~(masks.x | masks.y)) | (first & masks.x) | (second & masks.y);
}
