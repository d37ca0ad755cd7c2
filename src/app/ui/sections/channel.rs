//! The channel of the picture, and the meaning of clicks.

use crate::{
    app::{
        input::keys::Action,
        palette::channels::{meaning, title},
        state::{State, counted},
        ui::{
            facts::Facts,
            rows::{Edits, Row, list},
        },
    },
    render::Channel,
};
use egui::Ui;

pub(super) fn show(ui: &mut Ui, state: &mut State, _: &Facts<'_>, edits: &mut Edits) {
    let tip = "What the picture shows";
    Row::new("channel", &["channel"], tip).show(ui, edits, |ui| {
        let choices = Channel::ALL.map(|channel| (channel, title(channel), meaning(channel)));
        state.picture.channel =
            list(ui, "channel", 0.0, state.picture.channel, &choices).unwrap_or(state.picture.channel);
    });
}

/// Measuring by clicks.
pub(super) fn measure(ui: &mut Ui, state: &mut State, _: &Facts<'_>, edits: &mut Edits) {
    let tip = "Measures between points that are clicked, instead of selecting meshes";
    Row::new("measure", &["measure"], tip).show(ui, edits, |ui| {
        let mut is_on = state.inspect.measure.is_on;
        if ui.checkbox(&mut is_on, "between clicks").changed() {
            state.ui.actions.push(Action::Measure);
        }
    });
}

/// Meshes that are hidden by hand, where there are any.
pub(super) fn hidden(ui: &mut Ui, state: &mut State, _: &Facts<'_>, edits: &mut Edits) {
    let count = state.stage.as_ref().map_or(0, |stage| stage.hidden.len());
    if count == 0 {
        return;
    }
    let tip = "Meshes that are hidden by hand";
    Row::new("hidden", &["hidden"], tip).show(ui, edits, |ui| {
        ui.label(counted(count as u64, "node"));
        let show = ui.button("Show all");
        if show.on_hover_text("Shows all meshes").clicked() {
            state.ui.actions.push(Action::ShowAll);
        }
    });
}
