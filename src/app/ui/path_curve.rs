//! Curve of the camera path over the picture.

use crate::app::{camera::projector::Projector, state::State, ui::facts::Facts};
use egui::{Color32, Context, Id, LayerId, Order, Rect, Stroke, pos2};

/// Number of line segments between two keys.
const PARTS: usize = 24;
const CURVE: Color32 = Color32::from_rgb(255, 196, 84);
const TARGETS: Color32 = Color32::from_rgba_premultiplied(110, 90, 50, 110);

/// Draws the camera path with its keys and their view directions while the panel shows the keys.
pub(in crate::app) fn show(ctx: &Context, room: Rect, state: &State, facts: &Facts<'_>) {
    let path = state.motion.path.path(state.config.camera.fov);
    let (true, Some(path), Some(view)) = (state.motion.path.is_in_panel, path, &facts.view) else {
        return;
    };
    if state.motion.path.is_playing() {
        return;
    }
    let layer = LayerId::new(Order::Background, Id::unique("camera path"));
    let painter = ctx.layer_painter(layer).with_clip_rect(room);
    let projector = Projector::new(view, glam::Vec2::new(room.width(), room.height()));
    let place = |p: glam::Vec2| room.min + egui::vec2(p.x, p.y);
    let segment = |ends: [glam::Vec3; 2], stroke: Stroke| {
        if let Some(ends) = projector.segment(ends) {
            painter.line_segment(ends.map(place), stroke);
        }
    };
    let keys = path.keys();
    let first = keys[0].time;
    for pair in keys.windows(2) {
        let at = |part: usize| {
            let share = part as f32 / PARTS as f32;
            path.at(pair[0].time - first + share * (pair[1].time - pair[0].time))
                .eye()
        };
        for part in 0..PARTS {
            let ends = [at(part), at(part + 1)];
            segment(ends, Stroke::new(4.0, Color32::from_black_alpha(150)));
            segment(ends, Stroke::new(2.0, CURVE));
        }
    }
    for key in keys {
        segment([key.eye, key.target], Stroke::new(1.0, TARGETS));
        if let Some(pixel) = projector.project(key.eye) {
            let at = place(pixel);
            let square = Rect::from_center_size(pos2(at.x, at.y), egui::vec2(7.0, 7.0));
            painter.rect_filled(square, 1.0, CURVE);
        }
    }
}
