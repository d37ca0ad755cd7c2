//! Ray counts of reflections.

use crate::app::{
    state::State,
    ui::{facts::Facts, rows::Edits},
};
use egui::Ui;

/// Shows the ray counts of the first bounce while reflection rays are traced.
pub(super) fn counts(ui: &mut Ui, state: &mut State, facts: &Facts<'_>, _: &mut Edits) {
    if !state.config.resolved(facts.traits).reflections.sends_rays() {
        return;
    }
    let counts = facts.stats.reflections;
    ui.weak(format!(
        "{} rays in {} tiles, {} hits in {} bins",
        counts.rays, counts.tiles, counts.hits, counts.bins
    ))
    .on_hover_text(
        "First bounce of the last frame. Each textured material has a bin; all other materials \
                    share one",
    );
}
