//! Panel rows for the environment's source, file and rotation.

use crate::{
    app::{
        input::keys::Action,
        state::State,
        ui::{
            facts::Facts,
            rows::{DEGREES, Edits, Row, choose, slide},
            style::line,
        },
    },
    config::EnvironmentSource,
};
use egui::{RichText, Ui};
use std::ops::RangeInclusive;

/// Range of the rotation in degrees.
const CIRCLE: RangeInclusive<f32> = -180.0..=180.0;

pub(super) fn source(ui: &mut Ui, state: &mut State, _: &Facts<'_>, edits: &mut Edits) {
    let stage = state.stage.as_ref();
    let lit = stage.map(|stage| state.config.adapted_to(&stage.scene).environment.clone());
    let lit = lit.unwrap_or_else(|| state.config.environment.clone());
    let environment = &mut state.config.environment;
    Row::key("environment.source", edits).show(ui, edits, |ui| {
        let has_file = !environment.file.is_empty();
        let file = egui::Button::selectable(environment.is_file(), "file");
        let file = ui
            .add_enabled(has_file, file)
            .on_hover_text("The environment file below")
            .on_disabled_hover_text("Open an environment file first");
        if file.clicked() {
            environment.source = EnvironmentSource::Auto;
        }
        let studio = ui.selectable_label(lit.is_studio(), "studio");
        let tip = "Soft boxes in a neutral room, a key light from the left, and a plain backdrop";
        if studio.on_hover_text(tip).clicked() {
            environment.source = EnvironmentSource::Studio;
        }
        let sky = ui.selectable_label(lit.is_sky(), "sky");
        if sky.on_hover_text("A clear sky, lit by the sun").clicked() {
            environment.source = EnvironmentSource::Sky;
        }
        let tip = "The same colour from every direction";
        let color = (EnvironmentSource::Color, "colour", tip);
        choose(ui, &mut environment.source, &[color]);
    });
}

pub(super) fn file(ui: &mut Ui, state: &mut State, _: &Facts<'_>, edits: &mut Edits) {
    let name = std::path::Path::new(&state.config.environment.file);
    let name = name.file_name().map(|name| name.to_string_lossy().into_owned());
    Row::key("environment.file", edits).show(ui, edits, |ui| {
        let keys = state.ui.keymap.hint(Action::OpenEnvironment);
        let tip = format!("Opens an environment{keys}");
        if ui.button("Open…").on_hover_text(tip).clicked() {
            state.ui.actions.push(Action::OpenEnvironment);
        }
        line(ui, RichText::new(name.as_deref().unwrap_or("none")).weak());
    });
}

pub(super) fn rotation(ui: &mut Ui, state: &mut State, _: &Facts<'_>, edits: &mut Edits) {
    let rotation = &mut state.config.environment.rotation;
    // The angle is wrapped into the slider's range.
    let mut degrees = (*rotation + 180.0).rem_euclid(360.0) - 180.0;
    Row::key("environment.rotation", edits).show(ui, edits, |ui| {
        if slide(ui, &mut degrees, CIRCLE, CIRCLE, DEGREES) {
            *rotation = degrees;
        }
    });
}
