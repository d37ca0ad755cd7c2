//! The section `Ambient occlusion`.

use crate::{
    app::{
        state::State,
        ui::{
            facts::Facts,
            rows::{Edits, Row, choose, hundredths, number},
        },
    },
    config::{Occlusion, OcclusionMode},
};
use egui::{DragValue, Slider, Ui};

pub(super) fn show(ui: &mut Ui, state: &mut State, facts: &Facts<'_>, edits: &mut Edits) {
    let occlusion = &mut state.config.occlusion;
    let tip = "Ambient occlusion by rays through the trees. Key O";
    Row::new("technique", &["occlusion.mode"], tip).show(ui, edits, |ui| {
        let choices = OcclusionMode::ALL.map(|mode| (mode, mode.name(), meaning(mode)));
        choose(ui, &mut occlusion.mode, &choices);
    });
    let sends = occlusion.sends_rays(facts.fast_rays);
    let why = (!sends).then_some("no rays are sent for ambient occlusion");
    let tip = "Rays per pixel and frame; 0 for 1 on GPUs, 2 in software";
    Row::new("rays", &["occlusion.rays"], tip)
        .idle(why)
        .show(ui, edits, |ui| {
            let most = *Occlusion::RAYS.0.end();
            ui.add(Slider::new(&mut occlusion.rays, 0..=most))
        });
    let tip = "Length of the rays; 0 is unlimited";
    Row::new("radius", &["occlusion.radius"], tip)
        .idle(why)
        .show(ui, edits, |ui| {
            let radius = &mut occlusion.radius;
            number(ui, radius, 0.01, Occlusion::RADIUS, hundredths(" m"))
        });
    let tip = "One bounce of all lights off what the rays hit, in mean colours";
    Row::new("light", &["occlusion.bounce"], tip)
        .idle(why)
        .show(ui, edits, |ui| {
            ui.checkbox(&mut occlusion.bounce, "one bounce")
        });
    let tip = "Frames that are averaged; fewer while something moves";
    Row::new("history", &["occlusion.history"], tip)
        .idle(why)
        .show(ui, edits, |ui| {
            let history = DragValue::new(&mut occlusion.history);
            ui.add(history.range(Occlusion::HISTORY).suffix(" frames"))
        });
    let tip = "Averages neighbouring pixels while the history is short";
    Row::new("filter", &["occlusion.filter"], tip)
        .idle(why)
        .show(ui, edits, |ui| {
            ui.checkbox(&mut occlusion.filter, "spatial")
        });
}

fn meaning(mode: OcclusionMode) -> &'static str {
    match mode {
        OcclusionMode::Auto => "By rays on GPUs, off in software",
        OcclusionMode::Off => "The whole environment reaches every point",
        OcclusionMode::Rays => "By rays on every adapter",
    }
}
