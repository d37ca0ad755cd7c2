//! Row of an editable scene value: its name, a dot if it differs from the file, and a reset.

use crate::app::ui::style::accent;
use egui::{Align, Layout, Sense, Ui, vec2};

/// Width of the name column in points, including the dot.
const NAME_WIDTH: f32 = 104.0;
/// Width of the dot in points.
const DOT_WIDTH: f32 = 9.0;
/// Width of the number beside a slider, in points.
const NUMBER_WIDTH: f32 = 74.0;

/// Shows a value's name and the widgets that `add` adds beside it. Returns the result of `add`, and true if
/// the value must be reset to the value of the file.
pub(in crate::app) fn value<R>(
    ui: &mut Ui,
    name: &str,
    tip: &str,
    is_edited: bool,
    add: impl FnOnce(&mut Ui) -> R,
) -> (R, bool) {
    let mut is_reset = false;
    let row = ui.horizontal(|ui| {
        let size = vec2(NAME_WIDTH, ui.spacing().interact_size.y);
        let cell = ui.allocate_ui_with_layout(size, Layout::left_to_right(Align::Center), |ui| {
            ui.set_min_width(NAME_WIDTH);
            ui.add_space(DOT_WIDTH);
            let label = egui::Label::new(name).truncate().show_tooltip_when_elided(false);
            ui.add(label);
        });
        let rect = cell.response.rect;
        let label = ui.interact(rect, cell.response.id.with(name), Sense::click());
        if is_edited {
            let dot = rect.left_center() + vec2(DOT_WIDTH * 0.4, 0.0);
            ui.painter().circle_filled(dot, 2.5, accent(ui.visuals()));
        }
        is_reset = is_edited && label.double_clicked();
        ui.spacing_mut().item_spacing.x = 3.0;
        let room = ui.available_width();
        ui.spacing_mut().slider_width = (room - NUMBER_WIDTH).clamp(40.0, 400.0);
        add(ui)
    });
    row.response.on_hover_text(match is_edited {
        true => format!("{tip}\n\nEdited. Double-click the name to restore the value of the file."),
        false => tip.to_owned(),
    });
    (row.inner, is_reset)
}
