//! Opening a device, either by the adapter in the options or on a given adapter.

use super::{
    adapter::{self, Options},
    device::Gpu,
    library::Library,
    pipeline_cache::PipelineCache,
};
use crate::{Error, Result};

/// Features and limits to request from an adapter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tier {
    /// All limits of the adapter, and the features that canopy can use.
    Adapter,
    /// Exactly the limits that WebGPU guarantees, and no optional features.
    Portable,
}

impl Gpu {
    /// Opens a device without a window, on the adapter in `options`, in wgpu's environment variables, or else
    /// the fastest.
    pub fn new(options: impl Into<Options>) -> Result<Self> {
        let options = options.into();
        let instance = adapter::instance(options.clone(), None)?;
        let adapter = adapter::choose(&instance, &options, None)?;
        Ok(Self::open(&adapter, Tier::Adapter, options.shaders)?.with_options(&options))
    }

    /// Opens a device on an adapter that can present to `surface`.
    pub fn for_surface(
        instance: &wgpu::Instance,
        options: impl Into<Options>,
        surface: &wgpu::Surface<'_>,
    ) -> Result<Self> {
        let options = options.into();
        let adapter = adapter::choose(instance, &options, Some(surface))?;
        Ok(Self::open(&adapter, Tier::Adapter, options.shaders)?.with_options(&options))
    }

    fn with_options(mut self, options: &Options) -> Self {
        if let Some(arrays) = options.arrays {
            self.capabilities.arrays = arrays;
        }
        self.capabilities.ray_boxes = options.ray_boxes;
        self.capabilities.ray_stack = options.ray_stack;
        if let Some(folder) = &options.pipeline_cache
            && self.capabilities.pipeline_cache
        {
            self.pipeline_cache = PipelineCache::open(&self.device, &self.info, folder);
        }
        self
    }

    /// Opens `adapter`, to compile `shaders` on it.
    pub fn open(adapter: &wgpu::Adapter, tier: Tier, shaders: &'static Library) -> Result<Self> {
        // Timestamps between passes also measure copies.
        let wanted = wgpu::Features::TIMESTAMP_QUERY
            | wgpu::Features::TIMESTAMP_QUERY_INSIDE_ENCODERS
            | wgpu::Features::PIPELINE_CACHE
            | wgpu::Features::SUBGROUP
            | wgpu::Features::PRIMITIVE_INDEX
            | wgpu::Features::TEXTURE_COMPRESSION_BC
            | wgpu::Features::TEXTURE_FORMAT_16BIT_NORM;
        let (required_features, required_limits) = match tier {
            Tier::Adapter => (adapter.features() & wanted, adapter.limits()),
            Tier::Portable => (wgpu::Features::empty(), wgpu::Limits::default()),
        };
        let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
            label: Some("canopy"),
            required_features,
            required_limits,
            ..Default::default()
        }))
        .map_err(|e| {
            let name = adapter.get_info().name;
            Error::Gpu(format!("the adapter {name} cannot open a device: {e}"))
        })?;
        let mut gpu = Self::from_device(&device, &queue, shaders);
        if gpu.info.backend == wgpu::Backend::Dx12 && !required_features.contains(wgpu::Features::SUBGROUP) {
            log::warn!(
                "{}: Direct3D 12 has no subgroups here, for example because dxcompiler.dll is missing; \
                 sorting is slower, and shaders compile slowly",
                gpu.info.name
            );
        }
        gpu.gather_errors();
        gpu.adapter = Some(adapter.clone());
        Ok(gpu)
    }
}
