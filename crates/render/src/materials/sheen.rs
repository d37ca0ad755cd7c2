//! Directional albedo of sheen: E of KHR_materials_sheen, as a table for material/layers.wgsl.

use canopy_bvh::gpu::library::wgsl_constants;
use std::f64::consts::PI;

wgsl_constants! {
    /// Side of the table of E. Columns are indexed by the square root of the cosine, rows by roughness.
    const SHEEN_TABLE: u32 = 32;
    /// Minimum roughness. Below it fibres are so upright that f32 cannot hold their distribution.
    const SHEEN_ROUGHNESS_MIN: f64 = 0.07;
}

/// Number of entries in the table.
pub(crate) const TABLE_LEN: usize = (SHEEN_TABLE * SHEEN_TABLE) as usize;
/// Integration steps along either angle.
const STEPS: u32 = 32;

/// Returns the table. Rows run over roughness from [`SHEEN_ROUGHNESS_MIN`] to 1. Columns run over the square
/// root of the cosine, because the table changes most at grazing angles.
pub(crate) fn albedo_table() -> Vec<f32> {
    let share = |i: u32| f64::from(i) / f64::from(SHEEN_TABLE - 1);
    (0..SHEEN_TABLE * SHEEN_TABLE)
        .map(|i| {
            let roughness = SHEEN_ROUGHNESS_MIN + (1.0 - SHEEN_ROUGHNESS_MIN) * share(i / SHEEN_TABLE);
            // At a cosine of 0 the visibility is undefined.
            let cosine = share(i % SHEEN_TABLE).powi(2).max(1e-3);
            albedo(cosine, roughness * roughness) as f32
        })
        .collect()
}

/// Integrates the BRDF times the cosine over the hemisphere by the midpoint rule.
fn albedo(cosine: f64, alpha: f64) -> f64 {
    let sine = (1.0 - cosine * cosine).sqrt();
    let lambda_in = lambda(cosine, alpha);
    let middle = |i: u32| (f64::from(i) + 0.5) / f64::from(STEPS);
    let mut sum = 0.0;
    for i in 0..STEPS {
        let root = middle(i);
        let out_cosine = root * root;
        let out_sine = (1.0 - out_cosine * out_cosine).sqrt();
        // The cosine of the integral cancels out against the BRDF's.
        let visibility = 1.0 / ((1.0 + lambda_in + lambda(out_cosine, alpha)) * 4.0 * cosine);
        let mut around = 0.0;
        for j in 0..STEPS {
            let (sin, cos) = (PI * middle(j)).sin_cos();
            let across = (sine + out_sine * cos).powi(2) + (out_sine * sin).powi(2);
            let sine2 = across / (across + (cosine + out_cosine).powi(2));
            around += sine2.powf(0.5 / alpha);
        }
        sum += 2.0 * root * visibility * around;
    }
    let distribution = (2.0 + 1.0 / alpha) / (2.0 * PI);
    2.0 * PI * distribution * sum / f64::from(STEPS * STEPS)
}

/// Lambda of the Charlie sheen distribution (Conty and Kulla, "Production Friendly Microfacet Sheen BRDF",
/// 2017).
fn lambda(cosine: f64, alpha: f64) -> f64 {
    let rest = (1.0 - alpha).powi(2);
    let mix = |rough: f64, smooth: f64| rough + (smooth - rough) * rest;
    let l = |x: f64| {
        let bend = mix(21.5473, 25.3245) / (1.0 + mix(3.82987, 3.32435) * x.powf(mix(0.19823, 0.16801)));
        bend + mix(-1.97760, -1.27393) * x + mix(-4.32054, -4.85967)
    };
    if cosine < 0.5 {
        l(cosine).exp()
    } else {
        (2.0 * l(0.5) - l(1.0 - cosine)).exp()
    }
}
