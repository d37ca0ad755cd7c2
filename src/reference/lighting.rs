//! Twin of `lighting`, in f64: glTF 2.0's metallic-roughness BRDF (appendix B) under the lights of KHR_lights_punctual, and the ambient term.

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
    /// Linear base colour.
    pub albedo: Vec3,
    /// Of the ambient term.
    pub occlusion: f32,
    /// Radiance.
    pub emissive: Vec3,
    /// Perceptual.
    pub roughness: f32,
    /// 0 dielectric, 1 metal.
    pub metallic: f32,
}

/// Radiance from above and from below, strength multiplied in.
#[derive(Debug, Clone, Copy)]
pub struct Ambient {
    /// From above.
    pub sky: Vec3,
    /// From below.
    pub ground: Vec3,
}

/// Radiance that leaves the surface along the unit vector `to_eye`, with nothing in the lights' way.
pub fn lighting(surface: &Surface, to_eye: Vec3, lights: &[Light], ambient: Ambient) -> DVec3 {
    let to_eye = to_eye.as_dvec3();
    let normal = surface.normal.as_dvec3();
    let mut radiance = surface.emissive.as_dvec3() + ambient_light(surface, to_eye, ambient);
    for light in lights {
        let (to_light, irradiance) = incident(light, surface.position);
        let n_dot_l = normal.dot(to_light);
        if n_dot_l > 0.0 {
            radiance += brdf(surface, to_eye, to_light) * n_dot_l * irradiance;
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

/// Light from everywhere: Karis's fit of the split-sum table ("Physically Based Shading on Mobile", 2014) for what is reflected.
fn ambient_light(surface: &Surface, to_eye: DVec3, ambient: Ambient) -> DVec3 {
    let normal = surface.normal.as_dvec3();
    let (sky, ground) = (ambient.sky.as_dvec3(), ambient.ground.as_dvec3());
    let roughness = f64::from(surface.roughness);
    let n_dot_v = normal.dot(to_eye).clamp(0.0, 1.0);
    let mirror = 2.0 * normal.dot(to_eye) * normal - to_eye;
    let up = (mirror.y + (normal.y - mirror.y) * roughness) * 0.5 + 0.5;
    let [x, y, z, w] = [
        1.0 - roughness,
        0.0425 - 0.0275 * roughness,
        1.04 - 0.572 * roughness,
        -0.04 + 0.022 * roughness,
    ];
    let a004 = (x * x).min((-9.28 * n_dot_v).exp2()) * x + y;
    let (scale, bias) = (-1.04 * a004 + z, 1.04 * a004 + w);
    let albedo = surface.albedo.as_dvec3();
    let metallic = f64::from(surface.metallic);
    let f0 = DVec3::splat(0.04).lerp(albedo, metallic);
    let diffuse = (DVec3::ONE - f0) * (1.0 - metallic) * albedo;
    let diffuse_light = ground.lerp(sky, normal.y * 0.5 + 0.5);
    let specular_light = ground.lerp(sky, up);
    (diffuse * diffuse_light + (f0 * scale + bias) * specular_light) * f64::from(surface.occlusion)
}
