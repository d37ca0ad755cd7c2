//! Colours of passes. Each step of the frame has a hue, and its passes have shades of it. Most hues come from
//! the palette of Okabe and Ito (2008), which is readable with all kinds of colour vision. A name always has
//! the same colour.

/// sRGB colour, 0 to 255 per channel.
pub type Rgb = [u8; 3];

/// Colour of the GPU time between passes.
pub const BETWEEN: Rgb = [128, 128, 128];

/// Steps of the frame. Each has the names of its passes in order, followed by CPU work that shares its
/// colour, and the colour.
const STEPS: &[(&[&str], Rgb)] = &[
    (
        &[
            "brdf_table",
            "sky_transmittance",
            "sky_scattering",
            "sky_irradiance",
            "sky",
            "equirect",
            "cube_mips",
            "project_sh",
            "sum_sh",
            "prefilter",
        ],
        [86, 180, 233],
    ),
    (&["deform", "animate"], [70, 70, 70]),
    (&["lbvh", "ploc", "tlas", "cost", "record"], [230, 159, 0]),
    (
        &[
            "gbuffer",
            "points_lines",
            "ground",
            "motion",
            "reproject",
            "panel",
        ],
        [0, 114, 178],
    ),
    (
        &[
            "shadow_classify",
            "shadow_rays",
            "shadow_motion",
            "shadow_shafts",
            "shadow_filter",
            "shadow_map",
            "light_choice",
            "compose",
        ],
        [240, 228, 66],
    ),
    (
        &[
            "occlusion_rays",
            "occlusion_filter",
            "bounced_light",
            "bounced_paths",
            "bounced_filter",
            "acquire",
        ],
        [0, 158, 115],
    ),
    (
        &[
            "reflection_classify",
            "reflection_rays",
            "reflection_sort",
            "reflection_surface",
            "reflection_lobes",
            "reflection_light",
            "reflection_layers",
            "reflection_filter",
            "lobes",
            "write",
        ],
        [180, 80, 140],
    ),
    (&["lighting", "layers", "submit", "wait"], [213, 94, 0]),
    (&["blend_gbuffer", "blend"], [110, 70, 160]),
    (
        &[
            "exposure",
            "tonemap",
            "temporal",
            "antialias",
            "accumulate",
            "resolve",
            "present",
            "fade",
        ],
        [190, 190, 190],
    ),
];

/// Shades of the passes of a step, in order: the fraction of white to mix in, or of black if negative.
const SHADES: [f64; 4] = [0.0, 0.55, -0.4, 0.3];

/// Returns the colour of a pass.
pub fn of(name: &str) -> Rgb {
    let first_word = |name: &str| name.split(['_', ' ']).next().map(str::to_owned);
    let exact = STEPS.iter().find_map(|(names, color)| {
        let index = names.iter().position(|known| *known == name)?;
        Some((*color, index))
    });
    // FNV-1a hash, so that a name that no step lists still has a stable colour.
    let hash = name.bytes().fold(0x811c_9dc5_u32, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    }) as usize;
    let alike = || {
        let is_alike = |known: &str| first_word(known) == first_word(name);
        let step = STEPS
            .iter()
            .find(|(names, _)| names.iter().any(|known| is_alike(known)));
        let (_, color) = step.unwrap_or(&STEPS[hash % STEPS.len()]);
        (*color, hash)
    };
    let (color, index) = exact.unwrap_or_else(alike);
    shaded(color, SHADES[index % SHADES.len()])
}

fn shaded(color: Rgb, shade: f64) -> Rgb {
    let towards = if shade < 0.0 { 0.0 } else { 255.0 };
    color.map(|channel| {
        let channel = f64::from(channel);
        (channel + (towards - channel) * shade.abs()).round() as u8
    })
}

/// Formats a colour for CSS.
pub fn css([r, g, b]: Rgb) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Converts a colour to CIE L*a*b* (D65) as seen without M cones or without L cones (Viénot, Brettel and
    /// Mollon 1999). `None` is normal colour vision.
    fn seen(color: Rgb, lacking: Option<usize>) -> [f64; 3] {
        let mut rgb = color.map(|channel| (f64::from(channel) / 255.0).powf(2.2));
        if let Some(cone) = lacking {
            let lms = |[r, g, b]: [f64; 3]| {
                [
                    17.8824 * r + 43.5161 * g + 4.11935 * b,
                    3.45565 * r + 27.1554 * g + 3.86714 * b,
                    0.0299566 * r + 0.184309 * g + 1.46709 * b,
                ]
            };
            let [mut l, mut m, s] = lms(rgb);
            match cone {
                0 => l = 2.02344 * m - 2.52581 * s,
                _ => m = 0.494207 * l + 1.24827 * s,
            }
            rgb = [
                0.0809444479 * l - 0.130504409 * m + 0.116721066 * s,
                -0.0102485335 * l + 0.0540193266 * m - 0.113614708 * s,
                -0.000365296938 * l - 0.00412161469 * m + 0.693511405 * s,
            ];
        }
        let [r, g, b] = rgb;
        let f = |t: f64| {
            if t > 0.008856 {
                t.cbrt()
            } else {
                7.787 * t + 16.0 / 116.0
            }
        };
        let x = f((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505);
        let y = f(0.2126 * r + 0.7152 * g + 0.0722 * b);
        let z = f((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089);
        [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
    }

    fn difference(a: Rgb, b: Rgb, lacking: Option<usize>) -> f64 {
        let (a, b) = (seen(a, lacking), seen(b, lacking));
        (0..3).map(|i| (a[i] - b[i]).powi(2)).sum::<f64>().sqrt()
    }

    /// Adjacent passes in a stack differ by several times the just noticeable difference (2.3), for
    /// trichromats, protanopes and deuteranopes.
    #[test]
    fn adjacent_passes_have_distinguishable_colours() {
        let frame = [
            "sky",
            "cube_mips",
            "project_sh",
            "sum_sh",
            "prefilter",
            "deform",
            "lbvh",
            "gbuffer",
            "ground",
            "reproject",
            "shadow_classify",
            "shadow_rays",
            "shadow_filter",
            "occlusion_rays",
            "occlusion_filter",
            "reflection_classify",
            "reflection_rays",
            "reflection_sort",
            "reflection_surface",
            "reflection_light",
            "reflection_filter",
            "lighting",
            "layers",
            "blend_gbuffer",
            "blend",
            "exposure",
            "tonemap",
            "temporal",
            "antialias",
        ];
        let cpu = [
            "animate", "panel", "record", "compose", "acquire", "submit", "present",
        ];
        let pairs = frame.windows(2).chain(cpu.windows(2));
        for pair in pairs {
            for lacking in [None, Some(0), Some(1)] {
                let difference = difference(of(pair[0]), of(pair[1]), lacking);
                assert!(difference > 11.0, "{pair:?} {lacking:?}: {difference}");
            }
        }
        // The check rejects colours that only differ between red and green.
        let [red, green] = [[180, 90, 60], [120, 115, 60]];
        assert!(difference(red, green, None) > 30.0);
        assert!(difference(red, green, Some(1)) < 11.0);
    }

    #[test]
    fn unknown_names_have_a_stable_colour() {
        assert_eq!(of("shadow_rays_at_hits"), of("shadow_rays_at_hits"));
        assert_ne!(of("a"), of("b"));
        assert_eq!(css([1, 171, 255]), "#01abff");
    }
}
