//! Meaning of `auto` where it depends on the adapter, in one place.

use super::{Antialias, Config, OcclusionMode, PathKernels, ReflectionMode, TreeQuality};

/// Traits of an adapter on which the meaning of `auto` depends.
#[derive(Debug, Clone, Copy)]
pub struct AdapterTraits {
    /// Traces several rays a pixel at the rate of a display.
    pub fast_rays: bool,
    /// Traces so many rays that better trees pay for themselves.
    pub better_trees: bool,
    /// Follows paths faster by several kernels than by one.
    pub separate_path_kernels: bool,
}

impl Config {
    /// These settings with every `auto` that depends on the adapter replaced by its meaning. `tree.quality` may stay
    /// `auto`, which then depends on motion alone.
    pub fn resolved(&self, adapter: AdapterTraits) -> Self {
        let mut config = self.clone();
        let by_speed = |fast: u32, slow: u32| if adapter.fast_rays { fast } else { slow };
        if config.occlusion.mode == OcclusionMode::Auto {
            config.occlusion.mode = match adapter.fast_rays {
                true => OcclusionMode::Rays,
                false => OcclusionMode::Off,
            };
        }
        if config.reflections.mode == ReflectionMode::Auto {
            config.reflections.mode = match adapter.fast_rays {
                true => ReflectionMode::Rays,
                false => ReflectionMode::Off,
            };
        }
        if config.image.antialias == Antialias::Auto {
            config.image.antialias = match adapter.fast_rays {
                true => Antialias::Temporal,
                false => Antialias::Smaa,
            };
        }
        if config.paths.kernels == PathKernels::Auto {
            config.paths.kernels = match adapter.separate_path_kernels {
                true => PathKernels::Separate,
                false => PathKernels::One,
            };
        }
        if config.tree.quality == TreeQuality::Auto && !adapter.better_trees {
            config.tree.quality = TreeQuality::Fast;
        }
        // Where frames follow each other fast, their mean needs fewer rays of each.
        replace_zero(&mut config.occlusion.rays, by_speed(1, 2));
        replace_zero(&mut config.fog.rows, by_speed(90, 36));
        replace_zero(&mut config.fog.slices, by_speed(64, 32));
        config
    }

    /// These settings for a picture that has no frame rate to keep: the same on all adapters, in the window at rest as in
    /// files. A picture of one frame looks at the middles of its pixels.
    pub fn settled(&self) -> Self {
        let mut config = self.clone();
        if config.occlusion.mode == OcclusionMode::Auto {
            config.occlusion.mode = OcclusionMode::Rays;
        }
        replace_zero(&mut config.occlusion.rays, 2);
        if config.reflections.mode == ReflectionMode::Auto {
            config.reflections.mode = ReflectionMode::Rays;
        }
        if config.image.antialias == Antialias::Auto {
            config.image.antialias = Antialias::Smaa;
        }
        config
    }
}

/// Numbers of 0 are automatic.
fn replace_zero(number: &mut u32, automatic: u32) {
    if *number == 0 {
        *number = automatic;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOFTWARE: AdapterTraits = AdapterTraits {
        fast_rays: false,
        better_trees: false,
        separate_path_kernels: false,
    };
    const GPU: AdapterTraits = AdapterTraits {
        fast_rays: true,
        better_trees: true,
        separate_path_kernels: true,
    };

    /// Modes, rays, antialiasing and rows of froxels.
    fn drawn(config: &Config) -> (bool, u32, bool, Antialias, u32) {
        let (occlusion, reflections) = (&config.occlusion, &config.reflections);
        (
            occlusion.sends_rays(),
            occlusion.rays,
            reflections.sends_rays(),
            config.image.antialias,
            config.fog.rows,
        )
    }

    #[test]
    fn auto_follows_the_adapter() {
        let config = Config::default();
        assert_eq!(config.occlusion.mode, OcclusionMode::Auto);
        let [slow, fast] = [SOFTWARE, GPU].map(|adapter| config.resolved(adapter));
        assert_eq!(drawn(&slow), (false, 2, false, Antialias::Smaa, 36));
        assert_eq!(drawn(&fast), (true, 1, true, Antialias::Temporal, 90));
        assert_eq!(
            [slow.tree.quality, fast.tree.quality],
            [TreeQuality::Fast, TreeQuality::Auto]
        );
        assert_eq!(
            [slow.paths.kernels, fast.paths.kernels],
            [PathKernels::One, PathKernels::Separate]
        );
    }

    #[test]
    fn settled_pictures_are_the_same_on_every_adapter() {
        let settled = Config::default().settled();
        let [slow, fast] = [SOFTWARE, GPU].map(|adapter| drawn(&settled.resolved(adapter)));
        assert_eq!(slow, (true, 2, true, Antialias::Smaa, 36));
        assert_eq!(
            (fast.0, fast.1, fast.2, fast.3),
            (slow.0, slow.1, slow.2, slow.3)
        );
    }

    #[test]
    fn settings_that_are_not_automatic_stay() {
        let mut config = Config::default();
        config.occlusion.mode = OcclusionMode::Off;
        config.occlusion.rays = 7;
        config.reflections.mode = ReflectionMode::Off;
        config.image.antialias = Antialias::Temporal;
        config.fog.rows = 11;
        let all = [
            config.resolved(SOFTWARE),
            config.resolved(GPU),
            config.settled(),
        ];
        for config in &all {
            assert_eq!(drawn(config), (false, 7, false, Antialias::Temporal, 11));
        }
    }
}
