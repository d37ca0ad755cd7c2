//! What egui shows: the panel with a file for each of its sections, the help, progress and messages.

mod axes;
mod browser;
#[cfg(test)]
mod checker;
mod compare;
mod export;
mod facts;
mod floating;
mod fold;
mod header;
mod help;
mod inspector;
mod legend;
mod light;
mod light_marks;
mod magnitudes;
mod material;
mod offers;
mod outline;
#[cfg(test)]
mod outline_tests;
mod overlay;
mod palette;
mod path_curve;
mod profiler;
mod ray_path;
mod rows;
mod sections;
mod selection;
mod style;
#[cfg(test)]
mod tests;
mod textures;
mod timeline;
mod tree_card;
mod values;
mod welcome;

pub(super) use browser::{Answer, show as show_browser};
pub(super) use facts::{Facts, LoadProgress, Moving};
pub(super) use style::set_style;

use super::state::State;
use egui::Ui;
use rows::Edits;

/// Initial width of the panel in points.
const PANEL_WIDTH: f32 = 330.0;
/// Least width of the panel in points.
const LEAST_WIDTH: f32 = 280.0;

/// Shows everything. Returns the part of the window that is left for the scene.
pub(super) fn show(ui: &mut Ui, state: &mut State, facts: &Facts<'_>) -> egui::Rect {
    style::follow(ui.ctx(), &state.config.window);
    if state.presents {
        return present(ui, state, facts);
    }
    if state.panel {
        panel(ui, state, facts);
    }
    outline::show(ui, state, facts);
    profiler::show(ui, state);
    timeline::show(ui, state);
    let room = ui.available_rect_before_wrap();
    name_picture(ui, room, state);
    light_marks::show(ui.ctx(), room, state, facts);
    path_curve::show(ui.ctx(), room, state, facts);
    compare::show(ui.ctx(), room, state);
    selection::show(ui.ctx(), room, state, facts);
    axes::show(ui.ctx(), room, state);
    textures::show(ui.ctx(), room, state);
    offers::show(ui.ctx(), room, state);
    welcome::show(ui.ctx(), room, state);
    export::show(ui.ctx(), room, state, facts);
    tree_card::show(ui.ctx(), room, state, facts);
    ray_path::over(ui.ctx(), room, state);
    overlay::show(ui.ctx(), room, state, facts);
    palette::show(ui.ctx(), state);
    room
}

/// The picture alone: nothing but an error, or the palette where it is asked for, lies over it.
fn present(ui: &mut Ui, state: &mut State, facts: &Facts<'_>) -> egui::Rect {
    let room = ui.available_rect_before_wrap();
    name_picture(ui, room, state);
    if state.error.is_some() {
        overlay::show(ui.ctx(), room, state, facts);
    }
    palette::show(ui.ctx(), state);
    room
}

/// Tells screen readers what the picture shows.
fn name_picture(ui: &Ui, room: egui::Rect, state: &State) {
    let picture = ui.interact(room, egui::Id::unique("picture"), egui::Sense::hover());
    picture.widget_info(|| {
        let stage = state.stage.as_ref();
        let name = stage.map_or("no scene".into(), |stage| {
            format!("picture of {}", stage.name())
        });
        egui::WidgetInfo::labeled(egui::Role::Image, true, name)
    });
}

/// What Tab has reached comes into sight.
fn follow_focus(ui: &Ui) {
    let focused = ui.memory(|memory| memory.focused());
    if let Some(reached) = focused.and_then(|id| ui.ctx().read_response(id))
        && reached.gained_focus()
        && reached.layer_id == ui.layer_id()
    {
        ui.scroll_to_rect(reached.rect, None);
    }
}

/// Brings the row that was looked for into sight, and gives its control the keyboard.
fn jump(ui: &Ui, state: &mut State, edits: &Edits) {
    /// Seconds in which a section has opened.
    const OPENS: f64 = 0.4;
    let Some(jump) = state.jump.as_mut().filter(|jump| jump.is_placed) else {
        return;
    };
    ui.ctx().request_repaint();
    let Some((rect, control)) = edits.found else {
        return;
    };
    let now = ui.input(|input| input.time);
    if jump.since.is_none()
        && let Some(control) = control
    {
        ui.memory_mut(|memory| memory.request_focus(control));
    }
    ui.scroll_to_rect(rect, Some(egui::Align::Center));
    if now - *jump.since.get_or_insert(now) > OPENS {
        state.jump = None;
    }
}

fn panel(ui: &mut Ui, state: &mut State, facts: &Facts<'_>) {
    let most = (ui.available_width() * 0.6).max(LEAST_WIDTH);
    let wanted = state.layout.width.unwrap_or(PANEL_WIDTH);
    let mut edits = Edits {
        changes: state.changes.between(&state.initial, &state.config),
        reset: Vec::new(),
        sought: state.jump.as_ref().map(|jump| jump.key.clone()),
        found: None,
    };
    let shown = egui::Panel::right("settings")
        .default_size(wanted.clamp(LEAST_WIDTH, most))
        .size_range(LEAST_WIDTH..=most)
        .show(ui, |ui| {
            header::show(ui, state, facts);
            ui.separator();
            egui::ScrollArea::vertical()
                .auto_shrink(false)
                .show(ui, |ui| {
                    match &state.jump {
                        Some(jump) if !jump.is_placed => {
                            sections::place(ui, state, facts, &mut edits);
                        }
                        _ => sections::show(ui, state, facts, &mut edits),
                    }
                    jump(ui, state, &edits);
                    follow_focus(ui);
                });
        });
    for key in edits.reset {
        state.reset(key);
    }
    // Not while the person drags: every step would be kept. Not in a window that is too narrow.
    let is_dragged = ui.input(|input| input.pointer.any_down());
    let width = shown.response.rect.width();
    if !is_dragged && wanted <= most && (width - wanted).abs() > 0.5 {
        state.layout.width = Some(width);
    }
}
