//! CPU reference of the deform pass: applies morph targets and skins, and merges everything in world space
//! into one vertex list and one index list.

use canopy_scene::{
    Pose, Primitive, Scene,
    animation::{instance_matrices, joint_matrices},
    deform::{blended_joints, morph_offset},
};
use glam::{Mat3, Mat4, Vec3, Vec4};

/// Merged world-space buffers.
#[derive(Debug, Clone, Default)]
pub struct Deformed {
    /// World positions.
    pub positions: Vec<Vec3>,
    /// Unit world normals.
    pub normals: Vec<Vec3>,
    /// Unit world tangents, with the bitangent's sign in w.
    pub tangents: Vec<Vec4>,
    /// World length of a metre along the normal in mesh space, clamped to [10⁻⁶, 10⁶].
    pub scales: Vec<f32>,
    /// Triangles with indices into the lists above, counter-clockwise in front.
    pub indices: Vec<[u32; 3]>,
    /// Range of each instance, in the order of [`Scene::instances`].
    pub meshes: Vec<MeshRange>,
}

/// Part of the merged buffers that one instance fills.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MeshRange {
    /// First index in [`Deformed::indices`].
    pub first_triangle: u32,
    /// Number of triangles of the instance.
    pub triangle_count: u32,
    /// First index in [`Deformed::positions`] and the other vertex lists.
    pub first_vertex: u32,
    /// Number of vertices of the instance.
    pub vertex_count: u32,
}

/// Deforms every instance of `scene` in `pose`. The output has the vertices and triangles of each primitive
/// of each (node, mesh) of [`Scene::instances`], in order.
///
/// Morph targets are added first (glTF 2.0, 3.7.2.2). A skinned primitive is then transformed by the weighted
/// sum of its joints' matrices, without its node's (3.7.3.1). Any other primitive is transformed by its
/// node's matrix. If the matrices of a triangle's corners mirror by more than half of their weight, its
/// winding is reversed.
pub fn deform(scene: &Scene, pose: &Pose) -> Deformed {
    let mut out = Deformed::default();
    for (node, mesh) in scene.instances() {
        let (first_triangle, first_vertex) = (out.indices.len() as u32, out.positions.len() as u32);
        let (world_from_node, joints) = instance_matrices(scene, pose, node);
        for primitive in &scene.meshes[mesh].primitives {
            let base = out.positions.len() as u32;
            let skinned = joints.as_deref().filter(|_| primitive.influences_per_vertex > 0);
            for vertex in 0..primitive.positions.len() {
                let world_from_mesh = skinned.map_or(world_from_node, |joints| {
                    blended_joints(primitive, vertex, joints)
                });
                let weights = &pose.weights[node];
                let position =
                    primitive.positions[vertex] + morph_offset(primitive, vertex, weights, |t| &t.positions);
                let normal =
                    primitive.normals[vertex] + morph_offset(primitive, vertex, weights, |t| &t.normals);
                let tangent = primitive.tangents[vertex].truncate()
                    + morph_offset(primitive, vertex, weights, |t| &t.tangents);
                let linear = Mat3::from_mat4(world_from_mesh);
                let handedness = sign(linear);
                out.positions.push(world_from_mesh.transform_point3(position));
                out.normals.push(
                    (cofactor(linear) * normal * handedness)
                        .try_normalize()
                        .unwrap_or(Vec3::Y),
                );
                let tangent = (linear * tangent).try_normalize().unwrap_or(Vec3::X);
                out.tangents
                    .push(tangent.extend(primitive.tangents[vertex].w * handedness));
                let along = linear * normal.try_normalize().unwrap_or(Vec3::Y);
                out.scales.push(along.length().clamp(1e-6, 1e6));
            }
            // The winding of hidden instances is the same as when they are visible.
            let joints = scene.nodes[node]
                .skin
                .map(|skin| joint_matrices(scene, pose, skin));
            let node_sign = sign(Mat3::from_mat4(pose.world_from_node[node].as_mat4()));
            let corner_sign = |vertex: u32| match &joints {
                Some(joints) if skinned.is_some() => signed_weight(primitive, vertex as usize, joints),
                _ => node_sign,
            };
            out.indices.extend(primitive.indices.iter().map(|&[a, b, c]| {
                let sum: f32 = [a, b, c].map(corner_sign).iter().sum();
                let [a, b, c] = [base + a, base + b, base + c];
                if sum < 0.0 { [a, c, b] } else { [a, b, c] }
            }));
        }
        out.meshes.push(MeshRange {
            first_triangle,
            triangle_count: out.indices.len() as u32 - first_triangle,
            first_vertex,
            vertex_count: out.positions.len() as u32 - first_vertex,
        });
    }
    out
}

/// Returns the weight of the joints of a vertex that do not mirror, minus the weight of those that do.
fn signed_weight(primitive: &Primitive, vertex: usize, joints: &[Mat4]) -> f32 {
    let count = primitive.influences_per_vertex;
    let influences = vertex * count..(vertex + 1) * count;
    let signed = influences.map(|influence| {
        let joint = primitive.joints[influence] as usize;
        primitive.joint_weights[influence] * sign(Mat3::from_mat4(joints[joint]))
    });
    signed.sum()
}

/// Returns −1 for a matrix that mirrors, else 1.
fn sign(linear: Mat3) -> f32 {
    if linear.as_dmat3().determinant() < 0.0 {
        -1.0
    } else {
        1.0
    }
}

/// Returns det(M) · M⁻ᵀ, which also exists if M is singular.
fn cofactor(m: Mat3) -> Mat3 {
    Mat3::from_cols(
        m.y_axis.cross(m.z_axis),
        m.z_axis.cross(m.x_axis),
        m.x_axis.cross(m.y_axis),
    )
}
