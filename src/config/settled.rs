//! What automatic settings come to where there is time.

use super::{Antialias, Config, OcclusionMode, ReflectionMode};

impl Config {
    /// These settings without what depends on how fast the adapter is: for pictures that have no frame rate to keep, which
    /// are then the same on all adapters, in the window at rest as in files. A picture of one frame looks at the middles of
    /// its pixels.
    pub fn settled(&self) -> Self {
        let mut config = self.clone();
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
        config
    }
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
        let settled = config.settled();
        let [occlusion, reflections] = [&settled.occlusion, &config.occlusion]
            .map(|occlusion| [false, true].map(|fast| occlusion.sends_rays(fast)));
        assert_eq!((occlusion, reflections), ([true; 2], [false, true]));
        assert_eq!(settled.occlusion.rays, 2);
        assert!(settled.reflections.sends_rays(false) && settled.reflections.sends_rays(true));
        assert_eq!(settled.image.antialias, Antialias::Smaa);
        config.occlusion.mode = OcclusionMode::Off;
        config.image.antialias = Antialias::Temporal;
        let settled = config.settled();
        assert_eq!(settled.occlusion.mode, OcclusionMode::Off);
        assert_eq!(settled.image.antialias, Antialias::Temporal);
    }
}
