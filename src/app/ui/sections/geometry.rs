//! The section `Geometry and trees`.

use crate::{
    app::{
        state::State,
        ui::{
            facts::Facts,
            rows::{Edits, Row, choose, hundredths, slide},
            style::{compact, digits, grouped},
        },
    },
    config::{Rebuild, Tree, TreeQuality},
    render::TreeWork,
};
use egui::Ui;

pub(super) fn show(ui: &mut Ui, state: &mut State, facts: &Facts<'_>, edits: &mut Edits) {
    counts(ui, facts);
    trees(ui, &mut state.config.tree, facts, edits);
}

fn counts(ui: &mut Ui, facts: &Facts<'_>) {
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

/// The policy of rebuilding trees, and what was done to them in the last frame.
fn trees(ui: &mut Ui, tree: &mut Tree, facts: &Facts<'_>, edits: &mut Edits) {
    let tip = "Fast trees are cheap to build, and high ones cheap to trace";
    Row::new("quality", &["tree.quality"], tip).show(ui, edits, |ui| {
        let choices = [
            (
                TreeQuality::Auto,
                "auto",
                "High until something moves, then fast for what moves; in software fast",
            ),
            (TreeQuality::Fast, "fast", "Radix trees over Morton codes"),
            (
                TreeQuality::High,
                "high",
                "Neighbours in Morton order, joined where their box is smallest",
            ),
        ];
        choose(ui, &mut tree.quality, &choices);
    });
    let tip = "When trees are built";
    Row::new("build trees", &["tree.rebuild"], tip).show(ui, edits, |ui| {
        let choices = [
            (
                Rebuild::Frame,
                "all",
                "All trees in every frame, for measuring",
            ),
            (
                Rebuild::Changed,
                "changed",
                "Those of meshes whose vertices have changed",
            ),
            (
                Rebuild::Refit,
                "refit",
                "Refits boxes, and builds a tree once it has become too costly",
            ),
        ];
        choose(ui, &mut tree.rebuild, &choices);
    });
    let why = (tree.rebuild != Rebuild::Refit).then_some("trees are not refit");
    let tip = "Builds a tree once its cost has grown by this factor";
    let growth = &mut tree.refit_growth;
    Row::new("growth", &["tree.refit_growth"], tip)
        .idle(why)
        .show(ui, edits, |ui| {
            slide(ui, growth, 1.0..=4.0, Tree::REFIT_GROWTH, hundredths("×"))
        });
    let stats = facts.stats;
    let work = match stats.tree_work {
        TreeWork::None => "trees kept".into(),
        TreeWork::Rebuild => format!("trees built in {} dispatches", stats.tree_dispatches),
        TreeWork::Partial => format!("some trees built in {} dispatches", stats.tree_dispatches),
        TreeWork::Refit => format!("trees refit in {} dispatches", stats.tree_dispatches),
    };
    let growth = match tree.rebuild {
        Rebuild::Refit => format!(", cost {:.2}×", stats.tree_growth),
        _ => String::new(),
    };
    ui.weak(work + &growth)
        .on_hover_text("What the last frame did to the trees");
}
