//! Vertices in a pose, on the CPU: what framing a scene needs of morph targets and skins.

use super::{
    Blend, MorphTarget, Pose, Primitive, Scene, animation::instance_matrices,
    bounds::volume_corners,
};
use glam::{Mat4, Vec3};

/// World positions of all vertices in `pose`, and of the corners of volumes, without those that are not
/// finite. Hidden instances are left out unless all are hidden.
pub fn positions(scene: &Scene, pose: &Pose) -> Vec<Vec3> {
    let vertices = deformed(scene, pose).flat_map(|part| part.positions);
    let all = vertices.chain(volume_corners(scene, pose).flatten());
    all.filter(|position| position.is_finite()).collect()
}

/// World positions of the vertices that [`positions`] has, those that are not finite too, and the triangles over
/// them, counter-clockwise from outside.
pub fn triangles(scene: &Scene, pose: &Pose) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let (mut positions, mut triangles) = (Vec::new(), Vec::new());
    for part in deformed(scene, pose) {
        let first = positions.len() as u32;
        let moved = part.primitive.indices.iter().map(|[a, b, c]| {
            let turned = if part.is_mirrored {
                [a, c, b]
            } else {
                [a, b, c]
            };
            turned.map(|vertex| first + vertex)
        });
        triangles.extend(moved);
        positions.extend(part.positions);
    }
    (positions, triangles)
}

/// A primitive of an instance in a pose.
#[derive(Debug)]
pub(super) struct Deformed<'a> {
    pub(super) primitive: &'a Primitive,
    /// World positions of its vertices.
    pub(super) positions: Vec<Vec3>,
    /// Whether its triangles are turned over.
    pub(super) is_mirrored: bool,
}

/// Every primitive of every instance in `pose`. Hidden instances are left out unless all are hidden.
pub(super) fn deformed<'a>(
    scene: &'a Scene,
    pose: &'a Pose,
) -> impl Iterator<Item = Deformed<'a>> + 'a {
    let all_hidden = scene.instances().all(|(node, _)| !pose.visible[node]);
    let shown = move |(node, _): &(usize, usize)| pose.visible[*node] || all_hidden;
    scene
        .instances()
        .filter(shown)
        .flat_map(move |(node, mesh)| {
            let (world_from_node, joints) = instance_matrices(scene, pose, node);
            let primitives = scene.meshes[mesh].primitives.iter();
            primitives.map(move |primitive| {
                let skinned = joints
                    .as_deref()
                    .filter(|_| primitive.influences_per_vertex > 0);
                let at = |vertex: usize| {
                    let offset =
                        morph_offset(primitive, vertex, &pose.weights[node], |t| &t.positions);
                    let world_from_mesh = skinned.map_or(world_from_node, |joints| {
                        blended_joints(primitive, vertex, joints)
                    });
                    world_from_mesh.transform_point3(primitive.positions[vertex] + offset)
                };
                Deformed {
                    primitive,
                    positions: (0..primitive.positions.len()).map(at).collect(),
                    is_mirrored: skinned.is_none() && world_from_node.determinant() < 0.0,
                }
            })
        })
}

/// As [`positions`], at `times` moments spread over the `seconds` of a clip, or a blend, after `start`. Where
/// that would be more than ten million positions, only the first moment counts.
pub fn positions_over(
    scene: &Scene,
    (clip, blend): (Option<usize>, &Blend),
    start: f32,
    seconds: f32,
    times: usize,
) -> Vec<Vec3> {
    const MOST: usize = 10_000_000;
    let mut all = positions(scene, &Pose::blended(scene, clip, blend, start));
    let times = if all.len().saturating_mul(times) > MOST {
        1
    } else {
        times
    };
    for step in 1..times {
        let time = start + seconds * step as f32 / (times - 1) as f32;
        all.extend(positions(scene, &Pose::blended(scene, clip, blend, time)));
    }
    all
}

/// The offset that the morph targets add to one attribute of a vertex.
pub fn morph_offset(
    primitive: &Primitive,
    vertex: usize,
    weights: &[f32],
    attribute: impl Fn(&MorphTarget) -> &Vec<Vec3>,
) -> Vec3 {
    let offset = |(target, weight): (&MorphTarget, &f32)| {
        attribute(target)
            .get(vertex)
            .map_or(Vec3::ZERO, |delta| *delta * *weight)
    };
    primitive.targets.iter().zip(weights).map(offset).sum()
}

/// The weighted sum of the matrices of a vertex's joints.
pub fn blended_joints(primitive: &Primitive, vertex: usize, joints: &[Mat4]) -> Mat4 {
    let range =
        vertex * primitive.influences_per_vertex..(vertex + 1) * primitive.influences_per_vertex;
    let influences = primitive.joints[range.clone()]
        .iter()
        .zip(&primitive.joint_weights[range]);
    influences.fold(Mat4::ZERO, |sum, (&joint, &weight)| {
        sum + joints[joint as usize] * weight
    })
}
