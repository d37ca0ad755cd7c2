//! Clip and material variant of the scene.

use crate::{
    app::{
        input::keys::Action,
        state::State,
        ui::{
            facts::Facts,
            rows::{Edits, Row, hundredths, list, number, slide},
        },
    },
    config::Animation,
};
use egui::Ui;

pub(super) fn clip(ui: &mut Ui, state: &mut State, _: &Facts<'_>, edits: &mut Edits) {
    let clips = state.stage.as_ref().map_or(0, |stage| stage.scene.clips.len());
    let why = (clips == 0).then_some("the scene has no clips");
    let tip = "Plays this clip";
    let row = Row::key("animation.clip", edits).acts(tip).idle(why);
    row.show(ui, edits, |ui| {
        let name = |clip| match &state.stage {
            Some(stage) if clips > 0 => stage.clip_name(clip),
            _ => "none".into(),
        };
        let all = std::iter::once(None).chain((0..clips).map(Some));
        let choices: Vec<_> = all
            .map(|clip| (clip, name(clip), "Plays the clip from its start"))
            .collect();
        let now = state.stage.as_ref().and_then(|stage| stage.clip);
        if let Some(clip) = list(ui, "clip", 0.0, now, &choices) {
            state.ui.actions.push(Action::Clip(clip));
        }
    });
}

pub(super) fn time(ui: &mut Ui, state: &mut State, _: &Facts<'_>, edits: &mut Edits) {
    let duration = state.stage.as_ref().map_or(0.0, |stage| stage.duration());
    let mut none = 0.0;
    let stage = state.stage.as_mut();
    let time = stage.map_or(&mut none, |stage| &mut stage.time);
    let tip = "Time in the clip, in seconds";
    Row::key("animation.time", edits).acts(tip).show(ui, edits, |ui| {
        let whole = 0.0..=duration.max(1e-3);
        slide(ui, time, whole.clone(), whole, hundredths(" s"))
    });
}

/// Shows the play button and the playback speed.
pub(super) fn speed(ui: &mut Ui, state: &mut State, _: &Facts<'_>, edits: &mut Edits) {
    Row::key("animation.speed", edits).show(ui, edits, |ui| {
        let (text, tip) = match state.playback.playing {
            true => ("Pause", "Pauses the clip (Space)"),
            false => ("Play", "Plays the clip (Space)"),
        };
        let button = egui::Button::new(text).min_size(egui::vec2(56.0, 0.0));
        if ui.add(button).on_hover_text(tip).clicked() {
            state.toggle_playing();
        }
        let speed = &mut state.config.animation.speed;
        number(ui, speed, 0.01, Animation::SPEED, hundredths("×"))
    });
}

/// Shows the choice of a variant (KHR_materials_variants).
pub(super) fn variant(ui: &mut Ui, state: &mut State, _: &Facts<'_>, edits: &mut Edits) {
    let names = state
        .stage
        .as_ref()
        .map_or(&[][..], |stage| &stage.scene.variants);
    let why = names.is_empty().then_some("the file has no variants");
    let tip = "Shows this variant of the materials";
    let row = Row::key("scene.variant", edits).acts(tip).idle(why);
    let chosen = row.show(ui, edits, |ui| {
        let name = |(index, name): (usize, &String)| match name.as_str() {
            "" => format!("variant {index}"),
            name => name.to_owned(),
        };
        let none = std::iter::once((None, "none".to_owned(), "The default materials"));
        let all = names.iter().enumerate();
        let all = all.map(|entry| (Some(entry.0), name(entry), "Shows this variant"));
        let choices: Vec<_> = none.chain(all).collect();
        let now = state.stage.as_ref().and_then(|stage| stage.variant);
        list(ui, "variant", 0.0, now, &choices)
    });
    state.ui.actions.extend(chosen.map(Action::Variant));
}
