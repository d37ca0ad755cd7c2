//! Cards with suggestions after a scene was opened.

use crate::app::{
    files::offers::Suggestion,
    input::keys::Action,
    state::State,
    ui::{
        floating::{HEADER, NAMES},
        style::card,
    },
};
use egui::{Align2, Area, Id, Order, Rect, Vec2};

/// Shows the suggestions at the top of the viewport, below the header lines.
pub(in crate::app) fn show(ctx: &egui::Context, room: Rect, state: &mut State) {
    if state.files.offers.is_empty() {
        return;
    }
    let mut dismissed = None;
    let names = match state.compare.figures.is_shown {
        true => NAMES,
        false => 0.0,
    };
    Area::new(Id::unique("offers"))
        .order(Order::Foreground)
        .pivot(Align2::CENTER_TOP)
        .fixed_pos(room.center_top() + Vec2::new(0.0, names + HEADER + 8.0))
        .constrain_to(room)
        .fade_in(false)
        .show(ctx, |ui| {
            ui.set_max_width((room.width() - 16.0).max(120.0));
            for (index, offer) in state.files.offers.iter().enumerate() {
                card(ui.visuals()).show(ui, |ui| {
                    ui.horizontal_wrapped(|ui| {
                        ui.label(offer.text());
                        let accept = match offer {
                            Suggestion::Up(_) => Action::NextUpAxis,
                            Suggestion::Texture(_) => Action::ObjTexture,
                        };
                        if ui.button(offer.button()).on_hover_text(offer.hint()).clicked() {
                            state.ui.actions.push(accept);
                        }
                        if ui
                            .button("No")
                            .on_hover_text("Dismisses the suggestion (Esc)")
                            .clicked()
                        {
                            dismissed = Some(index);
                        }
                    });
                });
            }
        });
    if let Some(index) = dismissed {
        state.files.offers.remove(index);
    }
}
