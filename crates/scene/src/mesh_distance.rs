//! Exact nearest points of two meshes. A BVH over each mesh prunes the pairs of triangles.

use glam::{DVec3, Vec3};
use std::{
    cmp::Ordering,
    collections::BinaryHeap,
    sync::atomic::{AtomicBool, Ordering as Atomic},
};

/// Corners of a triangle.
pub type Corners = [DVec3; 3];

/// Distance between two surfaces. It is 0 if they intersect, and the two points are equal. An object inside a
/// closed surface has a distance to that surface too.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeshDistance {
    /// Distance between the points.
    pub distance: f64,
    /// Nearest points, one on each surface.
    pub points: [DVec3; 2],
}

/// Maximum number of triangles in a leaf.
const LEAF: usize = 4;

/// Bounding box node.
#[derive(Debug, Clone, Copy)]
struct Node {
    min: DVec3,
    max: DVec3,
    /// Range of triangles.
    first: usize,
    count: usize,
    /// Index of the first of its two consecutive children; `None` for a leaf.
    children: Option<usize>,
}

#[derive(Debug)]
struct Tree {
    triangles: Vec<Corners>,
    nodes: Vec<Node>,
}

impl Tree {
    /// Builds the tree by median splits along the longest axis of the centroids. Triangles that are not
    /// finite are left out.
    fn new(triangles: impl IntoIterator<Item = [Vec3; 3]>) -> Self {
        let finite = |triangle: &[Vec3; 3]| triangle.iter().all(|corner| corner.is_finite());
        let triangles = triangles.into_iter().filter(finite);
        let mut triangles: Vec<Corners> = triangles.map(|t| t.map(Vec3::as_dvec3)).collect();
        let mut nodes = Vec::new();
        if !triangles.is_empty() {
            nodes.push(Node::over(&triangles, 0));
        }
        let mut at = 0;
        while at < nodes.len() {
            let node = nodes[at];
            if node.count > LEAF {
                let range = &mut triangles[node.first..node.first + node.count];
                let centroid = |t: &Corners| t[0] + t[1] + t[2];
                let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
                for triangle in range.iter() {
                    low = low.min(centroid(triangle));
                    high = high.max(centroid(triangle));
                }
                let axis = (high - low).max_position();
                let half = node.count / 2;
                range.select_nth_unstable_by(half, |a, b| centroid(a)[axis].total_cmp(&centroid(b)[axis]));
                nodes[at].children = Some(nodes.len());
                nodes.push(Node::over(&range[..half], node.first));
                nodes.push(Node::over(&range[half..], node.first + half));
            }
            at += 1;
        }
        Self { triangles, nodes }
    }
}

impl Node {
    fn over(triangles: &[Corners], first: usize) -> Self {
        let corners = || triangles.iter().flatten().copied();
        Self {
            min: corners().fold(DVec3::INFINITY, DVec3::min),
            max: corners().fold(DVec3::NEG_INFINITY, DVec3::max),
            first,
            count: triangles.len(),
            children: None,
        }
    }

    /// Returns the squared distance between two boxes.
    fn distance_squared(&self, other: &Self) -> f64 {
        let apart = (other.min - self.max).max(self.min - other.max);
        apart.max(DVec3::ZERO).length_squared()
    }

    fn size(&self) -> f64 {
        (self.max - self.min).length_squared()
    }
}

/// Pair of nodes. The nearest pair is the greatest, because [`BinaryHeap`] pops the greatest first.
#[derive(Debug)]
struct Pair {
    squared: f64,
    nodes: [usize; 2],
}

impl PartialEq for Pair {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Pair {}

impl PartialOrd for Pair {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Pair {
    fn cmp(&self, other: &Self) -> Ordering {
        other.squared.total_cmp(&self.squared)
    }
}

/// Returns the nearest points of two sets of triangles. Returns `None` if either is empty, or if `cancelled`
/// becomes true.
///
/// Best-first branch and bound over the two BVHs (Larsen et al. 2000, "Fast Distance Queries with Rectangular
/// Swept Sphere Volumes", section 3). The nearest pair of boxes is opened first. Pairs that are farther apart
/// than the best pair of triangles are never opened.
pub fn mesh_distance(
    first: impl IntoIterator<Item = [Vec3; 3]>,
    second: impl IntoIterator<Item = [Vec3; 3]>,
    cancelled: &AtomicBool,
) -> Option<MeshDistance> {
    let (a, b) = (Tree::new(first), Tree::new(second));
    let pair = |nodes: [usize; 2]| {
        let squared = a.nodes[nodes[0]].distance_squared(&b.nodes[nodes[1]]);
        Pair { squared, nodes }
    };
    let mut open = BinaryHeap::new();
    if !a.nodes.is_empty() && !b.nodes.is_empty() {
        open.push(pair([0, 0]));
    }
    let mut best: Option<(f64, [DVec3; 2])> = None;
    while let Some(Pair { squared, nodes }) = open.pop() {
        if best.is_some_and(|(known, _)| squared >= known) {
            break;
        }
        if cancelled.load(Atomic::Relaxed) {
            return None;
        }
        let [x, y] = [a.nodes[nodes[0]], b.nodes[nodes[1]]];
        match (x.children, y.children) {
            // Descend into the larger box.
            (Some(child), other) if other.is_none() || x.size() >= y.size() => {
                open.extend([pair([child, nodes[1]]), pair([child + 1, nodes[1]])]);
            }
            (_, Some(child)) => {
                open.extend([pair([nodes[0], child]), pair([nodes[0], child + 1])]);
            }
            _ => {
                for s in &a.triangles[x.first..x.first + x.count] {
                    for t in &b.triangles[y.first..y.first + y.count] {
                        let points = nearest_of_triangles(s, t);
                        let squared = points[0].distance_squared(points[1]);
                        if best.is_none_or(|(known, _)| squared < known) {
                            best = Some((squared, points));
                        }
                    }
                }
            }
        }
    }
    best.map(|(squared, points)| MeshDistance {
        distance: squared.sqrt(),
        points,
    })
}

/// Returns the nearest points of two triangles. If an edge of one triangle crosses the other triangle, the
/// two points are equal to the crossing. Otherwise they lie on two edges, or on a corner and a triangle.
pub fn nearest_of_triangles(s: &Corners, t: &Corners) -> [DVec3; 2] {
    let edges = |triangle: &Corners| {
        let [a, b, c] = *triangle;
        [[a, b], [b, c], [c, a]]
    };
    let crossing = |edge: [DVec3; 2], triangle: &Corners| crossing(edge, triangle);
    let through = edges(s).into_iter().find_map(|edge| crossing(edge, t));
    let through = through.or_else(|| edges(t).into_iter().find_map(|edge| crossing(edge, s)));
    if let Some(point) = through {
        return [point; 2];
    }
    let of_edges = edges(s)
        .into_iter()
        .flat_map(|e| edges(t).map(|f| nearest_of_segments(e, f)));
    let of_first = s.iter().map(|corner| [*corner, nearest_of_triangle(*corner, t)]);
    let of_second = t.iter().map(|corner| [nearest_of_triangle(*corner, s), *corner]);
    let all = of_edges.chain(of_first).chain(of_second);
    let distance = |pair: &[DVec3; 2]| pair[0].distance_squared(pair[1]);
    let nearest = all.min_by(|a, b| distance(a).total_cmp(&distance(b)));
    nearest.unwrap_or([s[0], t[0]])
}

/// Returns the intersection of an edge with a triangle that it is not parallel to.
fn crossing([from, to]: [DVec3; 2], triangle: &Corners) -> Option<DVec3> {
    let [a, b, c] = *triangle;
    let (along, u, v) = (to - from, b - a, c - a);
    let p = along.cross(v);
    let determinant = u.dot(p);
    if determinant == 0.0 {
        return None;
    }
    let offset = from - a;
    let q = offset.cross(u);
    let (x, y, t) = (offset.dot(p), along.dot(q), v.dot(q));
    let [x, y, t] = [x, y, t].map(|value| value / determinant);
    let is_inside = x >= 0.0 && y >= 0.0 && x + y <= 1.0 && (0.0..=1.0).contains(&t);
    is_inside.then(|| from + t * along)
}

/// Returns the nearest points of two segments (Ericson 2005, "Real-Time Collision Detection", section 5.1.9).
fn nearest_of_segments([p, to_p]: [DVec3; 2], [q, to_q]: [DVec3; 2]) -> [DVec3; 2] {
    let (d, e, r) = (to_p - p, to_q - q, p - q);
    let (a, b, c) = (d.length_squared(), d.dot(e), d.dot(r));
    let (f, g) = (e.length_squared(), e.dot(r));
    let share = |numerator: f64, denominator: f64| match denominator > 0.0 {
        true => (numerator / denominator).clamp(0.0, 1.0),
        false => 0.0,
    };
    // For parallel segments any `s` is valid.
    let mut s = share(b * g - c * f, a * f - b * b);
    let mut t = share(b * s + g, f);
    // Clamping one parameter changes the best value of the other parameter.
    s = share(b * t - c, a);
    t = share(b * s + g, f);
    [p + s * d, q + t * e]
}

/// Returns the point of a triangle that is nearest to `p` (Ericson 2005, section 5.1.5).
fn nearest_of_triangle(p: DVec3, triangle: &Corners) -> DVec3 {
    let [a, b, c] = *triangle;
    let (ab, ac) = (b - a, c - a);
    let [to_a, to_b, to_c] = [p - a, p - b, p - c];
    let (d1, d2) = (ab.dot(to_a), ac.dot(to_a));
    let (d3, d4) = (ab.dot(to_b), ac.dot(to_b));
    let (d5, d6) = (ab.dot(to_c), ac.dot(to_c));
    let (va, vb, vc) = (d3 * d6 - d5 * d4, d5 * d2 - d1 * d6, d1 * d4 - d3 * d2);
    let sum = va + vb + vc;
    if va > 0.0 && vb > 0.0 && vc > 0.0 && sum > 0.0 {
        return a + ab * (vb / sum) + ac * (vc / sum);
    }
    // The point lies on an edge, which includes all points of a degenerate triangle.
    let on_edge = |[from, to]: [DVec3; 2]| {
        let along = to - from;
        let length = along.length_squared();
        let share = if length > 0.0 {
            (p - from).dot(along) / length
        } else {
            0.0
        };
        from + share.clamp(0.0, 1.0) * along
    };
    let [mut nearest, second, third] = [[a, b], [b, c], [c, a]].map(on_edge);
    for other in [second, third] {
        if other.distance_squared(p) < nearest.distance_squared(p) {
            nearest = other;
        }
    }
    nearest
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Random numbers from −1 to 1 (PCG, O'Neill 2014).
    struct Random(u64);

    impl Random {
        fn next(&mut self) -> f32 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (self.0 >> 40) as f32 / (1 << 23) as f32 - 1.0
        }

        fn point(&mut self) -> Vec3 {
            Vec3::new(self.next(), self.next(), self.next())
        }

        fn triangles(&mut self, count: usize, center: Vec3, size: f32) -> Vec<[Vec3; 3]> {
            let mut triangle = || {
                let middle = center + self.point();
                std::array::from_fn(|_| middle + size * self.point())
            };
            (0..count).map(|_| triangle()).collect()
        }
    }

    fn distance(a: &[[Vec3; 3]], b: &[[Vec3; 3]]) -> Option<MeshDistance> {
        let never = AtomicBool::new(false);
        mesh_distance(a.iter().copied(), b.iter().copied(), &never)
    }

    fn brute_force(a: &[[Vec3; 3]], b: &[[Vec3; 3]]) -> f64 {
        let corners = |t: &[Vec3; 3]| t.map(Vec3::as_dvec3);
        let pairs = a.iter().flat_map(|s| b.iter().map(move |t| (s, t)));
        let distances = pairs.map(|(s, t)| {
            let [p, q] = nearest_of_triangles(&corners(s), &corners(t));
            p.distance(q)
        });
        distances.fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn mesh_distance_is_the_minimum_over_all_triangle_pairs() {
        let mut random = Random(1);
        for (apart, size) in [(4.0, 0.1), (2.2, 0.3), (1.0, 0.02), (0.0, 0.005), (0.0, 0.5)] {
            for [m, n] in [[1, 1], [3, 50], [200, 150]] {
                let a = random.triangles(m, Vec3::ZERO, size);
                let b = random.triangles(n, Vec3::X * apart, size);
                let found = distance(&a, &b).unwrap();
                assert_eq!(found.distance, brute_force(&a, &b), "{apart} {size} {m} {n}");
                let [p, q] = found.points;
                assert_eq!(p.distance(q), found.distance);
            }
        }
    }

    /// No pair of sampled points of the two triangles is nearer than the result, and some pairs are nearly as
    /// near.
    #[test]
    fn no_sampled_points_of_two_triangles_are_nearer() {
        const STEPS: usize = 24;
        let mut random = Random(2);
        for _ in 0..60 {
            let pair = random.triangles(2, Vec3::ZERO, 0.5);
            let [s, t] = [pair[0], pair[1]].map(|t| t.map(Vec3::as_dvec3));
            let [p, q] = nearest_of_triangles(&s, &t);
            let found = p.distance(q);
            let grid = |[a, b, c]: Corners| {
                let steps = (0..=STEPS).flat_map(|i| (0..=STEPS - i).map(move |j| (i, j)));
                steps.map(move |(i, j)| {
                    let [u, v] = [i, j].map(|step| step as f64 / STEPS as f64);
                    a + u * (b - a) + v * (c - a)
                })
            };
            let pairs = grid(s).flat_map(|x| grid(t).map(move |y| x.distance(y)));
            let least = pairs.fold(f64::INFINITY, f64::min);
            assert!(found <= least + 1e-12, "{found} {least}");
            assert!(least - found < 0.15, "{found} {least}");
            for (point, triangle) in [(p, s), (q, t)] {
                let off = nearest_of_triangle(point, &triangle).distance(point);
                assert!(off < 1e-12, "{off}");
            }
        }
    }

    #[test]
    fn mesh_distance_handles_degenerate_triangles_and_empty_meshes() {
        let point = [Vec3::X; 3];
        let line = [Vec3::ZERO, Vec3::Y, Vec3::Y * 3.0];
        let broken = [Vec3::NAN, Vec3::ZERO, Vec3::ONE];
        assert_eq!(distance(&[point], &[line]).unwrap().distance, 1.0);
        assert_eq!(distance(&[point], &[point]).unwrap().distance, 0.0);
        assert_eq!(distance(&[line, broken], &[point]).unwrap().distance, 1.0);
        assert_eq!(distance(&[broken], &[point]), None);
        assert_eq!(distance(&[], &[point]), None);
        let flat = [Vec3::ZERO, Vec3::X, Vec3::Y];
        let above = flat.map(|corner| corner + Vec3::Z * 0.25);
        assert_eq!(distance(&[flat], &[above]).unwrap().distance, 0.25);
        let many = vec![flat; 1000];
        assert_eq!(distance(&many, &[above]).unwrap().distance, 0.25);
        let cancelled = AtomicBool::new(true);
        assert_eq!(mesh_distance([flat], [above], &cancelled), None);
    }
}
