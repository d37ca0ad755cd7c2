//! A large buffer copy by a compute shader, the reference for bandwidth.

use crate::{
    Result,
    gpu::{Gpu, bind_group, pass},
};

/// Size of the copy in bytes, larger than the caches of a GPU.
const BYTES: u64 = 256 << 20;
const BYTES_SOFTWARE: u64 = 64 << 20;

/// The copy, with its pipeline and buffers.
#[derive(Debug, Clone)]
pub struct Copy {
    pipeline: wgpu::ComputePipeline,
    group: wgpu::BindGroup,
    bytes: u64,
}

impl Copy {
    /// Creates the pipeline and the buffers.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Gpu`] if the adapter has too little memory.
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

    /// Records one copy.
    pub fn record(&self, pass: &mut wgpu::ComputePass<'_>) {
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.group, &[]);
        let groups = u32::try_from((self.bytes / 16).div_ceil(256)).unwrap_or(u32::MAX);
        pass::dispatch(pass, groups);
    }

    /// Returns the number of bytes read, which is also the number written.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}
