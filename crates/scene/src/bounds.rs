//! Bounding boxes of a scene in a pose. They are conservative: each encloses every deformed vertex, but no
//! vertex is visited.

use super::{Grid, Pose, Scene, animation::joint_matrices};
use glam::{Mat4, UVec3, Vec3};
use std::collections::BTreeMap;

/// An axis-aligned bounding box.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Aabb {
    /// Lower corner.
    pub min: Vec3,
    /// Upper corner.
    pub max: Vec3,
}

impl Aabb {
    /// Empty box, which is the identity of [`Aabb::union`].
    pub const EMPTY: Self = Self {
        min: Vec3::INFINITY,
        max: Vec3::NEG_INFINITY,
    };

    /// Returns the bounding box of points.
    pub fn from_points(points: impl IntoIterator<Item = Vec3>) -> Self {
        points.into_iter().fold(Self::EMPTY, |b, p| Self {
            min: b.min.min(p),
            max: b.max.max(p),
        })
    }

    /// Returns the bounding box of the two boxes.
    pub fn union(self, other: Self) -> Self {
        Self {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
        }
    }

    /// Returns the union of the finite boxes, or the origin if there are none.
    pub fn union_of_finite(boxes: &[Self]) -> Self {
        let finite = |b: &&Self| b.min.is_finite() && b.max.is_finite();
        let finite = boxes.iter().filter(finite).copied();
        finite.reduce(Self::union).unwrap_or(Self {
            min: Vec3::ZERO,
            max: Vec3::ZERO,
        })
    }

    /// True if it is empty.
    pub fn is_empty(self) -> bool {
        self.min.cmpgt(self.max).any()
    }

    /// Returns the centre, or the origin for an empty box.
    pub fn center(self) -> Vec3 {
        if self.is_empty() {
            return Vec3::ZERO;
        }
        // Bitwise equal to `bounds` on the GPU, except if the sum overflows.
        let center = 0.5 * (self.min + self.max);
        if center.is_finite() {
            return center;
        }
        0.5 * self.min + 0.5 * self.max
    }

    /// Returns half the length of the diagonal.
    pub fn radius(self) -> f32 {
        if self.is_empty() {
            0.0
        } else {
            0.5 * (self.max - self.min).length()
        }
    }

    /// Returns the eight corners.
    pub fn corners(self) -> [Vec3; 8] {
        std::array::from_fn(|i| {
            Vec3::new(
                if i & 1 == 0 { self.min.x } else { self.max.x },
                if i & 2 == 0 { self.min.y } else { self.max.y },
                if i & 4 == 0 { self.min.z } else { self.max.z },
            )
        })
    }

    /// Returns the bounding box of the transformed box.
    pub fn transformed(self, matrix: Mat4) -> Self {
        if self.is_empty() {
            return self;
        }
        // Rounding is monotonic, so the smallest sum is the sum of the smallest terms. The result has the
        // same bits as with all eight corners.
        let x = [self.min.x, self.max.x].map(|x| matrix.x_axis.truncate() * x);
        let y = [self.min.y, self.max.y].map(|y| matrix.y_axis.truncate() * y);
        let z = [self.min.z, self.max.z].map(|z| matrix.z_axis.truncate() * z);
        let at = matrix.w_axis.truncate();
        Self {
            min: x[0].min(x[1]) + y[0].min(y[1]) + z[0].min(z[1]) + at,
            max: x[0].max(x[1]) + y[0].max(y[1]) + z[0].max(z[1]) + at,
        }
    }

    fn grown(self, by: Vec3) -> Self {
        Self {
            min: self.min - by,
            max: self.max + by,
        }
    }
}

/// Pose-independent bounds of a scene: the rest box of each part and of the vertices of each joint, and the
/// maximum displacement of each morph target.
#[derive(Debug, Clone, Default)]
pub struct Bounds {
    /// Bounds by mesh and primitive.
    meshes: Vec<Vec<PartBounds>>,
}

#[derive(Debug, Clone)]
struct PartBounds {
    rest: Aabb,
    /// Joints, each with the box of the vertices that it moves, in mesh space. Empty for a rigid part.
    joints: Vec<(usize, Aabb)>,
    /// Largest offset of each morph target, per axis.
    reaches: Vec<Vec3>,
}

impl Bounds {
    /// Computes the bounds, visiting every vertex once.
    pub fn new(scene: &Scene) -> Self {
        let part = |primitive: &super::Primitive| {
            // A map, because a file may use any joint index if there is no skin.
            let mut joints: BTreeMap<usize, Aabb> = BTreeMap::new();
            let per_vertex = primitive.influences_per_vertex;
            for (slot, (&joint, &weight)) in primitive.joints.iter().zip(&primitive.joint_weights).enumerate()
            {
                if weight != 0.0 {
                    let moved = joints.entry(joint as usize).or_insert(Aabb::EMPTY);
                    *moved = moved.union(Aabb::from_points([primitive.positions[slot / per_vertex]]));
                }
            }
            let reaches = primitive
                .targets
                .iter()
                .map(|target| {
                    target
                        .positions
                        .iter()
                        .fold(Vec3::ZERO, |reach, p| reach.max(p.abs()))
                })
                .collect();
            PartBounds {
                rest: Aabb::from_points(primitive.positions.iter().copied()),
                joints: joints.into_iter().collect(),
                reaches,
            }
        };
        Self {
            meshes: scene
                .meshes
                .iter()
                .map(|mesh| mesh.primitives.iter().map(part).collect())
                .collect(),
        }
    }

    /// Returns a box around each part of each instance, in the order of the merged buffers. The boxes are
    /// conservative. That of a hidden instance is empty.
    pub fn parts(&self, scene: &Scene, pose: &Pose) -> Vec<Aabb> {
        let mut parts = Vec::with_capacity(scene.nodes.len());
        for (node, mesh) in scene.instances() {
            if !pose.visible[node] {
                parts.extend(self.meshes[mesh].iter().map(|_| Aabb::EMPTY));
                continue;
            }
            let joints = scene.nodes[node]
                .skin
                .map(|skin| joint_matrices(scene, pose, skin));
            for part in &self.meshes[mesh] {
                let reach = part
                    .reaches
                    .iter()
                    .zip(&pose.weights[node])
                    .map(|(reach, weight)| *reach * weight.abs())
                    .sum();
                parts.push(match &joints {
                    Some(joints) if !part.joints.is_empty() => {
                        part.joints.iter().fold(Aabb::EMPTY, |b, (joint, rest)| {
                            b.union(rest.grown(reach).transformed(joints[*joint]))
                        })
                    }
                    _ => part
                        .rest
                        .grown(reach)
                        .transformed(pose.world_from_node[node].as_mat4()),
                });
            }
        }
        parts
    }

    /// Returns a conservative bounding box of the scene.
    pub fn scene(&self, scene: &Scene, pose: &Pose) -> Aabb {
        parts_bounds(scene, pose, &self.parts(scene, pose))
    }
}

/// Returns the box around these parts of a scene and around its volumes.
pub fn parts_bounds(scene: &Scene, pose: &Pose, parts: &[Aabb]) -> Aabb {
    if scene.volumes.is_empty() {
        return Aabb::union_of_finite(parts);
    }
    let volumes: Vec<Aabb> = volume_corners(scene, pose).map(Aabb::from_points).collect();
    Aabb::union_of_finite(&[&volumes, parts].concat())
}

/// Returns the grid corners, at the outer voxels, for each node that places a volume and is visible in the
/// pose.
pub(super) fn volume_corners<'a>(scene: &'a Scene, pose: &'a Pose) -> impl Iterator<Item = Vec<Vec3>> + 'a {
    let placed = scene.nodes.iter().enumerate();
    let placed = placed.filter_map(|(node, n)| Some((node, n.volume?)));
    placed
        .filter(|(node, _)| pose.visible[*node])
        .map(|(node, volume)| {
            let corners = |grid: &Grid| {
                let size = UVec3::from(grid.size).as_vec3();
                let edges = Aabb {
                    min: Vec3::splat(-0.5),
                    max: size - 0.5,
                };
                let volume_from_voxel = grid.volume_from_voxel.as_dmat4();
                let world_from_voxel = (pose.world_from_node[node] * volume_from_voxel).as_mat4();
                edges
                    .corners()
                    .map(|corner| world_from_voxel.transform_point3(corner))
            };
            scene.volumes[volume].grids.iter().flat_map(corners).collect()
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Mesh, Node, Primitive, Transform, Volume};
    use glam::{DMat4, DVec3};

    #[test]
    fn a_transformed_box_bounds_the_transformed_corners() {
        let wave = |i: i32, speed: f32| (i as f32 * speed).sin();
        for i in 0..500 {
            let vector = |speed: f32| Vec3::new(wave(i, speed), wave(i, speed + 0.3), wave(i, 2.0 * speed));
            let b = Aabb::from_points([100.0 * vector(1.1), vector(3.7)]);
            let [x, y, z, at] = [0.7, 1.9, 2.3, 5.1].map(vector);
            let matrix = Mat4::from_cols(
                x.extend(0.0),
                y.extend(0.0),
                z.extend(0.0),
                (1e3 * at).extend(1.0),
            );
            let corners = b.corners().map(|corner| matrix.transform_point3(corner));
            assert_eq!(b.transformed(matrix), Aabb::from_points(corners));
        }
        assert!(Aabb::EMPTY.transformed(Mat4::IDENTITY).is_empty());
    }

    #[test]
    fn bounds_contain_volumes_placed_by_nodes() {
        let grid = |size, volume_from_voxel| Grid {
            name: String::new(),
            components: 1,
            size,
            volume_from_voxel,
            values: vec![0.0; 8],
            background: 0.0,
        };
        let node = |visible| Node {
            volume: Some(0),
            transform: Transform::Matrix(DMat4::from_translation(10.0 * DVec3::X)),
            visible,
            ..Node::default()
        };
        let mut scene = Scene {
            nodes: vec![node(true), node(false)],
            volumes: vec![Volume {
                name: String::new(),
                grids: vec![
                    grid([2, 2, 2], Mat4::from_scale(Vec3::splat(2.0))),
                    grid([1, 1, 8], Mat4::from_translation(Vec3::Y)),
                ],
            }],
            ..Scene::default()
        };
        let bounds = |scene: &Scene| Bounds::new(scene).scene(scene, &Pose::new(scene, None, 0.0));
        let expected = Aabb {
            min: Vec3::new(9.0, -1.0, -1.0),
            max: Vec3::new(13.0, 3.0, 7.5),
        };
        assert_eq!(bounds(&scene), expected);
        let pose = Pose::new(&scene, None, 0.0);
        let points = crate::deform::positions(&scene, &pose);
        assert_eq!(Aabb::from_points(points), expected);
        scene.nodes[0].visible = false;
        assert_eq!(bounds(&scene), Aabb::union_of_finite(&[]));
    }

    #[test]
    fn joint_bounds_without_a_skin_store_only_used_joints() {
        let primitive = Primitive {
            positions: vec![Vec3::ONE],
            joints: vec![u32::MAX, 7, 0, 0],
            joint_weights: vec![0.5, 0.5, 0.0, 0.0],
            influences_per_vertex: 4,
            ..Primitive::default()
        };
        let scene = Scene {
            meshes: vec![Mesh {
                name: String::new(),
                primitives: vec![primitive],
            }],
            ..Scene::default()
        };
        let bounds = Bounds::new(&scene);
        let numbers: Vec<usize> = bounds.meshes[0][0].joints.iter().map(|(n, _)| *n).collect();
        assert_eq!(numbers, [7, u32::MAX as usize]);
    }
}
