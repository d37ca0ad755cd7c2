//! Inspector of the item that is selected in the scene tree: its properties as text, and editors for
//! materials and lights.

use crate::{
    app::{
        inspect::{
            light,
            material::{self, thumbnail},
            rows,
            selection::Rows,
        },
        outline::model::{Item, shown},
        state::State,
        ui::{
            facts::Facts,
            style::{accent, digits, line},
        },
    },
    scene::Pose,
};
use egui::{Align, Layout, RichText, ScrollArea, Ui, vec2};

/// Width of the column of names in points.
const NAMES: f32 = 84.0;
/// Maximum number of materials of a mesh that are listed.
const MAX_MATERIALS: usize = 32;

/// Shows the inspector, which is the lower part of the scene tree's panel.
pub(in crate::app) fn show(ui: &mut Ui, state: &mut State, facts: &Facts<'_>) {
    let Some(item) = state.inspect.outline.selected else {
        ui.add_space(4.0);
        ui.weak("Click a row, or a mesh in the picture, to see its properties.");
        // The panel must not shrink to the text.
        ui.allocate_space(ui.available_size());
        return;
    };
    let Some(pose) = facts.pose else { return };
    let Some((title, rows)) = rows::rows(state, pose, item) else {
        state.inspect.outline.selected = None;
        return;
    };
    ui.add_space(4.0);
    head(ui, state, pose, item, &title);
    ScrollArea::vertical()
        .id_salt("inspector")
        .auto_shrink(false)
        .show(ui, |ui| match item {
            Item::Material(index) => material::show(ui, state, index),
            Item::Light(node) => light::show(ui, state, node, facts),
            Item::Texture(index) => {
                thumbnail(ui, state, index, None);
                table(ui, &rows);
            }
            Item::Node(node) => {
                table(ui, &rows);
                materials(ui, state, node);
            }
            Item::Primitive(node, primitive) => {
                table(ui, &rows);
                primitive_material(ui, state, node, primitive);
            }
            Item::Camera(_) | Item::Clip(_) | Item::Note(_) => table(ui, &rows),
        });
}

/// Shows the kind and the title of the item, and buttons for it.
fn head(ui: &mut Ui, state: &mut State, pose: &Pose, item: Item, title: &str) {
    let kind = match item {
        Item::Node(_) => "Node",
        Item::Primitive(..) => "Primitive",
        Item::Material(_) => "Material",
        Item::Light(_) => "Light",
        Item::Camera(_) => "Camera",
        Item::Clip(_) => "Clip",
        Item::Texture(_) => "Texture",
        Item::Note(_) => "Warning",
    };
    ui.horizontal(|ui| {
        ui.label(RichText::new(kind).weak());
        let copy = ui
            .small_button("Copy")
            .on_hover_text("Copies these properties as text");
        if copy.clicked() {
            state.ui.copied = Some(rows::text(state, pose, item));
            state.notify("copied");
        }
        let action = match item {
            Item::Camera(_) => Some(("Look through", "Looks through this camera of the file")),
            Item::Clip(_) => Some(("Play", "Plays this clip from its start")),
            _ => None,
        };
        if let Some((name, tip)) = action
            && ui.small_button(name).on_hover_text(tip).clicked()
        {
            state.open_item(item);
        }
    });
    let title = RichText::new(title).strong().color(accent(ui.visuals()));
    line(ui, title);
}

/// Shows rows as a table of names and values.
pub(in crate::app) fn table(ui: &mut Ui, rows: &Rows) {
    for (name, value) in rows {
        ui.horizontal_top(|ui| {
            let layout = Layout::left_to_right(Align::Min);
            ui.allocate_ui_with_layout(vec2(NAMES, 0.0), layout, |ui| {
                ui.set_min_width(NAMES);
                ui.label(RichText::new(*name).weak());
            });
            ui.add(egui::Label::new(digits(value)).wrap());
        });
    }
}

/// Lists the materials of a node's mesh as buttons, which select them.
fn materials(ui: &mut Ui, state: &mut State, node: usize) {
    let Some(stage) = &state.stage else { return };
    let mesh = stage.scene.nodes.get(node).and_then(|node| node.mesh);
    let Some(mesh) = mesh.and_then(|mesh| stage.scene.meshes.get(mesh)) else {
        return;
    };
    let mut materials: Vec<usize> = mesh.primitives.iter().map(|p| p.material).collect();
    materials.sort_unstable();
    materials.dedup();
    for material in materials.into_iter().take(MAX_MATERIALS) {
        link(ui, state, material);
    }
}

fn primitive_material(ui: &mut Ui, state: &mut State, node: usize, primitive: usize) {
    let Some(stage) = &state.stage else { return };
    let mesh = stage.scene.nodes.get(node).and_then(|node| node.mesh);
    let mesh = mesh.and_then(|mesh| stage.scene.meshes.get(mesh));
    if let Some(primitive) = mesh.and_then(|mesh| mesh.primitives.get(primitive)) {
        let material = primitive.material;
        link(ui, state, material);
    }
}

fn link(ui: &mut Ui, state: &mut State, material: usize) {
    let Some(stage) = &state.stage else { return };
    if material >= stage.scene.materials.len() {
        return;
    }
    let name = state.inspect.outline.name(&stage.scene, Item::Material(material));
    let button = egui::Button::new(format!("Material: {}", shown(&name))).truncate();
    if ui
        .add(button)
        .on_hover_text("Shows the properties of this material")
        .clicked()
    {
        state.select_item(Item::Material(material));
    }
}
