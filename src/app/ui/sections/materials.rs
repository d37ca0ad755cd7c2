//! The textures of the scene, and of the mesh that is selected.

use crate::app::{
    input::keys::Action,
    state::State,
    ui::{
        facts::Facts,
        rows::{Edits, Row},
    },
};
use egui::Ui;

/// Opens the texture viewer: with all, or with those of the mesh that is selected.
pub(super) fn textures(ui: &mut Ui, state: &mut State, _: &Facts<'_>, edits: &mut Edits) {
    let mut asked = None;
    Row::new(
        "textures",
        &["textures"],
        "Looks at the textures of the scene (Alt+T)",
    )
    .show(ui, edits, |ui| {
        ui.horizontal_wrapped(|ui| {
            if ui.button("All").clicked() {
                state.ui.actions.push(Action::Textures);
            }
            for (slot, texture) in state.textures_of_selection() {
                let button = ui.button(slot);
                if button.on_hover_text("Of the mesh that is selected").clicked() {
                    asked = Some(texture);
                }
            }
        });
    });
    if let Some(texture) = asked {
        state.show_texture(texture);
    }
}
