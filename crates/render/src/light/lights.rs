//! The lights of a moment, in world space, and which of them is the sun: one at most.

use crate::{
    environment,
    layout::{LIGHT_LIMIT, Light as GpuLight},
    settings::{Settings, ShadowMode, Shadows, Sun as SunConfig, Switch},
};
use canopy_bvh::gpu::library::wgsl_constants;
use canopy_scene::{Light, LightKind, Pose, Scene, atmosphere, environment::Sun};
use glam::{Mat4, Vec3};

wgsl_constants! {
    /// [`GpuLight::kind`] of a light that shines in one direction.
    pub const LIGHT_DIRECTIONAL: u32 = 0;
    /// [`GpuLight::kind`] of a light that shines in all directions from a point.
    pub const LIGHT_POINT: u32 = 1;
    /// [`GpuLight::kind`] of a light that shines into a cone.
    pub const LIGHT_SPOT: u32 = 2;
}

/// `Light::shadow_view` of a light without shadow maps.
pub const NO_SHADOW_VIEW: u32 = u32::MAX;

/// How many lights a pixel sends shadow rays to, and how many rays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LightPlan {
    /// All lights.
    pub lights: u32,
    /// Lights that a pixel has room for: all of them, or as many as the budget allows.
    pub slots: u32,
    /// Rays to a light that has a size.
    pub rays: u32,
    /// Rays to one of them, at edges of its shadow that have little history.
    pub edge_rays: u32,
    /// Whether a light has a size.
    pub is_soft: bool,
}

impl LightPlan {
    /// For `lights` within the budget of `shadows`.
    pub fn new(lights: &[GpuLight], shadows: &Shadows) -> Self {
        let soft = lights.iter().filter(|light| light.radius > 0.0).count() as u32;
        let all = lights.len() as u32;
        let rays = match soft {
            0 => 1,
            _ => shadows.rays.min(shadows.max_rays),
        };
        let wanted = all - soft + soft * rays;
        let is_within = wanted <= shadows.max_rays || shadows.mode != ShadowMode::Rays;
        let slots = match is_within {
            true => all,
            false => all.min(shadows.max_rays / rays),
        };
        let left = shadows.max_rays.saturating_sub(slots.saturating_sub(1) * rays);
        Self {
            lights: all,
            slots,
            rays,
            edge_rays: shadows.edge_rays.min(left).max(rays),
            is_soft: soft > 0,
        }
    }

    /// Whether there are more lights than a pixel has room for.
    pub fn chooses(&self) -> bool {
        self.slots < self.lights
    }

    /// Most rays that a pixel sends.
    pub fn rays_per_pixel(&self) -> u32 {
        self.slots * self.rays
    }
}

/// How many lights may shine: those of the scene, and a sun.
pub fn most(scene: &Scene) -> u32 {
    let lights = scene.nodes.iter().filter(|node| node.light.is_some());
    lights.count() as u32 + 1
}

/// Whether a light may have a size.
pub fn may_be_soft(scene: &Scene, config: &Settings) -> bool {
    let own = config.lights.radius != 0.0 || config.lights.radii.iter().any(|radius| *radius > 0.0);
    let of_file = scene.lights.iter().any(|light| light.radius.is_some());
    let lights = !scene.lights.is_empty();
    // The sun of a file has the size that it has there, and so has the studio's key.
    let of_picture = (config.environment.is_file() && config.sun.enabled != Switch::On)
        || environment::placed_sun(None, config).is_some();
    (lights && (own || of_file)) || config.sun.angle > 0.0 || of_picture
}

/// The lights whose shadows are filtered together: two, or the last one.
pub fn pair(lights: &[GpuLight], index: usize) -> &[GpuLight] {
    lights.chunks(2).nth(index).unwrap_or_default()
}

/// How many lights of a pair have their shadows filtered: 1 where the second has no size, or is none.
pub fn filtered(pair: &[GpuLight]) -> usize {
    match pair {
        [_, second] if second.radius > 0.0 => 2,
        _ => 1,
    }
}

/// Radius in metres of lights of which nothing states another.
pub const BULB: f32 = 0.05;
/// Most of the scene's radius that it may be: a scene of a centimetre would lie within the lamp.
const BULB_MOST: f32 = 0.02;

/// Sine of half the angular diameter of the settings' sun.
fn sun_radius(sun: &SunConfig) -> f32 {
    (0.5 * sun.angle).to_radians().sin()
}

/// Half the angular diameter of the sun's disc in radians, which has a size even where its shadows are hard.
pub fn sun_disc_radius(sun: &SunConfig) -> f32 {
    match sun.angle {
        0.0 => atmosphere::SUN_RADIUS as f32,
        angle => (0.5 * angle).to_radians(),
    }
}

/// [`GpuLight::radius`] of light `index` of the scene: that of the settings for this light, else that of the
/// file, else that of the settings for all lights.
fn radius(light: &Light, index: usize, config: &Settings, scene_radius: f32) -> f32 {
    let own = config.lights.radii.get(index).filter(|radius| **radius >= 0.0);
    match light.kind {
        LightKind::Directional => match light.radius {
            Some(angle) => angle.sin(),
            None => sun_radius(&config.sun),
        },
        _ => {
            let general = match config.lights.radius {
                automatic if automatic < 0.0 => BULB.min(BULB_MOST * scene_radius),
                radius => radius,
            };
            own.copied().or(light.radius).unwrap_or(general)
        }
    }
}

/// Where the sun's light comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SunSource {
    /// The settings of `[sun]`.
    Settings,
    /// The environment's file.
    Environment,
    /// The brightest directional light of the scene that shines from above.
    Scene,
}

/// The sun that shines.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SunInForce {
    /// Where it comes from.
    pub source: SunSource,
    /// Unit vector in which its light travels.
    pub direction: Vec3,
    /// Illuminance of a surface that faces it, in lux a channel.
    pub illuminance: Vec3,
    /// Half its angular diameter in radians.
    pub radius: f32,
}

/// The sun that shines on `scene` at `pose`, if one does. `of_file` is the sun of the environment's file, in
/// the axes of the file.
pub fn sun_in_force(
    scene: &Scene,
    pose: &Pose,
    config: &Settings,
    of_file: Option<Sun>,
) -> Option<SunInForce> {
    let config = &*config.lit_for(scene);
    if has_sun(scene, config) {
        return Some(SunInForce {
            source: SunSource::Settings,
            direction: -config.sun.to_sun(),
            illuminance: environment::sun_illuminance(config),
            radius: (0.5 * config.sun.angle).to_radians(),
        });
    }
    if let Some(sun) = environment::placed_sun(of_file, config) {
        return Some(SunInForce {
            source: SunSource::Environment,
            direction: -sun.to_sun,
            illuminance: sun.illuminance * config.environment.intensity,
            radius: sun.radius,
        });
    }
    let lights = of_scene(scene, pose, config, f32::INFINITY);
    let sun = lights[brightest_from_above(&lights)?];
    Some(SunInForce {
        source: SunSource::Scene,
        direction: sun.direction.into(),
        illuminance: sun.intensity.into(),
        radius: sun.radius.asin(),
    })
}

/// The brightest directional light that shines from above.
fn brightest_from_above(lights: &[GpuLight]) -> Option<usize> {
    let is_candidate = |light: &GpuLight| {
        light.kind == LIGHT_DIRECTIONAL && light.direction[1] < 0.0 && strength(light) > 0.0
    };
    let candidates = (0..lights.len()).filter(|index| is_candidate(&lights[*index]));
    candidates.max_by(|a, b| strength(&lights[*a]).total_cmp(&strength(&lights[*b])))
}

fn strength(light: &GpuLight) -> f32 {
    Vec3::from(light.intensity).max_element()
}

/// Every light of `scene` at `pose`, the sun first where it shines, at most [`LIGHT_LIMIT`]. A sun of the
/// settings takes the place of the scene's own. Shadow views are left open. `scene_radius`, in metres, bounds the
/// automatic size of lights.
pub fn gather(scene: &Scene, pose: &Pose, config: &Settings, scene_radius: f32) -> Vec<GpuLight> {
    let config = &*config.lit_for(scene);
    let mut lights = of_scene(scene, pose, config, scene_radius);
    if has_sun(scene, config) {
        if let Some(replaced) = brightest_from_above(&lights) {
            lights.remove(replaced);
        }
        let illuminance = environment::sun_illuminance(config);
        let sun = directional(-config.sun.to_sun(), illuminance, sun_radius(&config.sun));
        lights.insert(0, sun);
    }
    lights.truncate(LIGHT_LIMIT as usize);
    // The studio's key light; the sun of a file is added where the file is known.
    if let Some(key) = environment::placed_sun(None, config) {
        add_sun(&mut lights, &key, config);
    }
    lights
}

/// Every light of `scene` at `pose`.
fn of_scene(scene: &Scene, pose: &Pose, config: &Settings, scene_radius: f32) -> Vec<GpuLight> {
    let nodes = (0..).zip(&scene.nodes);
    nodes
        .zip(&pose.world_from_node)
        .zip(&pose.visible)
        .filter(|(_, shows)| **shows && config.lights.enabled)
        .filter_map(|(((number, node), world_from_node), _)| {
            let index = node.light?;
            let light = pose.light(scene, index);
            let radius = radius(light, index, config, scene_radius);
            let world_from_light = scene.world_from_light(number, world_from_node.as_mat4());
            Some(place(light, radius, world_from_light))
        })
        .collect()
}

/// The settings with the sky's sun where it is the scene's own: the brightest of its directional lights that
/// shine from above, if the settings leave it to the scene. `lights` are those of the moment.
pub fn with_sun_of(scene: &Scene, lights: &[GpuLight], config: &Settings) -> Option<Settings> {
    let leaves_it = config.sun.enabled == Switch::Auto && !has_sun(scene, config);
    if !leaves_it || !config.environment.is_sky() {
        return None;
    }
    let brightest = &lights[brightest_from_above(lights)?];
    let mut config = config.clone();
    config.sun.enabled = Switch::On;
    config.sun.direction = brightest.direction;
    config.sun.strength = strength(brightest);
    config.sun.color = (Vec3::from(brightest.intensity) / config.sun.strength).to_array();
    Some(config)
}

/// Puts the sun of an environment's picture in front of `lights`, which it may take the last one from.
pub fn add_sun(lights: &mut Vec<GpuLight>, sun: &Sun, config: &Settings) {
    lights.truncate(LIGHT_LIMIT as usize - 1);
    let illuminance = sun.illuminance * config.environment.intensity;
    lights.insert(0, directional(-sun.to_sun, illuminance, sun.radius.sin()));
}

fn directional(direction: Vec3, intensity: Vec3, radius: f32) -> GpuLight {
    GpuLight {
        kind: LIGHT_DIRECTIONAL,
        direction: direction.to_array(),
        intensity: intensity.to_array(),
        shadow_view: NO_SHADOW_VIEW,
        radius,
        ..GpuLight::default()
    }
}

/// Lights of `scene` that there is no room for: those past [`LIGHT_LIMIT`], the settings' sun counted.
pub fn without_room(scene: &Scene, config: &Settings) -> usize {
    let lights = scene.nodes.iter().filter(|node| node.light.is_some()).count();
    (lights + usize::from(has_sun(scene, config))).saturating_sub(LIGHT_LIMIT as usize)
}

/// Whether the configuration's sun shines on `scene`.
pub fn has_sun(scene: &Scene, config: &Settings) -> bool {
    let is_lit = scene.has_lights();
    config.lit_for(scene).has_sun(is_lit)
}

/// A light that shines along −Z.
fn place(light: &Light, radius: f32, world_from_light: Mat4) -> GpuLight {
    let (kind, spot_scale, spot_offset) = match light.kind {
        LightKind::Directional => (LIGHT_DIRECTIONAL, 0.0, 0.0),
        LightKind::Point => (LIGHT_POINT, 0.0, 0.0),
        LightKind::Spot {
            inner_angle,
            outer_angle,
        } => {
            let scale = 1.0 / (inner_angle.cos() - outer_angle.cos()).max(0.001);
            (LIGHT_SPOT, scale, -outer_angle.cos() * scale)
        }
    };
    GpuLight {
        position: world_from_light.w_axis.truncate().to_array(),
        kind,
        direction: (-world_from_light.z_axis.truncate())
            .try_normalize()
            .unwrap_or(Vec3::NEG_Z)
            .to_array(),
        range: light.range.unwrap_or(0.0),
        intensity: (light.color * light.intensity).to_array(),
        shadow_view: NO_SHADOW_VIEW,
        spot_scale,
        spot_offset,
        radius,
        ..GpuLight::default()
    }
}
