//! CPU reference of `brdf_table`: reflectance of rough surfaces under uniform white light.

use canopy_render::layout::{BRDF_TABLE_COLUMNS, BRDF_TABLE_ROWS, ROUGHNESS_MIN};

use std::f64::consts::{FRAC_PI_2, PI};

/// Returns the scale and bias of the reflectance at normal incidence, by the midpoint rule over `steps` ×
/// `steps` half vectors.
pub fn albedo(cosine: f64, roughness: f64, steps: u32) -> [f64; 2] {
    let alpha = roughness.max(ROUGHNESS_MIN).powi(2);
    let sine = (1.0 - cosine * cosine).max(0.0).sqrt();
    let lambda = |cosine: f64| (cosine * cosine * (1.0 - alpha * alpha) + alpha * alpha).sqrt();
    let middle = |i: u32| (f64::from(i) + 0.5) / f64::from(steps);
    let mut sums = [0.0; 2];
    for i in 0..steps {
        // The tangent of the half vector's angle is α tan τ, and sin² τ is the cumulative distribution at it.
        let tau = FRAC_PI_2 * middle(i);
        let n_dot_h = 1.0 / (1.0 + (alpha * tau.tan()).powi(2)).sqrt();
        let share = FRAC_PI_2 * 2.0 * tau.sin() * tau.cos();
        let across = (1.0 - n_dot_h * n_dot_h).max(0.0).sqrt();
        for j in 0..steps {
            let v_dot_h = sine * across * (PI * middle(j)).cos() + cosine * n_dot_h;
            let n_dot_l = 2.0 * v_dot_h * n_dot_h - cosine;
            if v_dot_h <= 0.0 || n_dot_l <= 0.0 {
                continue;
            }
            let visibility = 0.5 / (n_dot_l * lambda(cosine) + cosine * lambda(n_dot_l));
            let reflected = share * 4.0 * visibility * n_dot_l * v_dot_h / n_dot_h;
            let schlick = (1.0 - v_dot_h).powi(5);
            sums[0] += reflected * (1.0 - schlick);
            sums[1] += reflected * schlick;
        }
    }
    sums.map(|sum| sum / f64::from(steps * steps))
}

/// CPU reference of `brdf_table_at` in environment/brdf_table_lookup.wgsl: interpolates scale and bias from
/// the entries of the table.
pub fn lookup(table: &[[f32; 2]], roughness: f64, cosine: f64) -> [f64; 2] {
    let roughness = roughness.max(ROUGHNESS_MIN);
    let steepness = 4.0 / (roughness * roughness);
    let [columns, rows] = [BRDF_TABLE_COLUMNS, BRDF_TABLE_ROWS].map(|side| f64::from(side - 1));
    let row = (roughness - ROUGHNESS_MIN) / (1.0 - ROUGHNESS_MIN) * rows;
    let column = (steepness * cosine).ln_1p() / steepness.ln_1p() * columns;
    let (above, left) = (row.min(rows - 1.0).floor(), column.min(columns - 1.0).floor());
    let entry = |dx: usize, dy: usize, channel: usize| {
        let at = (above as usize + dy) * BRDF_TABLE_COLUMNS as usize + left as usize + dx;
        f64::from(table[at][channel])
    };
    let [albedo, grazing] = [0, 1].map(|channel| {
        let across = |dy| {
            let share = column - left;
            (1.0 - share) * entry(0, dy, channel) + share * entry(1, dy, channel)
        };
        let share = row - above;
        (1.0 - share) * across(0) + share * across(1)
    });
    let bias = albedo * grazing.powi(5);
    [albedo - bias, bias]
}
