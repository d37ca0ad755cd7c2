// Chooses the slots of a pixel that get more rays, and those that get none, from the last frame's results around the
// reprojected surface.
//
// A slot gets more rays if its shadow had an edge with a short history, which has moved or was disoccluded. A filter
// would blur that edge. This is the adaptive sampling of Boksansky et al. 2019, "Ray Traced Shadows: Maintaining
// Real-Time Frame Rates", Ray Tracing Gems, chapter 13. Only one slot of a pixel gets more rays, which keeps the pixel
// within its budget.
//
// A slot gets no rays if all 5 × 5 pixels were lit, or all in shadow, for SETTLED_FRAMES frames, and nothing has
// changed between the surface and the light.
//
// The importer binds `reprojected_texture`, `edges_texture` and `tiles_texture`: the reprojection taps of the pixel's
// surface, the last frame's results of shadow_accumulate with a layer per two slots, and the output of shadow_shafts.
// If they are not in use, placeholders are bound.
#import "frame/frame.wgsl"
#import "light/light.wgsl"
#import "shadow/shadow_edges_word.wgsl"
#import "shadow/shadow_start.wgsl"
#import "denoise/signal.wgsl"
#import "denoise/reprojected.wgsl"

const NO_SLOT = 0xffffffffu;

struct ShadowEdges {
    // Slot that gets more rays; NO_SLOT for none.
    slot: u32,
    // Bit mask of the slots that get no rays.
    settled: u32,
    // Bit mask of the settled slots whose light is blocked.
    blocked: u32,
}

fn shadow_edges(pixel: vec2u) -> ShadowEdges {
    let inside = min(pixel, textureDimensions(reprojected_texture) - 1u);
    let reprojected = reprojected_unpack(textureLoad(reprojected_texture, inside, 0).xy);
    let at = clamp(reprojected_nearest(reprojected), vec2i(0), vec2i(textureDimensions(edges_texture)) - 1);
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
    let known = dot(reprojected.weights, vec4f(1.0)) > 0.5;
    return ShadowEdges(select(NO_SLOT, found.slot, known), select(0u, found.settled, known), found.blocked);
}

fn shadow_edges_has_settled(edges: ShadowEdges, slot: u32) -> bool {
    return slot < 31u && ((edges.settled >> slot) & 1u) != 0u;
}

// Returns the stored value of a settled slot, instead of a traced result.
fn shadow_edges_kept(edges: ShadowEdges, slot: u32) -> u32 {
    return select(SIGNAL_KEPT, SIGNAL_KEPT | SIGNAL_KEPT_BLOCKED, ((edges.blocked >> (slot & 31u)) & 1u) != 0u);
}

fn rays_to_light(light: Light, is_edge: bool) -> u32 {
    return select(light_rays(light), frame.edge_light_rays, is_edge && light.radius > 0.0);
}
