//! The section `Overlays`: lines of the meshes over the picture.

use crate::{
    app::{
        state::State,
        ui::{
            facts::Facts,
            rows::{Digits, Edits, Row, hundredths, slide},
            style::{compact, line},
        },
    },
    config::Overlay,
    render::OverlayCounts,
};
use egui::{RichText, Ui};

const OFF: &str = "no lines are shown";

pub(super) fn show(ui: &mut Ui, state: &mut State, facts: &Facts<'_>, edits: &mut Edits) {
    let of_selection = &mut state.overlay_of_selection;
    let settings = &mut state.config.overlay;
    let tip = "Edges of the triangles (Alt+W), and dots at their vertices";
    let keys = &["overlay.wireframe", "overlay.vertices"];
    Row::new("mesh", keys, tip).show(ui, edits, |ui| {
        ui.toggle_value(&mut settings.wireframe, "wireframe");
        ui.toggle_value(&mut settings.vertices, "vertices");
    });
    let tip = "Normals of the vertices, blue (Alt+N), and of the triangles, cyan";
    let keys = &["overlay.normals", "overlay.face_normals"];
    Row::new("normals", keys, tip).show(ui, edits, |ui| {
        ui.toggle_value(&mut settings.normals, "vertices");
        ui.toggle_value(&mut settings.face_normals, "triangles");
    });
    let tip = "Tangents of the vertices, red, and bitangents, green, as normal maps are read with: those of the file, \
               or computed ones";
    Row::new("tangents", &["overlay.tangents"], tip).show(ui, edits, |ui| {
        ui.toggle_value(&mut settings.tangents, "tangents and bitangents");
    });
    let why = (!settings.shows_any()).then_some(OFF);
    Row::new("of", &["overlay.mesh"], "Whose lines are drawn")
        .idle(why)
        .show(ui, edits, |ui| {
            let is_all = !*of_selection && settings.mesh < 0;
            let all = ui.selectable_label(is_all, "all");
            if all.on_hover_text("Of all meshes").clicked() {
                *of_selection = false;
                settings.mesh = -1;
            }
            let tip = "Of the mesh that is selected, or of all while none is";
            let selected = ui.selectable_label(*of_selection, "selected");
            if selected.on_hover_text(tip).clicked() {
                *of_selection = true;
            }
        });
    let lines = settings.normals || settings.tangents || settings.face_normals;
    let short = (!lines).then_some("no normals or tangents are shown");
    let tip = "Length of normals and tangents, as a share of the scene's diagonal";
    Row::new("length", &["overlay.length"], tip)
        .idle(short)
        .show(ui, edits, |ui| {
            let digits = Digits {
                decimals: 3,
                suffix: "",
            };
            slide(ui, &mut settings.length, 0.0..=0.1, Overlay::LENGTH, digits)
        });
    let tip = "Opacity of lines behind surfaces: 0 hides them, 1 draws all on top";
    Row::new("behind", &["overlay.hidden"], tip)
        .idle(why)
        .show(ui, edits, |ui| {
            let digits = hundredths("");
            slide(ui, &mut settings.hidden, 0.0..=1.0, Overlay::HIDDEN, digits)
        });
    Row::new("width", &["overlay.width"], "Width of the lines in pixels")
        .idle(why)
        .show(ui, edits, |ui| {
            let digits = hundredths(" px");
            slide(ui, &mut settings.width, 0.5..=4.0, Overlay::WIDTH, digits)
        });
    if let Some(counts) = facts.stats.overlay {
        let tip = "Lines and dots that are drawn. Where a kind has too many, one of so many triangles or vertices is";
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
    fn lines_that_are_left_out_are_told() {
        let [found, drawn] = [3_000_000, 500_000];
        assert_eq!(
            told(OverlayCounts {
                found,
                drawn: found
            }),
            "3.00\u{a0}M lines"
        );
        assert_eq!(
            told(OverlayCounts { found, drawn }),
            "500\u{a0}k of 3.00\u{a0}M lines"
        );
    }
}
