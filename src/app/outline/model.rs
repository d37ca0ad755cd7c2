//! State of the scene tree: its rows, the open ones, the search and the selection.

use crate::{
    app::{inspect::selection::Selected, textures::thumbnails::Thumbnails},
    scene::{AlphaMode, LightKind, Projection, Scene, WarningPlace},
};
use std::{
    collections::{BTreeSet, HashMap, HashSet},
    sync::Arc,
};

/// Maximum number of characters of a name that are shown, because names in files may be of any length.
const LONGEST_NAME: usize = 120;
/// Maximum number of nodes in a scene whose node rows are initially open.
const OPEN_NODES: usize = 60;

/// An item that the tree lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::app) enum Item {
    Node(usize),
    /// A node, and the index of one of its mesh's primitives.
    Primitive(usize, usize),
    Material(usize),
    /// The light at a node.
    Light(usize),
    Camera(usize),
    Clip(usize),
    Texture(usize),
    /// A warning.
    Note(usize),
}

/// A top-level list of the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::app) enum Group {
    Nodes,
    Materials,
    Lights,
    Cameras,
    Clips,
    Textures,
    Notes,
}

impl Group {
    const ALL: [Self; 7] = [
        Self::Nodes,
        Self::Materials,
        Self::Lights,
        Self::Cameras,
        Self::Clips,
        Self::Textures,
        Self::Notes,
    ];

    /// Returns the name in the tree.
    pub(in crate::app) fn name(self) -> &'static str {
        match self {
            Self::Nodes => "Nodes",
            Self::Materials => "Materials",
            Self::Lights => "Lights",
            Self::Cameras => "Cameras",
            Self::Clips => "Clips",
            Self::Textures => "Textures",
            Self::Notes => "Warnings",
        }
    }
}

/// Content of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::app) enum Entry {
    Group(Group),
    Item(Item),
}

/// A row of the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::app) struct Row {
    pub(in crate::app) entry: Entry,
    /// Nesting depth of the row.
    pub(in crate::app) depth: usize,
    pub(in crate::app) has_children: bool,
    /// True if the rows below it are listed.
    pub(in crate::app) is_open: bool,
    /// True if it matches the search.
    pub(in crate::app) is_match: bool,
}

/// Hierarchy and cross-references of the scene that the rows are built from.
#[derive(Debug, Default)]
struct Hierarchy {
    roots: Vec<usize>,
    /// Children of each node.
    children: Vec<Vec<usize>>,
    /// Names that several nodes, or several materials, share. `true` is for nodes.
    doubles: HashSet<(bool, String)>,
    /// Nodes with lights.
    lights: Vec<usize>,
    /// First warning about each item.
    notes: HashMap<WarningPlace, usize>,
}

/// State of the scene tree.
#[derive(Debug, Default)]
pub(in crate::app) struct Outline {
    /// True if the tree is shown.
    pub(in crate::app) is_open: bool,
    /// True if arrow keys move the selection in the tree.
    pub(in crate::app) has_focus: bool,
    /// Search text.
    pub(in crate::app) query: String,
    /// The selected item.
    pub(in crate::app) selected: Option<Item>,
    /// True if it was selected in the tree rather than in the picture.
    pub(in crate::app) in_tree: bool,
    /// True if its row has to be scrolled into view.
    pub(in crate::app) scrolls: bool,
    /// Mesh that was last selected in the picture.
    pub(in crate::app) followed: Option<Selected>,
    /// Kind of light to add at the centre of the picture.
    pub(in crate::app) adds: Option<LightKind>,
    /// Cached visibility: the set of hidden nodes, and for each node true if the tree shows it as hidden.
    hidden: Option<(Arc<BTreeSet<usize>>, Vec<bool>)>,
    /// Thumbnails of textures.
    pub(in crate::app) thumbnails: Thumbnails,
    /// Rows that the user has opened or closed.
    opened: HashMap<Entry, bool>,
    hierarchy: Option<Hierarchy>,
    rows: Option<Arc<[Row]>>,
    matches: usize,
}

impl Outline {
    /// Clears all state of a replaced scene.
    pub(in crate::app) fn reset_scene(&mut self) {
        *self = Self {
            is_open: self.is_open,
            ..Self::default()
        };
    }

    /// Sets the search text. Names that contain it match, ignoring case.
    pub(in crate::app) fn search(&mut self, query: &str) {
        self.query = query.into();
        self.rows = None;
    }

    /// Returns the number of rows that match the search.
    pub(in crate::app) fn matches(&self) -> usize {
        self.matches
    }

    /// Opens or closes a row.
    pub(in crate::app) fn open(&mut self, entry: Entry, is_open: bool) {
        self.opened.insert(entry, is_open);
        self.rows = None;
    }

    /// Selects `item` and opens the rows above it.
    pub(in crate::app) fn select(&mut self, scene: &Scene, item: Item) {
        self.selected = Some(item);
        self.scrolls = true;
        let (group, node) = match item {
            Item::Node(node) => (Group::Nodes, Some(node)),
            Item::Primitive(node, _) => {
                self.opened.insert(Entry::Item(Item::Node(node)), true);
                (Group::Nodes, Some(node))
            }
            Item::Material(_) => (Group::Materials, None),
            Item::Light(_) => (Group::Lights, None),
            Item::Camera(_) => (Group::Cameras, None),
            Item::Clip(_) => (Group::Clips, None),
            Item::Texture(_) => (Group::Textures, None),
            Item::Note(_) => (Group::Notes, None),
        };
        self.opened.insert(Entry::Group(group), true);
        let parent = |node: &usize| scene.nodes.get(*node)?.parent;
        for parent in std::iter::successors(node.as_ref().and_then(parent), parent) {
            self.opened.insert(Entry::Item(Item::Node(parent)), true);
        }
        self.rows = None;
    }

    /// True if the tree shows a selected item.
    pub(in crate::app) fn has_selection(&self) -> bool {
        self.is_open && self.selected.is_some()
    }

    /// Clears the selection.
    pub(in crate::app) fn select_nothing(&mut self) {
        (self.selected, self.in_tree) = (None, false);
    }

    /// Returns the index of the first warning about `place`.
    pub(in crate::app) fn note_of(&self, place: WarningPlace) -> Option<usize> {
        self.hierarchy.as_ref()?.notes.get(&place).copied()
    }

    /// Returns the rows, which are built again only after a change. The first `nodes` nodes come from the
    /// files, and `lights` are the nodes with lights.
    pub(in crate::app) fn rows(&mut self, scene: &Scene, nodes: usize, lights: &[usize]) -> Arc<[Row]> {
        let is_of_lights = |hierarchy: &Hierarchy| hierarchy.lights == lights;
        if !self.hierarchy.as_ref().is_some_and(is_of_lights) {
            self.hierarchy = Some(Hierarchy::new(scene, nodes, lights));
            self.rows = None;
        }
        if self.rows.is_none() {
            let rows = self.flattened(scene);
            let found = rows.iter().filter(|row| row.is_match).count();
            self.matches = found;
            self.rows = Some(rows.into());
        }
        self.rows.clone().unwrap_or_default()
    }

    fn is_open(&self, entry: Entry, scene: &Scene) -> bool {
        let at_first = match entry {
            Entry::Group(Group::Nodes) => true,
            Entry::Item(Item::Node(_)) => scene.nodes.len() <= OPEN_NODES,
            _ => false,
        };
        let found = !self.query.is_empty();
        found || self.opened.get(&entry).copied().unwrap_or(at_first)
    }

    /// Lists all rows whose ancestors are open. During a search, lists the matches and their ancestors
    /// instead.
    fn flattened(&self, scene: &Scene) -> Vec<Row> {
        let mut rows = Vec::new();
        let Some(hierarchy) = &self.hierarchy else {
            return rows;
        };
        let query = self.query.to_lowercase();
        let is_match =
            |item: Item| !query.is_empty() && full_name(scene, item).to_lowercase().contains(&query);
        for group in Group::ALL {
            let first = rows.len();
            if group == Group::Nodes {
                self.add_nodes(scene, hierarchy, &is_match, &mut rows);
            } else {
                let items = items_of(group, scene, hierarchy).into_iter().map(|item| Row {
                    entry: Entry::Item(item),
                    depth: 1,
                    has_children: false,
                    is_open: false,
                    is_match: is_match(item),
                });
                rows.extend(items.filter(|row| query.is_empty() || row.is_match));
            }
            let has_children = rows.len() > first;
            let is_open = self.is_open(Entry::Group(group), scene);
            if !is_open {
                rows.truncate(first);
            }
            if has_children {
                let row = Row {
                    entry: Entry::Group(group),
                    depth: 0,
                    has_children,
                    is_open,
                    is_match: false,
                };
                rows.insert(first, row);
            }
        }
        rows
    }

    fn add_nodes(
        &self,
        scene: &Scene,
        hierarchy: &Hierarchy,
        is_match: &dyn Fn(Item) -> bool,
        rows: &mut Vec<Row>,
    ) {
        let searches = !self.query.is_empty();
        let found: Vec<bool> = (0..hierarchy.children.len())
            .map(|node| is_match(Item::Node(node)))
            .collect();
        // Parents precede their children.
        let mut is_kept = found.clone();
        for index in (0..found.len()).rev() {
            if let Some(parent) = scene.nodes[index].parent.filter(|_| is_kept[index]) {
                is_kept[parent] = true;
            }
        }
        let mut left: Vec<(usize, usize)> = Vec::new();
        left.extend(hierarchy.roots.iter().rev().map(|root| (*root, 1)));
        while let Some((node, depth)) = left.pop() {
            if searches && !is_kept[node] {
                continue;
            }
            let item = Item::Node(node);
            let children = &hierarchy.children[node];
            let primitives = match searches {
                true => 0,
                false => primitive_count(scene, node),
            };
            let is_open = self.is_open(Entry::Item(item), scene);
            rows.push(Row {
                entry: Entry::Item(item),
                depth,
                has_children: primitives > 1 || !children.is_empty(),
                is_open,
                is_match: found[node],
            });
            if !is_open {
                continue;
            }
            if primitives > 1 {
                rows.extend((0..primitives).map(|primitive| Row {
                    entry: Entry::Item(Item::Primitive(node, primitive)),
                    depth: depth + 1,
                    has_children: false,
                    is_open: false,
                    is_match: false,
                }));
            }
            left.extend(children.iter().rev().map(|child| (*child, depth + 1)));
        }
    }

    /// Returns the item that was selected in the tree.
    pub(in crate::app) fn chosen(&self) -> Option<Item> {
        self.selected.filter(|_| self.in_tree)
    }

    /// True if a node is hidden. A node without a mesh is hidden if all meshes below it are.
    pub(in crate::app) fn is_hidden(
        &mut self,
        scene: &Scene,
        hidden: &Arc<BTreeSet<usize>>,
        node: usize,
    ) -> bool {
        let is_known = |known: &(Arc<BTreeSet<usize>>, Vec<bool>)| {
            Arc::ptr_eq(&known.0, hidden) && known.1.len() == scene.nodes.len()
        };
        if !self.hidden.as_ref().is_some_and(is_known) {
            self.hidden = Some((hidden.clone(), hidden_nodes(scene, hidden)));
        }
        let known = self.hidden.as_ref();
        known.is_some_and(|(_, all)| all.get(node).copied().unwrap_or_default())
    }

    /// Returns the index of the selected item's row.
    pub(in crate::app) fn selected_row(&self) -> Option<usize> {
        let selected = Entry::Item(self.selected?);
        let rows = self.rows.as_ref()?;
        rows.iter().position(|row| row.entry == selected)
    }

    /// Returns the row of the selected item.
    pub(in crate::app) fn row_of_selected(&self) -> Option<Row> {
        let row = self.selected_row()?;
        self.rows.as_ref()?.get(row).copied()
    }

    /// Returns the item `by` items below the selected one, or above it if negative, within the list. Without
    /// a selection it returns the first item.
    pub(in crate::app) fn stepped(&self, by: isize) -> Option<Item> {
        let rows = self.rows.as_ref()?;
        let items = rows.iter().filter_map(|row| match row.entry {
            Entry::Item(item) => Some(item),
            Entry::Group(_) => None,
        });
        let items: Vec<Item> = items.collect();
        let now = items.iter().position(|item| Some(*item) == self.selected);
        let next = match now {
            Some(now) => now.saturating_add_signed(by).min(items.len().saturating_sub(1)),
            None => 0,
        };
        items.get(next).copied()
    }

    /// Returns the name of an item, with its index if several nodes or several materials share the name.
    pub(in crate::app) fn name(&self, scene: &Scene, item: Item) -> String {
        let own = shown(&full_name(scene, item));
        let doubles = self.hierarchy.as_ref().map(|hierarchy| &hierarchy.doubles);
        let is_double = |is_node, name: &str| {
            doubles.is_some_and(|doubles| doubles.contains(&(is_node, name.to_owned())))
        };
        match item {
            Item::Node(index) if is_double(true, &scene.nodes[index].name) => {
                format!("{own} · {index}")
            }
            Item::Material(index) if is_double(false, &scene.materials[index].name) => {
                format!("{own} · {index}")
            }
            _ => own,
        }
    }
}

impl Hierarchy {
    fn new(scene: &Scene, nodes: usize, lights: &[usize]) -> Self {
        let mut hierarchy = Self {
            children: vec![Vec::new(); nodes],
            lights: lights.to_vec(),
            ..Self::default()
        };
        for (index, node) in scene.nodes.iter().take(nodes).enumerate() {
            match node.parent {
                Some(parent) => hierarchy.children[parent].push(index),
                None => hierarchy.roots.push(index),
            }
        }
        let names = scene.nodes.iter().take(nodes).map(|node| (true, &node.name));
        let materials = scene.materials.iter().map(|material| (false, &material.name));
        let mut known = HashSet::new();
        for (is_node, name) in names.chain(materials).filter(|(_, name)| !name.is_empty()) {
            if !known.insert((is_node, name)) {
                hierarchy.doubles.insert((is_node, name.clone()));
            }
        }
        for (warning, place) in &scene.warning_places {
            hierarchy.notes.entry(*place).or_insert(*warning);
        }
        hierarchy
    }
}

/// True for each hidden node. A node without a mesh is hidden if all meshes below it are.
fn hidden_nodes(scene: &Scene, hidden: &BTreeSet<usize>) -> Vec<bool> {
    // Meshes and hidden meshes in each node's subtree.
    let mut counts = vec![[0_usize; 2]; scene.nodes.len()];
    let mut all = vec![false; scene.nodes.len()];
    for (index, node) in scene.nodes.iter().enumerate().rev() {
        let is_hidden = hidden.contains(&index);
        if node.mesh.is_some() {
            counts[index][0] += 1;
            counts[index][1] += usize::from(is_hidden);
        }
        let [meshes, hidden_meshes] = counts[index];
        all[index] = is_hidden || node.mesh.is_none() && meshes > 0 && meshes == hidden_meshes;
        if let Some(parent) = node.parent {
            counts[parent][0] += meshes;
            counts[parent][1] += hidden_meshes;
        }
    }
    all
}

/// Returns a node and its descendants.
pub(in crate::app) fn with_all_below(scene: &Scene, node: usize) -> BTreeSet<usize> {
    let mut found = BTreeSet::from([node]);
    // Parents precede their children.
    for (index, below) in scene.nodes.iter().enumerate().skip(node + 1) {
        if below.parent.is_some_and(|parent| found.contains(&parent)) {
            found.insert(index);
        }
    }
    found
}

fn items_of(group: Group, scene: &Scene, hierarchy: &Hierarchy) -> Vec<Item> {
    match group {
        Group::Nodes => Vec::new(),
        Group::Materials => (0..scene.materials.len()).map(Item::Material).collect(),
        Group::Lights => hierarchy.lights.iter().copied().map(Item::Light).collect(),
        Group::Cameras => (0..scene.cameras.len()).map(Item::Camera).collect(),
        Group::Clips => (0..scene.clips.len()).map(Item::Clip).collect(),
        Group::Textures => (0..scene.textures.len()).map(Item::Texture).collect(),
        Group::Notes => (0..scene.warnings.len()).map(Item::Note).collect(),
    }
}

fn primitive_count(scene: &Scene, node: usize) -> usize {
    let mesh = scene.nodes[node].mesh.and_then(|mesh| scene.meshes.get(mesh));
    mesh.map_or(0, |mesh| mesh.primitives.len())
}

/// Shortens a name of any length and content to one line.
pub(in crate::app) fn shown(name: &str) -> String {
    let one_line = |c: char| if c.is_control() { ' ' } else { c };
    let mut text: String = name.chars().take(LONGEST_NAME).map(one_line).collect();
    if text.len() < name.len() && name.chars().nth(LONGEST_NAME).is_some() {
        text.push('…');
    }
    text
}

/// Returns the name of the light at a node: its own, or the node's, or a number.
fn light_name(scene: &Scene, node: usize) -> String {
    let at = scene.nodes.get(node);
    let light = at.and_then(|at| at.light);
    let light = light.or_else(|| scene.disabled_lights.get(&node).copied());
    let light = light.and_then(|light| scene.lights.get(light));
    let own = light.map_or("", |light| light.name.as_str());
    match (own, at.map_or("", |at| at.name.as_str())) {
        ("", "") => format!("light at node {node}"),
        ("", name) | (name, _) => name.into(),
    }
}

fn full_name(scene: &Scene, item: Item) -> String {
    let or_number = |name: &str, noun: &str, index: usize| match name {
        "" => format!("{noun} {index}"),
        name => name.to_owned(),
    };
    match item {
        Item::Node(index) => or_number(&scene.nodes[index].name, "node", index),
        Item::Primitive(_, primitive) => format!("primitive {primitive}"),
        Item::Material(index) => or_number(&scene.materials[index].name, "material", index),
        Item::Light(node) => light_name(scene, node),
        Item::Camera(index) => or_number(&scene.cameras[index].name, "camera", index),
        Item::Clip(index) => or_number(&scene.clips[index].name, "clip", index),
        Item::Texture(index) => {
            let image = scene.images.get(scene.textures[index].image);
            let name = image.map_or("", |image| image.name.as_str());
            match name.parse::<usize>() {
                // Unnamed images are named by their number.
                Ok(_) => format!("texture {index}"),
                Err(_) => or_number(name, "texture", index),
            }
        }
        Item::Note(index) => scene.warnings[index].clone(),
    }
}

/// Returns the detail text after a row's name. `nodes` and `lights` are the numbers of nodes in the files and
/// of lights in the scene.
pub(in crate::app) fn detail(scene: &Scene, entry: Entry, nodes: usize, lights: usize) -> String {
    let item = match entry {
        Entry::Item(item) => item,
        Entry::Group(group) => {
            let count = match group {
                Group::Nodes => nodes,
                Group::Materials => scene.materials.len(),
                Group::Lights => lights,
                Group::Cameras => scene.cameras.len(),
                Group::Clips => scene.clips.len(),
                Group::Textures => scene.textures.len(),
                Group::Notes => scene.warnings.len(),
            };
            return count.to_string();
        }
    };
    match item {
        Item::Node(index) => {
            let node = &scene.nodes[index];
            let mut parts = Vec::new();
            if let Some(mesh) = node.mesh.and_then(|mesh| scene.meshes.get(mesh)) {
                parts.push(match mesh.name.as_str() {
                    "" => "mesh".to_owned(),
                    name if name == node.name => "mesh".to_owned(),
                    name => format!("mesh {}", shown(name)),
                });
            }
            let has = [
                (node.skin.is_some(), "skin"),
                (node.light.is_some(), "light"),
                (node.camera.is_some(), "camera"),
            ];
            let has = has.into_iter().filter(|(has, _)| *has);
            parts.extend(has.map(|(_, name)| name.to_owned()));
            parts.join(", ")
        }
        Item::Primitive(node, primitive) => {
            let mesh = scene.nodes[node].mesh;
            let found = mesh.and_then(|mesh| scene.meshes[mesh].primitives.get(primitive));
            found.map_or_else(String::new, |primitive| {
                shown(&full_name(scene, Item::Material(primitive.material)))
            })
        }
        Item::Material(index) => match scene.materials[index].alpha_mode {
            AlphaMode::Opaque => String::new(),
            AlphaMode::Mask => "mask".into(),
            AlphaMode::Blend => "blend".into(),
        },
        Item::Light(node) => {
            let light = scene.nodes.get(node);
            let light = light.and_then(|node| scene.lights.get(node.light?));
            light.map_or("off", |light| kind_name(light.kind)).into()
        }
        Item::Camera(index) => match scene.cameras[index].projection {
            Projection::Perspective { .. } => String::new(),
            Projection::Orthographic { .. } => "orthographic".into(),
        },
        Item::Clip(index) => format!("{:.2} s", scene.clips[index].duration_secs),
        Item::Texture(index) => {
            let image = scene.images.get(scene.textures[index].image);
            image.map_or_else(String::new, |image| format!("{} × {}", image.width, image.height))
        }
        Item::Note(_) => String::new(),
    }
}

/// Returns the word for a kind of light.
pub(in crate::app) fn kind_name(kind: LightKind) -> &'static str {
    match kind {
        LightKind::Directional => "directional",
        LightKind::Point => "point",
        LightKind::Spot { .. } => "spot",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{Material, Mesh, Node, Primitive};

    fn node(name: &str, parent: Option<usize>, mesh: Option<usize>) -> Node {
        Node {
            name: name.into(),
            parent,
            mesh,
            ..Node::default()
        }
    }

    /// Returns a car with four wheels that share one mesh of two primitives, beside a tree of 100 nodes.
    fn scene() -> Scene {
        let mut nodes = vec![node("car", None, None), node("", Some(0), None)];
        nodes.extend((0..4).map(|_| node("wheel", Some(1), Some(0))));
        nodes.push(node("park", None, None));
        nodes.extend((0..100).map(|number| node(&format!("leaf {number}"), Some(6), None)));
        let primitive = |material| Primitive {
            material,
            ..Primitive::default()
        };
        Scene {
            nodes,
            meshes: vec![Mesh {
                name: "tyre".into(),
                primitives: vec![primitive(0), primitive(1)],
            }],
            materials: vec![Material::default(); 2],
            warnings: vec!["a: material 1 is odd".into()],
            warning_places: vec![(0, WarningPlace::Material(1))],
            ..Scene::default()
        }
    }

    fn entries(outline: &mut Outline, scene: &Scene) -> Vec<(Entry, usize)> {
        let rows = outline.rows(scene, scene.nodes.len(), &[]);
        rows.iter().map(|row| (row.entry, row.depth)).collect()
    }

    fn of(node: usize, depth: usize) -> (Entry, usize) {
        (Entry::Item(Item::Node(node)), depth)
    }

    #[test]
    fn rows_list_only_open_entries() {
        let scene = scene();
        let mut outline = Outline::default();
        let lists = [Group::Materials, Group::Notes].map(|group| (Entry::Group(group), 0));
        let head = (Entry::Group(Group::Nodes), 0);
        // With many nodes, all rows are initially closed.
        assert_eq!(
            entries(&mut outline, &scene),
            [head, of(0, 1), of(6, 1), lists[0], lists[1]]
        );
        outline.open(Entry::Item(Item::Node(0)), true);
        assert_eq!(
            entries(&mut outline, &scene)[1..4],
            [of(0, 1), of(1, 2), of(6, 1)]
        );
        // The rows above the selection are open.
        outline.select(&scene, Item::Primitive(3, 1));
        let all = entries(&mut outline, &scene);
        let primitive = |number| (Entry::Item(Item::Primitive(3, number)), 4);
        assert_eq!(
            all[3..9],
            [of(2, 3), of(3, 3), primitive(0), primitive(1), of(4, 3), of(5, 3)]
        );
        assert_eq!(outline.selected_row(), Some(6));
        outline.select(&scene, Item::Material(1));
        let all = entries(&mut outline, &scene);
        assert!(all.contains(&(Entry::Item(Item::Material(1)), 1)));
        outline.open(Entry::Group(Group::Nodes), false);
        assert_eq!(entries(&mut outline, &scene)[..2], [head, lists[0]]);
        assert_eq!(outline.note_of(WarningPlace::Material(1)), Some(0));
        assert_eq!(outline.note_of(WarningPlace::Material(0)), None);
    }

    #[test]
    fn search_matches_are_shown_with_their_parents() {
        let scene = scene();
        let mut outline = Outline::default();
        outline.search("WHEEL");
        let found = entries(&mut outline, &scene);
        let is_item = |(entry, _): &(Entry, usize)| matches!(entry, Entry::Item(_));
        let nodes: Vec<_> = found.into_iter().filter(is_item).collect();
        assert_eq!(
            nodes,
            [of(0, 1), of(1, 2), of(2, 3), of(3, 3), of(4, 3), of(5, 3)]
        );
        assert_eq!(outline.matches(), 4);
        outline.search("leaf 9");
        entries(&mut outline, &scene);
        assert_eq!(outline.matches(), 11);
        outline.search("material 1");
        let found = entries(&mut outline, &scene);
        // The material and the warning about it match.
        assert_eq!((found.len(), outline.matches()), (4, 2));
        outline.search("no such thing");
        assert!(entries(&mut outline, &scene).is_empty());
        outline.search("");
        assert_eq!((entries(&mut outline, &scene).len(), outline.matches()), (5, 0));
    }

    #[test]
    fn names_are_unique_short_and_on_one_line() {
        let mut scene = scene();
        scene.nodes[0].name = "n".repeat(10_000);
        scene.nodes[6].name = "two\nlines".into();
        let mut outline = Outline::default();
        entries(&mut outline, &scene);
        let name = |node| outline.name(&scene, Item::Node(node));
        assert_eq!([name(1), name(2), name(3)], ["node 1", "wheel · 2", "wheel · 3"]);
        assert_eq!((name(0).chars().count(), name(6)), (121, "two lines".into()));
        assert_eq!(outline.name(&scene, Item::Material(0)), "material 0");
        assert_eq!(detail(&scene, Entry::Item(Item::Node(2)), 0, 0), "mesh tyre");
        assert_eq!(detail(&scene, Entry::Group(Group::Nodes), 107, 0), "107");
    }

    #[test]
    fn arrow_steps_follow_the_listed_rows() {
        let scene = scene();
        let mut outline = Outline::default();
        entries(&mut outline, &scene);
        assert_eq!(outline.stepped(1), Some(Item::Node(0)));
        outline.select(&scene, Item::Node(0));
        entries(&mut outline, &scene);
        assert_eq!(outline.stepped(1), Some(Item::Node(6)));
        assert_eq!(outline.stepped(-1), Some(Item::Node(0)));
        assert_eq!(outline.stepped(99), Some(Item::Node(6)));
        assert_eq!(Outline::default().stepped(1), None);
    }

    #[test]
    fn a_node_is_hidden_if_all_its_meshes_are() {
        let scene = scene();
        let mut outline = Outline::default();
        let some = Arc::new(BTreeSet::from([2, 3, 4]));
        assert!(outline.is_hidden(&scene, &some, 2));
        assert!(!outline.is_hidden(&scene, &some, 0));
        let all = Arc::new(BTreeSet::from([2, 3, 4, 5]));
        assert!(outline.is_hidden(&scene, &all, 0) && outline.is_hidden(&scene, &all, 1));
        assert!(!outline.is_hidden(&scene, &all, 6));
        assert_eq!(with_all_below(&scene, 1), BTreeSet::from([1, 2, 3, 4, 5]));
    }

    /// A chain of nodes and as many siblings need neither recursion nor quadratic time.
    #[test]
    fn deep_and_wide_trees_are_listed_in_linear_time() {
        let chain = (0_usize..10_000).map(|number| node("link", number.checked_sub(1), None));
        let mut scene = Scene {
            nodes: chain.collect(),
            ..Scene::default()
        };
        let mut outline = Outline::default();
        entries(&mut outline, &scene);
        outline.select(&scene, Item::Node(9_999));
        let rows = outline.rows(&scene, 10_000, &[]).to_vec();
        assert_eq!((rows.len(), rows[10_000].depth), (10_001, 10_000));
        outline.search("link");
        outline.rows(&scene, 10_000, &[]);
        assert_eq!(outline.matches(), 10_000);
        scene.nodes.clear();
        outline.reset_scene();
        assert!(outline.rows(&scene, 0, &[]).is_empty());
    }
}
