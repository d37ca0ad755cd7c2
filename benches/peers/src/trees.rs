//! Compared BVHs: canopy's on the adapter, those of the crates `bvh` and `obvhs` on the CPU.

use bvh::{
    aabb::{Aabb, Bounded},
    bounding_hierarchy::{BHShape, BoundingHierarchy},
    bvh::Bvh,
};
use canopy::{
    Result,
    accel::{
        Codes, Geometry, Lbvh, MeshRange, Tree, Work,
        trace::{Query, Ray, Trace},
    },
    config::Config,
    gpu::{Gpu, profiler::Profiler},
};
use glam::{Vec3, Vec3A};
use nalgebra::{Point3, Vector3};
use obvhs::{
    BvhBuildParams,
    bvh2::{Bvh2, builder::build_bvh2},
    cwbvh::{CwBvh, builder::build_cwbvh},
    ray::RayHit,
    triangle::Triangle,
};
use std::time::{Duration, Instant};

/// Triangles by their corners.
pub(crate) type Triangles = [[Vec3; 3]];

/// Leaf cutoff of canopy's traversal, the default of config.toml.
const LEAF_CUTOFF: u32 = 4;

/// Returns the duration of `work` in milliseconds, and its result.
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let start = Instant::now();
    let result = work();
    (start.elapsed().as_secs_f64() * 1e3, result)
}

/// Device for compute only, because llvmpipe writes late timestamps on a device that has drawn.
pub(crate) struct Canopy {
    pub(crate) gpu: Gpu,
    lbvh: Lbvh,
    trace: Trace,
    profiler: Profiler,
}

impl Canopy {
    pub(crate) fn new() -> Result<Self> {
        let gpu = canopy::device::open(&Config::default().gpu)?;
        Ok(Self {
            lbvh: Lbvh::new(&gpu),
            trace: Trace::new(&gpu),
            profiler: Profiler::new(&gpu)?,
            gpu,
        })
    }

    /// Uploads the triangles and allocates their tree without building it.
    pub(crate) fn tree(&self, triangles: &Triangles) -> Result<Tree> {
        let storage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
        let positions: Vec<[f32; 3]> = triangles.iter().flatten().map(Vec3::to_array).collect();
        let count = triangles.len() as u32;
        let indices: Vec<u32> = (0..3 * count).collect();
        let geometry = Geometry {
            positions: &self.gpu.buffer_with("positions", &positions, storage),
            indices: &self.gpu.buffer_with("indices", &indices, storage),
            meshes: &[MeshRange {
                first_triangle: 0,
                triangle_count: count,
                first_vertex: 0,
            }],
            triangle_info: None,
        };
        let tree = self.lbvh.tree(&self.gpu, &geometry, Codes::Bits30)?;
        self.gpu.wait()?;
        Ok(tree)
    }

    /// Builds the tree and waits. Returns GPU milliseconds, if there are timestamps, and milliseconds until
    /// completion.
    pub(crate) fn build(&mut self, tree: &mut Tree) -> Result<(Option<f64>, f64)> {
        let start = Instant::now();
        let mut encoder = self.gpu.encoder("build");
        self.lbvh.record(
            &self.gpu,
            &mut self.profiler.scope("build", &mut encoder),
            tree,
            Work::Rebuild,
        )?;
        self.profiler.submit(&self.gpu, encoder);
        self.gpu.wait()?;
        let wall_ms = start.elapsed().as_secs_f64() * 1e3;
        self.profiler.collect(&self.gpu);
        let whole = self.profiler.timings().first();
        Ok((whole.map(|timing| timing.last_ms), wall_ms))
    }

    /// Traces and waits. Returns the milliseconds, and true for each ray that hits. The time of the same
    /// number of rays of zero length is subtracted, as the cost of uploading rays and reading back hits.
    pub(crate) fn trace(&self, tree: &Tree, rays: &[obvhs::ray::Ray], any: bool) -> Result<(f64, Vec<bool>)> {
        let query = if any { Query::AnyHit } else { Query::ClosestHit };
        let rays = |t_max: f32| -> Vec<Ray> {
            let ray = |ray: &obvhs::ray::Ray| Ray {
                origin: ray.origin.to_array(),
                t_min: 0.0,
                direction: ray.direction.to_array(),
                t_max,
            };
            rays.iter().map(ray).collect()
        };
        let run = |rays: &[Ray]| {
            let (ms, hits) = timed(|| self.trace.run(&self.gpu, tree, rays, query, LEAF_CUTOFF));
            hits.map(|hits| (ms, hits.iter().map(|hit| !hit.is_miss()).collect()))
        };
        let (idle_ms, _): (_, Vec<bool>) = run(&rays(0.0))?;
        let (ms, hits) = run(&rays(f32::MAX))?;
        Ok(((ms - idle_ms).max(1e-3), hits))
    }
}

/// Triangle in the form that the crate `bvh` requires.
#[derive(Debug, Clone)]
pub(crate) struct Shape {
    triangle: Triangle,
    node: usize,
}

impl Shape {
    pub(crate) fn corners(&self) -> [Vec3A; 3] {
        let Triangle { v0, v1, v2 } = self.triangle;
        [v0, v1, v2]
    }
}

impl Bounded<f32, 3> for Shape {
    fn aabb(&self) -> Aabb<f32, 3> {
        let Triangle { v0, v1, v2 } = self.triangle;
        let point = |v: Vec3A| Point3::from(v.to_array());
        Aabb::with_bounds(point(v0.min(v1).min(v2)), point(v0.max(v1).max(v2)))
    }
}

impl BHShape<f32, 3> for Shape {
    fn set_bh_node_index(&mut self, index: usize) {
        self.node = index;
    }

    fn bh_node_index(&self) -> usize {
        self.node
    }
}

/// Converts the triangles for `obvhs`.
pub(crate) fn obvhs_triangles(triangles: &Triangles) -> Vec<Triangle> {
    let triangle = |&[v0, v1, v2]: &[Vec3; 3]| Triangle {
        v0: v0.into(),
        v1: v1.into(),
        v2: v2.into(),
    };
    triangles.iter().map(triangle).collect()
}

/// Converts the triangles for `bvh`.
pub(crate) fn shapes(triangles: &[Triangle]) -> Vec<Shape> {
    let shape = |&triangle| Shape { triangle, node: 0 };
    triangles.iter().map(shape).collect()
}

/// A CPU tree.
pub(crate) enum Peer {
    /// Tree of the crate `bvh`.
    Bvh(Bvh<f32, 3>, Vec<Shape>),
    /// Binary tree of `obvhs`, and the triangles in its order.
    Bvh2(Bvh2, Vec<Triangle>),
    /// Compressed eight-wide tree of `obvhs`, and the triangles in its order.
    CwBvh(CwBvh, Vec<Triangle>),
}

/// Builder of a [`Peer`].
#[derive(Debug, Clone, Copy)]
pub(crate) enum Builder {
    Bvh { parallel: bool },
    Bvh2(BvhBuildParams),
    CwBvh(BvhBuildParams),
}

impl Builder {
    /// Builds a tree. Returns the duration in milliseconds, and the tree. The triangles are then reordered,
    /// as canopy's build does, but outside the measured time.
    pub(crate) fn build(self, triangles: &[Triangle], shapes: &[Shape]) -> (f64, Peer) {
        let reorder = |order: &[u32]| order.iter().map(|&i| triangles[i as usize]).collect();
        match self {
            Self::Bvh { parallel } => {
                let mut shapes = shapes.to_vec();
                let (ms, tree) = timed(|| {
                    if parallel {
                        Bvh::build_par(&mut shapes)
                    } else {
                        Bvh::build(&mut shapes)
                    }
                });
                (ms, Peer::Bvh(tree, shapes))
            }
            Self::Bvh2(params) => {
                let (ms, tree) = timed(|| build_bvh2(triangles, params, &mut Duration::default()));
                let triangles = reorder(&tree.primitive_indices);
                (ms, Peer::Bvh2(tree, triangles))
            }
            Self::CwBvh(params) => {
                let (ms, tree) = timed(|| build_cwbvh(triangles, params, &mut Duration::default()));
                let triangles = reorder(&tree.primitive_indices);
                (ms, Peer::CwBvh(tree, triangles))
            }
        }
    }
}

impl Peer {
    /// True if the ray hits. With `any`, stops at the first hit. All trees use the triangle test of `obvhs`,
    /// because that of `bvh` culls back faces.
    pub(crate) fn hits(&self, ray: &obvhs::ray::Ray, any: bool) -> bool {
        let mut hit = RayHit::none();
        match self {
            Self::Bvh(tree, shapes) => bvh_hits(tree, shapes, ray, any),
            Self::Bvh2(tree, triangles) => {
                let test = |ray: &_, place: usize| triangles[place].intersect(ray);
                if any {
                    !tree.ray_traverse_miss(*ray, test)
                } else {
                    tree.ray_traverse(*ray, &mut hit, test)
                }
            }
            Self::CwBvh(tree, triangles) => {
                let test = |ray: &_, place: usize| triangles[place].intersect(ray);
                if any {
                    !tree.ray_traverse_miss(*ray, test)
                } else {
                    tree.ray_traverse(*ray, &mut hit, test)
                }
            }
        }
    }
}

/// Uses the iterator ordered by distance. It is the only one of the crate that can stop at the nearest hit
/// and that handles trees of any depth.
fn bvh_hits(tree: &Bvh<f32, 3>, shapes: &[Shape], ray: &obvhs::ray::Ray, any: bool) -> bool {
    let by_distance = bvh::ray::Ray::new(
        Point3::from(ray.origin.to_array()),
        Vector3::from(ray.direction.to_array()),
    );
    let mut nearest = f32::INFINITY;
    for shape in tree.nearest_traverse_iterator(&by_distance, shapes) {
        let entry = by_distance.intersection_slice_for_aabb(&shape.aabb());
        if entry.is_some_and(|(entry, _)| entry > nearest) {
            break;
        }
        nearest = nearest.min(shape.triangle.intersect(ray));
        if any && nearest < f32::INFINITY {
            break;
        }
    }
    nearest < f32::INFINITY
}
