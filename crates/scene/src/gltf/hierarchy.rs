//! The node hierarchy: which nodes are in the scene, parents before children.

use super::file::{File, Tally};
use crate::{
    Result,
    load::{Budget, Load},
};
use std::collections::HashSet;

/// The file's nodes that are in the scene.
#[derive(Debug)]
pub(super) struct Hierarchy {
    /// Parents before children.
    pub(super) order: Vec<OrderedNode>,
    /// The index into `order` of each of the file's nodes.
    pub(super) index_of: Vec<Option<usize>>,
    /// The parent of each of the file's nodes.
    parents: Vec<Option<usize>>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct OrderedNode {
    /// The file's number.
    pub(super) node: usize,
    /// Index of the parent in the order.
    pub(super) parent: Option<usize>,
    /// Whether it is in the scene itself, or only moves a joint.
    pub(super) shown: bool,
}

/// Orders the nodes as a forest. A node that is listed more than once is in it once.
pub(super) fn read(file: &File<'_>, load: &mut Load<'_>) -> Result<Hierarchy> {
    let nodes = &file.root.nodes;
    load.take(Budget::Nodes, nodes.len() as u64, || {
        file.path.display().to_string()
    })?;
    let lists = lists(file)?;
    let chosen = match file.root.scene.map(|scene| scene.value()) {
        Some(scene) if scene >= file.root.scenes.len() => {
            let scenes = file.root.scenes.len();
            let instead = if scenes > 0 { "scene 0" } else { "every node" };
            file.warn(format!(
                "the default scene is scene {scene}, and the file has {scenes}; {instead} is shown"
            ));
            file.root.scenes.first()
        }
        scene => file.root.scenes.get(scene.unwrap_or(0)),
    };
    let roots: Vec<usize> = match chosen {
        Some(scene) => scene.nodes.iter().map(|n| n.value()).collect(),
        None => (0..nodes.len()).filter(|&n| lists[n] == 0).collect(),
    };
    let shown = below(file, &roots)?;
    let mut hierarchy = Hierarchy {
        order: Vec::new(),
        index_of: vec![None; nodes.len()],
        parents: parents(file, &shown),
    };
    let (mut twice, mut child_roots) = (Tally::default(), Tally::default());
    let mut listed = HashSet::new();
    for root in roots {
        if !listed.insert(root) {
            twice.add(|| format!("the scene lists node {root} twice"));
        } else if let Some(parent) = hierarchy.parents[root] {
            child_roots
                .add(|| format!("the scene lists node {root} as a root, and it is a child of node {parent}"));
        }
        // A root that is another's child is drawn below it.
        hierarchy.add(file, hierarchy.topmost(root), &shown);
    }
    twice.tell(file, "it is drawn once");
    child_roots.tell(file, "it is drawn once, where that puts it");
    // Joints may lie outside the scene; they still move it.
    let mut seen = HashSet::new();
    for (node, skin) in hierarchy.skinned(file) {
        if !seen.insert(skin) {
            continue;
        }
        let skin = file.get(&file.root.skins, "skin", skin, || format!("node {node}"))?;
        for &joint in &skin.joints {
            let joint = joint.value();
            file.get(nodes, "node", joint, || format!("a skin of node {node}"))?;
            hierarchy.add(file, hierarchy.topmost(joint), &shown);
        }
    }
    Ok(hierarchy)
}

/// How often each node is listed as a child. Fails where one is its own ancestor.
fn lists(file: &File<'_>) -> Result<Vec<usize>> {
    let nodes = &file.root.nodes;
    let mut lists = vec![0; nodes.len()];
    for parent in 0..nodes.len() {
        for child in children(file, parent) {
            file.get(nodes, "node", child, || format!("node {parent}"))?;
            lists[child] += 1;
        }
    }
    // The nodes that remain when those without parents are removed again and again are on a cycle or below
    // one.
    let mut left = lists.clone();
    let mut queue: Vec<usize> = (0..nodes.len()).filter(|&n| left[n] == 0).collect();
    while let Some(node) = queue.pop() {
        for child in children(file, node) {
            left[child] -= 1;
            if left[child] == 0 {
                queue.push(child);
            }
        }
    }
    let Some(lost) = left.iter().position(|&n| n > 0) else {
        return Ok(lists);
    };
    let mut above = vec![lost; nodes.len()];
    for parent in (0..nodes.len()).filter(|&n| left[n] > 0) {
        children(file, parent).for_each(|child| above[child] = parent);
    }
    let on_cycle = (0..nodes.len()).fold(lost, |node, _| above[node]);
    Err(file.error(format!("node {on_cycle} is its own ancestor")))
}

/// Whether each node is one of `roots`, or below one.
fn below(file: &File<'_>, roots: &[usize]) -> Result<Vec<bool>> {
    let nodes = &file.root.nodes;
    let mut below = vec![false; nodes.len()];
    let mut queue = Vec::new();
    for &root in roots {
        file.get(nodes, "node", root, || "the scene".into())?;
        queue.push(root);
        while let Some(node) = queue.pop() {
            if !std::mem::replace(&mut below[node], true) {
                queue.extend(children(file, node));
            }
        }
    }
    Ok(below)
}

/// The parent of each node: the first that lists it, if there is one the first that is shown.
fn parents(file: &File<'_>, shown: &[bool]) -> Vec<Option<usize>> {
    let mut parents: Vec<Option<usize>> = vec![None; shown.len()];
    let mut again = Tally::default();
    for parent in 0..shown.len() {
        for child in children(file, parent) {
            let Some(first) = parents[child] else {
                parents[child] = Some(parent);
                continue;
            };
            again.add(|| {
                if first == parent {
                    format!("node {child} is a child of node {first} twice")
                } else {
                    format!("node {child} is a child of node {first} and of node {parent}")
                }
            });
            if shown[parent] && !shown[first] {
                parents[child] = Some(parent);
            }
        }
    }
    again.tell(file, "it is drawn once, below the first that is shown");
    parents
}

fn children(file: &File<'_>, node: usize) -> impl DoubleEndedIterator<Item = usize> {
    let children = file.root.nodes[node].children.iter().flatten();
    children.map(|child| child.value())
}

impl Hierarchy {
    /// The first of `node` and its ancestors that is in the order already, or the topmost of them.
    fn topmost(&self, node: usize) -> usize {
        let mut topmost = node;
        while let Some(parent) = self.parents[topmost].filter(|_| self.index_of[topmost].is_none()) {
            topmost = parent;
        }
        topmost
    }

    /// Adds a root and everything below it, unless it is there.
    fn add(&mut self, file: &File<'_>, root: usize, shown: &[bool]) {
        let mut queue = vec![(root, None)];
        while let Some((node, parent)) = queue.pop() {
            if self.index_of[node].is_some() {
                continue;
            }
            let index = self.order.len();
            self.index_of[node] = Some(index);
            self.order.push(OrderedNode {
                node,
                parent,
                shown: shown[node],
            });
            let children = children(file, node).rev();
            let own = children.filter(|&child| self.parents[child] == Some(node));
            queue.extend(own.map(|child| (child, Some(index))));
        }
    }

    /// Nodes that show a mesh with a skin, and the skin.
    fn skinned(&self, file: &File<'_>) -> Vec<(usize, usize)> {
        let shown = self
            .order
            .iter()
            .filter(|p| p.shown)
            .map(|p| (p.node, &file.root.nodes[p.node]));
        shown
            .filter(|(_, json)| json.mesh.is_some())
            .filter_map(|(node, json)| Some((node, json.skin?.value())))
            .collect()
    }
}
