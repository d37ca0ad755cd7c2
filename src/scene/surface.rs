//! Normals and tangents that a file leaves out.

use super::{MorphTarget, Primitive};
use bevy_mikktspace::{Geometry, TangentSpace, generate_tangents};
use glam::{Vec2, Vec3, Vec4};
use std::collections::HashMap;

/// The most triangles at a vertex for MikkTSpace, which is quadratic in them and recurses over them.
const MAX_VALENCE: u32 = 1024;

/// The unit normal of a triangle, or zero if it has no area.
pub(super) fn face_normal(corners: [Vec3; 3]) -> Vec3 {
    // In f64, where the fourth power of any f32 is in range.
    let [a, b, c] = corners.map(|p| p.as_dvec3());
    (b - a)
        .cross(c - a)
        .try_normalize()
        .map_or(Vec3::ZERO, |n| n.as_vec3())
}

/// Gives every triangle its own vertices and normal (glTF 2.0, 3.7.2.1); morph targets rotate the normals
/// with the triangles.
pub(super) fn flat_normals(primitive: &mut Primitive) {
    unweld(primitive);
    let flat = |at: &dyn Fn(usize) -> Vec3| -> Vec<Vec3> {
        let normals = (0..primitive.indices.len())
            .map(|t| face_normal([at(3 * t), at(3 * t + 1), at(3 * t + 2)]));
        normals
            .map(|n| if n == Vec3::ZERO { Vec3::Y } else { n })
            .flat_map(|n| [n; 3])
            .collect()
    };
    let normals = flat(&|v| primitive.positions[v]);
    let morphed = |target: &MorphTarget| -> Vec<Vec3> {
        if target.positions.is_empty() {
            return Vec::new();
        }
        let turned = flat(&|v| primitive.positions[v] + target.positions[v]);
        turned
            .iter()
            .zip(&normals)
            .map(|(turned, rest)| turned - rest)
            .collect()
    };
    let offsets: Vec<_> = primitive.targets.iter().map(morphed).collect();
    for (target, normals) in primitive.targets.iter_mut().zip(offsets) {
        target.normals = normals;
        target.tangents.clear();
    }
    primitive.normals = normals;
}

/// Area-weighted normals of the vertices of `triangles`; a vertex without area gets +Y.
pub(super) fn smooth_normals(
    positions: &[Vec3],
    triangles: impl Iterator<Item = [u32; 3]>,
) -> Vec<Vec3> {
    // In f64, where the fourth power of any f32 is in range.
    let mut normals = vec![glam::DVec3::ZERO; positions.len()];
    for corners in triangles {
        let [a, b, c] = corners.map(|v| positions[v as usize].as_dvec3());
        let doubled_area = (b - a).cross(c - a);
        for v in corners {
            normals[v as usize] += doubled_area;
        }
    }
    let unit = |n: &glam::DVec3| n.try_normalize().map_or(Vec3::Y, |n| n.as_vec3());
    normals.iter().map(unit).collect()
}

/// Makes corners at the same position refer to the first vertex there, since patches that meet share no
/// vertices in their file.
pub(super) fn weld(positions: &[Vec3], triangles: &mut [[u32; 3]]) {
    let used = triangles.as_flattened_mut();
    let mut first = vec![u32::MAX; positions.len()];
    let mut known: HashMap<[u32; 3], u32> = HashMap::new();
    for vertex in used {
        let place = &mut first[*vertex as usize];
        if *place == u32::MAX {
            // Zeros of both signs are equal.
            let position = positions[*vertex as usize] + Vec3::ZERO;
            let bits = position.to_array().map(f32::to_bits);
            *place = *known.entry(bits).or_insert(*vertex);
        }
        *vertex = *place;
    }
}

/// Normals for the corners of `triangles`: of a `smooth` triangle the area-weighted mean over the triangles
/// around the position whose normals are within `crease_radians` of its own; else the triangle's normal.
pub(super) fn creased_normals(
    positions: &[Vec3],
    triangles: &[[u32; 3]],
    smooth: &[bool],
    crease_radians: f32,
) -> Vec<[Vec3; 3]> {
    let corner = |v: u32| positions[v as usize];
    let units: Vec<Vec3> = triangles
        .iter()
        .map(|t| face_normal(t.map(corner)))
        .collect();
    // Areas only weigh normals at one position against each other, so their scale does not matter.
    let scale = scale_of(positions);
    let area = |t: [u32; 3]| {
        let [a, b, c] = t.map(|v| corner(v) * scale);
        (b - a).cross(c - a).length()
    };
    let weighted: Vec<Vec3> = triangles
        .iter()
        .zip(&units)
        .map(|(t, unit)| *unit * area(*t))
        .collect();
    // Triangles around each position: `around[first[v]..first[v + 1]]`.
    let mut first = vec![0_usize; positions.len() + 1];
    triangles
        .as_flattened()
        .iter()
        .for_each(|&v| first[v as usize + 1] += 1);
    (0..positions.len()).for_each(|v| first[v + 1] += first[v]);
    let mut around = vec![0; triangles.len() * 3];
    let mut next = first.clone();
    for (t, triangle) in triangles.iter().enumerate() {
        for &v in triangle {
            around[next[v as usize]] = t;
            next[v as usize] += 1;
        }
    }
    let least_cosine = crease_radians.cos();
    let normal = |t: usize, v: u32| {
        let (own, neighbours) = (units[t], &around[first[v as usize]..first[v as usize + 1]]);
        let joined = |other: usize| smooth[other] && own.dot(units[other]) >= least_cosine;
        // Comparing all pairs at a position is quadratic, so past some number none is compared.
        if smooth[t] && neighbours.len() <= MAX_VALENCE as usize {
            let sum: Vec3 = neighbours
                .iter()
                .filter(|&&other| joined(other))
                .map(|&other| weighted[other])
                .sum();
            let sum = sum / sum.abs().max_element();
            return sum.try_normalize().unwrap_or(own);
        }
        own
    };
    let or_up = |n: Vec3| if n == Vec3::ZERO { Vec3::Y } else { n };
    triangles
        .iter()
        .enumerate()
        .map(|(t, triangle)| triangle.map(|v| or_up(normal(t, v))))
        .collect()
}

/// Arbitrary tangents at right angles to `normals`, for materials in which they do not matter.
pub(super) fn any_tangents(normals: &[Vec3]) -> Vec<Vec4> {
    normals
        .iter()
        .map(|n| n.any_orthonormal_vector().extend(1.0))
        .collect()
}

/// Sets MikkTSpace's tangents for the texture coordinates `uv_set`. Vertices on a seam of the tangents are
/// split.
pub(super) fn tangents(primitive: &mut Primitive, uv_set: u32) {
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
        let tangent = found
            .truncate()
            .reject_from_normalized(normal)
            .try_normalize();
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

/// The largest number of triangle corners at one position.
fn highest_valence(primitive: &Primitive) -> u32 {
    let mut corners: HashMap<[u32; 3], u32> = HashMap::new();
    for v in primitive.indices.iter().flatten() {
        *corners
            .entry(
                primitive.positions[*v as usize]
                    .to_array()
                    .map(f32::to_bits),
            )
            .or_default() += 1;
    }
    corners.into_values().max().unwrap_or(0)
}

/// The factor that brings positions which are too large to be squared into range; 1 for ordinary ones.
fn scale_of(positions: &[Vec3]) -> f32 {
    let largest = positions
        .iter()
        .fold(0.0_f32, |m, p| m.max(p.abs().max_element()));
    if largest > 1e9 { largest.recip() } else { 1.0 }
}

/// A primitive as MikkTSpace reads it.
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
        // In MikkTSpace v points up, in glTF down.
        let uv = self.uv[self.vertex(face, corner)].clamp(Vec2::splat(-1e9), Vec2::splat(1e9));
        [uv.x, 1.0 - uv.y]
    }

    fn set_tangent(&mut self, space: Option<TangentSpace>, face: usize, corner: usize) {
        self.tangents[face * 3 + corner] = space.unwrap_or_default().tangent_encoded().into();
    }
}

/// Gives every triangle vertices of its own.
fn unweld(primitive: &mut Primitive) {
    let sources = primitive.indices.as_flattened().to_vec();
    gather(primitive, &sources);
    primitive.indices = (0..sources.len() as u32 / 3)
        .map(|t| [3 * t, 3 * t + 1, 3 * t + 2])
        .collect();
}

/// Replaces the vertices of all attributes by copies of those at `sources`; `indices` do not change.
fn gather(primitive: &mut Primitive, sources: &[u32]) {
    fn pick<T: Copy>(stream: &mut Vec<T>, sources: &[u32], per_vertex: usize) {
        if !stream.is_empty() {
            *stream = sources
                .iter()
                .flat_map(|&v| &stream[v as usize * per_vertex..][..per_vertex])
                .copied()
                .collect();
        }
    }
    let influences = primitive.influences_per_vertex;
    pick(&mut primitive.positions, sources, 1);
    pick(&mut primitive.normals, sources, 1);
    pick(&mut primitive.tangents, sources, 1);
    pick(&mut primitive.uv0, sources, 1);
    pick(&mut primitive.uv1, sources, 1);
    pick(&mut primitive.colors, sources, 1);
    pick(&mut primitive.joints, sources, influences);
    pick(&mut primitive.joint_weights, sources, influences);
    for target in &mut primitive.targets {
        pick(&mut target.positions, sources, 1);
        pick(&mut target.normals, sources, 1);
        pick(&mut target.tangents, sources, 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A fan of `count` triangles about the origin, with texture coordinates.
    fn fan(count: u32) -> Primitive {
        let rim = (0..count)
            .map(|i| i as f32 / count as f32 * std::f32::consts::TAU)
            .map(|a| Vec3::new(a.cos(), a.sin(), 0.0));
        let positions: Vec<Vec3> = std::iter::once(Vec3::ZERO).chain(rim).collect();
        Primitive {
            normals: vec![Vec3::Z; positions.len()],
            uv0: positions.iter().map(|p| p.truncate()).collect(),
            indices: (0..count)
                .map(|i| [0, i + 1, (i + 1) % count + 1])
                .collect(),
            positions,
            ..Primitive::default()
        }
    }

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
    fn tangents_keep_vertices_that_agree() {
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
    fn tangents_split_vertices_on_a_mirror_line() {
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

    #[test]
    fn flat_normals_turn_with_targets() {
        let mut primitive = fan(3);
        let lift = |p: &Vec3| {
            if *p == Vec3::ZERO {
                Vec3::Z
            } else {
                Vec3::ZERO
            }
        };
        primitive.targets = vec![MorphTarget {
            positions: primitive.positions.iter().map(lift).collect(),
            ..MorphTarget::default()
        }];
        flat_normals(&mut primitive);
        assert_eq!(primitive.positions.len(), 9);
        for (vertex, offset) in primitive.targets[0].normals.iter().enumerate() {
            let turned = primitive.normals[vertex] + offset;
            assert!(
                (turned.length() - 1.0).abs() < 1e-5 && turned.z < 0.9,
                "{turned}"
            );
        }
    }

    #[test]
    fn smooth_normals_are_weighted_by_area() {
        let positions = [
            Vec3::ZERO,
            Vec3::X,
            Vec3::Y,
            Vec3::X * 1e-20,
            Vec3::Z * 1e30,
        ];
        let normals = smooth_normals(&positions, [[0, 1, 2], [0, 3, 1]].into_iter());
        assert_eq!(normals[..3], [Vec3::Z; 3]);
        assert_eq!(normals[4], Vec3::Y);
        assert_eq!(
            face_normal([Vec3::ZERO, Vec3::X * 1e-30, Vec3::Y * 1e-30]),
            Vec3::Z
        );
        assert_eq!(face_normal([Vec3::ZERO, Vec3::X, Vec3::X]), Vec3::ZERO);
    }
}
