//! What floats over the scene: the help, progress, messages, and a hint while no scene is shown.

use super::{
    facts::{Facts, LoadProgress},
    style::{ACCENT, card, digits},
};
use crate::app::{
    keys::{Action, GESTURES},
    state::State,
};
use egui::{Align2, Area, Context, Id, Order, Rect, RichText, Ui, Vec2};
use std::time::Duration;

/// Time that a notice stays.
const NOTICE: Duration = Duration::from_millis(2500);

/// Shows what applies now, over the scene's part of the window.
pub(super) fn show(ctx: &Context, room: Rect, state: &mut State, facts: &Facts<'_>) {
    if let Some(loading) = &facts.loading {
        progress(ctx, room, loading);
    } else if let Some(passes) = &facts.preparing {
        preparing(ctx, room, passes);
    } else if facts.dropping {
        hint(ctx, room, "Drop to open");
    } else if state.stage.is_none() && state.error.is_none() {
        let open = state.keymap.keys_of(Action::Open);
        let or_press = if open.is_empty() {
            String::new()
        } else {
            format!(", or press {open}")
        };
        hint(
            ctx,
            room,
            &format!("Drop a glTF or OBJ file here{or_press}"),
        );
    }
    if facts.rendering {
        rendering(ctx, room);
    }
    // Nothing may cover an error.
    if state.error.is_some() {
        error(ctx, room, state);
    } else if state.help {
        help(ctx, room, state);
    }
    notice(ctx, room, state);
}

/// An area at `offset` from the middle of the scene.
fn floating(ctx: &Context, name: &str, room: Rect, offset: Vec2, add: impl FnOnce(&mut Ui)) {
    Area::new(Id::unique(name))
        .order(Order::Foreground)
        .pivot(Align2::CENTER_CENTER)
        .fixed_pos(room.center() + offset)
        .constrain(true)
        .default_size(room.size())
        // It may be the last thing that is shown for a while.
        .fade_in(false)
        .show(ctx, |ui| card().show(ui, add));
}

fn progress(ctx: &Context, room: Rect, load: &LoadProgress) {
    let LoadProgress { name, stage, share } = load;
    floating(ctx, "progress", room, Vec2::ZERO, |ui| {
        ui.set_width(320.0);
        ui.label(RichText::new(format!("Loading {name}")).strong());
        ui.add(egui::ProgressBar::new(*share).desired_height(8.0));
        ui.horizontal(|ui| {
            ui.add(egui::Label::new(RichText::new(stage).weak()).truncate());
        });
        ui.label(RichText::new("Esc cancels").small().weak());
    });
}

fn preparing(ctx: &Context, room: Rect, passes: &str) {
    floating(ctx, "preparing", room, Vec2::ZERO, |ui| {
        ui.set_width(320.0);
        ui.label(RichText::new("Preparing shaders").strong());
        ui.add(egui::Label::new(RichText::new(passes).weak()).truncate());
    });
}

/// In a corner, where it hides little: a frame takes long.
fn rendering(ctx: &Context, room: Rect) {
    Area::new(Id::unique("rendering"))
        .order(Order::Middle)
        .fixed_pos(room.left_top() + Vec2::splat(10.0))
        .interactable(false)
        .fade_in(false)
        .show(ctx, |ui| {
            card()
                .inner_margin(egui::Margin::symmetric(10, 4))
                .show(ui, |ui| ui.label(RichText::new("rendering…").weak()));
        });
}

fn hint(ctx: &Context, room: Rect, text: &str) {
    floating(ctx, "hint", room, Vec2::ZERO, |ui| {
        ui.label(RichText::new(text).heading());
    });
}

fn notice(ctx: &Context, room: Rect, state: &mut State) {
    state.notice.take_if(|(_, since)| since.elapsed() > NOTICE);
    if let Some((text, since)) = &state.notice {
        let offset = Vec2::new(0.0, room.height() * 0.5 - 48.0);
        floating(ctx, "notice", room, offset, |ui| {
            ui.label(text);
        });
        ctx.request_repaint_after(NOTICE.saturating_sub(since.elapsed()));
    }
}

/// Shows the error until the person closes it, so that they can read and copy it.
fn error(ctx: &Context, room: Rect, state: &mut State) {
    let Some(text) = state.error.clone() else {
        return;
    };
    floating(ctx, "error", room, Vec2::ZERO, |ui| {
        ui.set_max_width((room.width() - 80.0).clamp(160.0, 520.0));
        let color = ui.visuals().error_fg_color;
        ui.label(RichText::new("That did not work").strong().color(color));
        egui::ScrollArea::vertical()
            .max_height(240.0)
            .show(ui, |ui| ui.label(&text));
        ui.horizontal(|ui| {
            if ui.button("Copy").clicked() {
                ui.ctx().copy_text(text.clone());
            }
            if ui.button("Close").clicked() {
                state.error = None;
            }
        });
    });
}

fn help(ctx: &Context, room: Rect, state: &mut State) {
    floating(ctx, "help", room, Vec2::ZERO, |ui| {
        egui::ScrollArea::vertical()
            .max_height((room.height() - 60.0).max(80.0))
            .show(ui, |ui| {
                ui.horizontal_top(|ui| {
                    table(ui, "Keys", state.keymap.help());
                    ui.add_space(16.0);
                    table(ui, "Mouse and flight", GESTURES.iter().copied());
                });
                if ui.button("Close").clicked() {
                    state.help = false;
                }
            });
    });
}

fn table(ui: &mut Ui, title: &str, rows: impl Iterator<Item = (impl AsRef<str>, &'static str)>) {
    ui.vertical(|ui| {
        ui.label(RichText::new(title).strong());
        egui::Grid::new(title)
            .num_columns(2)
            .spacing([16.0, 4.0])
            .show(ui, |ui| {
                for (key, what) in rows {
                    ui.label(digits(key.as_ref()).color(ACCENT));
                    ui.label(what);
                    ui.end_row();
                }
            });
    });
}
