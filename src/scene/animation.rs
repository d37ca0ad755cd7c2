//! Clips to a [`Pose`]: where every node is at a time, and the weights of every morph target.

use super::{Channel, Interpolation, Property, Scene, Transform};
use crate::{Error, Result};
use glam::{Mat4, Quat, Vec3, Vec4};

/// A scene at one moment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pose {
    /// One per node.
    pub world_from_node: Vec<Mat4>,
    /// Morph weights, one list per node: as many as its mesh has targets.
    pub weights: Vec<Vec<f32>>,
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
        let mut transforms: Vec<Transform> = scene.nodes.iter().map(|n| n.transform).collect();
        let mut weights: Vec<Vec<f32>> = scene
            .nodes
            .iter()
            .map(|n| rest_weights(scene, n.mesh, &n.weights))
            .collect();
        for channel in clip
            .and_then(|c| scene.clips.get(c))
            .into_iter()
            .flat_map(|c| &c.channels)
        {
            let value = sample(channel, time_secs);
            if channel.property == Property::Weights {
                let targets = &mut weights[channel.node];
                targets
                    .iter_mut()
                    .zip(value)
                    .for_each(|(weight, value)| *weight = value);
            } else if let Transform::Trs {
                translation,
                rotation,
                scale,
            } = &mut transforms[channel.node]
            {
                match channel.property {
                    Property::Translation => *translation = Vec3::from_slice(&value),
                    Property::Rotation => *rotation = unit(Vec4::from_slice(&value)),
                    Property::Scale => *scale = Vec3::from_slice(&value),
                    Property::Weights => {}
                }
            }
        }
        let mut world_from_node: Vec<Mat4> = Vec::with_capacity(scene.nodes.len());
        for (node, transform) in scene.nodes.iter().zip(transforms) {
            let parent_from_node = match transform {
                Transform::Trs {
                    translation,
                    rotation,
                    scale,
                } => Mat4::from_scale_rotation_translation(scale, rotation, translation),
                Transform::Matrix(matrix) => matrix,
            };
            world_from_node.push(node.parent.map_or(parent_from_node, |parent| {
                world_from_node[parent] * parent_from_node
            }));
        }
        Self {
            world_from_node,
            weights,
        }
    }
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
    let targets = mesh
        .and_then(|m| scene.meshes[m].primitives.first())
        .map_or(0, |p| p.targets.len());
    let mut rest = weights.to_vec();
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
            node: 0,
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
