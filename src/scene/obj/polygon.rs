//! Polygons to triangles.

use glam::{Vec2, Vec3};

/// Comparisons that a polygon is worth before it is cut into a fan after all.
const MOST_TESTS: usize = 4_000_000;

/// The triangles of a polygon as corners of it, counter-clockwise as it is. Convex ones become fans, others are clipped ear by ear
/// (Meisters 1975). False for one that could not be cut properly: the rest of it is a fan.
pub(super) fn triangulate(outline: &[Vec3]) -> (Vec<[usize; 3]>, bool) {
    let fan = |corners: &[usize]| -> Vec<[usize; 3]> {
        corners
            .windows(2)
            .skip(1)
            .map(|pair| [corners[0], pair[0], pair[1]])
            .collect()
    };
    let mut left: Vec<usize> = (0..outline.len()).collect();
    let flat = project(outline);
    let corner = |left: &[usize], at: usize| {
        let n = left.len();
        [left[(at + n - 1) % n], left[at], left[(at + 1) % n]]
    };
    let turn = |[a, b, c]: [usize; 3]| (flat[b] - flat[a]).perp_dot(flat[c] - flat[b]);
    if left.len() == 3 || (0..left.len()).all(|at| turn(corner(&left, at)) >= 0.0) {
        return (fan(&left), true);
    }
    let mut triangles = Vec::with_capacity(outline.len() - 2);
    let (mut at, mut refused, mut tests) = (0, 0, 0);
    while left.len() > 3 {
        at %= left.len();
        let ear = corner(&left, at);
        tests += left.len();
        let empty = || {
            !left
                .iter()
                .any(|&p| !ear.contains(&p) && inside(flat[p], ear.map(|c| flat[c])))
        };
        if turn(ear) > 0.0 && empty() {
            triangles.push(ear);
            left.remove(at);
            refused = 0;
            // Stepping back would favour slivers about one corner.
            continue;
        }
        (at, refused) = (at + 1, refused + 1);
        if refused > left.len() || tests > MOST_TESTS {
            // A corner without a turn is no ear, and leaves a sound polygon when it goes.
            match (0..left.len())
                .find(|&i| turn(corner(&left, i)) == 0.0)
                .filter(|_| tests <= MOST_TESTS)
            {
                Some(straight) => {
                    triangles.push(corner(&left, straight));
                    left.remove(straight);
                    refused = 0;
                }
                None => {
                    triangles.extend(fan(&left));
                    return (triangles, false);
                }
            }
        }
    }
    triangles.extend(fan(&left));
    (triangles, true)
}

/// The outline seen against its normal (Newell's), so that it goes counter-clockwise.
fn project(outline: &[Vec3]) -> Vec<Vec2> {
    // In f64 and from a corner: the outline may be small and far away, or too large to be squared.
    let origin = outline.first().copied().unwrap_or_default().as_dvec3();
    let points: Vec<_> = outline.iter().map(|p| p.as_dvec3() - origin).collect();
    let following = points.iter().skip(1).chain(points.first());
    let normal = points
        .iter()
        .zip(following)
        .fold(glam::DVec3::ZERO, |sum, (a, b)| sum + a.cross(*b));
    let scale = points
        .iter()
        .fold(0.0_f64, |m, p| m.max(p.abs().max_element()));
    let Some(normal) = (normal / normal.abs().max_element())
        .try_normalize()
        .filter(|_| scale > 0.0)
    else {
        return vec![Vec2::ZERO; outline.len()];
    };
    let (right, up) = normal.any_orthonormal_pair();
    points
        .iter()
        .map(|p| glam::DVec2::new(p.dot(right), p.dot(up)) / scale)
        .map(|p| p.as_vec2())
        .collect()
}

/// Whether `p` is in a counter-clockwise triangle or on its edge.
fn inside(p: Vec2, [a, b, c]: [Vec2; 3]) -> bool {
    [(a, b), (b, c), (c, a)]
        .iter()
        .all(|(from, to)| (*to - *from).perp_dot(p - *from) >= 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn area(outline: &[Vec3], triangles: &[[usize; 3]]) -> Vec<f32> {
        triangles
            .iter()
            .map(|t| {
                (outline[t[1]] - outline[t[0]])
                    .cross(outline[t[2]] - outline[t[0]])
                    .z
                    / 2.0
            })
            .collect()
    }

    fn outline(points: &[[f32; 2]]) -> Vec<Vec3> {
        points.iter().map(|[x, y]| Vec3::new(*x, *y, 3.0)).collect()
    }

    #[test]
    fn convex_polygons_become_fans() {
        let square = outline(&[[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]);
        assert_eq!(triangulate(&square), (vec![[0, 1, 2], [0, 2, 3]], true));
        let round: Vec<Vec3> = (0..100_000)
            .map(|i| i as f32 / 100_000.0 * std::f32::consts::TAU)
            .map(|a| Vec3::new(a.cos(), a.sin(), 0.0))
            .collect();
        assert_eq!(triangulate(&round).0.len(), 99_998);
    }

    #[test]
    fn concave_polygons_keep_their_area_and_winding() {
        for points in [
            // An arrow that a fan from its first corner would cover wrongly, an L, and a comb.
            &[[0.0, 0.0], [2.0, 2.0], [0.0, 1.0], [-2.0, 2.0]][..],
            &[[2.0, 2.0], [0.0, 1.0], [-2.0, 2.0], [0.0, 0.0]],
            &[
                [0.0, 0.0],
                [3.0, 0.0],
                [3.0, 1.0],
                [1.0, 1.0],
                [1.0, 3.0],
                [0.0, 3.0],
            ],
            &[
                [0.0, 0.0],
                [5.0, 0.0],
                [5.0, 3.0],
                [4.0, 1.0],
                [3.0, 3.0],
                [2.0, 1.0],
                [1.0, 3.0],
                [0.0, 1.0],
            ],
        ] {
            let outline = outline(points);
            let (triangles, complete) = triangulate(&outline);
            let areas = area(&outline, &triangles);
            let following = outline.iter().skip(1).chain(outline.first());
            let whole: f32 = outline
                .iter()
                .zip(following)
                .map(|(a, b)| a.truncate().perp_dot(b.truncate()))
                .sum::<f32>()
                / 2.0;
            assert!(
                complete && triangles.len() == outline.len() - 2,
                "{points:?}"
            );
            assert!(areas.iter().all(|a| *a > 0.0), "{points:?}: {areas:?}");
            assert!(
                (areas.iter().sum::<f32>() - whole).abs() < 1e-5,
                "{points:?}"
            );
        }
    }

    #[test]
    fn degenerate_polygons_end() {
        for points in [
            &[[0.0, 0.0]; 5][..],
            &[[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 0.0], [1.5, 0.0]],
            &[[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0]],
            &[
                [0.0, 0.0],
                [1e38, 0.0],
                [1e38, 1e38],
                [5e37, 1e37],
                [0.0, 1e38],
            ],
        ] {
            assert_eq!(
                triangulate(&outline(points)).0.len(),
                points.len() - 2,
                "{points:?}"
            );
        }
        let star: Vec<Vec3> = (0..3000)
            .map(|i| (i as f32 * 2.4, (i % 7) as f32))
            .map(|(a, r)| Vec3::new(r * a.cos(), r * a.sin(), 0.0))
            .collect();
        assert_eq!(triangulate(&star).0.len(), 2998);
    }
}
