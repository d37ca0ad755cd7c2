//! The section `Scene`: its clip, its variant, and which way is up.

use crate::{
    app::{
        keys::Action,
        state::State,
        ui::{
            facts::Facts,
            rows::{Edits, Row, hundredths, list, number, slide},
        },
    },
    config::{Animation, GroundMode, UpAxis},
};
use egui::Ui;

pub(super) fn show(ui: &mut Ui, state: &mut State, _: &Facts<'_>, edits: &mut Edits) {
    clip(ui, state, edits);
    playback(ui, state, edits);
    variant(ui, state, edits);
    up_axis(ui, state, edits);
    ground(ui, state, edits);
    let tip = "Reads the files of the scene and the environment again when they change (Ctrl+R)";
    Row::new("watch", &["window.watch"], tip).show(ui, edits, |ui| {
        ui.checkbox(&mut state.config.window.watch, "reload on change")
    });
}

/// The axis of the files that points up.
fn up_axis(ui: &mut Ui, state: &mut State, edits: &mut Edits) {
    let stage = state.stage.as_ref();
    let why = stage.is_none().then_some("there is no scene");
    let tip = "The axis of the files that points up (U)";
    let row = Row::new("up axis", &["scene.up"], tip).idle(why);
    let name = |axis: UpAxis| match (axis, stage) {
        (UpAxis::Auto, Some(stage)) => {
            format!("auto ({})", stage.up_axis(axis).name().to_uppercase())
        }
        (axis, _) => axis.name().to_uppercase(),
    };
    let choices = UpAxis::ALL.map(|axis| (axis, name(axis), "Turns the scene until it points up"));
    let wanted = &mut state.config.scene.up;
    row.show(ui, edits, |ui| {
        *wanted = list(ui, "up axis", 0.0, *wanted, &choices).unwrap_or(*wanted);
    });
}

/// What lies below the scene.
fn ground(ui: &mut Ui, state: &mut State, edits: &mut Edits) {
    let tip = "What lies at the scene's foot, seen from above. Key G";
    let stage = state.stage.as_ref();
    let name = |mode: GroundMode| stage.map_or(mode.name().into(), |s| s.ground_name(mode));
    let choices = GroundMode::ALL.map(|mode| (mode, name(mode), meaning(mode)));
    let wanted = &mut state.config.scene.ground;
    Row::new("ground", &["scene.ground"], tip).show(ui, edits, |ui| {
        *wanted = list(ui, "ground", 0.0, *wanted, &choices).unwrap_or(*wanted);
    });
}

fn meaning(mode: GroundMode) -> &'static str {
    match mode {
        GroundMode::Auto => {
            "Shadows fall on the background, unless the scene has a floor of its own"
        }
        GroundMode::Off => "Nothing",
        GroundMode::Shadow => "Shadows and occlusion fall on the background",
        GroundMode::Grid => "The same, with lines; every tenth is stronger",
    }
}

fn clip(ui: &mut Ui, state: &mut State, edits: &mut Edits) {
    let clips = state
        .stage
        .as_ref()
        .map_or(0, |stage| stage.scene.clips.len());
    let why = (clips == 0).then_some("the scene has no clips");
    let row = Row::new(
        "clip",
        &[],
        "The animation that plays. Key N for the next one",
    )
    .idle(why);
    row.show(ui, edits, |ui| {
        let name = |clip| match &state.stage {
            Some(stage) if clips > 0 => stage.clip_name(clip),
            _ => "none".into(),
        };
        let all = std::iter::once(None).chain((0..clips).map(Some));
        let choices: Vec<_> = all
            .map(|clip| (clip, name(clip), "Plays it from its start"))
            .collect();
        let now = state.stage.as_ref().and_then(|stage| stage.clip);
        if let Some(clip) = list(ui, "clip", 0.0, now, &choices) {
            state.actions.push(Action::Clip(clip));
        }
    });
}

fn playback(ui: &mut Ui, state: &mut State, edits: &mut Edits) {
    let duration = state.stage.as_ref().map_or(0.0, |stage| stage.duration());
    let why = (duration == 0.0).then_some("no clip plays");
    let mut none = 0.0;
    let time = state
        .stage
        .as_mut()
        .map_or(&mut none, |stage| &mut stage.time);
    let row = Row::new("time", &[], "Time in the clip, in seconds").idle(why);
    row.show(ui, edits, |ui| {
        let whole = 0.0..=duration.max(1e-3);
        slide(ui, time, whole.clone(), whole, hundredths(" s"))
    });
    let tip = "Seconds of the clip in a second. Key Space plays and pauses";
    let row = Row::new("speed", &["animation.speed"], tip).idle(why);
    row.show(ui, edits, |ui| {
        let (text, tip) = match state.playing {
            true => ("Pause", "Stops the clip where it is (Space)"),
            false => ("Play", "Plays the clip (Space)"),
        };
        let button = egui::Button::new(text).min_size(egui::vec2(56.0, 0.0));
        if ui.add(button).on_hover_text(tip).clicked() {
            state.playing = !state.playing;
        }
        let speed = &mut state.config.animation.speed;
        number(ui, speed, 0.01, Animation::SPEED, hundredths("×"))
    });
}

/// A choice of KHR_materials_variants.
fn variant(ui: &mut Ui, state: &mut State, edits: &mut Edits) {
    let names = state
        .stage
        .as_ref()
        .map_or(&[][..], |stage| &stage.scene.variants);
    let why = names.is_empty().then_some("the file has no variants");
    let row = Row::new(
        "variant",
        &[],
        "Materials of the file that are swapped together",
    )
    .idle(why);
    let chosen = row.show(ui, edits, |ui| {
        let name = |(index, name): (usize, &String)| match name.as_str() {
            "" => format!("variant {index}"),
            name => name.to_owned(),
        };
        let none = std::iter::once((None, "none".to_owned(), "The materials without a variant"));
        let all = names.iter().enumerate();
        let all = all.map(|entry| (Some(entry.0), name(entry), "Shows this variant"));
        let choices: Vec<_> = none.chain(all).collect();
        let now = state.stage.as_ref().and_then(|stage| stage.variant);
        list(ui, "variant", 0.0, now, &choices)
    });
    state.actions.extend(chosen.map(Action::Variant));
}
