//! Actions on items of the scene tree: select, hide, frame, play, look through.

use crate::{
    app::{
        camera::model::Camera,
        input::keys::Action,
        inspect::selection::Selected,
        outline::model::{Entry, Item, with_all_below},
        state::State,
    },
    scene::{
        Scene, WarningPlace,
        bounds::Aabb,
        deform,
        framing::{self, Viewpoint},
    },
};
use glam::Vec3;
use std::collections::BTreeSet;
use winit::keyboard::KeyCode;

impl State {
    /// Opens or closes the scene tree.
    pub(in crate::app) fn toggle_outline(&mut self) {
        self.inspect.outline.is_open = !self.inspect.outline.is_open;
        self.inspect.outline.has_focus = false;
        self.inspect.outline.select_nothing();
        // The selection in the picture is shown in the tree too.
        self.inspect.outline.followed = None;
        self.notify(match self.inspect.outline.is_open {
            true => "scene tree on",
            false => "scene tree off",
        });
    }

    /// Selects an item in the tree, and its mesh in the picture. A texture is also opened in the texture
    /// viewer.
    pub(in crate::app) fn select_item(&mut self, item: Item) {
        let Some(stage) = &self.stage else { return };
        let node = match item {
            Item::Node(node) | Item::Primitive(node, _) => Some(node),
            _ => None,
        };
        let instance = |node: usize| {
            let mut instances = stage.scene.instances();
            instances.position(|(shown, _)| shown == node)
        };
        let mesh = node.and_then(instance);
        let selected = mesh.zip(node).map(|(mesh, node)| Selected {
            node,
            mesh,
            picked: None,
        });
        self.inspect.selection.click(selected, false);
        self.inspect.outline.select(&stage.scene, item);
        self.inspect.outline.in_tree = true;
        self.inspect.outline.followed = selected;
        if let Item::Texture(texture) = item {
            self.open_texture(texture);
        }
    }

    /// Selects the item that a warning refers to.
    pub(in crate::app) fn select_place(&mut self, place: WarningPlace) {
        let Some(stage) = &self.stage else { return };
        let item = match place {
            WarningPlace::Node(node) => Some(Item::Node(node)),
            WarningPlace::Mesh(mesh) => {
                let mut nodes = stage.scene.nodes.iter();
                nodes.position(|node| node.mesh == Some(mesh)).map(Item::Node)
            }
            WarningPlace::Material(material) => Some(Item::Material(material)),
            WarningPlace::Camera(camera) => Some(Item::Camera(camera)),
            WarningPlace::Clip(clip) => Some(Item::Clip(clip)),
        };
        if let Some(item) = item {
            self.select_item(item);
        }
    }

    /// Takes over a changed selection of the picture: selects the node of its first mesh, or nothing.
    pub(in crate::app) fn follow_selection(&mut self) {
        let picked = self.inspect.selection.meshes().first().copied();
        if picked == self.inspect.outline.followed {
            return;
        }
        self.inspect.outline.followed = picked;
        match (picked, &self.stage) {
            (Some(picked), Some(stage)) if picked.node < stage.scene.nodes.len() => {
                self.inspect.outline.select(&stage.scene, Item::Node(picked.node));
                self.inspect.outline.in_tree = false;
            }
            _ if !self.inspect.outline.in_tree => self.inspect.outline.selected = None,
            _ => {}
        }
    }

    /// Returns the nodes that actions on the selection apply to: those of the item chosen in the tree, or the
    /// nodes of the clicked meshes.
    pub(in crate::app) fn selected_nodes(&self) -> BTreeSet<usize> {
        match (&self.stage, self.inspect.outline.chosen()) {
            (Some(stage), Some(item)) => nodes_of(&stage.scene, item),
            _ => {
                let meshes = self.inspect.selection.meshes().iter();
                meshes.map(|selected| selected.node).collect()
            }
        }
    }

    /// Hides a node with its descendants, or shows it again.
    pub(in crate::app) fn toggle_hidden(&mut self, node: usize) {
        let Some(stage) = &mut self.stage else { return };
        let is_hidden = self.inspect.outline.is_hidden(&stage.scene, &stage.hidden, node);
        let below = with_all_below(&stage.scene, node);
        let mut hidden = stage.hidden.as_ref().clone();
        match is_hidden {
            true => {
                hidden.retain(|node| !below.contains(node));
            }
            false => hidden.extend(below),
        }
        stage.hidden = hidden.into();
    }

    /// Performs the action of a double click on a row.
    pub(in crate::app) fn open_item(&mut self, item: Item) {
        match item {
            Item::Camera(camera) => self.ui.actions.push(Action::Camera(camera)),
            Item::Clip(clip) => {
                self.ui.actions.push(Action::Clip(Some(clip)));
                self.playback.playing = true;
            }
            Item::Texture(texture) => self.open_texture(texture),
            Item::Note(note) => {
                let places = self.stage.as_ref().map(|stage| &stage.scene.warning_places);
                let mut places = places.into_iter().flatten();
                let place = places.find(|(of, _)| *of == note).map(|(_, place)| *place);
                match place {
                    Some(place) => self.select_place(place),
                    None => self.notify("nothing in the scene belongs to this warning"),
                }
            }
            Item::Node(_) | Item::Primitive(..) | Item::Material(_) | Item::Light(_) => {
                self.ui.actions.push(Action::FrameSelection);
            }
        }
    }

    /// Handles a key while the tree has the focus. Returns true if it was an arrow key.
    pub(in crate::app) fn walk_outline(&mut self, key: KeyCode) -> bool {
        if !self.inspect.outline.is_open || !self.inspect.outline.has_focus {
            return false;
        }
        let selected = self.inspect.outline.selected;
        let row = self.inspect.outline.row_of_selected();
        let next = match (key, selected) {
            (KeyCode::ArrowDown, _) => self.inspect.outline.stepped(1),
            (KeyCode::ArrowUp, _) => self.inspect.outline.stepped(-1),
            (KeyCode::ArrowRight, Some(item)) => match row {
                Some(row) if row.has_children && !row.is_open => {
                    self.inspect.outline.open(Entry::Item(item), true);
                    None
                }
                Some(row) if row.has_children => self.inspect.outline.stepped(1),
                _ => None,
            },
            (KeyCode::ArrowLeft, Some(item)) => match (row, item) {
                (Some(row), _) if row.has_children && row.is_open => {
                    self.inspect.outline.open(Entry::Item(item), false);
                    None
                }
                (_, Item::Primitive(node, _)) => Some(Item::Node(node)),
                (_, Item::Node(node)) => {
                    let nodes = self.stage.as_ref().map(|stage| &stage.scene.nodes);
                    let parent = nodes.and_then(|nodes| nodes.get(node)?.parent);
                    parent.map(Item::Node)
                }
                _ => None,
            },
            (KeyCode::ArrowLeft | KeyCode::ArrowRight, None) => None,
            _ => return false,
        };
        if let Some(item) = next {
            self.select_item(item);
        }
        true
    }

    /// Frames the position of an item that has no meshes.
    pub(in crate::app) fn frame_place(&mut self, item: Item, aspect: f32) {
        let Some(stage) = &self.stage else { return };
        let pose = stage.pose();
        let node = match item {
            Item::Node(node) | Item::Primitive(node, _) => Some(node),
            Item::Camera(camera) => {
                let mut nodes = stage.scene.nodes.iter();
                nodes.position(|node| node.camera == Some(camera))
            }
            _ => None,
        };
        let place = match item {
            Item::Light(node) => Some(stage.world_from_light(node, &pose)),
            _ => node.and_then(|node| Some(pose.world_from_node.get(node)?.as_mat4())),
        };
        let Some(place) = place else {
            return self.notify("this is not used in the scene");
        };
        let center = place.w_axis.truncate();
        let reach = Vec3::splat(0.15 * stage.bounds.scene(&stage.scene, &pose).radius().max(1e-3));
        let around = Aabb {
            min: center - reach,
            max: center + reach,
        };
        self.frame_points(&around.corners(), aspect);
    }

    /// Frames world-space points from the current view direction.
    pub(in crate::app) fn frame_points(&mut self, points: &[Vec3], aspect: f32) {
        let (projection, back) = (self.camera.projection, -self.camera.forward());
        let view = Viewpoint::framing_from(points, back, self.camera.up(), projection, aspect);
        let bounds = Aabb::from_points(points.iter().copied());
        self.camera = Camera::new(&view, bounds.center(), framing::extent(bounds));
        self.notify("the selection is in view");
    }

    /// Returns the vertex positions of the visible nodes among `nodes`.
    pub(in crate::app) fn points_of(&self, nodes: &BTreeSet<usize>) -> Vec<Vec3> {
        let Some(stage) = &self.stage else {
            return Vec::new();
        };
        let mut pose = stage.pose();
        for (node, is_visible) in pose.visible.iter_mut().enumerate() {
            *is_visible &= nodes.contains(&node);
        }
        match pose.visible.contains(&true) {
            true => deform::positions(&stage.scene, &pose),
            false => Vec::new(),
        }
    }
}

/// Returns the nodes that display an item: a node with its descendants, the node of a primitive or light, or
/// the nodes that use a material. Other items have none.
fn nodes_of(scene: &Scene, item: Item) -> BTreeSet<usize> {
    match item {
        Item::Node(node) => with_all_below(scene, node),
        Item::Primitive(node, _) => [node].into(),
        Item::Light(node) => [node].into(),
        Item::Material(material) => {
            let uses = |mesh: usize| {
                let mut primitives = scene.meshes[mesh].primitives.iter();
                primitives.any(|primitive| primitive.material == material)
            };
            let instances = scene.instances();
            instances
                .filter(|(_, mesh)| uses(*mesh))
                .map(|(node, _)| node)
                .collect()
        }
        Item::Camera(_) | Item::Clip(_) | Item::Texture(_) | Item::Note(_) => BTreeSet::new(),
    }
}
