//! Sides of a comparison, and their display mode.

use crate::{
    app::{
        compare::{
            costs::FRAMES,
            model::{Compare, Mode, SideB, VARIANT, found, is_own},
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

/// Headline of the error for a setting that side B cannot have.
const FAILED: &str = "Side B cannot have this setting";
/// Maximum number of listed keys.
const LISTED: usize = 8;

pub(super) fn show(ui: &mut Ui, state: &mut State, _: &Facts<'_>, edits: &mut Edits) {
    sides(ui, state, edits);
    setting(ui, state, edits);
    file(ui, state, edits);
    if state.compare.other().is_some() {
        view(ui, &mut state.compare, edits);
    }
}

/// Shows side B, and quick choices for it.
fn sides(ui: &mut Ui, state: &mut State, edits: &mut Edits) {
    let is_on = state.compare.other().is_some();
    let tip = "Side B is shown beside the scene, at the same time and from the same view. Side A is the \
               scene of the viewer";
    Row::new("side B", &[], tip).show(ui, edits, |ui| {
        let name = match is_on {
            true => state.compare.name(),
            false => "none".into(),
        };
        let tip = format!("Ends the comparison{}", state.ui.keymap.hint(Action::Compare));
        let ends = is_on && ui.button("×").on_hover_text(tip).clicked();
        line(ui, RichText::new(name).weak());
        if ends {
            state.compare.end();
        }
    });
    let tip = "Freezes A as side B: its settings or its picture";
    Row::new("  freeze", &[], tip).show(ui, edits, |ui| {
        let freeze = ui.button("settings");
        if freeze
            .on_hover_text("Copies the current settings, materials and lights to B. Then you can change A")
            .clicked()
        {
            let now = state.shown();
            state.compare.freeze(now);
        }
        let keys = state.ui.keymap.hint(Action::ComparePicture);
        let tip = format!("Copies the current picture of A to B{keys}");
        if ui.button("picture").on_hover_text(tip).clicked() {
            state.ui.actions.push(Action::ComparePicture);
        }
    });
    let tip = "Sets the shadow technique of B";
    Row::new("  shadows", &[], tip).show(ui, edits, |ui| {
        for mode in ["rays", "map", "off"] {
            let text = format!("shadows.mode={mode}");
            let tip = format!("Sets {text} for B");
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
            let tip = "Resets B to the value of A";
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
            "Median frame time over the last {FRAMES} frames with these settings, with minimum and maximum"
        );
        for (side, name) in ["frame time A", "frame time B"].into_iter().enumerate() {
            let text = cost_and_spread(&state.compare, side);
            Row::new(name, &[], &tip).show(ui, edits, |ui| line(ui, digits(text)));
        }
    }
}

/// Shows the material variant of side B, if the file has any.
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
    let tip = "Material variant of B";
    Row::new("  variant", &[], tip).show(ui, edits, |ui| {
        let name = |(index, name): (usize, &String)| match name.as_str() {
            "" => format!("variant {index}"),
            name => name.to_owned(),
        };
        let mut choices = vec![(None, "as A".to_owned(), "The variant of A")];
        choices.push((Some(None), "none".into(), "The default materials"));
        let all = names.iter().enumerate();
        choices.extend(all.map(|of| (Some(Some(of.0)), name(of), "Shows this variant on B")));
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

/// Shows a search field for a key, and its value.
fn setting(ui: &mut Ui, state: &mut State, edits: &mut Edits) {
    let tip = "Sets a key for B only. Type a part of the key, then a value as in config.toml";
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
        if ui.add(entry).on_hover_text("Selects this key").clicked() {
            state.compare.key.clone_from(key);
            let value = state.config.value(key);
            state.compare.value = value.map_or_else(String::new, |value| value.to_string());
        }
    }
}

/// Shows the path of a scene or picture for side B.
fn file(ui: &mut Ui, state: &mut State, edits: &mut Edits) {
    let tip = "Scene or picture (.png, .jpg, .exr, .hdr) to compare with. You can also drop a picture on the \
               window";
    Row::new("file", &[], tip).show(ui, edits, |ui| {
        let field = TextEdit::singleline(&mut state.compare.file).hint_text("path");
        if ui.button("…").on_hover_text("Opens a file dialog").clicked() {
            state.ui.actions.push(Action::OpenSide);
        }
        let field = ui.add(field.desired_width(ui.available_width() - 8.0));
        if field.lost_focus() && ui.input(|i| i.key_pressed(egui::Key::Enter)) {
            let path = state.compare.file.trim().to_owned();
            let opened = state.compare.open(path.as_ref(), &state.config);
            if let Err(error) = opened {
                state.fail("Side B cannot be shown", error.to_string());
            }
        }
    });
}

/// Shows the display mode of both sides.
fn view(ui: &mut Ui, compare: &mut Compare, edits: &mut Edits) {
    let keys = edits.keymap.hint(Action::CompareMode);
    let tip = format!("Shows both sides in this mode{keys}");
    Row::new("mode", &[], &tip).show(ui, edits, |ui| {
        choose(ui, &mut compare.mode, &Mode::ALL);
    });
    if matches!(compare.other(), Some(SideB::Picture(saved)) if saved.picture.is_linear) {
        let tip = "Applies the exposure of A to the radiance of B, with or without the tone curve";
        Row::new("radiance", &[], tip).show(ui, edits, |ui| {
            let choices = [
                (false, "tone-mapped", "With the tone curve of A"),
                (
                    true,
                    "linear",
                    "Without a tone curve; values above white are clipped",
                ),
            ];
            choose(ui, &mut compare.is_untoned, &choices);
        });
    }
    match compare.mode {
        Mode::Wipe => {
            let tip = "Direction of the dividing line";
            Row::new("line", &[], tip).show(ui, edits, |ui| {
                let choices = [
                    (false, "vertical", "A on the left, B on the right"),
                    (true, "horizontal", "A above, B below"),
                ];
                choose(ui, &mut compare.is_horizontal, &choices);
            });
        }
        Mode::Flicker => {
            let keys = edits.keymap.hint(Action::CompareFlip);
            let tip = format!("Switches between A and B this often per second. A key switches by hand{keys}");
            Row::new("rate", &[], &tip).show(ui, edits, |ui| {
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
            let tip = "Factor on the differences before the colour map";
            Row::new("scale", &[], tip).show(ui, edits, |ui| {
                let shown = Digits {
                    decimals: 1,
                    suffix: " ×",
                };
                number(ui, &mut compare.gain, 0.1, Compare::GAIN, shown);
                ui.checkbox(&mut compare.is_linear, "linear")
                    .on_hover_text("Differences of linear light instead of sRGB values");
            });
            let tip = "Error over all pixels, on values from 0 to 1. A pixel counts with its channel that \
                       differs most";
            Row::new("error", &[], tip).show(ui, edits, |ui| {
                line(ui, digits(figures(compare)));
            });
        }
    }
}
