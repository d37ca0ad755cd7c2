// tonemap: converts radiance, or a channel of the frame, to display values.
//
// in   hdr, the exposure, and display (colours shown without exposure or tone mapping; alpha is the fraction of the
//      background that the ground's shadows leave); or the channel's floats
// out  target, sRGB-encoded by this shader (the target's format is not sRGB). A transparent picture is premultiplied
//      before the encoding, with the coverage as alpha. The lit picture is dithered, unless `temporal` reads it.
// A full-screen triangle. hdr is filtered if the target is larger; channels are not.
#import "frame/fullscreen.wgsl"
#import "frame/display.wgsl"
#import "frame/dither.wgsl"
#import "picture/exposure_params.wgsl"
#import "math/magma.wgsl"

struct TonemapParams {
    // Tone curve: 0 none, 1 Reinhard, 2 ACES, 3 PBR Neutral, 4 AgX.
    curve: u32,
    // 0 for the lit picture, else a channel.
    channel: u32,
    // Factor on the channel, after the offset.
    scale: f32,
    // Nonzero if the lit picture keeps its coverage as alpha.
    transparent: u32,
    offset: vec4f,
    // Nonzero if the lit picture is dithered.
    dither: u32,
    // Weights of nodes and triangles in the `cost` channel.
    cost_weights: vec2f,
}

@group(0) @binding(0) var<uniform> params: TonemapParams;
@group(0) @binding(1) var hdr_texture: texture_2d<f32>;
@group(0) @binding(2) var hdr_sampler: sampler;
@group(0) @binding(3) var channel_texture: texture_2d<f32>;
@group(0) @binding(4) var<uniform> exposure: Exposure;
@group(0) @binding(5) var display_texture: texture_2d<f32>;
// x: the cost that the brightest colour of the `cost` channel stands for.
@group(0) @binding(6) var<uniform> cost_range: vec4f;

// Returns a colour for a number, different from the colours of adjacent numbers.
fn hashed(id: f32) -> vec3f {
    let h = (u32(id) + 1u) * 2654435761u;
    let hue = vec3f(vec3u(h, h >> 8u, h >> 16u) & vec3u(255u)) / 255.0;
    return 0.25 + 0.75 * hue;
}

// Colours of signed distances, the same as output::deviation_colors (Moreland 2009).
const DIVERGING = array<vec3f, 9>(
    vec3f(0.2314, 0.2980, 0.7529),
    vec3f(0.3843, 0.5098, 0.9176),
    vec3f(0.5529, 0.6902, 0.9961),
    vec3f(0.7216, 0.8157, 0.9765),
    vec3f(0.8667, 0.8667, 0.8667),
    vec3f(0.9608, 0.7686, 0.6784),
    vec3f(0.9569, 0.6039, 0.4824),
    vec3f(0.8706, 0.3765, 0.3020),
    vec3f(0.7059, 0.0157, 0.1490),
);
const BELOW = vec3f(0.1490, 0.0000, 0.2588);
const ABOVE = vec3f(1.0000, 0.8392, 0.0000);

fn diverging(share: f32) -> vec3f {
    let colors = DIVERGING;
    let at = 4.0 * clamp(share, -1.0, 1.0) + 4.0;
    let step = min(u32(at), 7u);
    let within = mix(colors[step], colors[step + 1u], at - f32(step));
    return select(select(within, ABOVE, share > 1.0), BELOW, share < -1.0);
}

// Returns the colours of triangles that pass through other triangles, the same as output::intersection_colors.
fn intersection(is_through: bool, facing: f32) -> vec3f {
    let grey = vec3f(mix(0.14, 0.50, facing));
    return select(grey, mix(0.75, 1.0, facing) * vec3f(1.0, 0.6, 0.0), is_through);
}

@fragment
fn tonemap(in: Corner) -> @location(0) vec4f {
    let channel = params.channel;
    if channel == CHANNEL_LIT {
        let radiance = textureSampleLevel(hdr_texture, hdr_sampler, in.uv, 0.0);
        let shown = textureSampleLevel(display_texture, hdr_sampler, in.uv, 0.0);
        let covered = display_coverage(radiance.a, params.transparent);
        let toned = display_covered(radiance.rgb * exposure.scale, covered * shown.a, params.curve);
        let encoded = srgb_encode(toned + shown.rgb);
        let dithered = dither(encoded, vec2u(in.clip.xy));
        // Colours that are shown unchanged have no radiance and are not dithered.
        let is_dithered = params.dither != 0u && any(radiance.rgb != vec3f(0.0));
        return vec4f(select(encoded, dithered, is_dithered), covered);
    }
    let size = textureDimensions(channel_texture);
    let texel = textureLoad(channel_texture, min(vec2u(in.uv * vec2f(size)), size - 1u), 0);
    if texel.a == 0.0 {
        return vec4f(vec3f(0.05), 1.0);
    }
    let value = (texel.rgb + params.offset.xyz) * params.scale;
    switch channel {
        // Offset and scale have mapped them to [0, 1].
        case CHANNEL_POSITION, CHANNEL_NORMAL: { return vec4f(saturate(value), 1.0); }
        case CHANNEL_DEPTH: { return vec4f(vec3f(1.0 - saturate(value.x)), 1.0); }
        case CHANNEL_MESH, CHANNEL_MATERIAL: { return vec4f(hashed(texel.r), 1.0); }
        case CHANNEL_COST: { return vec4f(magma(dot(texel.rg, params.cost_weights) / cost_range.x), 1.0); }
        case CHANNEL_DEVIATION: { return vec4f(diverging(texel.g), 1.0); }
        case CHANNEL_INTERSECTIONS: { return vec4f(intersection(texel.r > 0.0, saturate(texel.g)), 1.0); }
        case CHANNEL_ALBEDO, CHANNEL_BOUNCED, CHANNEL_EMISSIVE, CHANNEL_SCATTERED: {
            return vec4f(srgb_encode(value), 1.0);
        }
        default: { return vec4f(saturate(value), 1.0); }
    }
}
