//! CPU reference of path/path_accumulate.wgsl, with exact sums for any number and order of samples. Also
//! direct light by quadrature in f64, for comparison with the path tracer.

use glam::DVec3;

/// Rounds a sample to units of 2 to the power of −`fraction`. NaN and samples not below 2 to the power of
/// `most` become the largest number below it. Negative samples become zero.
pub fn fixed(sample: f32, fraction: i32, most: i32) -> u128 {
    let largest = 2_f64.powi(most) - 2_f64.powi(most - 24);
    let known = match f64::from(sample) {
        small if small <= largest => small,
        _ => largest,
    };
    // Half a unit is rounded up.
    (known * 2_f64.powi(fraction)).round() as u128
}

/// Returns the irradiance over π at a point from a rectangle of radiance 1 that faces it, by the midpoint
/// rule with `steps` × `steps` parts. The rectangle extends from `corner` along `u` and `v` and is
/// unoccluded.
pub fn rectangle_light((point, normal): (DVec3, DVec3), [corner, u, v]: [DVec3; 3], steps: u32) -> f64 {
    let facing = u.cross(v);
    let area = facing.length() / f64::from(steps * steps);
    let facing = facing.normalize();
    let middle = |i: u32| (f64::from(i) + 0.5) / f64::from(steps);
    let part = |i: u32| {
        let at = corner + middle(i % steps) * u + middle(i / steps) * v;
        let offset = at - point;
        let along = offset.normalize();
        let cosines = normal.dot(along).max(0.0) * facing.dot(-along).max(0.0);
        cosines * area / offset.length_squared()
    };
    (0..steps * steps).map(part).sum::<f64>() / std::f64::consts::PI
}

/// Returns the directional albedo towards a direction at this cosine to the normal, for the BRDF of glTF 2.0,
/// appendix B. It is summed over `steps` × `steps` half vectors distributed like the microfacets. `albedo` is
/// the base colour.
pub fn reflected(cosine: f64, roughness: f64, metallic: f64, albedo: f64, steps: u32) -> f64 {
    let alpha2 = roughness.powi(4);
    let to_eye = DVec3::new((1.0 - cosine * cosine).sqrt(), 0.0, cosine);
    let f0 = 0.04 + (albedo - 0.04) * metallic;
    let grazing = |cosine: f64| (1.0 - cosine).max(0.0).powi(5);
    let middle = |i: u32| (f64::from(i) + 0.5) / f64::from(steps);
    let turn = |i: u32| std::f64::consts::TAU * middle(i);
    let smith = |l: f64| {
        let masked = |a: f64, b: f64| a * (alpha2 + (1.0 - alpha2) * b * b).sqrt();
        0.5 / (masked(l, cosine) + masked(cosine, l))
    };
    let specular = |i: u32| {
        // The density of such a half vector is D times its cosine.
        let share = middle(i / steps);
        let z2 = (1.0 - share) / (1.0 + share * (alpha2 - 1.0));
        let (sine, turn) = ((1.0 - z2).sqrt(), turn(i % steps));
        let half = DVec3::new(sine * turn.cos(), sine * turn.sin(), z2.sqrt());
        let v_dot_h = to_eye.dot(half);
        let to_light = 2.0 * v_dot_h * half - to_eye;
        if to_light.z <= 0.0 || v_dot_h <= 0.0 {
            return 0.0;
        }
        let fresnel = f0 + (1.0 - f0) * grazing(v_dot_h);
        fresnel * smith(to_light.z) * to_light.z * 4.0 * v_dot_h / half.z
    };
    let diffuse = |i: u32| {
        let radius2 = middle(i / steps);
        let turn = turn(i % steps);
        let radius = radius2.sqrt();
        let to_light = DVec3::new(radius * turn.cos(), radius * turn.sin(), (1.0 - radius2).sqrt());
        let half = (to_eye + to_light).normalize();
        (1.0 - metallic) * 0.96 * (1.0 - grazing(to_eye.dot(half))) * albedo
    };
    let sum = |f: &dyn Fn(u32) -> f64| (0..steps * steps).map(f).sum::<f64>() / f64::from(steps * steps);
    sum(&specular) + sum(&diffuse)
}

/// Returns the radiosities of patches that illuminate each other (Goral et al. 1984). Each emits `emitted`
/// and reflects the fraction `albedo` of the incoming light. Row i of `form_factors` has the fractions of
/// patch i's incoming light that come from the other patches.
pub fn radiosity(emitted: &[f64], albedo: &[f64], form_factors: &[Vec<f64>]) -> Vec<f64> {
    let mut sent = emitted.to_vec();
    for _ in 0..200 {
        for i in 0..sent.len() {
            let arriving: f64 = form_factors[i].iter().zip(&sent).map(|(f, b)| f * b).sum();
            sent[i] = emitted[i] + albedo[i] * arriving;
        }
    }
    sent
}
