//! Computation of tangents that a file does not have.

use super::vertices::{MAX_VALENCE, gather, scale_of};
use crate::mesh::Primitive;
use bevy_mikktspace::{Geometry, TangentSpace, generate_tangents};
use glam::{Vec2, Vec3, Vec4};
use std::collections::HashMap;

/// Returns arbitrary tangents perpendicular to `normals`, for materials that do not depend on them.
pub(crate) fn any_tangents(normals: &[Vec3]) -> Vec<Vec4> {
    normals
        .iter()
        .map(|n| n.any_orthonormal_vector().extend(1.0))
        .collect()
}

/// Sets MikkTSpace tangents for the texture coordinates `uv_set`. Vertices on a seam of the tangents are
/// split.
pub(crate) fn tangents(primitive: &mut Primitive, uv_set: u32) {
    let uv = if uv_set == 0 {
        &primitive.uv0
    } else {
        &primitive.uv1
    };
    if uv.is_empty() || highest_valence(primitive) > MAX_VALENCE {
        primitive.tangents = any_tangents(&primitive.normals);
        return;
    }
    let mut corners = Corners {
        primitive,
        uv,
        tangents: vec![Vec4::ZERO; primitive.indices.len() * 3],
        scale: scale_of(&primitive.positions),
    };
    if generate_tangents(&mut corners).is_err() {
        primitive.tangents = any_tangents(&primitive.normals);
        return;
    }
    let corner_tangents = corners.tangents;
    let mut known: HashMap<(u32, [u32; 4]), u32> = HashMap::new();
    let mut sources = Vec::new();
    let mut tangents = Vec::new();
    let mut indices = primitive.indices.clone();
    for (vertex, found) in indices.iter_mut().flatten().zip(&corner_tangents) {
        let normal = primitive.normals[*vertex as usize];
        let tangent = found.truncate().reject_from_normalized(normal).try_normalize();
        let tangent = tangent
            .unwrap_or_else(|| normal.any_orthonormal_vector())
            .extend(if found.w < 0.0 { -1.0 } else { 1.0 });
        *vertex = *known
            .entry((*vertex, tangent.to_array().map(f32::to_bits)))
            .or_insert_with(|| {
                sources.push(*vertex);
                tangents.push(tangent);
                sources.len() as u32 - 1
            });
    }
    gather(primitive, &sources);
    primitive.indices = indices;
    primitive.tangents = tangents;
}

/// Returns the largest number of triangle corners at one position.
fn highest_valence(primitive: &Primitive) -> u32 {
    let mut corners: HashMap<[u32; 3], u32> = HashMap::new();
    for v in primitive.indices.iter().flatten() {
        *corners
            .entry(primitive.positions[*v as usize].to_array().map(f32::to_bits))
            .or_default() += 1;
    }
    corners.into_values().max().unwrap_or(0)
}

/// Adapter of a primitive for MikkTSpace.
struct Corners<'a> {
    primitive: &'a Primitive,
    uv: &'a [Vec2],
    tangents: Vec<Vec4>,
    scale: f32,
}

impl Corners<'_> {
    fn vertex(&self, face: usize, corner: usize) -> usize {
        self.primitive.indices[face][corner] as usize
    }
}

impl Geometry for Corners<'_> {
    fn num_faces(&self) -> usize {
        self.primitive.indices.len()
    }

    fn num_vertices_of_face(&self, _face: usize) -> usize {
        3
    }

    fn position(&self, face: usize, corner: usize) -> [f32; 3] {
        (self.primitive.positions[self.vertex(face, corner)] * self.scale).to_array()
    }

    fn normal(&self, face: usize, corner: usize) -> [f32; 3] {
        self.primitive.normals[self.vertex(face, corner)].to_array()
    }

    fn tex_coord(&self, face: usize, corner: usize) -> [f32; 2] {
        // In MikkTSpace v points up, in glTF it points down.
        let uv = self.uv[self.vertex(face, corner)].clamp(Vec2::splat(-1e9), Vec2::splat(1e9));
        [uv.x, 1.0 - uv.y]
    }

    fn set_tangent(&mut self, space: Option<TangentSpace>, face: usize, corner: usize) {
        self.tangents[face * 3 + corner] = space.unwrap_or_default().tangent_encoded().into();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MorphTarget, surface::vertices::fan};

    fn sound(primitive: &Primitive) {
        assert_eq!(primitive.tangents.len(), primitive.positions.len());
        for (tangent, normal) in primitive.tangents.iter().zip(&primitive.normals) {
            assert!(
                (tangent.truncate().length() - 1.0).abs() < 1e-5
                    && tangent.truncate().dot(*normal).abs() < 1e-5,
                "{tangent}"
            );
        }
    }

    #[test]
    fn vertices_with_equal_tangents_are_not_split() {
        let mut primitive = fan(12);
        tangents(&mut primitive, 0);
        sound(&primitive);
        assert_eq!(primitive.positions.len(), 13);
        assert!(
            primitive
                .tangents
                .iter()
                .all(|t| t.truncate().abs_diff_eq(Vec3::X, 1e-5))
        );
    }

    #[test]
    fn vertices_on_a_mirror_seam_are_split() {
        let mut primitive = fan(4);
        primitive.uv0 = primitive
            .positions
            .iter()
            .map(|p| Vec2::new(p.x.abs(), p.y))
            .collect();
        primitive.influences_per_vertex = 4;
        primitive.joints = (0..20).collect();
        primitive.joint_weights = vec![0.25; 20];
        primitive.targets = vec![MorphTarget {
            positions: primitive.positions.clone(),
            ..MorphTarget::default()
        }];
        tangents(&mut primitive, 0);
        sound(&primitive);
        assert_eq!(
            primitive.positions.len(),
            8,
            "the centre and the two ends of the line are doubled"
        );
        for (vertex, position) in primitive.positions.iter().enumerate() {
            assert_eq!(primitive.targets[0].positions[vertex], *position);
            assert_eq!(primitive.joints[vertex * 4] % 4, 0);
        }
        assert_eq!(primitive.joints.len(), 32);
    }

    #[test]
    fn tangents_survive_bad_geometry() {
        for spoil in [
            |p: &mut Primitive| p.uv0.fill(Vec2::ZERO),
            |p: &mut Primitive| p.positions.fill(Vec3::ONE),
            |p: &mut Primitive| p.positions.iter_mut().for_each(|p| *p *= 1e38),
            |p: &mut Primitive| p.positions.iter_mut().for_each(|p| *p *= 1e-38),
            |p: &mut Primitive| p.uv0.iter_mut().for_each(|uv| *uv *= 1e38),
            |p: &mut Primitive| p.indices.fill([0, 1, 2]),
            |p: &mut Primitive| p.indices.fill([3, 3, 3]),
            |p: &mut Primitive| p.indices.clear(),
        ] {
            let mut primitive = fan(40);
            spoil(&mut primitive);
            tangents(&mut primitive, 0);
            sound(&primitive);
        }
        let mut large = fan(200_000);
        tangents(&mut large, 0);
        sound(&large);
    }
}
