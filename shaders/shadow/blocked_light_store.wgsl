// Stores the input of the shadow filter in `blocked_out`, an image with one layer per slot. The importer binds it.

#import "denoise/signal.wgsl"

// Stores a packed blocked fraction. Without a filter, the image is a single texel that nothing reads.
fn blocked_light_store(pixel: vec2u, layer: u32, packed: u32) {
    if layer < textureNumLayers(blocked_out) && all(pixel < textureDimensions(blocked_out)) {
        textureStore(blocked_out, pixel, layer, vec4u(packed, 0u, 0u, 0u));
    }
}
