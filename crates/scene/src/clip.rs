//! Animation clips, and the evaluation of their channels.

use super::texture::{TextureSlot, UvTransform};
use glam::{Quat, Vec4};

/// An animation clip.
#[derive(Debug, Clone, Default)]
pub struct Clip {
    /// Name in the file; may be empty.
    pub name: String,
    /// Animated properties.
    pub channels: Vec<Channel>,
    /// Time of the last key, in seconds.
    pub duration_secs: f32,
}

/// An animated property of one target.
#[derive(Debug, Clone)]
pub struct Channel {
    /// Index of the target. Depending on [`Property::of`], it indexes [`Scene::nodes`](crate::Scene::nodes),
    /// [`Scene::materials`](crate::Scene::materials), [`Scene::lights`](crate::Scene::lights) or
    /// [`Scene::cameras`](crate::Scene::cameras).
    pub target: usize,
    /// Animated property.
    pub property: Property,
    /// Interpolation between keys.
    pub interpolation: Interpolation,
    /// Key times in seconds, strictly increasing, at least one.
    pub times_secs: Vec<f32>,
    /// Values: `components` floats per key, or three times that for cubic splines (in-tangent, value,
    /// out-tangent).
    pub values: Vec<f32>,
    /// Number of floats in a value: the property's number, or one per morph target.
    pub components: usize,
}

/// Interpolation between keys (glTF 2.0, appendix C).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interpolation {
    /// The previous key's value.
    Step,
    /// Linear, spherical for rotations.
    Linear,
    /// Cubic Hermite spline with tangents from the file.
    CubicSpline,
}

/// Property that a channel animates, in the units of its target. Core glTF channels animate translation,
/// rotation, scale and all morph weights. The other properties need KHR_animation_pointer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Property {
    /// Translation of a node: three floats.
    Translation,
    /// Rotation of a node: a quaternion in the order x, y, z, w.
    Rotation,
    /// Scale of a node: three floats.
    Scale,
    /// All morph weights of a node.
    Weights,
    /// One morph weight of a node: a float.
    Weight(usize),
    /// Visibility of a node: a float, 0 if hidden.
    Visible,
    /// Base colour and alpha of a material: four floats.
    BaseColor,
    /// Metalness of a material: a float.
    Metallic,
    /// Perceptual roughness of a material: a float.
    Roughness,
    /// Emission of a material, without its strength: three floats.
    EmissiveFactor,
    /// Emission strength of a material: a float.
    EmissiveStrength,
    /// Alpha cutoff of a material: a float.
    AlphaCutoff,
    /// Scale of a material's normal texture: a float.
    NormalScale,
    /// Strength of a material's occlusion texture: a float.
    OcclusionStrength,
    /// A part of the transform of a material's texture.
    Uv {
        /// Slot of the texture.
        slot: TextureSlot,
        /// Animated part of its transform.
        part: UvPart,
        /// Rest state of the complete transform.
        rest: UvTransform,
    },
    /// Linear colour of a light: three floats.
    LightColor,
    /// Intensity of a light: a float.
    LightIntensity,
    /// Range of a light: a float.
    LightRange,
    /// Inner half angle of a spot light in radians: a float.
    InnerAngle,
    /// Outer half angle of a spot light in radians: a float.
    OuterAngle,
    /// Vertical field of view of a perspective camera in radians: a float.
    FovY,
    /// Half the height of an orthographic camera's view in metres: a float.
    HalfHeight,
}

/// Kind of target that has a property.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PropertyOf {
    /// Property of a node.
    Node,
    /// Property of a material.
    Material,
    /// Property of a light.
    Light,
    /// Property of a camera.
    Camera,
}

impl Property {
    /// Returns the kind of target that has this property.
    pub fn of(self) -> PropertyOf {
        match self {
            Self::Translation
            | Self::Rotation
            | Self::Scale
            | Self::Weights
            | Self::Weight(_)
            | Self::Visible => PropertyOf::Node,
            Self::BaseColor
            | Self::Metallic
            | Self::Roughness
            | Self::EmissiveFactor
            | Self::EmissiveStrength
            | Self::AlphaCutoff
            | Self::NormalScale
            | Self::OcclusionStrength
            | Self::Uv { .. } => PropertyOf::Material,
            Self::LightColor
            | Self::LightIntensity
            | Self::LightRange
            | Self::InnerAngle
            | Self::OuterAngle => PropertyOf::Light,
            Self::FovY | Self::HalfHeight => PropertyOf::Camera,
        }
    }
}

/// A part of [`UvTransform`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields of UvTransform have these names")]
pub enum UvPart {
    Offset,
    Rotation,
    Scale,
}

impl Channel {
    /// Evaluates the channel at a time into `value` (glTF 2.0, appendix C).
    pub(super) fn write_value(&self, time_secs: f32, value: &mut Vec<f32>) {
        value.clear();
        let (times, n) = (&self.times_secs, self.components);
        let cubic = self.interpolation == Interpolation::CubicSpline;
        let stride = if cubic { 3 * n } else { n };
        // A key of a cubic spline holds in-tangent, value and out-tangent.
        let part =
            |key: usize, which: usize| &self.values[key * stride + if cubic { which * n } else { 0 }..][..n];
        let of_key = |key: usize| part(key, 1);
        let next = times.partition_point(|&t| t <= time_secs);
        if next == 0 || next == times.len() {
            return value.extend_from_slice(of_key(next.saturating_sub(1)));
        }
        let key = next - 1;
        let step = times[next] - times[key];
        let t = (time_secs - times[key]) / step;
        match self.interpolation {
            Interpolation::Step => value.extend_from_slice(of_key(key)),
            Interpolation::Linear if self.property == Property::Rotation => {
                let (from, to) = (
                    unit(Vec4::from_slice(of_key(key))),
                    unit(Vec4::from_slice(of_key(next))),
                );
                value.extend(from.slerp(to, t).to_array());
            }
            Interpolation::Linear => {
                let both = of_key(key).iter().zip(of_key(next));
                value.extend(both.map(|(from, to)| from + (to - from) * t));
            }
            Interpolation::CubicSpline => {
                let (t2, t3) = (t * t, t * t * t);
                let hermite = |i: usize| {
                    let (from, leaving) = (of_key(key)[i], step * part(key, 2)[i]);
                    let (to, arriving) = (of_key(next)[i], step * part(next, 0)[i]);
                    (2.0 * t3 - 3.0 * t2 + 1.0) * from
                        + (t3 - 2.0 * t2 + t) * leaving
                        + (3.0 * t2 - 2.0 * t3) * to
                        + (t3 - t2) * arriving
                };
                value.extend((0..n).map(hermite));
            }
        }
    }
}

/// Normalises a quaternion. Returns the identity if it has no direction.
pub(super) fn unit(quaternion: Vec4) -> Quat {
    quaternion.try_normalize().map_or(Quat::IDENTITY, Quat::from_vec4)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(channel: &Channel, time_secs: f32) -> Vec<f32> {
        let mut value = vec![f32::NAN];
        channel.write_value(time_secs, &mut value);
        value
    }

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
    fn step_and_linear_interpolation_match_the_specification() {
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
            assert_eq!(value(&step, time), stepped, "at {time}");
            assert_eq!(value(&linear, time), lined, "at {time}");
        }
    }

    #[test]
    fn rotations_take_the_short_way() {
        let (from, to) = (Quat::IDENTITY, Quat::from_rotation_z(1.0));
        // Negated, which is the same rotation as `to`.
        let values = [from.to_array(), (-to).to_array()].concat();
        let rotation = channel(Property::Rotation, Interpolation::Linear, &values, 4);
        let middle = Quat::from_slice(&value(&rotation, 2.0));
        assert!(
            middle.dot(Quat::from_rotation_z(0.5)).abs() > 1.0 - 1e-6,
            "{middle}"
        );
    }

    #[test]
    fn cubic_splines_scale_tangents_by_the_step() {
        // Keys of in-tangent, value, out-tangent. A spline from 0 to 4 in 2 s that leaves and arrives at a
        // slope of 2 per second is a line.
        let line = channel(
            Property::Weights,
            Interpolation::CubicSpline,
            &[9.0, 0.0, 2.0, 2.0, 4.0, 9.0],
            1,
        );
        // With zero tangents the curve is 3t² − 2t³.
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
            assert_eq!(value(&line, time), [lined], "at {time}");
            assert_eq!(value(&ease, time), [eased], "at {time}");
        }
    }
}
