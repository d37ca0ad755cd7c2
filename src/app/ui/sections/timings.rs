//! The section `Timings`: the passes of the last frames, a row for each.

use crate::{
    app::{
        keys::Action,
        state::State,
        ui::{
            facts::Facts,
            rows::Edits,
            style::{accent, significant},
        },
    },
    profile::table::{Row, Summary, Table},
};
use egui::{Align2, FontId, Pos2, Rect, Sense, TextStyle, Ui, vec2};

/// Least and largest width of a column of numbers, in points.
const COLUMN: [f32; 2] = [31.0, 38.0];
/// Width that the longest name takes, in points.
const NAME: f32 = 112.0;
/// Height of a row, in points.
const ROW: f32 = 17.0;
/// Number of frames that the statistics cover.
const FRAMES: usize = 120;
/// The columns behind the name.
const COLUMNS: [&str; 5] = ["min", "med", "p95", "max", "share"];

pub(super) fn show(ui: &mut Ui, state: &mut State, facts: &Facts<'_>, _: &mut Edits) {
    if !facts.has_gpu {
        let text = "In software, passes overlap: the time of a single pass is not to be trusted.";
        ui.small(text);
    }
    let frames = state.history.frames().iter().rev();
    let timed = frames.filter(|frame| frame.gpu.is_some()).take(FRAMES);
    let frames: Vec<_> = timed.collect();
    let table = Table::of(frames.into_iter().rev());
    if table.gpu.is_empty() {
        ui.weak("No timings yet, or none on this adapter.");
    } else {
        let tip = "Milliseconds on the GPU over the last 120 frames: least, median, 95th percentile, \
                   most, share of the frame. Hover a row for more";
        let weak = ui.visuals().weak_text_color();
        table_row(
            ui,
            ("pass, ms", 0, weak),
            &COLUMNS.map(str::to_owned),
            None,
            tip,
        );
        for row in &table.gpu {
            pass(ui, &table, row);
        }
    }
    let record = format!(
        "CPU, recording: {} ms",
        significant(facts.stats.cpu_record_ms)
    );
    ui.weak(record)
        .on_hover_text("Time in which the CPU wrote the commands of the last frame");
    let keys = state.keymap.keys_of(Action::Profiler);
    let tip = format!("Every pass of the last frames over time, with memory and files ({keys})");
    if ui.button("Profiler").on_hover_text(tip).clicked() {
        state.actions.push(Action::Profiler);
    }
}

fn pass(ui: &mut Ui, table: &Table, row: &Row) {
    let last = row.last_ms();
    let Some(summary) = row.summary() else {
        return;
    };
    let Summary {
        min_ms,
        median_ms,
        p95_ms,
        max_ms,
        ..
    } = summary;
    let share = table.share(row);
    let [min, median, p95, max] = [min_ms, median_ms, p95_ms, max_ms].map(significant);
    let last = last.map_or("not run".into(), |ms| format!("{} ms", significant(ms)));
    let tip = format!(
        "{}\nlast frame: {last}\nmin {min} ms, median {median} ms, p95 {p95} ms, max {max} ms\n{:.1} % of the frames",
        row.name,
        100.0 * share,
    );
    let cells = [min, median, p95, max, format!("{:.0} %", 100.0 * share)];
    let color = match row.last_ms() {
        Some(_) => ui.visuals().text_color(),
        None => ui.visuals().weak_text_color(),
    };
    table_row(ui, (&row.name, row.depth, color), &cells, Some(share), &tip);
}

/// A name, a bar for its share, and numbers in columns that keep their places.
fn table_row(
    ui: &mut Ui,
    (name, depth, color): (&str, usize, egui::Color32),
    cells: &[String; COLUMNS.len()],
    share: Option<f64>,
    tip: &str,
) {
    let size = vec2(ui.available_width(), ROW);
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    response.on_hover_text(tip);
    let painter = ui.painter_at(rect);
    let visuals = ui.visuals();
    let columns = cells.len() as f32;
    let column_width = ((rect.width() - NAME) / columns).clamp(COLUMN[0], COLUMN[1]);
    let names = rect.width() - column_width * columns;
    if let Some(share) = share {
        let bar = vec2(names * share.clamp(0.0, 1.0) as f32, ROW - 4.0);
        let color = accent(visuals).gamma_multiply(0.25);
        painter.rect_filled(
            Rect::from_min_size(rect.min + vec2(0.0, 2.0), bar),
            2.0,
            color,
        );
    }
    let indent = 4.0 + 8.0 * depth as f32;
    let text = egui::WidgetText::from(name);
    let wrap = Some(egui::TextWrapMode::Truncate);
    let galley = text.into_galley(ui, wrap, names - indent - 2.0, TextStyle::Small);
    let at = Pos2::new(
        rect.left() + indent,
        rect.center().y - galley.size().y * 0.5,
    );
    painter.galley(at, galley, color);
    let font = FontId::monospace(9.5);
    for (column, cell) in cells.iter().enumerate() {
        let right = rect.left() + names + column_width * (column + 1) as f32;
        let at = Pos2::new(right - 2.0, rect.center().y);
        painter.text(at, Align2::RIGHT_CENTER, cell, font.clone(), color);
    }
}
