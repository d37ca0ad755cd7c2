//! A scene at a time, as a [`Pose`]: the matrix of every node, the weights of every morph target, and
//! everything else that clips animate.

use super::{
    blend::{self, Blend},
    camera::{Camera, Projection},
    clip::{Channel, Property, PropertyOf, UvPart, unit},
    graph::Scene,
    light::{BRIGHTEST_LIGHT, Light, LightKind},
    material::{BRIGHTEST_EMISSION, Material},
    node::Transform,
    texture::{TextureSlot, UvTransform},
};
use glam::{DMat4, DVec3, Mat4, Vec2, Vec3, Vec4};
use std::{
    collections::{BTreeSet, HashMap},
    f32::consts::PI,
};

/// A scene at one moment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pose {
    /// World matrix of each node, in f64. Drawing subtracts an origin near the scene before rounding to f32.
    pub world_from_node: Vec<DMat4>,
    /// Morph weights of each node, one for each target of its mesh.
    pub weights: Vec<Vec<f32>>,
    /// True for each node that is visible together with all its ancestors.
    pub visible: Vec<bool>,
    /// Animated materials, by ascending index. See [`Pose::material`].
    pub materials: Vec<(usize, Material)>,
    /// Animated lights, by ascending index. See [`Pose::light`].
    pub lights: Vec<(usize, Light)>,
    /// Animated cameras, by ascending index. See [`Pose::camera`].
    pub cameras: Vec<(usize, Camera)>,
}

impl Pose {
    /// Hides the meshes of these nodes. Nodes that the scene does not have are ignored.
    pub fn hide(&mut self, nodes: &BTreeSet<usize>) {
        for &node in nodes {
            if let Some(is_visible) = self.visible.get_mut(node) {
                *is_visible = false;
            }
        }
    }

    /// Returns the pose translated by `by` in world space.
    pub fn translated(&self, by: DVec3) -> Self {
        let mut moved = self.clone();
        moved.shift(by);
        moved
    }

    /// Translates the pose by `by` in world space.
    pub(super) fn shift(&mut self, by: DVec3) {
        for matrix in &mut self.world_from_node {
            matrix.w_axis += by.extend(0.0);
        }
    }

    /// Evaluates `clip` at `time_secs`, or returns the rest pose without a clip. The value of the first key
    /// holds before it, and the value of the last key after it.
    pub fn new(scene: &Scene, clip: Option<usize>, time_secs: f32) -> Self {
        Self::blended(scene, clip, &Blend::default(), time_secs)
    }

    /// Evaluates the scene like [`Pose::new`]. If `blend` has clips, they replace `clip`. Its morph weights
    /// apply in either case.
    pub fn blended(scene: &Scene, clip: Option<usize>, blend: &Blend, time_secs: f32) -> Self {
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
        let mut set = |channel: &Channel, value: &[f32]| {
            pose.set(scene, channel, value, &mut transforms, &mut uvs);
        };
        if blend.clips.is_empty() {
            let mut value = Vec::new();
            let channels = clip.and_then(|clip| scene.clips.get(clip));
            for channel in channels.into_iter().flat_map(|clip| &clip.channels) {
                channel.write_value(time_secs, &mut value);
                set(channel, &value);
            }
        } else {
            blend::blended(scene, &blend.clips, time_secs, set);
        }
        for morph in &blend.morphs {
            let weights = pose.weights.get_mut(morph.node);
            if let Some(weight) = weights.and_then(|weights| weights.get_mut(morph.target)) {
                *weight = morph.weight;
            }
        }
        pose.world_from_node.reserve_exact(scene.nodes.len());
        for (index, (node, transform)) in scene.nodes.iter().zip(transforms).enumerate() {
            let parent = node.parent.map(|parent| pose.world_from_node[parent]);
            let world_from_parent = parent.unwrap_or(scene.world_from_file.as_dmat4());
            pose.world_from_node.push(world_from_parent * transform.matrix());
            if let Some(parent) = node.parent {
                pose.visible[index] &= pose.visible[parent];
                if node.instance {
                    pose.weights[index] = pose.weights[parent].clone();
                }
            }
        }
        pose
    }

    fn set(
        &mut self,
        scene: &Scene,
        channel: &Channel,
        value: &[f32],
        transforms: &mut [Transform],
        uvs: &mut Uvs,
    ) {
        match channel.property.of() {
            PropertyOf::Node => self.set_node(channel, value, transforms),
            // A spline may overshoot to infinity.
            _ if value.iter().any(|v| !v.is_finite()) => {}
            PropertyOf::Material => {
                let material = entry(&mut self.materials, channel.target, &scene.materials);
                set_material(material, channel, value, uvs);
            }
            PropertyOf::Light => {
                let light = entry(&mut self.lights, channel.target, &scene.lights);
                set_light(light, channel.property, value);
            }
            PropertyOf::Camera => {
                let camera = entry(&mut self.cameras, channel.target, &scene.cameras);
                set_camera(camera, channel.property, value[0]);
            }
        }
    }

    fn set_node(&mut self, channel: &Channel, value: &[f32], transforms: &mut [Transform]) {
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
                *translation = Vec3::from_slice(value).as_dvec3();
            }
            (Property::Rotation, Transform::Trs { rotation, .. }) => {
                *rotation = unit(Vec4::from_slice(value)).as_dquat();
            }
            (Property::Scale, Transform::Trs { scale, .. }) => {
                *scale = Vec3::from_slice(value).as_dvec3();
            }
            _ => {}
        }
    }

    /// Returns a material of the scene in this pose.
    pub fn material<'a>(&'a self, scene: &'a Scene, index: usize) -> &'a Material {
        moved(&self.materials, index).unwrap_or(&scene.materials[index])
    }

    /// Returns a light of the scene in this pose.
    pub fn light<'a>(&'a self, scene: &'a Scene, index: usize) -> &'a Light {
        moved(&self.lights, index).unwrap_or(&scene.lights[index])
    }

    /// Returns a camera of the scene in this pose.
    pub fn camera<'a>(&'a self, scene: &'a Scene, index: usize) -> &'a Camera {
        moved(&self.cameras, index).unwrap_or(&scene.cameras[index])
    }
}

/// Returns the animated element with this index, if there is one.
fn moved<T>(things: &[(usize, T)], index: usize) -> Option<&T> {
    let at = things.binary_search_by_key(&index, |(of, _)| *of).ok()?;
    Some(&things[at].1)
}

/// Returns the animated element with this index. If it is missing, its rest state is inserted.
fn entry<'a, T: Clone>(things: &'a mut Vec<(usize, T)>, index: usize, rest: &[T]) -> &'a mut T {
    let at = match things.binary_search_by_key(&index, |(of, _)| *of) {
        Ok(at) => at,
        Err(at) => {
            things.insert(at, (index, rest[index].clone()));
            at
        }
    };
    &mut things[at].1
}

/// Texture transforms that a clip animates, by material and slot.
type Uvs = HashMap<(usize, TextureSlot), UvTransform>;

/// Sets a property of a material, clamped to the range that loaders enforce.
fn set_material(material: &mut Material, channel: &Channel, value: &[f32], uvs: &mut Uvs) {
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
            if let Some(texture) = material.texture_mut(slot).filter(|_| texture_from_uv.is_finite()) {
                texture.texture_from_uv = texture_from_uv;
            }
        }
        _ => {}
    }
    if matches!(
        channel.property,
        Property::EmissiveFactor | Property::EmissiveStrength
    ) {
        material.multiply_emission();
    }
}

fn set_light(light: &mut Light, property: Property, value: &[f32]) {
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

fn set_camera(camera: &mut Camera, property: Property, value: f32) {
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

/// Returns the matrices that deform the instance at `node`: the matrix of its node, and the matrices of its
/// joints. The matrices of a hidden instance collapse every vertex to the node's origin, because neither rays
/// nor the rasteriser hit degenerate triangles.
pub fn instance_matrices(scene: &Scene, pose: &Pose, node: usize) -> (Mat4, Option<Vec<Mat4>>) {
    let mut rigid = pose.world_from_node[node].as_mat4();
    let skin = scene.nodes[node].skin;
    let mut joints = skin.map(|skin| joint_matrices(scene, pose, skin));
    if !pose.visible[node] {
        rigid = Mat4::from_cols(Vec4::ZERO, Vec4::ZERO, Vec4::ZERO, rigid.w_axis);
        joints.iter_mut().flatten().for_each(|joint| *joint = rigid);
    }
    (rigid, joints)
}

/// Returns `world_from_mesh` of every joint of a skin: `world_from_joint · joint_from_mesh`.
pub fn joint_matrices(scene: &Scene, pose: &Pose, skin: usize) -> Vec<Mat4> {
    let skin = &scene.skins[skin];
    skin.joints
        .iter()
        .zip(&skin.joint_from_mesh)
        .map(|(&joint, joint_from_mesh)| (pose.world_from_node[joint] * joint_from_mesh.as_dmat4()).as_mat4())
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
