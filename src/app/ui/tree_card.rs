//! The legend of boxes of the trees, over the picture.

use super::{
    facts::Facts,
    magnitudes::legend,
    sections::depth_ends,
    style::{card, compact},
};
use crate::{
    app::state::State,
    render::{Channel, tree_boxes::TREE_BOX_DARKEST},
};
use egui::{Align2, Area, Context, Id, Order, Rect, RichText, Vec2};

/// Its width in points.
const WIDTH: f32 = 180.0;

/// Shows it where boxes are drawn, in the corner that the legend of deviations has otherwise.
pub(super) fn show(ctx: &Context, room: Rect, state: &State, facts: &Facts<'_>) {
    let Some(counts) = facts.stats.tree_boxes else {
        return;
    };
    let fits = room.width() > 2.0 * WIDTH && room.height() > WIDTH;
    if state.channel == Channel::Deviation || !fits {
        return;
    }
    Area::new(Id::unique("tree boxes"))
        .order(Order::Middle)
        .pivot(Align2::RIGHT_BOTTOM)
        .fixed_pos(room.right_bottom() - Vec2::splat(12.0))
        .constrain_to(room)
        .fade_in(false)
        .interactable(false)
        .show(ctx, |ui| {
            card(ui.visuals()).show(ui, |ui| {
                ui.set_width(WIDTH);
                let [found, drawn] = [counts.found, counts.drawn].map(u64::from);
                let title = match found == drawn {
                    true => format!("{} boxes, by depth", compact(drawn)),
                    false => format!("{} of {} boxes, by depth", compact(drawn), compact(found)),
                };
                ui.label(RichText::new(title).weak());
                let [first, deepest] = depth_ends(&state.config.tree_boxes, counts);
                legend(ui, TREE_BOX_DARKEST as f32, [&first, &deepest]);
            });
        });
}
