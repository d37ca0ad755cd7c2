//! CPU reference of `lighting`, in f64, with glTF 2.0's metallic-roughness BRDF (appendix B), the lights of
//! KHR_lights_punctual and environment lighting.

use canopy_render::layout::{Light, ROUGHNESS_MIN};

use glam::{DVec3, Vec3};
use std::f64::consts::PI;

/// Surface in the G-buffer.
#[derive(Debug, Clone, Copy)]
pub struct Surface {
    /// World position in metres.
    pub position: Vec3,
    /// Unit shading normal.
    pub normal: Vec3,
    /// Unit interpolated normal, without the normal map.
    pub smooth_normal: Vec3,
    /// Linear base colour.
    pub albedo: Vec3,
    /// Ambient visibility from the material's occlusion texture.
    pub occlusion: f32,
    /// Emitted radiance.
    pub emissive: Vec3,
    /// Perceptual roughness.
    pub roughness: f32,
    /// Metalness, where 0 is dielectric and 1 is metal.
    pub metallic: f32,
}

/// Environment lighting, as functions of unit vectors.
#[expect(missing_debug_implementations, reason = "functions have nothing to show")]
pub struct EnvironmentLight<'a> {
    /// Irradiance divided by π for a surface with this normal.
    pub diffuse: &'a dyn Fn(DVec3) -> DVec3,
    /// Prefiltered radiance from a direction, for a perceptual roughness.
    pub mirrored: &'a dyn Fn(DVec3, f64) -> DVec3,
    /// Split sum (x, y) for n · v and perceptual roughness. A single bounce reflects f0 · x + f90 · y.
    pub split: &'a dyn Fn(f64, f64) -> [f64; 2],
    /// True for multiple scattering by microfacets (Turquin 2019). Otherwise the BRDF is glTF's.
    pub multiple_scattering: bool,
}

/// Returns the outgoing radiance along the unit vector `to_eye`, without shadows.
pub fn lighting(
    surface: &Surface,
    to_eye: Vec3,
    lights: &[Light],
    environment: &EnvironmentLight<'_>,
) -> DVec3 {
    let to_eye = to_eye.as_dvec3();
    let normal = surface.normal.as_dvec3();
    let mut radiance = surface.emissive.as_dvec3() + ambient(surface, to_eye, environment);
    for light in lights {
        let (to_light, irradiance) = incident(light, surface.position);
        let n_dot_l = normal.dot(to_light);
        if n_dot_l > 0.0 {
            let kept = terminator(surface, to_light);
            let split = environment.multiple_scattering.then(|| {
                let n_dot_v = normal.dot(to_eye).abs().min(1.0);
                (environment.split)(n_dot_v, f64::from(surface.roughness).max(ROUGHNESS_MIN))
            });
            let brdf = brdf(surface, to_eye, to_light, split);
            radiance += brdf * n_dot_l * kept * irradiance;
        }
    }
    radiance
}

/// Returns the unit vector to the light, and the irradiance of a surface that faces it (KHR_lights_punctual,
/// "Range Property" and "Spot").
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

/// Returns the factor on a light near the horizon of the interpolated normal (Chiang, Li and Burley 2019,
/// "Taming the Shadow Terminator").
pub fn terminator(surface: &Surface, to_light: DVec3) -> f64 {
    let [smooth, normal] = [surface.smooth_normal, surface.normal].map(Vec3::as_dvec3);
    let turned = normal.dot(to_light) * smooth.dot(normal);
    let g = (smooth.dot(to_light) / turned.max(1e-6)).clamp(0.0, 1.0);
    g + g * g - g * g * g
}

/// Returns the factor of multiple scattering on a lobe of reflectance `f0` (Turquin 2019, equation 16).
fn gain(f0: DVec3, [scale, bias]: [f64; 2]) -> DVec3 {
    DVec3::ONE + f0 * (1.0 / (scale + bias) - 1.0)
}

/// Returns the BRDF for unit vectors to the eye and to the light. `split` is the split sum towards the eye
/// for multiple scattering. Without it, the BRDF is glTF's.
pub fn brdf(surface: &Surface, to_eye: DVec3, to_light: DVec3, split: Option<[f64; 2]>) -> DVec3 {
    let normal = surface.normal.as_dvec3();
    let half_vector = (to_eye + to_light).normalize();
    let n_dot_l = normal.dot(to_light);
    let n_dot_v = normal.dot(to_eye).abs() + 1e-5;
    let n_dot_h = normal.dot(half_vector).clamp(0.0, 1.0);
    let v_dot_h = to_eye.dot(half_vector).clamp(0.0, 1.0);
    let alpha2 = f64::from(surface.roughness.max(ROUGHNESS_MIN as f32)).powi(4);
    let distribution = alpha2 / (PI * (n_dot_h * n_dot_h * (alpha2 - 1.0) + 1.0).powi(2));
    let smith = |a: f64, b: f64| a * (b * b * (1.0 - alpha2) + alpha2).sqrt();
    let lobe = distribution * 0.5 / (smith(n_dot_l, n_dot_v) + smith(n_dot_v, n_dot_l));
    let fresnel = |f0: DVec3| f0 + (DVec3::ONE - f0) * (1.0 - v_dot_h).powi(5);
    let gain = |f0: DVec3| split.map_or(DVec3::ONE, |split| gain(f0, split));
    let (albedo, metallic) = (surface.albedo.as_dvec3(), f64::from(surface.metallic));
    let f0 = DVec3::splat(0.04);
    let reflected = split.map_or(fresnel(f0), |split| specular(f0, split));
    let dielectric = (DVec3::ONE - reflected) * albedo / PI + fresnel(f0) * gain(f0) * lobe;
    let metal = fresnel(albedo) * gain(albedo) * lobe;
    dielectric.lerp(metal, metallic)
}

/// Returns the directional albedo of a lobe of reflectance `f0`, with multiple scattering.
fn specular(f0: DVec3, split: [f64; 2]) -> DVec3 {
    (f0 * split[0] + split[1]) * gain(f0, split)
}

/// Returns the outgoing radiance of environment lighting towards the eye.
pub fn ambient(surface: &Surface, to_eye: DVec3, environment: &EnvironmentLight<'_>) -> DVec3 {
    let normal = surface.normal.as_dvec3();
    let (albedo, metallic) = (surface.albedo.as_dvec3(), f64::from(surface.metallic));
    let roughness = f64::from(surface.roughness).max(ROUGHNESS_MIN);
    let split = (environment.split)(normal.dot(to_eye).abs().min(1.0), roughness);
    let specular = |f0: DVec3| match environment.multiple_scattering {
        true => specular(f0, split),
        false => f0 * split[0] + split[1],
    };
    let mirror = 2.0 * normal.dot(to_eye) * normal - to_eye;
    let mirrored = (environment.mirrored)(mirror, roughness);
    let diffuse = (environment.diffuse)(normal);
    let once = specular(DVec3::splat(0.04));
    let dielectric = once * mirrored + (DVec3::ONE - once) * albedo * diffuse;
    let metal = specular(albedo) * mirrored;
    dielectric.lerp(metal, metallic) * f64::from(surface.occlusion)
}
