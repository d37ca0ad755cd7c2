//! Queries against every triangle by brute force, in f64, to compare those through the tree with.

use super::lbvh::Triangle;
use glam::{DVec3, Vec3};

/// The point of a triangle that is nearest to `point`. Of slivers, whose regions even f64 tells apart badly,
/// the edges are looked at besides.
pub fn nearest_on_triangle(triangle: &Triangle, point: Vec3) -> DVec3 {
    let p = point.as_dvec3();
    let [a, b, c] = triangle.map(Vec3::as_dvec3);
    let on_edge = |from: DVec3, to: DVec3| {
        let along = (p - from).dot(to - from) / (to - from).length_squared();
        // An edge without a length is a point.
        let along = if along.is_nan() { 0.0 } else { along };
        from + along.clamp(0.0, 1.0) * (to - from)
    };
    let by_region = nearest_by_region(triangle, point);
    let mut all = [by_region, on_edge(a, b), on_edge(b, c), on_edge(c, a)];
    all.sort_by(|x, y| x.distance_squared(p).total_cmp(&y.distance_squared(p)));
    all[0]
}

/// By the region of the triangle's plane that the point lies over (Ericson 2005, "Real-Time Collision
/// Detection", section 5.1.5).
fn nearest_by_region(triangle: &Triangle, point: Vec3) -> DVec3 {
    let [a, b, c] = triangle.map(Vec3::as_dvec3);
    let p = point.as_dvec3();
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

/// The least distance from `point` to any triangle, and to which; `None` without triangles.
pub fn nearest(triangles: &[Triangle], point: Vec3) -> Option<(f64, usize)> {
    let distances = triangles.iter().zip(0..).map(|(triangle, number)| {
        let at = nearest_on_triangle(triangle, point);
        ((at - point.as_dvec3()).length(), number)
    });
    distances.min_by(|a, b| a.0.total_cmp(&b.0))
}

/// By how much a box has to grow on all sides, or may shrink if it is negative, to just touch a triangle: the
/// largest gap along the axes that can separate them (Akenine-Möller 2001). Exact for its sign; elsewhere a
/// bound from below.
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
        // A box that grows by one reaches further by the sum of the axis's parts.
        (least - reach).max(-most - reach) / axis.abs().element_sum()
    };
    axes.filter(|axis| axis.abs().element_sum() > 0.0)
        .map(gap)
        .fold(f64::NEG_INFINITY, f64::max)
}
