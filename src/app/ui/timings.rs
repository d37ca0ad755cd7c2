//! Timings: passes on the GPU, recording on the CPU, and a graph of the last frames.

use super::{
    facts::Facts,
    style::{ACCENT, cell, digits},
};
use crate::app::state::{HISTORY, State};
use egui::{Color32, Pos2, Sense, Stroke, Ui, vec2};

/// The section `Frame`.
pub(super) fn show(ui: &mut Ui, state: &State, facts: &Facts<'_>) {
    rate(ui, state);
    history(ui, state);
    passes(ui, facts);
}

fn rate(ui: &mut Ui, state: &State) {
    // The mean of few frames: it can be read, and follows what is changed.
    let recent: Vec<f32> = state.frame_ms.iter().rev().take(30).copied().collect();
    let text = if recent.is_empty() {
        "idle".into()
    } else {
        let ms = recent.iter().sum::<f32>() / recent.len() as f32;
        format!("{ms:7.2} ms   {:6.1} fps", 1000.0 / ms.max(1e-3))
    };
    ui.label(digits(text));
}

/// Frame times as a line, with the scale's top value.
fn history(ui: &mut Ui, state: &State) {
    let size = vec2(ui.available_width(), 56.0);
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    let painter = ui.painter_at(rect);
    painter.rect_filled(rect, 3.0, ui.visuals().extreme_bg_color);
    let longest = state.frame_ms.iter().copied().fold(1.0, f32::max);
    let top = scale(longest);
    let at = |index: usize, ms: f32| {
        let right_aligned = index + HISTORY - state.frame_ms.len();
        Pos2::new(
            rect.left() + rect.width() * right_aligned as f32 / (HISTORY - 1) as f32,
            rect.bottom() - (rect.height() - 4.0) * (ms / top).min(1.0),
        )
    };
    let middle = rect.bottom() - (rect.height() - 4.0) * 0.5;
    let faint = Stroke::new(1.0, Color32::from_gray(40));
    painter.hline(rect.x_range(), middle, faint);
    let points: Vec<Pos2> = state
        .frame_ms
        .iter()
        .enumerate()
        .map(|(i, ms)| at(i, *ms))
        .collect();
    painter.line(points, Stroke::new(1.3, ACCENT));
    painter.text(
        rect.left_top() + vec2(4.0, 2.0),
        egui::Align2::LEFT_TOP,
        format!("{top} ms"),
        egui::FontId::monospace(10.0),
        Color32::from_gray(130),
    );
    response.on_hover_text("Time from one frame to the next, the last on the right");
}

/// The least of 1, 2, 5, 10, 20, … that is not below `ms`.
fn scale(ms: f32) -> f32 {
    let decade = 10_f32.powf(ms.max(1e-3).log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * decade);
    steps.into_iter().find(|step| *step >= ms).unwrap_or(ms)
}

fn passes(ui: &mut Ui, facts: &Facts<'_>) {
    let stats = facts.stats;
    if stats.passes.is_empty() {
        ui.weak("no GPU timings yet, or none on this adapter");
    }
    egui::Grid::new("passes")
        .num_columns(3)
        .striped(true)
        .spacing([10.0, 2.0])
        .min_col_width(56.0)
        .show(ui, |ui| {
            ui.weak("pass");
            ui.weak("last ms");
            ui.weak("average");
            ui.end_row();
            for pass in &stats.passes {
                let indent = "  ".repeat(pass.depth);
                row(
                    ui,
                    &format!("{indent}{}", pass.name),
                    pass.last_ms,
                    Some(pass.average_ms),
                );
            }
            let top = stats.passes.iter().map(|p| p.depth).min().unwrap_or(0);
            let outer = || stats.passes.iter().filter(|p| p.depth == top);
            if outer().count() > 1 {
                let (last, average) = outer().fold((0.0, 0.0), |(last, average), pass| {
                    (last + pass.last_ms, average + pass.average_ms)
                });
                row(ui, "GPU, all", last, Some(average));
            }
            row(ui, "CPU, recording", stats.cpu_record_ms, None);
        });
}

fn row(ui: &mut Ui, name: &str, last: f64, average: Option<f64>) {
    cell(ui, 132.0, name);
    ui.label(digits(format!("{last:8.3}")));
    ui.label(digits(
        average.map_or_else(String::new, |average| format!("{average:8.3}")),
    ));
    ui.end_row();
}

#[cfg(test)]
mod tests {
    use super::scale;

    #[test]
    fn scales_are_round_and_large_enough() {
        for (ms, top) in [
            (0.9, 1.0),
            (1.0, 1.0),
            (3.0, 5.0),
            (16.7, 20.0),
            (170.0, 200.0),
        ] {
            assert!((scale(ms) - top).abs() < 1e-3 * top, "{ms}: {}", scale(ms));
        }
    }
}
