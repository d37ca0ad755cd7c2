//! Brute-force ray hits in f64, and comparison of a list of hits with them.

use super::Triangle;
use crate::data::LabHit;
use canopy_bvh::accel::{Query, Ray, layout::BVH_MISS};
use glam::{DVec3, Vec3};

/// Barycentric margin within which a hit counts as on an edge.
const EDGE: f64 = 1e-4;
/// Tolerance for the distance of a hit, relative to the distance.
const DISTANCE: f64 = 1e-4;

/// Closest hit of a ray.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Exact {
    /// Distance in units of the direction's length.
    pub t: f64,
    /// Smallest of the three barycentric weights, which is 0 on an edge.
    pub edge: f64,
}

/// Counts of the hits that differ from the hits in f64.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Mismatches {
    /// Number of compared rays.
    pub rays: u32,
    /// Number of misses where the f64 ray hits.
    pub missed: u32,
    /// Number of hits where the f64 ray misses.
    pub false_hits: u32,
    /// Number of closest hits at a different distance.
    pub elsewhere: u32,
    /// Number of misses and of farther hits where the f64 hit is on an edge. They also count as `missed` or
    /// `elsewhere`.
    pub cracks: u32,
}

impl Mismatches {
    /// Returns the total number of hits that differ.
    pub fn all(&self) -> u32 {
        self.missed + self.false_hits + self.elsewhere
    }
}

/// Returns the closest hit of a ray, from either side, strictly between its `t_min` and `t_max`. A shared
/// edge belongs to both of its triangles. The two triangles' edge functions are exactly opposite, so no ray
/// passes between them.
pub fn closest(triangles: &[Triangle], ray: &Ray) -> Option<Exact> {
    let origin = Vec3::from(ray.origin).as_dvec3();
    let direction = Vec3::from(ray.direction).as_dvec3();
    let mut nearest: Option<Exact> = None;
    for triangle in triangles {
        let [a, b, c] = triangle.map(|corner| corner.as_dvec3() - origin);
        let edge = |p: DVec3, q: DVec3| (p + q).cross(p - q).dot(direction);
        let weights = [edge(c, b), edge(a, c), edge(b, a)];
        let least = weights.into_iter().fold(f64::INFINITY, f64::min);
        let most = weights.into_iter().fold(f64::NEG_INFINITY, f64::max);
        if least < 0.0 && most > 0.0 {
            continue;
        }
        let normal = (b - a).cross(c - a);
        let approach = normal.dot(direction);
        let sum: f64 = weights.iter().sum();
        if approach == 0.0 || sum == 0.0 {
            continue;
        }
        let t = normal.dot(a) / approach;
        let is_inside = t > f64::from(ray.t_min) && t < f64::from(ray.t_max);
        if is_inside && nearest.is_none_or(|nearest| t < nearest.t) {
            let edge = weights.into_iter().map(|weight| weight / sum);
            nearest = Some(Exact {
                t,
                edge: edge.fold(f64::INFINITY, f64::min),
            });
        }
    }
    nearest
}

/// Counts the hits that differ from the `exact` ones. Distances of closest hits may differ by 1e-4 of the
/// exact distance, plus `slack`.
pub fn compare(
    hits: impl IntoIterator<Item = LabHit>,
    exact: &[Option<Exact>],
    query: Query,
    slack: f64,
) -> Mismatches {
    let mut wrong = Mismatches::default();
    for (hit, exact) in hits.into_iter().zip(exact) {
        wrong.rays += 1;
        let is_hit = hit.leaf != BVH_MISS;
        let Some(exact) = exact else {
            wrong.false_hits += u32::from(is_hit);
            continue;
        };
        let off = f64::from(hit.t) - exact.t;
        let is_far = off.abs() > DISTANCE * exact.t.abs() + slack;
        let is_elsewhere = is_hit && query == Query::ClosestHit && is_far;
        let is_past = !is_hit || (is_elsewhere && off > 0.0);
        wrong.missed += u32::from(!is_hit);
        wrong.elsewhere += u32::from(is_elsewhere);
        wrong.cracks += u32::from(is_past && exact.edge < EDGE);
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hit(t: f32) -> LabHit {
        LabHit {
            t,
            leaf: 7,
            ..LabHit::default()
        }
    }

    #[test]
    fn the_nearest_triangle_is_found_and_edges_belong_to_both_triangles() {
        let at = |z: f32| [[0.0, 0.0, z], [1.0, 0.0, z], [0.0, 1.0, z]].map(Vec3::from);
        let other = |z: f32| [[1.0, 1.0, z], [1.0, 0.0, z], [0.0, 1.0, z]].map(Vec3::from);
        let ray = |x: f32, y: f32| Ray {
            origin: [x, y, 5.0],
            direction: [0.0, 0.0, -2.0],
            t_min: 0.0,
            t_max: 10.0,
        };
        let both = [at(1.0), at(3.0), other(3.0)];
        let found = closest(&both, &ray(0.25, 0.25)).unwrap();
        assert!((found.t - 1.0).abs() < 1e-12 && (found.edge - 0.25).abs() < 1e-12);
        assert_eq!(closest(&both, &ray(0.5, 0.5)).unwrap().edge, 0.0);
        assert_eq!(closest(&both[..1], &ray(0.9, 0.9)), None);
        let behind = Ray {
            t_max: 0.9,
            ..ray(0.25, 0.25)
        };
        assert_eq!(closest(&both, &behind), None);
    }

    #[test]
    fn every_kind_of_wrong_hit_is_counted() {
        let miss = LabHit {
            leaf: BVH_MISS,
            ..hit(9.0)
        };
        let exact = |edge| Some(Exact { t: 2.0, edge });
        let one = |hit, exact, query| compare([hit], &[exact], query, 0.0);
        let (any, nearest) = (Query::AnyHit, Query::ClosestHit);
        assert_eq!(one(hit(2.0), exact(0.3), nearest).all(), 0);
        assert_eq!(one(miss, None, nearest).all(), 0);
        assert_eq!(one(hit(2.0), None, any).false_hits, 1);
        let missed = one(miss, exact(0.3), any);
        assert_eq!((missed.missed, missed.cracks, missed.rays), (1, 0, 1));
        assert_eq!(one(miss, exact(1e-6), any).cracks, 1);
        assert_eq!(one(hit(3.0), exact(0.0), nearest).cracks, 1);
        let nearer = one(hit(1.0), exact(0.0), nearest);
        assert_eq!((nearer.elsewhere, nearer.cracks), (1, 0));
        assert_eq!(one(hit(1.0), exact(0.0), any).all(), 0);
    }
}
