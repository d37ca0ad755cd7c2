//! All settings together.

use crate::app::{
    files::{command_line::command_line, pictures::shown_path},
    input::keys::Action,
    state::{State, counted},
    ui::{facts::Facts, rows::Edits},
};
use egui::Ui;

pub(super) fn show(ui: &mut Ui, state: &mut State, _: &Facts<'_>, edits: &mut Edits) {
    let count = counted(edits.changes.len() as u64, "setting");
    ui.weak(format!("{count} changed since the start"));
    ui.horizontal_wrapped(|ui| buttons(ui, state, edits));
}

fn buttons(ui: &mut Ui, state: &mut State, edits: &Edits) {
    let has_changes = !edits.changes.is_empty();
    let reset = ui.add_enabled(has_changes, egui::Button::new("Reset all"));
    let keys = state.ui.keymap.hint(Action::Reset);
    let reset = reset
        .on_hover_text(format!("Resets all settings to their values at the start{keys}"))
        .on_disabled_hover_text("Nothing has changed since the start");
    if reset.clicked() {
        state.ui.actions.push(Action::Reset);
    }
    let tip = "Writes the changed keys into your config.toml, and keeps all others in it. Keys of one scene \
               or run (clip, camera, adapter, …) are not saved";
    if ui.button("Save as my defaults").on_hover_text(tip).clicked() {
        save(state);
    }
    let tip = "Copies a command that opens the same files with the same settings, view and time. For a \
               picture without a window, use `canopy render` and add `-o picture.png`";
    if ui.button("Copy as command line").on_hover_text(tip).clicked() {
        let size = ui.ctx().content_rect().size() * ui.ctx().zoom_factor();
        let line = command_line(state, [size.x, size.y].map(|side| side.round() as u32));
        ui.ctx().copy_text(line);
        state.notify("copied the command line");
    }
}

fn save(state: &mut State) {
    match state.config.save_as_defaults() {
        Ok((_, 0)) => state.notify("your config.toml has these values already"),
        Ok((path, count)) => {
            let count = counted(count as u64, "setting");
            state.notify(format!("{count} saved in {}", shown_path(&path)));
        }
        Err(error) => state.fail("The settings could not be saved", error.to_string()),
    }
}
