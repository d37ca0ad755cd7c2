//! Resolution of the settings `auto` that depend on the adapter or on the scene's lights.

use super::{
    Antialias, EnvironmentSource, OcclusionMode, PathKernels, ReflectionMode, Settings, Switch, TreeQuality,
};
use canopy_bvh::gpu::Capabilities;
use canopy_scene::Scene;
use std::borrow::Cow;

/// Traits of an adapter on which the meaning of `auto` depends.
#[derive(Debug, Clone, Copy)]
pub struct AdapterTraits {
    /// True if the adapter traces several rays per pixel at the display's frame rate.
    pub fast_rays: bool,
    /// True if the adapter traces so many rays that higher-quality BVHs pay off.
    pub better_trees: bool,
    /// True if path tracing is faster with separate kernels than with a single one.
    pub separate_path_kernels: bool,
}

impl From<&Capabilities> for AdapterTraits {
    fn from(capabilities: &Capabilities) -> Self {
        Self {
            fast_rays: capabilities.fast_rays,
            better_trees: capabilities.better_trees,
            separate_path_kernels: capabilities.separate_path_kernels,
        }
    }
}

impl Settings {
    /// Returns the settings with every `auto` that depends on the adapter resolved. `tree.quality` may stay
    /// `auto`, which then depends on motion only.
    pub fn resolved(&self, adapter: AdapterTraits) -> Self {
        let mut config = self.clone();
        let is_fast = adapter.fast_rays;
        let by_speed = |fast: u32, slow: u32| if is_fast { fast } else { slow };
        let occlusion = match is_fast {
            true => OcclusionMode::Rays,
            false => OcclusionMode::Off,
        };
        let reflections = match is_fast {
            true => ReflectionMode::Rays,
            false => ReflectionMode::Off,
        };
        let antialias = match is_fast {
            true => Antialias::Temporal,
            false => Antialias::Smaa,
        };
        let kernels = match adapter.separate_path_kernels {
            true => PathKernels::Separate,
            false => PathKernels::One,
        };
        let quality = match adapter.better_trees {
            true => TreeQuality::Auto,
            false => TreeQuality::Fast,
        };
        replace(&mut config.occlusion.mode, OcclusionMode::Auto, occlusion);
        // At high frame rates, fewer rays per frame give as accurate a mean.
        replace(&mut config.occlusion.rays, 0, by_speed(1, 2));
        replace(&mut config.reflections.mode, ReflectionMode::Auto, reflections);
        replace(&mut config.image.antialias, Antialias::Auto, antialias);
        replace(&mut config.paths.kernels, PathKernels::Auto, kernels);
        replace(&mut config.tree.quality, TreeQuality::Auto, quality);
        replace(&mut config.fog.rows, 0, by_speed(90, 36));
        replace(&mut config.fog.slices, 0, by_speed(64, 32));
        config
    }

    /// Returns the settings for a picture that need not reach a frame rate, in the window at rest and in
    /// files. The picture is the same on all adapters except for the number of froxels. Automatic
    /// anti-aliasing becomes SMAA, because a single frame has no history.
    pub fn for_still(&self) -> Self {
        let mut config = self.clone();
        let (occlusion, reflections) = (OcclusionMode::Rays, ReflectionMode::Rays);
        replace(&mut config.occlusion.mode, OcclusionMode::Auto, occlusion);
        replace(&mut config.occlusion.rays, 0, 2);
        replace(&mut config.reflections.mode, ReflectionMode::Auto, reflections);
        replace(&mut config.image.antialias, Antialias::Auto, Antialias::Smaa);
        config
    }

    /// Resolves `environment.source = "auto"` for this scene. In the studio, `auto` of the sun decides if the
    /// key light is on: it is off if the scene has lights of its own. It is also off in a closed room. There
    /// an unlimited radius of ambient occlusion is limited, so that the walls do not block the studio's light
    /// and leave the room black.
    pub fn adapted_to(&self, scene: &Scene) -> Cow<'_, Self> {
        if !self.environment.is_studio() {
            return Cow::Borrowed(self);
        }
        let room = scene.closed_room.filter(|_| !scene.has_lights());
        let is_lit = scene.has_lights() || room.is_some();
        let occlusion = &self.occlusion;
        let given = (self.environment.source, self.sun.enabled, occlusion.radius);
        let radius = match room {
            Some(room) if occlusion.radius == 0.0 => room,
            _ => occlusion.radius,
        };
        let meant = match given {
            (EnvironmentSource::Auto, sun, radius) if scene.is_outdoors => {
                (EnvironmentSource::Sky, sun, radius)
            }
            (_, Switch::Auto, _) if is_lit => (EnvironmentSource::Studio, Switch::Off, radius),
            (_, sun, _) => (EnvironmentSource::Studio, sun, radius),
        };
        if meant == given {
            return Cow::Borrowed(self);
        }
        let mut config = self.clone();
        (
            config.environment.source,
            config.sun.enabled,
            config.occlusion.radius,
        ) = meant;
        Cow::Owned(config)
    }
}

/// Replaces a `setting` that is `automatic` by its `meaning`.
fn replace<T: PartialEq>(setting: &mut T, automatic: T, meaning: T) {
    if *setting == automatic {
        *setting = meaning;
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

    /// Returns the occlusion mode and rays, reflection mode, anti-aliasing and froxel rows.
    fn drawn(config: &Settings) -> (bool, u32, bool, Antialias, u32) {
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
    fn automatic_settings_depend_on_the_adapter() {
        let config = Settings::default();
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
    fn settled_settings_differ_between_adapters_only_in_froxels() {
        let settled = Settings::default().for_still();
        let [slow, fast] = [SOFTWARE, GPU].map(|adapter| drawn(&settled.resolved(adapter)));
        assert_eq!(slow, (true, 2, true, Antialias::Smaa, 36));
        assert_eq!((fast.0, fast.1, fast.2, fast.3), (slow.0, slow.1, slow.2, slow.3));
    }

    #[test]
    fn explicit_settings_are_not_resolved() {
        let mut config = Settings::default();
        config.occlusion.mode = OcclusionMode::Off;
        config.occlusion.rays = 7;
        config.reflections.mode = ReflectionMode::Off;
        config.image.antialias = Antialias::Temporal;
        config.fog.rows = 11;
        let all = [
            config.resolved(SOFTWARE),
            config.resolved(GPU),
            config.for_still(),
        ];
        for config in &all {
            assert_eq!(drawn(config), (false, 7, false, Antialias::Temporal, 11));
        }
    }
}
