//! Fixed top of the panel: the scene, the adapter, and the frame time.

use crate::{
    app::{
        input::keys::Action,
        state::{HISTORY, State, counted},
        ui::{
            facts::Facts,
            style::{accent, digits, line, significant},
        },
    },
    profile::table::percentile,
};
use egui::{Align, Layout, Pos2, RichText, Sense, Stroke, Ui, vec2};

/// Maximum number of warnings in a tooltip.
const MAX_WARNINGS: usize = 8;

/// Panel height in points below which the adapter's name and the graph are hidden to make room for the
/// settings.
const LOW: f32 = 460.0;

/// Shows the top of the panel.
pub(in crate::app) fn show(ui: &mut Ui, state: &mut State, facts: &Facts<'_>) {
    let is_low = ui.available_height() < LOW;
    ui.add_space(4.0);
    scene(ui, state);
    if !is_low {
        adapter(ui, state, facts);
    }
    rate(ui, state);
    if !is_low {
        graph(ui, state);
    }
    ui.add_space(2.0);
}

/// Fills a row from both sides. The left side is shortened if there is not enough room.
fn sides(ui: &mut Ui, left: impl FnOnce(&mut Ui), right: impl FnOnce(&mut Ui)) {
    ui.horizontal(|ui| {
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            right(ui);
            ui.with_layout(Layout::left_to_right(Align::Center), left);
        });
    });
}

fn scene(ui: &mut Ui, state: &mut State) {
    let name = state.stage.as_ref().map(|stage| stage.name());
    let name = name.unwrap_or_else(|| "no scene".into());
    let open = |ui: &mut Ui| {
        let keys = |action| state.ui.keymap.hint(action);
        let (open, outline, browse) = (keys(Action::Open), keys(Action::Outline), keys(Action::Browse));
        let tip = format!("Opens a glTF, OBJ or volume file{open}");
        if ui.button("Open…").on_hover_text(tip).clicked() {
            state.ui.actions.push(Action::Open);
        }
        let tip = format!("Opens the scene tree: nodes, materials, lights and their properties{outline}");
        if ui.button("Tree").on_hover_text(tip).clicked() {
            state.ui.actions.push(Action::Outline);
        }
        let tip = format!("Opens canopy's file browser: recent files and folders{browse}");
        if ui.button("Browse").on_hover_text(tip).clicked() {
            state.ui.actions.push(Action::Browse);
        }
    };
    sides(ui, |ui| _ = line(ui, RichText::new(name).heading()), open);
}

fn adapter(ui: &mut Ui, state: &State, facts: &Facts<'_>) {
    let text = RichText::new(facts.adapter).small();
    let (text, tip) = match facts.has_gpu {
        true => (text.weak(), "Graphics adapter"),
        false => {
            let text = text.color(ui.visuals().warn_fg_color);
            (
                text,
                "Software rendering: this adapter runs on the CPU and is slow",
            )
        }
    };
    let name = |ui: &mut Ui| {
        let label = egui::Label::new(text).truncate().show_tooltip_when_elided(false);
        ui.add(label).on_hover_text(format!("{}\n\n{tip}", facts.adapter));
    };
    let warnings = state.warnings().count();
    let count = |ui: &mut Ui| {
        if warnings > 0 {
            let text = counted(warnings as u64, "warning");
            let text = RichText::new(text).small().color(ui.visuals().warn_fg_color);
            ui.label(text).on_hover_text(summary(state, warnings));
        }
    };
    sides(ui, name, count);
}

/// Returns the first warnings, and a note on where to find the other warnings.
fn summary(state: &State, count: usize) -> String {
    let mut lines: Vec<String> = state.warnings().take(MAX_WARNINGS).cloned().collect();
    if count > MAX_WARNINGS {
        lines.push("All are listed in the tab Scene, under “Extensions and warnings”.".into());
    }
    lines.join("\n\n")
}

/// Time span in seconds of the frames whose mean is shown. If one frame takes longer, only that frame
/// is shown.
const RATE_SECS: f32 = 0.5;

fn rate(ui: &mut Ui, state: &State) {
    // The mean of a few frames is legible and still follows changes.
    let mut seconds = 0.0;
    let is_recent = |ms: &&f32| {
        let is_recent = seconds < RATE_SECS;
        seconds += **ms * 1e-3;
        is_recent
    };
    let recent: Vec<f32> = state
        .profile
        .frame_ms
        .iter()
        .rev()
        .take_while(is_recent)
        .copied()
        .collect();
    let text = if recent.is_empty() {
        "no frame yet".into()
    } else {
        let ms = f64::from(recent.iter().sum::<f32>()) / recent.len() as f64;
        let fps = significant(1000.0 / ms.max(1e-3));
        format!("{:>5} ms {fps:>6} fps", significant(ms))
    };
    let tip = "Mean frame time over half a second: the interval between frames while a clip plays, \
               else the time to draw one";
    ui.label(digits(text)).on_hover_text(tip);
}

/// Draws frame times as a line. The scale fits most of them, so that one slow frame does not flatten the
/// others.
fn graph(ui: &mut Ui, state: &State) {
    let size = vec2(ui.available_width(), 34.0);
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    let visuals = ui.visuals();
    let painter = ui.painter_at(rect);
    painter.rect_filled(rect, 3.0, visuals.extreme_bg_color);
    let top = top_of(state.profile.frame_ms.iter().copied());
    let at = |index: usize, ms: f32| {
        let right_aligned = index + HISTORY - state.profile.frame_ms.len();
        Pos2::new(
            rect.left() + rect.width() * right_aligned as f32 / (HISTORY - 1) as f32,
            rect.bottom() - (rect.height() - 4.0) * (ms / top).min(1.0),
        )
    };
    let middle = rect.bottom() - (rect.height() - 4.0) * 0.5;
    let faint = visuals.widgets.noninteractive.bg_stroke;
    painter.hline(rect.x_range(), middle, faint);
    let frames = || state.profile.frame_ms.iter().copied().enumerate();
    let points: Vec<Pos2> = frames().map(|(i, ms)| at(i, ms)).collect();
    painter.line(points, Stroke::new(1.3, accent(visuals)));
    for (index, ms) in frames().filter(|(_, ms)| *ms > top) {
        let x = at(index, ms).x;
        let stroke = Stroke::new(2.0, visuals.warn_fg_color);
        painter.vline(x, rect.top()..=rect.top() + 3.0, stroke);
    }
    painter.text(
        rect.left_top() + vec2(4.0, 2.0),
        egui::Align2::LEFT_TOP,
        format!("{top} ms"),
        egui::FontId::monospace(10.0),
        visuals.weak_text_color(),
    );
    response.on_hover_text(
        "Frame times, the latest on the right. Marks at the top are frames above the \
                            scale",
    );
}

/// Returns the top of a scale that fits all but the slowest 5 % of frames.
fn top_of(frames: impl Iterator<Item = f32>) -> f32 {
    let mut sorted: Vec<f32> = frames.collect();
    sorted.sort_by(f32::total_cmp);
    round_up(percentile(&sorted, 0.95).max(1.0))
}

/// Rounds up to the next number of the series 1, 2, 5, 10, 20 and so on.
fn round_up(ms: f32) -> f32 {
    let decade = 10_f32.powf(ms.max(1e-3).log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * decade);
    steps.into_iter().find(|step| *step >= ms).unwrap_or(ms)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chart_maximum_is_rounded_up() {
        for (ms, top) in [(0.9, 1.0), (1.0, 1.0), (3.0, 5.0), (16.7, 20.0), (170.0, 200.0)] {
            let rounded = round_up(ms);
            assert!((rounded - top).abs() < 1e-3 * top, "{ms}: {rounded}");
        }
    }

    #[test]
    fn one_slow_frame_does_not_set_the_chart_scale() {
        let frames = std::iter::once(4000.0).chain([9.0; 60]);
        assert_eq!(top_of(frames), 10.0);
        assert_eq!(top_of([4000.0].into_iter()), 5000.0);
        assert_eq!(top_of(std::iter::empty()), 1.0);
    }
}
