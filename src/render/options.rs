//! Conversions between the configuration and the device.

use super::shaders::SHADERS;
use crate::config;
use canopy_bvh::gpu::{Arrays, Capabilities, Gpu, Options};

impl From<&config::Gpu> for Options {
    fn from(config: &config::Gpu) -> Self {
        let cache_folder = || {
            let folders = directories::ProjectDirs::from("", "", "canopy")?;
            Some(folders.cache_dir().to_owned())
        };
        Self {
            adapter: config.adapter.clone(),
            backend: config.backend.clone(),
            arrays: match config.arrays {
                config::ArrayMode::Auto => None,
                config::ArrayMode::Buffers => Some(Arrays::Buffers),
                config::ArrayMode::Textures => Some(Arrays::Textures),
            },
            pipeline_cache: config.pipeline_cache.then(cache_folder).flatten(),
            shaders: &SHADERS,
        }
    }
}

impl From<&Capabilities> for config::AdapterTraits {
    fn from(capabilities: &Capabilities) -> Self {
        Self {
            fast_rays: capabilities.fast_rays,
            better_trees: capabilities.better_trees,
            separate_path_kernels: capabilities.separate_path_kernels,
        }
    }
}

/// The program's device, without checks in proven shaders where it is a GPU and the settings allow it.
pub(crate) fn as_set(mut gpu: Gpu, config: &config::Gpu) -> Gpu {
    if gpu.capabilities.has_gpu && !config.shader_checks {
        // SAFETY: the program makes trees over scenes that its loader has checked, and over triangles that it
        // generates itself. It writes to no buffer of a tree.
        unsafe { gpu.set_unchecked() };
    }
    gpu
}
