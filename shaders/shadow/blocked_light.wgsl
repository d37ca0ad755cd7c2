// Input of the shadow filter for one light: the blocked fraction of the light and the width of its penumbra.
#import "frame/frame.wgsl"
#import "shadow/light_visibility.wgsl"

// Packs the blocked fraction, and the blocked fraction times the penumbra width. The ratio of their sums over any set
// of pixels is the mean width. The penumbra is the projection of the light's size past the edge of the blocker onto the
// surface.
fn blocked_light_pack(light: Light, sample: LightSample, visible: VisibleShare, position: vec3f) -> u32 {
    let blocked = 1.0 - visible.share;
    let is_distant = light.kind == LIGHT_DIRECTIONAL;
    let behind = select(max(sample.distance - visible.to_blocker, 1.0e-6 * sample.distance), 1.0, is_distant);
    let metres = 2.0 * light.radius * visible.to_blocker / behind;
    let pixels = min(metres / max(frame_pixel_width(position), 1.0e-30), PENUMBRA_MAX);
    return pack2x16snorm(blocked * vec2f(1.0, pixels / PENUMBRA_MAX));
}
