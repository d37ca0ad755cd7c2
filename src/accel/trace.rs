//! `trace`: rays from a list through the trees, for tools and tests; the renderer's passes have their own kernels on the same core.

use super::Tree;
use crate::{
    Result,
    gpu::{
        Gpu,
        pass::{
            self,
            Binding::{Read, Uniform, Write},
        },
        profiler::Scope,
        shader,
    },
};
use bytemuck::{Pod, Zeroable};

/// A ray as `common/bvh.wgsl` declares it. Hits lie strictly between `t_min` and `t_max`, in units of the direction's length.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[expect(missing_docs, reason = "the members are the mathematics of a ray")]
pub struct Ray {
    pub origin: [f32; 3],
    pub t_min: f32,
    pub direction: [f32; 3],
    pub t_max: f32,
}

/// A hit as `common/bvh.wgsl` declares it.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct Hit {
    /// Distance in units of the direction's length; the ray's `t_max` for a miss.
    pub t: f32,
    _pad: u32,
    /// Weights of the second and third vertex.
    pub barycentric: [f32; 2],
    /// Place in leaf order; `u32::MAX` for a miss.
    pub place: u32,
    _pad_end: u32,
}

/// Which hit ends a ray.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Query {
    /// The nearest.
    ClosestHit,
    /// The first that is found.
    AnyHit,
}

/// What a ray went through.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct Visits {
    /// Nodes of the trees and of what is above them.
    pub nodes: u32,
    /// Triangles that were tested.
    pub triangles: u32,
}

/// Rays in GPU memory, with room for their hits.
#[derive(Debug)]
pub struct RayBatch {
    /// [`Ray`]s.
    pub rays: wgpu::Buffer,
    /// A [`Hit`] per ray, once a query is done.
    pub hits: wgpu::Buffer,
    count: u32,
}

impl RayBatch {
    /// Uploads `rays`; fails when the device's limits do not hold them.
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

    /// Its rays.
    pub fn len(&self) -> u32 {
        self.count
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The hits of the last query, waiting for them.
    pub fn read(&self, gpu: &Gpu) -> Result<Vec<Hit>> {
        let bytes = gpu.read(&self.hits)?;
        Ok(bytemuck::pod_collect_to_vec(
            &bytes[..self.count as usize * size_of::<Hit>()],
        ))
    }
}

/// The pipelines of both queries.
#[derive(Debug)]
pub struct Trace {
    closest_hit: wgpu::ComputePipeline,
    any_hit: wgpu::ComputePipeline,
    count_closest_hit: wgpu::ComputePipeline,
    count_any_hit: wgpu::ComputePipeline,
    layout: wgpu::BindGroupLayout,
}

impl Trace {
    /// Compiles both queries.
    pub fn new(gpu: &Gpu) -> Result<Self> {
        let module = shader::module(gpu, "accel/trace.wgsl")?;
        let layout = pass::compute_layout(gpu, "trace", &[Uniform, Read, Write]);
        let tree = Tree::layout(gpu, wgpu::ShaderStages::COMPUTE);
        let pipeline =
            |entry| pass::compute_pipeline_with(gpu, &module, entry, Some(&[&layout, &tree]));
        Ok(Self {
            closest_hit: pipeline("closest_hit")?,
            any_hit: pipeline("any_hit")?,
            count_closest_hit: pipeline("count_closest_hit")?,
            count_any_hit: pipeline("count_any_hit")?,
            layout,
        })
    }

    /// Records the query of all rays of `batch`. `leaf_cutoff` is that of the renderer: any value gives the same hits.
    pub fn record(
        &self,
        gpu: &Gpu,
        scope: &mut Scope<'_>,
        tree: &Tree,
        batch: &RayBatch,
        query: Query,
        leaf_cutoff: u32,
    ) {
        let groups = self.groups(gpu, tree, batch, &batch.hits, leaf_cutoff);
        let mut pass = scope.scoped_compute_pass("trace");
        dispatch(&mut pass, self.pipeline(query), &groups, batch.count);
    }

    /// Traces `rays` and waits for their hits.
    pub fn run(
        &self,
        gpu: &Gpu,
        tree: &Tree,
        rays: &[Ray],
        query: Query,
        leaf_cutoff: u32,
    ) -> Result<Vec<Hit>> {
        let batch = RayBatch::new(gpu, rays)?;
        let groups = self.groups(gpu, tree, &batch, &batch.hits, leaf_cutoff);
        self.submit(gpu, self.pipeline(query), &groups, batch.count);
        batch.read(gpu)
    }

    /// Traces the rays of `batch` and waits for what each went through.
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
        let pipeline = match query {
            Query::ClosestHit => &self.count_closest_hit,
            Query::AnyHit => &self.count_any_hit,
        };
        let groups = self.groups(gpu, tree, batch, &visits, leaf_cutoff);
        self.submit(gpu, pipeline, &groups, batch.count);
        Ok(bytemuck::pod_collect_to_vec(&gpu.read(&visits)?[..bytes]))
    }

    fn pipeline(&self, query: Query) -> &wgpu::ComputePipeline {
        match query {
            Query::ClosestHit => &self.closest_hit,
            Query::AnyHit => &self.any_hit,
        }
    }

    fn submit(
        &self,
        gpu: &Gpu,
        pipeline: &wgpu::ComputePipeline,
        groups: &[wgpu::BindGroup; 2],
        count: u32,
    ) {
        let mut encoder = gpu.encoder("trace");
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
            label: Some("trace"),
            timestamp_writes: None,
        });
        dispatch(&mut pass, pipeline, groups, count);
        drop(pass);
        gpu.queue.submit([encoder.finish()]);
    }

    /// What both groups of the shader hold; the query writes to `out`.
    fn groups(
        &self,
        gpu: &Gpu,
        tree: &Tree,
        batch: &RayBatch,
        out: &wgpu::Buffer,
        leaf_cutoff: u32,
    ) -> [wgpu::BindGroup; 2] {
        let query = [batch.count, leaf_cutoff.max(1), 0, 0];
        let query = gpu.buffer_with("trace.query", &[query], wgpu::BufferUsages::UNIFORM);
        let resources = [&query, &batch.rays, out].map(wgpu::Buffer::as_entire_binding);
        [
            pass::bind_group(gpu, "trace", &self.layout, &resources),
            tree.bind_group(gpu, &Tree::layout(gpu, wgpu::ShaderStages::COMPUTE)),
        ]
    }
}

fn dispatch(
    pass: &mut wgpu::ComputePass<'_>,
    pipeline: &wgpu::ComputePipeline,
    groups: &[wgpu::BindGroup; 2],
    count: u32,
) {
    pass.set_pipeline(pipeline);
    for (index, group) in (0..).zip(groups) {
        pass.set_bind_group(index, group, &[]);
    }
    pass::dispatch(pass, count.div_ceil(64));
}
