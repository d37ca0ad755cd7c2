//! The section `Depth of field`: a lens with an aperture.

use crate::{
    app::{
        state::State,
        ui::{
            facts::Facts,
            rows::{Digits, Edits, Row, hundredths, number, slide},
        },
    },
    config::DepthOfField,
    scene::Projection,
};
use egui::Ui;

pub(super) fn show(ui: &mut Ui, state: &mut State, _: &Facts<'_>, edits: &mut Edits) {
    let camera = &state.camera;
    let clicked = state.selection.meshes().first();
    let picked = clicked.and_then(|selected| selected.picked).map(|picked| {
        let from_eye = picked.position - camera.eye();
        from_eye.dot(camera.forward()).max(0.0)
    });
    let settings = &mut state.config.depth_of_field;
    let why = match state.camera.projection {
        Projection::Perspective { .. } => None,
        Projection::Orthographic { .. } => Some("the view is orthographic"),
    };
    let tip = "Blurs what is nearer or farther than the focus, as a lens does";
    Row::new("blur", &["depth_of_field.enabled"], tip)
        .idle(why)
        .show(ui, edits, |ui| {
            ui.checkbox(&mut settings.enabled, "by distance")
        });
    let why = why.or((!settings.enabled).then_some("nothing is blurred"));
    let tip =
        "The focal length over the diameter of the aperture: the smaller, the more is blurred";
    Row::new("f-number", &["depth_of_field.f_number"], tip)
        .idle(why)
        .show(ui, edits, |ui| {
            let f_number = &mut settings.f_number;
            slide(
                ui,
                f_number,
                0.1..=16.0,
                DepthOfField::F_NUMBER,
                hundredths(""),
            )
        });
    let tip = "Distance along the view that is sharp; auto is what the middle of the picture shows";
    Row::new("focus", &["depth_of_field.focus"], tip)
        .idle(why)
        .show(ui, edits, |ui| {
            let focus = &mut settings.focus;
            let mut auto = *focus == 0.0;
            if ui.checkbox(&mut auto, "auto").changed() {
                *focus = if auto { 0.0 } else { state.camera.distance() };
            }
            let digits = Digits {
                decimals: 3,
                suffix: " m",
            };
            let mut shown = if auto {
                state.camera.distance()
            } else {
                *focus
            };
            let speed = 0.005 * shown.max(1e-3);
            let drag = |ui: &mut Ui| number(ui, &mut shown, speed, DepthOfField::FOCUS, digits);
            if ui.add_enabled_ui(!auto, drag).inner {
                *focus = shown;
            }
            let tip = "The point of the mesh that was clicked";
            let button = ui.add_enabled(picked.is_some(), egui::Button::new("clicked"));
            let button = button.on_hover_text(tip);
            if let Some(distance) = picked.filter(|_| button.clicked()) {
                *focus = distance;
            }
        });
    let tip =
        "With the field of view it gives the focal length; 24 mm is that of a full-frame camera";
    Row::new("sensor", &["depth_of_field.sensor_height"], tip)
        .idle(why)
        .show(ui, edits, |ui| {
            let height = &mut settings.sensor_height;
            let digits = hundredths(" mm");
            number(ui, height, 0.1, DepthOfField::SENSOR_HEIGHT, digits)
        });
}
