//! The sign of distances against every triangle in f64: by pseudonormals on closed surfaces, and by winding
//! numbers on any surface.

use crate::common;
use canopy::{
    accel::{Lbvh, Nearest, Search, Sign, SignedDistance, Winding},
    gpu::Gpu,
    reference::queries,
};
use common::{Random, Soup, by_lane, gpu, stocked::sphere, ways};
use glam::Vec3;

type Triangle = [Vec3; 3];

/// Closed surfaces with corners of every kind, the most difficult first.
fn closed() -> Vec<(&'static str, Vec<Triangle>)> {
    let ball = sphere(7);
    // Every other point is pulled in, which gives sharp edges, and saddles where they meet.
    let spikes: Vec<_> = ball
        .iter()
        .map(|t| {
            t.map(|v| {
                v * if (v * 40.0).round().as_ivec3().element_sum() % 2 == 0 {
                    1.0
                } else {
                    0.35
                }
            })
        })
        .collect();
    // A thin sheet that is folded over.
    let thin: Vec<_> = ball
        .iter()
        .map(|t| t.map(|v| Vec3::new(v.x, 0.02 * v.y + 0.3 * v.x * v.x, v.z)))
        .collect();
    let cube = sphere(1).into_iter().map(|t| t.map(|v| v * 3.0f32.sqrt() * 0.5));
    vec![
        ("Escher", escher()),
        ("spikes", spikes),
        ("sheet", thin),
        ("cube", cube.collect()),
        ("ball", ball),
    ]
}

/// Escher's solid, the first stellation of the rhombic dodecahedron. At its inner corners, convex and concave
/// edges alternate, and any single face's normal misleads.
fn escher() -> Vec<Triangle> {
    let mut triangles = Vec::new();
    // A pyramid over each face of the rhombic dodecahedron, with its tip where the planes around it meet.
    for (i, k) in [(0, 1), (1, 2), (2, 0)] {
        for (s, t) in [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)] {
            let unit = |axis: usize, length: f32| {
                let mut v = [0.0; 3];
                v[axis] = length;
                Vec3::from(v)
            };
            let third = 3 - i - k;
            let corner = |up: f32| unit(i, s) + unit(k, t) + unit(third, up);
            let ring = [unit(i, 2.0 * s), corner(1.0), unit(k, 2.0 * t), corner(-1.0)];
            let tip = unit(i, 2.0 * s) + unit(k, 2.0 * t);
            for n in 0..4 {
                let [a, b] = [ring[n], ring[(n + 1) % 4]];
                let outward = (a - tip).cross(b - tip).dot(a + b + tip - 3.0 * (0.4 * tip)) > 0.0;
                triangles.push(if outward { [tip, a, b] } else { [tip, b, a] });
            }
        }
    }
    triangles.into_iter().map(|t| t.map(|v| 0.5 * v)).collect()
}

/// A tube around a figure of eight, which passes through itself where the figure crosses itself.
fn eight() -> Vec<Triangle> {
    const ALONG: usize = 48;
    const AROUND: usize = 10;
    let corner = |i: usize, k: usize| {
        let [t, around] =
            [(i, ALONG), (k, AROUND)].map(|(n, of)| std::f32::consts::TAU * (n % of) as f32 / of as f32);
        let forward = Vec3::new(t.cos(), 0.0, (2.0 * t).cos()).normalize();
        let out = around.cos() * forward.cross(Vec3::Y) + around.sin() * Vec3::Y;
        Vec3::new(t.sin(), 0.0, t.sin() * t.cos()) + 0.2 * out
    };
    let squares = (0..ALONG).flat_map(|i| (0..AROUND).map(move |k| (i, k)));
    let cut = squares.flat_map(|(i, k)| {
        let [a, b, c, d] = [(i, k), (i + 1, k), (i + 1, k + 1), (i, k + 1)].map(|(i, k)| corner(i, k));
        [[a, b, c], [a, c, d]]
    });
    cut.collect()
}

/// Closed surfaces, each a single mesh, for which pseudonormals fail. Their shells touch, cross or lie within
/// each other.
pub(crate) fn shells() -> Vec<(&'static str, Vec<Triangle>)> {
    let half = 0.5 * 3.0f32.sqrt();
    let boxed = |size: Vec3, middle: Vec3| -> Vec<Triangle> {
        let corners = sphere(2).into_iter();
        // A ball of two squares along each side becomes a cube.
        let square = |v: Vec3| (v / v.abs().max_element()).round() * 0.5;
        corners.map(|t| t.map(|v| middle + size * square(v))).collect()
    };
    let ball = |radius: f32, middle: Vec3| -> Vec<Triangle> {
        let corners = sphere(6).into_iter();
        corners.map(|t| t.map(|v| middle + radius * v)).collect()
    };
    let turned = |t: Vec<Triangle>| t.into_iter().map(|[a, b, c]| [b, a, c]).collect::<Vec<_>>();
    let half_x = half * Vec3::X;
    vec![
        (
            "abutting",
            [boxed(Vec3::ONE, -0.5 * Vec3::X), boxed(Vec3::ONE, 0.5 * Vec3::X)].concat(),
        ),
        (
            "overlapping",
            [boxed(Vec3::ONE, Vec3::ZERO), boxed(Vec3::ONE, Vec3::splat(0.3))].concat(),
        ),
        (
            "nested",
            [ball(1.0, Vec3::ZERO), ball(0.4, 0.3 * Vec3::X)].concat(),
        ),
        (
            "hollow",
            [ball(1.0, Vec3::ZERO), turned(ball(0.4, 0.3 * Vec3::X))].concat(),
        ),
        (
            "twice hollow",
            [
                ball(1.0, Vec3::ZERO),
                turned(ball(0.8, Vec3::ZERO)),
                ball(0.5, Vec3::ZERO),
            ]
            .concat(),
        ),
        (
            "everted",
            [ball(0.6, -0.4 * half_x), turned(ball(0.6, 0.4 * half_x))].concat(),
        ),
        (
            "twice the same",
            [ball(0.8, Vec3::ZERO), ball(0.8, Vec3::ZERO)].concat(),
        ),
        ("eight", eight()),
    ]
}

/// Points everywhere, and near corners, edges and faces on both sides.
pub(crate) fn points(triangles: &[Triangle], count: usize) -> Vec<Vec3> {
    let mut random = Random(3);
    let near = [1e-4, 1e-3, 0.02, 0.2];
    (0..count)
        .map(|i| {
            let [a, b, c] = triangles[i * 13 % triangles.len()];
            let at = match i % 5 {
                0 => a,
                1 => a.lerp(b, random.unit()),
                2 => 0.2 * a + 0.5 * b + 0.3 * c,
                _ => return 1.2 * random.cube(),
            };
            at + near[i / 5 % 4] * random.cube()
        })
        .collect()
}

fn signed(gpu: &Gpu, soup: &Soup, points: &[Vec3], sign: Sign) -> Vec<Nearest> {
    let tree = soup.build(gpu, &Lbvh::new(gpu));
    let points: Vec<_> = points
        .iter()
        .map(|p| p.extend(f32::INFINITY).to_array())
        .collect();
    SignedDistance::new(gpu)
        .run(gpu, &Search::new(&tree), &points, sign)
        .unwrap()
}

fn distance(triangles: &[Triangle], point: Vec3) -> f64 {
    queries::nearest(triangles, point).unwrap().0
}

#[test]
fn signs_on_closed_surfaces_match_the_winding_number() {
    for (kernels, gpu) in ways().into_iter().take(by_lane(1, 2)) {
        for (name, triangles) in closed().into_iter().take(by_lane(3, 5)) {
            let points = points(&triangles, 1200);
            let soup = Soup::default().mesh(triangles.clone());
            for sign in [Sign::Pseudonormal, Sign::Winding] {
                let found = signed(&gpu, &soup, &points, sign);
                let mut inside = 0;
                for (point, found) in points.iter().zip(&found) {
                    let expected = distance(&triangles, *point);
                    assert!((f64::from(found.distance.abs()) - expected).abs() < 2e-6);
                    let winding = queries::winding_number(&triangles, *point);
                    assert!((winding - winding.round()).abs() < 1e-6 || expected < 1e-6);
                    if expected > 1e-5 {
                        let is_inside = winding > 0.5;
                        inside += usize::from(is_inside);
                        let what = format!("{kernels}, {name}, {sign:?}: {point} {found:?} {winding}");
                        assert_eq!(found.distance < 0.0, is_inside, "{what}");
                    }
                }
                assert!(inside > 100 && inside < 1100, "{name}: {inside}");
            }
        }
    }
}

#[test]
fn signs_of_touching_crossing_and_nested_shells_match_winding_numbers() {
    let gpu = gpu();
    for (name, triangles) in shells() {
        let points = points(&triangles, 1200);
        let soup = Soup::default().mesh(triangles.clone());
        let found = signed(&gpu, &soup, &points, Sign::Winding);
        let mut told = [0; 2];
        for (point, found) in points.iter().zip(&found) {
            let winding = queries::winding_number(&triangles, *point);
            if distance(&triangles, *point) > 1e-5 {
                assert!((winding - winding.round()).abs() < 1e-6);
                let is_inside = winding > 0.5;
                told[usize::from(is_inside)] += 1;
                assert_eq!(found.distance < 0.0, is_inside, "{name}: {point} {winding}");
            }
        }
        assert!(told.iter().all(|n| *n > 100), "{name}: {told:?}");
    }
}

#[test]
fn winding_numbers_match_the_sum_over_all_triangles() {
    for (kernels, gpu) in ways() {
        // A ball without its top, a ball inside out beside it, and a soup.
        let open: Vec<_> = sphere(12).into_iter().filter(|t| t[0].y < 0.7).collect();
        let turned = sphere(9)
            .into_iter()
            .map(|[a, b, c]| [b, a, c].map(|v| v + 2.0 * Vec3::X));
        let soup = Soup::default()
            .mesh(open)
            .mesh(turned)
            .mesh(common::random_triangles(500, 3))
            .mesh([]);
        let triangles = soup.triangles();
        let tree = soup.build(&gpu, &Lbvh::new(&gpu));
        let mut random = Random(8);
        let points: Vec<_> = (0..400).map(|i| [1.0, 3.0][i % 2] * random.cube()).collect();
        let asked: Vec<_> = points.iter().map(|p| p.extend(0.0).to_array()).collect();
        let found = Winding::new(&gpu).run(&gpu, &Search::new(&tree), &asked).unwrap();
        let mut largest: f64 = 0.0;
        for (point, found) in points.iter().zip(&found) {
            let expected = queries::winding_number(&triangles, *point);
            largest = largest.max((f64::from(*found) - expected).abs());
        }
        assert!(largest < 0.03, "{kernels}: {largest}");
        assert!(largest > 0.0);
    }
}

#[test]
fn moments_of_another_tree_are_refused() {
    let gpu = gpu();
    let lbvh = Lbvh::new(&gpu);
    let [small, large] = [10, 20].map(|count| Soup::random(count, 1).build(&gpu, &lbvh));
    let winding = Winding::new(&gpu);
    let moments = winding.moments(&gpu, &small).unwrap();
    let mut encoder = gpu.encoder("test");
    let recorded = winding.record_moments(&gpu, &mut encoder, &large, &moments);
    assert!(matches!(recorded, Err(canopy_bvh::Error::Tree(_))));
}

#[test]
fn winding_signs_work_for_an_open_ball() {
    let gpu = gpu();
    let open: Vec<_> = sphere(12).into_iter().filter(|t| t[0].y < 0.9).collect();
    let soup = Soup::default().mesh(open.clone());
    let mut random = Random(8);
    let points: Vec<_> = (0..600).map(|_| 1.3 * random.cube()).collect();
    let found = signed(&gpu, &soup, &points, Sign::Winding);
    for (point, found) in points.iter().zip(&found) {
        let is_told = point.length() < 0.9 || point.length() > 1.1;
        if is_told && point.y < 0.6 {
            assert_eq!(found.distance < 0.0, point.length() < 1.0, "{point} {found:?}");
        }
    }
}

#[test]
fn empty_meshes_have_no_negative_distances() {
    let gpu = gpu();
    for soup in [
        Soup::default(),
        Soup::default().mesh([]),
        Soup::default().mesh([[Vec3::NAN; 3]]),
    ] {
        for sign in [Sign::Pseudonormal, Sign::Winding] {
            let found = signed(&gpu, &soup, &[Vec3::ONE, Vec3::NAN], sign);
            assert!(!found.iter().any(|found| found.distance < 0.0), "{found:?}");
        }
    }
    // Triangles without an area have no side.
    let line = [Vec3::ZERO, Vec3::X, 0.5 * Vec3::X];
    let found = signed(
        &gpu,
        &Soup::default().mesh([line]),
        &[Vec3::ONE],
        Sign::Pseudonormal,
    );
    assert!(found[0].distance > 0.0);
}
