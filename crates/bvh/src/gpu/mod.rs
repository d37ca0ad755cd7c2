//! A thin layer over wgpu: the device, shaders, layouts, labelled pipelines and timings. It knows no
//! particular pass.
//!
//! [`Gpu::from_device`] wraps your own device. The feature `tools` adds opening a device by name
//! ([`Gpu::new`]), GPU timestamps ([`profiler`]) and pipeline caches on disk.

#[cfg(feature = "tools")]
pub mod adapter;
pub mod array;
pub mod bind;
pub mod capabilities;
pub mod device;
pub mod image;
pub mod kernel;
pub mod lazy_pipeline;
pub mod library;
#[cfg(feature = "tools")]
mod open;
pub mod pass;
#[cfg(feature = "tools")]
mod pipeline_cache;
mod pipelines;
mod private_uniforms;
#[cfg(feature = "tools")]
pub mod profiler;
pub mod readback;
pub mod recorder;
mod reload;
pub mod shader;
pub mod shader_folder;
pub mod stopwatch;
pub mod structs;
pub mod uniform;
pub mod uniform_array;

#[cfg(feature = "tools")]
pub use adapter::{AdapterReport, Display, Options, adapters, instance};
pub use array::Array;
pub use bind::{Bind, bind_group};
pub use capabilities::{Arrays, Capabilities, Cooperation, RayBoxes, RayStack, ShaderChoices};
pub use device::Gpu;
pub use image::GpuImage;
pub use kernel::{FullscreenPass, Kernel, Variants, Workgroups};
pub use lazy_pipeline::{LazyPipeline, PipelineSet};
pub use library::{Constant, Library};
#[cfg(feature = "tools")]
pub use open::Tier;
pub use pipelines::PipelineKey;
pub use recorder::{Passes, Recorder, Scope};
pub use uniform::Uniform;
pub use uniform_array::UniformArray;
