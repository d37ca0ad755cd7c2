//! Keys of the camera path.

use crate::app::{
    input::keys::Action,
    state::State,
    ui::{
        facts::Facts,
        rows::{Edits, Row, hundredths, number},
        style::line,
    },
};
use egui::{RichText, Ui};

pub(super) fn show(ui: &mut Ui, state: &mut State, _: &Facts<'_>, edits: &mut Edits) {
    state.motion.path.is_in_panel = true;
    let tip = "Keyframes that the camera moves between, on a smooth curve";
    Row::new("keyframes", &[], tip).show(ui, edits, |ui| {
        let tip = format!(
            "Adds this view as a keyframe: at the time of the clip while it is paused, else two seconds after \
             the last keyframe{}",
            state.ui.keymap.hint(Action::PathKey)
        );
        if ui.button("Add").on_hover_text(tip).clicked() {
            state.ui.actions.push(Action::PathKey);
        }
        let text = if state.motion.path.is_playing() {
            "Stop"
        } else {
            "Play"
        };
        let button = egui::Button::new(text);
        let can_play = state.motion.path.keys().len() > 1;
        let button = ui.add_enabled(can_play, button);
        let button = button.on_hover_text("Plays the path from its start, or stops it");
        if button
            .on_disabled_hover_text("Add at least two keyframes first")
            .clicked()
        {
            state.toggle_path();
        }
    });
    let is_orthographic = matches!(
        state.camera.projection,
        crate::scene::Projection::Orthographic { .. }
    );
    if is_orthographic {
        line(
            ui,
            RichText::new("keyframes are in perspective; this view is not").weak(),
        );
    }
    keys(ui, state, edits);
    file(ui, state, edits);
}

fn keys(ui: &mut Ui, state: &mut State, edits: &mut Edits) {
    let mut asked = None;
    for index in 0..state.motion.path.keys().len() {
        let name = format!("keyframe {}", index + 1);
        Row::new(&name, &[], "Time and view of a keyframe").show(ui, edits, |ui| {
            let mut time = state.motion.path.keys()[index].time;
            if number(ui, &mut time, 0.02, 0.0..=1e6, hundredths(" s")) {
                state.motion.path.set_time(index, time);
            }
            for (what, text, tip) in [
                (Edit::Show, "Go", "Goes to this keyframe"),
                (Edit::Update, "Set", "Replaces this keyframe by the current view"),
                (Edit::Remove, "×", "Removes this keyframe"),
            ] {
                if ui.button(text).on_hover_text(tip).clicked() {
                    asked = Some((what, index));
                }
            }
        });
    }
    match asked {
        Some((Edit::Show, index)) => state.go_to_path_key(index),
        Some((Edit::Update, index)) => state.update_path_key(index),
        Some((Edit::Remove, index)) => state.motion.path.remove(index),
        None => {}
    }
}

enum Edit {
    Show,
    Update,
    Remove,
}

/// Shows the file of the camera path, and saves or loads it.
fn file(ui: &mut Ui, state: &mut State, edits: &mut Edits) {
    let tip = "JSON file for `canopy render --path` and `canopy bench path --path`";
    Row::new("file", &[], tip).show(ui, edits, |ui| {
        let edit = egui::TextEdit::singleline(&mut state.motion.path.file)
            .hint_text("path.json")
            .desired_width(ui.available_width() - 8.0);
        ui.add(edit)
            .on_hover_text("Path of the file, relative to the current folder");
    });
    Row::new("", &[], tip).show(ui, edits, |ui| {
        let has_name = !state.motion.path.file.is_empty();
        for (is_save, text, tip) in [
            (true, "Save", "Writes the keyframes to the file"),
            (false, "Load", "Reads the keyframes from the file"),
        ] {
            let button = ui.add_enabled(has_name, egui::Button::new(text));
            let button = button
                .on_hover_text(tip)
                .on_disabled_hover_text("Enter a file name first");
            match (button.clicked(), is_save) {
                (true, true) => state.save_path(),
                (true, false) => state.load_path(),
                _ => {}
            }
        }
    });
}
