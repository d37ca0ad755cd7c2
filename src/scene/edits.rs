//! What a person changes of materials and lights, over what the files of a scene say. Edits are plain data:
//! applied, they replace the edits before, and none of them give the scene of the files back.

use super::{
    graph::Scene,
    light::Light,
    material::{AlphaMode, Material},
    node::{Node, Transform},
};
use glam::{Mat4, Vec3, Vec4};
use std::collections::{BTreeMap, BTreeSet};

/// Everything that a person has changed of a scene.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SceneEdits {
    /// Materials by their index, with all their values.
    pub materials: BTreeMap<usize, Material>,
    /// Lights of the files by their index. Every node that refers to one has it.
    pub lights: BTreeMap<usize, Light>,
    /// What became of the lights at nodes of the files, by node.
    pub places: BTreeMap<usize, LightPlace>,
    /// Lights that no file has. They are at nodes behind those of the files.
    pub added: Vec<AddedLight>,
}

/// What became of a light at a node.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct LightPlace {
    /// Where it is, in the axes of the file; `None` where its node is.
    pub file_from_light: Option<Mat4>,
    /// Whether it is switched off.
    pub is_off: bool,
    /// Whether it was removed.
    pub is_removed: bool,
}

/// A light that no file has.
#[derive(Debug, Clone, PartialEq)]
pub struct AddedLight {
    /// Its values.
    pub light: Light,
    /// Where it is, in the axes of the file. It shines along −Z.
    pub file_from_light: Mat4,
    /// Whether it is switched off.
    pub is_off: bool,
}

impl SceneEdits {
    /// Whether nothing was changed.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The edits that a scene has, and what its files say in their place.
#[derive(Debug, Clone, Default)]
pub struct AppliedEdits {
    edits: SceneEdits,
    of_files: Option<OfFiles>,
}

/// What edits have replaced.
#[derive(Debug, Clone)]
struct OfFiles {
    nodes: usize,
    lights: usize,
    materials: BTreeMap<usize, Material>,
    light_values: BTreeMap<usize, Light>,
    /// The light of each node whose light was edited.
    node_lights: BTreeMap<usize, Option<usize>>,
}

impl AppliedEdits {
    /// The edits that the scene has.
    pub fn edits(&self) -> &SceneEdits {
        &self.edits
    }

    /// Makes `scene` what its files say with `edits` over it. Returns the materials that changed. Edits of
    /// what the scene does not have are left out.
    pub fn apply(&mut self, scene: &mut Scene, edits: &SceneEdits) -> BTreeSet<usize> {
        if self.edits == *edits {
            return BTreeSet::new();
        }
        let either = self.edits.materials.keys().chain(edits.materials.keys());
        let either: BTreeSet<usize> = either
            .copied()
            .filter(|index| *index < scene.materials.len())
            .collect();
        let before: Vec<Material> = either
            .iter()
            .map(|index| scene.materials[*index].clone())
            .collect();
        self.restore(scene);
        self.edits = edits.clone();
        if !edits.is_empty() {
            self.of_files = Some(replace(scene, edits));
        }
        let changed = either.into_iter().zip(before);
        changed
            .filter(|(index, before)| scene.materials[*index] != *before)
            .map(|(index, _)| index)
            .collect()
    }

    fn restore(&mut self, scene: &mut Scene) {
        let Some(of_files) = self.of_files.take() else {
            return;
        };
        scene.nodes.truncate(of_files.nodes);
        scene.lights.truncate(of_files.lights);
        for (index, material) in of_files.materials {
            scene.materials[index] = material;
        }
        for (index, light) in of_files.light_values {
            scene.lights[index] = light;
        }
        for (node, light) in of_files.node_lights {
            scene.nodes[node].light = light;
            scene.nodes[node].file_from_light = None;
        }
        scene.files_have_lights = None;
    }

    /// A material as the files have it.
    pub fn material_of_files<'a>(&'a self, scene: &'a Scene, index: usize) -> Option<&'a Material> {
        let replaced = self.of_files.as_ref();
        let replaced = replaced.and_then(|of_files| of_files.materials.get(&index));
        replaced.or_else(|| scene.materials.get(index))
    }

    /// A light as the files have it; `None` where no file has it.
    pub fn light_of_files<'a>(&'a self, scene: &'a Scene, index: usize) -> Option<&'a Light> {
        let Some(of_files) = &self.of_files else {
            return scene.lights.get(index);
        };
        let replaced = of_files.light_values.get(&index);
        let of_scene = || scene.lights.get(index).filter(|_| index < of_files.lights);
        replaced.or_else(of_scene)
    }

    /// The light that a node of the files has there.
    pub fn light_at(&self, scene: &Scene, node: usize) -> Option<usize> {
        let replaced = self.of_files.as_ref();
        let replaced = replaced.and_then(|of_files| of_files.node_lights.get(&node));
        match replaced {
            Some(light) => *light,
            None => scene.nodes.get(node)?.light,
        }
    }

    /// Number of nodes that the files have: added lights are at those behind them.
    pub fn node_count(&self, scene: &Scene) -> usize {
        let of_files = self.of_files.as_ref();
        of_files.map_or(scene.nodes.len(), |of_files| of_files.nodes)
    }

    /// The nodes that have lights: those of the files that were not removed, then those that were added.
    pub fn light_nodes(&self, scene: &Scene) -> Vec<usize> {
        let is_removed = |node: &usize| self.edits.places.get(node).is_some_and(|p| p.is_removed);
        let count = self.node_count(scene);
        let of_files = (0..count).filter(|node| self.light_at(scene, *node).is_some());
        of_files
            .filter(|node| !is_removed(node))
            .chain(count..scene.nodes.len())
            .collect()
    }
}

/// Puts `edits` into a scene as its files have it. Returns what they replaced.
fn replace(scene: &mut Scene, edits: &SceneEdits) -> OfFiles {
    let mut of_files = OfFiles {
        nodes: scene.nodes.len(),
        lights: scene.lights.len(),
        materials: BTreeMap::new(),
        light_values: BTreeMap::new(),
        node_lights: BTreeMap::new(),
    };
    scene.files_have_lights = Some(scene.nodes.iter().any(|node| node.light.is_some()));
    for (index, material) in &edits.materials {
        if let Some(known) = scene.materials.get_mut(*index) {
            let replaced = std::mem::replace(known, material.clone());
            of_files.materials.insert(*index, replaced);
        }
    }
    for (index, light) in &edits.lights {
        if let Some(known) = scene.lights.get_mut(*index) {
            let replaced = std::mem::replace(known, light.clone());
            of_files.light_values.insert(*index, replaced);
        }
    }
    for (index, place) in &edits.places {
        let Some(node) = scene.nodes.get_mut(*index) else {
            continue;
        };
        of_files.node_lights.insert(*index, node.light);
        node.file_from_light = place.file_from_light;
        if place.is_off || place.is_removed {
            node.light = None;
        }
    }
    for added in &edits.added {
        scene.nodes.push(Node {
            name: added.light.name.clone(),
            transform: Transform::Matrix(added.file_from_light),
            light: (!added.is_off).then_some(scene.lights.len()),
            ..Node::default()
        });
        scene.lights.push(added.light.clone());
    }
    of_files
}

/// A value of a material that can be edited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    missing_docs,
    reason = "the fields of Material and Layers have these names"
)]
pub enum MaterialValue {
    BaseColor,
    Metallic,
    Roughness,
    EmissiveFactor,
    EmissiveStrength,
    NormalScale,
    OcclusionStrength,
    AlphaMode,
    AlphaCutoff,
    DoubleSided,
    Unlit,
    Ior,
    Specular,
    SpecularColor,
    Clearcoat,
    ClearcoatRoughness,
    ClearcoatNormalScale,
    SheenColor,
    SheenRoughness,
    Anisotropy,
    AnisotropyRotation,
    Iridescence,
    IridescenceIor,
    IridescenceThicknessMin,
    IridescenceThicknessMax,
    Transmission,
    Thickness,
    AttenuationDistance,
    AttenuationColor,
}

/// Where a material holds a value.
#[derive(Debug, PartialEq)]
pub enum Field<'a> {
    /// A number.
    Number(&'a mut f32),
    /// Linear red, green and blue.
    Color(&'a mut Vec3),
    /// Linear red, green, blue, and alpha.
    ColorWithAlpha(&'a mut Vec4),
    /// How alpha is used.
    Mode(&'a mut AlphaMode),
    /// Yes or no.
    Switch(&'a mut bool),
}

impl MaterialValue {
    /// All of them, those of layers last.
    pub const ALL: [Self; 29] = [
        Self::BaseColor,
        Self::Metallic,
        Self::Roughness,
        Self::EmissiveFactor,
        Self::EmissiveStrength,
        Self::NormalScale,
        Self::OcclusionStrength,
        Self::AlphaMode,
        Self::AlphaCutoff,
        Self::DoubleSided,
        Self::Unlit,
        Self::Ior,
        Self::Specular,
        Self::SpecularColor,
        Self::Clearcoat,
        Self::ClearcoatRoughness,
        Self::ClearcoatNormalScale,
        Self::SheenColor,
        Self::SheenRoughness,
        Self::Anisotropy,
        Self::AnisotropyRotation,
        Self::Iridescence,
        Self::IridescenceIor,
        Self::IridescenceThicknessMin,
        Self::IridescenceThicknessMax,
        Self::Transmission,
        Self::Thickness,
        Self::AttenuationDistance,
        Self::AttenuationColor,
    ];

    /// Where `material` holds it; `None` for layers of a material without any.
    pub fn field(self, material: &mut Material) -> Option<Field<'_>> {
        let of_base = match self {
            Self::BaseColor => Field::ColorWithAlpha(&mut material.base_color),
            Self::Metallic => Field::Number(&mut material.metallic),
            Self::Roughness => Field::Number(&mut material.roughness),
            Self::EmissiveFactor => Field::Color(&mut material.emissive_factor),
            Self::EmissiveStrength => Field::Number(&mut material.emissive_strength),
            Self::NormalScale => Field::Number(&mut material.normal_scale),
            Self::OcclusionStrength => Field::Number(&mut material.occlusion_strength),
            Self::AlphaMode => Field::Mode(&mut material.alpha_mode),
            Self::AlphaCutoff => Field::Number(&mut material.alpha_cutoff),
            Self::DoubleSided => Field::Switch(&mut material.double_sided),
            Self::Unlit => Field::Switch(&mut material.unlit),
            _ => {
                let layers = material.layers.as_deref_mut()?;
                return Some(match self {
                    Self::Ior => Field::Number(&mut layers.ior),
                    Self::Specular => Field::Number(&mut layers.specular),
                    Self::SpecularColor => Field::Color(&mut layers.specular_color),
                    Self::Clearcoat => Field::Number(&mut layers.clearcoat),
                    Self::ClearcoatRoughness => Field::Number(&mut layers.clearcoat_roughness),
                    Self::ClearcoatNormalScale => Field::Number(&mut layers.clearcoat_normal_scale),
                    Self::SheenColor => Field::Color(&mut layers.sheen_color),
                    Self::SheenRoughness => Field::Number(&mut layers.sheen_roughness),
                    Self::Anisotropy => Field::Number(&mut layers.anisotropy),
                    Self::AnisotropyRotation => Field::Number(&mut layers.anisotropy_rotation),
                    Self::Iridescence => Field::Number(&mut layers.iridescence),
                    Self::IridescenceIor => Field::Number(&mut layers.iridescence_ior),
                    Self::IridescenceThicknessMin => {
                        Field::Number(&mut layers.iridescence_thickness_min)
                    }
                    Self::IridescenceThicknessMax => {
                        Field::Number(&mut layers.iridescence_thickness_max)
                    }
                    Self::Transmission => Field::Number(&mut layers.transmission),
                    Self::Thickness => Field::Number(&mut layers.thickness),
                    Self::AttenuationDistance => Field::Number(&mut layers.attenuation_distance),
                    _ => Field::Color(&mut layers.attenuation_color),
                });
            }
        };
        Some(of_base)
    }

    /// Whether two materials differ in it.
    pub fn differs(self, a: &Material, b: &Material) -> bool {
        let (mut a, mut b) = (a.clone(), b.clone());
        self.field(&mut a) != self.field(&mut b)
    }

    /// Gives `to` the value of `of`.
    pub fn copy(self, of: &Material, to: &mut Material) {
        let mut of = of.clone();
        match (self.field(&mut of), self.field(to)) {
            (Some(Field::Number(value)), Some(Field::Number(to))) => *to = *value,
            (Some(Field::Color(value)), Some(Field::Color(to))) => *to = *value,
            (Some(Field::ColorWithAlpha(value)), Some(Field::ColorWithAlpha(to))) => *to = *value,
            (Some(Field::Mode(value)), Some(Field::Mode(to))) => *to = *value,
            (Some(Field::Switch(value)), Some(Field::Switch(to))) => *to = *value,
            _ => {}
        }
        if matches!(self, Self::EmissiveFactor | Self::EmissiveStrength) {
            to.multiply_emission();
        }
    }
}
