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

/// The pipelines of both queries.
#[derive(Debug)]
pub struct Trace {
    closest_hit: wgpu::ComputePipeline,
    any_hit: wgpu::ComputePipeline,
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
            layout,
        })
    }

    /// Traces `rays` and waits for their hits. `leaf_cutoff` is that of the renderer: any value gives the same hits.
    pub fn run(
        &self,
        gpu: &Gpu,
        tree: &Tree,
        rays: &[Ray],
        query: Query,
        leaf_cutoff: u32,
    ) -> Result<Vec<Hit>> {
        let count = u32::try_from(rays.len()).unwrap_or(u32::MAX);
        let params = gpu.buffer_with(
            "trace.query",
            &[[count, leaf_cutoff.max(1), 0, 0]],
            wgpu::BufferUsages::UNIFORM,
        );
        let ray_buffer = gpu.buffer_with("trace.rays", rays, wgpu::BufferUsages::STORAGE);
        let hits = gpu.buffer(
            "trace.hits",
            size_of_val(rays) as u64 / 32 * 24,
            wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC,
        );
        if count == 0 {
            return Ok(Vec::new());
        }
        let group = pass::bind_group(
            gpu,
            "trace",
            &self.layout,
            &[&params, &ray_buffer, &hits].map(wgpu::Buffer::as_entire_binding),
        );
        let tree_group = tree.bind_group(gpu, &Tree::layout(gpu, wgpu::ShaderStages::COMPUTE));
        let mut encoder = gpu.encoder("trace");
        {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                label: Some("trace"),
                timestamp_writes: None,
            });
            pass.set_pipeline(match query {
                Query::ClosestHit => &self.closest_hit,
                Query::AnyHit => &self.any_hit,
            });
            pass.set_bind_group(0, &group, &[]);
            pass.set_bind_group(1, &tree_group, &[]);
            pass::dispatch(&mut pass, count.div_ceil(64));
        }
        gpu.queue.submit([encoder.finish()]);
        let bytes = gpu.read(&hits)?;
        Ok(bytemuck::pod_collect_to_vec(
            &bytes[..rays.len() * size_of::<Hit>()],
        ))
    }
}
