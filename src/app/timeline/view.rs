//! Timeline below the picture: the playing clips, the current time, and the loop range.

use crate::{
    app::{
        input::keys::Action,
        state::State,
        ui::style::{accent, digits},
    },
    config::Animation,
    scene::timeline::{LoopRange, frame_number},
};
use egui::{Align, Align2, Color32, FontId, Layout, Pos2, Rect, RichText, Sense, Stroke, Ui, pos2, vec2};

/// Minimum free size in points in which the timeline is shown. In less space the picture takes precedence.
const MIN_SIZE: [f32; 2] = [300.0, 250.0];
/// Heights of the numbers, of the bar below them, and of the handles below that, in points.
const NUMBERS: f32 = 13.0;
const BAR: f32 = 14.0;
const HANDLES: f32 = 11.0;
/// Width of a handle, which is also the margin beside the track, in points.
const HANDLE: f32 = 11.0;
/// Minimum distance of two numbers, and of two ticks, in points.
const NUMBER_GAP: f32 = 52.0;
const TICK_GAP: f32 = 5.0;

/// Shows the timeline if the scene has clips or morph targets.
pub(in crate::app) fn show(ui: &mut Ui, state: &mut State) {
    let room = ui.available_size();
    let is_shown = state.config.window.timeline && state.has_timeline();
    if !is_shown || room.x < MIN_SIZE[0] || room.y < MIN_SIZE[1] {
        return;
    }
    egui::Panel::bottom("timeline").resizable(false).show(ui, |ui| {
        ui.add_space(2.0);
        ui.horizontal(|ui| buttons(ui, state));
        track(ui, state);
        ui.add_space(2.0);
    });
}

/// Draws buttons at the left, the current time at the right, and further controls between them as far as
/// there is room.
fn buttons(ui: &mut Ui, state: &mut State) {
    let width = ui.available_width();
    ui.spacing_mut().item_spacing.x = 4.0;
    let keys = |action| state.ui.keymap.hint(action);
    let play = match state.playback.playing {
        true => ("Pause", "Pauses the clip"),
        false => ("Play", "Plays the clip"),
    };
    let mut pressed = None;
    for (action, (text, tip), width) in [
        (Action::ClipStart, ("|<", "Go to the start"), 22.0),
        (Action::StepFrame(-1), ("<", "Back one frame"), 22.0),
        (Action::Play, play, 48.0),
        (Action::StepFrame(1), (">", "Forward one frame"), 22.0),
        (Action::ClipEnd, (">|", "Go to the end"), 22.0),
    ] {
        let button = egui::Button::new(text).min_size(vec2(width, 0.0));
        let tip = format!("{tip}{}", keys(action));
        if ui.add(button).on_hover_text(tip).clicked() {
            pressed = Some(action);
        }
    }
    state.ui.actions.extend(pressed);
    if width > 560.0 {
        // The list has a fixed width. Longer names are truncated.
        let size = vec2(150.0, ui.spacing().interact_size.y);
        let layout = Layout::left_to_right(Align::Center);
        ui.allocate_ui_with_layout(size, layout, |ui| clips(ui, state));
    }
    if width > 640.0 {
        ui.checkbox(&mut state.config.animation.repeat, "loop")
            .on_hover_text("Loops the clip instead of stopping at the end");
    }
    if width > 720.0 {
        let speed = &mut state.config.animation.speed;
        let drag = egui::DragValue::new(speed)
            .speed(0.01)
            .range(Animation::SPEED)
            .fixed_decimals(2)
            .suffix("×");
        ui.add(drag)
            .on_hover_text("Playback speed. Negative values play backwards");
    }
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        moment(ui, state, width);
    });
}

/// Shows the name of the playing clips, and a list of all clips with their lengths.
fn clips(ui: &mut Ui, state: &mut State) {
    let Some(stage) = &state.stage else { return };
    let is_blended = !stage.blend.clips.is_empty();
    let choices = std::iter::once(None).chain((0..stage.scene.clips.len()).map(Some));
    let mut chosen = None;
    let list = egui::ComboBox::from_id_salt("clip of the timeline")
        .width(ui.available_width())
        .height(320.0)
        .truncate()
        .selected_text(stage.playing_name())
        .show_ui(ui, |ui| {
            for clip in choices {
                let length = clip.and_then(|clip| stage.scene.clips.get(clip));
                let name = match length {
                    Some(length) => {
                        format!("{}, {:.2} s", stage.clip_name(clip), length.duration_secs)
                    }
                    None => stage.clip_name(clip),
                };
                let is_now = !is_blended && stage.clip == clip;
                let entry = ui.selectable_label(is_now, name);
                if entry
                    .on_hover_text("Plays only this clip, from its start")
                    .clicked()
                {
                    chosen = Some(clip);
                }
            }
        });
    list.response
        .on_hover_text("Clip that plays. Scene: Animation blends several clips");
    state.ui.actions.extend(chosen.map(Action::Clip));
}

/// Shows the current time and frame, as far as there is room.
fn moment(ui: &mut Ui, state: &State, width: f32) {
    let Some(stage) = &state.stage else { return };
    let (time, duration) = (stage.time, stage.duration());
    let rate = state.config.animation.frame_rate;
    let seconds = match duration > 0.0 {
        true => format!("{time:.2} / {duration:.2} s"),
        false => "no clip".into(),
    };
    ui.label(digits(seconds))
        .on_hover_text("Time in the clip, and its length");
    ui.add_space(6.0);
    if width > 420.0 && duration > 0.0 {
        let frame = format!("at frame {}", frame_number(time, rate));
        ui.label(RichText::new(frame).weak())
            .on_hover_text(format!("At {rate} frames per second (animation.frame_rate)"));
    }
}

/// Bar of the timeline. Maps between seconds and horizontal positions in points.
#[derive(Clone, Copy)]
struct Track {
    rect: Rect,
    duration: f32,
}

impl Track {
    fn x(self, time: f32) -> f32 {
        let share = (time / self.duration).clamp(0.0, 1.0);
        self.rect.left() + share * self.rect.width()
    }

    fn time(self, x: f32) -> f32 {
        let share = (x - self.rect.left()) / self.rect.width();
        share.clamp(0.0, 1.0) * self.duration
    }
}

fn track(ui: &mut Ui, state: &mut State) {
    let size = vec2(ui.available_width(), NUMBERS + BAR);
    let duration = state.stage.as_ref().map_or(0.0, |stage| stage.duration());
    let sense = match duration > 0.0 {
        true => Sense::click_and_drag(),
        false => Sense::hover(),
    };
    ui.spacing_mut().item_spacing.y = 0.0;
    let (rect, response) = ui.allocate_exact_size(size, sense);
    let bar = Rect::from_min_max(
        pos2(rect.left() + HANDLE, rect.top() + NUMBERS),
        pos2(rect.right() - HANDLE, rect.bottom()),
    );
    let track = Track { rect: bar, duration };
    let is_held = response.is_pointer_button_down_on() || response.dragged();
    let pointer = response
        .interact_pointer_pos()
        .filter(|_| is_held || response.clicked());
    if let Some(pointer) = pointer {
        state.scrub(track.time(pointer.x));
    }
    let tip = match duration > 0.0 {
        true => "Click or drag to change the time",
        false => "No clip plays. Scene: Animation has morph weights",
    };
    response.on_hover_text(tip);
    let visuals = ui.visuals().clone();
    let painter = ui.painter().with_clip_rect(rect);
    painter.rect_filled(bar, 2.0, visuals.extreme_bg_color);
    if duration <= 0.0 {
        return;
    }
    let range = state.loop_range();
    let repeated = Rect::from_min_max(
        pos2(track.x(range.from), bar.top()),
        pos2(track.x(range.to), bar.bottom()),
    );
    painter.rect_filled(repeated, 2.0, visuals.selection.bg_fill.gamma_multiply(0.6));
    ticks(&painter, track, &visuals);
    let time = state.stage.as_ref().map_or(0.0, |stage| stage.time);
    let x = track.x(time);
    let color = accent(&visuals);
    painter.vline(x, bar.y_range(), Stroke::new(2.0, color));
    let top = pos2(x, bar.top());
    let head = vec![top, top + vec2(-4.0, -5.0), top + vec2(4.0, -5.0)];
    painter.add(egui::Shape::convex_polygon(head, color, Stroke::NONE));
    handles(ui, state, track, range);
}

/// Draws the handles of the loop range and applies drags. The handles lie outside of the range, so that
/// neither covers the other.
fn handles(ui: &mut Ui, state: &mut State, track: Track, range: LoopRange) {
    let size = vec2(ui.available_width(), HANDLES);
    let (row, _) = ui.allocate_exact_size(size, Sense::hover());
    let at = |x: f32| Rect::from_min_size(pos2(x, row.top() + 1.0), vec2(HANDLE, HANDLES - 2.0));
    let from = at(track.x(range.from) - HANDLE);
    let to = at(track.x(range.to));
    let mut dragged = range;
    let handle = |ui: &mut Ui, rect: Rect, name: &str, tip: &str| -> Option<Pos2> {
        let response = ui.interact(rect, ui.scope_id().with(name), Sense::click_and_drag());
        let color = match response.hovered() || response.dragged() {
            true => accent(ui.visuals()),
            false => ui.visuals().widgets.inactive.fg_stroke.color.gamma_multiply(0.6),
        };
        ui.painter().rect_filled(rect, 2.0, color);
        let pointer = response.interact_pointer_pos().filter(|_| response.dragged());
        let is_double = response.double_clicked();
        response.on_hover_text(tip);
        match is_double {
            true => Some(pos2(f32::NAN, 0.0)),
            false => pointer,
        }
    };
    let tip = "Start of the loop range. Drag it; double-click to set it to the start of the clip";
    let from = handle(ui, from, "loop from", tip);
    let tip = "End of the loop range. Drag it; double-click to set it to the end of the clip";
    let to = handle(ui, to, "loop to", tip);
    if let Some(pointer) = from {
        dragged.from = match pointer.x.is_nan() {
            true => 0.0,
            // The pointer holds the centre of the handle.
            false => track.time(pointer.x + HANDLE / 2.0).min(range.to),
        };
    }
    if let Some(pointer) = to {
        dragged.to = match pointer.x.is_nan() {
            true => track.duration,
            false => track.time(pointer.x - HANDLE / 2.0).max(range.from),
        };
    }
    if dragged != range {
        state.set_loop_range(dragged);
    }
}

fn ticks(painter: &egui::Painter, track: Track, visuals: &egui::Visuals) {
    let width = track.rect.width();
    let [step, minor] = steps(track.duration, width);
    let weak = visuals.weak_text_color();
    let strong: Color32 = visuals.widgets.noninteractive.fg_stroke.color;
    let mut free = f32::NEG_INFINITY;
    let count = (track.duration / minor + 1e-3).floor() as u32;
    for index in 0..=count {
        let time = index as f32 * minor;
        let x = track.x(time);
        let every = (step / minor).round() as u32;
        let is_step = index.is_multiple_of(every);
        let height = if is_step { 6.0 } else { 3.0 };
        let top = track.rect.top();
        painter.vline(x, top..=top + height, Stroke::new(1.0, weak));
        if !is_step {
            continue;
        }
        let text = number(time, step);
        let galley = painter.layout_no_wrap(text, FontId::proportional(10.0), strong);
        let half = galley.size().x / 2.0;
        let ends = track.rect.left() - HANDLE..=track.rect.right() + HANDLE;
        if x - half > free && ends.contains(&(x - half)) && ends.contains(&(x + half)) {
            let at = Align2::CENTER_BOTTOM.anchor_size(pos2(x, top), galley.size());
            painter.galley(at.min, galley, strong);
            free = x + half + 6.0;
        }
    }
}

/// Returns the intervals in seconds of numbers and of ticks, for a track of `width` points.
fn steps(duration: f32, width: f32) -> [f32; 2] {
    const STEPS: [f32; 18] = [
        0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0,
        3600.0,
    ];
    let fits = |gap: f32| move |step: &f32| step * width >= gap * duration;
    // Below the list the step is divided by ten. Above it the step is doubled.
    let mut step = STEPS.into_iter().find(fits(NUMBER_GAP)).unwrap_or(3600.0);
    while !fits(NUMBER_GAP)(&step) && step.is_finite() {
        step *= 2.0;
    }
    while step <= 0.01 && fits(NUMBER_GAP)(&(step / 10.0)) && step > 1e-6 {
        step /= 10.0;
    }
    let minor = [10.0, 5.0, 4.0, 3.0, 2.0].map(|parts| step / parts).into_iter();
    [step, minor.clone().find(fits(TICK_GAP)).unwrap_or(step)]
}

/// Formats the time of a tick with as many digits as the tick distance needs.
fn number(time: f32, step: f32) -> String {
    if step >= 60.0 {
        let seconds = time.round() as u64;
        return match seconds / 3600 {
            0 => format!("{}:{:02}", seconds / 60, seconds % 60),
            hours => format!("{hours}:{:02}:{:02}", seconds / 60 % 60, seconds % 60),
        };
    }
    let decimals = (-step.log10() - 1e-3).ceil().clamp(0.0, 6.0) as usize;
    format!("{time:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timeline_labels_and_ticks_fit_any_duration_and_width() {
        for duration in [1e-4, 0.033, 0.7, 1.16, 12.0, 75.0, 3600.0, 1e5, 1e6] {
            for width in [60.0, 270.0, 900.0, 3000.0] {
                let [step, minor] = steps(duration, width);
                assert!(
                    step * width >= NUMBER_GAP * duration * 0.999,
                    "{duration} {width}"
                );
                let parts = step / minor;
                assert!((parts - parts.round()).abs() < 1e-3 && parts >= 1.0);
                assert!(parts == 1.0 || minor * width >= TICK_GAP * duration * 0.999);
                // The track is not emptier than necessary.
                let numbers = duration / step;
                assert!(
                    numbers * NUMBER_GAP * 11.0 > width || width < 100.0,
                    "{duration} {width}: {step}"
                );
            }
        }
    }

    #[test]
    fn timeline_labels_have_only_the_digits_they_need() {
        for (time, step, expected) in [
            (0.0, 0.1, "0.0"),
            (1.25, 0.05, "1.25"),
            (7.0, 1.0, "7"),
            (30.0, 15.0, "30"),
            (90.0, 60.0, "1:30"),
            (3600.0, 600.0, "1:00:00"),
            (0.002, 0.001, "0.002"),
        ] {
            assert_eq!(number(time, step), expected);
        }
    }
}
