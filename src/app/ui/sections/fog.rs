//! The section `Fog`: air that scatters light.

use crate::{
    app::{
        state::State,
        ui::{
            facts::Facts,
            fold::more,
            rows::{Digits, Edits, Row, color, hundredths, number, slide},
        },
    },
    config::Fog,
};
use egui::{DragValue, Slider, Ui};

pub(super) fn show(ui: &mut Ui, state: &mut State, _: &Facts<'_>, edits: &mut Edits) {
    let usual = state.usual_fog_density();
    let fog = &mut state.config.fog;
    let tip = "What a metre takes from light; 0 for clear air. Key Alt+F";
    Row::new("density", &["fog.density"], tip).show(ui, edits, |ui| {
        let digits = Digits {
            decimals: 4,
            suffix: " /m",
        };
        slide(
            ui,
            &mut fog.density,
            0.0..=8.0 * usual,
            Fog::DENSITY,
            digits,
        )
    });
    let why = (!fog.is_there()).then_some("the air is clear");
    let tip = "Of what the fog takes from light, the share that it scatters";
    Row::new("colour", &["fog.albedo"], tip)
        .idle(why)
        .show(ui, edits, |ui| color(ui, &mut fog.albedo));
    let tip = "How far forward light is scattered: the more, the brighter the fog before the sun";
    Row::new("forward", &["fog.anisotropy"], tip)
        .idle(why)
        .show(ui, edits, |ui| {
            ui.add(Slider::new(&mut fog.anisotropy, Fog::ANISOTROPY))
        });
    let tip = "Up to this height the fog is uniform";
    Row::new("height", &["fog.height"], tip)
        .idle(why)
        .show(ui, edits, |ui| {
            number(ui, &mut fog.height, 0.05, Fog::HEIGHT, hundredths(" m"))
        });
    let tip = "How fast it clears above that height; 0 for never";
    Row::new("clears", &["fog.height_falloff"], tip)
        .idle(why)
        .show(ui, edits, |ui| {
            let falloff = &mut fog.height_falloff;
            slide(
                ui,
                falloff,
                0.0..=4.0,
                Fog::HEIGHT_FALLOFF,
                hundredths(" /m"),
            )
        });
    let tip = "How mottled the fog is";
    Row::new("noise", &["fog.noise"], tip)
        .idle(why)
        .show(ui, edits, |ui| {
            ui.add(Slider::new(&mut fog.noise, Fog::NOISE))
        });
    more(ui, state, "Fog", |ui, state| {
        let fog = &mut state.config.fog;
        Row::new(
            "cloud size",
            &["fog.noise_size"],
            "Of the largest clouds of the noise",
        )
        .idle(why.or((fog.noise == 0.0).then_some("there is no noise")))
        .show(ui, edits, |ui| {
            number(
                ui,
                &mut fog.noise_size,
                0.02,
                Fog::NOISE_SIZE,
                hundredths(" m"),
            )
        });
        let tip = "Depth up to which its light is found place by place; 0 for that of the scene";
        Row::new("range", &["fog.range"], tip)
            .idle(why)
            .show(ui, edits, |ui| {
                let range = 0.0..=*Fog::RANGE.0.end();
                number(ui, &mut fog.range, 0.1, range, hundredths(" m"))
            });
        let tip = "Froxels across the picture and in depth; 0 for what suits the adapter";
        Row::new("froxels", &["fog.rows", "fog.slices"], tip)
            .idle(why)
            .show(ui, edits, |ui| {
                for (count, most, name) in [
                    (&mut fog.rows, *Fog::ROWS.0.end(), " rows"),
                    (&mut fog.slices, *Fog::SLICES.0.end(), " slices"),
                ] {
                    let drag = DragValue::new(count).range(0..=most).suffix(name);
                    ui.add(drag);
                    // Fewer are not allowed.
                    if (1..8).contains(count) {
                        *count = 8;
                    }
                }
            });
        let tip = "Frames that are averaged; a change shows within eight";
        Row::new("history", &["fog.history"], tip)
            .idle(why)
            .show(ui, edits, |ui| {
                let history = DragValue::new(&mut fog.history);
                ui.add(history.range(Fog::HISTORY).suffix(" frames"))
            });
    });
}
