//! Card that exports pictures or a video.

use crate::app::{
    state::State,
    ui::{
        facts::Facts,
        floating::{MARGINS, wide},
        panel, sections,
        style::card,
    },
};
use egui::{Align2, Area, Context, Id, Order, Rect, RichText, ScrollArea, Vec2};

/// Width of the card in points.
const WIDTH: f32 = 300.0;

/// Height of the title and the card's margins together, in points.
const HEAD: f32 = 72.0;
/// Minimum height of the visible rows in points.
const MIN_ROWS_HEIGHT: f32 = 40.0;

/// Shows the card at the top of the viewport `room`, if it is open.
pub(in crate::app) fn show(ctx: &Context, room: Rect, state: &mut State, facts: &Facts<'_>) {
    if !state.files.export.is_open {
        return;
    }
    let mut edits = panel::edits(state, facts);
    let room = wide(ctx, room, WIDTH + MARGINS);
    let mut is_closed = false;
    Area::new(Id::unique("export"))
        .order(Order::Middle)
        .pivot(Align2::CENTER_TOP)
        .fixed_pos(room.center_top() + Vec2::new(0.0, 8.0))
        .constrain_to(room)
        .fade_in(false)
        .show(ctx, |ui| {
            card(ui.visuals()).show(ui, |ui| {
                ui.set_width(WIDTH.min(room.width() - MARGINS));
                ui.horizontal(|ui| {
                    ui.label(RichText::new("Export").strong());
                    ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                        is_closed = ui.button("Close").on_hover_text("Esc").clicked();
                    });
                });
                // In a low window with an open profiler, the viewport may be smaller than the card needs.
                let height = (room.height() - HEAD).max(MIN_ROWS_HEIGHT);
                let rows = ScrollArea::vertical().max_height(height);
                rows.show(ui, |ui| sections::export(ui, state, facts, &mut edits));
            });
        });
    panel::apply(state, &edits);
    state.files.export.is_open &= !is_closed;
}
