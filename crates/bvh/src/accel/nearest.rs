//! `nearest`: finds the nearest point on the BVH's triangles for each point of a list. To use it in your own
//! kernels, import `bvh/bvh_nearest.wgsl`.

pub use super::layout::Nearest;
use super::{
    layout::{NEAREST_RUN, TRACE_BLOCK},
    query_order::{OrderBuffers, QueryOrder, SORTED_FROM},
    tree::Tree,
};
use crate::{
    Result,
    gpu::{
        Bind, Gpu, Kernel, PipelineSet, Recorder, Workgroups,
        pass::Binding::{Read, ReadArray, Uniform, Write},
    },
};

/// Query points in GPU memory, with room for the results.
#[derive(Debug)]
pub struct PointBatch {
    /// Three coordinates and a search radius per point.
    pub points: wgpu::Buffer,
    /// One [`Nearest`] per point, valid once the query is done.
    pub found: wgpu::Buffer,
    count: u32,
    order: Option<OrderBuffers>,
}

impl PointBatch {
    /// Uploads points, each with a search radius. Results are nearer than the radius, and `f32::INFINITY`
    /// searches everywhere.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`](crate::Error::Limit) if the points exceed the device's limits.
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

    /// Returns the number of points.
    pub fn len(&self) -> u32 {
        self.count
    }

    /// True if the batch has no points.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Reads back the results of the last query, and waits for them.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::Error::Gpu) if the device is lost.
    pub fn read(&self, gpu: &Gpu) -> Result<Vec<Nearest>> {
        let bytes = gpu.read(&self.found)?;
        let used = self.count as usize * size_of::<Nearest>();
        Ok(bytemuck::pod_collect_to_vec(&bytes[..used]))
    }
}

/// Nearest-point query, for trees over triangles.
#[derive(Debug)]
pub struct NearestPoints {
    kernel: Kernel,
    sorted: Kernel,
    order: QueryOrder,
    tree: wgpu::BindGroupLayout,
}

impl NearestPoints {
    /// Creates the query. Its kernels are compiled on first use.
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

    /// Adds its kernels to the set of pipelines to compile.
    pub fn pipelines(&self, set: &mut PipelineSet) {
        self.kernel.pipelines(set);
        self.sorted.pipelines(set);
        self.order.pipelines(set);
    }

    /// Creates a batch like [`PointBatch::new`], whose queries first sort the points by Morton codes. Each
    /// search then starts from the result of the previous point. This pays off from a few thousand unordered
    /// points on. The results and their order do not change.
    ///
    /// # Errors
    ///
    /// Any error of [`PointBatch::new`].
    pub fn sorted_batch(&self, gpu: &Gpu, points: &[[f32; 4]]) -> Result<PointBatch> {
        let mut batch = PointBatch::new(gpu, points)?;
        batch.order = Some(self.order.buffers(gpu, batch.count)?);
        Ok(batch)
    }

    /// Creates a batch that is sorted if it is large enough to pay off.
    pub(super) fn batch(&self, gpu: &Gpu, points: &[[f32; 4]]) -> Result<PointBatch> {
        match points.len() < SORTED_FROM as usize {
            true => PointBatch::new(gpu, points),
            false => self.sorted_batch(gpu, points),
        }
    }

    /// Records the query for all points of `batch`. Any `leaf_cutoff` of at least 1 gives the same distances,
    /// except for rounding.
    ///
    /// # Errors
    ///
    /// A compilation error, if the kernel was not compiled before.
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

    /// Finds the nearest point for each of `points`, in the format of [`PointBatch::new`], and waits for the
    /// results. Large lists are sorted first ([`NearestPoints::sorted_batch`]).
    ///
    /// # Errors
    ///
    /// Any error of [`PointBatch::new`], [`NearestPoints::record`] or [`PointBatch::read`].
    pub fn run(&self, gpu: &Gpu, tree: &Tree, points: &[[f32; 4]], leaf_cutoff: u32) -> Result<Vec<Nearest>> {
        let batch = self.batch(gpu, points)?;
        let mut encoder = gpu.encoder("nearest");
        self.record(gpu, &mut encoder, tree, &batch, leaf_cutoff)?;
        gpu.queue.submit([encoder.finish()]);
        batch.read(gpu)
    }
}
