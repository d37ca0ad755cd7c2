//! Implementations that an adapter may use, each on its own device.

use crate::{
    Result,
    config::Config,
    device::{self, SHADERS},
    gpu::{Arrays, Gpu, Tier, capabilities::has_room_for_textures},
};
use std::sync::Arc;

/// A device that uses one of the implementations.
#[derive(Debug)]
pub(super) struct Implementation {
    pub(super) name: &'static str,
    pub(super) gpu: Arc<Gpu>,
}

/// Name of the implementation with wgpu's index and loop checks, where canopy would disable them.
const CHECKED: &str = "checked";

/// Returns the implementation that canopy chooses on the adapter.
pub(super) fn chosen(config: &Config) -> Result<Implementation> {
    Ok(Implementation {
        name: "chosen",
        gpu: Arc::new(device::open(&config.gpu)?),
    })
}

/// Returns [`chosen`], followed by the other implementations that the adapter supports.
pub(super) fn all(config: &Config) -> Result<Vec<Implementation>> {
    let chosen = chosen(config)?;
    let (has_subgroups, is_unchecked) = (
        chosen.gpu.capabilities.subgroup_size.is_some(),
        chosen.gpu.is_unchecked(),
    );
    let has_room = has_room_for_textures(&chosen.gpu.limits);
    let adapter = chosen.gpu.adapter.clone();
    let mut implementations = vec![chosen];
    let mut add = |name, arrays, by_subgroups: bool| -> Result<()> {
        let mut gpu = Gpu::new(device::options(&config.gpu))?;
        if name != CHECKED {
            gpu = device::as_set(gpu, &config.gpu);
        }
        gpu.capabilities.arrays = arrays;
        if !by_subgroups {
            gpu.capabilities.subgroup_size = None;
        }
        implementations.push(Implementation {
            name,
            gpu: Arc::new(gpu),
        });
        Ok(())
    };
    add("workgroups", Arrays::Buffers, false)?;
    if has_subgroups {
        add("subgroups", Arrays::Buffers, true)?;
    }
    if has_room {
        add("threads", Arrays::Textures, false)?;
    }
    if is_unchecked {
        add(CHECKED, Arrays::Buffers, true)?;
    }
    if let Some(adapter) = adapter {
        implementations.push(Implementation {
            name: "portable",
            gpu: Arc::new(Gpu::open(&adapter, Tier::Portable, &SHADERS)?),
        });
    }
    Ok(implementations)
}
