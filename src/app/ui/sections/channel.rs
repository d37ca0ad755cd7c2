//! Channel of the picture, and the effect of clicks.

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
    let tip = "Shows this channel: the lit picture, or one of its inputs";
    Row::new("channel", &["channel"], tip).show(ui, edits, |ui| {
        let choices = Channel::ALL.map(|channel| (channel, title(channel), meaning(channel)));
        state.picture.channel =
            list(ui, "channel", 0.0, state.picture.channel, &choices).unwrap_or(state.picture.channel);
    });
}

/// Shows the checkbox that makes clicks measure.
pub(super) fn measure(ui: &mut Ui, state: &mut State, _: &Facts<'_>, edits: &mut Edits) {
    let tip = "Clicks measure the distance between points instead of selecting meshes";
    Row::new("measure", &["measure"], tip).show(ui, edits, |ui| {
        let mut is_on = state.inspect.measure.is_on;
        if ui.checkbox(&mut is_on, "between clicks").changed() {
            state.ui.actions.push(Action::Measure);
        }
    });
}

/// Shows the number of meshes that the user has hidden, if there are any.
pub(super) fn hidden(ui: &mut Ui, state: &mut State, _: &Facts<'_>, edits: &mut Edits) {
    let count = state.stage.as_ref().map_or(0, |stage| stage.hidden.len());
    if count == 0 {
        return;
    }
    let tip = "Nodes that you have hidden";
    Row::new("hidden", &["hidden"], tip).show(ui, edits, |ui| {
        ui.label(counted(count as u64, "node"));
        let show = ui.button("Show all");
        if show.on_hover_text("Shows all meshes").clicked() {
            state.ui.actions.push(Action::ShowAll);
        }
    });
}
