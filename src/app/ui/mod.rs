//! Everything that egui shows: the panel with a file for each of its own parts, the help, progress and messages.

mod axes;
mod browser;
#[cfg(test)]
mod checker;
mod compare;
mod controls;
mod drawer;
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
mod panel;
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
pub(super) use drawer::NARROW;
pub(super) use facts::{Facts, LoadProgress, Moving};
pub(super) use style::{set_style, zoom};

use super::state::State;
use egui::Ui;

/// Shows everything. Returns the part of the window that is left for the scene.
pub(super) fn show(ui: &mut Ui, state: &mut State, facts: &Facts<'_>) -> egui::Rect {
    style::follow(ui.ctx(), &state.config.window);
    if state.presents {
        return present(ui, state, facts);
    }
    style::keep_tooltips_off(
        ui.ctx(),
        state.help || state.palette.is_some() || facts.browses,
    );
    let is_narrow = ui.available_width() < NARROW;
    if is_narrow {
        // Drawers leave them in sight.
        profiler::show(ui, state);
        timeline::show(ui, state);
    }
    let mut right = 0.0;
    if state.panel {
        right = panel::show(ui, is_narrow, state, facts);
    }
    let left = outline::show(ui, is_narrow, state, facts);
    if !is_narrow {
        profiler::show(ui, state);
        timeline::show(ui, state);
    }
    let picture = ui.available_rect_before_wrap();
    name_picture(ui, picture, state);
    light_marks::show(ui.ctx(), picture, state, facts);
    path_curve::show(ui.ctx(), picture, state, facts);
    compare::show(ui.ctx(), picture, state);
    // Cards find a place beside the drawers.
    let mut room = picture;
    room.min.x = (room.min.x + left).min(room.max.x);
    room.max.x = (room.max.x - right).max(room.min.x);
    selection::show(ui.ctx(), picture, room, state, facts);
    axes::show(ui.ctx(), room, state);
    textures::show(ui.ctx(), room, state);
    offers::show(ui.ctx(), room, state);
    let above_welcome = welcome::show(ui.ctx(), room, state);
    export::show(ui.ctx(), room, state, facts);
    tree_card::show(ui.ctx(), room, state, facts);
    ray_path::over(ui.ctx(), room, state);
    overlay::show(ui.ctx(), room, above_welcome, state, facts);
    palette::show(ui.ctx(), state);
    picture
}

/// The picture alone: nothing but an error, or the palette where it is asked for, lies over it.
fn present(ui: &mut Ui, state: &mut State, facts: &Facts<'_>) -> egui::Rect {
    let room = ui.available_rect_before_wrap();
    name_picture(ui, room, state);
    if state.error.is_some() {
        overlay::show(ui.ctx(), room, room, state, facts);
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
