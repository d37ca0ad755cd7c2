//! Overlay of a comparison: the dividing line with its handle, the names and costs of both sides, and the
//! legend of the difference.

use crate::{
    app::{
        compare::{
            costs::FRAMES,
            model::{Compare, LINE_REACH, Mode, SideB},
        },
        state::State,
        ui::style::{card, digits},
    },
    output::{magma, numbers::significant},
};
use egui::{
    Align2, Area, Color32, Context, CursorIcon, FontId, Id, Order, Rect, RichText, Sense, Stroke, Ui, Vec2,
    pos2, vec2,
};

/// Half the length of the handle along the line, and half its width across the line, in points.
const HANDLE: [f32; 2] = [16.0, 5.0];
/// Size of the legend in points.
const LEGEND: [f32; 2] = [190.0, 12.0];

/// Draws the overlay over the viewport `room`, if a comparison is shown.
pub(in crate::app) fn show(ctx: &Context, room: Rect, state: &State) {
    if state.compare.other().is_none() || !state.compare.figures.is_shown || !room.is_positive() {
        return;
    }
    if state.compare.mode == Mode::Wipe {
        line(ctx, room, &state.compare);
    }
    labels(ctx, room, state);
    if state.compare.mode == Mode::Difference {
        difference(ctx, room, &state.compare);
    }
}

fn line(ctx: &Context, room: Rect, compare: &Compare) {
    let horizontal = compare.is_horizontal;
    let across = |at: egui::Pos2| if horizontal { at.y } else { at.x };
    let (start, end) = (across(room.min), across(room.max));
    let at = egui::lerp(start..=end, compare.line);
    let along = |across: f32, along: f32| match horizontal {
        true => pos2(along, across),
        false => pos2(across, along),
    };
    let [low, high] = match horizontal {
        true => [room.left(), room.right()],
        false => [room.top(), room.bottom()],
    };
    let grip = Rect::from_two_pos(along(at - LINE_REACH, low), along(at + LINE_REACH, high));
    let pointer = ctx.input(|input| input.pointer.hover_pos());
    let is_over = |at| {
        let layer = ctx.layer_id_at(at);
        let is_free = layer.is_none_or(|layer| layer.order == Order::Background);
        is_free && grip.intersect(room).contains(at)
    };
    if compare.is_held || pointer.is_some_and(is_over) {
        ctx.set_cursor_icon(match horizontal {
            true => CursorIcon::ResizeVertical,
            false => CursorIcon::ResizeHorizontal,
        });
    }
    Area::new(Id::unique("compare line"))
        .order(Order::Background)
        .fixed_pos(grip.min)
        .interactable(false)
        .fade_in(false)
        .show(ctx, |ui| {
            let painter = ui.painter().with_clip_rect(room);
            for (width, color) in [(3.0, Color32::from_black_alpha(110)), (1.0, Color32::WHITE)] {
                let ends = [along(at, low), along(at, high)];
                painter.line_segment(ends, Stroke::new(width, color));
            }
            let middle = 0.5 * (low + high);
            let handle = Rect::from_two_pos(
                along(at - HANDLE[1], middle - HANDLE[0]),
                along(at + HANDLE[1], middle + HANDLE[0]),
            );
            painter.rect(
                handle,
                4.0,
                Color32::WHITE,
                Stroke::new(1.0, Color32::from_black_alpha(110)),
                egui::StrokeKind::Outside,
            );
        });
}

/// Draws the name and cost of A at the upper left and of B at the upper right. For a horizontal dividing
/// line, B is at the lower left. Flicker draws only the shown side.
fn labels(ctx: &Context, room: Rect, state: &State) {
    let compare = &state.compare;
    let stacked = compare.is_horizontal && compare.mode == Mode::Wipe;
    let names = [compare.name_of_a(&state.config), name_of_b(compare)];
    let shown = match compare.mode {
        Mode::Flicker => [!compare.shows_b, compare.shows_b],
        Mode::Wipe | Mode::Difference => [true; 2],
    };
    let corners = [
        (room.left_top(), Align2::LEFT_TOP),
        match stacked {
            true => (room.left_bottom(), Align2::LEFT_BOTTOM),
            false => (room.right_top(), Align2::RIGHT_TOP),
        },
    ];
    let width = match stacked {
        true => room.width() - 60.0,
        false => 0.5 * room.width() - 40.0,
    };
    if width < 60.0 {
        return;
    }
    for index in 0..2 {
        if !shown[index] {
            continue;
        }
        let side = ["A", "B"][index];
        let (at, align) = corners[index];
        Area::new(Id::unique(("compare label", index)))
            .order(Order::Background)
            .pivot(align)
            .fixed_pos(at - align.to_sign() * 10.0)
            .constrain_to(room)
            .fade_in(false)
            .interactable(false)
            .show(ctx, |ui| {
                card(ui.visuals())
                    .inner_margin(egui::Margin::symmetric(10, 4))
                    .show(ui, |ui| {
                        ui.set_max_width(width.min(340.0));
                        let text = RichText::new(format!("{side}  {}", names[index])).strong();
                        ui.add(egui::Label::new(text).truncate());
                        let cost = cost(compare, index);
                        ui.add(egui::Label::new(digits(cost)).truncate());
                    });
            });
    }
}

/// Returns the name of B. For a linear picture, the name ends with the tone curve that is applied.
fn name_of_b(compare: &Compare) -> String {
    let how = match compare.other() {
        Some(SideB::Picture(saved)) if saved.picture.is_linear => match compare.is_untoned {
            true => ", linear",
            false => ", tone curve of A",
        },
        _ => "",
    };
    compare.name() + how
}

/// Formats the frame cost of a side.
pub(in crate::app) fn cost(compare: &Compare, side: usize) -> String {
    let what = match compare.figures.is_gpu_time {
        true => "GPU",
        false => "frame",
    };
    match compare.figures.costs[side] {
        Some(cost) => format!("{} ms {what}", significant(cost.median_ms)),
        None => unknown(compare, side).into(),
    }
}

/// Returns the text for an unknown cost: a picture has none, and that of a scene is not known or comparable
/// yet.
fn unknown(compare: &Compare, side: usize) -> &'static str {
    match compare.other() {
        Some(SideB::Picture(_)) if side == 1 => "no cost",
        _ => "… ms",
    }
}

/// Formats a side's cost with its spread, and its number of frames while there are fewer than [`FRAMES`].
pub(in crate::app) fn cost_and_spread(compare: &Compare, side: usize) -> String {
    let Some(cost) = compare.figures.costs[side] else {
        return unknown(compare, side).into();
    };
    let [median, least, most] = [cost.median_ms, cost.least_ms, cost.most_ms].map(significant);
    let frames = match cost.frames {
        FRAMES => String::new(),
        1 => ", 1 frame".into(),
        frames => format!(", {frames} frames"),
    };
    format!("{median} ms, {least} to {most}{frames}")
}

/// Shows the legend of the difference colours, with the mean and the maximum. Small viewports have no legend.
fn difference(ctx: &Context, room: Rect, compare: &Compare) {
    if room.width() < LEGEND[0] + 60.0 || room.height() < 160.0 {
        return;
    }
    Area::new(Id::unique("compare legend"))
        .order(Order::Middle)
        .pivot(Align2::LEFT_BOTTOM)
        .fixed_pos(room.left_bottom() + vec2(12.0, -12.0))
        .constrain_to(room)
        .fade_in(false)
        .interactable(false)
        .show(ctx, |ui| {
            card(ui.visuals()).show(ui, |ui| {
                ui.set_width(LEGEND[0]);
                ui.label(RichText::new(space(compare)).weak());
                legend(ui, compare);
                ui.label(digits(figures(compare)));
            });
        });
}

/// Returns the name of the colour space in which the difference is taken.
fn space(compare: &Compare) -> &'static str {
    match compare.is_linear {
        true => "difference of linear light",
        false => "difference of sRGB values",
    }
}

/// Formats the mean and the maximum of the errors, or a note that they are not measured yet.
pub(in crate::app) fn figures(compare: &Compare) -> String {
    match compare.figures.errors {
        Some(errors) => {
            let [mean, max] = [errors.mean, errors.max].map(significant);
            format!("mean {mean}, max {max}")
        }
        None => "measuring…".into(),
    }
}

fn legend(ui: &mut Ui, compare: &Compare) {
    let (whole, _) = ui.allocate_exact_size(Vec2::new(LEGEND[0], LEGEND[1] + 16.0), Sense::hover());
    let painter = ui.painter();
    let steps = LEGEND[0] as usize;
    for step in 0..steps {
        let color = magma::color(step as f32 / (steps - 1) as f32).to_array();
        let [r, g, b] = color.map(|c| (c * 255.0).round() as u8);
        let left = whole.left() + step as f32;
        let strip = Rect::from_min_size(pos2(left, whole.top()), vec2(1.0, LEGEND[1]));
        painter.rect_filled(strip, 0.0, Color32::from_rgb(r, g, b));
    }
    let ink = ui.visuals().weak_text_color();
    let most = 1.0 / f64::from(compare.gain);
    let ends = [
        (whole.left(), Align2::LEFT_TOP, "0".to_owned()),
        (
            whole.right(),
            Align2::RIGHT_TOP,
            format!("{} and more", significant(most)),
        ),
    ];
    for (x, align, text) in ends {
        let at = pos2(x, whole.top() + LEGEND[1] + 2.0);
        painter.text(at, align, text, FontId::proportional(11.0), ink);
    }
}
