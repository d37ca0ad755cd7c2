//! The textures of the scene, and of the mesh that is selected.

use crate::app::{
    keys::Action,
    state::State,
    textures::{Asked, Slot, slots},
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
                state.actions.push(Action::Textures);
            }
            for (slot, texture) in of_selection(state) {
                let button = ui.button(slot);
                if button
                    .on_hover_text("Of the mesh that is selected")
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

/// The textures of the material that was clicked, or of the first one of the selected mesh, with their slots.
fn of_selection(state: &State) -> Vec<(&'static str, Asked)> {
    let of = || {
        let scene = &state.stage.as_ref()?.scene;
        let selected = state.selection.meshes().first()?;
        let material = match selected.picked {
            Some(picked) => picked.material,
            None => {
                let mesh = scene.nodes.get(selected.node)?.mesh?;
                scene.meshes[mesh].primitives.first()?.material
            }
        };
        let textures = slots(scene.materials.get(material)?);
        let asked = |slot: Slot| {
            let asked = Asked {
                texture: slot.texture.texture,
                used_as: Some(slot.used_as),
            };
            (slot.name, asked)
        };
        Some(textures.map(asked).collect())
    };
    of().unwrap_or_default()
}
