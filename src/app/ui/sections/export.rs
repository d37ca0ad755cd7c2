//! Export of pictures or a video.

use crate::{
    app::{
        export::model::{FORMATS, Motion},
        input::keys::Action,
        state::{State, counted},
        ui::{
            facts::Facts,
            rows::{Digits, Edits, Row, choose, hundredths, list, number},
            style::line,
        },
    },
    config::Output,
};
use egui::{DragValue, RichText, Ui};

/// Shows the button that opens the export card, and the state of the export.
pub(in crate::app) fn show(ui: &mut Ui, state: &mut State, _: &Facts<'_>, edits: &mut Edits) {
    let tip = "Exports pictures or a video of the clip, a turntable or the camera path";
    Row::new("export", &["export"], tip).show(ui, edits, |ui| {
        let open = ui.button("Export…");
        if open.on_hover_text("Opens the export dialog").clicked() {
            state.files.export.is_open = true;
        }
        if state.files.export.progress.is_none() {
            ui.weak(counted(u64::from(state.exported_frames()), "frame"));
        }
    });
    if let Some(text) = state.files.export.description() {
        line(ui, RichText::new(text).weak());
    }
}

/// Shows the contents of the export card.
pub(in crate::app) fn card(ui: &mut Ui, state: &mut State, _: &Facts<'_>, edits: &mut Edits) {
    let is_running = state.files.export.progress.is_some();
    settings(ui, state, edits);
    let frames = state.exported_frames();
    let why = state.no_export();
    let tip = "Renders in another process, with `canopy render`. You can keep working in the window";
    Row::new("export", &[], tip).show(ui, edits, |ui| {
        let text = if is_running { "Cancel" } else { "Export" };
        let button = egui::Button::new(text).min_size(egui::vec2(56.0, 0.0));
        let button = ui.add_enabled(is_running || why.is_none(), button);
        let tip = "Starts the export, or cancels it after the current picture";
        let button = button.on_hover_text(tip);
        if std::mem::take(&mut state.files.export.takes_keyboard) {
            button.request_focus();
        }
        if button.on_disabled_hover_text(why.unwrap_or_default()).clicked() {
            state.ui.actions.push(Action::StartExport);
        }
        match state.files.export.progress {
            Some([done, total, _]) => {
                let text = state.files.export.description().unwrap_or_default();
                ui.add(egui::ProgressBar::new(done as f32 / total as f32).text(text));
            }
            None => {
                ui.weak(counted(u64::from(frames), "frame"));
            }
        }
    });
    if let Some(why) = why {
        line(ui, RichText::new(why).weak());
    }
}

fn settings(ui: &mut Ui, state: &mut State, edits: &mut Edits) {
    let has_clip = state.stage.as_ref().is_some_and(|stage| stage.duration() > 0.0);
    let export = &mut state.files.export;
    if !has_clip && export.motion == Motion::Clip {
        export.motion = Motion::Turn;
    }
    let tip = "What moves: only the clip, or also the camera, by a turntable or a camera path. The \
               clip plays in all three";
    Row::new("motion", &[], tip).show(ui, edits, |ui| {
        let choices = [
            (
                Motion::Clip,
                "clip",
                "The loop range of the clip, from the current view",
            ),
            (
                Motion::Turn,
                "turntable",
                "A full turn around the scene, from the current view",
            ),
            (Motion::Path, "path", "Along the keyframes of the camera path"),
        ];
        choose(ui, &mut export.motion, &choices[usize::from(!has_clip)..]);
    });
    if export.motion == Motion::Turn {
        Row::new("turn duration", &[], "Duration of a full turn in seconds").show(ui, edits, |ui| {
            number(ui, &mut export.turn_secs, 0.1, 0.1..=3600.0, hundredths(" s"))
        });
    }
    let tip = "Numbered pictures, or a video (needs ffmpeg)";
    Row::new("format", &[], tip).show(ui, edits, |ui| {
        let meaning = |format: &str| match format {
            "png" => "8-bit pictures",
            "exr" => "Linear floating-point pictures",
            "mp4" => "H.264 video, encoded by ffmpeg",
            _ => "VP9 video, encoded by ffmpeg",
        };
        let choices = FORMATS.map(|format| (format, format.to_owned(), meaning(format)));
        let chosen = list(ui, "export format", 0.0, export.format, &choices);
        export.format = chosen.unwrap_or(export.format);
    });
    let output = &mut state.config.output;
    let tip = "Width and height of the pictures in pixels";
    Row::new("size", &["output.size"], tip).show(ui, edits, |ui| {
        ui.add(DragValue::new(&mut output.size[0]).range(Output::SIZE));
        ui.label("×");
        ui.add(DragValue::new(&mut output.size[1]).range(Output::SIZE));
    });
    let tip = "Frames per second";
    Row::new("frame rate", &["output.fps"], tip).show(ui, edits, |ui| {
        let digits = Digits {
            decimals: 2,
            suffix: " /s",
        };
        number(ui, &mut output.fps, 0.1, Output::FPS, digits)
    });
    let tip = "Samples per pixel, jittered within the pixel";
    Row::new("samples", &[], tip).show(ui, edits, |ui| {
        ui.add(DragValue::new(&mut export.samples).range(1..=4096))
    });
    let tip = "Path of the file, relative to the current folder. Empty for a new file in your pictures \
               folder";
    Row::new("file", &[], tip).show(ui, edits, |ui| {
        let edit = egui::TextEdit::singleline(&mut export.file)
            .hint_text("automatic")
            .desired_width(ui.available_width() - 8.0);
        ui.add(edit)
    });
}
