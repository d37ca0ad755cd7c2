//! Node hierarchy: the nodes that are in the scene, parents before children.

use super::file::{File, Tally};
use crate::{
    Result,
    load::{Budget, Load},
};
use std::collections::HashSet;

/// Nodes of the file that are in the scene.
#[derive(Debug)]
pub(super) struct Hierarchy {
    /// Nodes, parents before children.
    pub(super) order: Vec<OrderedNode>,
    /// Index into `order` of each node of the file.
    pub(super) index_of: Vec<Option<usize>>,
    /// Parent of each node of the file.
    parents: Vec<Option<usize>>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct OrderedNode {
    /// Index of the node in the file.
    pub(super) node: usize,
    /// Index of the parent in the order.
    pub(super) parent: Option<usize>,
    /// True if the node is in the scene itself. False if it is there only to move a joint.
    pub(super) shown: bool,
}

/// Orders the nodes as a forest. A node that is listed several times occurs once.
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
        // A root that is also a child of another node is drawn below that node.
        hierarchy.add(file, hierarchy.topmost(root), &shown);
    }
    twice.warn(file, "it is drawn once");
    child_roots.warn(file, "it is drawn once, as that child");
    // Joints may lie outside the scene, but they still move it.
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

/// Counts how often each node is listed as a child. Fails if a node is its own ancestor.
fn lists(file: &File<'_>) -> Result<Vec<usize>> {
    let nodes = &file.root.nodes;
    let mut lists = vec![0; nodes.len()];
    for parent in 0..nodes.len() {
        for child in children(file, parent) {
            file.get(nodes, "node", child, || format!("node {parent}"))?;
            lists[child] += 1;
        }
    }
    // Topological sort: repeatedly removes the nodes without parents. Any nodes that remain are on a cycle or
    // below one.
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

/// Marks each node that is one of `roots` or below one.
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

/// Returns the parent of each node: the first shown node that lists it, else the first that does.
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
    again.warn(file, "it is drawn once, below the first that is shown");
    parents
}

fn children(file: &File<'_>, node: usize) -> impl DoubleEndedIterator<Item = usize> {
    let children = file.root.nodes[node].children.iter().flatten();
    children.map(|child| child.value())
}

impl Hierarchy {
    /// Walks up from `node` to the first node that is already in the order, or else to the root.
    fn topmost(&self, node: usize) -> usize {
        let mut topmost = node;
        while let Some(parent) = self.parents[topmost].filter(|_| self.index_of[topmost].is_none()) {
            topmost = parent;
        }
        topmost
    }

    /// Adds a root and its descendants, unless they are already in the order.
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

    /// Returns the nodes that show a mesh with a skin, each with the skin.
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
