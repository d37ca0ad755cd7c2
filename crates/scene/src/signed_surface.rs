//! Signed distances to a triangle surface, in f64. The sign comes from the angle-weighted pseudonormal at the
//! nearest point (Bærentzen and Aanæs 2005, "Signed Distance Computation Using the Angle Weighted
//! Pseudonormal"). It distinguishes inside from outside for a single closed shell that neither touches nor
//! crosses itself. For open surfaces, it only specifies the side of the nearest point.
//!
//! The nearest triangle is an input, for example from a BVH query in f32.

use glam::{DVec3, Vec3};
use std::collections::HashMap;

/// Barycentric weight below which a neighbouring triangle may be nearer, because the nearest triangle was
/// found in f32.
const NEAR_EDGE: f64 = 1e-3;

/// Triangles with the pseudonormals that tell their sides apart. Corners with equal positions are merged,
/// even across meshes.
#[derive(Debug)]
pub struct SignedSurface {
    corners: Vec<DVec3>,
    triangles: Vec<[u32; 3]>,
    normals: Vec<DVec3>,
    /// Pseudonormals of each triangle's edges, from a corner to the next.
    edge_normals: Vec<[DVec3; 3]>,
    /// Pseudonormals of the corners.
    corner_normals: Vec<DVec3>,
    /// Triangles around each corner: `around[around_first[c]..around_first[c + 1]]`.
    around_first: Vec<u32>,
    around: Vec<u32>,
    open_edges: usize,
}

/// Nearest point of a surface to a query point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SignedNearest {
    /// Position of the nearest point.
    pub position: DVec3,
    /// Distance in metres to the query point, negative inside or behind the surface.
    pub distance: f64,
    /// Index of the triangle that contains the point.
    pub triangle: u32,
}

/// Nearest feature of a triangle.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Feature {
    Face,
    /// Edge from this corner to the next.
    Edge(usize),
    Corner(usize),
}

impl SignedSurface {
    /// Creates the surface of `triangles`, which are indices into `positions`. Triangles with a corner that
    /// is not finite are ignored.
    pub fn new(positions: &[Vec3], triangles: &[[u32; 3]]) -> Self {
        let (corners, triangles) = welded(positions, triangles);
        let at = |corner: u32| corners[corner as usize];
        let normal = |t: &[u32; 3]| {
            let [a, b, c] = t.map(at);
            let normal = (b - a).cross(c - a).normalize_or_zero();
            if normal.is_finite() { normal } else { DVec3::ZERO }
        };
        let normals: Vec<DVec3> = triangles.iter().map(normal).collect();
        let mut corner_normals = vec![DVec3::ZERO; corners.len()];
        // Keyed by the corners in ascending order: the sum of normals, and how often the edge occurs in each
        // direction.
        let mut edges: HashMap<[u32; 2], (DVec3, [u32; 2])> = HashMap::new();
        for (triangle, normal) in triangles.iter().zip(&normals) {
            if *normal == DVec3::ZERO {
                continue;
            }
            for i in 0..3 {
                let [from, to, last] = [0, 1, 2].map(|k| triangle[(i + k) % 3]);
                let angle = (at(to) - at(from)).angle_between(at(last) - at(from));
                corner_normals[from as usize] += angle * *normal;
                let (sum, passes) = edges.entry(ascending(from, to)).or_default();
                *sum += *normal;
                passes[usize::from(from > to)] += 1;
            }
        }
        let of_edges = |triangle: &[u32; 3]| {
            [0, 1, 2].map(|i| {
                let edge = edges.get(&ascending(triangle[i], triangle[(i + 1) % 3]));
                edge.map_or(DVec3::ZERO, |(sum, _)| *sum)
            })
        };
        let edge_normals = triangles.iter().map(of_edges).collect();
        let open_edges = edges.values().filter(|(_, [up, down])| up != down);
        let open_edges = open_edges.count();
        let (around_first, around) = around(corners.len(), &triangles);
        Self {
            corners,
            triangles,
            normals,
            edge_normals,
            corner_normals,
            around_first,
            around,
            open_edges,
        }
    }

    /// Returns the number of edges that are not shared by two triangles in opposite directions. If there are
    /// any, the surface is not closed, and signs are relative to the nearest side.
    pub fn open_edges(&self) -> usize {
        self.open_edges
    }

    /// Returns the diagonal of the bounding box of the triangles.
    pub fn size(&self) -> f64 {
        let used = self.triangles.as_flattened().iter();
        let used = used.map(|c| self.corners[*c as usize]).filter(|c| c.is_finite());
        let (low, high) = used.fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), c| {
            (low.min(c), high.max(c))
        });
        if low.x <= high.x {
            (high - low).length()
        } else {
            0.0
        }
    }

    /// Returns the nearest point of the surface to `point`. `triangle` is the nearest triangle up to f32
    /// rounding. Its neighbours are tested too if one of them may be nearer.
    pub fn nearest(&self, point: Vec3, triangle: u32) -> SignedNearest {
        let point = point.as_dvec3();
        let mut best = (triangle, self.on_triangle(triangle, point));
        if best.1.least_weight < NEAR_EDGE {
            for corner in self.triangles[triangle as usize] {
                let range = [corner, corner + 1].map(|c| self.around_first[c as usize] as usize);
                for other in &self.around[range[0]..range[1]] {
                    let near = self.on_triangle(*other, point);
                    if near.squared < best.1.squared {
                        best = (*other, near);
                    }
                }
            }
        }
        let (triangle, near) = best;
        let side = match near.feature {
            Feature::Face => self.normals[triangle as usize],
            Feature::Edge(edge) => self.edge_normals[triangle as usize][edge],
            Feature::Corner(corner) => {
                self.corner_normals[self.triangles[triangle as usize][corner] as usize]
            }
        };
        let is_inside = side.dot(point - near.position) < 0.0;
        let distance = near.squared.sqrt();
        SignedNearest {
            position: near.position,
            distance: if is_inside { -distance } else { distance },
            triangle,
        }
    }

    /// Returns the nearest point of a triangle to `p`. Edges are tested separately from the inside, so that
    /// slivers are handled.
    fn on_triangle(&self, triangle: u32, p: DVec3) -> Near {
        let at = self.triangles[triangle as usize].map(|corner| self.corners[corner as usize]);
        let [a, b, c] = at;
        let normal = (b - a).cross(c - a);
        // Barycentric coordinates: twice the areas opposite to the corners, relative to twice the area of the
        // triangle.
        let part = |from: DVec3, to: DVec3| (to - from).cross(p - from).dot(normal);
        let weights = [part(b, c), part(c, a), part(a, b)].map(|w| w / normal.length_squared());
        if weights.iter().all(|w| *w > 0.0) {
            let position = weights[0] * a + weights[1] * b + weights[2] * c;
            return Near {
                position,
                squared: position.distance_squared(p),
                feature: Feature::Face,
                least_weight: weights.into_iter().fold(1.0, f64::min),
            };
        }
        let on_edge = |edge: usize| {
            let (from, to) = (at[edge], at[(edge + 1) % 3]);
            let along = (p - from).dot(to - from) / (to - from).length_squared();
            // For an edge of length zero, which is a point, the quotient is NaN.
            let (position, feature) = if along >= 1.0 {
                (to, Feature::Corner((edge + 1) % 3))
            } else if along > 0.0 {
                (from + along * (to - from), Feature::Edge(edge))
            } else {
                (from, Feature::Corner(edge))
            };
            Near {
                position,
                squared: position.distance_squared(p),
                feature,
                least_weight: 0.0,
            }
        };
        let nearer = |a: Near, b: Near| if b.squared < a.squared { b } else { a };
        nearer(nearer(on_edge(0), on_edge(1)), on_edge(2))
    }
}

/// Nearest point of a triangle.
#[derive(Debug, Clone, Copy)]
struct Near {
    position: DVec3,
    /// Squared distance.
    squared: f64,
    feature: Feature,
    /// Smallest barycentric weight.
    least_weight: f64,
}

fn ascending(a: u32, b: u32) -> [u32; 2] {
    [a.min(b), a.max(b)]
}

/// Merges equal positions, and returns them with the triangles over them.
fn welded(positions: &[Vec3], triangles: &[[u32; 3]]) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let mut numbers = HashMap::new();
    let mut corners = Vec::new();
    let number_of = |position: &Vec3| {
        // Maps −0 to +0, because they are equal.
        let key = position.to_array().map(|x| (x + 0.0).to_bits());
        *numbers.entry(key).or_insert_with(|| {
            corners.push(position.as_dvec3());
            corners.len() as u32 - 1
        })
    };
    let welded: Vec<u32> = positions.iter().map(number_of).collect();
    let triangles = triangles.iter().map(|t| t.map(|vertex| welded[vertex as usize]));
    let triangles = triangles.collect();
    (corners, triangles)
}

/// Returns the offsets and the concatenated lists of the triangles around each corner.
fn around(corners: usize, triangles: &[[u32; 3]]) -> (Vec<u32>, Vec<u32>) {
    let mut first = vec![0; corners + 1];
    for corner in triangles.as_flattened() {
        first[*corner as usize + 1] += 1;
    }
    for corner in 0..corners {
        first[corner + 1] += first[corner];
    }
    let mut next = first.clone();
    let mut around = vec![0; 3 * triangles.len()];
    for (triangle, number) in triangles.iter().zip(0..) {
        for corner in triangle {
            let slot = &mut next[*corner as usize];
            around[*slot as usize] = number;
            *slot += 1;
        }
    }
    (first, around)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Finds the nearest triangle by brute force in f32, like a BVH query does.
    fn nearest_in_f32(surface: &SignedSurface, point: Vec3) -> u32 {
        let distance = |triangle: u32| {
            let squared = surface.on_triangle(triangle, point.as_dvec3()).squared;
            (squared as f32, triangle)
        };
        let all = (0..surface.triangles.len() as u32).map(distance);
        // The last of equally near triangles, as a harder case for the correction.
        all.reduce(|a, b| if b.0 <= a.0 { b } else { a }).unwrap().1
    }

    /// True if `point` is inside, by the solid angles of the triangles (van Oosterom and Strackee 1983).
    fn winds_around(surface: &SignedSurface, point: Vec3) -> bool {
        let angle = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|i| surface.corners[i as usize] - point.as_dvec3());
            let [la, lb, lc] = [a, b, c].map(DVec3::length);
            let divisor = la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb;
            2.0 * a.dot(b.cross(c)).atan2(divisor)
        };
        let sum: f64 = surface.triangles.iter().map(angle).sum();
        sum > std::f64::consts::TAU
    }

    fn cube() -> (Vec<Vec3>, Vec<[u32; 3]>) {
        let corner = |i: u32| Vec3::new((i & 1) as f32, (i >> 1 & 1) as f32, (i >> 2) as f32);
        let quads = [
            [0, 2, 3, 1],
            [4, 5, 7, 6],
            [0, 1, 5, 4],
            [2, 6, 7, 3],
            [0, 4, 6, 2],
            [1, 3, 7, 5],
        ];
        let triangles = quads.iter().flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]]);
        ((0..8).map(corner).collect(), triangles.collect())
    }

    /// Returns a sphere of rings with the radius `radius(ring, segment)`.
    fn globe(radius: impl Fn(u32, u32) -> f32) -> (Vec<Vec3>, Vec<[u32; 3]>) {
        const RINGS: u32 = 9;
        const SEGMENTS: u32 = 12;
        let at = |ring: u32, segment: u32| {
            let polar = std::f32::consts::PI * ring as f32 / RINGS as f32;
            let around = std::f32::consts::TAU * segment as f32 / SEGMENTS as f32;
            let flat = polar.sin() * around.cos();
            radius(ring, segment) * Vec3::new(flat, polar.cos(), -polar.sin() * around.sin())
        };
        let mut positions = vec![at(0, 0), at(RINGS, 0)];
        positions.extend(
            (1..RINGS)
                .flat_map(|r| (0..SEGMENTS).map(move |s| (r, s)))
                .map(|(r, s)| at(r, s)),
        );
        let number = |ring: u32, segment: u32| match ring {
            0 => 0,
            RINGS => 1,
            ring => 2 + (ring - 1) * SEGMENTS + segment % SEGMENTS,
        };
        let mut triangles = Vec::new();
        for ring in 0..RINGS {
            for segment in 0..SEGMENTS {
                let [a, b] = [number(ring, segment), number(ring, segment + 1)];
                let [c, d] = [number(ring + 1, segment), number(ring + 1, segment + 1)];
                if ring > 0 {
                    triangles.push([a, c, b]);
                }
                if ring + 1 < RINGS {
                    triangles.push([b, c, d]);
                }
            }
        }
        (positions, triangles)
    }

    /// Returns points around and in a surface of about unit size, with many exactly above its corners and
    /// edges.
    fn points(positions: &[Vec3]) -> Vec<Vec3> {
        let mut state = 7u32;
        let mut random = || {
            state = state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
            (state >> 8) as f32 / (1 << 24) as f32 * 2.0 - 1.0
        };
        let mut all = Vec::new();
        for _ in 0..3000 {
            all.push(1.8 * Vec3::new(random(), random(), random()));
        }
        for reach in [3e-5, 1e-3, 0.1] {
            for position in positions.iter().cycle().take(1000) {
                let offset = Vec3::new(random(), random(), random());
                all.push(*position + reach * offset);
            }
        }
        all
    }

    #[test]
    fn points_inside_closed_surfaces_have_negative_distances() {
        let spike = |ring: u32, segment: u32| {
            if (ring + segment).is_multiple_of(2) {
                1.0
            } else {
                0.25
            }
        };
        let all = [
            ("cube", cube()),
            ("sphere", globe(|_, _| 1.0)),
            ("star", globe(spike)),
        ];
        for (name, (positions, triangles)) in all {
            let surface = SignedSurface::new(&positions, &triangles);
            assert_eq!(surface.open_edges(), 0, "{name}");
            let mut told = [0; 2];
            for point in points(&positions) {
                let near = surface.nearest(point, nearest_in_f32(&surface, point));
                if near.distance.abs() < 1e-5 * surface.size() {
                    continue;
                }
                let is_inside = winds_around(&surface, point);
                assert_eq!(near.distance < 0.0, is_inside, "{name}: {point}, {near:?}");
                told[usize::from(is_inside)] += 1;
            }
            assert!(told.iter().all(|n| *n > 200), "{name}: {told:?}");
        }
    }

    /// Vertices at the same position, such as at seams of normals, are one corner.
    #[test]
    fn vertices_at_the_same_position_are_merged() {
        let (positions, triangles) = cube();
        let apart: Vec<Vec3> = triangles
            .as_flattened()
            .iter()
            .map(|v| positions[*v as usize])
            .collect();
        let own: Vec<[u32; 3]> = (0..12).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
        let surface = SignedSurface::new(&apart, &own);
        assert_eq!((surface.open_edges(), surface.corners.len()), (0, 8));
        let lid = SignedSurface::new(&apart, &own[2..]);
        assert_eq!(lid.open_edges(), 4);
    }

    #[test]
    fn degenerate_triangles_do_not_affect_the_distance() {
        let nan = Vec3::NAN;
        let positions = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::splat(0.5), nan];
        let triangles = [[0, 1, 2], [0, 0, 0], [1, 1, 2], [0, 1, 4]];
        let surface = SignedSurface::new(&positions, &triangles);
        assert_eq!(surface.size(), 2.0f64.sqrt());
        let above = surface.nearest(Vec3::new(0.2, 0.2, 0.5), 0);
        assert_eq!(
            (above.distance, above.position),
            (0.5, DVec3::new(0.2f32.into(), 0.2f32.into(), 0.0))
        );
        for triangle in 0..3 {
            let beside = surface.nearest(Vec3::new(-1.0, 0.0, -1.0), triangle);
            assert!(beside.distance.is_finite(), "{beside:?}");
        }
        // A neighbour is nearer than the given triangle.
        let beside = surface.nearest(Vec3::new(0.1, 0.1, -0.5), 1);
        assert_eq!((beside.distance, beside.triangle), (-0.5, 0));
        assert_eq!(SignedSurface::new(&[], &[]).size(), 0.0);
    }
}
