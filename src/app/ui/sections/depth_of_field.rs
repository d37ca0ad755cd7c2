//! Focus distance of the lens.

use crate::{
    app::{
        state::State,
        ui::{
            facts::Facts,
            rows::{Digits, Edits, Row, number},
        },
    },
    config::DepthOfField,
};
use egui::Ui;

pub(super) fn focus(ui: &mut Ui, state: &mut State, _: &Facts<'_>, edits: &mut Edits) {
    let camera = &state.camera;
    let clicked = state.inspect.selection.meshes().first();
    let picked = clicked.and_then(|selected| selected.picked).map(|picked| {
        let from_eye = picked.position - camera.eye();
        from_eye.dot(camera.forward()).max(0.0)
    });
    let settings = &mut state.config.depth_of_field;
    Row::key("depth_of_field.focus", edits).show(ui, edits, |ui| {
        let focus = &mut settings.focus;
        let mut auto = *focus == 0.0;
        if ui.checkbox(&mut auto, "auto").changed() {
            *focus = if auto { 0.0 } else { state.camera.distance() };
        }
        let digits = Digits {
            decimals: 3,
            suffix: " m",
        };
        let mut shown = if auto { state.camera.distance() } else { *focus };
        let speed = 0.005 * shown.max(1e-3);
        let drag = |ui: &mut Ui| number(ui, &mut shown, speed, DepthOfField::FOCUS, digits);
        if ui.add_enabled_ui(!auto, drag).inner {
            *focus = shown;
        }
        let tip = "Focuses on the point of the mesh that you clicked";
        let button = ui.add_enabled(picked.is_some(), egui::Button::new("Use click"));
        let button = button.on_hover_text(tip);
        if let Some(distance) = picked.filter(|_| button.clicked()) {
            *focus = distance;
        }
    });
}
