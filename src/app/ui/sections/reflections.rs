//! The section `Reflections`.

use crate::{
    app::{
        state::State,
        ui::{
            facts::Facts,
            rows::{Edits, Row, choose},
        },
    },
    config::{ReflectionMode, Reflections},
};
use egui::{DragValue, Slider, Ui};

pub(super) fn show(ui: &mut Ui, state: &mut State, facts: &Facts<'_>, edits: &mut Edits) {
    let reflections = &mut state.config.reflections;
    let tip = "What glossy surfaces reflect, by rays through the trees. Key L";
    Row::new("technique", &["reflections.mode"], tip).show(ui, edits, |ui| {
        let choices = ReflectionMode::ALL.map(|mode| (mode, mode.name(), meaning(mode)));
        choose(ui, &mut reflections.mode, &choices);
    });
    let sends = reflections.sends_rays(facts.fast_rays);
    let why = (!sends).then_some("no rays are sent for reflections");
    let tip = "Roughness from which surfaces reflect the environment alone";
    Row::new("roughness", &["reflections.max_roughness"], tip)
        .idle(why)
        .show(ui, edits, |ui| {
            let most = &mut reflections.max_roughness;
            ui.add(Slider::new(most, Reflections::MAX_ROUGHNESS))
        });
    Row::new("bounces", &["reflections.bounces"], "Mirrors in mirrors")
        .idle(why)
        .show(ui, edits, |ui| {
            ui.add(Slider::new(&mut reflections.bounces, Reflections::BOUNCES))
        });
    let tip = "Frames that are averaged; fewer of what moves";
    Row::new("history", &["reflections.history"], tip)
        .idle(why)
        .show(ui, edits, |ui| {
            let history = DragValue::new(&mut reflections.history);
            ui.add(history.range(Reflections::HISTORY).suffix(" frames"))
        });
    let tip = "Averages neighbouring pixels, as far as the lobe is wide";
    Row::new("filter", &["reflections.filter"], tip)
        .idle(why)
        .show(ui, edits, |ui| {
            ui.checkbox(&mut reflections.filter, "spatial")
        });
    if sends {
        let counts = facts.stats.reflections;
        ui.weak(format!(
            "{} rays of {} tiles, {} hits in {} bins",
            counts.rays, counts.tiles, counts.hits, counts.bins
        ))
        .on_hover_text(
            "First bounce of the last frame; a bin is a material with textures, or all others",
        );
    }
}

fn meaning(mode: ReflectionMode) -> &'static str {
    match mode {
        ReflectionMode::Auto => "By rays on GPUs, off in software",
        ReflectionMode::Off => "The environment alone, as if there were no scene",
        ReflectionMode::Rays => "By rays on every adapter",
    }
}
