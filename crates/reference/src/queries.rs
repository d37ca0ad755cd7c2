//! Brute-force queries against every triangle in f64, for comparison with queries through the BVH.

use super::lbvh::Triangle;
use glam::{DVec3, Vec3};

/// Returns the nearest point of a triangle to `point`. The edges are tested in addition, because for slivers
/// even f64 does not classify the regions reliably.
pub fn nearest_on_triangle(triangle: &Triangle, point: Vec3) -> DVec3 {
    nearest_to(triangle, point.as_dvec3())
}

fn nearest_to(triangle: &Triangle, p: DVec3) -> DVec3 {
    let [a, b, c] = triangle.map(Vec3::as_dvec3);
    let on_edge = |from: DVec3, to: DVec3| {
        let along = (p - from).dot(to - from) / (to - from).length_squared();
        // A degenerate edge is a point.
        let along = if along.is_nan() { 0.0 } else { along };
        from + along.clamp(0.0, 1.0) * (to - from)
    };
    let by_region = nearest_by_region(triangle, p);
    let mut all = [by_region, on_edge(a, b), on_edge(b, c), on_edge(c, a)];
    all.sort_by(|x, y| x.distance_squared(p).total_cmp(&y.distance_squared(p)));
    all[0]
}

/// Returns the point of the triangle nearest to `p`, by the Voronoi region that contains `p` (Ericson 2005,
/// "Real-Time Collision Detection", section 5.1.5).
fn nearest_by_region(triangle: &Triangle, p: DVec3) -> DVec3 {
    let [a, b, c] = triangle.map(Vec3::as_dvec3);
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let (d1, d2) = (ab.dot(ap), ac.dot(ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return a;
    }
    let bp = p - b;
    let (d3, d4) = (ab.dot(bp), ac.dot(bp));
    if d3 >= 0.0 && d4 <= d3 {
        return b;
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        return a + ab * (d1 / (d1 - d3));
    }
    let cp = p - c;
    let (d5, d6) = (ab.dot(cp), ac.dot(cp));
    if d6 >= 0.0 && d5 <= d6 {
        return c;
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        return a + ac * (d2 / (d2 - d6));
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0 {
        let along = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        return b + (c - b) * along;
    }
    let sum = va + vb + vc;
    a + ab * (vb / sum) + ac * (vc / sum)
}

/// Returns the distance from `point` to the nearest triangle and the triangle's index, or `None` if there are
/// no triangles.
pub fn nearest(triangles: &[Triangle], point: Vec3) -> Option<(f64, usize)> {
    let distances = triangles.iter().zip(0..).map(|(triangle, number)| {
        let at = nearest_on_triangle(triangle, point);
        ((at - point.as_dvec3()).length(), number)
    });
    distances.min_by(|a, b| a.0.total_cmp(&b.0))
}

/// Returns the distance by which a box must grow on all sides to just touch a triangle, or may shrink if
/// negative. It is the largest gap along the separating axes (Akenine-Möller 2001). The sign is exact. The
/// magnitude is a lower bound.
pub fn box_gap(triangle: &Triangle, lower: Vec3, upper: Vec3) -> f64 {
    let (lower, upper) = (lower.as_dvec3(), upper.as_dvec3());
    let (centre, half) = (0.5 * (lower + upper), 0.5 * (upper - lower));
    let corners = triangle.map(|corner| corner.as_dvec3() - centre);
    let [a, b, c] = corners;
    let edges = [b - a, c - b, a - c];
    let crossed = edges
        .iter()
        .flat_map(|edge| DVec3::AXES.map(|axis| axis.cross(*edge)));
    let axes = DVec3::AXES
        .into_iter()
        .chain([(b - a).cross(c - a)])
        .chain(crossed);
    let gap = |axis: DVec3| {
        let along = corners.map(|corner| corner.dot(axis));
        let (least, most) = (
            along.into_iter().fold(f64::INFINITY, f64::min),
            along.into_iter().fold(f64::NEG_INFINITY, f64::max),
        );
        let reach = half.dot(axis.abs());
        // A box that grows by 1 extends along the axis by the sum of the axis's absolute components.
        (least - reach).max(-most - reach) / axis.abs().element_sum()
    };
    axes.filter(|axis| axis.abs().element_sum() > 0.0)
        .map(gap)
        .fold(f64::NEG_INFINITY, f64::max)
}

/// Shape in a leaf of a tree.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Solid {
    /// A triangle.
    Triangle(Triangle),
    /// Box with its lower and upper corners.
    Box(Vec3, Vec3),
    /// Sphere with its centre and radius.
    Ball(Vec3, f32),
}

impl Solid {
    /// Returns the distance to a point, or 0 inside.
    pub fn distance(&self, point: DVec3) -> f64 {
        match self {
            Self::Triangle(triangle) => (nearest_to(triangle, point) - point).length(),
            Self::Box(lower, upper) => (point - point.clamp(lower.as_dvec3(), upper.as_dvec3())).length(),
            Self::Ball(centre, radius) => {
                ((point - centre.as_dvec3()).length() - f64::from(*radius)).max(0.0)
            }
        }
    }

    /// Returns the distance to the segment from `a` to `b`, by golden-section search of a convex function.
    pub fn segment_distance(&self, a: DVec3, b: DVec3) -> f64 {
        let share = (5.0_f64.sqrt() - 1.0) / 2.0;
        let at = |t: f64| self.distance(a + t * (b - a));
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..60 {
            let (x, y) = (high - share * (high - low), low + share * (high - low));
            if at(x) < at(y) {
                high = y;
            } else {
                low = x;
            }
        }
        at(0.0).min(at(1.0)).min(at(0.5 * (low + high)))
    }

    /// Returns the corners of the bounding box.
    fn bounds(&self) -> (Vec3, Vec3) {
        match self {
            Self::Triangle([a, b, c]) => (a.min(*b).min(*c), a.max(*b).max(*c)),
            Self::Box(lower, upper) => (*lower, *upper),
            Self::Ball(centre, radius) => (*centre - *radius, *centre + *radius),
        }
    }

    /// Returns a lower bound for the gap between two shapes, not above 0 if they touch.
    pub fn gap(&self, other: &Self) -> f64 {
        let ((lower, upper), (least, most)) = (self.bounds(), other.bounds());
        let of_boxes = (least - upper).max(lower - most).max_element();
        if of_boxes > 1e-3 {
            return of_boxes.into();
        }
        match (self, other) {
            (solid, Self::Ball(centre, radius)) | (Self::Ball(centre, radius), solid) => {
                solid.distance(centre.as_dvec3()) - f64::from(*radius)
            }
            (Self::Box(lower, upper), Self::Box(least, most)) => {
                let gaps = [(*least - *upper), (*lower - *most)].map(|gap| gap.max_element());
                f64::from(gaps[0].max(gaps[1]))
            }
            (Self::Triangle(triangle), Self::Box(lower, upper))
            | (Self::Box(lower, upper), Self::Triangle(triangle)) => box_gap(triangle, *lower, *upper),
            (Self::Triangle(a), Self::Triangle(b)) => triangle_gap(a, b),
        }
    }
}

fn edges(triangle: &Triangle) -> [[DVec3; 2]; 3] {
    let [a, b, c] = triangle.map(Vec3::as_dvec3);
    [[a, b], [b, c], [c, a]]
}

/// Returns the distance between two triangles, which is attained at an edge of one of them. If they
/// intersect, it is the smallest overlap along a separating axis, negated.
fn triangle_gap(a: &Triangle, b: &Triangle) -> f64 {
    let of_edges = |edges_of: &Triangle, other: &Triangle| {
        let distances = edges(edges_of).map(|[from, to]| Solid::Triangle(*other).segment_distance(from, to));
        distances.into_iter().fold(f64::INFINITY, f64::min)
    };
    let distance = of_edges(a, b).min(of_edges(b, a));
    if distance > 1e-9 {
        return distance;
    }
    let sides = |triangle: &Triangle| edges(triangle).map(|[from, to]| to - from);
    let (of_a, of_b) = (sides(a), sides(b));
    let normals = [of_a[0].cross(of_a[1]), of_b[0].cross(of_b[1])];
    let across = of_a.iter().flat_map(|x| of_b.map(|y| x.cross(y)));
    let within = of_a.map(|x| x.cross(normals[0])).into_iter();
    let within = within.chain(of_b.map(|x| x.cross(normals[1])));
    let axes = normals.into_iter().chain(across).chain(within);
    let gap = |axis: DVec3| {
        let along = |triangle: &Triangle| triangle.map(|corner| corner.as_dvec3().dot(axis));
        let least = |all: [f64; 3]| all.into_iter().fold(f64::INFINITY, f64::min);
        let most = |all: [f64; 3]| all.into_iter().fold(f64::NEG_INFINITY, f64::max);
        let (p, q) = (along(a), along(b));
        (least(p) - most(q)).max(least(q) - most(p)) / axis.length()
    };
    let gaps = axes.filter(|axis| axis.length() > 1e-12).map(gap);
    gaps.fold(f64::NEG_INFINITY, f64::max).min(0.0)
}

/// Returns the penetration depth of two triangles, or 0 if they do not intersect. It is the minimum of two
/// lengths. The first is how far each triangle extends on either side of the other's plane. The second is the
/// length of their shared interval on the intersection line of the planes (Möller 1997, "A Fast
/// Triangle-Triangle Intersection Test").
pub fn through(a: &Triangle, b: &Triangle) -> f64 {
    let normal = |triangle: &Triangle| {
        let [ab, bc, _] = edges(triangle).map(|[from, to]| to - from);
        ab.cross(bc)
    };
    let normals = [normal(a), normal(b)];
    let line = normals[0].cross(normals[1]);
    if line == DVec3::ZERO {
        return 0.0;
    }
    let mut least = f64::INFINITY;
    // Interval of each triangle on the line.
    let pieces = [(a, b, normals[1]), (b, a, normals[0])].map(|(triangle, other, normal)| {
        let corners = triangle.map(Vec3::as_dvec3);
        let sides = corners.map(|corner| normal.dot(corner - other[0].as_dvec3()));
        for side in [1.0, -1.0] {
            let most = sides.iter().fold(0.0, |most, s| f64::max(most, side * s));
            least = least.min(most / normal.length());
        }
        let mut piece = [f64::INFINITY, f64::NEG_INFINITY];
        for (from, to) in [(0, 1), (1, 2), (2, 0)] {
            let (s, t) = (sides[from], sides[to]);
            let at = match s == t {
                true => continue,
                false => s / (s - t),
            };
            if (0.0..=1.0).contains(&at) {
                let along = line.dot(corners[from].lerp(corners[to], at)) / line.length();
                piece = [piece[0].min(along), piece[1].max(along)];
            }
        }
        piece
    });
    let shared = pieces[0][1].min(pieces[1][1]) - pieces[0][0].max(pieces[1][0]);
    least.min(shared).max(0.0)
}

/// True if any part of a triangle is in front of all `planes` when these are moved outwards by `grown`. Clips
/// the triangle by each plane.
pub fn in_front_of_planes(triangle: &Triangle, planes: &[[f32; 4]; 6], grown: f64) -> bool {
    let mut polygon = triangle.map(Vec3::as_dvec3).to_vec();
    for [x, y, z, w] in planes.map(|plane| plane.map(f64::from)) {
        let normal = DVec3::new(x, y, z);
        let side = |point: DVec3| normal.dot(point) + w + grown * normal.length();
        let mut kept = Vec::new();
        for (i, here) in polygon.iter().enumerate() {
            let there = polygon[(i + 1) % polygon.len()];
            let (from, to) = (side(*here), side(there));
            if from >= 0.0 {
                kept.push(*here);
            }
            if (from >= 0.0) != (to >= 0.0) {
                kept.push(here.lerp(there, from / (from - to)));
            }
        }
        polygon = kept;
    }
    !polygon.is_empty()
}

/// Returns the distance at which a ray intersects a triangle's plane (Möller and Trumbore 1997), and the
/// margin of the barycentric coordinates to their limits. Returns `None` for a ray in the plane.
pub fn crossing(triangle: &Triangle, origin: Vec3, direction: Vec3) -> Option<(f64, f64)> {
    let [a, b, c] = triangle.map(Vec3::as_dvec3);
    let (origin, direction) = (origin.as_dvec3(), direction.as_dvec3());
    let (ab, ac) = (b - a, c - a);
    let p = direction.cross(ac);
    let determinant = ab.dot(p);
    let s = origin - a;
    let q = s.cross(ab);
    let (u, v) = (s.dot(p) / determinant, direction.dot(q) / determinant);
    let margin = u.min(v).min(1.0 - u - v);
    (determinant != 0.0).then(|| (ac.dot(q) / determinant, margin))
}

/// Returns the winding number of `triangles` around a point (Jacobson et al. 2013, equation 5). It is the sum
/// of their solid angles (van Oosterom and Strackee 1983), divided by 4π.
pub fn winding_number(triangles: &[Triangle], point: Vec3) -> f64 {
    let of_triangle = |triangle: &Triangle| {
        let [a, b, c] = triangle.map(|corner| corner.as_dvec3() - point.as_dvec3());
        let [la, lb, lc] = [a, b, c].map(DVec3::length);
        let volume = a.dot(b.cross(c));
        volume.atan2(la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb)
    };
    triangles.iter().map(of_triangle).sum::<f64>() / std::f64::consts::TAU
}
