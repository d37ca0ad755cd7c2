//! The sides of a comparison, and how they are shown.

use crate::{
    app::{
        compare::{
            costs::FRAMES,
            model::{Compare, Mode, Other, VARIANT, found, is_own},
            view::{cost_and_spread, figures},
        },
        input::keys::Action,
        state::State,
        ui::{
            facts::Facts,
            rows::{Digits, Edits, Row, choose, list, number},
            style::{digits, line},
        },
    },
    config::Config,
};
use egui::{RichText, TextEdit, Ui};

/// Headline of a setting that side B cannot have.
const FAILED: &str = "Side B cannot have this setting";
/// Keys that are listed at once.
const LISTED: usize = 8;

pub(super) fn show(ui: &mut Ui, state: &mut State, _: &Facts<'_>, edits: &mut Edits) {
    sides(ui, state, edits);
    setting(ui, state, edits);
    file(ui, state, edits);
    if state.compare.other().is_some() {
        view(ui, &mut state.compare, edits);
    }
}

/// What B is, and quick choices of it.
fn sides(ui: &mut Ui, state: &mut State, edits: &mut Edits) {
    let is_on = state.compare.other().is_some();
    let tip = "What is shown beside the scene, at the same moment and from the same view. A is what the viewer shows \
               anyway";
    Row::new("side B", &[], tip).show(ui, edits, |ui| {
        let name = match is_on {
            true => state.compare.name(),
            false => "none".into(),
        };
        let ends = is_on && ui.button("×").on_hover_text("Compares no more (K)").clicked();
        line(ui, RichText::new(name).weak());
        if ends {
            state.compare.end();
        }
    });
    Row::new("  keep", &[], "B is what A is now, and stays so").show(ui, edits, |ui| {
        let freeze = ui.button("settings");
        if freeze
            .on_hover_text(
                "B keeps the settings, materials and lights of this moment, while those of A are changed",
            )
            .clicked()
        {
            let now = state.shown();
            state.compare.freeze(now);
        }
        let picture = ui.button("picture");
        if picture
            .on_hover_text("B is the picture of this moment (Ctrl+K)")
            .clicked()
        {
            state.ui.actions.push(Action::ComparePicture);
        }
    });
    let tip = "Shadows of B";
    Row::new("  shadows", &[], tip).show(ui, edits, |ui| {
        for mode in ["rays", "map", "off"] {
            let text = format!("shadows.mode={mode}");
            let tip = format!("B has {text}");
            if ui.button(mode).on_hover_text(tip).clicked() {
                set(state, &text);
            }
        }
    });
    variant(ui, state, edits);
    let keys: Vec<String> = match state.compare.scene() {
        Some(scene) => scene.with.keys().cloned().collect(),
        None => Vec::new(),
    };
    for key in keys {
        ui.horizontal(|ui| {
            let tip = "B has the value of A again";
            if ui.button("×").on_hover_text(tip).clicked() {
                state.compare.unset(&key);
            }
            let scene = state.compare.scene();
            let value = scene.and_then(|scene| scene.with.get(&key));
            let text = value.map_or_else(String::new, |value| format!("{key} = {value}"));
            line(ui, RichText::new(text));
        });
    }
    if is_on {
        let tip = format!(
            "The median time of a frame, of the last {FRAMES} with these settings, with the fastest and the slowest of them"
        );
        for (side, name) in ["cost of A", "cost of B"].into_iter().enumerate() {
            let text = cost_and_spread(&state.compare, side);
            Row::new(name, &[], &tip).show(ui, edits, |ui| line(ui, digits(text)));
        }
    }
}

/// The variant of B's materials, where the file has some.
fn variant(ui: &mut Ui, state: &mut State, edits: &mut Edits) {
    let names = match &state.stage {
        Some(stage) if !stage.scene.variants.is_empty() => stage.scene.variants.clone(),
        _ => return,
    };
    let scene = state.compare.scene();
    let with = scene.and_then(|scene| scene.with.get(VARIANT));
    let now = with.and_then(|value| value.as_str()).map(str::to_owned);
    let own = now.as_ref().map(|now| {
        let is_it = |(index, name): &(usize, &String)| *name == now || index.to_string() == *now;
        names.iter().enumerate().position(|of| is_it(&of))
    });
    let tip = "The variant of B's materials";
    Row::new("  variant", &[], tip).show(ui, edits, |ui| {
        let name = |(index, name): (usize, &String)| match name.as_str() {
            "" => format!("variant {index}"),
            name => name.to_owned(),
        };
        let mut choices = vec![(None, "as A".to_owned(), "That of A, whichever it shows")];
        choices.push((Some(None), "none".into(), "The materials without a variant"));
        let all = names.iter().enumerate();
        choices.extend(all.map(|of| (Some(Some(of.0)), name(of), "B has this variant")));
        match list(ui, "variant of B", 0.0, own, &choices) {
            Some(None) => state.compare.unset(VARIANT),
            Some(Some(index)) => {
                let index = index.map_or_else(String::new, |index: usize| index.to_string());
                set(state, &format!("{VARIANT}=\"{index}\""));
            }
            None => {}
        }
    });
}

fn set(state: &mut State, text: &str) -> bool {
    let set = state.compare.set(&state.config, text);
    if let Err(error) = &set {
        state.fail(FAILED, error.to_string());
    }
    set.is_ok()
}

/// A key that is looked for, and its value.
fn setting(ui: &mut Ui, state: &mut State, edits: &mut Edits) {
    let tip = "A setting of B alone: a part of its name, then a value as in config.toml";
    Row::new("setting", &[], tip).show(ui, edits, |ui| {
        let width = ui.available_width();
        let field = TextEdit::singleline(&mut state.compare.key).hint_text("key");
        ui.add(field.desired_width(0.58 * width));
        let value = TextEdit::singleline(&mut state.compare.value).hint_text("value");
        let value = ui.add(value.desired_width(0.42 * width - 16.0));
        let is_entered = value.lost_focus() && ui.input(|i| i.key_pressed(egui::Key::Enter));
        if is_entered {
            let text = format!("{}={}", state.compare.key.trim(), state.compare.value);
            if set(state, &text) {
                state.compare.key.clear();
                state.compare.value.clear();
            }
        }
    });
    let typed = state.compare.key.trim().to_owned();
    if typed.is_empty() {
        return;
    }
    if is_own(&typed)
        && let Ok(explained) = Config::explain(&typed)
    {
        line(ui, RichText::new(explained.expected).weak());
        return;
    }
    let keys = found(&typed);
    if keys.is_empty() {
        line(ui, RichText::new("no such key").weak());
    }
    for key in keys.iter().take(LISTED) {
        let entry = egui::Button::selectable(false, key).truncate();
        if ui.add(entry).on_hover_text("Chooses this key").clicked() {
            state.compare.key.clone_from(key);
            let value = state.config.value(key);
            state.compare.value = value.map_or_else(String::new, |value| value.to_string());
        }
    }
}

/// The path of a scene or of a picture.
fn file(ui: &mut Ui, state: &mut State, edits: &mut Edits) {
    let tip = "Path of a scene or of a picture (.png, .jpg, .exr, .hdr). A picture can be dropped on the window too";
    Row::new("file", &[], tip).show(ui, edits, |ui| {
        let field = TextEdit::singleline(&mut state.compare.file).hint_text("path");
        if ui.button("…").on_hover_text("Asks for the file").clicked() {
            state.ui.actions.push(Action::OpenSide);
        }
        let field = ui.add(field.desired_width(ui.available_width() - 8.0));
        if field.lost_focus() && ui.input(|i| i.key_pressed(egui::Key::Enter)) {
            let path = state.compare.file.trim().to_owned();
            let opened = state.compare.open(path.as_ref(), &state.config);
            if let Err(error) = opened {
                state.fail("It cannot be compared with", error.to_string());
            }
        }
    });
}

/// How both sides are shown.
fn view(ui: &mut Ui, compare: &mut Compare, edits: &mut Edits) {
    Row::new("shown by", &[], "How both sides are shown (Shift+K)").show(ui, edits, |ui| {
        choose(ui, &mut compare.mode, &Mode::ALL);
    });
    if matches!(compare.other(), Some(Other::Picture(saved)) if saved.picture.is_linear) {
        let tip = "The radiance of B has the exposure of A, and its tone curve too or none";
        Row::new("radiance", &[], tip).show(ui, edits, |ui| {
            let choices = [
                (false, "toned", "As A is shown: with its tone curve"),
                (
                    true,
                    "linear",
                    "Without a tone curve: what is past white is cut off",
                ),
            ];
            choose(ui, &mut compare.is_untoned, &choices);
        });
    }
    match compare.mode {
        Mode::Wipe => {
            let tip = "Which way the line runs";
            Row::new("line", &[], tip).show(ui, edits, |ui| {
                let choices = [
                    (false, "upright", "A on the left, B on the right"),
                    (true, "level", "A above, B below"),
                ];
                choose(ui, &mut compare.is_horizontal, &choices);
            });
        }
        Mode::Flicker => {
            let tip = "Turns from A to B and back in a second. Alt+K turns by hand";
            Row::new("rate", &[], tip).show(ui, edits, |ui| {
                let shown = Digits {
                    decimals: 1,
                    suffix: " Hz",
                };
                let allowed = Compare::FLICKER_HZ;
                number(ui, &mut compare.flicker_hz, 0.02, allowed, shown);
                ui.checkbox(&mut compare.is_paused, "paused");
            });
        }
        Mode::Difference => {
            let tip = "What differences are multiplied by before they get a colour";
            Row::new("scale", &[], tip).show(ui, edits, |ui| {
                let shown = Digits {
                    decimals: 1,
                    suffix: " ×",
                };
                number(ui, &mut compare.gain, 0.1, Compare::GAIN, shown);
                ui.checkbox(&mut compare.is_linear, "linear")
                    .on_hover_text("Differences of linear light instead of sRGB values");
            });
            let tip = "Of all pixels, each by its channel that differs most; values from 0 to 1";
            Row::new("error", &[], tip).show(ui, edits, |ui| {
                line(ui, digits(figures(compare)));
            });
        }
    }
}
