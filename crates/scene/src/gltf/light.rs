//! Lights of KHR_lights_punctual.

use super::file::{File, name_of};
use crate::{
    Result,
    graph::Scene,
    light::{BRIGHTEST_LIGHT as BRIGHTEST, Light, LightKind},
};
use ::gltf::json::{
    extensions::scene::khr_lights_punctual::{Light as JsonLight, Type as LightType},
    validation::Checked,
};
use glam::Vec3;
use serde_json::{Map, Value};
use std::{f32::consts::FRAC_PI_2, f64::consts::PI};

/// Largest radius of a light, in metres.
const LARGEST: f32 = 1e6;

/// Reads all lights.
pub(super) fn lights(file: &File<'_>, scene: &mut Scene) -> Result<()> {
    let json = file
        .root
        .extensions
        .as_ref()
        .and_then(|e| e.khr_lights_punctual.as_ref());
    for (index, json) in json.iter().flat_map(|l| &l.lights).enumerate() {
        let kind = light_kind(json).ok_or_else(|| {
            file.error(format!(
                "light {index} has an unknown type; KHR_lights_punctual allows directional, point and spot"
            ))
        })?;
        scene.lights.push(Light {
            name: name_of(json.name.as_ref()),
            kind,
            color: Vec3::from(json.color).clamp(Vec3::ZERO, Vec3::splat(BRIGHTEST)),
            intensity: json.intensity.clamp(0.0, BRIGHTEST),
            range: json.range.filter(|range| range.is_finite() && *range > 0.0),
            radius: file
                .light_extras
                .get(index)
                .and_then(|extras| radius(kind, extras)),
        });
    }
    Ok(())
}

/// Reads the size of a light from its extras, to which Blender exports the custom properties of the light.
/// Point and spot lights have `radius`, or Blender's own `shadow_soft_size`, in metres. Directional lights
/// have `angle`, their angular diameter in radians.
fn radius(kind: LightKind, extras: &Map<String, Value>) -> Option<f32> {
    let number = |key| extras.get(key).and_then(Value::as_f64);
    let radius = match kind {
        LightKind::Directional => number("angle").map(|angle| 0.5 * angle.min(PI)),
        LightKind::Point | LightKind::Spot { .. } => number("radius").or_else(|| number("shadow_soft_size")),
    };
    let radius = radius? as f32;
    (0.0..=LARGEST).contains(&radius).then_some(radius)
}

fn light_kind(json: &JsonLight) -> Option<LightKind> {
    match json.type_ {
        Checked::Valid(LightType::Directional) => Some(LightKind::Directional),
        Checked::Valid(LightType::Point) => Some(LightKind::Point),
        Checked::Valid(LightType::Spot) => {
            let (inner, outer) = json.spot.as_ref().map_or((0.0, FRAC_PI_2 / 2.0), |s| {
                (s.inner_cone_angle, s.outer_cone_angle)
            });
            Some(LightKind::spot(inner, outer))
        }
        Checked::Invalid => None,
    }
}
