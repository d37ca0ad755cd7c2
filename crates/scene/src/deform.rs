//! CPU vertex deformation with morph targets and skins, for framing a scene.

use super::{
    Blend, MorphTarget, Pose, Primitive, Scene,
    animation::{instance_matrices, joint_matrices},
    bounds::volume_corners,
};
use glam::{Mat3, Mat4, Vec3};
use std::rc::Rc;

/// Returns the world positions of all vertices in `pose` and of the corners of volumes. Positions that are
/// not finite are left out. Hidden instances are left out unless all are hidden.
pub fn positions(scene: &Scene, pose: &Pose) -> Vec<Vec3> {
    let vertices = deformed(scene, pose).flat_map(|part| part.positions);
    let all = vertices.chain(volume_corners(scene, pose).flatten());
    all.filter(|position| position.is_finite()).collect()
}

/// Returns the world positions of all vertices that [`positions`] considers, including those that are not
/// finite, and the triangles over them. Triangles are counter-clockwise seen from outside.
pub fn triangles(scene: &Scene, pose: &Pose) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let (mut positions, mut triangles) = (Vec::new(), Vec::new());
    for part in deformed(scene, pose) {
        let first = positions.len() as u32;
        triangles.extend(part.triangles().map(|t| t.map(|vertex| first + vertex)));
        positions.extend(part.positions);
    }
    (positions, triangles)
}

/// A deformed primitive of an instance.
#[derive(Debug)]
pub(super) struct Deformed<'a> {
    pub(super) primitive: &'a Primitive,
    /// World positions of its vertices.
    pub(super) positions: Vec<Vec3>,
    mirrors: Rc<Mirrors>,
}

impl Deformed<'_> {
    /// Returns its triangles, counter-clockwise seen from outside.
    pub(super) fn triangles(&self) -> impl Iterator<Item = [u32; 3]> + '_ {
        self.mirrors.triangles(self.primitive)
    }
}

/// Reflections among the matrices that deform an instance, which flip the winding of its triangles. They do
/// not depend on its visibility.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mirrors {
    /// True if the node's matrix is a reflection.
    node: bool,
    /// True for each joint whose matrix is a reflection; `None` without a skin.
    joints: Option<Vec<bool>>,
}

impl Mirrors {
    /// Computes the signs of the determinants for the instance at `node`.
    pub fn new(scene: &Scene, pose: &Pose, node: usize) -> Self {
        let mirrors = |matrix: &Mat4| {
            let linear = Mat3::from_mat4(*matrix);
            linear.as_dmat3().determinant() < 0.0
        };
        let joints = scene.nodes[node].skin.map(|skin| {
            let joints = joint_matrices(scene, pose, skin);
            joints.iter().map(mirrors).collect()
        });
        Self {
            node: mirrors(&pose.world_from_node[node].as_mat4()),
            joints,
        }
    }

    /// Returns the triangles of a primitive of the instance, counter-clockwise seen from outside. Triangles
    /// that a reflection turns inside out are flipped. The matrices of the joints decide if the primitive has
    /// influences, otherwise the matrix of the node. If only some of the joints are reflections, a triangle
    /// is flipped if the reflections have more than half of the weight at its corners.
    pub fn triangles<'a>(&'a self, primitive: &'a Primitive) -> impl Iterator<Item = [u32; 3]> + 'a {
        let per_vertex = primitive.influences_per_vertex;
        let joints = self.joints.as_deref().filter(|_| per_vertex > 0);
        let of_all = match joints {
            None => Some(self.node),
            Some([]) => Some(false),
            Some([first, others @ ..]) => others.iter().all(|j| j == first).then_some(*first),
        };
        let balance = move |vertex: u32| {
            let range = vertex as usize * per_vertex..(vertex as usize + 1) * per_vertex;
            let influences = primitive.joints[range.clone()]
                .iter()
                .zip(&primitive.joint_weights[range]);
            let signed = influences.map(|(&joint, &weight)| {
                let is_mirrored = joints.is_some_and(|joints| joints[joint as usize]);
                if is_mirrored { weight } else { -weight }
            });
            signed.sum::<f32>()
        };
        primitive.indices.iter().map(move |&[a, b, c]| {
            let by_corners = || [a, b, c].map(balance).iter().sum::<f32>() > 0.0;
            if of_all.unwrap_or_else(by_corners) {
                [a, c, b]
            } else {
                [a, b, c]
            }
        })
    }
}

/// Deforms every primitive of every instance in `pose`. Hidden instances are left out unless all are hidden.
pub(super) fn deformed<'a>(scene: &'a Scene, pose: &'a Pose) -> impl Iterator<Item = Deformed<'a>> + 'a {
    let all_hidden = scene.instances().all(|(node, _)| !pose.visible[node]);
    let shown = move |(node, _): &(usize, usize)| pose.visible[*node] || all_hidden;
    scene.instances().filter(shown).flat_map(move |(node, mesh)| {
        let (world_from_node, joints) = instance_matrices(scene, pose, node);
        let mirrors = Rc::new(Mirrors::new(scene, pose, node));
        let primitives = scene.meshes[mesh].primitives.iter();
        primitives.map(move |primitive| {
            let skinned = joints.as_deref().filter(|_| primitive.influences_per_vertex > 0);
            let at = |vertex: usize| {
                let offset = morph_offset(primitive, vertex, &pose.weights[node], |t| &t.positions);
                let world_from_mesh = skinned.map_or(world_from_node, |joints| {
                    blended_joints(primitive, vertex, joints)
                });
                world_from_mesh.transform_point3(primitive.positions[vertex] + offset)
            };
            Deformed {
                primitive,
                positions: (0..primitive.positions.len()).map(at).collect(),
                mirrors: mirrors.clone(),
            }
        })
    })
}

/// Returns the positions of [`positions`], relative to `origin`, at `times` moments spread over the `seconds`
/// after `start` of a clip or a blend. If that would be more than ten million positions, only the first
/// moment is used.
pub fn positions_over(
    scene: &Scene,
    (clip, blend): (Option<usize>, &Blend),
    start: f32,
    seconds: f32,
    times: usize,
    origin: Vec3,
) -> Vec<Vec3> {
    const MAX_POINTS: usize = 10_000_000;
    let at = |time: f32| {
        let mut pose = Pose::blended(scene, clip, blend, time);
        pose.shift(-origin.as_dvec3());
        positions(scene, &pose)
    };
    let mut all = at(start);
    let times = if all.len().saturating_mul(times) > MAX_POINTS {
        1
    } else {
        times
    };
    for step in 1..times {
        let time = start + seconds * step as f32 / (times - 1) as f32;
        all.extend(at(time));
    }
    all
}

/// Returns the offset that the morph targets add to one attribute of a vertex.
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

/// Returns the weighted sum of the matrices of a vertex's joints.
pub fn blended_joints(primitive: &Primitive, vertex: usize, joints: &[Mat4]) -> Mat4 {
    let range = vertex * primitive.influences_per_vertex..(vertex + 1) * primitive.influences_per_vertex;
    let influences = primitive.joints[range.clone()]
        .iter()
        .zip(&primitive.joint_weights[range]);
    influences.fold(Mat4::ZERO, |sum, (&joint, &weight)| {
        sum + joints[joint as usize] * weight
    })
}
