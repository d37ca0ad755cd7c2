//! CPU reference of path/path.wgsl in f64. It covers opaque surfaces and clear glass without textures, lit by
//! one punctual light without a size. It uses the random numbers of the shader and thus makes the same
//! decisions. Microfacets scatter light once, as with `materials.multiple_scattering` off.

use super::{
    lbvh::Triangle,
    light_area::disc_point,
    lighting::{self, Surface},
    reflections::{basis, ggx_sample},
    sampling,
    shadow_start::{ShadowStart, VisiblePoint},
    trace::closest_hit,
};
use canopy_render::layout::{
    Light, PATH_CHOICE, PATH_DIMENSIONS, PATH_DIRECTION, PATH_EYE, ROUGHNESS_MIN, SAMPLE_PATHS,
};

use glam::{DVec2, DVec3, Vec2, Vec3};
use std::f64::consts::PI;

/// Surfaces before Russian roulette starts.
const SURE_BOUNCES: u32 = 3;

/// Material of a triangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PathMaterial {
    /// Linear base colour.
    pub albedo: Vec3,
    /// Perceptual roughness.
    pub roughness: f32,
    /// Metalness.
    pub metallic: f32,
    /// Index of refraction of smooth clear glass, or `None` for an opaque material.
    pub glass: Option<f64>,
}

/// Scene for paths. All slices are indexed by triangle.
#[derive(Debug, Clone, Copy)]
pub struct PathScene<'a> {
    /// Corners of the triangles.
    pub triangles: &'a [Triangle],
    /// Normals at the corners.
    pub normals: &'a [[Vec3; 3]],
    /// Materials of the triangles.
    pub materials: &'a [PathMaterial],
    /// Triangles that block the light.
    pub opaque: &'a [Triangle],
    /// Punctual light: a point or a spot light.
    pub light: &'a Light,
}

/// Perspective view.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PathView {
    /// Position of the eye.
    pub eye: DVec3,
    /// Unit vector to the centre of the picture.
    pub forward: DVec3,
    /// Vectors from the centre to the right and upper edges, at a distance of one metre.
    pub half_extents: [DVec3; 2],
    /// Width and height in pixels.
    pub size: [u32; 2],
    /// Near distance in metres.
    pub near: f64,
}

/// Surface that a path has hit, with the probabilities of the specular lobe, the diffuse lobe and
/// transmission.
struct Interaction {
    surface: Surface,
    material: PathMaterial,
    start: ShadowStart,
    normal: DVec3,
    to_eye: DVec3,
    chances: [f64; 3],
    alpha: f64,
}

fn grazing(cosine: f64) -> f64 {
    (1.0 - cosine.clamp(0.0, 1.0)).powi(5)
}

/// Returns the Fresnel term of the dielectric.
fn dielectric(cosine: f64) -> f64 {
    0.04 + 0.96 * grazing(cosine)
}

impl Interaction {
    fn new(scene: &PathScene<'_>, triangle: usize, position: DVec3, to_eye: DVec3) -> Self {
        let material = scene.materials[triangle];
        let corners = scene.triangles[triangle];
        let [v0, v1, v2] = corners.map(Vec3::as_dvec3);
        let winding = (v1 - v0).cross(v2 - v0);
        let side = winding.dot(to_eye).signum();
        let share =
            |a: DVec3, b: DVec3| (a - position).cross(b - position).dot(winding) / winding.length_squared();
        let shares = [share(v1, v2), share(v2, v0), share(v0, v1)];
        let normals = scene.normals[triangle].map(Vec3::as_dvec3);
        let mean: DVec3 = (0..3).map(|i| shares[i] * normals[i]).sum();
        let normal = side * mean.normalize();
        let seen = VisiblePoint {
            position: position.as_vec3(),
            normal: normal.as_vec3(),
            triangle: corners,
            corner_normals: scene.normals[triangle],
            to_eye: to_eye.as_vec3(),
        };
        let start = seen.start();
        let metallic = f64::from(material.metallic);
        let through = if material.glass.is_some() { 1.0 } else { 0.0 };
        let cosine = normal.dot(to_eye).abs();
        let albedo = material.albedo.as_dvec3();
        let metal = (albedo + (1.0 - albedo) * grazing(cosine)).max_element();
        let below = (1.0 - metallic) * (1.0 - dielectric(cosine)) * albedo.max_element();
        let specular = dielectric(cosine) + metallic * (metal - dielectric(cosine));
        let weights = [specular.max(0.02), below * (1.0 - through), below * through];
        let sum: f64 = weights.iter().sum();
        Self {
            surface: Surface {
                position: position.as_vec3(),
                normal: normal.as_vec3(),
                smooth_normal: start.smooth_normal.as_vec3(),
                // Glass has no diffuse reflection, and a dielectric's highlight has no colour.
                albedo: material.albedo * (1.0 - through as f32),
                occlusion: 1.0,
                emissive: Vec3::ZERO,
                roughness: material.roughness,
                metallic: material.metallic,
            },
            material,
            start,
            normal,
            to_eye,
            chances: weights.map(|weight| weight / sum),
            alpha: f64::from(material.roughness).max(ROUGHNESS_MIN).powi(2),
        }
    }

    /// Evaluates glTF's BRDF × cosine.
    fn evaluate(&self, to_light: DVec3) -> DVec3 {
        let cosine = self.normal.dot(to_light);
        if cosine <= 0.0 {
            return DVec3::ZERO;
        }
        lighting::brdf(&self.surface, self.to_eye, to_light, None) * cosine
    }

    /// Transforms a vector to the basis around the normal.
    fn local(&self, v: DVec3) -> DVec3 {
        let (tangent, bitangent) = basis(self.normal);
        DVec3::new(v.dot(tangent), v.dot(bitangent), v.dot(self.normal))
    }

    fn world(&self, v: DVec3) -> DVec3 {
        let (tangent, bitangent) = basis(self.normal);
        (v.x * tangent + v.y * bitangent + v.z * self.normal).normalize()
    }

    fn local_eye(&self) -> DVec3 {
        let v = self.local(self.to_eye);
        DVec3::new(v.x, v.y, v.z.abs().max(1e-4)).normalize()
    }

    /// Samples a direction from the reflection lobes, and returns its density.
    fn reflect(&self, u: [f64; 2], choice: f64) -> (DVec3, f64) {
        let eye = self.local_eye();
        let local = if choice < self.chances[0] {
            ggx_sample(eye, self.alpha, u).0
        } else {
            let at: DVec2 = disc_point(u);
            at.extend((1.0 - at.length_squared()).max(0.0).sqrt())
        };
        let direction = self.world(local);
        let local = self.local(direction);
        let specular = self.chances[0] * ggx_density(eye, local, self.alpha);
        (direction, specular + self.chances[1] * local.z.max(0.0) / PI)
    }

    /// Samples a direction for smooth glass. Returns it with its weight, and true if the path passes through
    /// the surface.
    fn through(&self, ior: f64, is_inside: bool, choice: f64) -> (DVec3, f64, bool) {
        let eye = self.local_eye();
        let cosine = eye.z.clamp(0.0, 1.0);
        let eta = if is_inside { ior } else { 1.0 / ior };
        let squared = 1.0 - eta * eta * (1.0 - cosine * cosine);
        let across = squared.max(0.0).sqrt();
        let is_total = squared <= 0.0;
        let outside = if is_inside { across } else { cosine };
        let fresnel = if is_total { 1.0 } else { dielectric(outside) };
        let reflects = is_inside && choice < fresnel;
        let local = match reflects {
            true => DVec3::new(-eye.x, -eye.y, eye.z),
            false => (eta * cosine - across) * DVec3::Z - eta * eye,
        };
        let albedo = f64::from(self.material.albedo.x);
        let weight = match (is_inside, reflects) {
            (true, true) => 1.0,
            (true, false) => albedo,
            (false, _) if is_total => 0.0,
            (false, _) => albedo * (1.0 - fresnel) / self.chances[2].max(1e-20),
        };
        let above = if reflects { local.z } else { -local.z };
        let weight = if above > 0.0 { weight } else { 0.0 };
        (self.world(local), weight, !reflects)
    }

    /// Returns the reflected radiance of the light, or black if the light is blocked.
    fn lamp(&self, scene: &PathScene<'_>) -> DVec3 {
        let (to_light, irradiance) = lighting::incident(scene.light, self.surface.position);
        let kept = lighting::terminator(&self.surface, to_light);
        let light = self.evaluate(to_light) * irradiance * kept;
        let is_above = self.start.horizon_normal.dot(to_light) > 0.0;
        if !is_above || self.normal.dot(to_light) <= 0.0 || light == DVec3::ZERO {
            return DVec3::ZERO;
        }
        let lamp = Vec3::from(scene.light.position);
        let distance = f64::from(lamp.distance(self.surface.position));
        match self.start.is_blocked(scene.opaque, to_light, distance) {
            true => DVec3::ZERO,
            false => light,
        }
    }
}

/// Returns the density of `ggx_sample` for an isotropic lobe.
fn ggx_density(to_eye: DVec3, direction: DVec3, alpha: f64) -> f64 {
    if direction.z <= 0.0 {
        return 0.0;
    }
    let h = (to_eye + direction).normalize();
    let squares = h.truncate().length_squared() / (alpha * alpha) + h.z * h.z;
    let distribution = 1.0 / (PI * alpha * alpha * squares * squares);
    let s = 1.0 + to_eye.truncate().length();
    let (a2, s2) = (alpha * alpha, s * s);
    let k = (1.0 - a2) * s2 / (s2 + a2 * to_eye.z * to_eye.z);
    let reach = DVec3::new(alpha * to_eye.x, alpha * to_eye.y, to_eye.z).length();
    distribution / (2.0 * (k * to_eye.z + reach))
}

/// Returns the radiance of path `index` of a pixel after at most `bounces` scattering events, with a black
/// environment.
pub fn radiance(
    scene: &PathScene<'_>,
    view: &PathView,
    (mask, pixel): (&[u16], [u32; 2]),
    (index, bounces): (u32, u32),
) -> DVec3 {
    let numbers = |bounce: u32, which: u32| {
        sampling::point(
            mask,
            pixel,
            index,
            SAMPLE_PATHS + PATH_DIMENSIONS * bounce + which,
        )
    };
    let [u, v] = numbers(0, PATH_EYE);
    let at = Vec2::new(pixel[0] as f32, pixel[1] as f32).as_dvec2() + DVec2::new(u, v);
    let size = DVec2::new(view.size[0].into(), view.size[1].into());
    let ndc = at / size * DVec2::new(2.0, -2.0) + DVec2::new(-1.0, 1.0);
    let [right, up] = view.half_extents;
    let mut direction = (view.forward + ndc.x * right + ndc.y * up).normalize();
    let mut origin = view.eye + view.near / direction.dot(view.forward) * direction;
    let (mut radiance, mut carried) = (DVec3::ZERO, DVec3::ONE);
    for bounce in 0..bounces {
        let along = direction.as_vec3();
        let hit = closest_hit(scene.triangles, origin.as_vec3(), along, 0.0, 1e30);
        let Some((triangle, t)) = hit else { break };
        let met = Interaction::new(scene, triangle, origin + t * direction, -direction);
        let [v0, v1, v2] = scene.triangles[triangle];
        let is_back = (v1 - v0).cross(v2 - v0).dot(along) > 0.0;
        let choices = numbers(bounce, PATH_CHOICE);
        let u = numbers(bounce, PATH_DIRECTION);
        let is_inside = is_back && met.material.glass.is_some();
        if !is_inside {
            radiance += carried * met.lamp(scene);
        }
        let through_from = 1.0 - met.chances[2];
        let start = &met.start;
        match met.material.glass {
            Some(ior) if is_inside || choices[0] >= through_from => {
                let choice = match is_inside {
                    true => choices[0],
                    false => (choices[0] - through_from) / met.chances[2],
                };
                let (along, weight, enters) = met.through(ior, is_inside, choice);
                let outward = if enters { -1.0 } else { 1.0 } * start.geometric_normal;
                carried *= if along.dot(outward) > 0.0 { weight } else { 0.0 };
                origin = match enters {
                    true => 2.0 * start.position - start.origin,
                    false => start.origin,
                };
                direction = along;
            }
            _ => {
                let (along, density) = met.reflect(u, choices[0]);
                let is_above = along.dot(start.geometric_normal) > 0.0 && density > 0.0;
                carried *= match is_above {
                    true => met.evaluate(along) / density,
                    false => DVec3::ZERO,
                };
                origin = start.origin;
                direction = along;
            }
        }
        if bounce >= SURE_BOUNCES {
            let goes_on = carried.max_element().min(1.0);
            carried *= if choices[1] < goes_on { 1.0 / goes_on } else { 0.0 };
        }
        if carried == DVec3::ZERO {
            break;
        }
    }
    radiance
}
