//! CPU reference of `occlusion_rays`, with the same rays against every triangle in f64. The reference of the
//! filter is [`super::signal`].

use super::{
    lbvh::Triangle,
    sampling,
    shadow_start::{ShadowStart, VisiblePoint},
    signal::Signal,
    trace::closest_hit,
};
use canopy_render::layout::SAMPLE_OCCLUSION;

use glam::{DVec3, Vec3};

/// Returns a cosine-distributed direction around a unit vector, for two numbers in [0, 1) (basis: Duff et al.
/// 2017).
pub fn direction(normal: Vec3, [u, v]: [f64; 2]) -> DVec3 {
    let n = normal.as_dvec3();
    let side = if n.z >= 0.0 { 1.0 } else { -1.0 };
    let a = -1.0 / (side + n.z);
    let b = n.x * n.y * a;
    let tangent = DVec3::new(1.0 + side * n.x * n.x * a, side * b, -side * n.x);
    let bitangent = DVec3::new(b, side + n.y * n.y * a, -n.y);
    let (sin, cos) = (std::f64::consts::TAU * u).sin_cos();
    v.sqrt() * (cos * tangent + sin * bitangent) + (1.0 - v).sqrt() * n
}

/// Returns the origin of rays, moved towards the triangle's centre so that rounding does not leave it
/// outside.
fn start(seen: &VisiblePoint) -> ShadowStart {
    let mut start = seen.start();
    let [v0, v1, v2] = seen.triangle.map(Vec3::as_dvec3);
    let longest = (v1 - v0).length().max((v2 - v1).length()).max((v0 - v2).length());
    let height = (v1 - v0).cross(v2 - v0).length() / longest;
    let step = start.origin.distance(start.position);
    start.origin += (12.0 * step / height).min(1.0) * ((v0 + v1 + v2) / 3.0 - start.position);
    start
}

/// Occlusion of environment lighting.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Occlusion {
    /// Fraction of the rays that are blocked, in [0, 1].
    pub share: f64,
    /// Mean over all rays of the blocked directions, where unblocked rays count as zero. It is shorter than
    /// 1.
    pub direction: DVec3,
}

impl Signal for Occlusion {
    fn add(&mut self, weight: f64, other: Self) {
        self.share += weight * other.share;
        self.direction += weight * other.direction;
    }
}

impl Occlusion {
    /// Returns the bent normal (a unit vector) and ambient visibility.
    pub fn visibility(self, normal: Vec3) -> (DVec3, f64) {
        let normal = normal.as_dvec3();
        let rest = normal * 2.0 / 3.0 - self.direction;
        let bent = rest.dot(normal) > 1e-3;
        (if bent { rest.normalize() } else { normal }, 1.0 - self.share)
    }
}

/// Hit of a ray.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// Index of the triangle.
    pub triangle: usize,
    /// Position of the hit.
    pub position: DVec3,
}

/// Returns the direction of ray `k` of a pixel. Directions below the horizon are mirrored.
fn along(seen: &VisiblePoint, horizon: DVec3, (mask, pixel): (&[u16], [u32; 2]), k: u32) -> DVec3 {
    let numbers = sampling::point(mask, pixel, k, SAMPLE_OCCLUSION);
    let along = direction(seen.normal, numbers);
    along - (2.0 * along.dot(horizon)).min(0.0) * horizon
}

/// Returns the closest hit of ray `k` of a pixel within `reach` metres, and the ray's direction. All rays
/// start on the triangle, even where shadow rays start on the smooth surface.
pub fn first_hit(
    triangles: &[Triangle],
    seen: &VisiblePoint,
    random: (&[u16], [u32; 2]),
    k: u32,
    reach: f64,
) -> Option<(Hit, DVec3)> {
    let start = start(seen);
    let along = along(seen, start.horizon_normal, random, k);
    let (origin, direction) = (start.origin.as_vec3(), along.as_vec3());
    let (triangle, t) = closest_hit(triangles, origin, direction, 0.0, reach)?;
    let position = start.origin + t * along;
    Some((Hit { triangle, position }, along))
}

/// Returns the occlusion by rays `first..first + count` of a pixel within `reach` metres.
pub fn rays(
    triangles: &[Triangle],
    seen: &VisiblePoint,
    random: (&[u16], [u32; 2]),
    (first, count): (u32, u32),
    reach: f64,
) -> Occlusion {
    let start = start(seen);
    let mut blocked = Occlusion::default();
    for k in first..first + count {
        let along = along(seen, start.horizon_normal, random, k);
        if start.is_blocked(triangles, along, reach) {
            let share = 1.0;
            let direction = along;
            blocked.add(1.0 / f64::from(count), Occlusion { share, direction });
        }
    }
    blocked
}

/// Unpacks a word of the result into bent normal (a unit vector) and ambient visibility.
pub fn unpack_visibility(word: u32) -> (Vec3, f32) {
    let level = |shift: u32| (word >> shift & 2047) as f32 / 1023.0 - 1.0;
    let (x, y) = (level(0), level(11));
    let z = 1.0 - x.abs() - y.abs();
    let fold = |a: f32, b: f32| {
        if z >= 0.0 { a } else { (1.0 - b.abs()).copysign(a) }
    };
    let direction = Vec3::new(fold(x, y), fold(y, x), z).normalize();
    (direction, (word >> 22) as f32 / 1023.0)
}

/// Returns the fraction of diffuse environment light that arrives, directly or by interreflection between
/// surfaces of this albedo.
pub fn bounced(visibility: f64, albedo: f64) -> f64 {
    let a = 2.0404 * albedo - 0.3324;
    let b = -4.7951 * albedo + 0.6417;
    let c = 2.7552 * albedo + 0.6903;
    let cubic = ((visibility * a + b) * visibility + c) * visibility;
    visibility.max(cubic).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each of 4^n equal cells of the square contains one of the first 4^n points of a pixel.
    #[test]
    fn directions_are_unit_vectors_with_a_cosine_distribution() {
        for normal in [Vec3::Y, Vec3::Z, Vec3::NEG_Z, Vec3::new(0.36, -0.48, -0.8)] {
            let all = (0..4096).map(|k| direction(normal, sampling::point(&[0; 4096], [3, 5], k, 0)));
            let sum: DVec3 = all
                .inspect(|d| {
                    assert!((d.length() - 1.0).abs() < 1e-6 && d.dot(normal.as_dvec3()) >= 0.0);
                })
                .sum();
            let mean = normal.as_dvec3() * 2.0 / 3.0;
            assert!((sum / 4096.0 - mean).length() < 1e-3, "{normal}");
        }
    }

    #[test]
    fn packed_visibility_is_unpacked() {
        assert_eq!(unpack_visibility(1023 << 22 | 1023 | 2046 << 11), (Vec3::Y, 1.0));
        assert_eq!(unpack_visibility(1023 | 1023 << 11), (Vec3::Z, 0.0));
        let (direction, share) = unpack_visibility(512 << 22);
        assert!((direction - Vec3::new(0.0, 0.0, -1.0)).length() < 1e-6);
        assert!((share - 0.5).abs() < 1e-3);
    }
}
