//! Rearrangement of a primitive's vertices, and limits for computations on them.

use crate::mesh::Primitive;
use glam::Vec3;

/// Maximum number of triangles at a vertex that are compared with each other, which takes quadratic time.
/// MikkTSpace also recurses over them.
pub(super) const MAX_VALENCE: u32 = 1024;

/// Gives every triangle vertices of its own.
pub(super) fn unweld(primitive: &mut Primitive) {
    let sources = primitive.indices.as_flattened().to_vec();
    gather(primitive, &sources);
    primitive.indices = (0..sources.len() as u32 / 3)
        .map(|t| [3 * t, 3 * t + 1, 3 * t + 2])
        .collect();
}

/// Replaces the vertices in all attributes by copies of those at `sources`. `indices` do not change.
pub(super) fn gather(primitive: &mut Primitive, sources: &[u32]) {
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

/// Returns a factor that scales positions so that their squares do not overflow. It is 1 for ordinary
/// positions.
pub(super) fn scale_of(positions: &[Vec3]) -> f32 {
    let largest = positions
        .iter()
        .fold(0.0_f32, |m, p| m.max(p.abs().max_element()));
    if largest > 1e9 { largest.recip() } else { 1.0 }
}

/// Returns a fan of `count` triangles around the origin, with texture coordinates.
#[cfg(test)]
pub(super) fn fan(count: u32) -> Primitive {
    let rim = (0..count)
        .map(|i| i as f32 / count as f32 * std::f32::consts::TAU)
        .map(|a| Vec3::new(a.cos(), a.sin(), 0.0));
    let positions: Vec<Vec3> = std::iter::once(Vec3::ZERO).chain(rim).collect();
    Primitive {
        normals: vec![Vec3::Z; positions.len()],
        uv0: positions.iter().map(|p| p.truncate()).collect(),
        indices: (0..count).map(|i| [0, i + 1, (i + 1) % count + 1]).collect(),
        positions,
        ..Primitive::default()
    }
}
