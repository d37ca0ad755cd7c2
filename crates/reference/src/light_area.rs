//! CPU reference of light/light_area.wgsl and shadow/light_visibility.wgsl: rays to points of a light that
//! has a size, in f64 and against every triangle.

use super::{lbvh::Triangle, sampling, shadow_start::ShadowStart};
use glam::{DVec2, DVec3, Vec2Swizzles as _};
use std::f64::consts::FRAC_PI_4;

/// Light as seen from an unoccluded surface.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LightSeen {
    /// Unit vector to the light's centre.
    pub to_light: DVec3,
    /// Distance in metres, or `None` for a directional light.
    pub distance: Option<f64>,
    /// Radius in metres, or the sine of half the angular diameter of a directional light.
    pub radius: f64,
}

impl LightSeen {
    /// Returns the sine of half the angle that the light subtends, or 1 inside the light.
    fn sine(&self) -> f64 {
        (self.radius / self.distance.unwrap_or(1.0)).min(1.0)
    }

    /// Returns the direction and length of a ray for two numbers in [0, 1), uniform over the solid angle. The
    /// length is 0 inside the light.
    pub fn ray(&self, numbers: [f64; 2]) -> (DVec3, f64) {
        let at = disc_point(numbers);
        let sine2 = self.sine().powi(2);
        let part = at.length_squared() * (1.0 - (1.0 - sine2).sqrt());
        let away2 = part * (2.0 - part);
        let n = self.to_light;
        let side = if n.z >= 0.0 { 1.0 } else { -1.0 };
        let a = -1.0 / (side + n.z);
        let b = n.x * n.y * a;
        let tangent = DVec3::new(1.0 + side * n.x * n.x * a, side * b, -side * n.x);
        let bitangent = DVec3::new(b, side + n.y * n.y * a, -n.y);
        let away = at.normalize_or_zero();
        let along = away2.sqrt() * (away.x * tangent + away.y * bitangent) + (1.0 - part) * n;
        let near = (1.0 - part - (sine2 - away2).max(0.0).sqrt()).max(0.0);
        let near = if sine2 == 1.0 { 0.0 } else { near };
        let length = self.distance.map_or(1e30, |distance| distance * near);
        (along, length)
    }

    /// Returns the visible fraction of the light, by shadow rays. `numbers` are the mask, the pixel and the
    /// dimension of the sampling sequence. `rays` are the index of the first ray and the number of rays.
    pub fn visible_share(
        &self,
        triangles: &[Triangle],
        start: &ShadowStart,
        numbers: (&[u16], [u32; 2], u32),
        rays: (u32, u32),
    ) -> f64 {
        1.0 - self.blocked(triangles, start, numbers, rays).0
    }

    /// Returns the blocked fraction of the light, by the rays of [`LightSeen::visible_share`], and the mean
    /// distance of the blockers in metres.
    pub fn blocked(
        &self,
        triangles: &[Triangle],
        start: &ShadowStart,
        (mask, pixel, dimension): (&[u16], [u32; 2], u32),
        (first, count): (u32, u32),
    ) -> (f64, f64) {
        if self.radius == 0.0 {
            let length = self.distance.unwrap_or(1e30);
            let hit = start.blocker(triangles, self.to_light, length);
            return hit.map_or((0.0, 0.0), |t| (1.0, t));
        }
        let horizon = start.horizon_normal;
        let hits = (first..first + count).filter_map(|k| {
            let [mut u, mut v] = sampling::point(mask, pixel, k, dimension);
            let mut ray = self.ray([u, v]);
            for _ in 1..8 {
                if ray.0.dot(horizon) > 0.0 {
                    break;
                }
                (u, v) = ((u + 0.754_877_67).fract(), (v + 0.569_840_29).fract());
                ray = self.ray([u, v]);
            }
            let (mut along, length) = ray;
            along -= (2.0 * along.dot(horizon)).min(0.0) * horizon;
            let hit = start.blocker(triangles, along, length);
            hit.filter(|_| length > 0.0)
        });
        let hits: Vec<f64> = hits.collect();
        let blocked = hits.len() as f64;
        let mean = hits.iter().sum::<f64>() / blocked.max(1.0);
        (blocked / f64::from(count), mean)
    }
}

/// Maps the unit square to the unit disc (Shirley and Chiu 1997, "A Low Distortion Map Between Disk and
/// Square").
pub fn disc_point([u, v]: [f64; 2]) -> DVec2 {
    let at = 2.0 * DVec2::new(u, v) - 1.0;
    if at == DVec2::ZERO {
        return at;
    }
    if at.x.abs() > at.y.abs() {
        at.x * DVec2::from_angle(FRAC_PI_4 * at.y / at.x)
    } else {
        at.y * DVec2::from_angle(FRAC_PI_4 * at.x / at.y).yx()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(distance: Option<f64>, radius: f64) -> LightSeen {
        LightSeen {
            to_light: DVec3::new(0.36, 0.48, -0.8),
            distance,
            radius,
        }
    }

    /// Returns evenly distributed numbers.
    fn numbers() -> impl Iterator<Item = [f64; 2]> {
        (0..4096).map(|k| sampling::point(&[0; 4096], [3, 5], k, 2))
    }

    #[test]
    fn rays_fill_the_solid_angle_evenly() {
        for (distance, radius) in [(None, 0.0046), (None, 0.5), (Some(2.0), 0.7), (Some(1e3), 0.1)] {
            let light = seen(distance, radius);
            let sine = radius / distance.unwrap_or(1.0);
            let least = (1.0 - sine * sine).sqrt();
            // The cosine over a uniform cap is uniformly distributed between the cosine of its edge and 1.
            let cosines = numbers().map(|n| light.ray(n).0.dot(light.to_light));
            let mean = cosines
                .inspect(|cosine| assert!(*cosine >= least - 1e-12 && *cosine <= 1.0 + 1e-12))
                .sum::<f64>()
                / 4096.0;
            let off = (mean - 0.5 * (1.0 + least)) / (1.0 - least);
            assert!(off.abs() < 1e-3, "{radius} at {distance:?}: {off}");
        }
    }

    #[test]
    fn rays_end_at_the_near_side_of_a_sphere() {
        let light = seen(Some(2.0), 0.7);
        for n in numbers() {
            let (along, length) = light.ray(n);
            let off = (length * along - 2.0 * light.to_light).length() - 0.7;
            assert!(off.abs() < 1e-9, "{off}");
            assert!(length < 2.0);
        }
        let (_, length) = seen(Some(0.6), 0.7).ray([0.3, 0.4]);
        assert_eq!(length, 0.0, "a surface within the light");
    }
}
