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

/// Opens the texture viewer with all textures, or with the textures of the selected mesh.
pub(super) fn textures(ui: &mut Ui, state: &mut State, _: &Facts<'_>, edits: &mut Edits) {
    let mut asked = None;
    Row::new("textures", &["textures"], "Opens the texture viewer (Alt+T)").show(ui, edits, |ui| {
        ui.horizontal_wrapped(|ui| {
            if ui.button("All").clicked() {
                state.ui.actions.push(Action::Textures);
            }
            for (slot, texture) in state.textures_of_selection() {
                let button = ui.button(slot);
                if button
                    .on_hover_text("Shows the textures of the selected mesh")
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
