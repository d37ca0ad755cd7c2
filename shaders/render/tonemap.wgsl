// tonemap: radiance, or a channel of the frame, to the display.
//
// in   hdr, or the channel's floats
// out  target, sRGB-encoded here (the target's format is not sRGB)
// A triangle that covers the target; hdr is filtered when the target is larger, channels are not.
#import "common/cover.wgsl"
#import "common/unseen.wgsl"

struct TonemapParams {
    // Multiplies radiance.
    exposure: f32,
    // 0 linear, 1 Reinhard, 2 ACES, 3 PBR Neutral
    curve: u32,
    // 0 the lit image; else a channel
    channel: u32,
    // Multiplies the channel, after the offset.
    scale: f32,
    offset: vec4f,
}

@group(0) @binding(0) var<uniform> params: TonemapParams;
@group(0) @binding(1) var hdr_texture: texture_2d<f32>;
@group(0) @binding(2) var hdr_sampler: sampler;
@group(0) @binding(3) var channel_texture: texture_2d<f32>;

fn srgb_encode(linear: vec3f) -> vec3f {
    let c = saturate(linear);
    return select(1.055 * pow(c, vec3f(1.0 / 2.4)) - 0.055, 12.92 * c, c <= vec3f(0.0031308));
}

// Stephen Hill's fit of the ACES reference rendering and output transforms.
fn aces(color: vec3f) -> vec3f {
    let into = mat3x3f(vec3f(0.59719, 0.07600, 0.02840), vec3f(0.35458, 0.90834, 0.13383), vec3f(0.04823, 0.01566, 0.83777));
    let out_of = mat3x3f(vec3f(1.60475, -0.10208, -0.00327), vec3f(-0.53108, 1.10813, -0.07276), vec3f(-0.07367, -0.00605, 1.07602));
    let v = into * color;
    return out_of * ((v * (v + 0.0245786) - 0.000090537) / (v * (0.983729 * v + 0.4329510) + 0.238081));
}

// Khronos PBR Neutral (2024): base colours come out as they are, highlights are compressed and desaturated.
fn neutral(color: vec3f) -> vec3f {
    let start = 0.8 - 0.04;
    let smallest = min(color.r, min(color.g, color.b));
    let toe = select(0.04, smallest - 6.25 * smallest * smallest, smallest < 0.08);
    let c = color - toe;
    let peak = max(c.r, max(c.g, c.b));
    if peak < start {
        return c;
    }
    let d = 1.0 - start;
    let new_peak = 1.0 - d * d / (peak + d - start);
    let g = 1.0 - 1.0 / (0.15 * (peak - new_peak) + 1.0);
    return mix(c * (new_peak / peak), vec3f(new_peak), g);
}

fn tone(color: vec3f, curve: u32) -> vec3f {
    switch curve {
        case 1u: { return color / (1.0 + color); }
        case 2u: { return aces(color); }
        case 3u: { return neutral(color); }
        default: { return color; }
    }
}

// Polynomial fit of the turbo colour map (Mikhailov 2019).
fn heat(x: f32) -> vec3f {
    let t = saturate(x);
    let v4 = vec4f(1.0, t, t * t, t * t * t);
    let v2 = v4.zw * v4.z;
    return saturate(vec3f(
        dot(v4, vec4f(0.13572138, 4.61539260, -42.66032258, 132.13108234)) + dot(v2, vec2f(-152.94239396, 59.28637943)),
        dot(v4, vec4f(0.09140261, 2.19418839, 4.84296658, -14.18503333)) + dot(v2, vec2f(4.27729857, 2.82956604)),
        dot(v4, vec4f(0.10667330, 12.64194608, -60.58204836, 110.36276771)) + dot(v2, vec2f(-89.90310912, 27.34824973)),
    ));
}

// A colour that differs from its neighbours' for each number.
fn hashed(id: f32) -> vec3f {
    let h = (u32(id) + 1u) * 2654435761u;
    let hue = vec3f(vec3u(h, h >> 8u, h >> 16u) & vec3u(255u)) / 255.0;
    return 0.25 + 0.75 * hue;
}

@fragment
fn tonemap(in: Corner) -> @location(0) vec4f {
    let zero = unseen_zero(in.clip.x);
    let channel = params.channel + zero;
    if channel == 0u {
        let radiance = textureSampleLevel(hdr_texture, hdr_sampler, in.uv, 0.0).rgb;
        return vec4f(srgb_encode(tone(radiance * params.exposure, params.curve + zero)), 1.0);
    }
    let size = textureDimensions(channel_texture);
    let texel = textureLoad(channel_texture, min(vec2u(in.uv * vec2f(size)), size - 1u), 0);
    if texel.a == 0.0 {
        return vec4f(vec3f(0.05), 1.0);
    }
    let value = (texel.rgb + params.offset.xyz) * params.scale;
    switch channel {
        // position, normal: already placed in 0..1 by offset and scale
        case 1u, 2u: { return vec4f(saturate(value), 1.0); }
        // depth
        case 8u: { return vec4f(vec3f(1.0 - saturate(value.x)), 1.0); }
        // mesh, material
        case 9u, 10u: { return vec4f(hashed(texel.r), 1.0); }
        // cost
        case 12u: { return vec4f(heat((texel.r + texel.g) * params.scale), 1.0); }
        // albedo, emissive: colours
        case 3u, 7u: { return vec4f(srgb_encode(value), 1.0); }
        default: { return vec4f(saturate(value), 1.0); }
    }
}
