// Returns the phase function of Henyey and Greenstein (1941), per steradian. `cosine` is the cosine of the scattering
// angle.
fn henyey_greenstein(anisotropy: f32, cosine: f32) -> f32 {
    let g = anisotropy;
    let d = max(1.0 + g * g - 2.0 * g * cosine, 1.0e-6);
    return (1.0 - g * g) / (12.566371 * d * sqrt(d));
}

// Samples the cosine of the scattering angle, for a random number from 0 to 1.
fn henyey_greenstein_cosine(anisotropy: f32, u: f32) -> f32 {
    let g = select(anisotropy, 1.0e-3, abs(anisotropy) < 1.0e-3);
    let s = (1.0 - g * g) / (1.0 - g + 2.0 * g * u);
    return clamp((1.0 + g * g - s * s) / (2.0 * g), -1.0, 1.0);
}
