//! Counts of the world cache of light that bounces.

use crate::app::{
    state::State,
    ui::{facts::Facts, rows::Edits},
};
use egui::Ui;

/// Shows the counts of cells while frames use the cache.
pub(super) fn counts(ui: &mut Ui, _: &mut State, facts: &Facts<'_>, _: &mut Edits) {
    let cells = facts.stats.cells;
    if cells.read > 0 {
        ui.weak(format!("{} cells, {} cast rays", cells.read, cells.cast))
            .on_hover_text("Cells of the world cache that the last frame in motion read");
    }
}
