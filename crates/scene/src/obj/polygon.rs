//! Polygon triangulation.
//!
//! The crates earcut 0.4 and earcutr 0.5 were measured for this. Both crates return no triangles for a
//! polygon whose corners are collinear or coincide. For polygons that cross themselves, they return fewer
//! triangles than the number of corners minus two. Their time is quadratic in the corners: more than 40 s for
//! a star of 600,000 corners, or for a tangle of 20,000. The star takes 1 s with this module.

use glam::{DVec2, Vec3};

/// Budget of comparisons for all polygons of a file, in addition to [`TESTS_PER_CORNER`]. When it is used up,
/// the remaining polygons become fans.
pub(super) const SPARE_TESTS: u64 = 100_000_000;

/// Budget of comparisons for each corner of a polygon.
const TESTS_PER_CORNER: u64 = 400;

/// Triangulates a polygon without new vertices, keeping its winding. The number of triangles is always the
/// number of corners minus two. A convex polygon becomes a fan. Other polygons are triangulated by ear
/// clipping (Meisters 1975), with the reflex corners in a grid. Returns false if no further ear is found or
/// if it takes too long. The remaining polygon is then a fan.
pub(super) fn triangulate(outline: &[Vec3], spare_tests: &mut u64) -> (Vec<[usize; 3]>, bool) {
    let count = outline.len();
    if count == 3 {
        return (vec![[0, 1, 2]], true);
    }
    let flat = project(outline);
    let turn = |[a, b, c]: [usize; 3]| (flat[b] - flat[a]).perp_dot(flat[c] - flat[b]);
    let around = |at: usize| [(at + count - 1) % count, at, (at + 1) % count];
    if !(0..count).any(|at| turn(around(at)) < 0.0) {
        return ((2..count).map(|at| [0, at - 1, at]).collect(), true);
    }
    let [mut before, mut after] =
        [0, 2].map(|end| -> Vec<usize> { (0..count).map(|at| around(at)[end]).collect() });
    // Only a reflex or straight corner, or one that the outline touches elsewhere, can lie in an ear.
    let straight = (0..count).filter(|&at| turn(around(at)) <= 0.0);
    let grid = Grid::new(&flat, straight.collect());
    let mut clipped = vec![false; count];
    let mut triangles = Vec::with_capacity(count - 2);
    let mut own_tests = TESTS_PER_CORNER * count as u64;
    let (mut at, mut left, mut refused, mut rule) = (0, count, 0, EarRule::Strict);
    while left > 3 {
        let ear = [before[at], at, after[at]];
        let mut tests: u64 = 1;
        let is_ear = match rule {
            EarRule::Straight => turn(ear) == 0.0,
            _ if turn(ear) <= 0.0 => false,
            _ => {
                let corners = ear.map(|c| flat[c]);
                !grid.any(corners, &mut tests, |p| {
                    let touches = rule == EarRule::Touching && corners.contains(&flat[p]);
                    !clipped[p] && !ear.contains(&p) && !touches && inside(flat[p], corners)
                })
            }
        };
        let spared = tests.saturating_sub(own_tests);
        own_tests = own_tests.saturating_sub(tests);
        if is_ear {
            triangles.push(ear);
            clipped[at] = true;
            (after[ear[0]], before[ear[2]]) = (ear[2], ear[0]);
            (left, refused, rule) = (left - 1, 0, EarRule::Strict);
            // Skips a corner, because continuing with the next one would make slivers around the previous
            // one.
            at = after[ear[2]];
        } else {
            refused += 1;
            at = ear[2];
        }
        let next_rule = (refused > left).then(|| rule.next());
        match (next_rule, spare_tests.checked_sub(spared)) {
            (Some(None), _) | (_, None) => {
                let mut rest = vec![at];
                while after[rest[rest.len() - 1]] != at {
                    rest.push(after[rest[rest.len() - 1]]);
                }
                let pairs = rest.windows(2).skip(1);
                triangles.extend(pairs.map(|pair| [rest[0], pair[0], pair[1]]));
                return (triangles, false);
            }
            (next, Some(spare)) => {
                *spare_tests = spare;
                if let Some(Some(next)) = next {
                    (rule, refused) = (next, 0);
                }
            }
        }
    }
    triangles.push([before[at], at, after[at]]);
    (triangles, true)
}

/// Criterion for an ear. Each is tried if the previous one finds none.
#[derive(Clone, Copy, PartialEq)]
enum EarRule {
    /// No point lies in the ear or on its edges.
    Strict,
    /// The outline may touch the ear's corners, which happens where a bridge connects a hole.
    Touching,
    /// The corner has an angle of 180°, so its removal does not change the polygon.
    Straight,
}

impl EarRule {
    fn next(self) -> Option<Self> {
        match self {
            Self::Strict => Some(Self::Touching),
            Self::Touching => Some(Self::Straight),
            Self::Straight => None,
        }
    }
}

/// Points, bucketed by the cells of a uniform grid.
struct Grid {
    /// Number of cells along an edge.
    side: usize,
    min: DVec2,
    cells_per_unit: DVec2,
    /// Points of cell i are `points[first[i]..first[i + 1]]`.
    first: Vec<u32>,
    points: Vec<usize>,
}

impl Grid {
    fn new(flat: &[DVec2], points: Vec<usize>) -> Self {
        // Finer than one point per cell, because outlines are curves that leave most cells empty.
        let side = (2.0 * (points.len() as f64).sqrt()).clamp(1.0, 2048.0) as usize;
        let [min, max] = flat.iter().fold([DVec2::MAX, DVec2::MIN], |[min, max], p| {
            [min.min(*p), max.max(*p)]
        });
        let mut grid = Self {
            side,
            min,
            cells_per_unit: side as f64 / (max - min).max(DVec2::splat(1e-300)),
            first: vec![0; side * side + 1],
            points: points.clone(),
        };
        let cell = |grid: &Self, p: usize| {
            let [x, y] = grid.cell_of(flat[p]);
            y * side + x
        };
        for &p in &points {
            let cell = cell(&grid, p);
            grid.first[cell + 1] += 1;
        }
        (0..side * side).for_each(|i| grid.first[i + 1] += grid.first[i]);
        let mut next = grid.first.clone();
        for p in points {
            let slot = &mut next[cell(&grid, p)];
            grid.points[*slot as usize] = p;
            *slot += 1;
        }
        grid
    }

    fn cell_of(&self, point: DVec2) -> [usize; 2] {
        let cells = (point - self.min) * self.cells_per_unit;
        // Conversions saturate, and NaN becomes 0.
        cells.to_array().map(|c| (c as usize).min(self.side - 1))
    }

    /// True if any point near a triangle satisfies `found`. Adds the cost to `tests`.
    fn any(&self, [a, b, c]: [DVec2; 3], tests: &mut u64, found: impl Fn(usize) -> bool) -> bool {
        let [left, bottom] = self.cell_of(a.min(b).min(c));
        let [right, top] = self.cell_of(a.max(b).max(c));
        (bottom..=top).any(|y| {
            let row = y * self.side;
            *tests += 1;
            self.points[self.first[row + left] as usize..self.first[row + right + 1] as usize]
                .iter()
                .inspect(|_| *tests += 1)
                .any(|&p| found(p))
        })
    }
}

/// Projects the outline along its normal (Newell's method), so that it is counter-clockwise.
fn project(outline: &[Vec3]) -> Vec<DVec2> {
    // In f64 and relative to a corner, because the outline may be small and far away, or its squares may
    // overflow f32.
    let origin = outline.first().copied().unwrap_or_default().as_dvec3();
    let points: Vec<_> = outline.iter().map(|p| p.as_dvec3() - origin).collect();
    let following = points.iter().skip(1).chain(points.first());
    let normal = points
        .iter()
        .zip(following)
        .fold(glam::DVec3::ZERO, |sum, (a, b)| sum + a.cross(*b));
    let scale = points.iter().fold(0.0_f64, |m, p| m.max(p.abs().max_element()));
    let Some(normal) = (normal / normal.abs().max_element())
        .try_normalize()
        .filter(|_| scale > 0.0)
    else {
        return vec![DVec2::ZERO; outline.len()];
    };
    let (right, up) = normal.any_orthonormal_pair();
    points
        .iter()
        .map(|p| DVec2::new(p.dot(right), p.dot(up)) / scale)
        .collect()
}

/// True if `p` is in a counter-clockwise triangle or on its edge.
fn inside(p: DVec2, [a, b, c]: [DVec2; 3]) -> bool {
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
        assert_eq!(triangulate(&square, &mut 0), (vec![[0, 1, 2], [0, 2, 3]], true));
        let round: Vec<Vec3> = (0..100_000)
            .map(|i| i as f32 / 100_000.0 * std::f32::consts::TAU)
            .map(|a| Vec3::new(a.cos(), a.sin(), 0.0))
            .collect();
        assert_eq!(triangulate(&round, &mut 0).0.len(), 99_998);
    }

    #[test]
    fn concave_polygons_keep_their_area_and_winding() {
        for points in [
            // An arrow for which a fan from the first corner would be wrong, an L, and a comb.
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
            // A square with a square hole, connected by a bridge of two coincident edges.
            &[
                [0.0, 0.0],
                [3.0, 0.0],
                [3.0, 3.0],
                [0.0, 3.0],
                [0.0, 0.0],
                [1.0, 1.0],
                [1.0, 2.0],
                [2.0, 2.0],
                [2.0, 1.0],
                [1.0, 1.0],
            ],
        ] {
            let outline = outline(points);
            let (triangles, complete) = triangulate(&outline, &mut 0);
            let areas = area(&outline, &triangles);
            let following = outline.iter().skip(1).chain(outline.first());
            let whole: f32 = outline
                .iter()
                .zip(following)
                .map(|(a, b)| a.truncate().perp_dot(b.truncate()))
                .sum::<f32>()
                / 2.0;
            assert!(complete && triangles.len() == outline.len() - 2, "{points:?}");
            assert!(areas.iter().all(|a| *a > 0.0), "{points:?}: {areas:?}");
            assert!((areas.iter().sum::<f32>() - whole).abs() < 1e-5, "{points:?}");
        }
    }

    #[test]
    fn large_concave_polygons_are_triangulated_completely() {
        for (count, teeth) in [(1000, 2), (1000, 7), (60_000, 2), (60_000, 5)] {
            let corner = |i: usize| {
                let angle = i as f32 / count as f32 * std::f32::consts::TAU;
                (1.0 + (i % teeth) as f32) * Vec3::new(angle.cos(), angle.sin(), 0.0)
            };
            let outline: Vec<Vec3> = (0..count).map(corner).collect();
            let (triangles, complete) = triangulate(&outline, &mut 0);
            let areas = area(&outline, &triangles);
            assert!(complete && triangles.len() == count - 2, "{count} {teeth}");
            let covered: f64 = areas.iter().map(|a| f64::from(*a).abs()).sum();
            let whole: f64 = areas.iter().map(|a| f64::from(*a)).sum();
            assert!(
                covered - whole < 1e-3 * whole,
                "{count} {teeth}: {covered} {whole}"
            );
        }
    }

    #[test]
    fn triangulation_of_degenerate_polygons_terminates() {
        for points in [
            &[[0.0, 0.0]; 5][..],
            &[[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 0.0], [1.5, 0.0]],
            &[[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0]],
            &[[0.0, 0.0], [1e38, 0.0], [1e38, 1e38], [5e37, 1e37], [0.0, 1e38]],
        ] {
            assert_eq!(
                triangulate(&outline(points), &mut 0).0.len(),
                points.len() - 2,
                "{points:?}"
            );
        }
        let star: Vec<Vec3> = (0..3000)
            .map(|i| (i as f32 * 2.4, (i % 7) as f32))
            .map(|(a, r)| Vec3::new(r * a.cos(), r * a.sin(), 0.0))
            .collect();
        assert_eq!(triangulate(&star, &mut 0).0.len(), 2998);
    }
}
