//! Lookup of the morph targets of nodes, by name.

use super::{graph::Scene, mesh::Primitive};
use crate::{Error, Result};

impl Scene {
    /// Returns the number of morph targets of a node's mesh. It is 0 for instances, which use the weights of
    /// their parent.
    pub fn morph_targets(&self, node: usize) -> usize {
        let node = self.nodes.get(node).filter(|node| !node.instance);
        let mesh = node.and_then(|node| self.meshes.get(node.mesh?));
        let first = mesh.and_then(|mesh| mesh.primitives.first());
        first.map_or(0, |primitive| primitive.targets.len())
    }

    /// Returns the name of a node's morph target, or its index if the file has no name.
    pub fn morph_name(&self, node: usize, target: usize) -> String {
        let mesh = self.nodes.get(node).and_then(|node| self.meshes.get(node.mesh?));
        let first = mesh.and_then(|mesh| mesh.primitives.first());
        let target_of = |primitive: &'_ Primitive| primitive.targets.get(target).map(|t| t.name.clone());
        match first.and_then(target_of) {
            Some(name) if !name.is_empty() => name,
            _ => format!("target {target}"),
        }
    }

    /// Iterates over the nodes that have morph targets, each with the number of targets.
    pub fn morphed_nodes(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let nodes = 0..self.nodes.len();
        let counted = nodes.map(|node| (node, self.morph_targets(node)));
        counted.filter(|(_, targets)| *targets > 0)
    }

    /// Parses text such as `face/smile=0.5` to a node, a target and a weight. Node and target are given by
    /// name or index.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`], which lists what would match.
    pub(super) fn morph_named(&self, text: &str) -> Result<(usize, usize, f32)> {
        let split = text.rsplit_once('=').and_then(|(name, weight)| {
            let weight = weight.trim().parse::<f32>().ok()?;
            let (node, target) = name.rsplit_once('/')?;
            weight.is_finite().then_some((node.trim(), target.trim(), weight))
        });
        let Some((node_name, target_name, weight)) = split else {
            let what = format!("animation.morphs: \"{text}\" is not NODE/TARGET=WEIGHT");
            return Err(Error::NotFound(what));
        };
        let is_node = |&(node, _): &(usize, usize)| self.nodes[node].name == node_name;
        let by_number = |&(node, _): &(usize, usize)| node_name.parse() == Ok(node);
        let found = self.morphed_nodes().find(is_node);
        let Some((node, targets)) = found.or_else(|| self.morphed_nodes().find(by_number)) else {
            let listed = self.morphed_nodes();
            let listed: Vec<_> = listed
                .map(|(node, _)| format!("{node} \"{}\"", self.nodes[node].name))
                .collect();
            let what = format!("node \"{node_name}\" with morph targets");
            return Err(missing(text, &what, "nodes", &listed));
        };
        let names: Vec<_> = (0..targets).map(|target| self.morph_name(node, target)).collect();
        let by_name = names.iter().position(|name| name == target_name);
        let number = || target_name.parse().ok().filter(|target| *target < targets);
        match by_name.or_else(number) {
            Some(target) => Ok((node, target, weight)),
            None => {
                let what = format!("morph target \"{target_name}\"");
                Err(missing(text, &what, "morph targets", &names))
            }
        }
    }
}

/// Returns the error for a missing object `what`. `listed` are the existing ones of `kind`.
fn missing(text: &str, what: &str, kind: &str, listed: &[String]) -> Error {
    let known = match listed {
        [] => format!("there are no {kind}"),
        listed => format!("{kind} are {}", listed.join(", ")),
    };
    Error::NotFound(format!("animation.morphs: \"{text}\": no {what}; {known}"))
}
