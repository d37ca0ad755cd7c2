//! Index mapping of materials, lights and nodes after files were reloaded. Objects are matched by name, and
//! by their order among objects of the same name.

use crate::scene::{Scene, edits::SceneEdits};
use std::collections::HashMap;

/// New index of each object by its old index.
#[derive(Debug)]
pub(in crate::app) struct Renumbered {
    materials: Vec<Option<usize>>,
    lights: Vec<Option<usize>>,
    nodes: Vec<Option<usize>>,
    /// True if all nodes have kept their indices.
    keeps_nodes: bool,
}

impl Renumbered {
    /// Returns the mapping from the scene `before` to `after`, both without edits.
    pub(in crate::app) fn new(before: &Scene, after: &Scene) -> Self {
        let nodes = |scene: &Scene| -> Vec<_> {
            let nodes = scene.nodes.iter();
            nodes.map(|node| (node.name.clone(), node.mesh)).collect()
        };
        Self {
            materials: by_name(
                before.materials.iter().map(|m| m.name.as_str()),
                after.materials.iter().map(|m| m.name.as_str()),
            ),
            lights: by_name(
                before.lights.iter().map(|l| l.name.as_str()),
                after.lights.iter().map(|l| l.name.as_str()),
            ),
            nodes: by_name(
                before.nodes.iter().map(|n| n.name.as_str()),
                after.nodes.iter().map(|n| n.name.as_str()),
            ),
            keeps_nodes: nodes(before) == nodes(after),
        }
    }

    /// Returns the new index of the material `before`.
    pub(in crate::app) fn material(&self, before: usize) -> Option<usize> {
        self.materials.get(before).copied().flatten()
    }

    /// Returns the new index of the light `before`.
    pub(in crate::app) fn light(&self, before: usize) -> Option<usize> {
        self.lights.get(before).copied().flatten()
    }

    /// Returns the new index of the node `before`.
    pub(in crate::app) fn node(&self, before: usize) -> Option<usize> {
        self.nodes.get(before).copied().flatten()
    }

    /// True if all nodes have kept their indices, so that hidden nodes can stay hidden.
    pub(in crate::app) fn keeps_nodes(&self) -> bool {
        self.keeps_nodes
    }

    /// Maps edits of the old scene to edits of the unedited scene `after`, and returns the number of edits
    /// without a target. Values that the new files already have are no longer edits.
    pub(in crate::app) fn edits(&self, edits: &SceneEdits, after: &Scene) -> (SceneEdits, usize) {
        let mut kept = SceneEdits {
            added: edits.added.clone(),
            ..SceneEdits::default()
        };
        let mut dropped = 0;
        for (index, values) in &edits.materials {
            let Some(index) = self.material(*index) else {
                dropped += 1;
                continue;
            };
            let of_file = &after.materials[index];
            let mut wanted = of_file.clone();
            for (value, to) in values {
                value.set(&mut wanted, *to);
                dropped += usize::from(value.of(of_file).is_none());
            }
            kept.set_material(index, of_file, &wanted);
        }
        for (index, values) in &edits.lights {
            let Some(index) = self.light(*index) else {
                dropped += 1;
                continue;
            };
            let of_file = &after.lights[index];
            let mut wanted = of_file.clone();
            for (value, to) in values {
                value.set(&mut wanted, *to);
                dropped += usize::from(value.of(of_file).is_none());
            }
            kept.set_light(index, of_file, &wanted);
        }
        for (index, place) in &edits.places {
            let found = self.node(*index);
            match found.filter(|found| after.nodes[*found].light.is_some()) {
                Some(found) => _ = kept.places.insert(found, *place),
                None => dropped += 1,
            }
        }
        (kept, dropped)
    }
}

fn by_name<'a>(
    before: impl Iterator<Item = &'a str>,
    after: impl Iterator<Item = &'a str>,
) -> Vec<Option<usize>> {
    let after: HashMap<_, _> = numbered(after).zip(0..).collect();
    numbered(before).map(|name| after.get(&name).copied()).collect()
}

/// Returns each name with the number of its earlier occurrences.
fn numbered<'a>(names: impl Iterator<Item = &'a str>) -> impl Iterator<Item = (&'a str, usize)> {
    let mut counts = HashMap::new();
    names.map(move |name| {
        let count = counts.entry(name).or_insert(0);
        *count += 1;
        (name, *count - 1)
    })
}
