// volume_compose: blends the result of volume_march over the picture.
//
// in   radiance and transmittance from volume_march
// out  hdr, display: attenuated by the transmittance through blending; the radiance is added to hdr
//      volume_total: radiance and transmittance of all volumes together, without the surfaces
#import "frame/fullscreen.wgsl"

@group(0) @binding(0) var volume_texture: texture_2d<f32>;

struct Composed {
    @location(0) hdr: vec4f,
    @location(1) display: vec4f,
}

@fragment
fn volume_compose(corner: Corner) -> Composed {
    let seen = textureLoad(volume_texture, vec2u(corner.clip.xy), 0);
    return Composed(vec4f(seen.rgb, 1.0 - seen.a), vec4f(0.0, 0.0, 0.0, 1.0 - seen.a));
}

@fragment
fn volume_total(corner: Corner) -> @location(0) vec4f {
    return textureLoad(volume_texture, vec2u(corner.clip.xy), 0);
}
