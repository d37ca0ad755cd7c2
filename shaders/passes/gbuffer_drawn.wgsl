// Final encoding of a fragment of the G-buffer.
#import "frame/frame.wgsl"
#import "frame/gbuffer.wgsl"

// Converts the position to the encoding of frame/gbuffer_position.wgsl.
fn gbuffer_drawn(texel: GBufferTexel) -> GBufferTexel {
    var drawn = texel;
    if !ARRAYS_ARE_TEXTURES {
        let depth = dot(texel.position.xyz - frame.eye, frame.forward);
        drawn.position = vec4f(depth, texel.position.w, 0.0, 0.0);
    }
    return drawn;
}
