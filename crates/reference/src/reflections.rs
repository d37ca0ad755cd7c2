//! CPU references of the reflection passes, in f64.

use super::{sampling, shadow_start::VisiblePoint, trace::intersect};
use crate::lbvh::Triangle;
use canopy_render::layout::{REFLECTION_MIRROR, SAMPLE_REFLECTIONS};

use glam::DVec3;
use std::f64::consts::TAU;

/// Sampled direction of a reflection ray.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// Unit vector above the triangle.
    pub direction: DVec3,
    /// Cosine between the direction to the eye and the half vector.
    pub v_dot_h: f64,
    /// BRDF × cosine over the density, without the Fresnel term.
    pub lobe: f64,
}

/// CPU reference of `ggx_sample`, in the basis with the normal as the third axis. Returns the direction, the
/// half vector, and what the shader calls the inverse density (Eto and Tokuyoshi 2023, "Bounded VNDF Sampling
/// for Smith–GGX Reflections").
pub fn ggx_sample(to_eye: DVec3, alpha: f64, u: [f64; 2]) -> (DVec3, DVec3, f64) {
    let stretched = DVec3::new(alpha * to_eye.x, alpha * to_eye.y, to_eye.z);
    let reach = stretched.length();
    let stretched = stretched / reach;
    let s = 1.0 + to_eye.truncate().length();
    let (a2, s2) = (alpha * alpha, s * s);
    let k = (1.0 - a2) * s2 / (s2 + a2 * to_eye.z * to_eye.z);
    let bound = k * stretched.z;
    let z = (1.0 - u[1]) * (1.0 + bound) - bound;
    let sine = (1.0 - z * z).max(0.0).sqrt();
    let (y, x) = (TAU * u[0]).sin_cos();
    let facet = stretched + DVec3::new(sine * x, sine * y, z);
    let half_vector = DVec3::new(alpha * facet.x, alpha * facet.y, facet.z).normalize();
    let direction = 2.0 * to_eye.dot(half_vector) * half_vector - to_eye;
    (direction, half_vector, 2.0 * (k * to_eye.z + reach))
}

/// CPU reference of `brdf_smith`.
pub fn smith(n_dot_l: f64, n_dot_v: f64, alpha: f64) -> f64 {
    let a2 = alpha * alpha;
    let term = |a: f64, b: f64| a * (b * b * (1.0 - a2) + a2).sqrt();
    0.5 / (term(n_dot_v, n_dot_l) + term(n_dot_l, n_dot_v))
}

/// Returns the reflection ray at the first bounce from a pixel's surface with this perceptual roughness, in
/// frame `index`. Returns `None` if the direction is below the surface.
pub fn sample(
    seen: &VisiblePoint,
    roughness: f64,
    (mask, pixel): (&[u16], [u32; 2]),
    index: u32,
) -> Option<Sample> {
    let (normal, to_eye) = (seen.normal.as_dvec3(), seen.to_eye.as_dvec3());
    let (tangent, bitangent) = basis(normal);
    let cosine = to_eye.dot(normal).abs().max(1e-4);
    let local = DVec3::new(to_eye.dot(tangent), to_eye.dot(bitangent), cosine).normalize();
    let alpha = roughness * roughness;
    let is_mirror = roughness < REFLECTION_MIRROR;
    let u = sampling::point(mask, pixel, index, SAMPLE_REFLECTIONS);
    let (direction, half_vector, inverse_density) = ggx_sample(local, if is_mirror { 0.0 } else { alpha }, u);
    let n_dot_l = direction.z;
    if n_dot_l <= 0.0 {
        return None;
    }
    let lobe = match is_mirror {
        true => 1.0,
        false => smith(n_dot_l, local.z, alpha) * n_dot_l * inverse_density,
    };
    let mut direction = direction.x * tangent + direction.y * bitangent + direction.z * normal;
    let geometric = seen.start().geometric_normal;
    direction -= (2.0 * direction.dot(geometric)).min(0.0) * geometric;
    Some(Sample {
        direction: direction.normalize(),
        v_dot_h: local.dot(half_vector).clamp(0.0, 1.0),
        lobe,
    })
}

/// Returns the closest hit of a reflection ray, as triangle index and distance. `is_seen` takes a triangle
/// and whether the ray hits its back, and returns true if the ray may hit it.
pub fn hit(
    triangles: &[Triangle],
    seen: &VisiblePoint,
    direction: DVec3,
    is_seen: impl Fn(usize, bool) -> bool,
) -> Option<(usize, f64)> {
    let origin = seen.start().origin.as_vec3();
    let along = direction.as_vec3();
    let hits = triangles.iter().enumerate().filter_map(|(number, corners)| {
        let [v0, v1, v2] = *corners;
        let back = (v1 - v0).cross(v2 - v0).dot(along) > 0.0;
        let t = intersect(origin, along, corners).filter(|t| *t > 0.0)?;
        is_seen(number, back).then_some((number, t))
    });
    hits.min_by(|(_, a), (_, b)| a.total_cmp(b))
}

/// CPU reference of `basis_about`.
pub fn basis(n: DVec3) -> (DVec3, DVec3) {
    let side = if n.z >= 0.0 { 1.0 } else { -1.0 };
    let a = -1.0 / (side + n.z);
    let b = n.x * n.y * a;
    (
        DVec3::new(1.0 + side * n.x * n.x * a, side * b, -side * n.x),
        DVec3::new(b, side + n.y * n.y * a, -n.y),
    )
}
