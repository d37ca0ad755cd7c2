// texture_view: shows a texture of a scene in the texture viewer.
//
// texture_view: covers the viewer's part of the window
// in   the texture, its placement, and a mask of the channels to show
// out  the colour; transparent outside the texture
// texture_view_texel: one thread
// in   mip level and coordinates of a texel
// out  its value, with linear colours
#import "frame/fullscreen.wgsl"
#import "frame/display.wgsl"

struct TextureViewParams {
    // Top-left corner of the viewer in the window, in pixels.
    origin: vec2f,
    // Top-left corner of the view, in mip-0 texels.
    first: vec2f,
    // Size of the texture in mip-0 texels.
    size: vec2f,
    texels_per_pixel: f32,
    level: u32,
    // One bit each for red, green, blue and alpha.
    channels: u32,
    // Nonzero to encode values as sRGB; 0 to show them unchanged.
    encodes: u32,
    is_smooth: u32,
    // Exposure in stops, applied before encoding.
    exposure_ev: f32,
}

struct TextureViewTexel {
    place: vec2u,
    level: u32,
    value: vec4f,
}

@group(0) @binding(0) var shown_texture: texture_2d<f32>;
@group(0) @binding(1) var<uniform> params: TextureViewParams;
@group(0) @binding(2) var smooth_sampler: sampler;

@group(0) @binding(1) var<storage, read_write> texel: TextureViewTexel;

// Returns the checkerboard behind transparent texels.
fn checker(pixel: vec2f) -> vec3f {
    let square = vec2u(pixel) / TEXTURE_VIEW_CHECKER;
    return vec3f(select(0.35, 0.55, ((square.x + square.y) & 1u) == 0u));
}

@fragment
fn texture_view(in: Corner) -> @location(0) vec4f {
    let pixel = in.clip.xy - params.origin;
    let at = params.first + pixel * params.texels_per_pixel;
    let uv = at / params.size;
    let side = vec2f(textureDimensions(shown_texture, params.level));
    let place = vec2u(clamp(uv * side, vec2f(0.0), side - 1.0));
    let nearest = textureLoad(shown_texture, place, params.level);
    let smoothed = textureSampleLevel(shown_texture, smooth_sampler, uv, f32(params.level));
    let stored = select(nearest, smoothed, params.is_smooth != 0u);
    let value = vec4f(stored.rgb * exp2(params.exposure_ev), stored.a);
    let encoded = select(saturate(value.rgb), srgb_encode(value.rgb), params.encodes != 0u);
    let kept = (vec4u(params.channels) >> vec4u(0u, 1u, 2u, 3u)) & vec4u(1u);
    let colors = kept.r + kept.g + kept.b;
    let masked = encoded * vec3f(kept.rgb);
    // A single channel is shown as grey.
    let grey = vec3f(select(masked.r + masked.g + masked.b, value.a, colors == 0u));
    let is_alone = colors + kept.a == 1u;
    let over = mix(checker(pixel), masked, saturate(value.a));
    let color = select(select(masked, over, kept.a != 0u), grey, is_alone || colors == 0u);
    let is_inside = all(uv >= vec2f(0.0)) && all(uv < vec2f(1.0));
    return select(vec4f(0.0), vec4f(color * select(0.0, 1.0, params.channels != 0u), 1.0), is_inside);
}

@compute @workgroup_size(1)
fn texture_view_texel() {
    texel.value = textureLoad(shown_texture, texel.place, texel.level);
}
