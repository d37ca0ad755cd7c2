//! Scene graph: the contents of all files.

use super::{
    camera::Camera,
    clip::Clip,
    image::Image,
    light::Light,
    material::Material,
    mesh::Mesh,
    node::{Node, Skin},
    texture::Texture,
    volume::Volume,
};
use crate::{Error, Result, settings::UpAxis};
use glam::Mat4;
use std::{collections::BTreeMap, path::PathBuf};

/// Contents of all files.
#[derive(Debug, Clone, Default)]
pub struct Scene {
    /// Nodes, parents before their children.
    pub nodes: Vec<Node>,
    /// Meshes; several nodes may share one.
    pub meshes: Vec<Mesh>,
    /// Skins, which nodes refer to.
    pub skins: Vec<Skin>,
    /// Materials, which primitives refer to.
    pub materials: Vec<Material>,
    /// Textures, which materials refer to.
    pub textures: Vec<Texture>,
    /// Decoded images.
    pub images: Vec<Image>,
    /// Animation clips.
    pub clips: Vec<Clip>,
    /// Lights, which nodes refer to.
    pub lights: Vec<Light>,
    /// True if the files have lights. Set by edits, which may add or remove lights. With `None`, the nodes of
    /// the scene determine it.
    pub files_have_lights: Option<bool>,
    /// True if the scene is a landscape, so that it is lit by the sky unless the settings choose. Otherwise
    /// it is an object in a studio.
    pub is_outdoors: bool,
    /// Length of occlusion rays in metres, if the scene is a room without light from outside.
    pub closed_room: Option<f32>,
    /// Lights that edits have switched off, keyed by node.
    pub disabled_lights: BTreeMap<usize, usize>,
    /// Cameras, which nodes refer to.
    pub cameras: Vec<Camera>,
    /// Volumes, which nodes refer to.
    pub volumes: Vec<Volume>,
    /// Variant names of KHR_materials_variants. Their materials are in [`super::Primitive::variants`].
    pub variants: Vec<String>,
    /// Extensions that the files list, by name.
    pub extensions: Vec<ExtensionUse>,
    /// Files of the scene.
    pub sources: Vec<Source>,
    /// Warnings about anything that was ignored, replaced or repaired. Each is one line with the names of the
    /// file and the object.
    pub warnings: Vec<String>,
    /// Objects that warnings are about, as far as known: the index of a warning, and an object of the scene.
    pub warning_places: Vec<(usize, WarningPlace)>,
    /// Rotation from the files' up axis to +Y. See [`Scene::set_up_axis`].
    pub world_from_file: Mat4,
    /// Up axis that the files suggest.
    pub up: UpHint,
    /// Name of the image in an OBJ's folder that has the OBJ's name, if the OBJ has no textures and the image
    /// was not used (`load.obj_texture`).
    pub unused_texture: Option<String>,
    /// Paths of all files that were read, and of those that were missing. The scene is stale when any of them
    /// changes.
    pub dependencies: Vec<PathBuf>,
}

/// Object of a scene that a warning is about, by index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the fields of Scene have these names")]
pub enum WarningPlace {
    Node(usize),
    Mesh(usize),
    Material(usize),
    Camera(usize),
    Clip(usize),
}

/// A file that a scene was loaded from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Path of the file.
    pub name: String,
    /// Format, such as "glTF 2.0".
    pub format: &'static str,
    /// Size in bytes, without the files that it refers to.
    pub bytes: u64,
    /// Program that wrote the file, according to the file.
    pub generator: Option<String>,
    /// Copyright notice.
    pub copyright: Option<String>,
}

/// A glTF extension that a file lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExtensionUse {
    /// Name of the extension.
    pub name: String,
    /// True if a file lists it as required.
    pub required: bool,
    /// Level of support.
    pub treatment: Treatment,
    /// Effect on the image.
    pub note: &'static str,
}

/// Level of support for an extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Treatment {
    /// Fully supported.
    Full,
    /// Approximated.
    Approximate,
    /// Ignored, without any effect.
    Ignored,
}

impl Treatment {
    /// Returns the name for JSON and for the panel.
    pub fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Approximate => "approximate",
            Self::Ignored => "ignored",
        }
    }
}

/// Evidence in files about their up axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UpHint {
    /// No evidence, or the +Y axis of glTF.
    #[default]
    None,
    /// A file specifies the axis, or the program that wrote it always uses this axis.
    Stated(UpAxis),
    /// The shape is a scan that stands on its only base if this axis points up.
    Stands(UpAxis),
    /// The shape stands on a base if this axis points up, but other orientations are possible.
    Likely(UpAxis),
}

impl UpHint {
    /// Combines the evidence of several files. It counts only if all agree.
    pub(super) fn of_all(hints: &[Self]) -> Self {
        match hints.split_first() {
            Some((first, others)) if others.iter().all(|other| other == first) => *first,
            _ => Self::None,
        }
    }
}

impl Scene {
    /// Iterates over (node, mesh) pairs of nodes that have a mesh. This is the order of instances in the BVH
    /// and of the merged buffers.
    pub fn instances(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.nodes
            .iter()
            .enumerate()
            .filter_map(|(node, n)| n.mesh.map(|mesh| (node, mesh)))
    }

    /// True if the scene has lights of its own, so that it needs no default sun.
    pub fn has_lights(&self) -> bool {
        let nodes = || self.nodes.iter().any(|node| node.light.is_some());
        self.files_have_lights.unwrap_or_else(nodes)
    }

    /// Returns the world matrix of the light at `node`, whose own matrix is `world_from_node`.
    pub fn world_from_light(&self, node: usize, world_from_node: Mat4) -> Mat4 {
        match self.nodes[node].file_from_light {
            Some(file_from_light) => self.world_from_file * file_from_light,
            None => world_from_node,
        }
    }

    /// Returns the numbers of lines and of points of all instances.
    pub fn line_and_point_counts(&self) -> [usize; 2] {
        let shown = self.instances().map(|(_, mesh)| &self.meshes[mesh]);
        shown
            .flat_map(|mesh| &mesh.primitives)
            .fold([0, 0], |[lines, points], primitive| {
                [lines + primitive.lines.len(), points + primitive.points.len()]
            })
    }

    /// Sets the material of every primitive to the primitive's material in a variant. Primitives without a
    /// material in the variant keep their own. With `None`, all primitives keep their own.
    pub fn choose_variant(&mut self, variant: Option<usize>) {
        for primitive in self.meshes.iter_mut().flat_map(|mesh| &mut mesh.primitives) {
            let of = |wanted| primitive.variants.iter().find(|(of, _)| *of == wanted);
            if let Some((_, material)) = of(variant).or_else(|| of(None)) {
                primitive.material = *material;
            }
        }
    }

    /// Returns the clip with this name or index. `none` is the rest pose, and so is `0` in a scene without
    /// clips.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`], which lists the clips of the scene.
    pub fn clip(&self, name: &str) -> Result<Option<usize>> {
        if name == "none" || (name == "0" && self.clips.is_empty()) {
            return Ok(None);
        }
        let names: Vec<&str> = self.clips.iter().map(|c| c.name.as_str()).collect();
        choose("clip", name, &names).map(Some)
    }

    /// Returns the camera with this name or index, or `None` for an empty name.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`], which lists the cameras of the scene.
    pub fn camera(&self, name: &str) -> Result<Option<usize>> {
        if name.is_empty() {
            return Ok(None);
        }
        let names: Vec<&str> = self.cameras.iter().map(|c| c.name.as_str()).collect();
        choose("camera", name, &names).map(Some)
    }

    /// Returns the variant with this name or index, or `None` for an empty name.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`], which lists the variants of the scene.
    pub fn variant(&self, name: &str) -> Result<Option<usize>> {
        if name.is_empty() {
            return Ok(None);
        }
        let names: Vec<&str> = self.variants.iter().map(String::as_str).collect();
        choose("variant", name, &names).map(Some)
    }
}

/// Returns the index in `names` for `name`, a name or an index as text. A name takes precedence.
fn choose(kind: &str, name: &str, names: &[&str]) -> Result<usize> {
    let by_number = || name.parse().ok().filter(|&n| n < names.len());
    names
        .iter()
        .position(|n| *n == name)
        .or_else(by_number)
        .ok_or_else(|| {
            let listed: Vec<String> = names
                .iter()
                .enumerate()
                .map(|(i, n)| format!("{i} \"{n}\""))
                .collect();
            let has = if listed.is_empty() {
                "none".into()
            } else {
                listed.join(", ")
            };
            Error::NotFound(format!("no {kind} \"{name}\"; the scene has {has}"))
        })
}
