//! Cards that float over the scene.

use crate::app::ui::style::card;
use egui::{Align2, Area, Context, Id, Order, Rect, Ui, Vec2};

/// Width of a card's margins and of the space beside it, in points.
pub(in crate::app) const MARGINS: f32 = 44.0;

/// Height of a comparison's side names with their margins, in points.
pub(in crate::app) const NAMES: f32 = 44.0;
/// Height of the header line with its margins, in points.
pub(in crate::app) const HEADER: f32 = 36.0;

/// Minimum size of a card in points. In an even smaller window nothing is legible anyway.
const MIN_SIZE: Vec2 = Vec2::new(160.0, 100.0);

/// Returns the rectangle for a card of `width` points: the viewport, extended to the width of the window if
/// it is narrower than the card. It is never smaller than [`MIN_SIZE`].
pub(in crate::app) fn wide(ctx: &Context, room: Rect, width: f32) -> Rect {
    let whole = ctx.content_rect().x_range();
    let across = match room.width() < width {
        true => whole,
        false => room.x_range(),
    };
    let room = Rect::from_x_y_ranges(across, room.y_range());
    Rect::from_min_size(room.min, room.size().max(MIN_SIZE))
}

/// Shows an area at `offset` from the centre of `room`. Without buttons it does not capture the pointer.
pub(in crate::app) fn floating(
    ctx: &Context,
    name: &str,
    room: Rect,
    offset: Vec2,
    has_buttons: bool,
    add: impl FnOnce(&mut Ui),
) {
    let id = Id::unique(name);
    // An area remembers its size, and would not grow with the window again.
    let before = ctx.data_mut(|data| data.get_temp::<Vec2>(id));
    ctx.data_mut(|data| data.insert_temp(id, room.size()));
    Area::new(id)
        .sizing_pass(before.is_some_and(|before| before != room.size()))
        .order(Order::Foreground)
        .pivot(Align2::CENTER_CENTER)
        .fixed_pos(room.center() + offset)
        .constrain_to(room)
        .default_size(room.size())
        // The next frame may come late, so the card must be fully visible in its first one.
        .fade_in(false)
        .interactable(has_buttons)
        .show(ctx, |ui| {
            let frame = card(ui.visuals());
            frame.show(ui, add);
        });
}
