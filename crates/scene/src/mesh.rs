//! Meshes: triangles, lines and points, with morph targets and joint influences.

use glam::{Vec2, Vec3, Vec4};

/// Triangles, lines and points in one or more primitives, with one set of morph weights.
#[derive(Debug, Clone)]
pub struct Mesh {
    /// Name in the file; may be empty.
    pub name: String,
    /// Primitives, each with one material.
    pub primitives: Vec<Primitive>,
}

/// A part of a mesh: one material, one vertex range.
#[derive(Debug, Clone, Default)]
pub struct Primitive {
    /// Index into [`super::Scene::materials`].
    pub material: usize,
    /// Pairs of a variant and its material: `None` with the primitive's own material, then each of
    /// [`super::Scene::variants`] that has one. Empty if no variant has one.
    pub variants: Vec<(Option<usize>, usize)>,
    /// Positions in mesh space, all finite.
    pub positions: Vec<Vec3>,
    /// Unit normals, one per vertex.
    pub normals: Vec<Vec3>,
    /// Unit tangents with the bitangent's sign in w, one per vertex.
    pub tangents: Vec<Vec4>,
    /// Texture coordinates of the first set, one per vertex or empty.
    pub uv0: Vec<Vec2>,
    /// Texture coordinates of the second set, one per vertex or empty.
    pub uv1: Vec<Vec2>,
    /// Linear vertex colours, one per vertex or empty.
    pub colors: Vec<Vec4>,
    /// Triangles, as vertex indices.
    pub indices: Vec<[u32; 3]>,
    /// One-pixel lines, as vertex indices.
    pub lines: Vec<[u32; 2]>,
    /// One-pixel points, as vertex indices.
    pub points: Vec<u32>,
    /// Lighting of lines and points.
    pub shading: Shading,
    /// Joint indices into the skin. Those of a vertex start at `vertex * influences_per_vertex`. Empty for a
    /// rigid primitive.
    pub joints: Vec<u32>,
    /// Weights of `joints`, which sum to 1 for each vertex.
    pub joint_weights: Vec<f32>,
    /// Number of joints per vertex: 0 or a multiple of four.
    pub influences_per_vertex: usize,
    /// Morph targets. All primitives of a mesh have the same number.
    pub targets: Vec<MorphTarget>,
}

impl Primitive {
    /// True if it has no triangles, lines or points.
    pub fn is_empty(&self) -> bool {
        self.indices.is_empty() && self.lines.is_empty() && self.points.is_empty()
    }
}

/// Lighting of points and lines. It follows from their attributes in the file (glTF 2.0, 3.9.7 "Point and
/// Line Materials").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Shading {
    /// Unlit, with base colour and emission, for points and lines without normals.
    Unlit,
    /// Lit like surfaces but without the material's normal texture, for those with normals and no tangents.
    Plain,
    /// Lit like surfaces, for those with normals and tangents.
    #[default]
    Mapped,
}

/// Offsets that a morph target adds at weight 1: one per vertex, or empty.
#[derive(Debug, Clone, Default)]
pub struct MorphTarget {
    /// Name in the file (`extras.targetNames` of the mesh); may be empty.
    pub name: String,
    /// Position offsets.
    pub positions: Vec<Vec3>,
    /// Normal offsets.
    pub normals: Vec<Vec3>,
    /// Offsets of the xyz of tangents.
    pub tangents: Vec<Vec3>,
}
