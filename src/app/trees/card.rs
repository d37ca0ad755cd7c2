//! Legends over the picture for BVH boxes and for the channels `cost` and `lab`.

use crate::{
    app::{
        state::State,
        ui::{
            facts::Facts,
            magnitudes::legend,
            sections::{cost_ends, depth_ends, heat_words},
            style::{card, compact},
        },
    },
    lab::view::heat_of,
    render::{Channel, present::tree_boxes::TREE_BOX_DARKEST},
};
use egui::{Align2, Area, Context, Id, Order, Rect, RichText, Vec2};

/// Width of the card in points.
const WIDTH: f32 = 180.0;

/// Shows the legends that the picture needs, in the lower right corner. The deviation legend has precedence
/// there.
pub(in crate::app) fn show(ctx: &Context, room: Rect, state: &State, facts: &Facts<'_>) {
    let boxes = facts.stats.tree_boxes;
    let cost = facts
        .stats
        .cost_range
        .filter(|_| heat_of(state.picture.channel, &state.config, &state.config.lab).is_some());
    let fits = room.width() > 2.0 * WIDTH && room.height() > WIDTH;
    let is_taken = state.picture.channel == Channel::Deviation;
    if (boxes.is_none() && cost.is_none()) || is_taken || !fits {
        return;
    }
    Area::new(Id::unique("trees"))
        .order(Order::Middle)
        .pivot(Align2::RIGHT_BOTTOM)
        .fixed_pos(room.right_bottom() - Vec2::splat(12.0))
        .constrain_to(room)
        .fade_in(false)
        .interactable(false)
        .show(ctx, |ui| {
            card(ui.visuals()).show(ui, |ui| {
                ui.set_width(WIDTH);
                if let Some(range) = cost {
                    ui.label(RichText::new(heat_words(state)).weak());
                    let [least, most] = cost_ends(range);
                    legend(ui, 0.0, [&least, &most]);
                }
                if let Some(counts) = boxes {
                    let [found, drawn] = [counts.found, counts.drawn].map(u64::from);
                    let title = match found == drawn {
                        true => format!("{} boxes, by depth", compact(drawn)),
                        false => {
                            format!("{} of {} boxes, by depth", compact(drawn), compact(found))
                        }
                    };
                    ui.label(RichText::new(title).weak());
                    let [first, deepest] = depth_ends(&state.config.tree_boxes, counts);
                    legend(ui, TREE_BOX_DARKEST as f32, [&first, &deepest]);
                }
            });
        });
}
