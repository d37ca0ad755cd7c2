//! Optics of the Earth's atmosphere at four wavelengths: scattering, absorption and transmittance.
//!
//! The model is from Hillaire 2020, "A Scalable and Production Ready Sky and Atmosphere Rendering Technique"
//! (EGSR), section 4 and table 1. The numbers are from Bruneton 2017, "Precomputed Atmospheric Scattering: a
//! New Implementation". Those papers evaluate it at 680, 550 and 440 nm and use the results as red, green and
//! blue, which makes twilight purple. This module evaluates the model at [`WAVELENGTHS`] and weights the
//! results by [`RGB_FROM_BANDS`], like García Liñán 2022 does with other wavelengths and weights.
//!
//! Lengths are in kilometres.

use glam::{DVec3, DVec4};

/// Radius of the ground.
pub const GROUND_RADIUS: f64 = 6360.0;
/// Height at which the atmosphere ends.
pub const TOP: f64 = 100.0;
/// Height of the eye above the ground, large enough for the ground to fade into haze before the horizon.
pub const EYE: f64 = 0.5;
/// Angular radius of the sun, in radians: 0.2666°.
pub const SUN_RADIUS: f64 = 0.004_653;

/// Wavelengths of the four bands, in nanometres.
pub const WAVELENGTHS: [f64; 4] = [630.0, 570.0, 520.0, 440.0];
/// Rayleigh scattering at the ground, per kilometre: 1.24062e-3 λ⁻⁴, with λ in micrometres.
pub const RAYLEIGH: DVec4 = DVec4::new(7.8755e-3, 11.7527e-3, 16.9678e-3, 33.1e-3);
/// Scale height of Rayleigh scattering.
pub const RAYLEIGH_HEIGHT: f64 = 8.0;
/// Mie scattering by aerosols at the ground, per kilometre.
pub const MIE: f64 = 3.996e-3;
/// Mie extinction at the ground, per kilometre: the sum of scattering and absorption.
pub const MIE_EXTINCTION: f64 = 4.44e-3;
/// Scale height of Mie scattering.
pub const MIE_HEIGHT: f64 = 1.2;
/// Ozone absorption at its peak density, per kilometre, for 300 Dobson units.
pub const OZONE: DVec4 = DVec4::new(1.7277e-3, 2.5107e-3, 1.1495e-3, 0.085e-3);
/// Height of the peak ozone density.
pub const OZONE_HEIGHT: f64 = 25.0;
/// Half width of the ozone layer's tent profile.
pub const OZONE_REACH: f64 = 15.0;

/// Rows of the matrix from a spectrum at [`WAVELENGTHS`] to linear Rec. 709. The spectrum is relative to the
/// sun's spectrum above the atmosphere.
///
/// It is a least-squares fit to the CIE 1931 observer and a black body of 5778 K. The fit covers spectra that
/// the atmosphere transmits and scatters, including spectra of sunset and twilight. The error is 0.2 % on
/// average and at most 1.4 %. Three wavelengths used directly as colours have an error of up to a half.
pub const RGB_FROM_BANDS: [DVec4; 3] = [
    DVec4::new(0.795_15, 0.663_43, -0.514_96, 0.056_38),
    DVec4::new(-0.034_70, 0.438_26, 0.671_94, -0.075_50),
    DVec4::new(-0.000_88, -0.191_40, 0.285_27, 0.907_01),
];

/// Number of steps of the integral along a ray. Step lengths increase along the ray.
const STEPS: u32 = 96;

/// Optical coefficients of the atmosphere at a height, per kilometre.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Air {
    /// Rayleigh scattering.
    pub rayleigh: DVec4,
    /// Mie scattering.
    pub mie: f64,
    /// Extinction: the sum of all scattering and absorption.
    pub extinction: DVec4,
}

impl Air {
    /// Returns the coefficients at `height`. `haze` multiplies the coefficients of aerosols.
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

/// Returns the distance to the top of the atmosphere along a ray from `height` whose cosine to the zenith is
/// `mu`.
pub fn exit(height: f64, mu: f64) -> f64 {
    let across = (GROUND_RADIUS + height) * mu;
    let above = (TOP - height) * (2.0 * GROUND_RADIUS + TOP + height);
    (across * across + above).sqrt() - across
}

/// Returns the distance to the ground along a ray from `height` whose cosine to the zenith is `mu`, or `None`
/// if it misses the ground.
pub fn ground(height: f64, mu: f64) -> Option<f64> {
    let across = (GROUND_RADIUS + height) * mu;
    let below = height * (2.0 * GROUND_RADIUS + height);
    let square = across * across - below;
    (mu < 0.0 && square >= 0.0).then(|| below / (square.sqrt() - across))
}

/// Returns the height after `length` along a ray from `height` whose cosine to the zenith is `mu`.
pub fn height_after(height: f64, mu: f64, length: f64) -> f64 {
    let radius = GROUND_RADIUS + height;
    (radius * radius + length * (2.0 * radius * mu + length)).sqrt() - GROUND_RADIUS
}

/// Returns the horizon's cosine to the zenith, seen from `height`.
pub fn horizon(height: f64) -> f64 {
    -(height * (2.0 * GROUND_RADIUS + height)).sqrt() / (GROUND_RADIUS + height)
}

/// Returns the transmittance of each band from outside the atmosphere to `height`, along a ray that the
/// ground does not block.
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

/// Returns the fraction of sunlight that arrives at `height` if the cosine of the sun's centre to the zenith
/// is `mu`. It is the visible fraction of the disc, times the transmittance.
pub fn sunlight(height: f64, mu: f64, haze: f64) -> DVec4 {
    disc_share(height, mu) * disc_light(height, mu, haze)
}

/// Returns the transmittance of light from the visible part of the sun's disc.
pub fn disc_light(height: f64, mu: f64, haze: f64) -> DVec4 {
    transmittance(height, mu.max(horizon(height)), haze)
}

/// Returns the fraction of the sun's disc that is above the horizon.
pub fn disc_share(height: f64, mu: f64) -> f64 {
    let reach = SUN_RADIUS * GROUND_RADIUS / (GROUND_RADIUS + height);
    let above = (0.5 + 0.5 * (mu - horizon(height)) / reach).clamp(0.0, 1.0);
    above * above * (3.0 - 2.0 * above)
}

/// Converts four bands to linear RGB. Negative values are clamped to 0.
pub fn rgb(bands: DVec4) -> DVec3 {
    DVec3::from(RGB_FROM_BANDS.map(|weights| weights.dot(bands))).max(DVec3::ZERO)
}
