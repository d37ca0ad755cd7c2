//! Rest values of animated properties, in the floats of a channel.

use super::{
    camera::Projection,
    clip::{Channel, Property, PropertyOf, UvPart},
    graph::Scene,
    light::LightKind,
    node::Transform,
};

/// Writes the rest value of the channel's property. Returns true if there is one.
pub(super) fn write_value(scene: &Scene, channel: &Channel, value: &mut Vec<f32>) -> bool {
    value.clear();
    match channel.property.of() {
        PropertyOf::Node => of_node(scene, channel, value),
        PropertyOf::Material => of_material(scene, channel, value),
        PropertyOf::Light => of_light(scene, channel, value),
        PropertyOf::Camera => of_camera(scene, channel, value),
    }
    value.len() == channel.components
}

fn of_node(scene: &Scene, channel: &Channel, value: &mut Vec<f32>) {
    let node = &scene.nodes[channel.target];
    let weight = |target: usize| node.weights.get(target).copied().unwrap_or(0.0);
    match (channel.property, node.transform) {
        (Property::Weights, _) => value.extend((0..channel.components).map(weight)),
        (Property::Weight(target), _) => value.push(weight(target)),
        (Property::Visible, _) => value.push(f32::from(u8::from(node.visible))),
        (Property::Translation, Transform::Trs { translation, .. }) => {
            value.extend(translation.as_vec3().to_array());
        }
        (Property::Rotation, Transform::Trs { rotation, .. }) => {
            value.extend(rotation.as_quat().to_array());
        }
        (Property::Scale, Transform::Trs { scale, .. }) => {
            value.extend(scale.as_vec3().to_array());
        }
        _ => {}
    }
}

fn of_material(scene: &Scene, channel: &Channel, value: &mut Vec<f32>) {
    let material = &scene.materials[channel.target];
    match channel.property {
        Property::BaseColor => value.extend(material.base_color.to_array()),
        Property::Metallic => value.push(material.metallic),
        Property::Roughness => value.push(material.roughness),
        Property::EmissiveFactor => value.extend(material.emissive_factor.to_array()),
        Property::EmissiveStrength => value.push(material.emissive_strength),
        Property::AlphaCutoff => value.push(material.alpha_cutoff),
        Property::NormalScale => value.push(material.normal_scale),
        Property::OcclusionStrength => value.push(material.occlusion_strength),
        Property::Uv { part, rest, .. } => match part {
            UvPart::Offset => value.extend(rest.offset.to_array()),
            UvPart::Rotation => value.push(rest.rotation),
            UvPart::Scale => value.extend(rest.scale.to_array()),
        },
        _ => {}
    }
}

fn of_light(scene: &Scene, channel: &Channel, value: &mut Vec<f32>) {
    let light = &scene.lights[channel.target];
    match (channel.property, light.kind) {
        (Property::LightColor, _) => value.extend(light.color.to_array()),
        (Property::LightIntensity, _) => value.push(light.intensity),
        // A light of unlimited range has no length to blend.
        (Property::LightRange, _) => value.extend(light.range),
        (Property::InnerAngle, LightKind::Spot { inner_angle, .. }) => value.push(inner_angle),
        (Property::OuterAngle, LightKind::Spot { outer_angle, .. }) => value.push(outer_angle),
        _ => {}
    }
}

fn of_camera(scene: &Scene, channel: &Channel, value: &mut Vec<f32>) {
    match (channel.property, scene.cameras[channel.target].projection) {
        (Property::FovY, Projection::Perspective { fov_y }) => value.push(fov_y),
        (Property::HalfHeight, Projection::Orthographic { half_height }) => value.push(half_height),
        _ => {}
    }
}
