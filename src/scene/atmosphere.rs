//! The air of the Earth as light sees it, at four wavelengths: what it scatters and absorbs, and how much of the sun it lets through.
//!
//! The model is that of Hillaire 2020, "A Scalable and Production Ready Sky and Atmosphere Rendering Technique" (EGSR), section 4 and table 1, whose
//! numbers are those of Bruneton 2017, "Precomputed Atmospheric Scattering: a New Implementation". There they are taken at 680, 550 and 440 nm, and
//! stand for red, green and blue as they are, which turns twilight purple. Here the same laws are taken at [`WAVELENGTHS`] and weighed by
//! [`RGB_FROM_BANDS`], as García Liñán 2022 does with other wavelengths and weights. Lengths are kilometres.

use glam::{DVec3, DVec4};

/// Radius of the ground.
pub const GROUND_RADIUS: f64 = 6360.0;
/// Height at which the air ends.
pub const TOP: f64 = 100.0;
/// Height of the eye above the ground: enough of it for the ground to fade into haze before the horizon.
pub const EYE: f64 = 0.5;
/// Half the angle that the sun fills, in radians: 0.2666°.
pub const SUN_RADIUS: f64 = 0.004_653;

/// In nanometres.
pub const WAVELENGTHS: [f64; 4] = [630.0, 570.0, 520.0, 440.0];
/// Scattering by molecules at the ground, per kilometre: 1.24062e-3 λ⁻⁴, with λ in micrometres.
pub const RAYLEIGH: DVec4 = DVec4::new(7.8755e-3, 11.7527e-3, 16.9678e-3, 33.1e-3);
/// Height over which molecules become fewer by e.
pub const RAYLEIGH_HEIGHT: f64 = 8.0;
/// Scattering by aerosols at the ground, per kilometre.
pub const MIE: f64 = 3.996e-3;
/// Scattering and absorption by aerosols.
pub const MIE_EXTINCTION: f64 = 4.44e-3;
/// Height over which aerosols become fewer by e.
pub const MIE_HEIGHT: f64 = 1.2;
/// Absorption by ozone where there is most of it, per kilometre: 300 Dobson units.
pub const OZONE: DVec4 = DVec4::new(1.7277e-3, 2.5107e-3, 1.1495e-3, 0.085e-3);
/// Height at which there is most ozone.
pub const OZONE_HEIGHT: f64 = 25.0;
/// How far above and below there is none.
pub const OZONE_REACH: f64 = 15.0;

/// Linear Rec. 709 red, green and blue of a spectrum that is given at [`WAVELENGTHS`] relative to the sun's above the air. Fitted by least squares to
/// the CIE 1931 observer and a black body of 5778 K, over spectra that the air lets through and scatters, those of sunset and twilight among them:
/// 0.2 % off on average and 1.4 % at most, where three wavelengths that stand for colours are off by up to a half.
pub const RGB_FROM_BANDS: [DVec4; 3] = [
    DVec4::new(0.795_15, 0.663_43, -0.514_96, 0.056_38),
    DVec4::new(-0.034_70, 0.438_26, 0.671_94, -0.075_50),
    DVec4::new(-0.000_88, -0.191_40, 0.285_27, 0.907_01),
];

/// Steps of the sum over a ray, each longer than the one before.
const STEPS: u32 = 96;

/// What light meets at a height, per kilometre.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Air {
    /// Scattered by molecules.
    pub rayleigh: DVec4,
    /// Scattered by aerosols.
    pub mie: f64,
    /// Scattered or absorbed by anything.
    pub extinction: DVec4,
}

impl Air {
    /// The air at `height`; `haze` multiplies the aerosols.
    pub fn at(height: f64, haze: f64) -> Self {
        let rayleigh = RAYLEIGH * (-height / RAYLEIGH_HEIGHT).exp();
        let aerosols = haze * (-height / MIE_HEIGHT).exp();
        let ozone = OZONE * (1.0 - (height - OZONE_HEIGHT).abs() / OZONE_REACH).max(0.0);
        Self {
            rayleigh,
            mie: MIE * aerosols,
            extinction: rayleigh + MIE_EXTINCTION * aerosols + ozone,
        }
    }
}

/// How far a ray from `height` with the cosine `mu` to the zenith goes before it leaves the air.
pub fn exit(height: f64, mu: f64) -> f64 {
    let across = (GROUND_RADIUS + height) * mu;
    let above = (TOP - height) * (2.0 * GROUND_RADIUS + TOP + height);
    (across * across + above).sqrt() - across
}

/// How far it goes before it meets the ground, where it does.
pub fn ground(height: f64, mu: f64) -> Option<f64> {
    let across = (GROUND_RADIUS + height) * mu;
    let below = height * (2.0 * GROUND_RADIUS + height);
    let square = across * across - below;
    (mu < 0.0 && square >= 0.0).then(|| below / (square.sqrt() - across))
}

/// Its height after `length`.
pub fn height_after(height: f64, mu: f64, length: f64) -> f64 {
    let radius = GROUND_RADIUS + height;
    (radius * radius + length * (2.0 * radius * mu + length)).sqrt() - GROUND_RADIUS
}

/// Cosine to the zenith of the horizon as seen from `height`.
pub fn horizon(height: f64) -> f64 {
    -(height * (2.0 * GROUND_RADIUS + height)).sqrt() / (GROUND_RADIUS + height)
}

/// The share of light of each band that reaches `height` from outside the air along a ray that the ground does not stop.
pub fn transmittance(height: f64, mu: f64, haze: f64) -> DVec4 {
    let length = exit(height, mu);
    let mut depth = DVec4::ZERO;
    for step in 0..STEPS {
        let [start, end] = [step, step + 1].map(|i| (f64::from(i) / f64::from(STEPS)).powi(2));
        let at = height_after(height, mu, length * 0.5 * (start + end));
        depth += length * (end - start) * Air::at(at.max(0.0), haze).extinction;
    }
    (-depth).exp()
}

/// The share of the sun's light that reaches `height`, where the cosine of its middle to the zenith is `mu`: as much of its disc as is above the
/// horizon, dimmed by the air.
pub fn sunlight(height: f64, mu: f64, haze: f64) -> DVec4 {
    disc_share(height, mu) * disc_light(height, mu, haze)
}

/// The same for what of the disc the horizon does not hide.
pub fn disc_light(height: f64, mu: f64, haze: f64) -> DVec4 {
    transmittance(height, mu.max(horizon(height)), haze)
}

/// The share of the sun's disc that is above the horizon.
pub fn disc_share(height: f64, mu: f64) -> f64 {
    let reach = SUN_RADIUS * GROUND_RADIUS / (GROUND_RADIUS + height);
    let above = (0.5 + 0.5 * (mu - horizon(height)) / reach).clamp(0.0, 1.0);
    above * above * (3.0 - 2.0 * above)
}

/// Red, green and blue of four bands; what a display cannot show is cut off.
pub fn rgb(bands: DVec4) -> DVec3 {
    DVec3::from(RGB_FROM_BANDS.map(|weights| weights.dot(bands))).max(DVec3::ZERO)
}
