//! Resolution of the picture, and samples of a still picture.

use crate::{
    app::{
        state::State,
        ui::{
            facts::Facts,
            rows::{Edits, Row, hundredths, number},
        },
    },
    config::Window,
};
use egui::Ui;

/// Shows the number of samples of the still picture.
pub(super) fn samples(ui: &mut Ui, _: &mut State, facts: &Facts<'_>, edits: &mut Edits) {
    let tip = "Samples accumulated at rest, and the maximum";
    Row::new("samples", &["samples"], tip).show(ui, edits, |ui| {
        ui.weak(match facts.samples {
            Some([done, wanted]) => format!("sample {done} of {wanted}"),
            None => "no samples yet".into(),
        });
    });
}

pub(super) fn render_scale(ui: &mut Ui, state: &mut State, facts: &Facts<'_>, edits: &mut Edits) {
    Row::key("window.render_scale", edits).show(ui, edits, |ui| {
        let scale = &mut state.config.window.render_scale;
        let used = facts.render_scale;
        let mut auto = *scale == 0.0;
        if ui.checkbox(&mut auto, "auto").changed() {
            *scale = if auto { 0.0 } else { used };
        }
        let mut shown = if auto { used } else { *scale };
        let range = Window::RENDER_SCALE.0;
        let drag = |ui: &mut Ui| number(ui, &mut shown, 0.01, range, hundredths(""));
        if ui.add_enabled_ui(!auto, drag).inner {
            *scale = shown;
        }
        let [width, height] = facts.size;
        ui.weak(format!("{width}×{height}"));
    });
}
