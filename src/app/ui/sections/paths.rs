//! The section `Paths`: the picture by paths of light.

use crate::{
    app::{
        state::State,
        ui::{
            facts::Facts,
            rows::{Edits, Row, choose},
            style::{grouped, line},
        },
    },
    config::{ImageMode, PathKernels, Paths},
    output::numbers::duration_left,
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
    let tip = "One kernel follows a path to its end; separate ones all paths together from surface to surface. The \
               picture is the same";
    Row::new("kernels", &["paths.kernels"], tip)
        .idle(why)
        .show(ui, edits, |ui| {
            let choices =
                PathKernels::ALL.map(|kernels| (kernels, kernels.name(), tip_of(kernels)));
            choose(ui, &mut settings.kernels, &choices);
        });
    let why = match settings.kernels {
        PathKernels::One => Some("one kernel sorts nothing"),
        _ => why,
    };
    let tip = "Separate kernels sort hits by the material";
    Row::new("sort", &["paths.sort"], tip)
        .idle(why)
        .show(ui, edits, |ui| {
            ui.checkbox(&mut settings.sort, "by material")
        });
    if let Some(done) = facts.stats.path_samples {
        let [done, wanted] = [done, settings.samples].map(|count| grouped(count.into()));
        let mut text = format!("{done} of {wanted} samples");
        if let Some(secs) = facts.path_secs_left {
            text += &format!(", {} left", duration_left(secs));
        }
        line(ui, RichText::new(text).weak());
    }
}

fn tip_of(kernels: PathKernels) -> &'static str {
    match kernels {
        PathKernels::Auto => "As is faster on this adapter",
        PathKernels::One => "A large kernel follows a path to its end",
        PathKernels::Separate => "A kernel for each step of all paths",
    }
}
