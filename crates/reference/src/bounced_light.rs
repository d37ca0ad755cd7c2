//! CPU reference of `bounced_light`, in f64: light that bounces once off the hits of ambient-occlusion rays.
//! The GPU samples one light, and this sums all of them.

use super::{lbvh::Triangle, lighting, occlusion, shadow_start::VisiblePoint};
use canopy_render::layout::Light;

use glam::{DVec3, Vec3};
use std::f64::consts::PI;

/// Triangles that light bounces off, in the order of the merged buffers.
#[derive(Debug, Clone, Copy)]
pub struct Surroundings<'a> {
    /// Corners of each triangle.
    pub triangles: &'a [Triangle],
    /// Normals at the corners of each triangle.
    pub corner_normals: &'a [[Vec3; 3]],
    /// Diffuse albedo of each triangle.
    pub scattered: &'a [DVec3],
    /// Lights without a size.
    pub lights: &'a [Light],
}

impl Surroundings<'_> {
    /// Returns the radiance towards `seen` from the hit of its occlusion ray `k` within `reach` metres, or
    /// black without a hit.
    pub fn along(&self, seen: &VisiblePoint, random: (&[u16], [u32; 2]), k: u32, reach: f64) -> DVec3 {
        let Some((hit, along)) = occlusion::first_hit(self.triangles, seen, random, k, reach) else {
            return DVec3::ZERO;
        };
        let start = VisiblePoint {
            position: hit.position.as_vec3(),
            normal: Vec3::ZERO,
            triangle: self.triangles[hit.triangle],
            corner_normals: self.corner_normals[hit.triangle],
            to_eye: -along.as_vec3(),
        }
        .start();
        let arriving = |light: &Light| {
            let (to_light, irradiance) = lighting::incident(light, start.position.as_vec3());
            let distance = match light.kind {
                0 => 1e30,
                _ => DVec3::from(light.position.map(f64::from)).distance(start.position),
            };
            let cosine = start.smooth_normal.dot(to_light);
            let is_lit = cosine > 0.0
                && start.horizon_normal.dot(to_light) > 0.0
                && !start.is_blocked(self.triangles, to_light, distance);
            if is_lit { cosine * irradiance } else { DVec3::ZERO }
        };
        let sum: DVec3 = self.lights.iter().map(arriving).sum();
        self.scattered[hit.triangle] * sum / PI
    }
}
