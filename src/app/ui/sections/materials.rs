//! Textures of the scene and of the selected mesh.

use crate::app::{
    input::keys::Action,
    state::State,
    ui::{
        facts::Facts,
        rows::{Edits, Row},
    },
};
use egui::Ui;

/// Shows a button that opens or closes the texture viewer, and a button for each texture of the selection.
pub(super) fn textures(ui: &mut Ui, state: &mut State, _: &Facts<'_>, edits: &mut Edits) {
    let mut asked = None;
    let tip = format!(
        "Opens the texture viewer{}",
        state.ui.keymap.hint(Action::Textures)
    );
    Row::new("textures", &["textures"], &tip).show(ui, edits, |ui| {
        ui.horizontal_wrapped(|ui| {
            if ui.button("All").clicked() {
                state.ui.actions.push(Action::Textures);
            }
            for (slot, texture) in state.textures_of_selection() {
                let button = ui.button(slot);
                if button
                    .on_hover_text("Shows this texture in the texture viewer")
                    .clicked()
                {
                    asked = Some(texture);
                }
            }
        });
    });
    if let Some(texture) = asked {
        state.show_texture(texture);
    }
}
