//! Meshes whose lines are drawn over the picture, and the number of lines.

use crate::{
    app::{
        state::State,
        ui::{
            facts::Facts,
            rows::{Edits, Row},
            style::{compact, line},
        },
    },
    render::OverlayCounts,
};
use egui::{RichText, Ui};

pub(super) fn mesh(ui: &mut Ui, state: &mut State, _: &Facts<'_>, edits: &mut Edits) {
    let of_selection = &mut state.trees.overlay_of_selection;
    let settings = &mut state.config.overlay;
    Row::key("overlay.mesh", edits).show(ui, edits, |ui| {
        let is_all = !*of_selection && settings.mesh < 0;
        let all = ui.selectable_label(is_all, "all");
        if all.on_hover_text("Draws the lines of all meshes").clicked() {
            *of_selection = false;
            settings.mesh = -1;
        }
        let tip = "Draws the lines of the selected mesh, or of all meshes if none is selected";
        let selected = ui.selectable_label(*of_selection, "selected");
        if selected.on_hover_text(tip).clicked() {
            *of_selection = true;
        }
    });
}

pub(super) fn drawn(ui: &mut Ui, _: &mut State, facts: &Facts<'_>, edits: &mut Edits) {
    if let Some(counts) = facts.stats.overlay {
        let tip = "Drawn lines and dots. Above 524,288 lines of a kind, only every n-th triangle or vertex has \
                   lines";
        Row::new("drawn", &[], tip).show(ui, edits, |ui| line(ui, RichText::new(told(counts))));
    }
}

fn told(OverlayCounts { found, drawn }: OverlayCounts) -> String {
    match found == drawn {
        true => format!("{} lines", compact(drawn)),
        false => format!("{} of {} lines", compact(drawn), compact(found)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn omitted_overlay_lines_are_reported() {
        let [found, drawn] = [3_000_000, 500_000];
        assert_eq!(told(OverlayCounts { found, drawn: found }), "3.00\u{a0}M lines");
        assert_eq!(
            told(OverlayCounts { found, drawn }),
            "500\u{a0}k of 3.00\u{a0}M lines"
        );
    }
}
