// From exposed radiance to what a display shows.

fn srgb_encode(linear: vec3f) -> vec3f {
    let c = saturate(linear);
    return select(1.055 * pow(c, vec3f(1.0 / 2.4)) - 0.055, 12.92 * c, c <= vec3f(0.0031308));
}

fn srgb_decode(encoded: vec3f) -> vec3f {
    return select(pow((encoded + 0.055) / 1.055, vec3f(2.4)), encoded / 12.92, encoded <= vec3f(0.04045));
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

// 0 linear, 1 Reinhard, 2 ACES, 3 PBR Neutral
fn display_tone(color: vec3f, curve: u32) -> vec3f {
    switch curve {
        case 1u: { return color / (1.0 + color); }
        case 2u: { return aces(color); }
        case 3u: { return neutral(color); }
        default: { return color; }
    }
}
