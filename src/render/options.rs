//! What the configuration says of the device.

use super::shaders::SHADERS;
use crate::{
    config,
    gpu::{Arrays, Options},
};

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
            shader_checks: config.shader_checks,
            pipeline_cache: config.pipeline_cache.then(cache_folder).flatten(),
            shaders: &SHADERS,
        }
    }
}
