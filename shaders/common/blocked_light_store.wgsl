// Where the filter for shadows reads the light that is blocked: `blocked_out`, an image with a layer a slot
// that the importer binds.

#import "common/signal.wgsl"

// Without a filter the image has one texel, and nothing is kept.
fn blocked_light_store(pixel: vec2u, slot: u32, packed: u32) {
    if all(pixel < textureDimensions(blocked_out)) {
        textureStore(blocked_out, pixel, slot, vec4u(packed, 0u, 0u, 0u));
    }
}
