//! A million queries of every kind, each compared with every object in f64. The trees are small, so this
//! takes seconds. It finds cases that are rare among a few hundred queries. The quick lane runs the first
//! tenth.

use crate::common;
use canopy::{
    accel::{
        BoxQuery, CapsuleQuery, Crossings, FrustumQuery, Lbvh, NearestK, NearestPoints, Objects, Overlap,
        OverlapPairs, Pairs, Ray, RayCrossings, Search, Sign, SignedDistance, Sweep, Sweeps,
        layout::BVH_MISS, overlap::Region,
    },
    gpu::Gpu,
    reference::queries::{self, Solid},
};
use common::{
    Random, Soup, by_lane, gpu,
    stocked::{CLOSE, Stocked, all_kinds, balls, sphere},
};
use glam::{DVec3, Vec3};
use std::{num::NonZero, thread};

/// Number of queries of a kind.
fn million() -> usize {
    by_lane(100_000, 1_000_000)
}

/// Number of queries of the kinds whose answer in f64 is slowest.
fn fewer() -> usize {
    by_lane(20_000, 200_000)
}

/// First fault among `count` queries, searched on all cores.
fn fault(count: usize, of: impl Fn(usize) -> Option<String> + Sync) -> Option<String> {
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    let of = &of;
    thread::scope(|scope| {
        let threads: Vec<_> = (0..cores)
            .map(|core| scope.spawn(move || (core..count).step_by(cores).find_map(of)))
            .collect();
        threads.into_iter().find_map(|thread| thread.join().unwrap())
    })
}

fn points(count: usize, seed: u64) -> Vec<Vec3> {
    let mut random = Random(seed);
    (0..count).map(|_| 1.5 * random.cube()).collect()
}

fn anywhere(points: &[Vec3]) -> Vec<[f32; 4]> {
    let reach = |point: &Vec3| point.extend(f32::INFINITY).to_array();
    points.iter().map(reach).collect()
}

/// The solid with the mesh and object number that a query returns.
fn solid(stock: &Stocked, mesh: u32, object: u32) -> &Solid {
    &stock.solids[mesh as usize][object as usize]
}

/// Objects that each region touches, by the number of the region.
fn touched<R: Region>(gpu: &Gpu, stock: &Stocked, regions: &[R]) -> (Vec<u32>, Vec<[u32; 2]>) {
    let search = Search::new(stock.tree());
    let found = Overlap::new(gpu).run(gpu, &search, regions).unwrap();
    found.read(gpu).unwrap()
}

/// Fault of the objects that a region touches, if any, from the gap of each object.
fn overlap_fault(stock: &Stocked, names: &[[u32; 2]], gap: impl Fn(&Solid) -> f64) -> Option<String> {
    let mut known = 0;
    for (name, solid) in stock.named() {
        let is_found = names.contains(&name);
        known += usize::from(is_found);
        let gap = gap(solid);
        if is_found == (gap > 0.0) && gap.abs() > CLOSE {
            return Some(format!("{name:?}: {gap}, found: {is_found}"));
        }
    }
    (known != names.len()).then(|| format!("{names:?} has more than there is"))
}

#[test]
fn a_million_nearest_points_match_brute_force() {
    let gpu = gpu();
    let [stock, ..] = all_kinds(&gpu, 24, 5);
    let points = points(million(), 1);
    let found = NearestPoints::new(&gpu).run(&gpu, stock.tree(), &anywhere(&points), 2);
    let found = found.unwrap();
    let wrong = fault(million(), |i| {
        let (at, found) = (points[i].as_dvec3(), &found[i]);
        let distances = stock.named().map(|(_, solid)| solid.distance(at));
        let near = distances.fold(f64::INFINITY, f64::min);
        let of_named = solid(&stock, found.mesh, found.triangle).distance(at);
        let is_right = (f64::from(found.distance) - near).abs() < CLOSE && of_named - near < CLOSE;
        (!is_right).then(|| format!("{i}: {found:?} instead of {near}"))
    });
    assert_eq!(wrong, None);
}

#[test]
fn a_million_nearest_object_queries_match_brute_force() {
    const K: usize = 3;
    let gpu = gpu();
    let points = points(million(), 2);
    let [_, boxes, balls] = all_kinds(&gpu, 24, 6);
    for stock in [boxes, balls] {
        let search = Search::new(stock.tree());
        let found = NearestK::new(&gpu).run(&gpu, &search, &anywhere(&points), K as u32);
        let found = found.unwrap();
        let wrong = fault(million(), |i| {
            let at = points[i].as_dvec3();
            let mut near = [f64::INFINITY; K];
            for (_, solid) in stock.named() {
                let mut distance = solid.distance(at);
                for kept in &mut near {
                    if distance < *kept {
                        std::mem::swap(kept, &mut distance);
                    }
                }
            }
            let found = &found[K * i..K * (i + 1)];
            let is_right = found.iter().zip(near).all(|(found, near)| {
                let of_named = solid(&stock, found.mesh, found.object).distance(at);
                (f64::from(found.distance) - near).abs() < CLOSE && (of_named - near).abs() < CLOSE
            });
            let name = |k: usize| (found[k].mesh, found[k].object);
            let differ = name(0) != name(1) && name(1) != name(2) && name(0) != name(2);
            (!is_right || !differ).then(|| format!("{i}: {found:?} instead of {near:?}"))
        });
        assert_eq!(wrong, None);
    }
}

#[test]
fn a_million_ball_box_and_frustum_queries_match_brute_force() {
    let gpu = gpu();
    let mut random = Random(3);
    let [triangles, boxes, _] = all_kinds(&gpu, 24, 7);
    let around: Vec<_> = points(million(), 4)
        .into_iter()
        .map(|at| (at, 0.3 * random.unit()))
        .collect();
    let ball = |(at, radius): &(Vec3, f32)| CapsuleQuery {
        a: at.to_array(),
        b: at.to_array(),
        radius: *radius,
        ..CapsuleQuery::default()
    };
    let (offsets, names) = touched(&gpu, &boxes, &around.iter().map(ball).collect::<Vec<_>>());
    let of = |offsets: &[u32], i: usize| offsets[i] as usize..offsets[i + 1] as usize;
    let wrong = fault(million(), |i| {
        let (at, radius) = around[i];
        let gap = |solid: &Solid| solid.distance(at.as_dvec3()) - f64::from(radius);
        overlap_fault(&boxes, &names[of(&offsets, i)], gap)
    });
    assert_eq!(wrong, None);
    let regions: Vec<_> = around
        .iter()
        .map(|(at, half)| BoxQuery {
            lower: (at - half).to_array(),
            upper: (at + half).to_array(),
            ..BoxQuery::default()
        })
        .collect();
    let (offsets, names) = touched(&gpu, &triangles, &regions);
    let wrong = fault(million(), |i| {
        let [lower, upper] = [regions[i].lower, regions[i].upper].map(Vec3::from);
        let region = Solid::Box(lower, upper);
        let gap = |solid: &Solid| solid.gap(&region);
        overlap_fault(&triangles, &names[of(&offsets, i)], gap)
    });
    assert_eq!(wrong, None);
    // Slabs and half spaces, as frusta.
    let frusta: Vec<_> = around[..fewer()]
        .iter()
        .map(|(at, half)| {
            let normal = at.normalize_or(Vec3::X);
            let plane = |normal: Vec3, at: Vec3| normal.extend(-normal.dot(at)).to_array();
            let across = normal.any_orthonormal_vector();
            let [near, far] = [plane(normal, *at - *half * normal), plane(-normal, 2.0 * *at)];
            let sides = [across, -across].map(|side| plane(side, *at - *half * side));
            FrustumQuery {
                planes: [near, far, sides[0], sides[1], near, far],
            }
        })
        .collect();
    let (offsets, names) = touched(&gpu, &triangles, &frusta);
    let wrong = fault(fewer(), |i| {
        let names = &names[of(&offsets, i)];
        triangles.named().find_map(|(name, solid)| {
            let Solid::Triangle(triangle) = solid else {
                return Some("no triangle".into());
            };
            let before = |grown| queries::in_front_of_planes(triangle, &frusta[i].planes, grown);
            let is_wrong = match names.contains(&name) {
                true => !before(2.0 * CLOSE),
                false => before(-2.0 * CLOSE),
            };
            is_wrong.then(|| format!("{i}, {name:?}: {:?}", frusta[i]))
        })
    });
    assert_eq!(wrong, None);
}

#[test]
fn pairs_of_a_million_balls_with_boxes_match_brute_force() {
    let gpu = gpu();
    let many = vec![balls(million(), 0.2, &mut Random(8))];
    let many = Stocked::objects(&gpu, Objects::Balls, many);
    let [_, few, _] = all_kinds(&gpu, 24, 9);
    let pairs = Pairs::between(many.tree(), few.tree());
    let found = OverlapPairs::new(&gpu).run(&gpu, &pairs).unwrap();
    let (_, pairs) = found.read(&gpu).unwrap();
    let mut of_ball = vec![Vec::new(); million()];
    for pair in &pairs {
        of_ball[pair.object_a as usize].push([pair.mesh_b, pair.object_b]);
    }
    let wrong = fault(million(), |i| {
        let ball = &many.solids[0][i];
        overlap_fault(&few, &of_ball[i], |solid| solid.gap(ball))
    });
    assert_eq!(wrong, None);
}

#[test]
fn a_million_moving_balls_stop_at_the_first_contact() {
    let gpu = gpu();
    let mut random = Random(10);
    let [stock, ..] = all_kinds(&gpu, 24, 11);
    let clearance = |at: DVec3| {
        let distances = stock.named().map(|(_, solid)| solid.distance(at));
        distances.fold(f64::INFINITY, f64::min)
    };
    let sweeps: Vec<_> = points(million(), 12)
        .into_iter()
        .enumerate()
        .map(|(i, at)| Sweep {
            a: at.to_array(),
            b: at.to_array(),
            // Every eighth is a point.
            radius: if i % 8 == 0 { 0.0 } else { 0.1 * random.unit() },
            motion: random.cube().to_array(),
            ..Sweep::default()
        })
        .collect();
    let contacts = Sweeps::new(&gpu).run(&gpu, &Search::new(stock.tree()), &sweeps);
    let contacts = contacts.unwrap();
    let wrong = fault(million(), |i| {
        let (sweep, contact) = (&sweeps[i], &contacts[i]);
        let [start, motion] = [sweep.a, sweep.motion].map(|v| Vec3::from(v).as_dvec3());
        let (radius, t) = (f64::from(sweep.radius), f64::from(contact.t));
        // Contacts at the start may approach or separate. A test with few sweeps covers them.
        if clearance(start) < radius + 1e-4 {
            return None;
        }
        // The distance to each object is a convex function of time, so an object that is passed through is
        // nearest in between.
        let is_free = (1..4).all(|part| {
            let at = start + motion * (t * f64::from(part) / 3.0);
            clearance(at) > radius - 2.0 * CLOSE
        });
        // A point passes through a surface without being within it. It may miss triangles at less than 3
        // degrees by rounding. Rays are the right query for that.
        let is_free = is_free
            && (radius > 0.0
                || stock.named().all(|(_, solid)| {
                    let Solid::Triangle(triangle) = solid else {
                        return false;
                    };
                    let crossed = queries::crossing(triangle, sweep.a.into(), sweep.motion.into());
                    let normal = (triangle[1] - triangle[0]).cross(triangle[2] - triangle[0]);
                    let sine = normal.normalize_or_zero().as_dvec3().dot(motion) / motion.length();
                    crossed.is_none_or(|(at, margin)| {
                        margin < 1e-3 || at < 0.0 || at > t - 1e-4 || sine.abs() < 0.05
                    })
                }));
        let is_right = is_free
            && match contact.mesh {
                BVH_MISS => contact.t == 1.0,
                mesh => {
                    let solid = solid(&stock, mesh, contact.object);
                    let off = (solid.distance(start + motion * t) - radius).abs();
                    off < if radius > 0.0 { 2.0 } else { 5.0 } * CLOSE
                }
            };
        (!is_right).then(|| format!("{i}: {sweep:?} {contact:?}"))
    });
    assert_eq!(wrong, None);
}

#[test]
fn a_million_signs_and_ray_crossings_match_a_closed_surface() {
    let gpu = gpu();
    // Every other corner is pulled inwards, which gives convex and concave edges.
    let pulled = |v: Vec3| match (v * 40.0).round().as_ivec3().element_sum() % 2 {
        0 => v,
        _ => 0.35 * v,
    };
    let surface: Vec<_> = sphere(2).into_iter().map(|t| t.map(pulled)).collect();
    let tree = Soup::default()
        .mesh(surface.clone())
        .build(&gpu, &Lbvh::new(&gpu));
    let search = Search::new(&tree);
    let points = points(million(), 13);
    let windings: Vec<f64> = points
        .iter()
        .map(|p| queries::winding_number(&surface, *p))
        .collect();
    let is_inside = |i: usize| windings[i] > 0.5;
    let inside = (0..million()).filter(|i| is_inside(*i)).count();
    assert!(inside > million() / 200 && inside < million() / 2, "{inside}");
    let query = SignedDistance::new(&gpu);
    let found = query
        .run(&gpu, &search, &anywhere(&points), Sign::Pseudonormal)
        .unwrap();
    let wrong = fault(million(), |i| {
        let near = queries::nearest(&surface, points[i]).map_or(f64::INFINITY, |near| near.0);
        let distance = f64::from(found[i].distance);
        let has_sign = distance.abs() < 1e-5 || (distance < 0.0) == is_inside(i);
        let is_right = (distance.abs() - near).abs() < CLOSE && has_sign;
        (!is_right).then(|| format!("{i}: {} {:?}", points[i], found[i]))
    });
    assert_eq!(wrong, None);
    let mut random = Random(14);
    let rays: Vec<_> = points
        .iter()
        .map(|point| Ray {
            origin: point.to_array(),
            t_min: 0.0,
            direction: random.cube().to_array(),
            t_max: f32::MAX,
        })
        .collect();
    let found = RayCrossings::new(&gpu).run(&gpu, &search, &rays).unwrap();
    let wrong = fault(million(), |i| {
        let near = found_near(&surface, points[i]);
        let Crossings { fronts, backs } = found[i];
        let is_right = near || backs == fronts + u32::from(is_inside(i));
        (!is_right).then(|| format!("{i}: {:?} {:?}", rays[i], found[i]))
    });
    assert_eq!(wrong, None);
}

/// True if a point is so near to a surface that rounding decides its side.
fn found_near(surface: &[[Vec3; 3]], point: Vec3) -> bool {
    queries::nearest(surface, point).is_some_and(|(distance, _)| distance < 1e-6)
}

#[test]
fn the_search_for_faults_detects_errors() {
    let last = |i: usize| (i == 99_999).then(|| "here".to_owned());
    assert_eq!(fault(100_000, last), Some("here".into()));
    assert_eq!(fault(99_999, last), None);
    let gpu = gpu();
    let [_, stock, _] = all_kinds(&gpu, 24, 7);
    let gap = |solid: &Solid| solid.distance(DVec3::ZERO) - 0.5;
    let right: Vec<_> = stock
        .named()
        .filter(|(_, solid)| gap(solid) < 0.0)
        .map(|(name, _)| name)
        .collect();
    assert!(right.len() > 1);
    assert_eq!(overlap_fault(&stock, &right, gap), None);
    assert!(overlap_fault(&stock, &right[1..], gap).is_some());
    assert!(overlap_fault(&stock, &[&right[..], &[[7, 7]]].concat(), gap).is_some());
}
