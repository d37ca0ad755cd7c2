//! `nearest`: the nearest point of the tree's triangles, for each point of a list. Kernels of your own import
//! `bvh/bvh_nearest.wgsl`.

pub use super::layout::Nearest;
use super::{
    layout::{NEAREST_RUN, TRACE_BLOCK},
    query_order::{OrderBuffers, QueryOrder, SORTED_FROM},
    tree::Tree,
};
use crate::{
    Result,
    gpu::{
        Bind, Gpu, Kernel, Needs, Recorder, Workgroups,
        pass::Binding::{Read, ReadArray, Uniform, Write},
    },
};

/// Points in GPU memory, with room for what is nearest to them.
#[derive(Debug)]
pub struct PointBatch {
    /// Three coordinates a point, and how far from it is looked.
    pub points: wgpu::Buffer,
    /// A [`Nearest`] per point, once the query is done.
    pub found: wgpu::Buffer,
    count: u32,
    order: Option<OrderBuffers>,
}

impl PointBatch {
    /// Uploads points, each with a reach: what is found is nearer than that. `f32::INFINITY` is anywhere.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`](crate::Error::Limit) where the device's limits do not hold them.
    pub fn new(gpu: &Gpu, points: &[[f32; 4]]) -> Result<Self> {
        let bytes = size_of_val(points) / size_of::<[f32; 4]>() * size_of::<Nearest>();
        gpu.check_binding(&format!("a list of {} points", points.len()), bytes as u64)?;
        gpu.catch(|| Self {
            points: gpu.buffer_with("nearest.points", points, wgpu::BufferUsages::STORAGE),
            found: gpu.buffer(
                "nearest.found",
                bytes as u64,
                wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC,
            ),
            // A binding holds less than 2^32 bytes.
            count: points.len() as u32,
            order: None,
        })
    }

    /// The number of points.
    pub fn len(&self) -> u32 {
        self.count
    }

    /// Whether it holds no points.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// What the last query has found, waiting for it.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::Error::Gpu) where the device is lost.
    pub fn read(&self, gpu: &Gpu) -> Result<Vec<Nearest>> {
        let bytes = gpu.read(&self.found)?;
        let used = self.count as usize * size_of::<Nearest>();
        Ok(bytemuck::pod_collect_to_vec(&bytes[..used]))
    }
}

/// The query.
#[derive(Debug)]
pub struct NearestPoints {
    kernel: Kernel,
    sorted: Kernel,
    order: QueryOrder,
    tree: wgpu::BindGroupLayout,
}

impl NearestPoints {
    /// The query, compiled when it is first needed.
    pub fn new(gpu: &Gpu) -> Self {
        let tree = Tree::layout(gpu, wgpu::ShaderStages::COMPUTE);
        let kernel = |entry, rest: &[_]| {
            let bindings = [&[Uniform, Read, Write], rest].concat();
            let shared = [(1, &tree)];
            Kernel::new(gpu, "bvh/query/nearest.wgsl", entry, &shared, &bindings)
        };
        Self {
            kernel: kernel("nearest", &[]),
            sorted: kernel("nearest_sorted", &[ReadArray(1)]),
            order: QueryOrder::new(gpu),
            tree,
        }
    }

    /// Adds its kernels to what has to be compiled.
    pub fn needs(&self, needs: &mut Needs) {
        self.kernel.needs(needs);
        self.sorted.needs(needs);
        self.order.needs(needs);
    }

    /// As [`PointBatch::new`], for queries that begin with a sort by Morton codes and go on from neighbour to
    /// neighbour. It pays from some thousand points on that are in no order; what is found, and where, is the
    /// same.
    ///
    /// # Errors
    ///
    /// As there.
    pub fn sorted_batch(&self, gpu: &Gpu, points: &[[f32; 4]]) -> Result<PointBatch> {
        let mut batch = PointBatch::new(gpu, points)?;
        batch.order = Some(self.order.buffers(gpu, batch.count)?);
        Ok(batch)
    }

    /// Many points are sorted.
    pub(super) fn batch(&self, gpu: &Gpu, points: &[[f32; 4]]) -> Result<PointBatch> {
        match points.len() < SORTED_FROM as usize {
            true => PointBatch::new(gpu, points),
            false => self.sorted_batch(gpu, points),
        }
    }

    /// Records the query of all points of `batch`. Any `leaf_cutoff` from 1 gives the same distances, but for
    /// rounding.
    ///
    /// # Errors
    ///
    /// Those of compiling the kernel, where it was not compiled before.
    pub fn record(
        &self,
        gpu: &Gpu,
        recorder: &mut impl Recorder,
        tree: &Tree,
        batch: &PointBatch,
        leaf_cutoff: u32,
    ) -> Result<()> {
        let query = [[batch.count, leaf_cutoff.max(1), 0, 0]];
        let query = gpu.buffer_with("nearest.query", &query, wgpu::BufferUsages::UNIFORM);
        if let Some(order) = &batch.order {
            let order_of = &self.order;
            order_of.record(gpu, recorder, tree, &batch.points, [1, 0], order)?;
        }
        let tree = tree.bind_group(gpu, &self.tree);
        let mut own: Vec<&dyn Bind> = vec![&query, &batch.points, &batch.found];
        let (kernel, run) = match &batch.order {
            Some(order) => {
                own.push(order.order());
                (&self.sorted, NEAREST_RUN)
            }
            None => (&self.kernel, 1),
        };
        let mut pass = recorder.scoped_compute_pass("nearest");
        let workgroups = Workgroups::Count(batch.count.div_ceil(TRACE_BLOCK * run));
        kernel.dispatch(gpu, &mut pass, &[(1, &tree)], &own, workgroups)
    }

    /// Finds what is nearest to `points`, as [`PointBatch::new`] takes them, and waits for it. Many are sorted
    /// first ([`NearestPoints::sorted_batch`]).
    ///
    /// # Errors
    ///
    /// Those of [`PointBatch::new`], [`NearestPoints::record`] and [`PointBatch::read`].
    pub fn run(&self, gpu: &Gpu, tree: &Tree, points: &[[f32; 4]], leaf_cutoff: u32) -> Result<Vec<Nearest>> {
        let batch = self.batch(gpu, points)?;
        let mut encoder = gpu.encoder("nearest");
        self.record(gpu, &mut encoder, tree, &batch, leaf_cutoff)?;
        gpu.queue.submit([encoder.finish()]);
        batch.read(gpu)
    }
}
