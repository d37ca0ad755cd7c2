//! A copy of many bytes by a compute shader: what bandwidths are measured by.

use crate::{
    Result,
    gpu::{Gpu, bind_group, pass},
};

/// Bytes on a GPU: more than its caches hold.
const BYTES: u64 = 256 << 20;
const BYTES_SOFTWARE: u64 = 64 << 20;

/// The copy, ready to be recorded.
#[derive(Debug, Clone)]
pub struct Copy {
    pipeline: wgpu::ComputePipeline,
    group: wgpu::BindGroup,
    bytes: u64,
}

impl Copy {
    /// Makes its buffers.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Gpu`] where the adapter has no memory for them.
    pub fn new(gpu: &Gpu) -> Result<Self> {
        let wanted = if gpu.capabilities.has_gpu {
            BYTES
        } else {
            BYTES_SOFTWARE
        };
        let bytes = wanted.min(gpu.limits.max_storage_buffer_binding_size) & !15;
        let pipeline = pass::compute_pipeline(gpu, "bench/copy.wgsl", "copy")?;
        let group = gpu.catch(|| {
            let buffer = |label: &str| gpu.buffer(label, bytes, wgpu::BufferUsages::STORAGE);
            let layout = pipeline.get_bind_group_layout(0);
            let (source, destination) = (buffer("copy.source"), buffer("copy.destination"));
            bind_group(gpu, "copy", &layout, &[&source, &destination])
        })?;
        Ok(Self {
            pipeline,
            group,
            bytes,
        })
    }

    /// Records it once.
    pub fn record(&self, pass: &mut wgpu::ComputePass<'_>) {
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.group, &[]);
        let groups = u32::try_from((self.bytes / 16).div_ceil(256)).unwrap_or(u32::MAX);
        pass::dispatch(pass, groups);
    }

    /// How many bytes it reads, and writes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}
