//! `query`: nearest points, box overlaps, pairs of boxes and nearest neighbours of points.
//!
//! Each query has a table. A row is one method, from the build and a list of queries to a list of answers on
//! the CPU. All methods of a table must give the same answers.

use crate::{
    Input, median, obvhs_triangles, random, shapes,
    trees::{Builder, Canopy, Peer, Shape, Triangles, timed},
};
use bvh::{
    aabb::{Aabb as BvhBox, Bounded},
    point_query::PointDistance,
};
use canopy::{
    accel::{
        BoxQuery, CapsuleQuery, Codes, Counts, NearestK, NearestPoints, ObjectGeometry, ObjectLbvh,
        ObjectPair, ObjectTree, Objects, Overlap, OverlapPairs, Pairs, Queries, Search, Tree, Work,
        overlap::Touched,
    },
    gpu::Gpu,
};
use glam::{Vec3, Vec3A};
use kiddo::{ImmutableKdTree, SquaredEuclidean};
use nalgebra::Point3;
use obvhs::{BvhBuildParams, aabb::Aabb as ObvhsBox};
use parry3d::{
    bounding_volume::Aabb,
    math::Vector,
    partitioning::{Bvh as ParryBvh, BvhBuildStrategy},
    query::{PointQuery, details::intersection_test_aabb_triangle},
    shape::{TriMesh, Triangle as ParryTriangle},
};
use rayon::prelude::*;
use rstar::{
    AABB, RTree,
    primitives::{GeomWithData, Rectangle},
};
use std::num::NonZero;

/// Number of queries in a list.
const QUERIES: usize = 1_000_000;
/// Number of boxes in the search for pairs, and of points in a cloud.
const OBJECTS: usize = 100_000;
/// Number of neighbours to find.
const NEIGHBOURS: usize = 8;
/// Rounds of each table. Its methods alternate within a round.
const ROUNDS: usize = 3;
/// Leaf cutoffs of canopy, the best of 2, 4 and 8 for each query.
const NEAREST_CUTOFF: u32 = 8;
const OVERLAP_CUTOFF: u32 = 4;
/// Fraction of the queries whose counts may differ, because rounding decides whether boxes touch.
const TOLERANCE: f64 = 1e-3;
/// Half the edge length of queried boxes, as a fraction of the mesh's diagonal.
const HALF_BOX: f32 = 0.01;

/// Results of a method, a number per query. All methods must agree.
type Answers = Vec<f32>;

/// A method: milliseconds of the build, milliseconds of the queries, and the answers.
type Method<'a> = Box<dyn FnMut() -> anyhow::Result<(f64, f64, Answers)> + 'a>;

/// A kind of query, and the tolerance of its answers.
struct Table<'a> {
    name: String,
    close: f32,
    rounds: usize,
    methods: Vec<(&'static str, Method<'a>)>,
}

impl Table<'_> {
    /// Runs all methods, alternating between them, and prints them. Returns true if they agree.
    fn run(mut self) -> anyhow::Result<bool> {
        let mut times = vec![[Vec::new(), Vec::new(), Vec::new()]; self.methods.len()];
        let mut differ = vec![0.0; self.methods.len()];
        let mut expected = Answers::new();
        for _ in 0..self.rounds {
            for (line, (_, way)) in self.methods.iter_mut().enumerate() {
                let (build, queries, answers) = way()?;
                for (all, ms) in times[line].iter_mut().zip([build, queries, build + queries]) {
                    all.push(ms);
                }
                if expected.is_empty() {
                    expected = answers;
                    continue;
                }
                let apart = |(a, b): (&f32, &f32)| (a - b).abs() > self.close;
                let wrong = expected.iter().zip(&answers).filter(|pair| apart(*pair));
                let missing = expected.len().abs_diff(answers.len());
                let share = (wrong.count() + missing) as f64 / expected.len().max(1) as f64;
                differ[line] = f64::max(differ[line], share);
            }
        }
        println!("{}: milliseconds, median and least of {}", self.name, self.rounds);
        println!(
            "{:<36}{:>20}{:>20}{:>20}{:>16}{:>12}",
            "", "build", "queries", "both", "over the first", "differ"
        );
        let first = median(&times[0][2]);
        for ((name, _), (ms, differ)) in self.methods.iter().zip(times.iter().zip(&differ)) {
            print!("{name:<36}");
            for ms in ms {
                let least = ms.iter().copied().fold(f64::INFINITY, f64::min);
                print!("{:>20}", format!("{:.1} {least:.1}", median(ms)));
            }
            println!("{:>16.2}{:>10.4} %", median(&ms[2]) / first, 100.0 * differ);
        }
        println!();
        let worst = differ.into_iter().fold(0.0, f64::max);
        if worst > TOLERANCE {
            println!("{:.3} % of the answers differ: {}\n", 100.0 * worst, self.name);
        }
        Ok(worst <= TOLERANCE)
    }
}

/// Runs all queries on every input. Returns true if all answers agree.
pub(crate) fn run(canopy: &mut Canopy, inputs: &[Input]) -> anyhow::Result<bool> {
    let mut agree = true;
    for input in inputs {
        agree &= nearest_points(canopy, input)?;
        agree &= box_overlaps(canopy, input)?;
    }
    agree &= neighbours(canopy)?;
    agree &= box_pairs(canopy)?;
    Ok(agree)
}

/// Generates a closed surface of about 70,000 triangles, a torus with dents.
pub(crate) fn closed_mesh() -> Input {
    let (along, around) = (264_usize, 133_usize);
    let vertex = |i: usize, j: usize| {
        let turn = std::f32::consts::TAU;
        let (u, v) = (
            (i % along) as f32 / along as f32 * turn,
            (j % around) as f32 / around as f32 * turn,
        );
        let radius = 0.35 + 0.03 * (9.0 * u).sin() * (7.0 * v).cos();
        let ring = 1.0 + radius * v.cos();
        Vec3::new(ring * u.cos(), radius * v.sin(), ring * u.sin())
    };
    let quads = (0..along).flat_map(|i| (0..around).map(move |j| (i, j)));
    let triangles = quads.flat_map(|(i, j)| {
        let [a, b, c, d] = [
            vertex(i, j),
            vertex(i + 1, j),
            vertex(i, j + 1),
            vertex(i + 1, j + 1),
        ];
        [[a, c, b], [b, c, d]]
    });
    Input {
        name: "a closed mesh".to_owned(),
        triangles: triangles.collect(),
    }
}

fn corners(triangles: &Triangles) -> [Vec3; 2] {
    let corners = || triangles.iter().flatten().copied();
    [
        corners().fold(Vec3::INFINITY, Vec3::min),
        corners().fold(Vec3::NEG_INFINITY, Vec3::max),
    ]
}

/// Generates points in the bounds of the triangles, enlarged by a tenth on each side.
fn points(triangles: &Triangles, count: usize) -> Vec<Vec3> {
    let [low, high] = corners(triangles);
    let extent = high - low;
    let mut unit = random(3);
    (0..count)
        .map(|_| low - 0.1 * extent + 1.2 * extent * Vec3::new(unit(), unit(), unit()))
        .collect()
}

fn vector(v: Vec3) -> Vector {
    Vector::new(v.x, v.y, v.z)
}

fn tri_mesh(triangles: &Triangles) -> anyhow::Result<TriMesh> {
    let vertices = triangles.iter().flatten().map(|v| vector(*v)).collect();
    let indices = (0..triangles.len() as u32).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]);
    Ok(TriMesh::new(vertices, indices.collect())?)
}

/// Computes an answer for each query, on all cores.
fn each<Q: Sync>(queries: &[Q], answer: impl Fn(&Q) -> f32 + Sync + Send) -> Answers {
    let queries = queries.par_iter().with_min_len(256);
    queries.map(answer).collect()
}

/// Builds canopy's tree of the triangles and measures the build.
fn built(canopy: &mut Canopy, triangles: &Triangles, cutoff: u32) -> anyhow::Result<(f64, Tree)> {
    let mut tree = canopy.tree(triangles)?;
    tree.set_leaf_cutoff(&canopy.gpu, cutoff);
    canopy.build(&mut tree)?;
    let (_, ms) = canopy.build(&mut tree)?;
    Ok((ms, tree))
}

/// Triangle for the crate `bvh` with a distance function.
#[derive(Debug)]
struct DistanceShape<'a>(&'a Shape);

impl Bounded<f32, 3> for DistanceShape<'_> {
    fn aabb(&self) -> BvhBox<f32, 3> {
        self.0.aabb()
    }
}

impl PointDistance<f32, 3> for DistanceShape<'_> {
    fn distance_squared(&self, point: Point3<f32>) -> f32 {
        let [a, b, c] = self.0.corners().map(|v| Vector::new(v.x, v.y, v.z));
        let point = Vector::new(point.x, point.y, point.z);
        let on = ParryTriangle::new(a, b, c).project_local_point(point, false);
        (on.point - point).length_squared()
    }
}

fn nearest_points(canopy: &mut Canopy, input: &Input) -> anyhow::Result<bool> {
    let triangles = &input.triangles;
    let points = points(triangles, QUERIES);
    let [low, high] = corners(triangles);
    let query = NearestPoints::new(&canopy.gpu);
    let with_reach: Vec<[f32; 4]> = points
        .iter()
        .map(|p| p.extend(f32::INFINITY).to_array())
        .collect();
    let of_canopy = || {
        let (build, tree) = built(canopy, triangles, NEAREST_CUTOFF)?;
        let (ms, found) = timed(|| query.run(&canopy.gpu, &tree, &with_reach, NEAREST_CUTOFF));
        let distances = found?.iter().map(|found| found.distance).collect();
        Ok((build, ms, distances))
    };
    let of_parry = || {
        let (build, mesh) = timed(|| tri_mesh(triangles));
        let mesh = mesh?;
        let distance = |point: &Vec3| {
            let on = mesh.project_local_point(vector(*point), false);
            (on.point - vector(*point)).length()
        };
        let (ms, distances) = timed(|| each(&points, distance));
        Ok((build, ms, distances))
    };
    let of_bvh = || {
        let triangles = obvhs_triangles(triangles);
        let shapes = shapes(&triangles);
        let (build, peer) = Builder::Bvh { parallel: true }.build(&triangles, &shapes);
        let Peer::Bvh(tree, shapes) = peer else {
            anyhow::bail!("not the tree that was asked for");
        };
        let distant: Vec<_> = shapes.iter().map(DistanceShape).collect();
        let distance = |point: &Vec3| {
            let found = tree.nearest_to(Point3::from(point.to_array()), &distant);
            found.map_or(f32::INFINITY, |(_, distance)| distance)
        };
        let (ms, distances) = timed(|| each(&points, distance));
        Ok((build, ms, distances))
    };
    let table = Table {
        name: format!(
            "{QUERIES} nearest points on {}, {} triangles",
            input.name,
            triangles.len()
        ),
        close: 1e-5 * (high - low).length(),
        rounds: ROUNDS,
        methods: vec![
            ("canopy", Box::new(of_canopy)),
            ("parry3d TriMesh", Box::new(of_parry)),
            ("bvh, parallel", Box::new(of_bvh)),
        ],
    };
    table.run()
}

/// Allocated results per box, on average, for overlaps in a single pass.
const ROOM: usize = 8;

/// Allocates the output of a single-pass query of `objects` objects. It is allocated once, before the
/// measurement.
fn room<F>(gpu: &Gpu, objects: usize) -> [wgpu::Buffer; 2] {
    let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
    let bytes = (size_of::<F>() * ROOM * objects) as u64;
    let total = gpu.buffer("total", 4, usage | wgpu::BufferUsages::COPY_DST);
    [total, gpu.buffer("found", bytes, usage)]
}

/// Reads back the results that a single-pass query appended, in any order.
fn appended<F: bytemuck::Pod>(
    gpu: &Gpu,
    [total, found]: &[wgpu::Buffer; 2],
    record: impl FnOnce(&mut wgpu::CommandEncoder, [&wgpu::Buffer; 2]) -> canopy::canopy_bvh::Result<()>,
) -> canopy::canopy_bvh::Result<Vec<F>> {
    let mut encoder = gpu.encoder("appended");
    record(&mut encoder, [total, found])?;
    gpu.queue.submit([encoder.finish()]);
    let total: Vec<u32> = gpu.read_first(total, 1)?;
    let room = found.size() as usize / size_of::<F>();
    gpu.read_first(found, (total[0] as usize).min(room))
}

/// Finds box overlaps in a single pass.
fn touched(
    gpu: &Gpu,
    query: &Overlap<BoxQuery>,
    search: &Search<'_>,
    boxes: &[BoxQuery],
    room: &[wgpu::Buffer; 2],
) -> canopy::canopy_bvh::Result<Vec<Touched>> {
    let batch = query.sorted(gpu, Queries::new(gpu, boxes)?)?;
    appended(gpu, room, |encoder, found| {
        query.record_append(gpu, encoder, search, &batch, found)
    })
}

fn box_overlaps(canopy: &mut Canopy, input: &Input) -> anyhow::Result<bool> {
    let triangles = &input.triangles;
    let [low, high] = corners(triangles);
    let half = Vec3::splat(HALF_BOX * (high - low).length());
    let centres = points(triangles, QUERIES);
    let boxes: Vec<[Vec3; 2]> = centres.iter().map(|p| [p - half, p + half]).collect();
    let queries: Vec<BoxQuery> = boxes
        .iter()
        .map(|[lower, upper]| BoxQuery {
            lower: lower.to_array(),
            upper: upper.to_array(),
            ..BoxQuery::default()
        })
        .collect();
    let query = Overlap::new(&canopy.gpu);
    let (build, tree) = built(canopy, triangles, OVERLAP_CUTOFF)?;
    let gpu = &canopy.gpu;
    let search = Search {
        leaf_cutoff: OVERLAP_CUTOFF,
        ..Search::new(&tree)
    };
    let given = room::<Touched>(gpu, queries.len());
    let in_one_pass = || {
        let (ms, found) = timed(|| touched(gpu, &query, &search, &queries, &given));
        let mut counts = vec![0.0; queries.len()];
        for touched in found? {
            counts[touched.query as usize] += 1.0;
        }
        Ok((build, ms, counts))
    };
    let counted_first = || {
        let (ms, found) = timed(|| {
            let found = query.run(gpu, &search, &queries)?;
            found.read(gpu)
        });
        let (offsets, _) = found?;
        let count = |pair: &[u32]| (pair[1] - pair[0]) as f32;
        Ok((build, ms, offsets.windows(2).map(count).collect()))
    };
    let corners: Vec<[Vector; 3]> = triangles.iter().map(|t| t.map(vector)).collect();
    let touches = |around: &Aabb, triangle: usize| {
        let [a, b, c] = corners[triangle];
        intersection_test_aabb_triangle(around, &ParryTriangle::new(a, b, c))
    };
    let around = |[lower, upper]: &[Vec3; 2]| Aabb::new(vector(*lower), vector(*upper));
    let of_parry = || {
        let (build, mesh) = timed(|| tri_mesh(triangles));
        let mesh = mesh?;
        let count = |query: &[Vec3; 2]| {
            let around = around(query);
            let near = mesh.bvh().intersect_aabb(&around);
            let touched: Vec<u32> = near.filter(|t| touches(&around, *t as usize)).collect();
            touched.len() as f32
        };
        let (ms, counts) = timed(|| each(&boxes, count));
        Ok((build, ms, counts))
    };
    let of_obvhs = || {
        let triangles = obvhs_triangles(triangles);
        let builder = Builder::Bvh2(BvhBuildParams::fast_build());
        let (build, peer) = builder.build(&triangles, &[]);
        let Peer::Bvh2(tree, _) = peer else {
            anyhow::bail!("not the tree that was asked for");
        };
        let count = |query: &[Vec3; 2]| {
            let exact = around(query);
            let [lower, upper] = query.map(Vec3A::from);
            let mut touched: Vec<u32> = Vec::new();
            tree.aabb_traverse(ObvhsBox::new(lower, upper), |tree, node| {
                let node = &tree.nodes[node as usize];
                let first = node.first_index as usize;
                let leaves = &tree.primitive_indices[first..first + node.prim_count as usize];
                touched.extend(leaves.iter().filter(|t| touches(&exact, **t as usize)));
                true
            });
            touched.len() as f32
        };
        let (ms, counts) = timed(|| each(&boxes, count));
        Ok((build, ms, counts))
    };
    let of_bvh = || {
        let triangles = obvhs_triangles(triangles);
        let shapes = shapes(&triangles);
        let (build, peer) = Builder::Bvh { parallel: true }.build(&triangles, &shapes);
        let Peer::Bvh(tree, shapes) = peer else {
            anyhow::bail!("not the tree that was asked for");
        };
        let count = |query: &[Vec3; 2]| {
            let exact = around(query);
            let [lower, upper] = query.map(|v| Point3::from(v.to_array()));
            let near = tree.traverse(&BvhBox::with_bounds(lower, upper), &shapes);
            let touches = |shape: &&&Shape| {
                let [a, b, c] = shape.corners().map(|v| Vector::new(v.x, v.y, v.z));
                intersection_test_aabb_triangle(&exact, &ParryTriangle::new(a, b, c))
            };
            near.iter().filter(touches).count() as f32
        };
        let (ms, counts) = timed(|| each(&boxes, count));
        Ok((build, ms, counts))
    };
    let table = Table {
        name: format!(
            "{QUERIES} boxes and the triangles that they touch, {}, {} triangles",
            input.name,
            triangles.len()
        ),
        close: 0.5,
        rounds: ROUNDS,
        methods: vec![
            ("canopy, in one pass", Box::new(in_one_pass)),
            ("canopy, counted first", Box::new(counted_first)),
            ("parry3d TriMesh", Box::new(of_parry)),
            ("obvhs BVH2, fast", Box::new(of_obvhs)),
            ("bvh, parallel", Box::new(of_bvh)),
        ],
    };
    table.run()
}

/// Builds a tree over boxes or spheres of a buffer. Returns the milliseconds of a build after its kernels are
/// compiled.
fn built_objects(
    gpu: &Gpu,
    builder: &ObjectLbvh,
    objects: Objects,
    rows: &[[f32; 4]],
) -> anyhow::Result<(f64, ObjectTree)> {
    let count = OBJECTS as u32;
    let geometry = ObjectGeometry {
        objects,
        buffer: &gpu.buffer_with("objects", rows, wgpu::BufferUsages::STORAGE),
        sets: &[count],
        object_info: None,
    };
    let mut tree = builder.tree(gpu, &geometry, Codes::Bits30)?;
    let mut ms = 0.0;
    for _ in 0..2 {
        let (built_ms, built) = timed(|| {
            let mut encoder = gpu.encoder("objects");
            builder.record(gpu, &mut encoder, &mut tree, Work::Rebuild)?;
            gpu.queue.submit([encoder.finish()]);
            gpu.wait()
        });
        built?;
        ms = built_ms;
    }
    Ok((ms, tree))
}

/// Compares nearest neighbours in a point cloud.
fn neighbours(canopy: &mut Canopy) -> anyhow::Result<bool> {
    let mut unit = random(4);
    let mut point = || Vec3::new(unit(), unit(), unit());
    let cloud: Vec<Vec3> = (0..OBJECTS).map(|_| point()).collect();
    let queries: Vec<Vec3> = (0..QUERIES).map(|_| point()).collect();
    let arrays: Vec<[f32; 3]> = cloud.iter().map(Vec3::to_array).collect();
    let radius = 0.03_f32;
    let Some(k) = NonZero::new(NEIGHBOURS) else {
        anyhow::bail!("no neighbours are looked for");
    };

    let gpu = &canopy.gpu;
    let builder = ObjectLbvh::new(gpu);
    let balls: Vec<[f32; 4]> = cloud.iter().map(|p| p.extend(0.0).to_array()).collect();
    let nearest = NearestK::new(gpu);
    let with_reach: Vec<[f32; 4]> = queries
        .iter()
        .map(|p| p.extend(f32::INFINITY).to_array())
        .collect();
    let of_canopy = |k: usize| {
        let (build, tree) = built_objects(gpu, &builder, Objects::Balls, &balls)?;
        let search = Search::new(&tree.tree);
        let (ms, found) = timed(|| nearest.run(gpu, &search, &with_reach, k as u32));
        let found = found?;
        let last = found.chunks(k).filter_map(<[_]>::last);
        Ok((build, ms, last.map(|found| found.distance).collect()))
    };
    let around: Vec<CapsuleQuery> = queries
        .iter()
        .map(|p| CapsuleQuery {
            a: p.to_array(),
            b: p.to_array(),
            radius,
            ..CapsuleQuery::default()
        })
        .collect();
    let overlap = Overlap::new(gpu);
    let within_of_canopy = || {
        let (build, tree) = built_objects(gpu, &builder, Objects::Balls, &balls)?;
        let (ms, found) = timed(|| {
            let found = overlap.run(gpu, &Search::new(&tree.tree), &around)?;
            found.read(gpu)
        });
        let (offsets, _) = found?;
        let counts = offsets.windows(2).map(|pair| (pair[1] - pair[0]) as f32);
        Ok((build, ms, counts.collect()))
    };
    let kd_tree = || timed(|| ImmutableKdTree::<f32, 3>::new_from_slice(&arrays));
    let r_tree = || timed(|| RTree::bulk_load(arrays.clone()));
    let methods: Vec<(&'static str, Method<'_>)> = vec![
        ("canopy", Box::new(|| of_canopy(1))),
        (
            "kiddo",
            Box::new(|| {
                let (build, tree) = kd_tree();
                let tree = tree?;
                let (ms, distances) = timed(|| {
                    each(&queries, |p| {
                        let point = p.to_array();
                        let query = tree.query(&point);
                        let found = query.nearest_one::<SquaredEuclidean<f32>>().execute();
                        found.distance.sqrt()
                    })
                });
                Ok((build, ms, distances))
            }),
        ),
        (
            "rstar",
            Box::new(|| {
                let (build, tree) = r_tree();
                let (ms, distances) = timed(|| {
                    each(&queries, |p| {
                        let found = tree.nearest_neighbor_with_distance_2(p.to_array());
                        found.map_or(f32::INFINITY, |(_, squared)| squared.sqrt())
                    })
                });
                Ok((build, ms, distances))
            }),
        ),
    ];
    let name = |what: &str| format!("{QUERIES} × {what} of {OBJECTS} points");
    let mut agree = Table {
        name: name("the nearest"),
        close: 1e-5,
        rounds: ROUNDS,
        methods,
    }
    .run()?;

    let methods: Vec<(&'static str, Method<'_>)> = vec![
        ("canopy", Box::new(|| of_canopy(NEIGHBOURS))),
        (
            "kiddo",
            Box::new(|| {
                let (build, tree) = kd_tree();
                let tree = tree?;
                let (ms, distances) = timed(|| {
                    each(&queries, |p| {
                        let point = p.to_array();
                        let query = tree.query(&point);
                        let found = query.nearest_n::<SquaredEuclidean<f32>>(k).execute();
                        found.last().map_or(0.0, |found| found.distance.sqrt())
                    })
                });
                Ok((build, ms, distances))
            }),
        ),
        (
            "rstar",
            Box::new(|| {
                let (build, tree) = r_tree();
                let (ms, distances) = timed(|| {
                    each(&queries, |p| {
                        let found = tree.nearest_neighbor_iter_with_distance_2(p.to_array());
                        found
                            .take(NEIGHBOURS)
                            .last()
                            .map_or(0.0, |(_, squared)| squared.sqrt())
                    })
                });
                Ok((build, ms, distances))
            }),
        ),
    ];
    agree &= Table {
        name: name(&format!("the {NEIGHBOURS} nearest")),
        close: 1e-5,
        rounds: ROUNDS,
        methods,
    }
    .run()?;

    let methods: Vec<(&'static str, Method<'_>)> = vec![
        ("canopy, counted first", Box::new(within_of_canopy)),
        (
            "kiddo",
            Box::new(|| {
                let (build, tree) = kd_tree();
                let tree = tree?;
                let (ms, counts) = timed(|| {
                    each(&queries, |p| {
                        let point = p.to_array();
                        let within = tree
                            .query(&point)
                            .within::<SquaredEuclidean<f32>>(radius * radius);
                        within.unsorted().execute().len() as f32
                    })
                });
                Ok((build, ms, counts))
            }),
        ),
        (
            "rstar",
            Box::new(|| {
                let (build, tree) = r_tree();
                let (ms, counts) = timed(|| {
                    each(&queries, |p| {
                        let within = tree.locate_within_distance(p.to_array(), radius * radius);
                        within.count() as f32
                    })
                });
                Ok((build, ms, counts))
            }),
        ),
    ];
    agree &= Table {
        name: name(&format!("those within {radius}")),
        close: 0.5,
        rounds: ROUNDS,
        methods,
    }
    .run()?;
    Ok(agree)
}

/// Compares the search for all pairs of overlapping boxes. The answer is the number of pairs.
pub(crate) fn box_pairs(canopy: &Canopy) -> anyhow::Result<bool> {
    let mut unit = random(5);
    let mut point = || Vec3::new(unit(), unit(), unit());
    let size = 1.0 / (OBJECTS as f32).cbrt();
    let boxes: Vec<[Vec3; 2]> = (0..OBJECTS)
        .map(|_| {
            let (centre, half) = (point(), 0.5 * size * point());
            [centre - half, centre + half]
        })
        .collect();
    let gpu = &canopy.gpu;
    let builder = ObjectLbvh::new(gpu);
    let rows: Vec<[f32; 4]> = boxes
        .iter()
        .flatten()
        .map(|corner| corner.extend(0.0).to_array())
        .collect();
    let pairs = OverlapPairs::new(gpu);
    let of_canopy = || {
        let (build, tree) = built_objects(gpu, &builder, Objects::Boxes, &rows)?;
        let (ms, found) = timed(|| {
            let found = pairs.run(gpu, &Pairs::within(&tree.tree))?;
            found.read(gpu)
        });
        Ok((build, ms, vec![found?.1.len() as f32]))
    };
    let given = room::<ObjectPair>(gpu, boxes.len());
    let in_one_pass = || {
        let (build, tree) = built_objects(gpu, &builder, Objects::Boxes, &rows)?;
        let (ms, found) = timed(|| {
            appended::<ObjectPair>(gpu, &given, |encoder, found| {
                pairs.record_append(gpu, encoder, &Pairs::within(&tree.tree), found)
            })
        });
        Ok((build, ms, vec![found?.len() as f32]))
    };
    // Like a frame of a simulation: the buffers of the counts are allocated too, and nothing waits in
    // between.
    let counts = Counts::with_capacity(gpu, OBJECTS as u32, 2 * OBJECTS as u32)?;
    let into_given = || {
        let (build, tree) = built_objects(gpu, &builder, Objects::Boxes, &rows)?;
        let (ms, found) = timed(|| {
            let within = Pairs::within(&tree.tree);
            appended::<ObjectPair>(gpu, &given, |encoder, [total, found]| {
                pairs.record_count(gpu, encoder, &within, &counts)?;
                pairs.record_collect(gpu, encoder, &within, &counts, found)?;
                let end = 4 * OBJECTS as u64;
                encoder.copy_buffer_to_buffer(&counts.offsets, end, total, 0, 4);
                Ok(())
            })
        });
        Ok((build, ms, vec![found?.len() as f32]))
    };
    let of_parry = || {
        let leaf = |(i, [lower, upper]): (usize, &[Vec3; 2])| (i, Aabb::new(vector(*lower), vector(*upper)));
        let (build, tree) =
            timed(|| ParryBvh::from_iter(BvhBuildStrategy::Binned, boxes.iter().enumerate().map(leaf)));
        // Queries the tree with each box on all cores, as in the other tables.
        let (ms, found) = timed(|| {
            let later = |i: u32| {
                let [lower, upper] = boxes[i as usize];
                let around = Aabb::new(vector(lower), vector(upper));
                let others = tree.intersect_aabb(&around).filter(move |other| *other > i);
                others.map(move |other| [i, other]).collect::<Vec<_>>()
            };
            let numbers = (0..boxes.len() as u32).into_par_iter().with_min_len(256);
            numbers.flat_map_iter(later).collect::<Vec<_>>()
        });
        Ok((build, ms, vec![found.len() as f32]))
    };
    let of_rstar = || {
        let numbered = |(i, [a, b]): (u32, &[Vec3; 2])| {
            GeomWithData::new(Rectangle::from_corners(a.to_array(), b.to_array()), i)
        };
        let (build, tree) = timed(|| RTree::bulk_load((0_u32..).zip(&boxes).map(numbered).collect()));
        let (ms, found) = timed(|| {
            let later = |i: u32| {
                let [a, b] = boxes[i as usize].map(|corner| corner.to_array());
                let others = tree.locate_in_envelope_intersecting(AABB::from_corners(a, b));
                let others = others.filter(move |other| other.data > i);
                others.map(move |other| [i, other.data]).collect::<Vec<_>>()
            };
            let numbers = (0..boxes.len() as u32).into_par_iter().with_min_len(256);
            numbers.flat_map_iter(later).collect::<Vec<_>>()
        });
        Ok((build, ms, vec![found.len() as f32]))
    };
    let table = Table {
        name: format!("pairs of {OBJECTS} boxes"),
        close: 0.5,
        // More rounds, because they are short.
        rounds: 7 * ROUNDS,
        methods: vec![
            ("canopy, in one pass", Box::new(in_one_pass)),
            ("canopy, counted first", Box::new(of_canopy)),
            ("canopy, counted first, room given", Box::new(into_given)),
            ("parry3d Bvh", Box::new(of_parry)),
            ("rstar", Box::new(of_rstar)),
        ],
    };
    table.run()
}
