//! The scene graph: everything that files hold.

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

/// Everything that files hold.
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
    /// Whether the files have lights, where edits may have added or removed some; `None` where nodes tell it.
    pub files_have_lights: Option<bool>,
    /// True where it is lit by the sky if the settings leave it open: it is a landscape, not a thing in a studio.
    pub is_outdoors: bool,
    /// Length in metres of occlusion rays where the scene is a room that no light from outside reaches, if it is one.
    pub closed_room: Option<f32>,
    /// Lights that edits have switched off, by their nodes.
    pub dark_lights: BTreeMap<usize, usize>,
    /// Cameras, which nodes refer to.
    pub cameras: Vec<Camera>,
    /// Volumes, which nodes refer to.
    pub volumes: Vec<Volume>,
    /// Names of the variants of KHR_materials_variants; [`super::Primitive::variants`] has their materials.
    pub variants: Vec<String>,
    /// The extensions that the files list, by name.
    pub extensions: Vec<ExtensionUse>,
    /// The files that it comes from.
    pub sources: Vec<Source>,
    /// What was ignored, replaced or repaired: a line each, which names the file and the thing.
    pub warnings: Vec<String>,
    /// What warnings are about, as far as loading knows it: the index of a warning, and a thing of the scene.
    pub warning_places: Vec<(usize, WarningPlace)>,
    /// Turns the files' upward axis to +Y; no translation, no scale. See [`Scene::turn_up`].
    pub world_from_file: Mat4,
    /// What the files tell of their upward axis.
    pub up: UpHint,
    /// The image that has the name of an OBJ without textures and lies beside it, if it was not used
    /// (`load.obj_texture`).
    pub unused_texture: Option<String>,
    /// The paths of all files that were read, and of those that were missing: where one changes, so does the
    /// scene.
    pub dependencies: Vec<PathBuf>,
}

/// A thing of a scene that a warning is about, by its index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the fields of Scene have these names")]
pub enum WarningPlace {
    Node(usize),
    Mesh(usize),
    Material(usize),
    Camera(usize),
    Clip(usize),
}

/// A file that a scene comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Its path.
    pub name: String,
    /// Its format: "glTF 2.0".
    pub format: &'static str,
    /// Its size, without the files that it refers to.
    pub bytes: u64,
    /// The program that made it, as it says itself.
    pub generator: Option<String>,
    /// The copyright notice.
    pub copyright: Option<String>,
}

/// A glTF extension that a file lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExtensionUse {
    /// Its name.
    pub name: String,
    /// Whether a file lists it as required.
    pub required: bool,
    /// What canopy does with it.
    pub treatment: Treatment,
    /// The effect on the picture.
    pub note: &'static str,
}

/// What canopy does with an extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Treatment {
    /// It is shown in full.
    Full,
    /// It is shown approximately.
    Approximate,
    /// It changes nothing.
    Ignored,
}

impl Treatment {
    /// The name in JSON and on the panel.
    pub fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Approximate => "approximate",
            Self::Ignored => "ignored",
        }
    }
}

/// What files tell of the axis that points up in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UpHint {
    /// Nothing, or that it is +Y, as in glTF.
    #[default]
    None,
    /// A file says it, or names a program that always writes it so.
    Stated(UpAxis),
    /// A scan stands on its one base if this axis points up.
    Stands(UpAxis),
    /// The shape stands on a base if this axis points up, and may be meant otherwise.
    Likely(UpAxis),
}

impl UpHint {
    /// What several files tell together: only what all of them tell.
    pub(super) fn of_all(hints: &[Self]) -> Self {
        match hints.split_first() {
            Some((first, others)) if others.iter().all(|other| other == first) => *first,
            _ => Self::None,
        }
    }
}

impl Scene {
    /// The (node, mesh) pairs of nodes that have a mesh: the order of the tree's meshes and of the merged
    /// buffers.
    pub fn instances(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.nodes
            .iter()
            .enumerate()
            .filter_map(|(node, n)| n.mesh.map(|mesh| (node, mesh)))
    }

    /// Whether the scene brings light of its own, so that it needs no other sun.
    pub fn has_lights(&self) -> bool {
        let nodes = || self.nodes.iter().any(|node| node.light.is_some());
        self.files_have_lights.unwrap_or_else(nodes)
    }

    /// World matrix of the light at `node`, whose own one is `world_from_node`.
    pub fn world_from_light(&self, node: usize, world_from_node: Mat4) -> Mat4 {
        match self.nodes[node].file_from_light {
            Some(file_from_light) => self.world_from_file * file_from_light,
            None => world_from_node,
        }
    }

    /// The numbers of lines and of points of all instances.
    pub fn line_and_point_counts(&self) -> [usize; 2] {
        let shown = self.instances().map(|(_, mesh)| &self.meshes[mesh]);
        shown
            .flat_map(|mesh| &mesh.primitives)
            .fold([0, 0], |[lines, points], primitive| {
                [lines + primitive.lines.len(), points + primitive.points.len()]
            })
    }

    /// Gives every primitive its material in a variant; its own where it has none there or `variant` is
    /// `None`.
    pub fn choose_variant(&mut self, variant: Option<usize>) {
        for primitive in self.meshes.iter_mut().flat_map(|mesh| &mut mesh.primitives) {
            let of = |wanted| primitive.variants.iter().find(|(of, _)| *of == wanted);
            if let Some((_, material)) = of(variant).or_else(|| of(None)) {
                primitive.material = *material;
            }
        }
    }

    /// The clip with this name, or with this number from 0. `none` is the rest pose, and so is `0` in a scene
    /// without clips.
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

    /// The camera with this name, or with this number from 0; `None` for an empty name.
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

    /// The variant with this name, or with this number from 0; `None` for an empty name.
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

/// The index that `name` means in `names`: as a name first, then as a number.
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
