// The rays that a pixel sends to the light of a slot: more to one whose shadow had an edge with little history near
// where the last frame saw the pixel's surface, because it moved or came into sight. A filter would blur it (adaptive
// sampling after Boksansky et al. 2019, "Ray Traced Shadows: Maintaining Real-Time Frame Rates", Ray Tracing Gems,
// chapter 13). So that a pixel stays within its budget, one slot gets more.
// `taps_texture` and `edges_texture`, which the importer binds: taps of the pixel's surface, and what shadow_accumulate
// found in the last frame, a layer for two slots; one texel without it.
#import "common/frame.wgsl"
#import "common/light.wgsl"
#import "common/shadow_start.wgsl"
#import "common/signal_taps.wgsl"
#import "common/unseen.wgsl"

const NO_SLOT = 0xffffffffu;

// The slot that gets more rays; NO_SLOT for none.
fn edge_slot(pixel: vec2u) -> u32 {
    let inside = min(pixel, textureDimensions(taps_texture) - 1u);
    let taps = signal_taps_unpack(textureLoad(taps_texture, inside, 0).xy);
    let part = vec2f(taps.weights.y + taps.weights.w, taps.weights.z + taps.weights.w);
    let nearest = taps.corner + vec2i(part > vec2f(0.5));
    let at = clamp(nearest, vec2i(0), vec2i(textureDimensions(edges_texture)) - 1);
    let layers = unseen_zero(f32(pixel.x)) + textureNumLayers(edges_texture);
    var slot = NO_SLOT;
    for (var layer = 0u; layer < layers; layer++) {
        let lights = textureLoad(edges_texture, at, layer, 0).r;
        slot = select(slot, 2u * layer + firstTrailingBit(lights), slot == NO_SLOT && lights != 0u);
    }
    let known = dot(taps.weights, vec4f(1.0)) > 0.5;
    return select(NO_SLOT, slot, known);
}

// `edge` is the pixel's edge_slot.
fn rays_to_light(light: Light, slot: u32, edge: u32) -> u32 {
    return select(light_rays(light), frame.edge_light_rays, slot == edge && light.radius > 0.0);
}
