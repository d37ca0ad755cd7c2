//! Edits of materials and lights on top of a scene's files. Edits are plain data. Applying edits replaces the
//! previous ones, and applying none restores the scene of the files.

pub use super::edit_values::{Field, LightValue, MaterialValue, Value};
use super::{
    graph::Scene,
    light::Light,
    material::Material,
    node::{Node, Transform},
};
use glam::Mat4;
use std::collections::{BTreeMap, BTreeSet};

/// All edits of a scene.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SceneEdits {
    /// Edited values of materials, keyed by the index of the material.
    pub materials: BTreeMap<usize, BTreeMap<MaterialValue, Value>>,
    /// Edited values of lights of the files, keyed by the index of the light. They apply to every node that
    /// refers to the light.
    pub lights: BTreeMap<usize, BTreeMap<LightValue, Value>>,
    /// Edits of the light at each edited node of the files, keyed by node.
    pub places: BTreeMap<usize, LightEdit>,
    /// Added lights. Their nodes come after the nodes of the files.
    pub added: Vec<AddedLight>,
}

/// Edit of the light at a node.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct LightEdit {
    /// Transform in the axes of the file, or `None` for the transform of its node.
    pub file_from_light: Option<Mat4>,
    /// True if it is switched off.
    pub is_off: bool,
    /// True if it was removed.
    pub is_removed: bool,
}

/// A light that was added by an edit.
#[derive(Debug, Clone, PartialEq)]
pub struct AddedLight {
    /// Values of the light.
    pub light: Light,
    /// Transform in the axes of the file. The light shines along −Z.
    pub file_from_light: Mat4,
    /// True if it is switched off.
    pub is_off: bool,
}

impl SceneEdits {
    /// True if there are no edits.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Edits a material so that its values equal `wanted`. Values that equal `of_file` are not edits.
    pub fn set_material(&mut self, index: usize, of_file: &Material, wanted: &Material) {
        let differs = |value: &MaterialValue| value.differs(of_file, wanted);
        let values = MaterialValue::ALL.into_iter().filter(differs);
        let values = values.filter_map(|value| Some((value, value.of(wanted)?)));
        replace_or_remove(&mut self.materials, index, values.collect());
    }

    /// Edits a light of the files like [`Self::set_material`] edits a material.
    pub fn set_light(&mut self, index: usize, of_file: &Light, wanted: &Light) {
        let differs = |value: &LightValue| value.of(of_file) != value.of(wanted);
        let values = LightValue::ALL.into_iter().filter(differs);
        let values = values.filter_map(|value| Some((value, value.of(wanted)?)));
        replace_or_remove(&mut self.lights, index, values.collect());
    }
}

fn replace_or_remove<K, V>(all: &mut BTreeMap<usize, BTreeMap<K, V>>, index: usize, values: BTreeMap<K, V>) {
    match values.is_empty() {
        true => all.remove(&index),
        false => all.insert(index, values),
    };
}

/// Edits that are applied to a scene, and the values of its files that they replaced.
#[derive(Debug, Clone, Default)]
pub struct AppliedEdits {
    edits: SceneEdits,
    of_files: Option<Originals>,
}

/// Original values that edits have replaced.
#[derive(Debug, Clone)]
struct Originals {
    nodes: usize,
    lights: usize,
    materials: BTreeMap<usize, Material>,
    light_values: BTreeMap<usize, Light>,
    /// Original light of each node whose light was edited.
    node_lights: BTreeMap<usize, Option<usize>>,
}

impl AppliedEdits {
    /// Returns the edits that are applied to the scene.
    pub fn edits(&self) -> &SceneEdits {
        &self.edits
    }

    /// Restores `scene` to its files and applies `edits`. Returns the materials that changed. Edits of things
    /// that the scene does not have are ignored.
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
        scene.disabled_lights.clear();
        scene.files_have_lights = None;
    }

    /// Returns a material as in the files.
    pub fn material_of_files<'a>(&'a self, scene: &'a Scene, index: usize) -> Option<&'a Material> {
        let replaced = self.of_files.as_ref();
        let replaced = replaced.and_then(|of_files| of_files.materials.get(&index));
        replaced.or_else(|| scene.materials.get(index))
    }

    /// Returns a light as in the files, or `None` for an added one.
    pub fn light_of_files<'a>(&'a self, scene: &'a Scene, index: usize) -> Option<&'a Light> {
        let Some(of_files) = &self.of_files else {
            return scene.lights.get(index);
        };
        let replaced = of_files.light_values.get(&index);
        let of_scene = || scene.lights.get(index).filter(|_| index < of_files.lights);
        replaced.or_else(of_scene)
    }

    /// Returns the light that a node has in the files.
    pub fn light_at(&self, scene: &Scene, node: usize) -> Option<usize> {
        let replaced = self.of_files.as_ref();
        let replaced = replaced.and_then(|of_files| of_files.node_lights.get(&node));
        match replaced {
            Some(light) => *light,
            None => scene.nodes.get(node)?.light,
        }
    }

    /// Returns the number of nodes in the files. The nodes of added lights come after them.
    pub fn node_count(&self, scene: &Scene) -> usize {
        let of_files = self.of_files.as_ref();
        of_files.map_or(scene.nodes.len(), |of_files| of_files.nodes)
    }

    /// Returns the nodes that have lights: nodes of the files whose light was not removed, then added nodes.
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

/// Applies `edits` to a scene that is as in its files. Returns the values that they replaced.
fn replace(scene: &mut Scene, edits: &SceneEdits) -> Originals {
    let mut of_files = Originals {
        nodes: scene.nodes.len(),
        lights: scene.lights.len(),
        materials: BTreeMap::new(),
        light_values: BTreeMap::new(),
        node_lights: BTreeMap::new(),
    };
    scene.files_have_lights = Some(scene.nodes.iter().any(|node| node.light.is_some()));
    for (index, values) in &edits.materials {
        if let Some(known) = scene.materials.get_mut(*index) {
            of_files.materials.insert(*index, known.clone());
            values.iter().for_each(|(value, to)| value.set(known, *to));
        }
    }
    for (index, values) in &edits.lights {
        if let Some(known) = scene.lights.get_mut(*index) {
            of_files.light_values.insert(*index, known.clone());
            values.iter().for_each(|(value, to)| value.set(known, *to));
        }
    }
    for (index, place) in &edits.places {
        let Some(node) = scene.nodes.get_mut(*index) else {
            continue;
        };
        of_files.node_lights.insert(*index, node.light);
        node.file_from_light = place.file_from_light;
        if place.is_off || place.is_removed {
            let light = node.light.take();
            scene.disabled_lights.extend(light.map(|light| (*index, light)));
        }
    }
    for added in &edits.added {
        let light = scene.lights.len();
        if added.is_off {
            scene.disabled_lights.insert(scene.nodes.len(), light);
        }
        scene.nodes.push(Node {
            name: added.light.name.clone(),
            transform: Transform::Matrix(added.file_from_light.as_dmat4()),
            light: (!added.is_off).then_some(light),
            ..Node::default()
        });
        scene.lights.push(added.light.clone());
    }
    of_files
}
