//! Progress of a path-traced picture.

use crate::{
    app::{
        state::State,
        ui::{
            facts::Facts,
            rows::Edits,
            style::{grouped, line},
        },
    },
    output::numbers::duration_left,
};
use egui::{RichText, Ui};

pub(super) fn progress(ui: &mut Ui, state: &mut State, facts: &Facts<'_>, _: &mut Edits) {
    if let Some(done) = facts.stats.path_samples {
        let [done, wanted] = [done, state.config.paths.samples].map(|count| grouped(count.into()));
        let mut text = format!("{done} of {wanted} samples");
        if let Some(secs) = facts.path_secs_left {
            text += &format!(", {} left", duration_left(secs));
        }
        line(ui, RichText::new(text).weak());
    }
}
