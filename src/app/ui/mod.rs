//! User interface in egui: the settings panel, the help, progress and messages.

pub(in crate::app) mod layout;
pub(in crate::app) mod model;

pub(in crate::app) mod axes;
#[cfg(test)]
pub(in crate::app) mod checker;
pub(in crate::app) mod controls;
pub(in crate::app) mod drawer;
pub(in crate::app) mod facts;
pub(in crate::app) mod floating;
pub(in crate::app) mod fold;
pub(in crate::app) mod header;
pub(in crate::app) mod help;
pub(in crate::app) mod legend;
pub(in crate::app) mod magnitudes;
pub(in crate::app) mod overlay;
pub(in crate::app) mod panel;
pub(in crate::app) mod path_curve;
pub(in crate::app) mod rows;
pub(in crate::app) mod sections;
pub(in crate::app) mod style;
#[cfg(test)]
pub(in crate::app) mod tests;
pub(in crate::app) mod values;
pub(in crate::app) mod welcome;

pub(in crate::app) use crate::app::files::browser_view::{Answer, show as show_browser};
pub(in crate::app) use crate::app::ui::drawer::NARROW;
pub(in crate::app) use crate::app::ui::facts::{Facts, LoadProgress, Moving};
pub(in crate::app) use crate::app::ui::style::{set_style, zoom};

use crate::app::{
    compare, export, files, inspect, outline, palette, profile, rays, state::State, textures, timeline, trees,
};
use egui::Ui;

/// Shows the user interface. Returns the rectangle that is left for the scene.
pub(in crate::app) fn show(ui: &mut Ui, state: &mut State, facts: &Facts<'_>) -> egui::Rect {
    style::follow(ui.ctx(), &state.config.window);
    if state.picture.presents {
        return present(ui, state, facts);
    }
    style::keep_tooltips_off(
        ui.ctx(),
        state.ui.help || state.ui.palette.is_some() || facts.browses,
    );
    let is_narrow = ui.available_width() < NARROW;
    if is_narrow {
        // Drawers must not cover these panels.
        profile::view::show(ui, state);
        timeline::view::show(ui, state);
    }
    let mut right = 0.0;
    if state.ui.panel {
        right = panel::show(ui, is_narrow, state, facts);
    }
    let left = outline::view::show(ui, is_narrow, state, facts);
    if !is_narrow {
        profile::view::show(ui, state);
        timeline::view::show(ui, state);
    }
    let picture = ui.available_rect_before_wrap();
    name_picture(ui, picture, state);
    inspect::light_marks::show(ui.ctx(), picture, state, facts);
    path_curve::show(ui.ctx(), picture, state, facts);
    compare::view::show(ui.ctx(), picture, state);
    // Cards are placed beside the drawers.
    let mut room = picture;
    room.min.x = (room.min.x + left).min(room.max.x);
    room.max.x = (room.max.x - right).max(room.min.x);
    inspect::card::show(ui.ctx(), picture, room, state, facts);
    axes::show(ui.ctx(), room, state);
    textures::view::show(ui.ctx(), room, state);
    files::offers_view::show(ui.ctx(), room, state);
    let above_welcome = welcome::show(ui.ctx(), room, state);
    export::view::show(ui.ctx(), room, state, facts);
    trees::card::show(ui.ctx(), room, state, facts);
    rays::view::over(ui.ctx(), room, state);
    overlay::show(ui.ctx(), room, above_welcome, state, facts);
    palette::view::show(ui.ctx(), state);
    picture
}

/// Shows only the picture. Only an error or the open palette lies over it.
fn present(ui: &mut Ui, state: &mut State, facts: &Facts<'_>) -> egui::Rect {
    let room = ui.available_rect_before_wrap();
    name_picture(ui, room, state);
    if state.ui.error.is_some() {
        overlay::show(ui.ctx(), room, room, state, facts);
    }
    palette::view::show(ui.ctx(), state);
    room
}

/// Describes the picture for screen readers.
fn name_picture(ui: &Ui, room: egui::Rect, state: &State) {
    let picture = ui.interact(room, egui::Id::unique("picture"), egui::Sense::hover());
    picture.widget_info(|| {
        let stage = state.stage.as_ref();
        let name = stage.map_or("no scene".into(), |stage| format!("picture of {}", stage.name()));
        egui::WidgetInfo::labeled(egui::Role::Image, true, name)
    });
}
