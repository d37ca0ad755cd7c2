//! Exposure of the first view, from the lights of the scene.

use crate::settings;
use canopy_scene::{
    Light, LightKind, Pose, Scene,
    bounds::Aabb,
    framing::{distance, extent, or_unit_cube},
    opened::InitialState,
};
use glam::{Mat4, Vec3};
use std::ops::RangeInclusive;

/// Illuminance that exposures map to, in lux.
const USUAL_LUX: f32 = 3.0;

/// Range of illuminance at the scene's centre, in lux, that needs no exposure.
const FITTING_LUX: RangeInclusive<f32> = 0.5..=6.0;

/// Range like [`FITTING_LUX`], for scenes under an environment's file and for scenes whose primitives have no
/// materials. The stand-in material is bright, and a file may be bright in all directions. With more light,
/// tone curves would compress the shades of pale surfaces.
const FITTING_LUX_OF_PALE: RangeInclusive<f32> = 0.5..=3.0;

/// Assumed occluded fraction of the environment's light, with which pale surfaces are not too bright. The
/// measured fraction was 0.05 for a lone tree, 0.56 for a closed box, and 0.25 in the mean of seven scenes.
const OCCLUDED_SHARE: f32 = 0.1;

/// Irradiance of surfaces that face the brighter half of a sky or a file, relative to the mean of all
/// surfaces.
const BRIGHTER_SIDE: f32 = 2.0;

/// Returns the exposure in stops. It is the fixed exposure of `config` if there is one, and otherwise follows
/// from the illuminance of the scene.
///
/// In glTF, lights have lux and candela, and files range from 1 to 100,000 lux. The illuminance at the
/// scene's centre is a luminance-weighted sum. Directional lights add their lux, and punctual lights their
/// candela over squared distance. That distance is at least a quarter of the scene's radius. Between 0.5 and
/// 6 lux the exposure is 0 EV. Outside that range it maps the illuminance to 3 lux.
///
/// Environment lighting adds its mean irradiance. `file_luminance` is the mean luminance of the environment's
/// file. Under a file, or if no primitive has a material of its own, illuminance above 3 lux is mapped to 3
/// lux. A sky or a file then counts with its brighter half. A tenth of the environment's light counts as
/// occluded, and the exposure compensates for that. It does so even if occlusion is not sampled, so that
/// pictures with and without occlusion can be compared. The studio needs no exposure, because its light is
/// made to show surfaces as they are.
///
/// Lights after the first `light_limit` are ignored, because they do not shine. Lights whose range or cone
/// does not include the scene are ignored too.
pub fn exposure_ev(
    scene: &Scene,
    pose: &Pose,
    bounds: Aabb,
    config: &settings::Settings,
    file_luminance: f32,
    light_limit: usize,
) -> f32 {
    if let Some(ev) = config.image.exposure_ev() {
        return ev;
    }
    let config = &*config.adapted_to(scene);
    let has_sun = config.has_sun(scene.has_lights());
    let mut lux = environment_lux(config, file_luminance);
    let mut fitting = FITTING_LUX;
    let lacks_materials = lacks_materials(scene);
    if lacks_materials || config.environment.is_file() {
        fitting = FITTING_LUX_OF_PALE;
        if config.environment.is_file() || config.environment.is_sky() {
            lux *= BRIGHTER_SIDE;
        }
    }
    let missing = match config.environment.is_studio() {
        true => 0.0,
        false => OCCLUDED_SHARE * lux,
    };
    if has_sun {
        lux += config.sun.strength * luminance(config.sun.color.into());
    }
    let placed = scene.nodes.iter().zip(&pose.world_from_node).enumerate();
    let mut shining: Vec<_> = placed
        .zip(&pose.visible)
        .filter(|(_, shows)| **shows)
        .filter_map(|((number, (node, matrix)), _)| {
            let light = pose.light(scene, node.light?);
            Some((light, scene.world_from_light(number, matrix.as_mat4())))
        })
        .collect();
    if has_sun && let Some(replaced) = own_sun(&shining) {
        shining.remove(replaced);
    }
    shining.truncate(light_limit.saturating_sub(usize::from(has_sun)));
    lux += shining
        .iter()
        .map(|(light, world_from_light)| lux_of(light, world_from_light, bounds))
        .sum::<f32>();
    if !(lux > 0.0 && lux.is_finite()) {
        return 0.0;
    }
    let fits = match fitting.contains(&lux) {
        true => 1.0,
        false => USUAL_LUX / lux,
    };
    (fits * lux / (lux - missing)).log2()
}

/// Returns the exposure in stops of the first frame of an opened scene ([`exposure_ev`]).
pub fn first_exposure_ev(
    scene: &Scene,
    first: &InitialState,
    config: &settings::Settings,
    file_luminance: f32,
    light_limit: usize,
) -> f32 {
    let (pose, bounds) = first.from_origin();
    exposure_ev(scene, &pose, bounds, config, file_luminance, light_limit)
}

/// Returns the index of the brightest directional light that shines from above, which a sun of the settings
/// replaces.
fn own_sun(lights: &[(&Light, Mat4)]) -> Option<usize> {
    let power = |index: &usize| lights[*index].0.intensity * lights[*index].0.color.max_element();
    let shines_down = |index: &usize| {
        let (light, world_from_light) = lights[*index];
        light.kind == LightKind::Directional && world_from_light.z_axis.y > 0.0
    };
    let candidates = (0..lights.len()).filter(shines_down);
    candidates.max_by(|a, b| power(a).total_cmp(&power(b)))
}

/// True if the scene has primitives but none has a material of its own.
fn lacks_materials(scene: &Scene) -> bool {
    let primitives = || scene.meshes.iter().flat_map(|mesh| &mesh.primitives);
    let stands_in = |material: usize| scene.materials.get(material).is_some_and(|m| m.is_placeholder);
    primitives().next().is_some() && primitives().all(|p| stands_in(p.material))
}

/// Returns the illuminance of the scene's centre by a light in lux, or 0 if the light does not illuminate
/// `bounds`.
fn lux_of(light: &Light, world_from_light: &Mat4, bounds: Aabb) -> f32 {
    let power = light.intensity * luminance(light.color);
    let axis = -world_from_light.z_axis.truncate();
    let to_center = bounds.center() - world_from_light.w_axis.truncate();
    let (reach, radius) = (to_center.length(), extent(bounds));
    let cone = match light.kind {
        LightKind::Directional => return power,
        LightKind::Point => std::f32::consts::PI,
        LightKind::Spot { outer_angle, .. } => outer_angle,
    };
    // A range of 0 means unlimited.
    let ends = light.range.filter(|range| *range > 0.0);
    let is_far =
        ends.is_some_and(|range| distance(or_unit_cube(bounds), bounds.center() - to_center) >= range);
    // Compares the angle between the cone's axis and the nearest part of the scene's bounding sphere.
    let misses = reach > radius && axis.angle_between(to_center) - (radius / reach).asin() >= cone;
    if is_far || misses {
        return 0.0;
    }
    let distance = reach.max(radius * 0.25);
    power / (distance * distance)
}

/// Mean luminance of a clear sky and its ground by day, relative to the illuminance by its sun.
const SKY_SHARE: f32 = 0.05;

/// Returns the mean illuminance of a surface by the environment, in lux.
fn environment_lux(config: &settings::Settings, file_luminance: f32) -> f32 {
    let environment = &config.environment;
    if environment.is_studio() {
        // The studio and its key light need no exposure.
        return USUAL_LUX * environment.intensity;
    }
    let around = if environment.is_file() {
        file_luminance
    } else if environment.is_sky() {
        SKY_SHARE * config.sun.strength * luminance(config.sun.color.into())
    } else {
        luminance(environment.color.into())
    };
    std::f32::consts::PI * around * environment.intensity
}

/// Returns the luminance of a linear colour (Rec. 709).
fn luminance(color: Vec3) -> f32 {
    color.dot(Vec3::new(0.2126, 0.7152, 0.0722))
}

#[cfg(test)]
mod tests {
    use super::*;
    use canopy_scene::{Material, Mesh, Node, Primitive, Transform};

    fn cuboid(center: Vec3, half: Vec3) -> Aabb {
        Aabb {
            min: center - half,
            max: center + half,
        }
    }

    fn lit(kind: LightKind, intensity: f32, translation: Vec3) -> (Scene, Pose) {
        let scene = Scene {
            nodes: vec![Node {
                name: String::new(),
                parent: None,
                transform: Transform::Matrix(glam::DMat4::IDENTITY),
                mesh: None,
                skin: None,
                weights: Vec::new(),
                light: Some(0),
                camera: None,
                ..Node::default()
            }],
            lights: vec![Light {
                name: String::new(),
                kind,
                color: Vec3::ONE,
                intensity,
                range: None,
                radius: None,
            }],
            ..Scene::default()
        };
        let pose = Pose {
            world_from_node: vec![glam::DMat4::from_translation(translation.as_dvec3())],
            weights: vec![Vec::new()],
            visible: vec![true],
            ..Pose::default()
        };
        (scene, pose)
    }

    #[test]
    fn exposure_decreases_with_brighter_lights() {
        let bounds = cuboid(Vec3::ZERO, Vec3::ONE);
        let mut config = settings::Settings::default();
        config.environment.intensity = 0.0;
        let ev =
            |(scene, pose): (Scene, Pose), config: &_| exposure_ev(&scene, &pose, bounds, config, 0.0, 256);
        assert_eq!(ev((Scene::default(), Pose::default()), &config), 0.0);
        assert_eq!(ev(lit(LightKind::Directional, 3.0, Vec3::ZERO), &config), 0.0);
        assert_eq!(ev(lit(LightKind::Directional, 12.0, Vec3::ZERO), &config), -2.0);
        assert_eq!(ev(lit(LightKind::Point, 1200.0, Vec3::X * 10.0), &config), -2.0);
        assert!(ev(lit(LightKind::Point, 0.01, Vec3::ZERO), &config) > 2.0);
        assert_eq!(ev(lit(LightKind::Directional, 0.0, Vec3::ZERO), &config), 0.0);
        config.image.exposure = settings::ExposureMode::Stops(1.5);
        assert_eq!(ev(lit(LightKind::Directional, 12.0, Vec3::ZERO), &config), 1.5);
    }

    /// Returns a scene with `count` equal lights at the same position.
    fn many(kind: LightKind, count: usize, intensity: f32, translation: Vec3) -> (Scene, Pose) {
        let (mut scene, mut pose) = lit(kind, intensity, translation);
        scene.nodes = vec![scene.nodes[0].clone(); count];
        pose.world_from_node = vec![pose.world_from_node[0]; count];
        (pose.weights, pose.visible) = (vec![Vec::new(); count], vec![true; count]);
        (scene, pose)
    }

    #[test]
    fn dark_and_hidden_lights_do_not_affect_the_exposure() {
        let bounds = cuboid(Vec3::ZERO, Vec3::ONE);
        let mut config = settings::Settings::default();
        config.environment.intensity = 0.0;
        let ev =
            |(scene, pose): (Scene, Pose), config: &_| exposure_ev(&scene, &pose, bounds, config, 0.0, 256);
        let above = Vec3::Y * 4.0;
        let [some, all] = [256, 10_000].map(|count| ev(many(LightKind::Point, count, 4.0, above), &config));
        assert_eq!(some, (3.0_f32 / 64.0).log2());
        assert_eq!(all, some);
        // The sun counts towards the limit.
        config.sun.enabled = settings::Switch::On;
        config.sun.strength = 0.25;
        config.sun.color = [1.0; 3];
        let with_sun = ev(many(LightKind::Point, 10_000, 4.0, above), &config);
        assert_eq!(with_sun, some);
        // Hidden lights do not count.
        config.sun.enabled = settings::Switch::Off;
        let (scene, mut pose) = many(LightKind::Point, 300, 8.0, above);
        pose.visible[..280].fill(false);
        assert_eq!(ev((scene, pose), &config), (3.0_f32 / 10.0).log2());
    }

    /// Without materials, the tone curve's shoulder is left to highlights. A grey of 0.8 stays below it under
    /// any light.
    #[test]
    fn scenes_without_materials_are_exposed_for_grey() {
        let bounds = cuboid(Vec3::ZERO, Vec3::ONE);
        let mut config = settings::Settings::default();
        let scene = |material: Material| {
            let primitive = Primitive::default();
            let mesh = Mesh {
                name: String::new(),
                primitives: vec![primitive],
            };
            Scene {
                meshes: vec![mesh],
                materials: vec![material],
                ..Scene::default()
            }
        };
        let [own, none] = [Material::default(), Material::placeholder()].map(scene);
        let ev = |scene: &Scene, config: &_, file_luminance| {
            let pose = Pose::default();
            exposure_ev(scene, &pose, bounds, config, file_luminance, 256)
        };
        // Covers the studio, then sky and sun, then a file of as much light.
        assert_eq!([&own, &none].map(|scene| ev(scene, &config, 0.0)), [0.0; 2]);
        config.environment.source = settings::EnvironmentSource::Sky;
        assert!((0.0..0.2).contains(&ev(&own, &config, 0.0)));
        assert!((-0.8..-0.3).contains(&ev(&none, &config, 0.0)));
        config.environment.source = settings::EnvironmentSource::Auto;
        config.environment.file = "there".into();
        let lux = 2.0 * std::f32::consts::PI;
        let occluded = -(0.9_f32.log2());
        for scene in [&own, &none] {
            let bright = ev(scene, &config, 1.0) - occluded;
            assert!((bright - (3.0 / lux).log2()).abs() < 1e-5, "{bright}");
            assert!((ev(scene, &config, 0.3) - occluded).abs() < 1e-5);
        }
        assert!(ev(&none, &config, 0.01) > 4.0);
    }

    /// Occlusion reduces the environment's light, but not the light of punctual lights.
    #[test]
    fn exposure_compensates_for_occlusion() {
        let bounds = cuboid(Vec3::ZERO, Vec3::ONE);
        let mut config = settings::Settings::default();
        config.sun.enabled = settings::Switch::Off;
        config.environment.source = settings::EnvironmentSource::Color;
        config.environment.color = [1.0 / std::f32::consts::PI; 3];
        let gain = |intensity: f32, config: &settings::Settings| {
            let (scene, pose) = lit(LightKind::Directional, intensity, Vec3::ZERO);
            exposure_ev(&scene, &pose, bounds, config, 0.0, 256)
        };
        let close = |gain: f32, share: f32| assert!((gain + share.log2()).abs() < 1e-4, "{gain}");
        close(gain(0.0, &config), 0.9);
        close(gain(1.0, &config), 0.95);
        // An illuminance of 100 lux maps to 3.
        close(gain(99.0, &config), 0.999 * 100.0 / 3.0);
        config.environment.intensity = 0.0;
        close(gain(1.0, &config), 1.0);
    }

    #[test]
    fn lights_that_do_not_reach_the_scene_do_not_affect_the_exposure() {
        let bounds = cuboid(Vec3::ZERO, Vec3::ONE);
        let mut config = settings::Settings::default();
        config.environment.intensity = 0.0;
        let ev = |kind, range, world_from_light: Mat4| {
            let (mut scene, mut pose) = lit(kind, 1e6, Vec3::ZERO);
            scene.lights[0].range = range;
            pose.world_from_node[0] = world_from_light.as_dmat4();
            exposure_ev(&scene, &pose, bounds, &config, 0.0, 256)
        };
        let above = Mat4::from_translation(Vec3::Y * 10.0);
        let down = above * Mat4::from_rotation_x(-std::f32::consts::FRAC_PI_2);
        let spot = LightKind::spot(0.2, 0.4);
        for (kind, range, at, arrives) in [
            (LightKind::Point, None, above, true),
            (LightKind::Point, Some(0.0), above, true),
            (LightKind::Point, Some(9.5), above, true),
            (LightKind::Point, Some(8.5), above, false),
            (spot, None, above, false),
            (spot, None, down, true),
            (spot, Some(5.0), down, false),
        ] {
            let ev = ev(kind, range, at);
            assert_eq!(ev < -3.0, arrives, "{kind:?} {range:?} {at}: {ev}");
            assert!(arrives || ev == 0.0);
        }
    }
}
