//! Opening a device: by the adapter that the options name, or by one that the caller has chosen.

use super::{
    adapter::{self, Options},
    device::Gpu,
    library::Library,
    pipeline_cache::PipelineCache,
};
use crate::{Error, Result};

/// Which features and limits are requested of an adapter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tier {
    /// All limits the adapter has, and the features canopy knows to use.
    Adapter,
    /// Exactly what WebGPU promises everywhere.
    Portable,
}

impl Gpu {
    /// Opens the adapter that `options` name (or the environment variables of wgpu, or the fastest) without a
    /// window.
    pub fn new(options: impl Into<Options>) -> Result<Self> {
        let options = options.into();
        let instance = adapter::instance(options.clone(), None)?;
        let adapter = adapter::choose(&instance, &options, None)?;
        Ok(Self::open(&adapter, Tier::Adapter, options.shaders)?.with_options(&options))
    }

    /// Opens an adapter that can draw to `surface`.
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
        if let Some(folder) = &options.pipeline_cache
            && self.capabilities.pipeline_cache
        {
            self.pipeline_cache = PipelineCache::open(&self.device, &self.info, folder);
        }
        self
    }

    /// Opens `adapter`, to compile `shaders` on it.
    pub fn open(adapter: &wgpu::Adapter, tier: Tier, shaders: &'static Library) -> Result<Self> {
        // Timestamps between passes tell the time of copies too.
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
            Error::Gpu(format!("the adapter {name} gives no device: {e}"))
        })?;
        let mut gpu = Self::from_device(&device, &queue, shaders);
        if gpu.info.backend == wgpu::Backend::Dx12 && !required_features.contains(wgpu::Features::SUBGROUP) {
            log::warn!(
                "{}: Direct3D 12 has no subgroups here, as without dxcompiler.dll: sorting is slower, and shaders \
                 compile slowly",
                gpu.info.name
            );
        }
        gpu.gather_errors();
        gpu.adapter = Some(adapter.clone());
        Ok(gpu)
    }
}
