//! Clips to a [`Pose`]: where every node is at a time, and the weights of every morph target.

use super::{
    Camera, Channel, Interpolation, Light, LightKind, Material, Projection, Property, PropertyOf,
    Scene, TextureSlot, Transform, UvPart, UvTransform,
};
use crate::{Error, Result};
use glam::{Mat4, Quat, Vec2, Vec3, Vec4};
use std::{collections::HashMap, f32::consts::PI};

/// The brightest emission that is taken at its word: products with more leave the range of f32.
pub(super) const BRIGHTEST_EMISSION: f32 = 1e9;

/// The same of a light's colour and intensity.
pub(super) const BRIGHTEST_LIGHT: f32 = 1e30;

/// A scene at one moment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pose {
    /// One per node.
    pub world_from_node: Vec<Mat4>,
    /// Morph weights, one list per node: as many as its mesh has targets.
    pub weights: Vec<Vec<f32>>,
    /// Whether each node shows, and all above it do.
    pub visible: Vec<bool>,
    /// Materials that the clip moves, by rising index; see [`Pose::material`].
    pub materials: Vec<(usize, Material)>,
    /// Lights that the clip moves; see [`Pose::light`].
    pub lights: Vec<(usize, Light)>,
    /// Cameras that the clip moves; see [`Pose::camera`].
    pub cameras: Vec<(usize, Camera)>,
}

impl Pose {
    /// The same moment elsewhere.
    pub fn moved(&self, by: Vec3) -> Self {
        let mut moved = self.clone();
        for matrix in &mut moved.world_from_node {
            matrix.w_axis += by.extend(0.0);
        }
        moved
    }

    /// The scene with `clip` at `time_secs` (before the first key its value, after the last the last's), or at rest.
    pub fn new(scene: &Scene, clip: Option<usize>, time_secs: f32) -> Self {
        let mut pose = Self {
            weights: scene
                .nodes
                .iter()
                .map(|n| rest_weights(scene, n.mesh, &n.weights))
                .collect(),
            visible: scene.nodes.iter().map(|n| n.visible).collect(),
            ..Self::default()
        };
        let mut transforms: Vec<Transform> = scene.nodes.iter().map(|n| n.transform).collect();
        let mut uvs = Uvs::new();
        for channel in clip
            .and_then(|c| scene.clips.get(c))
            .into_iter()
            .flat_map(|c| &c.channels)
        {
            let value = sample(channel, time_secs);
            match channel.property.of() {
                PropertyOf::Node => pose.move_node(channel, &value, &mut transforms),
                // What a spline may overshoot to is no factor.
                _ if value.iter().any(|v| !v.is_finite()) => {}
                PropertyOf::Material => {
                    let material = entry(&mut pose.materials, channel.target, &scene.materials);
                    move_material(material, channel, &value, &mut uvs);
                }
                PropertyOf::Light => {
                    let light = entry(&mut pose.lights, channel.target, &scene.lights);
                    move_light(light, channel.property, &value);
                }
                PropertyOf::Camera => {
                    let camera = entry(&mut pose.cameras, channel.target, &scene.cameras);
                    move_camera(camera, channel.property, value[0]);
                }
            }
        }
        pose.world_from_node.reserve_exact(scene.nodes.len());
        for (index, (node, transform)) in scene.nodes.iter().zip(transforms).enumerate() {
            let parent_from_node = match transform {
                Transform::Trs {
                    translation,
                    rotation,
                    scale,
                } => Mat4::from_scale_rotation_translation(scale, rotation, translation),
                Transform::Matrix(matrix) => matrix,
            };
            let world_from_node = node.parent.map_or(parent_from_node, |parent| {
                pose.world_from_node[parent] * parent_from_node
            });
            pose.world_from_node.push(world_from_node);
            if let Some(parent) = node.parent {
                pose.visible[index] &= pose.visible[parent];
                if node.instance {
                    pose.weights[index] = pose.weights[parent].clone();
                }
            }
        }
        pose
    }

    fn move_node(&mut self, channel: &Channel, value: &[f32], transforms: &mut [Transform]) {
        let node = channel.target;
        match (channel.property, &mut transforms[node]) {
            (Property::Weights, _) => {
                for (weight, value) in self.weights[node].iter_mut().zip(value) {
                    *weight = *value;
                }
            }
            (Property::Weight(index), _) => {
                if let Some(weight) = self.weights[node].get_mut(index) {
                    *weight = value[0];
                }
            }
            (Property::Visible, _) => self.visible[node] = value[0] != 0.0,
            (Property::Translation, Transform::Trs { translation, .. }) => {
                *translation = Vec3::from_slice(value);
            }
            (Property::Rotation, Transform::Trs { rotation, .. }) => {
                *rotation = unit(Vec4::from_slice(value));
            }
            (Property::Scale, Transform::Trs { scale, .. }) => *scale = Vec3::from_slice(value),
            _ => {}
        }
    }

    /// A material of the scene as it is now.
    pub fn material<'a>(&'a self, scene: &'a Scene, index: usize) -> &'a Material {
        moved(&self.materials, index).unwrap_or(&scene.materials[index])
    }

    /// A light of the scene as it is now.
    pub fn light<'a>(&'a self, scene: &'a Scene, index: usize) -> &'a Light {
        moved(&self.lights, index).unwrap_or(&scene.lights[index])
    }

    /// A camera of the scene as it is now.
    pub fn camera<'a>(&'a self, scene: &'a Scene, index: usize) -> &'a Camera {
        moved(&self.cameras, index).unwrap_or(&scene.cameras[index])
    }
}

/// The thing of this index, if a clip moves it.
fn moved<T>(things: &[(usize, T)], index: usize) -> Option<&T> {
    let place = things.binary_search_by_key(&index, |(of, _)| *of).ok()?;
    Some(&things[place].1)
}

/// The thing of this index, to be moved; at first as it is at rest.
fn entry<'a, T: Clone>(things: &'a mut Vec<(usize, T)>, index: usize, rest: &[T]) -> &'a mut T {
    let place = match things.binary_search_by_key(&index, |(of, _)| *of) {
        Ok(place) => place,
        Err(place) => {
            things.insert(place, (index, rest[index].clone()));
            place
        }
    };
    &mut things[place].1
}

/// Texture placements that a clip moves: each by its material and slot.
type Uvs = HashMap<(usize, TextureSlot), UvTransform>;

/// Moves a property of a material, within the range that loaders hold it to.
fn move_material(material: &mut Material, channel: &Channel, value: &[f32], uvs: &mut Uvs) {
    match channel.property {
        Property::BaseColor => {
            material.base_color = Vec4::from_slice(value).clamp(Vec4::ZERO, Vec4::ONE);
        }
        Property::Metallic => material.metallic = value[0].clamp(0.0, 1.0),
        Property::Roughness => material.roughness = value[0].clamp(0.0, 1.0),
        Property::EmissiveFactor => material.emissive_factor = Vec3::from_slice(value),
        Property::EmissiveStrength => {
            material.emissive_strength = value[0].clamp(0.0, BRIGHTEST_EMISSION);
        }
        Property::AlphaCutoff => material.alpha_cutoff = value[0].clamp(0.0, BRIGHTEST_EMISSION),
        Property::NormalScale => {
            material.normal_scale = value[0].clamp(-BRIGHTEST_EMISSION, BRIGHTEST_EMISSION);
        }
        Property::OcclusionStrength => material.occlusion_strength = value[0].clamp(0.0, 1.0),
        Property::Uv { slot, part, rest } => {
            let uv = uvs.entry((channel.target, slot)).or_insert(rest);
            match part {
                UvPart::Offset => uv.offset = Vec2::from_slice(value),
                UvPart::Rotation => uv.rotation = value[0],
                UvPart::Scale => uv.scale = Vec2::from_slice(value),
            }
            let texture_from_uv = uv.matrix();
            if let Some(texture) = material
                .texture_mut(slot)
                .filter(|_| texture_from_uv.is_finite())
            {
                texture.texture_from_uv = texture_from_uv;
            }
        }
        _ => {}
    }
    if matches!(
        channel.property,
        Property::EmissiveFactor | Property::EmissiveStrength
    ) {
        let emissive = material.emissive_factor * material.emissive_strength;
        material.emissive = emissive.clamp(Vec3::ZERO, Vec3::splat(BRIGHTEST_EMISSION));
    }
}

fn move_light(light: &mut Light, property: Property, value: &[f32]) {
    match (property, light.kind) {
        (Property::LightColor, _) => {
            let color = Vec3::from_slice(value);
            light.color = color.clamp(Vec3::ZERO, Vec3::splat(BRIGHTEST_LIGHT));
        }
        (Property::LightIntensity, _) => light.intensity = value[0].clamp(0.0, BRIGHTEST_LIGHT),
        (Property::LightRange, _) => light.range = Some(value[0]).filter(|range| *range > 0.0),
        (Property::InnerAngle, LightKind::Spot { outer_angle, .. }) => {
            light.kind = LightKind::spot(value[0], outer_angle);
        }
        (Property::OuterAngle, LightKind::Spot { inner_angle, .. }) => {
            light.kind = LightKind::spot(inner_angle, value[0]);
        }
        _ => {}
    }
}

fn move_camera(camera: &mut Camera, property: Property, value: f32) {
    match (property, &mut camera.projection) {
        (Property::FovY, Projection::Perspective { fov_y }) if value > 0.0 && value < PI => {
            *fov_y = value;
        }
        (Property::HalfHeight, Projection::Orthographic { half_height }) if value != 0.0 => {
            *half_height = value.abs();
        }
        _ => {}
    }
}

/// The matrices that deform the instance at `node`: its node's, and those of its joints. Where it does not show they take every vertex to one
/// point, the node's origin: neither rays nor the rasteriser find triangles without area.
pub fn instance_matrices(scene: &Scene, pose: &Pose, node: usize) -> (Mat4, Option<Vec<Mat4>>) {
    let mut rigid = pose.world_from_node[node];
    let skin = scene.nodes[node].skin;
    let mut joints = skin.map(|skin| joint_matrices(scene, pose, skin));
    if !pose.visible[node] {
        rigid = Mat4::from_cols(Vec4::ZERO, Vec4::ZERO, Vec4::ZERO, rigid.w_axis);
        joints.iter_mut().flatten().for_each(|joint| *joint = rigid);
    }
    (rigid, joints)
}

/// `world_from_mesh` of every joint of a skin: `world_from_joint · joint_from_mesh`.
pub fn joint_matrices(scene: &Scene, pose: &Pose, skin: usize) -> Vec<Mat4> {
    let skin = &scene.skins[skin];
    skin.joints
        .iter()
        .zip(&skin.joint_from_mesh)
        .map(|(&joint, &joint_from_mesh)| pose.world_from_node[joint] * joint_from_mesh)
        .collect()
}

fn rest_weights(scene: &Scene, mesh: Option<usize>, weights: &[f32]) -> Vec<f32> {
    let mut rest = weights.to_vec();
    let Some(mesh) = mesh else { return rest };
    let primitive = scene.meshes[mesh].primitives.first();
    let targets = primitive.map_or(0, |p| p.targets.len());
    rest.resize(targets, 0.0);
    rest
}

fn unit(quaternion: Vec4) -> Quat {
    quaternion
        .try_normalize()
        .map_or(Quat::IDENTITY, Quat::from_vec4)
}

/// The value of a channel at a time (glTF 2.0, appendix C).
fn sample(channel: &Channel, time_secs: f32) -> Vec<f32> {
    let (times, n) = (&channel.times_secs, channel.components);
    let cubic = channel.interpolation == Interpolation::CubicSpline;
    let stride = if cubic { 3 * n } else { n };
    // A cubic spline's key holds in-tangent, value and out-tangent.
    let part = |key: usize, which: usize| {
        &channel.values[key * stride + if cubic { which * n } else { 0 }..][..n]
    };
    let value = |key: usize| part(key, 1);
    let next = times.partition_point(|&t| t <= time_secs);
    if next == 0 || next == times.len() {
        return value(next.saturating_sub(1)).to_vec();
    }
    let key = next - 1;
    let step = times[next] - times[key];
    let t = (time_secs - times[key]) / step;
    match channel.interpolation {
        Interpolation::Step => value(key).to_vec(),
        Interpolation::Linear if channel.property == Property::Rotation => {
            let (from, to) = (
                unit(Vec4::from_slice(value(key))),
                unit(Vec4::from_slice(value(next))),
            );
            from.slerp(to, t).to_array().to_vec()
        }
        Interpolation::Linear => value(key)
            .iter()
            .zip(value(next))
            .map(|(from, to)| from + (to - from) * t)
            .collect(),
        Interpolation::CubicSpline => {
            let (t2, t3) = (t * t, t * t * t);
            let hermite = |i: usize| {
                let (from, leaving) = (value(key)[i], step * part(key, 2)[i]);
                let (to, arriving) = (value(next)[i], step * part(next, 0)[i]);
                (2.0 * t3 - 3.0 * t2 + 1.0) * from
                    + (t3 - 2.0 * t2 + t) * leaving
                    + (3.0 * t2 - 2.0 * t3) * to
                    + (t3 - t2) * arriving
            };
            (0..n).map(hermite).collect()
        }
    }
}

impl Scene {
    /// The clip that a person means by `name`: a name, or a number from 0. `none` is the rest pose, and so is `0` in a scene
    /// without clips.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`], listing the clips there are.
    pub fn clip(&self, name: &str) -> Result<Option<usize>> {
        if name == "none" || (name == "0" && self.clips.is_empty()) {
            return Ok(None);
        }
        let names: Vec<&str> = self.clips.iter().map(|c| c.name.as_str()).collect();
        choose("clip", name, &names).map(Some)
    }

    /// The camera that a person means by `name`: a name, or a number from 0. An empty name is no camera of the file.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`], listing the cameras there are.
    pub fn camera(&self, name: &str) -> Result<Option<usize>> {
        if name.is_empty() {
            return Ok(None);
        }
        let names: Vec<&str> = self.cameras.iter().map(|c| c.name.as_str()).collect();
        choose("camera", name, &names).map(Some)
    }

    /// The variant that a person means by `name`: a name, or a number from 0. An empty name is none.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`], listing the variants there are.
    pub fn variant(&self, name: &str) -> Result<Option<usize>> {
        if name.is_empty() {
            return Ok(None);
        }
        let names: Vec<&str> = self.variants.iter().map(String::as_str).collect();
        choose("variant", name, &names).map(Some)
    }
}

/// The place of `name` in `names`: as a name first, then as a number.
fn choose(kind: &str, name: &str, names: &[&str]) -> Result<usize> {
    let by_number = || name.parse().ok().filter(|&n| n < names.len());
    names
        .iter()
        .position(|n| *n == name)
        .or_else(by_number)
        .ok_or_else(|| {
            let listed: Vec<String> = names
                .iter()
                .enumerate()
                .map(|(i, n)| format!("{i} \"{n}\""))
                .collect();
            let has = if listed.is_empty() {
                "none".into()
            } else {
                listed.join(", ")
            };
            Error::NotFound(format!("no {kind} \"{name}\"; the scene has {has}"))
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::Property;

    fn channel(
        property: Property,
        interpolation: Interpolation,
        values: &[f32],
        components: usize,
    ) -> Channel {
        Channel {
            target: 0,
            property,
            interpolation,
            times_secs: vec![1.0, 3.0],
            values: values.to_vec(),
            components,
        }
    }

    #[test]
    fn steps_and_lines() {
        let values = [0.0, 10.0, 4.0, 30.0];
        let step = channel(Property::Weights, Interpolation::Step, &values, 2);
        let linear = channel(Property::Weights, Interpolation::Linear, &values, 2);
        for (time, stepped, lined) in [
            (0.0, [0.0, 10.0], [0.0, 10.0]),
            (1.0, [0.0, 10.0], [0.0, 10.0]),
            (1.5, [0.0, 10.0], [1.0, 15.0]),
            (3.0, [4.0, 30.0], [4.0, 30.0]),
            (f32::INFINITY, [4.0, 30.0], [4.0, 30.0]),
        ] {
            assert_eq!(sample(&step, time), stepped, "at {time}");
            assert_eq!(sample(&linear, time), lined, "at {time}");
        }
    }

    #[test]
    fn rotations_take_the_short_way() {
        let (from, to) = (Quat::IDENTITY, Quat::from_rotation_z(1.0));
        // The same rotation as `to`, written from the other side.
        let values = [from.to_array(), (-to).to_array()].concat();
        let rotation = channel(Property::Rotation, Interpolation::Linear, &values, 4);
        let middle = Quat::from_slice(&sample(&rotation, 2.0));
        assert!(
            middle.dot(Quat::from_rotation_z(0.5)).abs() > 1.0 - 1e-6,
            "{middle}"
        );
    }

    #[test]
    fn cubic_splines_scale_tangents_by_the_step() {
        // Keys of in-tangent, value, out-tangent. Leaving at 2 a second and arriving at 2 a second from 0 to 4 in 2 s is a line.
        let line = channel(
            Property::Weights,
            Interpolation::CubicSpline,
            &[9.0, 0.0, 2.0, 2.0, 4.0, 9.0],
            1,
        );
        // Without tangents it is 3t² − 2t³ of the way.
        let ease = channel(
            Property::Weights,
            Interpolation::CubicSpline,
            &[0.0, 0.0, 0.0, 0.0, 4.0, 0.0],
            1,
        );
        for (time, lined, eased) in [
            (0.0, 0.0, 0.0),
            (1.0, 0.0, 0.0),
            (1.5, 1.0, 0.625),
            (2.0, 2.0, 2.0),
            (4.0, 4.0, 4.0),
        ] {
            assert_eq!(sample(&line, time), [lined], "at {time}");
            assert_eq!(sample(&ease, time), [eased], "at {time}");
        }
    }
}
