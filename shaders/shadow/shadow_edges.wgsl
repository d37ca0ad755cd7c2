// The rays that a pixel sends to the light of a slot, by what the last frame found near where it saw the pixel's
// surface. More to one whose shadow had an edge with little history, because it moved or came into sight: a filter
// would blur it (adaptive sampling after Boksansky et al. 2019, "Ray Traced Shadows: Maintaining Real-Time Frame
// Rates", Ray Tracing Gems, chapter 13). So that a pixel stays within its budget, one slot gets more. None to one whose
// neighbours have long found the same, if nothing has changed between the surface and the light.
// `taps_texture`, `edges_texture` and `tiles_texture`, which the importer binds: taps of the pixel's surface; what
// shadow_accumulate found in the last frame, a layer for two slots; what shadow_shafts found. One that is not used without them.
#import "frame/frame.wgsl"
#import "light/light.wgsl"
#import "shadow/shadow_edges_word.wgsl"
#import "shadow/shadow_start.wgsl"
#import "denoise/signal.wgsl"
#import "denoise/signal_taps.wgsl"

const NO_SLOT = 0xffffffffu;

struct ShadowEdges {
    // The slot that gets more rays; NO_SLOT for none.
    slot: u32,
    // A bit for each slot that gets none.
    settled: u32,
    // Of those a bit for each whose light is blocked.
    blocked: u32,
}

fn shadow_edges(pixel: vec2u) -> ShadowEdges {
    let inside = min(pixel, textureDimensions(taps_texture) - 1u);
    let taps = signal_taps_unpack(textureLoad(taps_texture, inside, 0).xy);
    let at = clamp(signal_taps_nearest(taps), vec2i(0), vec2i(textureDimensions(edges_texture)) - 1);
    let layers = textureNumLayers(edges_texture);
    var found = ShadowEdges(NO_SLOT, 0u, 0u);
    for (var layer = 0u; layer < layers; layer++) {
        let word = textureLoad(edges_texture, at, layer, 0).r;
        let lights = word & 3u;
        found.slot = select(found.slot, 2u * layer + firstTrailingBit(lights), found.slot == NO_SLOT && lights != 0u);
        let settled = shadow_edges_settled(word);
        let shift = 2u * min(layer, 15u);
        found.settled |= select(0u, settled << shift, layer < 16u);
        found.blocked |= select(0u, shadow_edges_blocked(word) << shift, layer < 16u);
    }
    let changes = textureLoad(tiles_texture, min(pixel / 8u, textureDimensions(tiles_texture) - 1u), 0).y;
    found.settled &= select(~changes, 0u, (changes & SHAFT_ALL) != 0u);
    let known = dot(taps.weights, vec4f(1.0)) > 0.5;
    return ShadowEdges(select(NO_SLOT, found.slot, known), select(0u, found.settled, known), found.blocked);
}

fn shadow_edges_has_settled(edges: ShadowEdges, slot: u32) -> bool {
    return slot < 31u && ((edges.settled >> slot) & 1u) != 0u;
}

// What is kept of a slot that has settled, in the place of what rays find.
fn shadow_edges_kept(edges: ShadowEdges, slot: u32) -> u32 {
    return select(SIGNAL_KEPT, SIGNAL_KEPT | SIGNAL_KEPT_BLOCKED, ((edges.blocked >> (slot & 31u)) & 1u) != 0u);
}

fn rays_to_light(light: Light, is_edge: bool) -> u32 {
    return select(light_rays(light), frame.edge_light_rays, is_edge && light.radius > 0.0);
}
