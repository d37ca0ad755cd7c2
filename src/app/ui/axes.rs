//! World axes in a corner of the picture, in the orientation of the camera. A click on an end looks along
//! that axis.

use crate::app::{camera::model::StandardView, input::keys::Action, state::State};
use egui::{Align2, Area, Color32, Context, FontId, Id, Order, Rect, Sense, Stroke, Vec2, vec2};
use glam::{Quat, Vec3};

/// Length of an axis from the centre, in points.
const REACH: f32 = 30.0;
/// Radius of the ends, in points.
const END: f32 = 9.0;
/// Margin around the outermost end, in points.
const MARGIN: f32 = 4.0;
/// Minimum size of the viewport in points. In a smaller one, the scene and the line at the upper left need
/// the room.
const MIN_SIZE: Vec2 = Vec2::new(400.0, 240.0);

/// End of an axis: its direction, name and colour, and the view from it.
struct End {
    direction: Vec3,
    name: &'static str,
    color: Color32,
    view: StandardView,
}

const RED: Color32 = Color32::from_rgb(225, 75, 75);
const GREEN: Color32 = Color32::from_rgb(95, 175, 70);
const BLUE: Color32 = Color32::from_rgb(75, 130, 235);

const ENDS: [End; 6] = [
    end(Vec3::X, "X", RED, StandardView::Right),
    end(Vec3::NEG_X, "", RED, StandardView::Left),
    end(Vec3::Y, "Y", GREEN, StandardView::Top),
    end(Vec3::NEG_Y, "", GREEN, StandardView::Bottom),
    end(Vec3::Z, "Z", BLUE, StandardView::Front),
    end(Vec3::NEG_Z, "", BLUE, StandardView::Back),
];

const fn end(direction: Vec3, name: &'static str, color: Color32, view: StandardView) -> End {
    End {
        direction,
        name,
        color,
        view,
    }
}

/// Shows the axes in the upper right corner if the settings ask for them and nothing else needs the corner.
pub(in crate::app) fn show(ctx: &Context, room: Rect, state: &mut State) {
    let fits = room.width() >= MIN_SIZE.x && room.height() >= MIN_SIZE.y;
    let is_wanted = state.config.window.axes && state.stage.is_some();
    if !is_wanted || !fits || state.compare.figures.is_shown {
        return;
    }
    let half = REACH + END + MARGIN;
    let rotation = state
        .camera
        .viewpoint()
        .world_from_view
        .to_scale_rotation_translation()
        .1;
    let placed = placed(rotation);
    Area::new(Id::unique("axes"))
        .order(Order::Middle)
        .pivot(Align2::RIGHT_TOP)
        .fixed_pos(room.right_top() + vec2(-8.0, 8.0))
        .constrain_to(room)
        .fade_in(false)
        .show(ctx, |ui| {
            let (rect, response) = ui.allocate_exact_size(Vec2::splat(2.0 * half), Sense::click());
            let painter = ui.painter();
            let at = |offset: Vec2| rect.center() + offset;
            let pointed = response.hover_pos().and_then(|pointer| {
                let near = |(_, offset): &&(usize, Vec2)| at(*offset).distance(pointer) <= END + 1.0;
                // The end nearest to the eye is drawn last.
                placed.iter().rev().find(near).map(|(end, _)| *end)
            });
            if pointed.is_some() {
                painter.circle_filled(rect.center(), half, Color32::from_black_alpha(60));
            }
            for (number, offset) in &placed {
                let end = &ENDS[*number];
                let is_pointed = pointed == Some(*number);
                if !end.name.is_empty() {
                    let ends = [rect.center(), at(*offset)];
                    painter.line_segment(ends, Stroke::new(4.0, Color32::from_black_alpha(90)));
                    painter.line_segment(ends, Stroke::new(2.0, end.color));
                }
                let fill = match end.name {
                    "" if !is_pointed => end.color.gamma_multiply(0.45),
                    _ => end.color,
                };
                painter.circle_filled(at(*offset), END, fill);
                if is_pointed {
                    painter.circle_stroke(at(*offset), END, Stroke::new(1.5, Color32::WHITE));
                }
                let font = FontId::proportional(12.0);
                painter.text(at(*offset), Align2::CENTER_CENTER, end.name, font, Color32::BLACK);
            }
            let view = pointed.map(|pointed| ENDS[pointed].view);
            if let Some(view) = view.filter(|_| response.clicked()) {
                state.ui.actions.push(Action::Face(view));
            }
            let tip = view.map_or("World axes. Click an end to look from there", |view| view.name());
            response.on_hover_text(tip);
        });
}

/// Indices of the ends with their positions in points (y down), from far to near.
fn placed(world_from_view: Quat) -> Vec<(usize, Vec2)> {
    let seen = |(number, end): (usize, &End)| (number, world_from_view.inverse() * end.direction);
    let mut ends: Vec<_> = ENDS.iter().enumerate().map(seen).collect();
    ends.sort_by(|(_, a), (_, b)| a.z.total_cmp(&b.z));
    let place = |(number, seen): (usize, Vec3)| (number, REACH * vec2(seen.x, -seen.y));
    ends.into_iter().map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_axes_gizmo_follows_the_camera_rotation() {
        let of = |rotation: Quat, number: usize| {
            let placed = placed(rotation);
            let (_, offset) = placed.iter().find(|(end, _)| *end == number).unwrap();
            [offset.x.round(), offset.y.round()]
        };
        let front = Quat::IDENTITY;
        assert_eq!(of(front, 0), [REACH, 0.0]);
        assert_eq!(of(front, 2), [0.0, -REACH], "up is up");
        assert_eq!(of(front, 4), [0.0, 0.0], "towards the eye");
        assert_eq!(placed(front)[5].0, 4, "and nearest to it");
        // From the right, Z points to the left.
        let right = Quat::from_rotation_y(std::f32::consts::FRAC_PI_2);
        assert_eq!(of(right, 4), [-REACH, 0.0]);
        assert_eq!(placed(right)[5].0, 0);
    }
}
