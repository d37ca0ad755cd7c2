//! Twin of the deform pass: morph targets and skins applied, everything in world space, in one vertex and one index list.

use crate::scene::{MorphTarget, Pose, Primitive, Scene, animation::instance_matrices};
use glam::{Mat3, Mat4, Vec3, Vec4};

/// The merged world-space buffers.
#[derive(Debug, Clone, Default)]
pub struct Deformed {
    /// World positions.
    pub positions: Vec<Vec3>,
    /// Unit world normals.
    pub normals: Vec<Vec3>,
    /// Unit world tangents with the bitangent's sign in w.
    pub tangents: Vec<Vec4>,
    /// Length in the world of a metre along the normal in the space of the mesh, held to 10⁻⁶ to 10⁶.
    pub scales: Vec<f32>,
    /// Triangles, counter-clockwise in front, into the lists above.
    pub indices: Vec<[u32; 3]>,
    /// One per instance, in the order of [`Scene::instances`].
    pub meshes: Vec<MeshRange>,
}

/// The part of the merged buffers that one instance fills.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MeshRange {
    /// Into [`Deformed::indices`].
    pub first_triangle: u32,
    /// Triangles of the instance.
    pub triangle_count: u32,
    /// Into [`Deformed::positions`] and its kin.
    pub first_vertex: u32,
    /// Vertices of the instance.
    pub vertex_count: u32,
}

/// Deforms every instance of `scene` as `pose` has it: for each (node, mesh) of [`Scene::instances`] and each primitive in order,
/// its vertices and its triangles.
///
/// Targets are added first (glTF 2.0, 3.7.2.2). Then a skinned primitive takes the weighted sum of its joints' matrices and
/// ignores its node's (3.7.3.1); any other takes its node's, and its triangles are turned over if that mirrors.
pub fn deform(scene: &Scene, pose: &Pose) -> Deformed {
    let mut out = Deformed::default();
    for (node, mesh) in scene.instances() {
        let (first_triangle, first_vertex) = (out.indices.len() as u32, out.positions.len() as u32);
        let (world_from_node, joints) = instance_matrices(scene, pose, node);
        for primitive in &scene.meshes[mesh].primitives {
            let base = out.positions.len() as u32;
            let skinned = joints
                .as_deref()
                .filter(|_| primitive.influences_per_vertex > 0);
            for vertex in 0..primitive.positions.len() {
                let world_from_mesh =
                    skinned.map_or(world_from_node, |joints| blend(primitive, vertex, joints));
                let weights = &pose.weights[node];
                let position = primitive.positions[vertex]
                    + morph(primitive, vertex, weights, |t| &t.positions);
                let normal =
                    primitive.normals[vertex] + morph(primitive, vertex, weights, |t| &t.normals);
                let tangent = primitive.tangents[vertex].truncate()
                    + morph(primitive, vertex, weights, |t| &t.tangents);
                let linear = Mat3::from_mat4(world_from_mesh);
                let handedness = sign(linear);
                out.positions
                    .push(world_from_mesh.transform_point3(position));
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
            let mirrors = sign(Mat3::from_mat4(pose.world_from_node[node])) < 0.0;
            let mirrored = skinned.is_none() && mirrors;
            out.indices
                .extend(primitive.indices.iter().map(|&[a, b, c]| {
                    let [a, b, c] = [base + a, base + b, base + c];
                    if mirrored { [a, c, b] } else { [a, b, c] }
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

/// Only the positions of [`deform`], without those that are not finite, and without instances that do not show unless none does.
pub fn positions(scene: &Scene, pose: &Pose) -> Vec<Vec3> {
    let mut positions = Vec::new();
    let nothing_shows = scene.instances().all(|(node, _)| !pose.visible[node]);
    for (node, mesh) in scene.instances() {
        if !pose.visible[node] && !nothing_shows {
            continue;
        }
        let (world_from_node, joints) = instance_matrices(scene, pose, node);
        for primitive in &scene.meshes[mesh].primitives {
            let skinned = joints
                .as_deref()
                .filter(|_| primitive.influences_per_vertex > 0);
            let at = |vertex: usize| {
                let offset = morph(primitive, vertex, &pose.weights[node], |t| &t.positions);
                let world_from_mesh =
                    skinned.map_or(world_from_node, |joints| blend(primitive, vertex, joints));
                world_from_mesh.transform_point3(primitive.positions[vertex] + offset)
            };
            let vertices = 0..primitive.positions.len();
            positions.extend(vertices.map(at).filter(|p| p.is_finite()));
        }
    }
    positions
}

/// As [`positions`], at `times` moments spread over the `seconds` of a clip after `start`: all that will be seen while it plays.
/// Just the first moment where that would be very many.
pub fn positions_over(
    scene: &Scene,
    clip: Option<usize>,
    start: f32,
    seconds: f32,
    times: usize,
) -> Vec<Vec3> {
    const MOST: usize = 10_000_000;
    let mut all = positions(scene, &Pose::new(scene, clip, start));
    let times = if all.len().saturating_mul(times) > MOST {
        1
    } else {
        times
    };
    for step in 1..times {
        let time = start + seconds * step as f32 / (times - 1) as f32;
        all.extend(positions(scene, &Pose::new(scene, clip, time)));
    }
    all
}

/// What the morph targets add to one attribute of a vertex.
fn morph(
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

/// The weighted sum of the joints' matrices.
fn blend(primitive: &Primitive, vertex: usize, joints: &[Mat4]) -> Mat4 {
    let range =
        vertex * primitive.influences_per_vertex..(vertex + 1) * primitive.influences_per_vertex;
    let influences = primitive.joints[range.clone()]
        .iter()
        .zip(&primitive.joint_weights[range]);
    influences.fold(Mat4::ZERO, |sum, (&joint, &weight)| {
        sum + joints[joint as usize] * weight
    })
}

/// −1 for a matrix that mirrors, else 1.
fn sign(linear: Mat3) -> f32 {
    if linear.determinant() < 0.0 {
        -1.0
    } else {
        1.0
    }
}

/// det(M) · M⁻ᵀ, which also exists where M has no inverse.
fn cofactor(m: Mat3) -> Mat3 {
    Mat3::from_cols(
        m.y_axis.cross(m.z_axis),
        m.z_axis.cross(m.x_axis),
        m.x_axis.cross(m.y_axis),
    )
}
