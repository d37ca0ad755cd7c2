//! `trace`: traces a list of rays, for tools and tests. Passes of a renderer have their own kernels on the
//! same core, `bvh/bvh_rays.wgsl`.

pub use super::layout::{Hit, Ray, Visits};
use super::{layout::TRACE_BLOCK, ray_nodes::RayNodes, tree::Tree};
use crate::{
    Result,
    gpu::{
        Bind, Gpu, Kernel, PipelineSet, Recorder, Workgroups,
        pass::Binding::{self, Read, Uniform, Write},
    },
};
use std::ops::Range;

/// Hit at which a ray query ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Query {
    /// Nearest hit along the ray.
    ClosestHit,
    /// First hit that traversal finds.
    AnyHit,
}

/// Rays in GPU memory, with room for their hits.
#[derive(Debug)]
pub struct RayBatch {
    /// Buffer of [`Ray`]s.
    pub rays: wgpu::Buffer,
    /// One [`Hit`] per ray, valid once a query is done.
    pub hits: wgpu::Buffer,
    count: u32,
}

impl RayBatch {
    /// Uploads `rays`.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`](crate::Error::Limit) if the rays exceed the device's limits.
    pub fn new(gpu: &Gpu, rays: &[Ray]) -> Result<Self> {
        let what = format!("a list of {} rays", rays.len());
        gpu.check_binding(&what, size_of_val(rays) as u64)?;
        gpu.catch(|| Self {
            rays: gpu.buffer_with("trace.rays", rays, wgpu::BufferUsages::STORAGE),
            hits: gpu.buffer(
                "trace.hits",
                (rays.len() * size_of::<Hit>()) as u64,
                wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC,
            ),
            // A binding holds less than 2^32 bytes.
            count: rays.len() as u32,
        })
    }

    /// Creates a batch from `count` rays that are in GPU memory already.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`](crate::Error::Limit) if the hits exceed the device's limits.
    pub fn from_buffer(gpu: &Gpu, rays: wgpu::Buffer, count: u32) -> Result<Self> {
        let bytes = u64::from(count) * size_of::<Hit>() as u64;
        gpu.check_binding(&format!("hits of {count} rays"), bytes)?;
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
        let hits = gpu.catch(|| gpu.buffer("trace.hits", bytes, usage))?;
        Ok(Self { rays, hits, count })
    }

    /// Returns the number of rays.
    pub fn len(&self) -> u32 {
        self.count
    }

    /// True if the batch has no rays.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Reads back the hits of the last query, and waits for them.
    pub fn read(&self, gpu: &Gpu) -> Result<Vec<Hit>> {
        let bytes = gpu.read(&self.hits)?;
        Ok(bytemuck::pod_collect_to_vec(
            &bytes[..self.count as usize * size_of::<Hit>()],
        ))
    }
}

/// Kernels of the two ray queries.
#[derive(Debug)]
pub struct Trace {
    /// `None` if rays traverse the nodes of the tree.
    ray_nodes: Option<RayNodes>,
    closest_hit: Kernel,
    any_hit: Kernel,
    count_closest_hit: Kernel,
    count_any_hit: Kernel,
    tree: wgpu::BindGroupLayout,
}

impl Trace {
    /// Creates the queries. Their kernels are compiled on first use.
    pub fn new(gpu: &Gpu) -> Self {
        Self::with_shader(gpu, "bvh/query/trace.wgsl", Some(RayNodes::new(gpu)))
    }

    /// Creates the queries with the traversal of software adapters, on any device. Closest hits are the same,
    /// and any-hit rays hit or miss alike.
    pub fn portable(gpu: &Gpu) -> Self {
        Self::with_shader(gpu, "bvh/software/trace_portable.wgsl", None)
    }

    fn with_shader(gpu: &Gpu, path: &'static str, ray_nodes: Option<RayNodes>) -> Self {
        let tree = Tree::layout(gpu, wgpu::ShaderStages::COMPUTE);
        let kernel = |entry, bindings: &[Binding]| {
            let accepts_all = [("BVH_TESTS_HITS", 0.0)];
            Kernel::with_constants(gpu, path, entry, &[(1, &tree)], bindings, &accepts_all)
        };
        let hits = [Uniform, Read, Write, Read];
        let visits = [Uniform, Read, Write];
        Self {
            ray_nodes,
            closest_hit: kernel("closest_hit", &hits),
            any_hit: kernel("any_hit", &hits),
            count_closest_hit: kernel("count_closest_hit", &visits),
            count_any_hit: kernel("count_any_hit", &visits),
            tree,
        }
    }

    /// Adds the kernels of both queries to the set of pipelines to compile.
    pub fn pipelines(&self, set: &mut PipelineSet) {
        if let Some(ray_nodes) = &self.ray_nodes {
            ray_nodes.pipelines(set);
        }
        self.closest_hit.pipelines(set);
        self.any_hit.pipelines(set);
    }

    /// Records the query for all rays of `batch`. `leaf_cutoff` is the number of triangles that are tested
    /// without descending further. Any value from 1 gives the same closest hits, and misses of the same rays.
    ///
    /// On GPUs, the first recording after a build, or with another cutoff, also records the nodes for rays.
    /// So submit recordings in order. If you drop one, call [`Tree::invalidate_ray_nodes`].
    ///
    /// # Errors
    ///
    /// The errors of [`Tree::ray_bind_group`], and a compilation error if the kernel was not compiled before.
    pub fn record(
        &self,
        gpu: &Gpu,
        recorder: &mut impl Recorder,
        tree: &Tree,
        batch: &RayBatch,
        query: Query,
        leaf_cutoff: u32,
    ) -> Result<()> {
        let all = 0..batch.count;
        self.record_part(gpu, recorder, tree, batch, (query, leaf_cutoff), all)
    }

    /// Records like [`Trace::record`], for these rays only.
    ///
    /// # Errors
    ///
    /// The errors of [`Trace::record`].
    pub fn record_part(
        &self,
        gpu: &Gpu,
        recorder: &mut impl Recorder,
        tree: &Tree,
        batch: &RayBatch,
        (query, leaf_cutoff): (Query, u32),
        rays: Range<u32>,
    ) -> Result<()> {
        let kernel = match query {
            Query::ClosestHit => &self.closest_hit,
            Query::AnyHit => &self.any_hit,
        };
        let group = self.bind(gpu, recorder, tree, leaf_cutoff)?;
        let own: [&dyn Bind; 3] = [&batch.rays, &batch.hits, &tree.tlas];
        dispatch(gpu, recorder, kernel, &group, &own, (rays, leaf_cutoff))
    }

    /// Traces `rays` and waits for their hits.
    ///
    /// # Errors
    ///
    /// Any error of [`RayBatch::new`] or [`Trace::record`]. [`Error::Gpu`](crate::Error::Gpu) if the device
    /// is lost.
    pub fn run(
        &self,
        gpu: &Gpu,
        tree: &Tree,
        rays: &[Ray],
        query: Query,
        leaf_cutoff: u32,
    ) -> Result<Vec<Hit>> {
        let batch = RayBatch::new(gpu, rays)?;
        let mut encoder = gpu.encoder("trace");
        self.record(gpu, &mut encoder, tree, &batch, query, leaf_cutoff)?;
        gpu.queue.submit([encoder.finish()]);
        batch.read(gpu)
    }

    /// Traces the rays of `batch` and waits for their traversal counts.
    ///
    /// # Errors
    ///
    /// The errors of [`Trace::run`].
    pub fn count(
        &self,
        gpu: &Gpu,
        tree: &Tree,
        batch: &RayBatch,
        query: Query,
        leaf_cutoff: u32,
    ) -> Result<Vec<Visits>> {
        let bytes = batch.count as usize * size_of::<Visits>();
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
        let visits = gpu.catch(|| gpu.buffer("trace.visits", bytes as u64, usage))?;
        let kernel = match query {
            Query::ClosestHit => &self.count_closest_hit,
            Query::AnyHit => &self.count_any_hit,
        };
        let mut encoder = gpu.encoder("trace");
        let group = self.bind(gpu, &mut encoder, tree, leaf_cutoff)?;
        let (own, part): ([&dyn Bind; 2], _) = ([&batch.rays, &visits], (0..batch.count, leaf_cutoff));
        dispatch(gpu, &mut encoder, kernel, &group, &own, part)?;
        gpu.queue.submit([encoder.finish()]);
        Ok(bytemuck::pod_collect_to_vec(&gpu.read(&visits)?[..bytes]))
    }

    /// Returns the bind group of `tree` for rays with this leaf cutoff, and records what it needs.
    fn bind(
        &self,
        gpu: &Gpu,
        recorder: &mut impl Recorder,
        tree: &Tree,
        leaf_cutoff: u32,
    ) -> Result<wgpu::BindGroup> {
        let Some(ray_nodes) = &self.ray_nodes else {
            return Ok(tree.bind_group(gpu, &self.tree));
        };
        ray_nodes.record(gpu, recorder, tree, leaf_cutoff)?;
        tree.ray_bind_group(gpu, &self.tree)
    }
}

/// Records `kernel` for the rays of `part`, with this bind group of the tree. The query's parameters come
/// before `own`.
fn dispatch(
    gpu: &Gpu,
    recorder: &mut impl Recorder,
    kernel: &Kernel,
    tree: &wgpu::BindGroup,
    own: &[&dyn Bind],
    (part, leaf_cutoff): (Range<u32>, u32),
) -> Result<()> {
    let query = [part.end, leaf_cutoff.max(1), part.start, 0];
    let query = gpu.buffer_with("trace.query", &[query], wgpu::BufferUsages::UNIFORM);
    let own = [&[&query as &dyn Bind], own].concat();
    let mut pass = recorder.scoped_compute_pass("trace");
    let workgroups = Workgroups::Count((part.end - part.start).div_ceil(TRACE_BLOCK));
    kernel.dispatch(gpu, &mut pass, &[(1, tree)], &own, workgroups)
}
