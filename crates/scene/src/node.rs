//! Nodes of the scene graph, and skins.

use glam::{DMat4, DQuat, DVec3, Mat4};

/// A node of the scene hierarchy.
#[derive(Debug, Clone)]
pub struct Node {
    /// Name in the file; may be empty.
    pub name: String,
    /// Index of the parent, which is lower than its own.
    pub parent: Option<usize>,
    /// Rest transform from the node to its parent.
    pub transform: Transform,
    /// Index into [`super::Scene::meshes`].
    pub mesh: Option<usize>,
    /// Index into [`super::Scene::skins`]; only with a mesh.
    pub skin: Option<usize>,
    /// Rest values of the morph weights: one for each target of the mesh, or empty.
    pub weights: Vec<f32>,
    /// Index into [`super::Scene::lights`].
    pub light: Option<usize>,
    /// Transform of the light, in the axes of the file. It overrides the transform of the node.
    pub file_from_light: Option<Mat4>,
    /// Index into [`super::Scene::cameras`].
    pub camera: Option<usize>,
    /// Index into [`super::Scene::volumes`].
    pub volume: Option<usize>,
    /// True if it is visible at rest, provided that all ancestors are (KHR_node_visibility).
    pub visible: bool,
    /// True if it is an instance of its parent and uses the parent's morph weights (EXT_mesh_gpu_instancing).
    pub instance: bool,
}

impl Default for Node {
    /// Returns a visible node without contents.
    fn default() -> Self {
        Self {
            name: String::new(),
            parent: None,
            transform: Transform::Matrix(DMat4::IDENTITY),
            mesh: None,
            skin: None,
            weights: Vec::new(),
            light: None,
            file_from_light: None,
            camera: None,
            volume: None,
            visible: true,
            instance: false,
        }
    }
}

/// Local transform of a node, in f64 like the file. A root may be a million metres from the world origin,
/// with a child that is translated back.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Transform {
    /// Translation, rotation and scale, which clips can animate.
    Trs {
        /// Translation in metres.
        translation: DVec3,
        /// Unit quaternion.
        rotation: DQuat,
        /// Scale per axis.
        scale: DVec3,
    },
    /// Matrix, which clips cannot animate.
    Matrix(DMat4),
}

impl Transform {
    /// Returns the matrix from the node to its parent.
    pub fn matrix(&self) -> DMat4 {
        match *self {
            Self::Trs {
                translation,
                rotation,
                scale,
            } => DMat4::from_scale_rotation_translation(scale, rotation, translation),
            Self::Matrix(matrix) => matrix,
        }
    }
}

/// Joints of a skin with their inverse bind matrices.
#[derive(Debug, Clone)]
pub struct Skin {
    /// Indices into [`super::Scene::nodes`].
    pub joints: Vec<usize>,
    /// `joint_from_mesh` at bind time, one per joint.
    pub joint_from_mesh: Vec<Mat4>,
}
