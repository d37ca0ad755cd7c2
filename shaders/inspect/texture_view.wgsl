// texture_view: a texture of a scene, for a viewer that looks at it.
//
// texture_view: covers a part of the window
// in   a texture, how it is placed and which of its channels are shown
// out  the colour that is shown; nothing outside of the texture
// texture_view_texel: one thread
// in   a texel's level and place
// out  its value, colours linear
#import "frame/cover.wgsl"
#import "frame/display.wgsl"

struct TextureViewParams {
    // Upper left corner of the part of the window, in pixels.
    origin: vec2f,
    // What is seen there, in texels of the finest level.
    first: vec2f,
    // Texels of the finest level along the sides.
    size: vec2f,
    texels_per_pixel: f32,
    level: u32,
    // A bit for each of red, green, blue and alpha.
    channels: u32,
    // Whether values are shown as sRGB encodes them, or as they are.
    encodes: u32,
    is_smooth: u32,
    // Stops that values are brightened by before they are shown.
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

// Squares behind what lets light through.
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
    // One channel alone is grey.
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
