//! What pictures without a window have in common, whatever the adapter.

use super::{offscreen, report::Report};
use crate::{
    Result,
    config::Config,
    gpu::{Capabilities, Gpu},
};

/// Texels along an edge of the largest cube map of an environment's file, on every adapter.
const CUBE_FACE: u32 = 1024;
/// The same for the sky.
const SKY_FACE: u32 = 256;

/// The adapter of the settings, with environments of full resolution.
pub(super) fn open(report: &Report, config: &Config) -> Result<Gpu> {
    let mut gpu = offscreen::adapter(report, config)?;
    log::info!("{} ({})", gpu.info.name, gpu.info.backend.to_str());
    gpu.capabilities = Capabilities {
        cube_face: CUBE_FACE,
        sky_face: SKY_FACE,
        ..gpu.capabilities
    };
    Ok(gpu)
}
