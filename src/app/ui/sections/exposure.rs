//! Source of the exposure.

use crate::{
    app::{
        state::State,
        ui::{
            facts::Facts,
            rows::{Edits, Row, hundredths, list, number},
        },
    },
    config::ExposureMode,
};
use egui::Ui;

pub(super) fn show(ui: &mut Ui, state: &mut State, facts: &Facts<'_>, edits: &mut Edits) {
    let image = &mut state.config.image;
    Row::key("image.exposure", edits).show(ui, edits, |ui| {
        // A fixed exposure starts from the current one.
        let mut ev = facts.exposure_ev;
        let choices = [
            (
                ExposureMode::Auto,
                "auto".to_owned(),
                "From the lights, the sun and the environment",
            ),
            (
                ExposureMode::Histogram,
                "histogram".to_owned(),
                "From the luminance histogram of the picture",
            ),
            (
                ExposureMode::Stops(ev),
                "fixed".to_owned(),
                "A fixed exposure in stops (EV)",
            ),
        ];
        if let Some(mode) = list(ui, "exposure", 100.0, image.exposure, &choices) {
            image.exposure = mode;
        }
        if number(ui, &mut ev, 0.05, ExposureMode::STOPS, hundredths(" EV")) {
            image.exposure = ExposureMode::Stops(ev);
        }
    });
}
