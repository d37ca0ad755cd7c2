//! Adapter selection: enumeration, ranking and error messages.

use super::{
    capabilities::{Arrays, RayBoxes, RayStack},
    library::Library,
};
use crate::{Error, Result, error::one_line};
use std::path::PathBuf;

/// Options for opening a device.
#[derive(Debug, Clone)]
pub struct Options {
    /// Part of the adapter's name. If empty, `WGPU_ADAPTER_NAME` applies, or else the fastest adapter.
    pub adapter: String,
    /// Backends, separated by commas. If empty, `WGPU_BACKEND` applies, or else the platform's defaults.
    pub backend: String,
    /// Read access to large arrays in shaders. `None` selects what suits the adapter.
    pub arrays: Option<Arrays>,
    /// Boxes of nodes for rays on GPUs.
    pub ray_boxes: RayBoxes,
    /// Stack of rays on GPUs.
    pub ray_stack: RayStack,
    /// Folder for compiled pipelines. `None` disables the cache on disk.
    pub pipeline_cache: Option<PathBuf>,
    /// Shaders that can be compiled.
    pub shaders: &'static Library,
}

impl Options {
    /// Returns the default options for a program with these shaders.
    pub fn new(shaders: &'static Library) -> Self {
        Self {
            adapter: String::new(),
            backend: String::new(),
            arrays: None,
            ray_boxes: RayBoxes::default(),
            ray_stack: RayStack::default(),
            pipeline_cache: None,
            shaders,
        }
    }
}

/// Adapter that wgpu found, and its suitability for canopy.
#[derive(Debug, Clone)]
pub struct AdapterReport {
    /// Name, backend, driver and kind of the adapter.
    pub info: wgpu::AdapterInfo,
    /// Missing capabilities. `None` if the adapter is usable.
    pub lacks: Option<String>,
    /// Limits of the adapter.
    pub limits: wgpu::Limits,
    /// Features of the adapter.
    pub features: wgpu::Features,
}

/// Backends by their common names.
const BACKENDS: [(&str, wgpu::Backends); 7] = [
    ("vulkan", wgpu::Backends::VULKAN),
    ("vk", wgpu::Backends::VULKAN),
    ("metal", wgpu::Backends::METAL),
    ("mtl", wgpu::Backends::METAL),
    ("dx12", wgpu::Backends::DX12),
    ("gl", wgpu::Backends::GL),
    ("gles", wgpu::Backends::GL),
];

/// Returns the setting, or the environment variable if the setting is empty, with its origin for error
/// messages.
fn wish(setting: &str, variable: &str) -> (String, String) {
    if setting.is_empty() {
        (
            std::env::var(variable).unwrap_or_default().trim().to_owned(),
            variable.to_owned(),
        )
    } else {
        (
            setting.to_owned(),
            format!(
                "{} setting",
                variable
                    .trim_start_matches("WGPU_")
                    .to_lowercase()
                    .replace("_name", "")
            ),
        )
    }
}

/// Returns the backends of `options` or else of `WGPU_BACKEND`, or `None` if neither is set.
fn backends(options: &Options) -> Result<Option<wgpu::Backends>> {
    let (wish, origin) = wish(&options.backend, "WGPU_BACKEND");
    let mut backends = None;
    for name in wish.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        let known = BACKENDS
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name));
        let Some((_, backend)) = known else {
            let there = "backends are vulkan, metal, dx12 and gl";
            return Err(Error::NotFound(format!(
                "{origin}: no backend \"{name}\"; {there}"
            )));
        };
        backends = Some(backends.unwrap_or(wgpu::Backends::empty()) | *backend);
    }
    Ok(backends)
}

/// Constructor of winit's display handle, for programs with a window.
pub type Display<'a> = &'a dyn Fn() -> Box<dyn wgpu::wgt::WgpuHasDisplayHandle>;

/// Creates a wgpu instance with the backends in the options. Without any, it uses the platform's native
/// backends, and OpenGL only if those find no adapter. Probing OpenGL takes time, and some of its drivers
/// write to standard error.
pub fn instance(options: impl Into<Options>, display: Option<Display<'_>>) -> Result<wgpu::Instance> {
    let make = |backends| {
        let descriptor = match display {
            Some(display) => wgpu::InstanceDescriptor::new_with_display_handle(display()),
            None => wgpu::InstanceDescriptor::new_without_display_handle(),
        };
        let flags = descriptor.flags.with_env();
        let mut descriptor = wgpu::InstanceDescriptor {
            backends,
            flags,
            ..descriptor
        };
        // Fraction of the memory above which allocations fail with an error. Without this limit, the device
        // would be lost.
        descriptor.memory_budget_thresholds.for_resource_creation = Some(95);
        wgpu::Instance::new(descriptor)
    };
    if let Some(backends) = backends(&options.into())? {
        return Ok(make(backends));
    }
    let native = make(wgpu::Backends::PRIMARY);
    Ok(if enumerate(&native).is_empty() {
        make(wgpu::Backends::all())
    } else {
        native
    })
}

/// Returns every adapter that `instance` sees, the fastest kind first.
pub fn adapters(instance: &wgpu::Instance) -> Vec<AdapterReport> {
    enumerate(instance)
        .iter()
        .map(|adapter| AdapterReport {
            info: adapter.get_info(),
            lacks: lacks(adapter, None),
            limits: adapter.limits(),
            features: adapter.features(),
        })
        .collect()
}

fn enumerate(instance: &wgpu::Instance) -> Vec<wgpu::Adapter> {
    let mut adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::all()));
    adapters.sort_by_key(|adapter| {
        let info = adapter.get_info();
        let kind = match info.device_type {
            wgpu::DeviceType::DiscreteGpu => 0,
            wgpu::DeviceType::IntegratedGpu => 1,
            wgpu::DeviceType::VirtualGpu => 2,
            wgpu::DeviceType::Other => 3,
            wgpu::DeviceType::Cpu => 4,
        };
        // The same GPU is slower through OpenGL.
        (kind, info.backend == wgpu::Backend::Gl)
    });
    adapters
}

/// Formats that passes render and store to. WebGPU guarantees them, but old OpenGL drivers lack some.
const FORMATS: &[(wgpu::TextureFormat, wgpu::TextureUsages)] = &[
    (
        wgpu::TextureFormat::Rgba32Float,
        wgpu::TextureUsages::RENDER_ATTACHMENT,
    ),
    (
        wgpu::TextureFormat::Rgba32Float,
        wgpu::TextureUsages::STORAGE_BINDING,
    ),
    (
        wgpu::TextureFormat::R32Uint,
        wgpu::TextureUsages::RENDER_ATTACHMENT,
    ),
    (wgpu::TextureFormat::R32Uint, wgpu::TextureUsages::STORAGE_BINDING),
    (
        wgpu::TextureFormat::Rgba16Float,
        wgpu::TextureUsages::STORAGE_BINDING,
    ),
];

/// Returns the capabilities that `adapter` lacks for canopy, if any.
fn lacks(adapter: &wgpu::Adapter, surface: Option<&wgpu::Surface<'_>>) -> Option<String> {
    let required = wgpu::Limits::default();
    let limits = adapter.limits();
    let mut missing = Vec::new();
    if !adapter
        .get_downlevel_capabilities()
        .flags
        .contains(wgpu::DownlevelFlags::COMPUTE_SHADERS)
    {
        missing.push("compute shaders".to_owned());
    }
    required.check_limits_with_fail_fn(&limits, false, |name, needed, has| {
        missing.push(format!("{name} of {needed} (has {has})"));
    });
    for (format, usage) in FORMATS {
        if !adapter
            .get_texture_format_features(*format)
            .allowed_usages
            .contains(*usage)
        {
            missing.push(format!("{format:?} textures as {usage:?}"));
        }
    }
    if surface.is_some_and(|surface| !adapter.is_surface_supported(surface)) {
        missing.push("drawing to this window".to_owned());
    }
    (!missing.is_empty()).then(|| missing.join(", "))
}

/// Returns the best usable adapter that matches `options`, or the environment variables if the options are
/// empty.
pub(super) fn choose(
    instance: &wgpu::Instance,
    options: &Options,
    surface: Option<&wgpu::Surface<'_>>,
) -> Result<wgpu::Adapter> {
    let adapters = enumerate(instance);
    if adapters.is_empty() {
        return Err(Error::Gpu(no_adapter(instance)));
    }
    let (wish, origin) = wish(&options.adapter, "WGPU_ADAPTER_NAME");
    let mut seen = Vec::new();
    for adapter in adapters {
        let name = adapter.get_info().name;
        let matches = name.to_lowercase().contains(&wish.to_lowercase());
        match lacks(&adapter, surface) {
            None if matches => return Ok(adapter),
            None => seen.push(format!("\"{name}\"")),
            Some(lacks) => seen.push(format!("\"{name}\" (unusable: lacks {lacks})")),
        }
    }
    let seen = seen.join(", ");
    Err(if wish.is_empty() {
        Error::Gpu(format!("no usable graphics adapter: {seen}; {INSTALL}"))
    } else {
        Error::NotFound(format!("{origin}: no adapter matches \"{wish}\"; found: {seen}"))
    })
}

const INSTALL: &str = "install your graphics card's Vulkan driver, or Mesa's software one (Debian: \
                       libvulkan1 mesa-vulkan-drivers)";

/// Returns wgpu's account of the failed search, followed by a remedy.
fn no_adapter(instance: &wgpu::Instance) -> String {
    let tried = match pollster::block_on(instance.request_adapter(&wgpu::RequestAdapterOptions::default())) {
        Ok(_) => String::new(),
        Err(error) => one_line(&error.to_string()),
    };
    format!("no graphics adapter: {}; {INSTALL}", tried.trim_end_matches('.'))
}
