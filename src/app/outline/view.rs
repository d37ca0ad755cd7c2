//! The scene tree at the left, and the inspector of the selection below it.

use crate::{
    app::{
        input::keys::Action,
        inspect::view,
        outline::model::{Entry, Item, Row, detail},
        state::{State, counted},
        ui::{
            drawer::{Drawer, Side},
            facts::Facts,
            style::accent,
        },
    },
    scene::{LightKind, WarningPlace},
};
use egui::{
    Color32, FontId, Pos2, RichText, Sense, Shape, Stroke, TextStyle, TextWrapMode, Ui, WidgetInfo, pos2,
    vec2,
};

/// Initial and minimum width of the panel in points.
const WIDTH: f32 = 300.0;
const MIN_WIDTH: f32 = 220.0;
/// Minimum free size in points in which the panel is shown. In less space the picture takes precedence. A
/// drawer needs only the height.
const MIN_SIZE: [f32; 2] = [460.0, 260.0];
/// Indentation of a row per level in points, and the maximum number of indented levels.
const INDENT: f32 = 12.0;
const MAX_LEVELS: usize = 12;
/// Width of the triangle before a name and of the eye at the right, in points.
const ARROW: f32 = 14.0;
const EYE: f32 = 22.0;

/// Shows the panel if it is open. Returns the width in points by which it covers the picture, or 0 if it lies
/// beside it.
pub(in crate::app) fn show(ui: &mut Ui, is_narrow: bool, state: &mut State, facts: &Facts<'_>) -> f32 {
    state.follow_selection();
    let room = ui.available_size();
    let fits = is_narrow || room.x >= MIN_SIZE[0];
    if !state.inspect.outline.is_open || !fits || room.y < MIN_SIZE[1] {
        state.inspect.outline.has_focus = false;
        return 0.0;
    }
    let drawer = Drawer {
        name: "outline",
        side: Side::Left,
        width: WIDTH,
        widths: MIN_WIDTH..=(room.x * 0.5).max(MIN_WIDTH),
    };
    let rect = drawer.show(ui, is_narrow, |ui| contents(ui, state, facts));
    let is_outside = |input: &egui::InputState| {
        let at = input.pointer.interact_pos();
        input.pointer.any_pressed() && at.is_some_and(|at| !rect.contains(at))
    };
    if ui.input(is_outside) {
        state.inspect.outline.has_focus = false;
    }
    if is_narrow { rect.width() } else { 0.0 }
}

fn contents(ui: &mut Ui, state: &mut State, facts: &Facts<'_>) {
    ui.add_space(4.0);
    title(ui, state);
    search(ui, state);
    buttons(ui, state);
    ui.separator();
    let most = (ui.available_height() - 90.0).max(80.0);
    egui::Panel::bottom("inspector")
        .resizable(true)
        .default_size((0.5 * ui.available_height()).min(most))
        .size_range(60.0..=most)
        .show(ui, |ui| view::show(ui, state, facts));
    tree(ui, state);
}

fn title(ui: &mut Ui, state: &mut State) {
    ui.horizontal(|ui| {
        ui.label(RichText::new("Scene tree").strong());
        let tip = format!("Closes the scene tree{}", state.ui.keymap.hint(Action::Outline));
        let close = ui.small_button("Close").on_hover_text(tip);
        if close.clicked() {
            state.ui.actions.push(Action::Outline);
        }
        add_light(ui, state);
        edits_menu(ui, state);
    });
}

/// Shows a menu of actions on all edits.
fn edits_menu(ui: &mut Ui, state: &mut State) {
    let count = state.edit_count();
    let has_hidden = state.stage.as_ref().is_some_and(|stage| !stage.hidden.is_empty());
    let all = [
        (
            count > 0,
            "Reset edits",
            "Restores all materials and lights from the file",
            None,
        ),
        (
            count > 0 || has_hidden,
            "Save edits",
            "Saves edits and hidden nodes in a file, for the viewer and for canopy render --edits",
            Some(Action::SaveEdits),
        ),
        (
            true,
            "Load edits",
            "Replaces the edits of the scene by saved ones",
            Some(Action::LoadEdits),
        ),
        (
            count > 0,
            "Compare with none",
            "Shows the scene without edits as side B",
            Some(Action::CompareUnedited),
        ),
    ];
    ui.add_enabled_ui(state.stage.is_some(), |ui| {
        let menu = ui.menu_button("Edits", |ui| {
            for (is_enabled, name, tip, action) in all {
                let button = ui.add_enabled(is_enabled, egui::Button::new(name));
                let button = button.on_hover_text(tip).on_disabled_hover_text(tip);
                if !button.clicked() {
                    continue;
                }
                ui.close();
                match action {
                    Some(action) => state.ui.actions.push(action),
                    None => {
                        state.edit_scene(|_, edits| *edits = Default::default());
                        state.inspect.outline.select_nothing();
                        state.notify("restored all materials and lights of the file");
                    }
                }
            }
        });
        let told = match count {
            0 => "Edits of materials and lights: there are none".to_owned(),
            count => format!("Edits of materials and lights: {}", counted(count as u64, "edit")),
        };
        menu.response.on_hover_text(told);
    });
}

fn search(ui: &mut Ui, state: &mut State) {
    ui.horizontal(|ui| {
        let mut query = state.inspect.outline.query.clone();
        let edit = egui::TextEdit::singleline(&mut query)
            .hint_text("search names")
            .desired_width((ui.available_width() - 84.0).max(60.0));
        let edit = ui
            .add(edit)
            .on_hover_text("Shows rows with this text in their names, and their parents");
        if edit.changed() {
            state.inspect.outline.search(&query);
        }
        if !state.inspect.outline.query.is_empty() {
            let found = state.inspect.outline.matches();
            ui.label(RichText::new(counted_matches(found)).weak());
        }
    });
}

fn counted_matches(found: usize) -> String {
    match found {
        1 => "1 match".into(),
        found => format!("{found} matches"),
    }
}

fn buttons(ui: &mut Ui, state: &mut State) {
    let is_chosen = state.inspect.outline.chosen().is_some() || !state.inspect.selection.is_empty();
    let has_hidden = state.stage.as_ref().is_some_and(|stage| !stage.hidden.is_empty());
    let all = [
        (
            is_chosen,
            "Hide",
            "Hides the selection and all its children",
            Action::Hide,
        ),
        (is_chosen, "Isolate", "Hides all other meshes", Action::Isolate),
        (
            is_chosen,
            "Frame",
            "Brings the selection into view",
            Action::FrameSelection,
        ),
        (has_hidden, "Show all", "Shows all hidden nodes", Action::ShowAll),
    ];
    ui.horizontal_wrapped(|ui| {
        ui.style_mut().wrap_mode = Some(TextWrapMode::Extend);
        for (is_enabled, name, tip, action) in all {
            let tip = format!("{tip}{}", state.ui.keymap.hint(action));
            let button = ui.add_enabled(is_enabled, egui::Button::new(name).small());
            if button.on_hover_text(&tip).on_disabled_hover_text(&tip).clicked() {
                state.ui.actions.push(action);
            }
        }
    });
}

fn add_light(ui: &mut Ui, state: &mut State) {
    let kinds = [
        (
            LightKind::Point,
            "Point",
            "Shines in all directions, in front of the surface at the centre of the picture",
        ),
        (
            LightKind::spot(0.3, 0.5),
            "Spot",
            "Shines from the camera at the centre of the picture",
        ),
        (
            LightKind::Directional,
            "Directional",
            "Shines from far away, in the direction of the view",
        ),
    ];
    let has_scene = state.stage.is_some();
    ui.add_enabled_ui(has_scene, |ui| {
        let menu = ui.menu_button("Add light", |ui| {
            for (kind, name, tip) in kinds {
                if ui.button(name).on_hover_text(tip).clicked() {
                    state.inspect.outline.adds = Some(kind);
                    ui.close();
                }
            }
        });
        menu.response
            .on_hover_text("Adds a light to the scene. The file does not change");
    });
}

fn tree(ui: &mut Ui, state: &mut State) {
    let Some(stage) = &state.stage else {
        ui.weak("No scene is open.");
        return;
    };
    let lights = stage.applied.light_nodes(&stage.scene);
    let nodes = stage.applied.node_count(&stage.scene);
    let rows = state.inspect.outline.rows(&stage.scene, nodes, &lights);
    if rows.is_empty() {
        ui.weak(match state.inspect.outline.query.is_empty() {
            true => "The scene is empty.",
            false => "No name contains this text.",
        });
        return;
    }
    let height = ui.text_style_height(&TextStyle::Body) + 4.0;
    let mut area = egui::ScrollArea::vertical()
        .id_salt("scene tree")
        .auto_shrink(false);
    if std::mem::take(&mut state.inspect.outline.scrolls)
        && let Some(row) = state.inspect.outline.selected_row()
    {
        let room = ui.available_height();
        area = area.vertical_scroll_offset((row as f32 * height - 0.4 * room).max(0.0));
    }
    ui.spacing_mut().item_spacing.y = 0.0;
    area.show_rows(ui, height, rows.len(), |ui, visible| {
        for row in rows.get(visible).unwrap_or_default() {
            one(ui, state, row, height, [nodes, lights.len()]);
        }
    });
}

/// Returns the index of the warning that an item's row is marked with.
fn note_of(state: &State, item: Item) -> Option<usize> {
    let scene = &state.stage.as_ref()?.scene;
    let place = match item {
        Item::Node(node) => {
            let of_node = state.inspect.outline.note_of(WarningPlace::Node(node));
            let mesh = scene.nodes.get(node)?.mesh;
            return of_node.or_else(|| state.inspect.outline.note_of(WarningPlace::Mesh(mesh?)));
        }
        Item::Material(material) => WarningPlace::Material(material),
        Item::Camera(camera) => WarningPlace::Camera(camera),
        Item::Clip(clip) => WarningPlace::Clip(clip),
        Item::Primitive(..) | Item::Light(_) | Item::Texture(_) | Item::Note(_) => return None,
    };
    state.inspect.outline.note_of(place)
}

fn is_edited(state: &State, item: Item) -> bool {
    let Some(stage) = &state.stage else {
        return false;
    };
    let edits = stage.applied.edits();
    match item {
        Item::Material(index) => edits.materials.contains_key(&index),
        Item::Light(node) => {
            let light = stage.applied.light_at(&stage.scene, node);
            node >= stage.applied.node_count(&stage.scene)
                || edits.places.contains_key(&node)
                || light.is_some_and(|light| edits.lights.contains_key(&light))
        }
        _ => false,
    }
}

/// Draws a row as one widget that includes the triangle and the eye.
fn one(ui: &mut Ui, state: &mut State, row: &Row, height: f32, counts: [usize; 2]) {
    let size = vec2(ui.available_width(), height);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    let Some(stage) = &state.stage else { return };
    let (name, item) = match row.entry {
        Entry::Group(group) => (group.name().to_owned(), None),
        Entry::Item(item) => (state.inspect.outline.name(&stage.scene, item), Some(item)),
    };
    let [nodes, lights] = counts;
    let detail = detail(&stage.scene, row.entry, nodes, lights);
    let note = item.and_then(|item| note_of(state, item));
    let note = note.and_then(|note| stage.scene.warnings.get(note)).cloned();
    let edited = item.is_some_and(|item| is_edited(state, item));
    let is_selected = item.is_some() && state.inspect.outline.selected == item;
    let eye = match item {
        Some(Item::Node(node)) => {
            let (scene, hidden) = (&stage.scene, stage.hidden.clone());
            Some(!state.inspect.outline.is_hidden(scene, &hidden, node))
        }
        Some(Item::Light(node)) => Some(!stage.light_is_off(node)),
        _ => None,
    };
    let level = row.depth.min(MAX_LEVELS) as f32;
    let arrow_left = rect.left() + 2.0 + INDENT * level;
    let visuals = ui.visuals().clone();
    let painter = ui.painter_at(rect);
    if is_selected {
        painter.rect_filled(rect, 3.0, visuals.selection.bg_fill);
    } else if response.hovered() {
        painter.rect_filled(rect, 3.0, visuals.faint_bg_color);
    }
    let mut color = match (is_selected, row.is_match) {
        (true, _) => visuals.selection.stroke.color,
        (_, true) => accent(&visuals),
        _ => visuals.text_color(),
    };
    if note.is_some() {
        color = visuals.warn_fg_color;
    }
    if eye == Some(false) {
        color = visuals.weak_text_color();
    }
    if row.has_children {
        let at = pos2(arrow_left + 0.5 * ARROW - 2.0, rect.center().y);
        painter.add(triangle(at, row.is_open, color));
    }
    let right = rect.right() - if eye.is_some() { EYE } else { 4.0 };
    let left = arrow_left + ARROW;
    let font = TextStyle::Body.resolve(ui.style());
    let mark = if edited { 10.0 } else { 0.0 };
    let room = (right - left - mark).max(10.0);
    let drawn = elided(ui, &name, font.clone(), color, room);
    let name_width = drawn.size().x;
    let text_top = rect.center().y - 0.5 * drawn.size().y;
    painter.galley(pos2(left, text_top), drawn, color);
    if edited {
        let at = pos2(left + name_width + 7.0, rect.center().y);
        painter.circle_filled(at, 2.5, accent(&visuals));
    }
    // The detail text is shown only if all of it fits. The tooltip always has it.
    let weak = visuals.weak_text_color();
    let small = FontId::new(font.size * 0.85, font.family);
    let held = elided(ui, &detail, small, weak, f32::INFINITY);
    if held.size().x + 8.0 < room - name_width {
        let at = pos2(right - held.size().x - 2.0, rect.center().y - 0.5 * held.size().y);
        painter.galley(at, held, weak);
    }
    if let Some(is_shown) = eye {
        let at = pos2(rect.right() - 0.5 * EYE, rect.center().y);
        paint_eye(&painter, at, is_shown, color);
    }
    let tip = tip(&name, &detail, note.as_deref(), row, item);
    let clicked_at = response.interact_pointer_pos();
    let (clicked, twice) = (response.clicked(), response.double_clicked());
    response.widget_info(|| WidgetInfo::selected(egui::Role::TreeItem, true, is_selected, &name));
    response.on_hover_text(tip);
    let Some(at) = clicked_at.filter(|_| clicked || twice) else {
        return;
    };
    state.inspect.outline.has_focus = true;
    let Some(item) = item else {
        return state.inspect.outline.open(row.entry, !row.is_open);
    };
    if row.has_children && at.x < left {
        return state.inspect.outline.open(row.entry, !row.is_open);
    }
    if eye.is_some() && at.x > right {
        return match item {
            Item::Light(node) => state.switch_light(node, eye == Some(true)),
            Item::Node(node) => state.toggle_hidden(node),
            _ => {}
        };
    }
    state.select_item(item);
    // A row in sight must not scroll, because a row that moves under the pointer cannot be double-clicked.
    state.inspect.outline.scrolls = false;
    if twice || matches!(item, Item::Note(_)) {
        state.open_item(item);
    }
}

fn tip(name: &str, detail: &str, note: Option<&str>, row: &Row, item: Option<Item>) -> String {
    let does = match item {
        None => "Click to open or fold",
        Some(Item::Node(_) | Item::Primitive(..) | Item::Material(_)) => "Double-click to bring it into view",
        Some(Item::Light(_)) => "Double-click to bring it into view. The eye shows or hides it",
        Some(Item::Camera(_)) => "Double-click to look through it",
        Some(Item::Clip(_)) => "Double-click to play it",
        Some(Item::Texture(_)) => "Click to open it",
        Some(Item::Note(_)) => "Click to select the object of the warning",
    };
    let mut text = name.to_owned();
    if !detail.is_empty() {
        text += &format!("\n{detail}");
    }
    if row.depth > MAX_LEVELS {
        text += &format!("\n{} levels down", row.depth);
    }
    if let Some(note) = note {
        text += &format!("\n\n{note}");
    }
    format!("{text}\n\n{does}")
}

/// Lays out a text on one line of at most `width` points, with an ellipsis.
fn elided(ui: &Ui, text: &str, font: FontId, color: Color32, width: f32) -> std::sync::Arc<egui::Galley> {
    let text = RichText::new(text).font(font).color(color);
    let text: egui::WidgetText = text.into();
    text.into_galley(ui, Some(TextWrapMode::Truncate), width, TextStyle::Body)
}

fn triangle(at: Pos2, is_open: bool, color: Color32) -> Shape {
    let corners = match is_open {
        true => [vec2(-4.0, -2.0), vec2(4.0, -2.0), vec2(0.0, 3.5)],
        false => [vec2(-2.0, -4.0), vec2(3.5, 0.0), vec2(-2.0, 4.0)],
    };
    let corners = corners.map(|corner| at + corner).to_vec();
    Shape::convex_polygon(corners, color, Stroke::NONE)
}

/// Draws an eye, crossed out if the item is hidden.
fn paint_eye(painter: &egui::Painter, at: Pos2, is_shown: bool, color: Color32) {
    let stroke = Stroke::new(1.2, color);
    let lid = |sign: f32| {
        let points = (0..=8).map(|step| {
            let x = step as f32 / 4.0 - 1.0;
            at + vec2(6.0 * x, sign * 3.6 * (1.0 - x * x))
        });
        Shape::line(points.collect(), stroke)
    };
    painter.add(lid(1.0));
    painter.add(lid(-1.0));
    match is_shown {
        true => painter.circle_filled(at, 1.8, color),
        false => painter.line_segment([at + vec2(-5.0, 4.0), at + vec2(5.0, -4.0)], stroke),
    };
}
