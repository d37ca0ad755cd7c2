//! Welcome card for the first start. It lists five things and is not shown again once dismissed.

use crate::{
    app::{input::keys::Action, state::State, ui::style::card},
    config::ShadowMode,
};
use egui::{Align2, Area, Context, Id, Order, Rect, RichText, Vec2};

/// Minimum size of the viewport with room for the card, in points.
const MIN_SIZE: Vec2 = Vec2::new(260.0, 240.0);

/// Shows the card at the bottom of the viewport unless it has been dismissed. Returns the part that is left
/// above it.
pub(in crate::app) fn show(ctx: &Context, room: Rect, state: &mut State) -> Rect {
    let has_room = room.width() >= MIN_SIZE.x && room.height() >= MIN_SIZE.y;
    if !has_room || !state.welcomes() {
        return room;
    }
    let keys = |action: Action| state.ui.keymap.keys_of(action);
    let shadows = [ShadowMode::Off, ShadowMode::Map, ShadowMode::Rays];
    let shadows = shadows.map(|mode| keys(Action::Shadows(mode))).join(" ");
    let lines = [
        ("drag, wheel".to_owned(), "orbit, zoom"),
        (keys(Action::Play), "play or pause the clip"),
        (shadows, "shadows: off, maps, rays"),
        (keys(Action::Compare), "compare two settings"),
        (keys(Action::Help), "all keys"),
    ];
    let mut is_read = false;
    let shown = Area::new(Id::unique("welcome"))
        .order(Order::Foreground)
        .pivot(Align2::CENTER_BOTTOM)
        .fixed_pos(room.center_bottom() - Vec2::new(0.0, 10.0))
        .constrain_to(room)
        .fade_in(false)
        .show(ctx, |ui| {
            card(ui.visuals()).show(ui, |ui| {
                egui::Grid::new("welcome").spacing([14.0, 4.0]).show(ui, |ui| {
                    for (keys, what) in &lines {
                        ui.label(RichText::new(keys).strong());
                        ui.label(*what);
                        ui.end_row();
                    }
                });
                ui.vertical_centered(|ui| {
                    let tip = "Closes this card for good (Esc)";
                    is_read = ui.button("Got it").on_hover_text(tip).clicked();
                });
            });
        });
    state.ui.layout.welcomed |= is_read;
    let mut above = room;
    above.max.y = shown.response.rect.top().max(room.top());
    above
}
