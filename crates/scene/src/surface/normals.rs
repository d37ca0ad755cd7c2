//! Computation of normals that a file does not have.

use super::vertices::{MAX_VALENCE, scale_of, unweld};
use crate::mesh::{MorphTarget, Primitive};
use glam::Vec3;
use std::collections::HashMap;

/// Returns the unit normal of a triangle, or zero if it is degenerate.
fn face_normal(corners: [Vec3; 3]) -> Vec3 {
    // In f64, where the fourth power of any f32 is in range.
    let [a, b, c] = corners.map(|p| p.as_dvec3());
    (b - a)
        .cross(c - a)
        .try_normalize()
        .map_or(Vec3::ZERO, |n| n.as_vec3())
}

/// Gives every triangle its own vertices and its face normal (glTF 2.0, 3.7.2.1). Morph targets rotate the
/// normals with the triangles.
pub(crate) fn flat_normals(primitive: &mut Primitive) {
    unweld(primitive);
    let flat = |at: &dyn Fn(usize) -> Vec3| -> Vec<Vec3> {
        let normals =
            (0..primitive.indices.len()).map(|t| face_normal([at(3 * t), at(3 * t + 1), at(3 * t + 2)]));
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

/// Computes area-weighted normals of the vertices of `triangles`. A vertex without area gets +Y.
pub(crate) fn smooth_normals(positions: &[Vec3], triangles: impl Iterator<Item = [u32; 3]>) -> Vec<Vec3> {
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

/// Makes corners at the same position refer to the first vertex there, because adjacent patches do not share
/// vertices in files.
pub(crate) fn weld(positions: &[Vec3], triangles: &mut [[u32; 3]]) {
    let used = triangles.as_flattened_mut();
    let mut first = vec![u32::MAX; positions.len()];
    let mut known: HashMap<[u32; 3], u32> = HashMap::new();
    for vertex in used {
        let place = &mut first[*vertex as usize];
        if *place == u32::MAX {
            // Maps −0 to +0, because they are equal.
            let position = positions[*vertex as usize] + Vec3::ZERO;
            let bits = position.to_array().map(f32::to_bits);
            *place = *known.entry(bits).or_insert(*vertex);
        }
        *vertex = *place;
    }
}

/// Computes normals for the corners of `triangles`. In a `smooth` triangle, the normal is the area-weighted
/// mean over the triangles around the position whose normals are within `crease_radians` of its own.
/// Otherwise it is the face normal.
pub(crate) fn creased_normals(
    positions: &[Vec3],
    triangles: &[[u32; 3]],
    smooth: &[bool],
    crease_radians: f32,
) -> Vec<[Vec3; 3]> {
    let corner = |v: u32| positions[v as usize];
    let units: Vec<Vec3> = triangles.iter().map(|t| face_normal(t.map(corner))).collect();
    // Areas only weight normals at one position relative to each other, so their scale does not matter.
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
        // Comparing all pairs at a position is quadratic, so positions of high valence are not smoothed.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::vertices::fan;

    #[test]
    fn flat_normals_turn_with_targets() {
        let mut primitive = fan(3);
        let lift = |p: &Vec3| {
            if *p == Vec3::ZERO { Vec3::Z } else { Vec3::ZERO }
        };
        primitive.targets = vec![MorphTarget {
            positions: primitive.positions.iter().map(lift).collect(),
            ..MorphTarget::default()
        }];
        flat_normals(&mut primitive);
        assert_eq!(primitive.positions.len(), 9);
        for (vertex, offset) in primitive.targets[0].normals.iter().enumerate() {
            let turned = primitive.normals[vertex] + offset;
            assert!((turned.length() - 1.0).abs() < 1e-5 && turned.z < 0.9, "{turned}");
        }
    }

    #[test]
    fn smooth_normals_are_weighted_by_area() {
        let positions = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::X * 1e-20, Vec3::Z * 1e30];
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
