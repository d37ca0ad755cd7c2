//! Counts of the scene, and work on its BVHs.

use crate::{
    app::{
        state::State,
        ui::{
            facts::Facts,
            rows::Edits,
            style::{compact, digits, grouped},
        },
    },
    config::{Rebuild, Tree},
    render::TreeWork,
};
use egui::Ui;

pub(super) fn show(ui: &mut Ui, _: &mut State, facts: &Facts<'_>, _: &mut Edits) {
    let stats = facts.stats;
    let pairs: [(&str, u64); 7] = [
        ("triangles", stats.triangles.into()),
        ("vertices", stats.vertices.into()),
        ("meshes", stats.meshes.into()),
        ("lines", stats.lines.into()),
        ("points", stats.points.into()),
        ("shadow rays", stats.rays),
        ("lights", stats.lights.into()),
    ];
    egui::Grid::new("counts")
        .num_columns(4)
        .spacing([8.0, 2.0])
        .show(ui, |ui| {
            for pair in pairs.chunks(2) {
                for (name, count) in pair {
                    ui.weak(*name);
                    let whole = format!("{} {name}", grouped(*count));
                    ui.label(digits(compact(*count))).on_hover_text(whole);
                }
                ui.end_row();
            }
        });
}

/// Shows the work on the BVHs in the last frame.
pub(super) fn tree_work(ui: &mut Ui, tree: &Tree, facts: &Facts<'_>) {
    let stats = facts.stats;
    let work = match stats.tree_work {
        TreeWork::None => "BVHs kept".into(),
        TreeWork::Rebuild => format!("BVHs built in {} dispatches", stats.tree_dispatches),
        TreeWork::Partial => format!("changed BVHs rebuilt in {} dispatches", stats.tree_dispatches),
        TreeWork::Refit => format!("BVHs refitted in {} dispatches", stats.tree_dispatches),
    };
    let growth = match tree.rebuild {
        Rebuild::Refit => format!(", cost {:.2}× since the build", stats.tree_growth),
        _ => String::new(),
    };
    ui.weak(work + &growth)
        .on_hover_text("BVH work of the last frame");
}
