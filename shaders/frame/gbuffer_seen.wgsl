// Surface positions of the G-buffer (frame/gbuffer_position.wgsl), with the view rays of the frame.
#import "frame/frame.wgsl"
#import "frame/gbuffer_position.wgsl"

// Returns the position and w of a pixel's texel.
fn gbuffer_seen(texel: vec4f, pixel: vec2u) -> vec4f {
    let point = gbuffer_point(texel, frame.rays, frame_place(pixel));
    return select(point, texel, frame.at_hits != 0u);
}
