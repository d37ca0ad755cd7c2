//! Draggable marks of the lights in the picture, while the scene tree is open.

use crate::{
    app::{
        camera::projector::Projector,
        outline::model::{Item, kind_name},
        state::State,
        ui::facts::Facts,
    },
    scene::LightKind,
};
use egui::{Area, Color32, Context, Id, Order, Rect, Sense, Stroke, vec2};
use glam::Vec2;

/// Maximum number of marks.
const MAX_MARKS: usize = 64;
/// Side of a mark in points.
const SIDE: f32 = 20.0;
const DARK: Color32 = Color32::from_rgba_premultiplied(0, 0, 0, 170);

/// Shows the marks of point and spot lights over the picture in `room`. Clicking a mark selects its light,
/// and dragging it moves the light parallel to the image plane.
pub(in crate::app) fn show(ctx: &Context, room: Rect, state: &mut State, facts: &Facts<'_>) {
    let Some(view) = facts.view.as_ref().filter(|_| state.inspect.outline.is_open) else {
        return;
    };
    let (Some(stage), Some(pose)) = (&state.stage, facts.pose) else {
        return;
    };
    let projector = Projector::new(view, Vec2::new(room.width(), room.height()));
    let placed = |node: usize| {
        let light = stage.light(node)?;
        let own = pose.world_from_node.get(node)?;
        let place = stage.scene.world_from_light(node, own.as_mat4());
        let at = projector.project(place.w_axis.truncate())?;
        let at = room.min + vec2(at.x, at.y);
        let fits = room.shrink(0.5 * SIDE).contains(at);
        let has_place = light.kind != LightKind::Directional && fits;
        has_place.then(|| (node, at, place, light.kind, light.color, stage.light_is_off(node)))
    };
    let nodes = stage.applied.light_nodes(&stage.scene);
    let marks: Vec<_> = nodes.into_iter().filter_map(placed).take(MAX_MARKS).collect();
    for (node, at, place, kind, color, is_off) in marks {
        let is_selected = state.inspect.outline.selected == Some(Item::Light(node));
        let shown = Area::new(Id::unique(("light", node)))
            .order(Order::Middle)
            .fixed_pos(at - vec2(0.5 * SIDE, 0.5 * SIDE))
            .fade_in(false)
            .show(ctx, |ui| {
                let (rect, response) = ui.allocate_exact_size(vec2(SIDE, SIDE), Sense::click_and_drag());
                let strongest = color.max_element().max(1e-6);
                let [r, g, b] = (color / strongest).to_array().map(|c| (c.sqrt() * 255.0) as u8);
                let fill = match is_off {
                    true => Color32::from_gray(90),
                    false => Color32::from_rgb(r, g, b),
                };
                let painter = ui.painter();
                let rim = if is_selected { 3.0 } else { 1.5 };
                painter.circle_filled(rect.center(), 9.0, DARK);
                painter.circle_filled(rect.center(), 4.0, fill);
                for ray in 0..8_u8 {
                    let (sin, cos) = (f32::from(ray) * std::f32::consts::FRAC_PI_4).sin_cos();
                    let along = vec2(cos, sin);
                    let ends = [rect.center() + 5.5 * along, rect.center() + 8.0 * along];
                    painter.line_segment(ends, Stroke::new(1.2, fill));
                }
                let outline = if is_selected { Color32::WHITE } else { DARK };
                painter.circle_stroke(rect.center(), 8.8, Stroke::new(rim, outline));
                response
            });
        let response = shown.inner;
        let drag = response.drag_delta();
        if response.clicked() || response.drag_started() {
            state.select_item(Item::Light(node));
        }
        let from = place.w_axis.truncate();
        if response.dragged() && drag != egui::Vec2::ZERO {
            let to = at + drag - room.min;
            if let Some(moved) = projector.moved(from, Vec2::new(to.x, to.y)) {
                let mut place = place;
                place.w_axis = moved.extend(1.0);
                state.place_light(node, place);
            }
        }
        let name = state
            .stage
            .as_ref()
            .filter(|stage| node < stage.scene.nodes.len())
            .map(|stage| state.inspect.outline.name(&stage.scene, Item::Light(node)));
        let name = name.unwrap_or_default();
        response.on_hover_text(format!("{name} ({}). Drag to move it", kind_name(kind)));
    }
}
