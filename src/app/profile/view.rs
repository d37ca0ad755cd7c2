//! View of the profiler: GPU time of every frame by pass, CPU time, and the interval between presented
//! pictures.
//!
//! The charts are painted from the same stacks as the report. A stack in `egui_plot` needs a named bar per
//! frame and pass, which is 12,000 allocations per redraw for 600 frames of twenty passes. This view draws
//! them as one mesh.

use crate::{
    app::{input::keys::Action, profile::model::ProfilerPanel, state::State, ui::style::significant},
    output::numbers::bytes,
    profile::{
        chart::{Chart, Stack, scale},
        colors,
        memory::KINDS,
        text,
    },
};
use egui::{
    Align2, Color32, FontId, Mesh, Pos2, Rect, Response, RichText, Sense, Shape, Stroke, TextStyle, Ui, pos2,
    vec2,
};

/// Minimum free size in points in which the panel is shown. In less space the picture takes precedence.
const MIN_SIZE: [f32; 2] = [300.0, 260.0];
/// Initial and minimum height of the panel in points.
const HEIGHT: f32 = 230.0;
const MIN_HEIGHT: f32 = 150.0;
/// Width of the legend beside the charts in points. A narrow panel has no legend.
const KEY: f32 = 190.0;
/// Height of a row of the legend in points.
const ROW: f32 = 15.0;
/// Width of the scale's numbers in points.
const SCALE: f32 = 52.0;
/// Fraction of the charts' height for the GPU.
const GPU_PART: f32 = 0.66;

/// Shows the panel if it is open.
pub(in crate::app) fn show(ui: &mut Ui, state: &mut State) {
    let room = ui.available_size();
    if !state.profile.profiler.is_open || room.x < MIN_SIZE[0] || room.y < MIN_SIZE[1] {
        return;
    }
    let most = (room.y * 0.7).max(MIN_HEIGHT);
    egui::Panel::bottom("profiler")
        .resizable(true)
        .default_size(HEIGHT.min(most))
        .size_range(MIN_HEIGHT..=most)
        .show(ui, |ui| {
            let view = state.profile.profiler.view(&state.profile.history);
            let frames = state
                .profile
                .profiler
                .frames(&state.profile.history)
                .range(view.clone());
            let chart = Chart::of(frames);
            buttons(ui, state);
            let whole = ui.available_rect_before_wrap();
            let has_key = whole.width() > 2.0 * KEY;
            let key_left = whole.right() - if has_key { KEY } else { 0.0 };
            let left = Rect::from_min_max(whole.min, pos2(key_left, whole.bottom()));
            let response = ui.allocate_rect(left, Sense::click_and_drag());
            let name = "chart of frame times; the table beside it lists the numbers";
            response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Image, true, name));
            charts(ui, left, &response, &chart, state);
            if has_key {
                let right = Rect::from_min_max(pos2(key_left + 8.0, whole.top()), whole.max);
                ui.scope_builder(egui::UiBuilder::new().max_rect(right), |ui| {
                    key(ui, &chart, state);
                });
            }
        });
}

fn buttons(ui: &mut Ui, state: &mut State) {
    let keys = |action| state.ui.keymap.hint(action);
    let (close, freeze) = (keys(Action::Profiler), keys(Action::FreezeProfiler));
    ui.horizontal_wrapped(|ui| {
        ui.label(RichText::new("Profiler").strong());
        let text = if state.profile.profiler.is_frozen() {
            "Go on"
        } else {
            "Freeze"
        };
        let tip = format!("Freezes the frames, or resumes{freeze}");
        if ui.button(text).on_hover_text(tip).clicked() {
            state.ui.actions.push(Action::FreezeProfiler);
        }
        if ui.button("Clear").on_hover_text("Clears all frames").clicked() {
            state.profile.profiler.clear(&mut state.profile.history);
        }
        if ui
            .button("Copy")
            .on_hover_text("Copies a table of the frames in view")
            .clicked()
        {
            let copied = in_view(state);
            state.ui.copied = Some(copied);
            state.notify("copied the table of passes");
        }
        let tip = "Saves all frames as a trace for Perfetto and chrome://tracing";
        if ui.button("Save trace").on_hover_text(tip).clicked() {
            state.ui.actions.push(Action::SaveProfile("json"));
        }
        if ui
            .button("Save CSV")
            .on_hover_text("Saves all frames as a CSV table")
            .clicked()
        {
            state.ui.actions.push(Action::SaveProfile("csv"));
        }
        let tip = "Plays the clip once, or rotates once around the scene, and saves a report as an HTML page";
        if ui.button("Benchmark").on_hover_text(tip).clicked() {
            state.ui.actions.push(Action::Benchmark);
        }
        let tip = format!("Closes the profiler{close}");
        if ui.button("Close").on_hover_text(tip).clicked() {
            state.ui.actions.push(Action::Profiler);
        }
        if let Some(memory) = state.profile.history.memory() {
            let gpu = memory.gpu_total().map(bytes);
            let process = memory.process_bytes.map(bytes);
            let unknown = || "unknown".to_owned();
            let kinds = KINDS.iter().zip(memory.gpu_bytes);
            let kinds: Vec<_> = kinds
                .map(|(kind, count)| format!("{kind}: {}", bytes(count)))
                .collect();
            let tip = match gpu {
                Some(_) => kinds.join("\n"),
                None => "This backend does not report its GPU memory".into(),
            };
            let [gpu, process] = [gpu, process].map(|count| count.unwrap_or_else(unknown));
            let label = RichText::new(format!("memory: GPU {gpu}, process {process}")).weak();
            ui.add(egui::Label::new(label).extend()).on_hover_text(tip);
        }
    });
}

/// Returns the table of the visible frames as text.
pub(in crate::app) fn in_view(state: &State) -> String {
    let view = state.profile.profiler.view(&state.profile.history);
    text::text(state.profile.profiler.frames(&state.profile.history).range(view))
}

/// Draws the charts and handles the pointer.
fn charts(ui: &Ui, rect: Rect, response: &Response, chart: &Chart, state: &mut State) {
    let count = chart.numbers.len();
    let plot = Rect::from_min_max(pos2(rect.left() + SCALE, rect.top()), rect.max);
    let split = plot.top() + plot.height() * GPU_PART;
    let gpu = Rect::from_min_max(plot.min + vec2(0.0, 8.0), pos2(plot.right(), split - 8.0));
    let cpu = Rect::from_min_max(pos2(plot.left(), split + 8.0), plot.max - vec2(0.0, 8.0));
    let painter = ui.painter_at(rect);
    if count == 0 {
        let weak = ui.visuals().weak_text_color();
        let font = FontId::proportional(12.0);
        painter.text(plot.center(), Align2::CENTER_CENTER, "no frames yet", font, weak);
        return;
    }
    let plots = [
        Plot::new(gpu, chart, &chart.gpu, chart.usual_gpu_ms()),
        Plot::new(cpu, chart, &chart.cpu, chart.cpu.usual_ms()),
    ];
    for (plot, name) in plots.iter().zip(["GPU", "CPU"]) {
        plot.paint(ui, &painter, name);
    }
    presents(ui, &painter, &plots[0], chart);
    navigate(
        ui,
        response,
        &plots[0],
        &mut state.profile.profiler,
        &state.profile.history,
    );
    let Some(pointer) = response.hover_pos().filter(|at| plot.contains(*at)) else {
        return;
    };
    let frame = plots[0].frame_at(pointer.x);
    let middle = plots[0].x(frame as f32 + 0.5);
    let stroke = Stroke::new(1.0, ui.visuals().strong_text_color());
    painter.vline(middle, plot.y_range(), stroke);
    let plot = if pointer.y < split { &plots[0] } else { &plots[1] };
    let tip = tip(chart, plot, frame, pointer.y);
    response.clone().on_hover_ui_at_pointer(|ui| {
        ui.label(tip);
    });
}

/// Returns the tooltip of the frame under the pointer: the pass with its time and its fraction of the frame,
/// and the totals.
fn tip(chart: &Chart, plot: &Plot<'_>, frame: usize, y: f32) -> String {
    let mut tip = format!("frame {}", chart.numbers[frame]);
    let total = plot.stack.total_ms(frame);
    if let Some(layer) = plot.stack.at(frame, plot.ms(y)) {
        let ms = layer.ms[frame];
        let share = 100.0 * ms / total;
        tip += &format!("\n{}: {} ms, {share:.1} %", layer.name, significant(ms));
    }
    let [gpu, cpu] = [&chart.gpu, &chart.cpu].map(|stack| significant(stack.total_ms(frame)));
    tip += &format!("\nGPU {gpu} ms, CPU {cpu} ms");
    if let Some(ms) = chart.present_ms[frame] {
        tip += &format!("\n{} ms since the previous picture", significant(ms));
    }
    tip
}

/// Zooms around the pointer with the wheel, and pans with a drag.
fn navigate(
    ui: &Ui,
    response: &Response,
    plot: &Plot<'_>,
    panel: &mut ProfilerPanel,
    history: &crate::profile::history::History,
) {
    if response.dragged() {
        let frames = response.drag_delta().x / plot.rect.width() * plot.count;
        panel.pan(history, frames.into());
    }
    let Some(pointer) = response.hover_pos() else {
        return;
    };
    let wheel = ui.input(|input| input.smooth_scroll_delta.y);
    if wheel != 0.0 {
        let at = (pointer.x - plot.rect.left()) / plot.rect.width();
        panel.zoom(
            history,
            (-0.005 * f64::from(wheel)).exp(),
            at.clamp(0.0, 1.0).into(),
        );
    }
}

/// A stack in its part of the panel.
struct Plot<'a> {
    rect: Rect,
    stack: &'a Stack,
    /// Number of frames.
    count: f32,
    /// Upper end of the scale, and distance of its lines, in milliseconds.
    top_ms: f64,
    step_ms: f64,
}

impl<'a> Plot<'a> {
    fn new(rect: Rect, chart: &Chart, stack: &'a Stack, usual_ms: f64) -> Self {
        let (top_ms, step_ms) = scale(usual_ms);
        Self {
            rect,
            stack,
            count: chart.numbers.len() as f32,
            top_ms,
            step_ms,
        }
    }

    /// Returns the left edge of a frame.
    fn x(&self, frame: f32) -> f32 {
        self.rect.left() + self.rect.width() * frame / self.count
    }

    fn frame_at(&self, x: f32) -> usize {
        let share = ((x - self.rect.left()) / self.rect.width()).clamp(0.0, 1.0);
        ((share * self.count) as usize).min(self.count as usize - 1)
    }

    fn y(&self, ms: f64) -> f32 {
        self.rect.bottom() - self.rect.height() * (ms / self.top_ms) as f32
    }

    fn ms(&self, y: f32) -> f64 {
        f64::from((self.rect.bottom() - y) / self.rect.height()) * self.top_ms
    }

    /// Draws the lines with their numbers, and a bar for each frame.
    fn paint(&self, ui: &Ui, painter: &egui::Painter, name: &str) {
        let weak = ui.visuals().weak_text_color();
        let faint = Stroke::new(1.0, weak.gamma_multiply(0.25));
        let font = FontId::proportional(10.0);
        let left = self.rect.left() - 4.0;
        // If the lines are too close for numbers, only the uppermost has one.
        let lines = (self.top_ms / self.step_ms).round();
        let every = if self.rect.height() / lines as f32 >= 14.0 {
            1
        } else {
            lines as usize
        };
        for line in 0..=lines as usize {
            let ms = line as f64 * self.step_ms;
            painter.hline(self.rect.x_range(), self.y(ms), faint);
            if line > 0 && line % every == 0 {
                let text = format!("{} ms", significant(ms));
                painter.text(
                    pos2(left, self.y(ms)),
                    Align2::RIGHT_CENTER,
                    text,
                    font.clone(),
                    weak,
                );
            }
        }
        let at = pos2(left, self.rect.bottom());
        painter.text(at, Align2::RIGHT_CENTER, name, font, ui.visuals().text_color());
        let mut mesh = Mesh::default();
        for frame in 0..self.count as usize {
            let (left, right) = (self.x(frame as f32), self.x(frame as f32 + 1.0));
            if self.stack.total_ms(frame) > self.top_ms {
                // A frame that exceeds the chart has a mark above it.
                let at = pos2(left, self.rect.top() - 4.0);
                let mark = Rect::from_min_max(at, pos2(right.max(left + 2.0), at.y + 3.0));
                mesh.add_colored_rect(mark, ui.visuals().warn_fg_color);
            }
            for (layer, [from, to]) in self.stack.edges(frame) {
                let [top, bottom] = [to, from].map(|ms| self.y(ms.min(self.top_ms)));
                let rect = Rect::from_min_max(pos2(left, top), pos2(right, bottom));
                mesh.add_colored_rect(rect, color(layer.color));
            }
        }
        painter.add(Shape::mesh(mesh));
    }
}

/// Draws the interval between pictures as a line. It is interrupted between frames that do not follow each
/// other.
fn presents(ui: &Ui, painter: &egui::Painter, plot: &Plot<'_>, chart: &Chart) {
    let stroke = Stroke::new(1.5, ui.visuals().strong_text_color());
    let mut line: Vec<Pos2> = Vec::new();
    for (frame, ms) in chart.present_ms.iter().enumerate() {
        match ms {
            Some(ms) => {
                let y = plot.y(ms.min(plot.top_ms));
                line.push(pos2(plot.x(frame as f32 + 0.5), y));
            }
            None => drop(painter.line(std::mem::take(&mut line), stroke)),
        }
    }
    painter.line(line, stroke);
}

/// Draws the legend: the layers with their colours and mean times, uppermost first.
fn key(ui: &mut Ui, chart: &Chart, state: &State) {
    let frames = chart.numbers.len().max(1) as f64;
    egui::ScrollArea::vertical()
        .id_salt("profiler key")
        .auto_shrink(false)
        .show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 1.0;
            let presents: Vec<f64> = chart.present_ms.iter().flatten().copied().collect();
            if !presents.is_empty() {
                let mean = presents.iter().sum::<f64>() / presents.len() as f64;
                let color = ui.visuals().strong_text_color();
                entry(ui, color, "present to present", mean);
            }
            for stack in [&chart.gpu, &chart.cpu] {
                for layer in stack.layers.iter().rev() {
                    let sum: f64 = layer.ms.iter().sum();
                    if sum > 0.0 {
                        entry(ui, color(layer.color), &layer.name, sum / frames);
                    }
                }
                ui.add_space(6.0);
            }
            if state.profile.profiler.is_frozen() {
                ui.weak("frozen");
            }
        });
}

fn entry(ui: &mut Ui, color: Color32, name: &str, mean_ms: f64) {
    let size = vec2(ui.available_width(), ROW);
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    let number = significant(mean_ms);
    response.on_hover_text(format!("{name}: {number} ms a frame, the mean of those in view"));
    let painter = ui.painter_at(rect);
    let swatch = Rect::from_center_size(rect.left_center() + vec2(6.0, 0.0), vec2(10.0, 10.0));
    painter.rect_filled(swatch, 2.0, color);
    let ink = ui.visuals().text_color();
    let (font, at) = (FontId::monospace(10.0), rect.right_center() - vec2(2.0, 0.0));
    let number = painter.text(at, Align2::RIGHT_CENTER, number, font, ink);
    let left = rect.left() + 16.0;
    let wrap = Some(egui::TextWrapMode::Truncate);
    let room = number.left() - left - 4.0;
    let galley = egui::WidgetText::from(name).into_galley(ui, wrap, room, TextStyle::Small);
    let at = pos2(left, rect.center().y - galley.size().y * 0.5);
    painter.galley(at, galley, ink);
}

fn color([r, g, b]: colors::Rgb) -> Color32 {
    Color32::from_rgb(r, g, b)
}
