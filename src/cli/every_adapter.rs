//! Offscreen device whose environments have the same resolution on every adapter.

use super::{offscreen, report::Report};
use crate::{
    Result,
    config::Config,
    gpu::{Capabilities, Gpu},
};

/// Largest face size of the cube map of an environment file in texels, on every adapter.
const CUBE_FACE: u32 = 1024;
/// Largest face size of the sky's cube map in texels.
const SKY_FACE: u32 = 256;

/// Opens the adapter that the settings choose, with environments at full resolution.
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
