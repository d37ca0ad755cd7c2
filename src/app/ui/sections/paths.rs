//! The section `Paths`: the picture by paths of light.

use crate::{
    app::{
        state::State,
        ui::{
            facts::Facts,
            rows::{Edits, Row},
            style::{grouped, line},
        },
    },
    config::{ImageMode, Paths},
};
use egui::{DragValue, RichText, Ui};

pub(super) fn show(ui: &mut Ui, state: &mut State, facts: &Facts<'_>, edits: &mut Edits) {
    let image = &mut state.config.image;
    let mut is_on = image.mode == ImageMode::Path;
    let tip =
        "Draws by paths of light instead, sample after sample, until the picture is done. Alt+G";
    Row::new("picture", &["image.mode"], tip).show(ui, edits, |ui| {
        if ui.checkbox(&mut is_on, "by paths of light").changed() {
            image.mode = if is_on {
                ImageMode::Path
            } else {
                ImageMode::Fast
            };
        }
    });
    let settings = &mut state.config.paths;
    let why = (!is_on).then_some("no paths are traced");
    let tip = "Paths of each pixel, after which the picture is done";
    Row::new("samples", &["paths.samples"], tip)
        .idle(why)
        .show(ui, edits, |ui| {
            let samples = DragValue::new(&mut settings.samples);
            ui.add(samples.range(Paths::SAMPLES).speed(16.0))
        });
    let tip = "Most times that light is scattered; 1 is direct light";
    Row::new("bounces", &["paths.bounces"], tip)
        .idle(why)
        .show(ui, edits, |ui| {
            let bounces = DragValue::new(&mut settings.bounces);
            ui.add(bounces.range(Paths::BOUNCES).speed(0.1))
        });
    let tip = "Most radiance that a path adds behind the first surface; 0 for any, which is right";
    Row::new("clamp", &["paths.clamp"], tip)
        .idle(why)
        .show(ui, edits, |ui| {
            let clamp = DragValue::new(&mut settings.clamp);
            ui.add(clamp.range(Paths::CLAMP).speed(0.1))
        });
    if let Some(done) = facts.stats.path_samples {
        let [done, wanted] = [done, settings.samples].map(|count| grouped(count.into()));
        line(
            ui,
            RichText::new(format!("{done} of {wanted} samples")).weak(),
        );
    }
}
