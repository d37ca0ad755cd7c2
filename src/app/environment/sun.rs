//! Effective sun: finds it among the settings, the environment file and the scene, and rotates it.

use crate::{
    config::{Config, Switch},
    render::light::lights::{EffectiveSun, SunSource, effective_sun},
    scene::{Blend, Pose, Scene, environment},
};

use glam::Vec3;
use std::sync::Arc;

/// Cache of the sun among the scene's lights. Finding it takes a pose, which is computed only once per
/// moment.
#[derive(Debug, Default)]
pub(in crate::app) struct SunOfScene {
    /// Moment of the cached result, and the sun among the scene's lights at that moment.
    known: Option<(Moment, Option<EffectiveSun>)>,
}

/// Clip, blended clips, and time in seconds.
pub(in crate::app) type Moment = (Option<usize>, Arc<Blend>, f32);

impl SunOfScene {
    /// Returns the effective sun of `scene` at `moment`. `of_file` is the sun of the environment file, in the
    /// axes of the file. The cache must be cleared when the scene or its lights change.
    pub(in crate::app) fn in_force(
        &mut self,
        scene: &Scene,
        moment: Moment,
        config: &Config,
        of_file: Option<environment::Sun>,
    ) -> Option<EffectiveSun> {
        let rest_pose = Pose::default();
        let elsewhere = effective_sun(scene, &rest_pose, config, of_file);
        if elsewhere.is_some() || scene.lights.is_empty() {
            return elsewhere;
        }
        if let Some((known, sun)) = &self.known
            && *known == moment
        {
            return *sun;
        }
        let (clip, blend, time) = &moment;
        let pose = Pose::blended(scene, *clip, blend, *time);
        let sun = effective_sun(scene, &pose, config, None);
        self.known = Some((moment, sun));
        sun
    }
}

/// Rotates the effective sun by `azimuth` and `elevation` in degrees. Without a sun, that of the settings is
/// switched on.
///
/// The sun of an environment file rotates together with the environment, about the vertical axis only. Any
/// other sun becomes the sun of the settings, which replaces that of the scene, so that only one sun shines.
pub(in crate::app) fn turn(config: &mut Config, sun: Option<EffectiveSun>, azimuth: f32, elevation: f32) {
    if sun.is_some_and(|sun| sun.source == SunSource::Environment) {
        let rotation = config.environment.rotation + azimuth;
        config.environment.rotation = (rotation + 180.0).rem_euclid(360.0) - 180.0;
        return;
    }
    adopt(config, sun);
    let (from_azimuth, from_elevation) = angles(config.sun.direction);
    config.sun.direction = direction(from_azimuth + azimuth, from_elevation + elevation);
}

/// Copies the direction, strength and colour of the effective sun to the settings, and switches the sun of
/// the settings on. Without an effective sun, the settings keep their values.
pub(in crate::app) fn adopt(config: &mut Config, sun: Option<EffectiveSun>) {
    config.sun.enabled = Switch::On;
    if let Some(sun) = sun.filter(|sun| sun.source != SunSource::Settings) {
        config.sun.direction = sun.direction.to_array();
        config.sun.strength = strength(&sun);
        config.sun.color = (sun.illuminance / strength(&sun)).to_array();
    }
}

/// Returns the illuminance of the strongest channel in lux.
pub(in crate::app) fn strength(sun: &EffectiveSun) -> f32 {
    sun.illuminance.max_element().max(f32::MIN_POSITIVE)
}

/// Returns the text of the notice after a rotation of the sun.
pub(in crate::app) fn toast(sun: &EffectiveSun) -> String {
    let (azimuth, elevation) = angles(sun.direction.to_array());
    match sun.source {
        SunSource::Environment => format!("sun and environment: azimuth {azimuth:.0}°"),
        _ => format!("sun: azimuth {azimuth:.0}°, elevation {elevation:.0}°"),
    }
}

/// Returns the azimuth (from +Z towards +X) and the elevation above the horizon of a sun, in degrees.
/// `direction` points away from the sun.
pub(in crate::app) fn angles(direction: [f32; 3]) -> (f32, f32) {
    let to_sun = -Vec3::from(direction).normalize_or(Vec3::NEG_Y);
    let azimuth = to_sun.x.atan2(to_sun.z).to_degrees();
    (azimuth, to_sun.y.clamp(-1.0, 1.0).asin().to_degrees())
}

/// Returns the unit vector of the direction of the light from a sun at these angles in degrees. The elevation
/// is clamped to ±89.5°.
pub(in crate::app) fn direction(azimuth: f32, elevation: f32) -> [f32; 3] {
    // Straight overhead, the azimuth would be lost.
    let (azimuth, elevation) = (azimuth.to_radians(), elevation.clamp(-89.5, 89.5).to_radians());
    let (sin, cos) = elevation.sin_cos();
    [-cos * azimuth.sin(), -sin, -cos * azimuth.cos()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        config::EnvironmentSource,
        render::light::lights,
        scene::{Light, LightKind, Node, Transform},
    };

    #[test]
    fn sun_angles_round_trip() {
        for (azimuth, elevation) in [(0.0, 45.0), (-120.0, 10.0), (170.0, -30.0), (30.0, 89.0)] {
            let (a, e) = angles(direction(azimuth, elevation));
            assert!(
                (a - azimuth).abs() < 1e-2 && (e - elevation).abs() < 1e-2,
                "{a} {e}"
            );
        }
        assert_eq!(angles([0.0, -1.0, 0.0]).1, 90.0);
    }

    /// Returns a scene with a directional light of 10 lux from 30° above the horizon, and a weaker one.
    fn lit() -> Scene {
        let node = |light: usize, elevation: f32| Node {
            light: Some(light),
            transform: Transform::Matrix(glam::DMat4::from_rotation_x(-f64::from(elevation.to_radians()))),
            ..Node::default()
        };
        let light = |intensity| Light {
            name: String::new(),
            kind: LightKind::Directional,
            color: Vec3::new(1.0, 0.5, 0.25),
            intensity,
            range: None,
            radius: None,
        };
        Scene {
            nodes: vec![node(0, 30.0), node(1, 80.0)],
            lights: vec![light(10.0), light(1.0)],
            ..Scene::default()
        }
    }

    /// Returns the sun of an environment file, at an azimuth of 20° and an elevation of 40°.
    fn of_file() -> environment::Sun {
        environment::Sun {
            to_sun: -Vec3::from(direction(20.0, 40.0)),
            illuminance: Vec3::new(50.0, 40.0, 30.0),
            radius: 0.0,
        }
    }

    fn find(scene: &Scene, config: &Config, file: Option<environment::Sun>) -> Option<EffectiveSun> {
        SunOfScene::default().in_force(scene, (None, Arc::default(), 0.0), config, file)
    }

    fn assert_angles(sun: &EffectiveSun, expected: [f32; 2]) {
        let (azimuth, elevation) = angles(sun.direction.to_array());
        let error = Vec3::new(azimuth - expected[0], elevation - expected[1], 0.0);
        assert!(error.length() < 1e-2, "{azimuth} {elevation}, not {expected:?}");
    }

    #[test]
    fn dragging_replaces_the_scene_sun_at_its_position() {
        let scene = lit();
        let mut config = Config::default();
        config.environment.source = EnvironmentSource::Color;
        let sun = find(&scene, &config, None).unwrap();
        assert_eq!(sun.source, SunSource::Scene);
        assert_angles(&sun, [0.0, 30.0]);
        turn(&mut config, Some(sun), 15.0, 5.0);
        let turned = find(&scene, &config, None).unwrap();
        assert_eq!(turned.source, SunSource::Settings);
        assert_angles(&turned, [15.0, 35.0]);
        assert!(
            turned.illuminance.abs_diff_eq(sun.illuminance, 1e-4),
            "{turned:?}"
        );
        // The sun of the settings and the weaker light remain.
        let pose = Pose::new(&scene, None, 0.0);
        let all = lights::gather(&scene, &pose, &config, 1.0);
        assert_eq!(all.len(), 2, "{all:?}");
        assert!(Vec3::from(all[0].direction).abs_diff_eq(turned.direction, 1e-5));
        assert_eq!(all[1].intensity, [1.0, 0.5, 0.25]);
        // The unmodified scene has as many lights.
        assert_eq!(lights::gather(&scene, &pose, &Config::default(), 1.0).len(), 2);
    }

    #[test]
    fn dragging_the_sun_of_an_environment_rotates_the_environment() {
        let scene = Scene::default();
        let mut config = Config::default();
        config.environment.file = "a.hdr".into();
        config.environment.rotation = 170.0;
        let file = Some(of_file());
        let sun = find(&scene, &config, file).unwrap();
        assert_eq!(sun.source, SunSource::Environment);
        assert_angles(&sun, [-170.0, 40.0]);
        turn(&mut config, Some(sun), 30.0, 10.0);
        assert_eq!(config.environment.rotation, -160.0);
        assert_eq!(config.sun, Config::default().sun);
        let turned = find(&scene, &config, file).unwrap();
        assert_angles(&turned, [-140.0, 40.0]);
        assert!(lights::gather(&scene, &Pose::default(), &config, 1.0).is_empty());
    }

    /// A sun of the settings replaces the sun of a file, which was removed from the file's image.
    #[test]
    fn the_sun_of_the_settings_replaces_the_sun_of_a_file() {
        let scene = Scene::default();
        let mut config = Config::default();
        config.environment.file = "a.hdr".into();
        config.sun.enabled = Switch::On;
        let sun = find(&scene, &config, Some(of_file())).unwrap();
        assert_eq!(sun.source, SunSource::Settings);
        let file_sun = crate::render::environment::environment_sun(Some(of_file()), &config);
        assert_eq!(file_sun, None);
        assert_eq!(lights::gather(&scene, &Pose::default(), &config, 1.0).len(), 1);
        turn(&mut config, Some(sun), 10.0, 0.0);
        assert_eq!(lights::gather(&scene, &Pose::default(), &config, 1.0).len(), 1);
    }

    #[test]
    fn dragging_without_a_sun_switches_one_on() {
        let mut config = Config::default();
        config.sun.enabled = Switch::Off;
        assert_eq!(find(&Scene::default(), &config, None), None);
        turn(&mut config, None, 1.0, 0.0);
        let sun = find(&Scene::default(), &config, None).unwrap();
        assert_eq!(sun.source, SunSource::Settings);
    }
}
