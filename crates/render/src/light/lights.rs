//! Lights of a frame in world space. At most one of them is the sun.

use crate::{
    environment,
    layout::{FIRST_LIGHTS, LIGHT_LIMIT, Light as GpuLight},
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

/// Maximum number of lights that a surface looks at one by one if it casts rays to some of them only. Beyond that,
/// it draws candidates from a tree ([`light_tree`](super::light_tree)).
const LOOKED_AT_MAX: u32 = 64;

/// Number of lights that a surface draws from the tree if it casts no rays to them.
const DRAWS_WITHOUT_RAYS: u32 = 8;

/// Numbers of lights, of light slots per pixel, and of shadow rays per light.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LightPlan {
    /// Number of all lights.
    pub lights: u32,
    /// Number of light slots of a pixel. There is one for each light, or as many as the ray budget allows.
    pub slots: u32,
    /// Number of lights that a surface looks at to fill its slots: all, or as many as it draws from the tree.
    pub candidates: u32,
    /// Number of rays to each light that has a size.
    pub rays: u32,
    /// Number of rays to each light that has a size, at shadow edges with a short history.
    pub edge_rays: u32,
    /// True if at least one light has a size.
    pub is_soft: bool,
}

impl LightPlan {
    /// Plans the rays to `lights` within the budget of `shadows`.
    pub fn new(lights: &[GpuLight], shadows: &Shadows) -> Self {
        let soft = lights.iter().filter(|light| light.radius > 0.0).count() as u32;
        let all = lights.len() as u32;
        let rays = match soft {
            0 => 1,
            _ => shadows.rays.min(shadows.max_rays),
        };
        let wanted = all - soft + soft * rays;
        let casts = shadows.mode == ShadowMode::Rays;
        let affordable = match casts {
            true => all.min(shadows.max_rays / rays),
            false => DRAWS_WITHOUT_RAYS,
        };
        let (slots, candidates) = if (!casts || wanted <= shadows.max_rays) && all <= FIRST_LIGHTS {
            (all, all)
        } else if casts && all <= LOOKED_AT_MAX {
            (affordable, all)
        } else {
            // The tree fills each slot with one draw.
            let draws = affordable.min(FIRST_LIGHTS);
            (draws, draws)
        };
        let left = shadows.max_rays.saturating_sub(slots.saturating_sub(1) * rays);
        Self {
            lights: all,
            slots,
            candidates,
            rays,
            edge_rays: shadows.edge_rays.min(left).max(rays),
            is_soft: soft > 0,
        }
    }

    /// True if there are more lights than slots, so that each pixel samples some of them.
    pub fn chooses(&self) -> bool {
        self.slots < self.lights
    }

    /// True if surfaces draw lights from the tree.
    pub fn has_tree(&self) -> bool {
        self.candidates < self.lights
    }

    /// Returns the maximum number of rays that a pixel casts.
    pub fn rays_per_pixel(&self) -> u32 {
        self.slots * self.rays
    }
}

/// Returns an upper bound for the number of lights: the lights of the scene and a sun.
pub fn max_lights(scene: &Scene) -> u32 {
    let lights = scene.nodes.iter().filter(|node| node.light.is_some());
    (lights.count() as u32 + 1).min(LIGHT_LIMIT)
}

/// Returns the indices of at most [`FIRST_LIGHTS`] lights, for fog, volumes, shadow maps and the laboratory. They are in
/// order or, if there is a tree, by strength, directional lights before the others.
pub fn first(lights: &[GpuLight], plan: &LightPlan) -> Vec<usize> {
    let mut indices: Vec<_> = (0..lights.len()).collect();
    if plan.has_tree() {
        let is_placed = |index: &usize| lights[*index].kind != LIGHT_DIRECTIONAL;
        let power = |index: &usize| strength(&lights[*index]);
        indices.sort_by(|a, b| {
            is_placed(a)
                .cmp(&is_placed(b))
                .then(power(b).total_cmp(&power(a)))
        });
    }
    indices.truncate(FIRST_LIGHTS as usize);
    indices
}

/// Returns the angle of a spot light's cone, in radians.
pub fn outer_angle(light: &GpuLight) -> Option<f32> {
    (light.kind == LIGHT_SPOT).then(|| (-light.spot_offset / light.spot_scale).clamp(-1.0, 1.0).acos())
}

/// True if a light may have a size.
pub fn may_cast_soft_shadows(scene: &Scene, config: &Settings) -> bool {
    let own = config.lights.radius != 0.0 || config.lights.radii.iter().any(|radius| *radius > 0.0);
    let of_file = scene.lights.iter().any(|light| light.radius.is_some());
    let lights = !scene.lights.is_empty();
    // A file's sun has the size it has in the file, and the studio's key light also has a size.
    let of_picture = (config.environment.is_file() && config.sun.enabled != Switch::On)
        || environment::environment_sun(None, config).is_some();
    (lights && (own || of_file)) || config.sun.angle > 0.0 || of_picture
}

/// Returns pair `index` of the lights whose shadows are filtered together. The last pair may have one light
/// only. Empty if there is no such pair.
pub fn pair(lights: &[GpuLight], index: usize) -> &[GpuLight] {
    lights.chunks(2).nth(index).unwrap_or_default()
}

/// Returns the number of lights of a pair that a filter kernel processes: 1 if the second light has no size
/// or does not exist, else 2.
pub fn filtered(pair: &[GpuLight]) -> usize {
    match pair {
        [_, second] if second.radius > 0.0 => 2,
        _ => 1,
    }
}

/// Default radius of a light in metres.
pub const BULB: f32 = 0.05;
/// Largest automatic radius of a light, relative to the scene's radius. Otherwise a scene of one centimetre
/// would be inside the light.
const BULB_MAX: f32 = 0.02;

/// Returns the sine of half the angular diameter of the settings' sun.
fn sun_radius(sun: &SunConfig) -> f32 {
    (0.5 * sun.angle).to_radians().sin()
}

/// Returns half the angular diameter of the sun disc in radians. The disc has a size even if its shadows are
/// hard.
pub fn sun_disc_radius(sun: &SunConfig) -> f32 {
    match sun.angle {
        0.0 => atmosphere::SUN_RADIUS as f32,
        angle => (0.5 * angle).to_radians(),
    }
}

/// Returns the radius of light `index` of the scene, for [`GpuLight::radius`]. In order of precedence, it
/// comes from the settings of this light, the file, and the settings of all lights.
fn radius(light: &Light, index: usize, config: &Settings, scene_radius: f32) -> f32 {
    let own = config.lights.radii.get(index).filter(|radius| **radius >= 0.0);
    match light.kind {
        LightKind::Directional => match light.radius {
            Some(angle) => angle.sin(),
            None => sun_radius(&config.sun),
        },
        _ => {
            let general = match config.lights.radius {
                automatic if automatic < 0.0 => BULB.min(BULB_MAX * scene_radius),
                radius => radius,
            };
            own.copied().or(light.radius).unwrap_or(general)
        }
    }
}

/// Source of the sun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SunSource {
    /// Settings in `[sun]`.
    Settings,
    /// Image of the environment.
    Environment,
    /// Brightest directional light of the scene that shines from above.
    Scene,
}

/// Sun of a frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EffectiveSun {
    /// Source of the sun.
    pub source: SunSource,
    /// Unit vector along which its light travels.
    pub direction: Vec3,
    /// Illuminance of a surface that faces it, in lux for each channel.
    pub illuminance: Vec3,
    /// Half its angular diameter in radians.
    pub radius: f32,
}

/// Returns the sun that shines on `scene` at `pose`, if there is one. `of_file` is the sun of the
/// environment's file, in the file's axes.
pub fn effective_sun(
    scene: &Scene,
    pose: &Pose,
    config: &Settings,
    of_file: Option<Sun>,
) -> Option<EffectiveSun> {
    let config = &*config.adapted_to(scene);
    if has_sun(scene, config) {
        return Some(EffectiveSun {
            source: SunSource::Settings,
            direction: -config.sun.to_sun(),
            illuminance: environment::sun_illuminance(config),
            radius: (0.5 * config.sun.angle).to_radians(),
        });
    }
    if let Some(sun) = environment::environment_sun(of_file, config) {
        return Some(EffectiveSun {
            source: SunSource::Environment,
            direction: -sun.to_sun,
            illuminance: sun.illuminance * config.environment.intensity,
            radius: sun.radius,
        });
    }
    let lights = of_scene(scene, pose, config, f32::INFINITY);
    let sun = lights[brightest_from_above(&lights)?];
    Some(EffectiveSun {
        source: SunSource::Scene,
        direction: sun.direction.into(),
        illuminance: sun.intensity.into(),
        radius: sun.radius.asin(),
    })
}

/// Returns the index of the brightest directional light that shines from above.
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

/// Gathers the lights of `scene` at `pose`, at most [`LIGHT_LIMIT`], with the sun first. A sun of the
/// settings replaces the scene's own. Shadow views are not assigned. `scene_radius` in metres limits the
/// automatic size of lights.
pub fn gather(scene: &Scene, pose: &Pose, config: &Settings, scene_radius: f32) -> Vec<GpuLight> {
    let config = &*config.adapted_to(scene);
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
    // Only the studio's key light is added. The caller adds a file's sun, because it knows the file.
    if let Some(key) = environment::environment_sun(None, config) {
        add_sun(&mut lights, &key, config);
    }
    lights
}

/// Returns the lights of `scene` at `pose`.
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

/// Returns settings in which the sky's sun is the scene's own sun, if the settings leave it to the scene. The
/// scene's sun is the brightest of its directional lights that shine from above. `lights` are the frame's
/// lights.
pub fn with_scene_sun(scene: &Scene, lights: &[GpuLight], config: &Settings) -> Option<Settings> {
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

/// Inserts the sun of an environment's image in front of `lights`. It may displace the last light.
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

/// Returns the number of lights of `scene` beyond [`LIGHT_LIMIT`], including the settings' sun.
pub fn lights_beyond_limit(scene: &Scene, config: &Settings) -> usize {
    let lights = scene.nodes.iter().filter(|node| node.light.is_some()).count();
    (lights + usize::from(has_sun(scene, config))).saturating_sub(LIGHT_LIMIT as usize)
}

/// True if the settings' sun shines on `scene`.
pub fn has_sun(scene: &Scene, config: &Settings) -> bool {
    let is_lit = scene.has_lights();
    config.adapted_to(scene).has_sun(is_lit)
}

/// Places a light that shines along −Z in its local space.
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
