//! Density of the fog, on a scale that suits the scene.

use crate::{
    app::{
        state::State,
        ui::{
            facts::Facts,
            rows::{Digits, Edits, Row, slide},
        },
    },
    config::Fog,
};
use egui::Ui;

pub(super) fn density(ui: &mut Ui, state: &mut State, _: &Facts<'_>, edits: &mut Edits) {
    let usual = state.usual_fog_density();
    let density = &mut state.config.fog.density;
    Row::key("fog.density", edits).show(ui, edits, |ui| {
        let digits = Digits {
            decimals: 4,
            suffix: " /m",
        };
        slide(ui, density, 0.0..=8.0 * usual, Fog::DENSITY, digits)
    });
}
