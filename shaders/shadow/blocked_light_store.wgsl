// Where the filter for shadows reads the light that is blocked: `blocked_out`, an image with a layer a slot
// that the importer binds.

#import "denoise/signal.wgsl"

// Without a filter the image has one texel, and nothing reads it.
fn blocked_light_store(pixel: vec2u, layer: u32, packed: u32) {
    if layer < textureNumLayers(blocked_out) && all(pixel < textureDimensions(blocked_out)) {
        textureStore(blocked_out, pixel, layer, vec4u(packed, 0u, 0u, 0u));
    }
}
