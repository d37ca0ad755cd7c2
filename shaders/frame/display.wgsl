// Tone curves and sRGB encoding: from exposed radiance to display values.

fn srgb_encode(linear: vec3f) -> vec3f {
    let c = saturate(linear);
    return select(1.055 * pow(c, vec3f(1.0 / 2.4)) - 0.055, 12.92 * c, c <= vec3f(0.0031308));
}

fn srgb_decode(encoded: vec3f) -> vec3f {
    return select(pow((encoded + 0.055) / 1.055, vec3f(2.4)), encoded / 12.92, encoded <= vec3f(0.04045));
}

// Applies Stephen Hill's fit of the ACES reference rendering and output transforms.
fn aces(color: vec3f) -> vec3f {
    let into = mat3x3f(
        vec3f(0.59719, 0.07600, 0.02840),
        vec3f(0.35458, 0.90834, 0.13383),
        vec3f(0.04823, 0.01566, 0.83777),
    );
    let out_of = mat3x3f(
        vec3f(1.60475, -0.10208, -0.00327),
        vec3f(-0.53108, 1.10813, -0.07276),
        vec3f(-0.07367, -0.00605, 1.07602),
    );
    let v = into * color;
    return out_of * ((v * (v + 0.0245786) - 0.000090537) / (v * (0.983729 * v + 0.4329510) + 0.238081));
}

// Applies Khronos PBR Neutral (2024), which keeps base colours and compresses and desaturates highlights.
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

// Applies Troy Sobotka's AgX with its base look, in Rec. 2020 as in Blender. The matrices are Filament's and
// three.js's, which took them from Blender. The curve is Benjamin Wrensch's polynomial ("Minimal AgX Implementation",
// 2023), whose pivot is middle grey.
fn agx(color: vec3f) -> vec3f {
    let rec2020_from_srgb = mat3x3f(
        vec3f(0.627403896, 0.069097289, 0.016391439),
        vec3f(0.329283038, 0.919540395, 0.088013308),
        vec3f(0.043313066, 0.011362316, 0.895595253),
    );
    let srgb_from_rec2020 = mat3x3f(
        vec3f(1.660491, -0.124550, -0.018151),
        vec3f(-0.587641, 1.132900, -0.100579),
        vec3f(-0.072850, -0.008349, 1.118730),
    );
    let inset = mat3x3f(
        vec3f(0.856627153315983, 0.137318972929847, 0.11189821299995),
        vec3f(0.0951212405381588, 0.761241990602591, 0.0767994186031903),
        vec3f(0.0482516061458583, 0.101439036467562, 0.811302368396859),
    );
    let outset = mat3x3f(
        vec3f(1.1271005818144368, -0.1413297634984383, -0.14132976349843826),
        vec3f(-0.11060664309660323, 1.157823702216272, -0.11060664309660294),
        vec3f(-0.016493938717834573, -0.016493938717834257, 1.2519364065950405),
    );
    // From 10 stops below middle grey to 6.5 above.
    let least = -12.47393;
    let most = 4.026069;
    let stops = log2(max(inset * (rec2020_from_srgb * color), vec3f(1e-10)));
    let x = saturate((stops - least) / (most - least));
    let x2 = x * x;
    let x4 = x2 * x2;
    let curved = 15.5 * x4 * x2 - 40.14 * x4 * x + 31.96 * x4 - 6.868 * x2 * x + 0.4298 * x2 + 0.1191 * x
        - 0.00232;
    return srgb_from_rec2020 * pow(max(outset * curved, vec3f(0.0)), vec3f(2.2));
}

// Applies a tone curve. The clamp is far past white. It prevents some curves from dividing infinity by infinity.
fn display_tone(exposed: vec3f, curve: u32) -> vec3f {
    let color = min(exposed, vec3f(RADIANCE_MAX));
    switch curve {
        case CURVE_REINHARD: { return color / (1.0 + color); }
        case CURVE_ACES: { return aces(color); }
        case CURVE_NEUTRAL: { return neutral(color); }
        case CURVE_AGX: { return agx(color); }
        default: { return color; }
    }
}

// Returns the alpha of a pixel, or 1 in opaque pictures.
fn display_coverage(alpha: f32, transparent: u32) -> f32 {
    return select(1.0, saturate(alpha), transparent != 0u);
}

// Applies the tone curve to radiance that is premultiplied with coverage. The curve acts on the surface's own colour.
// The ground's shadows cover the background with black, so curves that darken the darkest colours do not tint them.
fn display_covered(exposed: vec3f, covered: f32, curve: u32) -> vec3f {
    if covered == 1.0 {
        return saturate(display_tone(exposed, curve));
    }
    return covered * saturate(display_tone(exposed / max(covered, 1e-4), curve));
}
