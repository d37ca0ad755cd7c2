//! BVHs over triangles, boxes and balls, and their queries beyond rays: regions, pairs, neighbours, sweeps
//! and crossings. Each is compared with every object in f64.

use crate::common;
use canopy::{
    accel::{
        BoxQuery, CapsuleQuery, Codes, Counts, FrustumQuery, Lbvh, NearestK, ObjectGeometry, ObjectLbvh,
        Objects, Overlap, OverlapPairs, Pairs, Predicate, Quality, Ray, RayCrossings, Search, Sweep, Sweeps,
        Tree, Work, layout::BVH_MISS, overlap::Region,
    },
    gpu::Gpu,
    reference::queries::{self, Solid},
};
use common::{
    Random, Soup, by_lane, gpu,
    stocked::{CLOSE, Stocked, all_kinds, boxes, rows, sphere},
    ways,
};
use glam::{DVec3, Vec3};
use std::collections::BTreeSet;
use wgpu::BufferUsages as Usage;

/// Objects that each region touches, according to the query.
fn touched<R: Region>(gpu: &Gpu, search: &Search<'_>, regions: &[R]) -> Vec<BTreeSet<[u32; 2]>> {
    let found = Overlap::new(gpu).run(gpu, search, regions).unwrap();
    let (offsets, names) = found.read(gpu).unwrap();
    let of_region = |pair: &[u32]| {
        let names = &names[pair[0] as usize..pair[1] as usize];
        let set: BTreeSet<_> = names.iter().copied().collect();
        assert_eq!(set.len(), names.len(), "an object comes up twice");
        set
    };
    offsets.windows(2).map(of_region).collect()
}

/// Fault of a set of objects with a negative gap, if any, except where rounding decides.
fn found_fault(found: &BTreeSet<[u32; 2]>, gaps: impl Iterator<Item = ([u32; 2], f64)>) -> Option<String> {
    let mut known = 0;
    for (name, gap) in gaps {
        let is_found = found.contains(&name);
        known += usize::from(is_found);
        match is_found {
            true if gap > CLOSE => return Some(format!("{name:?} is {gap} away")),
            false if gap < -CLOSE => return Some(format!("{name:?} is missing by {gap}")),
            _ => {}
        }
    }
    (known != found.len()).then(|| "objects that there are not".into())
}

#[test]
fn box_and_capsule_queries_match_brute_force_for_every_object_kind() {
    for (kernels, gpu) in ways().into_iter().take(by_lane(1, 2)) {
        let mut random = Random(11);
        for (kind, stock) in all_kinds(&gpu, 260, 3).iter().enumerate() {
            for cutoff in [1, 8] {
                let search = Search {
                    leaf_cutoff: cutoff,
                    ..Search::new(stock.tree())
                };
                let capsules: Vec<_> = (0..60)
                    .map(|i| {
                        let a = random.cube();
                        let b = if i % 4 == 0 { a } else { a + random.cube() };
                        CapsuleQuery {
                            a: a.into(),
                            b: b.into(),
                            radius: [0.0, 0.1, 0.4][i % 3] * random.unit(),
                            ..CapsuleQuery::default()
                        }
                    })
                    .collect();
                for (capsule, found) in capsules.iter().zip(touched(&gpu, &search, &capsules)) {
                    let [a, b] = [capsule.a, capsule.b].map(|v| Vec3::from(v).as_dvec3());
                    let radius = f64::from(capsule.radius);
                    // A capsule with radius 0 touches the objects it passes through, up to rounding.
                    let gap = |solid: &Solid| match solid.segment_distance(a, b) - radius {
                        gap if radius == 0.0 && gap < 1e-9 => 0.0,
                        gap => gap,
                    };
                    let gaps = stock.named().map(|(name, solid)| (name, gap(solid)));
                    assert_eq!(found_fault(&found, gaps), None, "{kernels}, {kind}, {capsule:?}");
                }
                let asked: Vec<_> = (0..40)
                    .map(|_| {
                        let at = random.cube();
                        let half = 0.3 * random.cube().abs();
                        Solid::Box(at - half, at + half)
                    })
                    .collect();
                let as_query = |solid: &Solid| match solid {
                    Solid::Box(lower, upper) => BoxQuery {
                        lower: lower.to_array(),
                        upper: upper.to_array(),
                        ..BoxQuery::default()
                    },
                    _ => BoxQuery::default(),
                };
                let queries: Vec<_> = asked.iter().map(as_query).collect();
                for (asked, found) in asked.iter().zip(touched(&gpu, &search, &queries)) {
                    let gaps = stock.named().map(|(name, solid)| (name, solid.gap(asked)));
                    assert_eq!(found_fault(&found, gaps), None, "{kernels}, {kind}, {asked:?}");
                }
            }
        }
    }
}

/// Six planes around a truncated pyramid.
fn frustum(random: &mut Random) -> FrustumQuery {
    let eye = 1.5 * random.cube();
    let forward = (random.cube() - eye).normalize();
    let right = forward.any_orthonormal_vector();
    let up = right.cross(forward);
    let plane = |normal: Vec3, at: Vec3| normal.extend(-normal.dot(at)).to_array();
    let tangent = 0.2 + 0.6 * random.unit();
    let side = |across: Vec3| plane(across + tangent * forward, eye);
    FrustumQuery {
        planes: [
            plane(forward, eye + 0.1 * forward),
            plane(-forward, eye + 1.8 * forward),
            side(right),
            side(-right),
            side(up),
            side(-up),
        ],
    }
}

#[test]
fn frusta_test_triangles_exactly_and_other_objects_by_planes() {
    for (kernels, gpu) in ways().into_iter().take(by_lane(1, 2)) {
        let mut random = Random(5);
        let frusta: Vec<_> = (0..40).map(|_| frustum(&mut random)).collect();
        for stock in all_kinds(&gpu, 300, 8) {
            let found = touched(&gpu, &Search::new(stock.tree()), &frusta);
            assert!(found.iter().any(|found| found.len() > 20));
            for (frustum, found) in frusta.iter().zip(found) {
                for (name, solid) in stock.named() {
                    let before = |grown: f64| match solid {
                        Solid::Triangle(t) => queries::in_front_of_planes(t, &frustum.planes, grown),
                        Solid::Box(..) | Solid::Ball(..) => frustum.planes.iter().all(|plane| {
                            let [x, y, z, w] = plane.map(f64::from);
                            let normal = DVec3::new(x, y, z);
                            let far = match solid {
                                Solid::Box(lower, upper) => {
                                    let (lower, upper) = (lower.as_dvec3(), upper.as_dvec3());
                                    normal.max(DVec3::ZERO).dot(upper) + normal.min(DVec3::ZERO).dot(lower)
                                }
                                Solid::Ball(centre, radius) => {
                                    normal.dot(centre.as_dvec3()) + f64::from(*radius) * normal.length()
                                }
                                Solid::Triangle(_) => f64::NAN,
                            };
                            far + w + grown * normal.length() >= 0.0
                        }),
                    };
                    let is_found = found.contains(&name);
                    assert!(
                        !is_found || before(CLOSE),
                        "{kernels}: {name:?} {solid:?} {frustum:?}"
                    );
                    assert!(
                        is_found || !before(-CLOSE),
                        "{kernels}: {name:?} {solid:?} {frustum:?}"
                    );
                }
            }
        }
    }
}

/// Pairs that a query finds, asserting that each occurs once.
fn pairs(gpu: &Gpu, asked: &Pairs<'_>) -> BTreeSet<[u32; 4]> {
    let query = OverlapPairs::new(gpu);
    let found = query.run(gpu, asked).unwrap();
    let (_, pairs) = found.read(gpu).unwrap();
    let set: BTreeSet<_> = pairs
        .iter()
        .map(|p| [p.mesh_a, p.object_a, p.mesh_b, p.object_b])
        .collect();
    assert_eq!(set.len(), pairs.len(), "a pair comes up twice");
    // In a single pass, into a buffer with half the room.
    let room = (pairs.len() / 2).max(1);
    let usage = Usage::STORAGE | Usage::COPY_SRC | Usage::COPY_DST;
    let total = gpu.buffer_with("total", &[9_u32], usage);
    let some = gpu.buffer("some", 16 * room as u64, usage);
    let mut encoder = gpu.encoder("test");
    query
        .record_append(gpu, &mut encoder, asked, [&total, &some])
        .unwrap();
    gpu.queue.submit([encoder.finish()]);
    let total: Vec<u32> = bytemuck::pod_collect_to_vec(&gpu.read(&total).unwrap());
    assert_eq!(total[0] as usize, pairs.len());
    let some: Vec<[u32; 4]> = bytemuck::pod_collect_to_vec(&gpu.read(&some).unwrap());
    let some = &some[..room.min(pairs.len())];
    assert!(some.iter().all(|pair| set.contains(pair)));
    // Counted first, with room to keep half of the pairs.
    let asking = asked.other.unwrap_or(asked.search.tree);
    let counts = Counts::with_capacity(gpu, asking.triangle_count(), room as u32).unwrap();
    let all = gpu.buffer("all", 16 * pairs.len().max(1) as u64, usage);
    let mut encoder = gpu.encoder("test");
    query.record_count(gpu, &mut encoder, asked, &counts).unwrap();
    query
        .record_collect(gpu, &mut encoder, asked, &counts, &all)
        .unwrap();
    gpu.queue.submit([encoder.finish()]);
    let all: Vec<[u32; 4]> = bytemuck::pod_collect_to_vec(&gpu.read(&all).unwrap());
    let all = all[..pairs.len()].iter().copied();
    assert_eq!(all.collect::<BTreeSet<_>>(), set);
    set
}

/// Fault of a complete set of pairs, if any.
fn pairs_fault(found: &BTreeSet<[u32; 4]>, a: &Stocked, b: &Stocked, within: bool) -> Option<String> {
    let mut known = 0;
    for (x, first) in a.named() {
        for (y, second) in b.named() {
            if within && x >= y {
                continue;
            }
            let gap = first.gap(second);
            let is_found = found.contains(&[x[0], x[1], y[0], y[1]]);
            known += usize::from(is_found);
            match is_found {
                true if gap > CLOSE => return Some(format!("{x:?} {y:?} are {gap} apart")),
                false if gap < -CLOSE => return Some(format!("{x:?} {y:?} are missing by {gap}")),
                _ => {}
            }
        }
    }
    (known != found.len()).then(|| "pairs that there are not".into())
}

/// There is a kernel for each pair of kinds. In the quick lane, balls do not query balls, and each kind
/// queries one other. Tests of two shapes are the same in either order, except balls that query boxes, which
/// million.rs covers.
#[test]
fn object_pairs_match_brute_force_for_every_pair_of_kinds() {
    for (kernels, gpu) in ways().into_iter().take(by_lane(1, 2)) {
        let first = all_kinds(&gpu, 70, 21);
        let second = all_kinds(&gpu, 40, 31);
        for (i, a) in first.iter().enumerate() {
            if i < by_lane(2, 3) {
                let found = pairs(&gpu, &Pairs::within(a.tree()));
                assert!(found.len() > 10, "{kernels}, {i}: {}", found.len());
                assert_eq!(pairs_fault(&found, a, a, true), None, "{kernels}, within {i}");
            }
            for (k, b) in second.iter().enumerate() {
                if by_lane(k != (i + 1) % 3, false) {
                    continue;
                }
                let found = pairs(&gpu, &Pairs::between(a.tree(), b.tree()));
                assert_eq!(pairs_fault(&found, a, b, false), None, "{kernels}, {i} and {k}");
            }
        }
    }
}

/// From 2,048 objects on, software adapters distribute the pairs of nodes over threads.
#[test]
fn pairs_of_many_objects_beyond_the_capacity_match_brute_force() {
    for (kernels, gpu) in ways().into_iter().take(by_lane(1, 2)) {
        let mut random = Random(41);
        let mut stock = |counts: [usize; 2], size: f32| {
            let sets = counts.map(|count| boxes(count, size, &mut random));
            Stocked::objects(&gpu, Objects::Boxes, sets.to_vec())
        };
        let (sparse, dense, few) = (
            stock([1_900, 400], 0.11),
            stock([2_100, 0], 0.3),
            stock([1, 150], 0.2),
        );
        for (stock, kept) in [(&sparse, 0..4_000), (&dense, 5_000..99_000)] {
            let found = pairs(&gpu, &Pairs::within(stock.tree()));
            assert!(kept.contains(&found.len()), "{kernels}: {}", found.len());
            assert_eq!(pairs_fault(&found, stock, stock, true), None, "{kernels}");
        }
        let across = pairs(&gpu, &Pairs::within(sparse.tree()).across());
        let within = pairs(&gpu, &Pairs::within(sparse.tree()));
        let expected: BTreeSet<_> = within.into_iter().filter(|p| p[0] != p[2]).collect();
        assert!(expected.len() > 50, "{kernels}: {}", expected.len());
        assert_eq!(across, expected, "{kernels}");
        for (a, b) in [(&sparse, &few), (&few, &sparse)] {
            let found = pairs(&gpu, &Pairs::between(a.tree(), b.tree()));
            assert!(found.len() > 50, "{kernels}: {}", found.len());
            assert_eq!(pairs_fault(&found, a, b, false), None, "{kernels}");
        }
    }
}

#[test]
fn the_comparisons_detect_errors() {
    let gpu = gpu();
    let [_, stock, _] = all_kinds(&gpu, 60, 5);
    let found = pairs(&gpu, &Pairs::within(stock.tree()));
    let is_wrong = |found: BTreeSet<[u32; 4]>| pairs_fault(&found, &stock, &stock, true).is_some();
    assert!(!is_wrong(found.clone()));
    let mut less = found.clone();
    less.pop_first();
    assert!(is_wrong(less));
    let mut more = found;
    more.insert([0, 0, 9, 9]);
    assert!(is_wrong(more));

    let ball = Solid::Ball(Vec3::ZERO, 0.6);
    let gaps = || stock.named().map(|(name, solid)| (name, solid.gap(&ball)));
    let inside: BTreeSet<_> = gaps()
        .filter(|(_, gap)| *gap <= 0.0)
        .map(|(name, _)| name)
        .collect();
    let outside = gaps().find(|(_, gap)| *gap > 0.0).unwrap().0;
    assert!(inside.len() > 3);
    assert_eq!(found_fault(&inside, gaps()), None);
    let mut less = inside.clone();
    less.pop_first();
    assert!(found_fault(&less, gaps()).is_some());
    for wrong in [outside, [9, 9]] {
        let mut more = inside.clone();
        more.insert(wrong);
        assert!(found_fault(&more, gaps()).is_some());
    }
}

#[test]
fn adjacent_triangles_of_one_surface_are_left_out() {
    let gpu = gpu();
    let moved = |by: Vec3| sphere(6).into_iter().map(move |t| t.map(|v| v + by));
    let one = Soup::default().mesh(sphere(6));
    let one = Stocked::triangles(&gpu, &one);
    assert_eq!(
        pairs(&gpu, &Pairs::within(one.tree()).distinct()),
        BTreeSet::new()
    );
    // Each triangle touches the twelve or so around it.
    assert!(pairs(&gpu, &Pairs::within(one.tree())).len() > 6 * 432 - 100);
    let two = Soup::default()
        .mesh(sphere(6))
        .mesh(moved(Vec3::new(0.7, 0.11, 0.23)));
    let two = Stocked::triangles(&gpu, &two);
    let across = pairs(&gpu, &Pairs::within(two.tree()).across());
    let found = pairs(&gpu, &Pairs::within(two.tree()).distinct());
    assert_eq!(across, found);
    assert!(found.len() > 30 && found.iter().all(|[a, _, b, _]| a == &0 && b == &1));
}

#[test]
fn k_nearest_queries_find_the_nearest_objects() {
    for (kernels, gpu) in ways() {
        let query = NearestK::new(&gpu);
        let mut random = Random(4);
        for (kind, stock) in all_kinds(&gpu, 250, 13).iter().enumerate() {
            let points: Vec<_> = (0..50)
                .map(|i| {
                    let reach = [f32::INFINITY, 0.5, 0.05][i % 3];
                    (1.3 * random.cube()).extend(reach).to_array()
                })
                .collect();
            for k in [1, 2, 7, 500] {
                let search = Search::new(stock.tree());
                let found = query.run(&gpu, &search, &points, k).unwrap();
                for (point, found) in points.iter().zip(found.chunks(k as usize)) {
                    let [x, y, z, reach] = *point;
                    let at = Vec3::new(x, y, z).as_dvec3();
                    let mut distances: Vec<_> = stock
                        .named()
                        .map(|(name, solid)| (solid.distance(at), name))
                        .collect();
                    distances.sort_by(|a, b| a.0.total_cmp(&b.0));
                    let mut names = BTreeSet::new();
                    for (i, found) in found.iter().enumerate() {
                        let expected = distances.get(i).filter(|(d, _)| *d < f64::from(reach));
                        let what = format!("{kernels}, {kind}, {k}, {point:?}, {i}: {found:?} {expected:?}");
                        if found.mesh == BVH_MISS {
                            assert!(expected.is_none_or(|(d, _)| d + CLOSE > reach.into()), "{what}");
                            continue;
                        }
                        let distance = f64::from(found.distance);
                        let near = distances.get(i).unwrap().0;
                        assert!(
                            (distance - near).abs() < CLOSE && near < f64::from(reach) + CLOSE,
                            "{what}"
                        );
                        let name = [found.mesh, found.object];
                        let of_name = distances.iter().find(|(_, other)| *other == name).unwrap().0;
                        assert!((of_name - distance).abs() < CLOSE, "{what}");
                        assert!(names.insert(name), "{what}: twice");
                        // If distances are not tied, the object must match.
                        let gap = |j: usize| distances.get(j).map_or(1.0, |other| (other.0 - near).abs());
                        let is_tied = gap(i + 1) < 2.0 * CLOSE || (i > 0 && gap(i - 1) < 2.0 * CLOSE);
                        assert!(is_tied || distances[i].1 == name, "{what}");
                    }
                }
            }
            let none = [[0.0, 0.0, 0.0, f32::INFINITY]];
            assert!(
                query
                    .run(&gpu, &Search::new(stock.tree()), &none, 0)
                    .unwrap()
                    .is_empty()
            );
        }
    }
}

#[test]
fn moving_capsules_stop_at_the_first_contact() {
    for (number, (kernels, gpu)) in ways().into_iter().enumerate() {
        let query = Sweeps::new(&gpu);
        let mut random = Random(6);
        // On the second device of the quick lane, only triangles.
        let kinds = if number == 0 { 3 } else { by_lane(1, 3) };
        let stocks = all_kinds(&gpu, 60, 17);
        for (kind, stock) in stocks.iter().enumerate().take(kinds) {
            let solids: Vec<_> = stock.named().collect();
            let clearance = |a: DVec3, b: DVec3| {
                let distances = solids.iter().map(|(_, solid)| solid.segment_distance(a, b));
                distances.fold(f64::INFINITY, f64::min)
            };
            let mut sweeps = Vec::new();
            while sweeps.len() < 40 {
                let a = 1.6 * random.cube();
                let b = if sweeps.len() % 3 == 0 {
                    a
                } else {
                    a + 0.4 * random.cube()
                };
                let radius = 0.15 * random.unit();
                // A separate test covers contacts at the start.
                if clearance(a.as_dvec3(), b.as_dvec3()) > f64::from(radius) + 1e-4 {
                    sweeps.push(Sweep {
                        a: a.into(),
                        b: b.into(),
                        radius,
                        motion: (2.0 * random.cube()).into(),
                        ..Sweep::default()
                    });
                }
            }
            let search = Search::new(stock.tree());
            let contacts = query.run(&gpu, &search, &sweeps).unwrap();
            let mut hits = 0;
            for (sweep, contact) in sweeps.iter().zip(&contacts) {
                let [a, b, motion] = [sweep.a, sweep.b, sweep.motion].map(|v| Vec3::from(v).as_dvec3());
                let radius = f64::from(sweep.radius);
                let what = format!("{kernels}, {kind}: {sweep:?} {contact:?}");
                let t = f64::from(contact.t);
                for step in 0..=24 {
                    let moved = motion * (t * f64::from(step) / 24.0);
                    let clear = clearance(a + moved, b + moved);
                    assert!(clear > radius - 2.0 * CLOSE, "{what}: {} into it", radius - clear);
                }
                if contact.mesh == BVH_MISS {
                    assert_eq!(contact.t, 1.0, "{what}");
                    continue;
                }
                hits += 1;
                let name = [contact.mesh, contact.object];
                let solid = solids.iter().find(|(other, _)| *other == name).unwrap().1;
                let moved = motion * t;
                let distance = solid.segment_distance(a + moved, b + moved);
                assert!((distance - radius).abs() < 2.0 * CLOSE, "{what}: {distance} away");
                let position = Vec3::from(contact.position).as_dvec3();
                assert!(solid.distance(position) < CLOSE, "{what}");
                let of_axis = Solid::Ball(position.as_vec3(), 0.0).segment_distance(a + moved, b + moved);
                assert!((of_axis - radius).abs() < 4.0 * CLOSE, "{what}");
                let normal = Vec3::from(contact.normal);
                assert!(
                    (normal.length() - 1.0).abs() < 1e-4 && normal.as_dvec3().dot(motion) < 0.0,
                    "{what}"
                );
            }
            assert!(hits > 10 && hits < 40, "{kernels}, {kind}: {hits}");
        }
    }
}

#[test]
fn sweeps_that_start_in_contact_can_separate() {
    let gpu = gpu();
    let floor = [[-9.0, 0.0, -9.0], [9.0, 0.0, -9.0], [0.0, 0.0, 9.0]].map(Vec3::from);
    let stock = Stocked::triangles(&gpu, &Soup::default().mesh([floor]));
    let sweep = |height: f32, motion: [f32; 3]| Sweep {
        a: [0.0, height, 0.0],
        b: [0.0, height + 1.0, 0.0],
        radius: 0.5,
        motion,
        ..Sweep::default()
    };
    let sweeps = [
        sweep(0.5, [0.0, -1.0, 0.0]),
        sweep(0.5, [0.0, 1.0, 0.0]),
        sweep(0.5, [1.0, 0.0, 0.0]),
        sweep(0.4, [0.0, 1.0, 0.0]),
        sweep(0.4, [0.0, -1.0, 0.0]),
        sweep(1.5, [0.0, -2.0, 0.0]),
        sweep(1.5, [0.0, 0.0, 0.0]),
        sweep(f32::NAN, [0.0, -2.0, 0.0]),
        sweep(1.5, [0.0, f32::NAN, 0.0]),
        sweep(1.5, [0.0, -1e30, 0.0]),
    ];
    let contacts = Sweeps::new(&gpu)
        .run(&gpu, &Search::new(stock.tree()), &sweeps)
        .unwrap();
    let times: Vec<_> = contacts.iter().take(7).map(|contact| contact.t).collect();
    assert_eq!(times[..5], [0.0, 1.0, 1.0, 1.0, 0.0]);
    assert!((times[5] - 0.5).abs() < 1e-6, "{times:?}");
    assert_eq!(times[6], 1.0);
    assert!((contacts[5].normal[1] - 1.0).abs() < 1e-6);
}

#[test]
fn rays_cross_a_closed_surface_in_pairs() {
    for (kernels, gpu) in ways() {
        let surface = sphere(8);
        let tree = Soup::default()
            .mesh(surface.clone())
            .build(&gpu, &Lbvh::new(&gpu));
        let query = RayCrossings::new(&gpu);
        let mut random = Random(9);
        let mut rays = Vec::new();
        for i in 0..600 {
            // Half of them at corners and along edges, of which an eighth along axes.
            let origin = if i % 16 == 0 {
                Vec3::ZERO
            } else {
                1.4 * random.cube()
            };
            let triangle = surface[i * 31 % surface.len()];
            let target = match i % 4 {
                0 => triangle[0],
                1 => 0.5 * (triangle[0] + triangle[1]),
                _ => random.cube(),
            };
            rays.push(Ray {
                origin: origin.into(),
                t_min: 0.0,
                direction: (target - origin).into(),
                t_max: f32::MAX,
            });
        }
        let found = query.run(&gpu, &Search::new(&tree), &rays).unwrap();
        for (ray, found) in rays.iter().zip(&found) {
            let [origin, direction] = [ray.origin, ray.direction].map(Vec3::from);
            let what = format!("{kernels}: {ray:?} {found:?}");
            // Facets are up to 3 % within the ball.
            if origin.length() < 0.95 {
                assert!(found.is_inside() && found.backs == found.fronts + 1, "{what}");
            } else if origin.length() > 1.0 {
                assert!(!found.is_inside() && found.backs == found.fronts, "{what}");
            }
            let hits = surface
                .iter()
                .filter_map(|t| queries::crossing(t, origin, direction));
            let hits: Vec<_> = hits.filter(|(t, margin)| *t > -1e-5 && *margin > -1e-5).collect();
            if hits.iter().all(|(t, margin)| *t > 1e-5 && *margin > 1e-5) {
                assert_eq!(hits.len() as u32, found.hits(), "{what}");
            }
        }
    }
}

#[test]
fn masks_and_predicates_choose_objects() {
    let gpu = gpu();
    // The payload of each triangle is its number.
    let soup = Soup::random(300, 2);
    let stock = Stocked::triangles(&gpu, &soup);
    let everything = [BoxQuery {
        lower: [-3.0; 3],
        upper: [3.0; 3],
        ..BoxQuery::default()
    }; 2];
    let search = Search::new(stock.tree());
    let odd = touched(&gpu, &search.with_mask(1), &everything);
    assert_eq!(odd[0], (0..150).map(|i| [0, 2 * i + 1]).collect());
    let point = [[0.0, 0.0, 0.0, f32::INFINITY]];
    let query = NearestK::new(&gpu);
    let all = query.run(&gpu, &search, &point, 300).unwrap();
    let of_mask = query.run(&gpu, &search.with_mask(1), &point, 5).unwrap();
    let expected: Vec<_> = all.into_iter().filter(|n| n.object % 2 == 1).take(5).collect();
    assert_eq!(of_mask, expected);
    // Multiples of a number in a buffer of the caller, and of the query's own number.
    let wgsl = "
        @group(2) @binding(0) var<storage, read> divisors: array<u32>;
        fn bvh_query_accepts(query: u32, object: LeafTriangle, mask: u32) -> bool {
            return object.triangle % divisors[query] == mask;
        }";
    let layout = gpu
        .device
        .create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some("divisors"),
            entries: &[wgpu::BindGroupLayoutEntry {
                binding: 0,
                visibility: wgpu::ShaderStages::COMPUTE,
                ty: wgpu::BindingType::Buffer {
                    ty: wgpu::BufferBindingType::Storage { read_only: true },
                    has_dynamic_offset: false,
                    min_binding_size: None,
                },
                count: None,
            }],
        });
    let divisors = gpu.buffer_with("divisors", &[10_u32, 7], Usage::STORAGE);
    let group = gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some("divisors"),
        layout: &layout,
        entries: &[wgpu::BindGroupEntry {
            binding: 0,
            resource: divisors.as_entire_binding(),
        }],
    });
    let predicate = Predicate::new("mine.wgsl", wgsl, Some(layout));
    let search = Search {
        predicate: Some(&group),
        ..search.with_mask(3)
    };
    let query = Overlap::with_predicate(&gpu, Some(&predicate));
    let (offsets, mut names) = query.run(&gpu, &search, &everything).unwrap().read(&gpu).unwrap();
    assert_eq!(offsets, [0, 30, 30 + 43]);
    names[..30].sort_unstable();
    assert!(
        names[..30]
            .iter()
            .map(|name| name[1])
            .eq((0..30).map(|i| 10 * i + 3))
    );
    // An error names the caller's text.
    let broken = Predicate::new("mine.wgsl", "fn bvh_query_accepts( {", None);
    let query = Overlap::with_predicate(&gpu, Some(&broken));
    let error = query
        .run(&gpu, &Search::new(stock.tree()), &everything)
        .unwrap_err();
    assert!(error.to_string().contains("mine.wgsl:1"), "{error}");
}

#[test]
fn invalid_objects_are_never_found_and_others_follow_their_buffer() {
    for quality in [Quality::Fast, Quality::High] {
        let gpu = gpu();
        let (nan, inf) = (f32::NAN, f32::INFINITY);
        let at = |x: f32| Solid::Box(Vec3::splat(x), Vec3::splat(x + 0.1));
        let solids = [
            at(0.0),
            Solid::Box(Vec3::ONE, Vec3::ZERO),
            Solid::Box(Vec3::splat(nan), Vec3::ONE),
            at(0.5),
            Solid::Box(Vec3::splat(-inf), Vec3::splat(inf)),
        ];
        let rows_of = |solids: &[Solid]| solids.iter().flat_map(rows).collect::<Vec<_>>();
        let usage = Usage::STORAGE | Usage::COPY_DST;
        let buffer = gpu.buffer_with("objects", &rows_of(&solids), usage);
        let builder = ObjectLbvh::with_quality(&gpu, quality);
        let geometry = ObjectGeometry {
            objects: Objects::Boxes,
            buffer: &buffer,
            sets: &[5],
            object_info: None,
        };
        let mut tree = builder.tree(&gpu, &geometry, Codes::Bits30).unwrap();
        let everything = [BoxQuery {
            lower: [-inf; 3],
            upper: [inf; 3],
            ..BoxQuery::default()
        }];
        let moved = [at(5.0), at(7.0), solids[1], at(0.5), at(6.0)];
        let expected = [vec![0, 3], vec![0, 1, 3, 4], vec![0, 1, 3, 4]];
        for (work, expected) in [Work::Rebuild, Work::Refit, Work::Rebuild]
            .into_iter()
            .zip(expected)
        {
            let mut encoder = gpu.encoder("test");
            builder.record(&gpu, &mut encoder, &mut tree, work).unwrap();
            gpu.queue.submit([encoder.finish()]);
            let found = touched(&gpu, &Search::new(&tree.tree), &everything);
            assert_eq!(found[0], expected.into_iter().map(|i| [0, i]).collect());
            gpu.queue
                .write_buffer(&buffer, 0, bytemuck::cast_slice(&rows_of(&moved)));
        }
        let short = ObjectGeometry {
            sets: &[4, 3],
            ..geometry
        };
        let error = builder.tree(&gpu, &short, Codes::Bits30).unwrap_err();
        assert!(matches!(error, canopy_bvh::Error::Tree(_)), "{error}");
        let rays = RayCrossings::new(&gpu).run(&gpu, &Search::new(&tree.tree), &[Ray::default()]);
        assert!(matches!(rays.unwrap_err(), canopy_bvh::Error::Tree(_)));
    }
}

#[test]
fn queries_of_empty_trees_find_nothing() {
    let gpu = gpu();
    let buffer = gpu.buffer("objects", 32, Usage::STORAGE);
    let builder = ObjectLbvh::new(&gpu);
    for (objects, sets) in [(Objects::Balls, &[][..]), (Objects::Boxes, &[0, 0])] {
        let geometry = ObjectGeometry {
            objects,
            buffer: &buffer,
            sets,
            object_info: None,
        };
        let mut tree = builder.tree(&gpu, &geometry, Codes::Bits30).unwrap();
        let mut encoder = gpu.encoder("test");
        let work = Work::Rebuild;
        builder.record(&gpu, &mut encoder, &mut tree, work).unwrap();
        gpu.queue.submit([encoder.finish()]);
        let search = Search::new(&tree.tree);
        let everything = BoxQuery {
            lower: [-1e9; 3],
            upper: [1e9; 3],
            ..BoxQuery::default()
        };
        assert!(touched(&gpu, &search, &[everything])[0].is_empty());
        let anywhere = [[0.0, 0.0, 0.0, f32::INFINITY]];
        let query = NearestK::new(&gpu);
        let found = query.run(&gpu, &search, &anywhere, 2).unwrap();
        assert!(found.iter().all(|found| found.mesh == BVH_MISS));
        let sweep = Sweep {
            motion: [1.0, 0.0, 0.0],
            radius: 1.0,
            ..Sweep::default()
        };
        let found = Sweeps::new(&gpu).run(&gpu, &search, &[sweep]).unwrap();
        assert_eq!((found[0].mesh, found[0].t), (BVH_MISS, 1.0));
        assert!(pairs(&gpu, &Pairs::within(&tree.tree)).is_empty());
    }
}

/// A module of the caller, whose names the tree must not clash with. It binds the tree at a group of its
/// choice. Its function continues with [`MINE_IN_PARTS`].
const MINE: &str = "
struct Node { box: vec3f }
const STACK_SIZE = 3u;
fn tree_node(i: u32) -> Node { return Node(vec3f(f32(i))); }
@group(0) @binding(0) var<storage, read_write> found: array<u32>;

@compute @workgroup_size(1)
fn mine() {
    let region = bvh_region_ball(vec3f(0.0), 0.5);
    var walk = bvh_overlap_begin(region, 4u);
    for (var leaf = bvh_overlap_next(&walk, region); leaf != BVH_MISS; leaf = bvh_overlap_next(&walk, region)) {
        found[0]++;
        found[1] += bvh_walk_name(&walk, leaf).y;
    }
    let moving = BvhSweep(vec3f(0.0, 9.0, 0.0), 0.1, vec3f(0.0, 9.0, 0.0), vec3f(0.0, -9.0, 0.0));
    found[2] = bitcast<u32>(bvh_sweep(moving, 4u).t);
    let near = bvh_nearest(vec3f(0.0), 100.0, 4u);
    found[3] = near.triangle;
    let ray = BvhRay(vec3f(9.0, 0.0, 0.0), 0.0, vec3f(-1.0, 0.0, 0.0), 100.0);
    found[4] = bvh_closest_hit(ray, 4u).triangle;
    let along = bvh_crossing_ray(ray);
    walk = bvh_walk_begin(4u);
    while bvh_crossing_next(&walk, along) != BVH_MISS {
        found[5]++;
    }
    found[6] = u32(tree_node(STACK_SIZE).box.x);
";

/// The same queries in the forms that pause when leaves are pending.
const MINE_IN_PARTS: &str = "
    walk = bvh_overlap_begin(region, 4u);
    while bvh_overlap_advance(&walk, region) {
        while !bvh_walk_is_done(&walk) {
            let leaf = bvh_walk_leaf(&walk);
            found[7] += u32(bvh_region_touches(region, bvh_tree_triangle(leaf)));
        }
    }
    walk = bvh_walk_begin(4u);
    while bvh_crossing_advance(&walk, along) {
        while !bvh_walk_is_done(&walk) {
            found[8] += u32(bvh_crossing(bvh_tree_triangle(bvh_walk_leaf(&walk)), along) != 0);
        }
    }
    walk = bvh_sweep_begin(moving, 4u);
    var contact: BvhContact;
    var first = 1.0;
    while bvh_sweep_advance(&walk, moving, bvh_inverse(moving.motion), first) {
        while !bvh_walk_is_done(&walk) {
            if bvh_sweep_leaf(&walk, moving, first, &contact) {
                first = contact.t;
            }
        }
    }
    found[9] = bitcast<u32>(first);
";

/// In the quick lane, the first part runs on one device, because its driver compiles longest. The remaining
/// parts are only parsed, since canopy's own kernels use the pausing forms.
#[test]
fn a_caller_shader_can_query_the_tree() {
    let has_parts = by_lane(false, true);
    for (number, (kernels, gpu)) in ways().into_iter().enumerate() {
        let soup = Soup::random(600, 4);
        let tree = soup.build(&gpu, &Lbvh::new(&gpu));
        let group = 3;
        {
            let text = tree.wgsl(&gpu, group, None).unwrap() + MINE;
            let whole = format!("{text}{MINE_IN_PARTS}}}");
            naga::front::wgsl::parse_str(&whole).unwrap();
            if number > 0 && !has_parts {
                continue;
            }
            let text = if has_parts { whole } else { text + "}" };
            let descriptor = wgpu::ShaderModuleDescriptor {
                label: Some("mine"),
                source: wgpu::ShaderSource::Wgsl(text.into()),
            };
            let module = gpu.device.create_shader_module(descriptor);
            let layout = Tree::layout(&gpu, wgpu::ShaderStages::COMPUTE);
            let binding = wgpu::BindGroupLayoutEntry {
                binding: 0,
                visibility: wgpu::ShaderStages::COMPUTE,
                ty: wgpu::BindingType::Buffer {
                    ty: wgpu::BufferBindingType::Storage { read_only: false },
                    has_dynamic_offset: false,
                    min_binding_size: None,
                },
                count: None,
            };
            let own = gpu
                .device
                .create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
                    label: Some("mine"),
                    entries: &[binding],
                });
            let mut groups = vec![None; group as usize + 1];
            groups[0] = Some(&own);
            groups[group as usize] = Some(&layout);
            let pipeline_layout = gpu
                .device
                .create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                    label: Some("mine"),
                    bind_group_layouts: &groups,
                    immediate_size: 0,
                });
            let pipeline = gpu
                .device
                .create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                    label: Some("mine"),
                    layout: Some(&pipeline_layout),
                    module: &module,
                    entry_point: Some("mine"),
                    compilation_options: wgpu::PipelineCompilationOptions::default(),
                    cache: None,
                });
            let found = gpu.buffer_with("found", &[0_u32; 10], Usage::STORAGE | Usage::COPY_SRC);
            let own = gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some("mine"),
                layout: &own,
                entries: &[wgpu::BindGroupEntry {
                    binding: 0,
                    resource: found.as_entire_binding(),
                }],
            });
            let mut encoder = gpu.encoder("mine");
            {
                let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
                pass.set_pipeline(&pipeline);
                pass.set_bind_group(0, &own, &[]);
                pass.set_bind_group(group, &tree.bind_group(&gpu, &layout), &[]);
                pass.dispatch_workgroups(1, 1, 1);
            }
            gpu.queue.submit([encoder.finish()]);
            let found: Vec<u32> = bytemuck::pod_collect_to_vec(&gpu.read(&found).unwrap());
            let search = Search::new(&tree);
            let ball = CapsuleQuery {
                radius: 0.5,
                ..CapsuleQuery::default()
            };
            let touched = touched(&gpu, &search, &[ball]);
            let sum: u32 = touched[0].iter().map(|name| name[1]).sum();
            assert_eq!(found[..2], [touched[0].len() as u32, sum], "{kernels}");
            let down = Sweep {
                a: [0.0, 9.0, 0.0],
                b: [0.0, 9.0, 0.0],
                radius: 0.1,
                motion: [0.0, -9.0, 0.0],
                ..Sweep::default()
            };
            let contacts = Sweeps::new(&gpu).run(&gpu, &search, &[down]).unwrap();
            assert_eq!(f32::from_bits(found[2]), contacts[0].t, "{kernels}");
            let near = NearestK::new(&gpu)
                .run(&gpu, &search, &[[0.0, 0.0, 0.0, 100.0]], 1)
                .unwrap();
            assert_eq!(found[3], near[0].object, "{kernels}");
            let ray = Ray {
                origin: [9.0, 0.0, 0.0],
                t_min: 0.0,
                direction: [-1.0, 0.0, 0.0],
                t_max: 100.0,
            };
            let crossings = RayCrossings::new(&gpu).run(&gpu, &search, &[ray]).unwrap();
            assert_eq!(found[5], crossings[0].hits(), "{kernels}");
            assert_eq!(found[6], 3);
            if has_parts {
                // The forms that pause when leaves are pending find the same.
                assert_eq!(found[7..10], [found[0], found[5], found[2]], "{kernels}");
            }
        }
    }
}

#[test]
fn tree_wgsl_has_only_prefixed_names() {
    let gpu = gpu();
    let tree = Soup::random(5, 4).build(&gpu, &Lbvh::new(&gpu));
    let text = tree.wgsl(&gpu, 2, None).unwrap();
    let module = naga::front::wgsl::parse_str(&text).unwrap();
    let types = module.types.iter().filter_map(|(_, ty)| ty.name.clone());
    let variables = module.global_variables.iter().filter_map(|(_, v)| v.name.clone());
    let functions = module.functions.iter().filter_map(|(_, f)| f.name.clone());
    let constants = module.constants.iter().filter_map(|(_, c)| c.name.clone());
    let names: Vec<_> = types.chain(variables).chain(functions).chain(constants).collect();
    assert!(names.len() > 60);
    let is_own = |name: &String| {
        ["bvh_", "Bvh", "BVH_"]
            .iter()
            .any(|prefix| name.starts_with(prefix))
    };
    assert_eq!(names.iter().find(|name| !is_own(name)), None);
    assert!(module.overrides.is_empty());
}
