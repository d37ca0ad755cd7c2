//! Reads vertex attributes of every component type.

use super::reader::PrimitiveReader;
use crate::{
    Result,
    gltf::accessor::{ANY, UNSIGNED},
    load::{Budget, Load},
    mesh::{Primitive, Shading},
    surface,
};
use ::gltf::json::{
    accessor::{ComponentType, Type},
    mesh::Semantic,
};
use glam::{Vec2, Vec3, Vec4};

impl PrimitiveReader<'_> {
    /// Reads a set of texture coordinates. The result is empty if the file has none.
    pub(super) fn texture_coordinates(
        &self,
        set: u32,
        sources: &[u32],
        count: Option<usize>,
    ) -> Result<Vec<Vec2>> {
        let Some(accessor) = self.attribute(Semantic::TexCoords(set), &[Type::Vec2], &ANY, count)? else {
            return Ok(Vec::new());
        };
        let read = |&v: &u32| {
            let uv = Vec2::from(accessor.floats(v as usize));
            if !uv.is_finite() {
                self.warn("has texture coordinates that are not finite; they become 0");
                return Vec2::ZERO;
            }
            uv
        };
        Ok(sources.iter().map(read).collect())
    }

    /// Reads vertex colours, if the file has them.
    pub(super) fn colors(
        &self,
        primitive: &mut Primitive,
        sources: &[u32],
        count: Option<usize>,
    ) -> Result<()> {
        let Some(accessor) = self.attribute(Semantic::Colors(0), &[Type::Vec3, Type::Vec4], &ANY, count)?
        else {
            return Ok(());
        };
        let accessor = accessor.normalized();
        let opaque = accessor.components == 3;
        let read = |&v: &u32| {
            let [r, g, b, a] = accessor.floats(v as usize);
            let color = Vec4::new(r, g, b, if opaque { 1.0 } else { a });
            if !color.is_finite() {
                self.warn("has vertex colours that are not finite; they become white");
                return Vec4::ONE;
            }
            color.max(Vec4::ZERO)
        };
        primitive.colors = sources.iter().map(read).collect();
        Ok(())
    }

    /// Reads joints and their weights, if the file has them.
    pub(super) fn joints(
        &self,
        primitive: &mut Primitive,
        sources: &[u32],
        count: Option<usize>,
        load: &mut Load<'_>,
    ) -> Result<()> {
        let mut sets = Vec::new();
        let weight_types = [ComponentType::F32, ComponentType::U8, ComponentType::U16];
        for set in 0.. {
            let joints = self.attribute(Semantic::Joints(set), &[Type::Vec4], &UNSIGNED, count)?;
            let weights = self.attribute(Semantic::Weights(set), &[Type::Vec4], &weight_types, count)?;
            match (joints, weights) {
                (Some(joints), Some(weights)) => sets.push((joints, weights.normalized())),
                (None, None) => break,
                _ => {
                    self.warn(&format!(
                        "has only one of JOINTS_{set} and WEIGHTS_{set}; it is ignored"
                    ));
                    break;
                }
            }
        }
        let per_vertex = 4 * sets.len();
        if per_vertex == 0 {
            return Ok(());
        }
        let bytes = sources.len() as u64 * per_vertex as u64 * 8;
        load.take(Budget::AnimationBytes, bytes, || {
            format!("{}: joints", self.full_name())
        })?;
        for &vertex in sources {
            let first = primitive.joints.len();
            for (joints, weights) in &sets {
                primitive.joints.extend(joints.integers::<4>(vertex as usize));
                primitive
                    .joint_weights
                    .extend(weights.floats::<4>(vertex as usize));
            }
            if !normalise_weights(
                &mut primitive.joints[first..],
                &mut primitive.joint_weights[first..],
            ) {
                self.warn(
                    "has joint weights that do not sum to a positive number; the first joint gets a weight \
                     of 1",
                );
            }
        }
        primitive.influences_per_vertex = per_vertex;
        Ok(())
    }

    /// Reads normals, and tangents if the file has normals and tangents.
    pub(super) fn normals(
        &self,
        primitive: &mut Primitive,
        sources: &[u32],
        count: Option<usize>,
    ) -> Result<()> {
        let normals = self.attribute(Semantic::Normals, &[Type::Vec3], &ANY, count)?;
        let tangents = self.attribute(Semantic::Tangents, &[Type::Vec4], &ANY, count)?;
        let Some(normals) = normals else {
            if primitive.indices.is_empty() {
                primitive.normals = vec![Vec3::Y; primitive.positions.len()];
                primitive.shading = Shading::Unlit;
            } else {
                surface::flat_normals(primitive);
            }
            return Ok(());
        };
        if primitive.indices.is_empty() && tangents.is_none() {
            primitive.shading = Shading::Plain;
        }
        primitive.normals = sources
            .iter()
            .map(|&v| unit(Vec3::from(normals.floats(v as usize))))
            .collect();
        if primitive.normals.contains(&Vec3::ZERO) {
            self.warn("has normals without direction; canopy makes them from the triangles");
            let smooth = surface::smooth_normals(&primitive.positions, primitive.indices.iter().copied());
            for (normal, smooth) in primitive.normals.iter_mut().zip(smooth) {
                if *normal == Vec3::ZERO {
                    *normal = smooth;
                }
            }
        }
        if let Some(tangents) = tangents {
            let read = |(&v, normal): (&u32, &Vec3)| {
                let tangent = Vec4::from(tangents.floats(v as usize));
                let direction = unit(tangent.truncate());
                let direction = if direction == Vec3::ZERO {
                    normal.any_orthonormal_vector()
                } else {
                    direction
                };
                direction.extend(if tangent.w < 0.0 { -1.0 } else { 1.0 })
            };
            primitive.tangents = sources.iter().zip(&primitive.normals).map(read).collect();
        }
        Ok(())
    }
}

/// Normalises `v`. Returns zero if it has no direction.
fn unit(v: Vec3) -> Vec3 {
    // Scaled first, because the square of a very large or tiny f32 overflows or underflows.
    let scale = v.abs().max_element();
    if v.is_finite() && scale > 0.0 {
        (v / scale).normalize_or_zero()
    } else {
        Vec3::ZERO
    }
}

/// Scales the weights of a vertex so that they sum to 1. Returns false if they are all zero. A joint without
/// weight becomes joint 0, since files may have any number there.
fn normalise_weights(joints: &mut [u32], weights: &mut [f32]) -> bool {
    let finite = weights.iter().all(|w| w.is_finite());
    weights.iter_mut().for_each(|w| *w = w.max(0.0));
    let sum: f32 = weights.iter().sum();
    let sound = finite && sum > 0.0 && sum.is_finite();
    if sound {
        weights.iter_mut().for_each(|w| *w /= sum);
    } else {
        weights.fill(0.0);
        weights[0] = 1.0;
    }
    for (joint, weight) in joints.iter_mut().zip(weights) {
        if *weight == 0.0 {
            *joint = 0;
        }
    }
    sound
}
