//! The implementations that an adapter may get: each on a device of its own.

use crate::{
    Result,
    config::Config,
    device::{self, SHADERS},
    gpu::{Arrays, Gpu, Tier, capabilities::has_room_for_textures},
};
use std::sync::Arc;

/// A device that is made to use one of the implementations.
#[derive(Debug)]
pub(super) struct Implementation {
    pub(super) name: &'static str,
    pub(super) gpu: Arc<Gpu>,
}

/// With wgpu's checks of indices and loops, where canopy would leave them out.
const CHECKED: &str = "checked";

/// The implementation that canopy chooses on the adapter.
pub(super) fn chosen(config: &Config) -> Result<Implementation> {
    Ok(Implementation {
        name: "chosen",
        gpu: Arc::new(device::open(&config.gpu)?),
    })
}

/// [`chosen`], then those that canopy could use there as well.
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
