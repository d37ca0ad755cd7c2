//! What pictures without a window have in common, whatever the adapter.

use super::{offscreen, report::Report};
use crate::{
    Result,
    config::{Antialias, Config, OcclusionMode, ReflectionMode},
    gpu::{Capabilities, Gpu},
};

/// Texels along an edge of the largest cube map of an environment's file, on every adapter.
const CUBE_FACE: u32 = 1024;
/// The same for the sky.
const SKY_FACE: u32 = 256;

/// Replaces what the viewer chooses by the adapter: a picture is the same on all of them, and has no frame
/// rate to keep. Each of a sequence looks at the middles of its pixels.
pub(super) fn choose(config: &mut Config) {
    if config.occlusion.mode == OcclusionMode::Auto {
        config.occlusion.mode = OcclusionMode::Rays;
    }
    config.occlusion.rays = config.occlusion.rays_of_frame(false);
    if config.reflections.mode == ReflectionMode::Auto {
        config.reflections.mode = ReflectionMode::Rays;
    }
    if config.image.antialias == Antialias::Auto {
        config.image.antialias = Antialias::Smaa;
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auto_means_the_same_on_every_adapter() {
        let mut config = Config::default();
        assert_eq!(config.occlusion.mode, OcclusionMode::Auto);
        let rays = [false, true].map(|fast_rays| config.occlusion.rays_of_frame(fast_rays));
        assert_eq!((config.occlusion.rays, rays), (0, [2, 1]));
        choose(&mut config);
        assert!(config.occlusion.sends_rays(false) && config.occlusion.sends_rays(true));
        assert_eq!(config.occlusion.rays, 2);
        assert!(config.reflections.sends_rays(false) && config.reflections.sends_rays(true));
        assert_eq!(config.image.antialias, Antialias::Smaa);
        config.occlusion.mode = OcclusionMode::Off;
        config.image.antialias = Antialias::Temporal;
        choose(&mut config);
        assert_eq!(config.occlusion.mode, OcclusionMode::Off);
        assert_eq!(config.image.antialias, Antialias::Temporal);
    }
}
