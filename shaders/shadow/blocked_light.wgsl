// Input of the shadow filter for one light: the blocked share of the light and the width of its penumbra.
#import "frame/frame.wgsl"
#import "shadow/light_visibility.wgsl"

// Packs the blocked share, and the blocked share times the penumbra width. The ratio of their sums over any set of
// pixels is the mean width. The penumbra is the projection of the light's size past the edge of the blocker onto the
// surface.
fn blocked_light_pack(light: Light, sample: LightSample, seen: VisibleShare, position: vec3f) -> u32 {
    let blocked = 1.0 - seen.share;
    let is_distant = light.kind == LIGHT_DIRECTIONAL;
    let behind = select(max(sample.distance - seen.to_blocker, 1.0e-6 * sample.distance), 1.0, is_distant);
    let metres = 2.0 * light.radius * seen.to_blocker / behind;
    let pixels = min(metres / max(frame_pixel_width(position), 1.0e-30), PENUMBRA_MAX);
    return pack2x16snorm(blocked * vec2f(1.0, pixels / PENUMBRA_MAX));
}
