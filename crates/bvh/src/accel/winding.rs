//! `winding`: computes the winding number of the surface around each point of a list. It tells inside from
//! outside even for surfaces with holes (Jacobson et al. 2013, Barill et al. 2018).

use super::{
    layout::Objects,
    search::{QueryKernel, Search},
    tree::Tree,
};
use crate::{
    Error, Result,
    gpu::{
        Bind, Gpu, PipelineSet, Recorder,
        pass::Binding::{Read, Uniform, Write},
    },
};
use wgpu::BufferUsages as Usage;

/// Branching factor of the moment hierarchy.
const FAN: u32 = 8;

/// Far-field moments of a BVH's nodes, about 70 bytes per triangle.
#[derive(Debug)]
pub struct Moments {
    buffer: wgpu::Buffer,
    /// Uniforms of each dispatch, and the number of rows that it writes.
    levels: Vec<(wgpu::Buffer, u32)>,
    /// Offset of the node moments, in pairs of rows.
    nodes: u32,
    /// Triangle count of the tree that the moments are for.
    triangle_count: u32,
}

impl Moments {
    /// Returns the moments of all nodes, in the format of `bvh/bvh_winding.wgsl`.
    pub fn buffer(&self) -> &wgpu::Buffer {
        &self.buffer
    }

    /// Returns the offset of the node moments, in pairs of rows.
    pub fn first_node(&self) -> u32 {
        self.nodes
    }

    /// Checks the size, because kernels index the moments by the tree's node indices.
    fn check(&self, tree: &Tree) -> Result<()> {
        let (held, needed) = (self.triangle_count, tree.triangle_count());
        match held == needed {
            true => Ok(()),
            false => Err(Error::Tree(format!(
                "the winding-number moments are for {held} triangles, and the BVH has {needed}"
            ))),
        }
    }
}

/// Winding number query, for trees over triangles. It covers all triangles and ignores the mask of a
/// [`Search`].
#[derive(Debug)]
pub struct Winding {
    leaves: QueryKernel,
    level: QueryKernel,
    nodes: QueryKernel,
    numbers: QueryKernel,
    sign: QueryKernel,
}

impl Winding {
    /// Creates the query. Its kernels are compiled on first use.
    pub fn new(gpu: &Gpu) -> Self {
        let moments = |entry| {
            let path = ("bvh/build/moments.wgsl", entry);
            QueryKernel::new(gpu, path, &[Uniform, Write], &[], None)
        };
        let query = |entry| {
            let path = ("bvh/query/winding.wgsl", entry);
            QueryKernel::new(gpu, path, &[Uniform, Read, Write, Read], &[], None)
        };
        Self {
            leaves: moments("moments_leaves"),
            level: moments("moments_level"),
            nodes: moments("moments_nodes"),
            numbers: query("winding"),
            sign: query("winding_sign"),
        }
    }

    /// Adds its kernels to the set of pipelines to compile.
    pub fn pipelines(&self, set: &mut PipelineSet) {
        for kernel in [&self.leaves, &self.level, &self.nodes, &self.numbers, &self.sign] {
            kernel.pipelines(set);
        }
    }

    /// Creates the buffer for the moments of `tree`, which are not computed yet.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] if the moments exceed the device's limits. [`Error::Tree`] for a tree over other
    /// objects.
    pub fn moments(&self, gpu: &Gpu, tree: &Tree) -> Result<Moments> {
        if tree.objects() != Objects::Triangles {
            return Err(Error::Tree("winding numbers need triangles".into()));
        }
        let triangles = tree.triangle_count();
        // Each level: number of rows to write, their offset, and the offset and number of the rows to read.
        let mut levels = vec![[triangles, 0, 0, 0]];
        let (mut count, mut first, mut rows) = (triangles, 0, triangles);
        while count > 1 {
            let next = count.div_ceil(FAN);
            levels.push([next, rows, first, count]);
            (first, count, rows) = (rows, next, rows + next);
        }
        levels.push([triangles, rows, 0, 0]);
        let bytes = 32 * (u64::from(rows) + u64::from(triangles.max(1)));
        gpu.check_binding("the moments of a tree", bytes)?;
        gpu.catch(|| Moments {
            buffer: gpu.buffer("winding.moments", bytes, Usage::STORAGE),
            levels: levels
                .into_iter()
                .map(|level| {
                    let count = level[0];
                    (gpu.buffer_with("winding.level", &[level], Usage::UNIFORM), count)
                })
                .collect(),
            nodes: rows,
            triangle_count: triangles,
        })
    }

    /// Records the moments of the tree's last build. The number of dispatches grows with the logarithm of the
    /// triangle count to base 8.
    ///
    /// # Errors
    ///
    /// [`Error::Tree`] for the moments of a tree of another size. A compilation error, if the kernels were
    /// not compiled before.
    pub fn record_moments(
        &self,
        gpu: &Gpu,
        recorder: &mut impl Recorder,
        tree: &Tree,
        moments: &Moments,
    ) -> Result<()> {
        moments.check(tree)?;
        let search = Search::new(tree);
        let last = moments.levels.len() - 1;
        for (i, (level, count)) in moments.levels.iter().enumerate() {
            let kernel = match i {
                0 => &self.leaves,
                _ if i == last => &self.nodes,
                _ => &self.level,
            };
            let own: [&dyn Bind; 2] = [level, &moments.buffer];
            kernel.record(gpu, recorder, "moments", &search, *count, &own)?;
        }
        Ok(())
    }

    /// Records the winding number of each of the first `count` of `points` into `numbers`, an `f32` each. A
    /// point is four `f32`, of which the last is ignored. First record [`Winding::record_moments`].
    ///
    /// # Errors
    ///
    /// [`Error::Tree`] for the moments of a tree of another size. A compilation error, if the kernel was not
    /// compiled before.
    pub fn record(
        &self,
        gpu: &Gpu,
        recorder: &mut impl Recorder,
        search: &Search<'_>,
        moments: &Moments,
        (count, points, numbers): (u32, &wgpu::Buffer, &wgpu::Buffer),
    ) -> Result<()> {
        self.dispatch(
            gpu,
            recorder,
            &self.numbers,
            search,
            moments,
            (count, points, numbers),
        )
    }

    /// Records the signs of distances by winding numbers. Distances in `found`
    /// ([`PointBatch`](super::nearest::PointBatch)) become negative inside.
    pub(super) fn record_sign(
        &self,
        gpu: &Gpu,
        recorder: &mut impl Recorder,
        search: &Search<'_>,
        moments: &Moments,
        lists: (u32, &wgpu::Buffer, &wgpu::Buffer),
    ) -> Result<()> {
        self.dispatch(gpu, recorder, &self.sign, search, moments, lists)
    }

    fn dispatch(
        &self,
        gpu: &Gpu,
        recorder: &mut impl Recorder,
        kernel: &QueryKernel,
        search: &Search<'_>,
        moments: &Moments,
        (count, points, found): (u32, &wgpu::Buffer, &wgpu::Buffer),
    ) -> Result<()> {
        moments.check(search.tree)?;
        let query = [[count, search.leaf_cutoff.max(1), moments.nodes, 0]];
        let query = gpu.buffer_with("winding.query", &query, Usage::UNIFORM);
        let own: [&dyn Bind; 4] = [&query, points, found, &moments.buffer];
        kernel.record(gpu, recorder, "winding", search, count, &own)
    }

    /// Computes the winding numbers of `points`, and waits for them.
    ///
    /// # Errors
    ///
    /// Any error of [`Winding::moments`] or [`Winding::record`]. [`Error::Limit`] if the points exceed the
    /// device's limits. [`Error::Gpu`] if the device is lost.
    pub fn run(&self, gpu: &Gpu, search: &Search<'_>, points: &[[f32; 4]]) -> Result<Vec<f32>> {
        let moments = self.moments(gpu, search.tree)?;
        let mut encoder = gpu.encoder("moments");
        self.record_moments(gpu, &mut encoder, search.tree, &moments)?;
        gpu.queue.submit([encoder.finish()]);
        self.run_with(gpu, search, &moments, points)
    }

    /// Computes the winding numbers like [`Winding::run`], from moments that were recorded before.
    ///
    /// # Errors
    ///
    /// The errors of [`Winding::run`].
    pub fn run_with(
        &self,
        gpu: &Gpu,
        search: &Search<'_>,
        moments: &Moments,
        points: &[[f32; 4]],
    ) -> Result<Vec<f32>> {
        let bytes = size_of_val(points) as u64;
        gpu.check_binding(&format!("a list of {} points", points.len()), bytes)?;
        let (asked, numbers) = gpu.catch(|| {
            (
                gpu.buffer_with("winding.points", points, Usage::STORAGE),
                gpu.buffer(
                    "winding.numbers",
                    (bytes / 4).max(4),
                    Usage::STORAGE | Usage::COPY_SRC,
                ),
            )
        })?;
        let mut encoder = gpu.encoder("winding");
        let lists = (points.len() as u32, &asked, &numbers);
        self.record(gpu, &mut encoder, search, moments, lists)?;
        gpu.queue.submit([encoder.finish()]);
        Ok(bytemuck::pod_collect_to_vec(
            &gpu.read(&numbers)?[..4 * points.len()],
        ))
    }
}
