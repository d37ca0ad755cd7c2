//! Twin of `bounced_light`: the light of all lights that bounces once off what rays of ambient occlusion hit, in f64.
//! The GPU chooses one light; this adds them all.

use super::{lbvh::Triangle, lighting, occlusion, shadow_start::Seen};
use canopy_render::layout::Light;

use glam::{DVec3, Vec3};
use std::f64::consts::PI;

/// The triangles that light bounces off, as the merged buffers have them.
#[derive(Debug, Clone, Copy)]
pub struct Surroundings<'a> {
    /// Corners of each triangle.
    pub triangles: &'a [Triangle],
    /// Normals at its corners.
    pub corner_normals: &'a [[Vec3; 3]],
    /// The share of light that it scatters.
    pub scattered: &'a [DVec3],
    /// The lights, without size.
    pub lights: &'a [Light],
}

impl Surroundings<'_> {
    /// Radiance that comes to `seen` from what its occlusion ray `k` hits within `reach` metres; black where that is
    /// nothing.
    pub fn along(&self, seen: &Seen, random: (&[u16], [u32; 2]), k: u32, reach: f64) -> DVec3 {
        let Some((hit, along)) = occlusion::first_hit(self.triangles, seen, random, k, reach) else {
            return DVec3::ZERO;
        };
        let start = Seen {
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
