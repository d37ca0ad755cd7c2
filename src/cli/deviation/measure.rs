//! Points on a scene's surface, and their signed distances to another's.

use crate::{
    Error, Result,
    accel::{Nearest, NearestPoints, Tree, layout::BVH_MISS},
    cli::shown::Shown,
    gpu::Gpu,
    scene::signed_surface::{SignedNearest, SignedSurface},
};
use glam::Vec3;
use std::{
    num::NonZero,
    path::{Path, PathBuf},
    thread,
};

/// Triangles that a query tests without going further down.
const LEAF_CUTOFF: u32 = 4;
/// Where trees end, in metres: 2^50.
const FARTHEST: f32 = 1.125_899_9e15;
/// Points that the GPU is given at once.
const BATCH: usize = 1 << 18;

/// A scene's triangles, to measure and to be measured from.
#[derive(Debug)]
pub(super) struct Surface {
    pub(super) path: PathBuf,
    pub(super) shown: Shown,
    pub(super) signed: SignedSurface,
    tree: Tree,
}

/// A point of one surface.
#[derive(Debug, Clone, Copy)]
pub(super) struct Point {
    pub(super) position: Vec3,
    /// The part of the surface that it stands for, in square metres.
    pub(super) area: f64,
    /// The triangle that it lies on.
    pub(super) triangle: u32,
}

/// A point of one surface, and where another is nearest to it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Measured {
    pub(super) point: Point,
    pub(super) nearest: SignedNearest,
}

impl Surface {
    /// # Errors
    ///
    /// [`Error::Scene`] where no triangle is shown, [`Error::Limit`] where there are too many for the adapter.
    pub(super) fn new(gpu: &Gpu, path: &Path, shown: Shown) -> Result<Self> {
        let is_in_tree = |vertex: &u32| is_in_tree(shown.positions[*vertex as usize]);
        let is_empty = !shown
            .indices
            .iter()
            .any(|triangle| triangle.iter().all(is_in_tree));
        if is_empty {
            return Err(Error::scene(path, "shows no triangles to measure"));
        }
        Ok(Self {
            path: path.to_owned(),
            signed: SignedSurface::new(&shown.positions, &shown.indices),
            tree: shown.tree(gpu)?,
            shown,
        })
    }

    /// The vertices of its triangles, in the order of `canopy export`.
    pub(super) fn vertices(&self) -> Vec<Point> {
        let mut of = vec![None; self.shown.positions.len()];
        for (triangle, number) in self.shown.indices.iter().zip(0..) {
            for vertex in triangle {
                of[*vertex as usize].get_or_insert(number);
            }
        }
        let used = self.shown.positions.iter().zip(of);
        used.filter_map(|(position, triangle)| {
            Some(Point {
                position: *position,
                area: 0.0,
                triangle: triangle?,
            })
        })
        .collect()
    }

    /// About `count` points, at least one on each triangle. Larger ones are cut into the squares of whole numbers of
    /// equal parts, each of which has a point in its middle.
    pub(super) fn samples(&self, count: u32) -> Vec<Point> {
        let corners = |t: &[u32; 3]| t.map(|v| self.shown.positions[v as usize].as_dvec3());
        let area = |t: &[u32; 3]| {
            let [a, b, c] = corners(t);
            let area = 0.5 * (b - a).cross(c - a).length();
            if area.is_finite() { area } else { 0.0 }
        };
        let areas: Vec<f64> = self.shown.indices.iter().map(area).collect();
        let whole: f64 = areas.iter().sum();
        let mut points = Vec::new();
        for ((triangle, area), number) in self.shown.indices.iter().zip(areas).zip(0..) {
            let [a, b, c] = corners(triangle);
            let share = if whole > 0.0 { area / whole } else { 0.0 };
            let cuts = (share * f64::from(count)).sqrt().ceil().max(1.0);
            let mut add = |i: f64, j: f64| {
                let position = a + (b - a) * (i / cuts) + (c - a) * (j / cuts);
                points.push(Point {
                    position: position.as_vec3(),
                    area: area / (cuts * cuts),
                    triangle: number,
                });
            };
            let cuts = cuts as u32;
            for i in 0..cuts {
                for j in 0..cuts - i {
                    let [i, j] = [i, j].map(f64::from);
                    add(i + 1.0 / 3.0, j + 1.0 / 3.0);
                    if i + j + 1.0 < f64::from(cuts) {
                        add(i + 2.0 / 3.0, j + 2.0 / 3.0);
                    }
                }
            }
        }
        points
    }

    /// Where this surface is nearest to each of `points`, but for those that are nowhere.
    pub(super) fn measure(&self, gpu: &Gpu, mut points: Vec<Point>) -> Result<Vec<Measured>> {
        points.retain(|point| is_in_tree(point.position));
        let positions: Vec<Vec3> = points.iter().map(|point| point.position).collect();
        let nearest = self.nearest(gpu, &positions)?;
        let measured = |(point, nearest): (Point, Option<_>)| {
            nearest.map(|nearest| Measured { point, nearest })
        };
        Ok(points
            .into_iter()
            .zip(nearest)
            .filter_map(measured)
            .collect())
    }

    /// Where this surface is nearest to each of `points`: which triangle by the tree, and where on which side of it
    /// in f64.
    pub(super) fn nearest(&self, gpu: &Gpu, points: &[Vec3]) -> Result<Vec<Option<SignedNearest>>> {
        let query = NearestPoints::new(gpu);
        let mut all = Vec::with_capacity(points.len());
        for batch in points.chunks(BATCH) {
            let anywhere = batch.iter().map(|p| p.extend(f32::INFINITY).to_array());
            let anywhere: Vec<_> = anywhere.collect();
            let found = query.run(gpu, &self.tree, &anywhere, LEAF_CUTOFF)?;
            let triangle =
                |found: &Nearest| (found.mesh != BVH_MISS).then(|| self.shown.triangle(found));
            let triangles: Vec<_> = found.iter().map(triangle).collect();
            all.extend(self.signed_on_all_cores(batch, &triangles));
        }
        Ok(all)
    }

    fn signed_on_all_cores(
        &self,
        points: &[Vec3],
        triangles: &[Option<u32>],
    ) -> Vec<Option<SignedNearest>> {
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        let run = points.len().div_ceil(cores).max(1);
        let mut nearest = vec![None; points.len()];
        thread::scope(|scope| {
            let runs = points.chunks(run).zip(triangles.chunks(run));
            for (out, (points, triangles)) in nearest.chunks_mut(run).zip(runs) {
                scope.spawn(move || {
                    for ((out, point), triangle) in out.iter_mut().zip(points).zip(triangles) {
                        *out = triangle.map(|triangle| self.signed.nearest(*point, triangle));
                    }
                });
            }
        });
        nearest
    }
}

/// Whether trees reach as far.
fn is_in_tree(position: Vec3) -> bool {
    position.is_finite() && position.abs().max_element() < FARTHEST
}
