//! Pass times of the last frames: a table of means, 95th percentiles and fractions of the frame.

use crate::{
    app::{
        input::keys::Action,
        state::State,
        ui::{
            facts::Facts,
            rows::Edits,
            style::{accent, significant},
        },
    },
    profile::{
        history::Frame,
        table::{Row, Summary, Table},
    },
};
use egui::{Align2, Color32, FontId, Id, Pos2, Rect, RichText, Sense, TextStyle, Ui, vec2};

/// Number of frames that the statistics cover.
const FRAMES: usize = 120;
/// Columns after the name, with their widths in points.
const COLUMNS: [(&str, f32); 3] = [("mean ms", 56.0), ("p95", 50.0), ("share", 40.0)];
/// Height of a row in points.
const ROW: f32 = 17.0;
/// Minimum fraction of a group's time at which the time between its passes is listed.
const MIN_BETWEEN: f64 = 0.02;

/// A row of the table.
struct Line {
    name: String,
    depth: usize,
    mean_ms: f64,
    p95_ms: Option<f64>,
    share: f64,
    is_weak: bool,
    tip: String,
}

pub(super) fn show(ui: &mut Ui, state: &mut State, facts: &Facts<'_>, _: &mut Edits) {
    let frames = state.profile.history.frames().iter().rev().take(FRAMES);
    let mut frames: Vec<&Frame> = frames.collect();
    frames.reverse();
    let table = Table::of(frames.iter().copied());
    let by_cost = Id::unique("timings by cost");
    let mut is_by_cost = ui.data(|data| data.get_temp(by_cost)).unwrap_or(false);
    if table.frames == 0 {
        ui.weak("No frames yet.");
    } else {
        if header(ui, is_by_cost) {
            is_by_cost = !is_by_cost;
            ui.data_mut(|data| data.insert_temp(by_cost, is_by_cost));
        }
        let mean_ms = whole(ui, &frames);
        let mut rare = Vec::new();
        if facts.has_gpu {
            // GPU times arrive some frames later. The times of some frames never arrive.
            let timed = frames.iter().filter(|frame| frame.gpu.is_some());
            let mut lines = on_gpu(&Table::of(timed.copied()), &mut rare);
            sort(&mut lines, is_by_cost);
            lines.iter().for_each(|line| show_line(ui, line));
        }
        let mut lines = on_cpu(&table, &mut rare);
        if !facts.has_gpu {
            show_line(ui, &drawing(mean_ms - lines[0].mean_ms, mean_ms));
        }
        sort(&mut lines, is_by_cost);
        lines.iter().for_each(|line| show_line(ui, line));
        once(ui, &rare);
    }
    let tip = format!(
        "Opens the profiler: every pass of the last frames over time, with memory use; can be saved{}",
        state.ui.keymap.hint(Action::Profiler)
    );
    if ui.button("Profiler").on_hover_text(tip).clicked() {
        state.ui.actions.push(Action::Profiler);
    }
}

/// Draws the column headers. Returns true if they were clicked.
fn header(ui: &mut Ui, is_by_cost: bool) -> bool {
    let order = match is_by_cost {
        true => "sorted by cost",
        false => "in the order of the frame",
    };
    let tip = format!(
        "Over the last {FRAMES} frames: the mean, the 95th percentile of the frames that ran the pass, \
         and the fraction of the frame. Rows are {order}; a click changes the order",
    );
    let weak = ui.visuals().weak_text_color();
    let cells = COLUMNS.map(|(name, _)| name.to_owned());
    let name = if is_by_cost {
        "pass, costliest first"
    } else {
        "pass"
    };
    row(ui, (name, 0, weak), &cells, None, Sense::click(), &tip)
}

/// Returns the line with the rendering time of a software adapter.
fn drawing(mean_ms: f64, frame_ms: f64) -> Line {
    let mean_ms = mean_ms.max(0.0);
    Line {
        name: "software rendering".into(),
        depth: 0,
        mean_ms,
        p95_ms: None,
        share: mean_ms / frame_ms.max(1e-9),
        is_weak: false,
        tip: "Remaining time of the frame. This adapter renders on the CPU, where passes overlap, so they have no \
              separate times"
            .into(),
    }
}

/// Shows the row of whole frames. Returns their mean time in milliseconds.
fn whole(ui: &mut Ui, frames: &[&Frame]) -> f64 {
    let times: Vec<f64> = frames.iter().map(|frame| frame.frame_ms()).collect();
    let mean_ms = times.iter().sum::<f64>() / times.len().max(1) as f64;
    let p95_ms = Summary::of(times).map(|summary| summary.p95_ms);
    let tip = "Frame interval during continuous drawing; otherwise the longer of GPU and CPU time";
    show_line(
        ui,
        &Line {
            name: "frame".into(),
            depth: 0,
            mean_ms,
            p95_ms,
            share: 1.0,
            is_weak: false,
            tip: tip.into(),
        },
    );
    mean_ms
}

/// Returns the rows of the GPU passes, with the time between the passes of a group. Passes that ran once go
/// to `rare`.
fn on_gpu(table: &Table, rare: &mut Vec<Line>) -> Vec<Line> {
    let mut lines = Vec::new();
    for (index, pass) in table.gpu.iter().enumerate() {
        let line = of_row(pass, table.share(pass), pass.depth);
        let Some(mut line) = line else { continue };
        if pass.runs() == 1 && table.frames > 2 {
            rare.push(line);
            continue;
        }
        if pass.depth == 0 {
            line.name = "GPU".into();
        }
        let share = line.share;
        lines.push(line);
        let between = table.between(index).filter(|ms| *ms > MIN_BETWEEN * pass.sum());
        if let Some(ms) = between {
            lines.push(Line {
                name: "between passes".into(),
                depth: pass.depth + 1,
                mean_ms: ms / table.frames as f64,
                p95_ms: None,
                share: share * ms / pass.sum().max(1e-9),
                is_weak: true,
                tip: "Copies, barriers, and idle gaps of the GPU".into(),
            });
        }
    }
    lines
}

/// Returns the rows of the CPU work. Work that occurred in one frame only goes to `rare`.
fn on_cpu(table: &Table, rare: &mut Vec<Line>) -> Vec<Line> {
    let sum: f64 = table.cpu.iter().map(Row::sum).sum();
    let mut lines = vec![Line {
        name: "CPU".into(),
        depth: 0,
        mean_ms: sum / table.frames as f64,
        p95_ms: None,
        share: 1.0,
        is_weak: false,
        tip: "CPU time of canopy's main thread. Percentages are of its total".into(),
    }];
    for work in &table.cpu {
        let share = work.sum() / sum.max(1e-9);
        let Some(line) = of_row(work, share, 1) else {
            continue;
        };
        match work.runs() == 1 && table.frames > 2 {
            true => rare.push(line),
            false => lines.push(line),
        }
    }
    lines
}

fn of_row(pass: &Row, share: f64, depth: usize) -> Option<Line> {
    let summary = pass.summary()?;
    let [min, median, _, _, max] = summary.all().map(significant);
    let last = pass.last_ms();
    let last = last.map_or("not run".into(), |ms| format!("{} ms", significant(ms)));
    let tip = format!(
        "{}\nlast frame: {last}\nmin {min} ms, median {median} ms, max {max} ms\nin {} of {} frames",
        pass.name,
        pass.runs(),
        pass.ms.len(),
    );
    Some(Line {
        name: pass.name.clone(),
        depth,
        mean_ms: pass.mean_ms(),
        p95_ms: Some(summary.p95_ms),
        share,
        is_weak: pass.last_ms().is_none(),
        tip,
    })
}

/// Sorts by cost in descending order. Each group keeps its passes.
fn sort(lines: &mut Vec<Line>, is_by_cost: bool) {
    if is_by_cost && !lines.is_empty() {
        *lines = sorted(std::mem::take(lines));
    }
}

fn sorted(lines: Vec<Line>) -> Vec<Line> {
    let depth = lines.iter().map(|line| line.depth).min().unwrap_or(0);
    let mut groups: Vec<(Line, Vec<Line>)> = Vec::new();
    for line in lines {
        match groups.last_mut() {
            Some((_, inside)) if line.depth > depth => inside.push(line),
            _ => groups.push((line, Vec::new())),
        }
    }
    groups.sort_by(|(a, _), (b, _)| b.mean_ms.total_cmp(&a.mean_ms));
    let whole = |(line, inside): (Line, Vec<Line>)| {
        let inside = match inside.is_empty() {
            true => inside,
            false => sorted(inside),
        };
        std::iter::once(line).chain(inside)
    };
    groups.into_iter().flat_map(whole).collect()
}

/// Shows a folded list of passes and work that occurred in one frame only.
fn once(ui: &mut Ui, rare: &[Line]) {
    if rare.is_empty() {
        return;
    }
    egui::CollapsingHeader::new(RichText::new(format!("ran once: {}", rare.len())).weak())
        .id_salt("ran once")
        .show_unindented(ui, |ui| rare.iter().for_each(|line| show_line(ui, line)))
        .header_response
        .on_hover_text("Passes and CPU work that only one of these frames had");
}

fn show_line(ui: &mut Ui, line: &Line) {
    let color = match line.is_weak {
        true => ui.visuals().weak_text_color(),
        false => ui.visuals().text_color(),
    };
    let p95 = line.p95_ms.map_or(String::new(), significant);
    let cells = [
        significant(line.mean_ms),
        p95,
        format!("{:.0} %", 100.0 * line.share),
    ];
    let named = (line.name.as_str(), line.depth, color);
    row(ui, named, &cells, Some(line.share), Sense::hover(), &line.tip);
}

/// Draws a name, a bar for its fraction of the frame, and numbers in fixed columns. Returns true if it was
/// clicked.
fn row(
    ui: &mut Ui,
    (name, depth, color): (&str, usize, Color32),
    cells: &[String; COLUMNS.len()],
    share: Option<f64>,
    sense: Sense,
    tip: &str,
) -> bool {
    let size = vec2(ui.available_width(), ROW);
    let (rect, response) = ui.allocate_exact_size(size, sense);
    let response = response.on_hover_text(tip);
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Label, true, name));
    let painter = ui.painter_at(rect);
    let visuals = ui.visuals();
    let names = rect.width() - COLUMNS.iter().map(|(_, width)| width).sum::<f32>();
    if let Some(share) = share {
        let bar = vec2(names * share.clamp(0.0, 1.0) as f32, ROW - 4.0);
        painter.rect_filled(
            Rect::from_min_size(rect.min + vec2(0.0, 2.0), bar),
            2.0,
            accent(visuals).gamma_multiply(0.25),
        );
    }
    let indent = 4.0 + 8.0 * depth as f32;
    let text = egui::WidgetText::from(name);
    let wrap = Some(egui::TextWrapMode::Truncate);
    let galley = text.into_galley(ui, wrap, names - indent - 2.0, TextStyle::Small);
    let at = Pos2::new(rect.left() + indent, rect.center().y - galley.size().y * 0.5);
    painter.galley(at, galley, color);
    let font = FontId::monospace(9.5);
    let mut right = rect.left() + names;
    for (cell, (_, width)) in cells.iter().zip(COLUMNS) {
        right += width;
        let at = Pos2::new(right - 2.0, rect.center().y);
        painter.text(at, Align2::RIGHT_CENTER, cell, font.clone(), color);
    }
    response.clicked()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timing_groups_are_sorted_together_with_their_passes() {
        let line = |name: &str, depth, mean_ms| Line {
            name: name.into(),
            depth,
            mean_ms,
            p95_ms: None,
            share: 0.0,
            is_weak: false,
            tip: String::new(),
        };
        let mut lines = vec![
            line("GPU", 0, 9.0),
            line("fog", 1, 1.0),
            line("lbvh", 1, 5.0),
            line("morton", 2, 1.0),
            line("sort", 2, 3.0),
            line("shadows", 1, 2.0),
        ];
        sort(&mut lines, true);
        let names: Vec<_> = lines.iter().map(|line| line.name.as_str()).collect();
        assert_eq!(names, ["GPU", "lbvh", "sort", "morton", "shadows", "fog"]);
    }
}
