//! Twin of `lighting`, in f64: glTF 2.0's metallic-roughness BRDF (appendix B) under the lights of KHR_lights_punctual, and light from all around.

use crate::gpu::layout::Light;
use glam::{DVec3, Vec3};
use std::f64::consts::PI;

/// What the G-buffer holds of a surface.
#[derive(Debug, Clone, Copy)]
pub struct Surface {
    /// In the world, metres.
    pub position: Vec3,
    /// Unit normal, as shaded.
    pub normal: Vec3,
    /// Without normal textures.
    pub smooth_normal: Vec3,
    /// Linear base colour.
    pub albedo: Vec3,
    /// Share of light from all around, as the material says.
    pub occlusion: f32,
    /// Radiance.
    pub emissive: Vec3,
    /// Perceptual.
    pub roughness: f32,
    /// 0 dielectric, 1 metal.
    pub metallic: f32,
}

/// Light from all around, as functions of unit vectors.
#[expect(
    missing_debug_implementations,
    reason = "functions have nothing to show"
)]
pub struct Around<'a> {
    /// Irradiance / π on a surface of this normal.
    pub diffuse: &'a dyn Fn(DVec3) -> DVec3,
    /// Radiance along a direction, as a mirror of this perceptual roughness sees it.
    pub mirrored: &'a dyn Fn(DVec3, f64) -> DVec3,
    /// The split sum, of n · v and perceptual roughness: what is reflected in one bounce is f0 · x + f90 · y.
    pub split: &'a dyn Fn(f64, f64) -> [f64; 2],
}

/// Radiance that leaves the surface along the unit vector `to_eye`, with nothing in the lights' way.
pub fn lighting(surface: &Surface, to_eye: Vec3, lights: &[Light], around: &Around<'_>) -> DVec3 {
    let to_eye = to_eye.as_dvec3();
    let normal = surface.normal.as_dvec3();
    let mut radiance = surface.emissive.as_dvec3() + ambient(surface, to_eye, around);
    for light in lights {
        let (to_light, irradiance) = incident(light, surface.position);
        let n_dot_l = normal.dot(to_light);
        if n_dot_l > 0.0 {
            let kept = terminator(surface, to_light);
            radiance += brdf(surface, to_eye, to_light) * n_dot_l * kept * irradiance;
        }
    }
    radiance
}

/// Unit vector to the light, and its irradiance on a surface that faces it (KHR_lights_punctual, "Range Property" and "Spot").
pub fn incident(light: &Light, position: Vec3) -> (DVec3, DVec3) {
    let intensity = DVec3::from(light.intensity.map(f64::from));
    let direction = DVec3::from(light.direction.map(f64::from));
    if light.kind == 0 {
        return (-direction, intensity);
    }
    let offset = DVec3::from(light.position.map(f64::from)) - position.as_dvec3();
    let distance = offset.length();
    let to_light = offset / distance;
    let mut attenuation = 1.0 / (distance * distance);
    if light.range > 0.0 {
        let ratio = distance / f64::from(light.range);
        attenuation *= (1.0 - ratio.powi(4)).clamp(0.0, 1.0);
    }
    if light.kind == 2 {
        let cosine = -to_light.dot(direction);
        let cone = cosine * f64::from(light.spot_scale) + f64::from(light.spot_offset);
        attenuation *= cone.clamp(0.0, 1.0).powi(2);
    }
    (to_light, intensity * attenuation)
}

/// What a light keeps near the horizon of the surface without normal textures (Chiang, Li and Burley 2019, "Taming the Shadow Terminator").
pub fn terminator(surface: &Surface, to_light: DVec3) -> f64 {
    let [smooth, normal] = [surface.smooth_normal, surface.normal].map(Vec3::as_dvec3);
    let turned = normal.dot(to_light) * smooth.dot(normal);
    let g = (smooth.dot(to_light) / turned.max(1e-6)).clamp(0.0, 1.0);
    g + g * g - g * g * g
}

/// The BRDF for unit vectors to the eye and to the light.
pub fn brdf(surface: &Surface, to_eye: DVec3, to_light: DVec3) -> DVec3 {
    let normal = surface.normal.as_dvec3();
    let half_vector = (to_eye + to_light).normalize();
    let n_dot_l = normal.dot(to_light);
    let n_dot_v = normal.dot(to_eye).abs() + 1e-5;
    let n_dot_h = normal.dot(half_vector).clamp(0.0, 1.0);
    let v_dot_h = to_eye.dot(half_vector).clamp(0.0, 1.0);
    let alpha2 = f64::from(surface.roughness.max(0.045)).powi(4);
    let distribution = alpha2 / (PI * (n_dot_h * n_dot_h * (alpha2 - 1.0) + 1.0).powi(2));
    let smith = |a: f64, b: f64| a * (b * b * (1.0 - alpha2) + alpha2).sqrt();
    let visibility = 0.5 / (smith(n_dot_l, n_dot_v) + smith(n_dot_v, n_dot_l));
    let fresnel = |f0: DVec3| f0 + (DVec3::ONE - f0) * (1.0 - v_dot_h).powi(5);
    let (albedo, metallic) = (surface.albedo.as_dvec3(), f64::from(surface.metallic));
    let specular = distribution * visibility;
    let dielectric_fresnel = fresnel(DVec3::splat(0.04));
    let dielectric =
        (DVec3::ONE - dielectric_fresnel) * albedo / PI + dielectric_fresnel * specular;
    let metal = fresnel(albedo) * specular;
    dielectric.lerp(metal, metallic)
}

/// What of light from all around leaves towards the eye, with the bounces between microfacets (Fdez-Agüera 2019).
pub fn ambient(surface: &Surface, to_eye: DVec3, around: &Around<'_>) -> DVec3 {
    let normal = surface.normal.as_dvec3();
    let (albedo, metallic) = (surface.albedo.as_dvec3(), f64::from(surface.metallic));
    let roughness = f64::from(surface.roughness);
    let [scale, bias] = (around.split)(normal.dot(to_eye).clamp(0.0, 1.0), roughness);
    let bounces = |f0: DVec3| {
        let once = f0 * scale + bias;
        let missed = 1.0 - (scale + bias);
        let mean = f0 + (DVec3::ONE - f0) / 21.0;
        // The sum of the geometric series of bounces.
        (once, once * mean * missed / (DVec3::ONE - mean * missed))
    };
    let mirror = 2.0 * normal.dot(to_eye) * normal - to_eye;
    let mirrored = (around.mirrored)(mirror, roughness);
    let diffuse = (around.diffuse)(normal);
    let (once, again) = bounces(DVec3::splat(0.04));
    let dielectric = once * mirrored + (again + (DVec3::ONE - once - again) * albedo) * diffuse;
    let (once, again) = bounces(albedo);
    let metal = once * mirrored + again * diffuse;
    dielectric.lerp(metal, metallic) * f64::from(surface.occlusion)
}
