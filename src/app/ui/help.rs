//! Help card with every key and gesture.

use crate::app::{
    input::{keymap::Keymap, keys::GESTURES},
    state::State,
    ui::{
        floating::{MARGINS, floating, wide},
        style::{accent, digits},
    },
};
use egui::{Align, Context, Layout, Rect, RichText, Ui, Vec2};

/// Width of a column of the help, in points.
const COLUMN: f32 = 330.0;

/// Shows the help over the scene, in one column if there is no room for two. Its close button is always
/// visible.
pub(in crate::app) fn show(ctx: &Context, room: Rect, state: &mut State) {
    let room = wide(ctx, room, COLUMN + 60.0);
    let has_two = room.width() >= 2.0 * COLUMN + 80.0;
    let width = if has_two { 2.0 * COLUMN + 16.0 } else { COLUMN };
    let width = width.min(room.width() - MARGINS);
    floating(ctx, "help", room, Vec2::ZERO, true, |ui| {
        ui.set_width(width);
        ui.horizontal(|ui| {
            ui.label(RichText::new("Keys and mouse").heading());
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                let close = ui.button("Close").on_hover_text("Closes this help (H or Esc)");
                if close.clicked() {
                    state.ui.help = false;
                }
            });
        });
        ui.separator();
        egui::ScrollArea::vertical()
            .max_height((room.height() - 90.0).max(60.0))
            .auto_shrink([false, true])
            .show(ui, |ui| tables(ui, &state.ui.keymap, has_two));
    });
}

fn tables(ui: &mut Ui, keymap: &Keymap, side_by_side: bool) {
    let keys: Vec<_> = keymap.help().collect();
    let gestures = GESTURES
        .iter()
        .map(|(gesture, what)| ((*gesture).to_owned(), *what));
    let gestures: Vec<_> = gestures.collect();
    if side_by_side {
        let half = (keys.len() + gestures.len()).div_ceil(2).min(keys.len());
        ui.columns_const(|[left, right]| {
            table(left, "Keys", &keys[..half]);
            table(right, "Further keys", &keys[half..]);
            right.add_space(8.0);
            table(right, "Mouse and flight", &gestures);
        });
    } else {
        table(ui, "Keys", &keys);
        ui.add_space(8.0);
        table(ui, "Mouse and flight", &gestures);
    }
}

fn table(ui: &mut Ui, title: &str, rows: &[(String, &str)]) {
    let color = accent(ui.visuals());
    ui.label(RichText::new(title).strong());
    for (key, what) in rows {
        ui.horizontal_top(|ui| {
            let room = ui.available_width();
            let name = room.min(COLUMN) * 0.36;
            let size = egui::vec2(name, 0.0);
            ui.allocate_ui_with_layout(size, Layout::left_to_right(Align::Min), |ui| {
                ui.set_min_width(name);
                ui.add(egui::Label::new(digits(key).color(color)).wrap());
            });
            ui.add(egui::Label::new(*what).wrap());
        });
    }
}
