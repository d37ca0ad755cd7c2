//! BVH over a reference surface, and signed distances from it.

use canopy_bvh::{
    Error, Result,
    accel::{
        COORDINATE_LIMIT, Codes, Geometry, Lbvh, MeshRange, Moments, NearestPoints, Search, Tree, Winding,
        Work, layout::BVH_MISS,
    },
    gpu::Gpu,
};
use canopy_scene::{
    bounds::Aabb,
    compared::ReferenceSurface,
    deviation::{NearestSample, Statistics},
    signed_surface::SignedNearest,
    surface_points::{self, SurfacePoint},
};
use glam::Vec3;
use std::{
    num::NonZero,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

/// Subtrees with at most this many triangles are tested without further traversal.
pub(crate) const LEAF_CUTOFF: u32 = 4;

/// Reference surface for deviations, on the GPU.
#[derive(Debug)]
pub struct ComparedTree {
    /// Source of the surface.
    pub compared: Arc<ReferenceSurface>,
    pub(crate) tree: Tree,
    /// Moments for winding numbers, or `None` for a surface with open edges, which has no inside.
    pub(crate) moments: Option<Moments>,
    query: NearestPoints,
    winding: Winding,
    /// Origin of the tree's positions, in the coordinates of the surface.
    pub(crate) origin: Vec3,
    /// Size of the surface in metres.
    pub(crate) size: f32,
}

/// Batch size and cancellation of a measurement. Each batch blocks until its results arrive.
#[derive(Debug)]
pub struct Batches {
    /// Number of points in a batch. Other GPU work waits for the batch.
    points: usize,
    cancelled: AtomicBool,
}

impl Batches {
    /// Returns large batches, for a program without other GPU work.
    pub fn large() -> Self {
        Self {
            points: 1 << 18,
            cancelled: AtomicBool::new(false),
        }
    }

    /// Returns small batches for a program that renders at the same time, so that no frame waits for long.
    pub fn between_frames(gpu: &Gpu) -> Self {
        let points = match gpu.capabilities.has_gpu {
            true => 1 << 15,
            false => 1 << 12,
        };
        Self {
            points,
            ..Self::large()
        }
    }

    /// Ends the measurement after the current batch, with [`Error::Cancelled`].
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }
}

/// Measured distances from a reference surface.
#[derive(Debug)]
pub struct Measurement {
    /// Measured vertices.
    pub vertices: Vec<NearestSample>,
    /// Statistics of vertices and samples.
    pub statistics: Statistics,
}

impl ComparedTree {
    /// Uploads a surface and builds its tree, without blocking.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] if the surface is too large for the adapter.
    pub fn new(gpu: &Gpu, compared: Arc<ReferenceSurface>) -> Result<Self> {
        let in_tree = |position: &Vec3| is_in_tree(*position);
        let bounds = Aabb::from_points(compared.positions.iter().copied().filter(in_tree));
        let origin = bounds.center();
        let positions: Vec<Vec3> = compared.positions.iter().map(|p| *p - origin).collect();
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
        let (positions, indices) = gpu.catch(|| {
            (
                gpu.buffer_with("compared.positions", &positions, usage),
                gpu.buffer_with("compared.indices", &compared.triangles, usage),
            )
        })?;
        let geometry = Geometry {
            positions: &positions,
            indices: &indices,
            meshes: &[MeshRange {
                triangle_count: compared.triangles.len() as u32,
                ..MeshRange::default()
            }],
            triangle_info: None,
        };
        let lbvh = Lbvh::new(gpu);
        let mut tree = lbvh.tree(gpu, &geometry, Codes::Bits30)?;
        let mut encoder = gpu.encoder("compared");
        lbvh.record(gpu, &mut encoder, &mut tree, Work::Rebuild)?;
        let winding = Winding::new(gpu);
        let moments = match compared.surface.open_edges() {
            0 => {
                let moments = winding.moments(gpu, &tree)?;
                winding.record_moments(gpu, &mut encoder, &tree, &moments)?;
                Some(moments)
            }
            _ => None,
        };
        gpu.queue.submit([encoder.finish()]);
        Ok(Self {
            size: compared.surface.size() as f32,
            compared,
            tree,
            moments,
            query: NearestPoints::new(gpu),
            winding,
            origin,
        })
    }

    /// Measures the vertices of `triangles` over `positions` and about `samples` points between them, and
    /// blocks until the results arrive. Triangles with non-finite or far positions are skipped. The tolerance
    /// is in metres.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] if no triangle is left, and any error of [`ComparedTree::nearest`].
    pub fn measure(
        &self,
        gpu: &Gpu,
        (positions, triangles): (&[Vec3], &[[u32; 3]]),
        samples: u32,
        tolerance: Option<f64>,
        batches: &Batches,
    ) -> Result<Measurement> {
        let vertices = surface_points::vertices(positions, triangles);
        let vertices = self.measured(gpu, vertices, batches)?;
        let samples = surface_points::samples(positions, triangles, samples);
        let samples = self.measured(gpu, samples, batches)?;
        if samples.is_empty() {
            let why = "there are no visible triangles to measure";
            return Err(Error::NotFound(why.into()));
        }
        Ok(Measurement {
            statistics: Statistics::new(&vertices, &samples, tolerance),
            vertices,
        })
    }

    /// Returns the nearest point of the surface to each of `points` whose coordinates are within a tree's
    /// limits.
    fn measured(
        &self,
        gpu: &Gpu,
        mut points: Vec<SurfacePoint>,
        batches: &Batches,
    ) -> Result<Vec<NearestSample>> {
        points.retain(|point| is_in_tree(point.position));
        let positions: Vec<Vec3> = points.iter().map(|point| point.position).collect();
        let nearest = self.nearest(gpu, &positions, batches)?;
        let measured = |(point, nearest): (SurfacePoint, Option<_>)| {
            nearest.map(|nearest| NearestSample { point, nearest })
        };
        let all = points.into_iter().zip(nearest);
        Ok(all.filter_map(measured).collect())
    }

    /// Returns the nearest point of the surface to each of `points`. The tree finds the triangle, and f64
    /// arithmetic finds the point on it. The sign comes from the winding number, or from the pseudonormal if
    /// the surface has open edges.
    ///
    /// # Errors
    ///
    /// [`Error::Cancelled`], or [`Error::Gpu`] if the device is lost.
    pub fn nearest(
        &self,
        gpu: &Gpu,
        points: &[Vec3],
        batches: &Batches,
    ) -> Result<Vec<Option<SignedNearest>>> {
        let mut all = Vec::with_capacity(points.len());
        for batch in points.chunks(batches.points) {
            if batches.cancelled.load(Ordering::Relaxed) {
                return Err(Error::Cancelled);
            }
            let local = batch.iter().map(|point| *point - self.origin);
            let anywhere: Vec<_> = local.map(|p| p.extend(f32::INFINITY).to_array()).collect();
            let found = self.query.run(gpu, &self.tree, &anywhere, LEAF_CUTOFF)?;
            let triangles = found
                .iter()
                .map(|found| (found.mesh != BVH_MISS).then_some(found.triangle));
            let first = all.len();
            all.extend(self.signed_on_all_cores(batch, &triangles.collect::<Vec<_>>()));
            let Some(moments) = &self.moments else {
                continue;
            };
            let search = Search {
                leaf_cutoff: LEAF_CUTOFF,
                ..Search::new(&self.tree)
            };
            let numbers = self.winding.run_with(gpu, &search, moments, &anywhere)?;
            for (nearest, number) in all[first..].iter_mut().zip(numbers) {
                let nearest: Option<&mut SignedNearest> = nearest.as_mut();
                if let Some(nearest) = nearest {
                    let distance = nearest.distance.abs();
                    nearest.distance = if number > 0.5 { -distance } else { distance };
                }
            }
        }
        Ok(all)
    }

    fn signed_on_all_cores(&self, points: &[Vec3], triangles: &[Option<u32>]) -> Vec<Option<SignedNearest>> {
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        let run = points.len().div_ceil(cores).max(1);
        let mut nearest = vec![None; points.len()];
        let surface = &self.compared.surface;
        thread::scope(|scope| {
            let runs = points.chunks(run).zip(triangles.chunks(run));
            for (out, (points, triangles)) in nearest.chunks_mut(run).zip(runs) {
                scope.spawn(move || {
                    for ((out, point), triangle) in out.iter_mut().zip(points).zip(triangles) {
                        *out = triangle.map(|triangle| surface.nearest(*point, triangle));
                    }
                });
            }
        });
        nearest
    }
}

/// True if a position is finite and within a tree's limits.
pub fn is_in_tree(position: Vec3) -> bool {
    position.is_finite() && position.abs().max_element() < COORDINATE_LIMIT
}
