//! Overlays over the scene: progress, messages, and a hint while no scene is shown.

use crate::{
    app::{
        input::keys::Action,
        palette::channels,
        schedule::preparation::CompileProgress,
        state::State,
        ui::{
            facts::{Facts, LoadProgress, Moving},
            floating::{MARGINS, NAMES, floating, wide},
            help,
            legend::{histogram, legend},
            style::{card, digits, grouped},
        },
    },
    output::numbers::{duration_left, percent, significant},
    render::{Channel, Noise},
};
use egui::{Align2, Area, Context, Id, Order, Pos2, Rect, RichText, TextStyle, Ui, Vec2};
use std::time::Duration;

/// Width of cards in points, if there is room.
const CARD: f32 = 320.0;
/// Maximum width of a floating line in points.
const WIDEST: f32 = 640.0;

/// Shows the current overlays over the viewport. Cards and notices are placed in `above`, the part that the
/// welcome card leaves. Nothing covers an error.
pub(in crate::app) fn show(ctx: &Context, room: Rect, above: Rect, state: &mut State, facts: &Facts<'_>) {
    if state.ui.error.is_some() {
        error(ctx, room, state, facts);
    } else if state.ui.help {
        help::show(ctx, room, state);
    } else if let Some(loading) = &facts.loading {
        card_in(ctx, "progress", above, |ui| progress(ui, loading));
    } else if let Some(compiling) = facts.preparing.as_ref().filter(|progress| !progress.is_done()) {
        card_in(ctx, "preparing", above, |ui| preparing(ui, compiling));
    } else if awaits_first(state, facts) {
        card_in(ctx, "first picture", above, |ui| {
            ui.label(RichText::new("Drawing the first picture").strong());
            ui.label(RichText::new("The driver compiles its shaders.").weak());
        });
    } else if facts.dropping {
        hint(ctx, above, "Drop to open");
    } else if state.stage.is_none() {
        let open = state.ui.keymap.keys_of(Action::Open);
        let or_press = match open.is_empty() {
            true => String::new(),
            false => format!(", or press {open}"),
        };
        hint(
            ctx,
            room,
            &format!("Drop a glTF, OBJ or volume file here{or_press}"),
        );
    }
    if let Some(text) = header(state, facts) {
        // The names of a comparison's sides occupy the top.
        let place = match state.compare.figures.is_shown {
            true => (room.center_top() + Vec2::new(0.0, NAMES), Align2::CENTER_TOP),
            false => (room.left_top(), Align2::LEFT_TOP),
        };
        corner(ctx, "header", place, room, &text);
    }
    let stage = state.stage.as_ref();
    let ground = stage.and_then(|stage| stage.ground(state.config.scene.ground));
    if let Some(spacing) = ground.and_then(|ground| ground.spacing_text()) {
        let text = format!("grid {spacing}");
        corner(
            ctx,
            "grid",
            (room.left_bottom(), Align2::LEFT_BOTTOM),
            room,
            &text,
        );
    }
    if let Some(compared) = &state.deviation.compared
        && state.picture.channel == Channel::Deviation
    {
        let range = compared.range(&state.config.deviation);
        state.deviation.shows_figures = true;
        deviation(ctx, room, range, state);
    }
    notice(ctx, above, state);
}

/// True while a software renderer draws the first picture. Nothing else can be shown meanwhile.
fn awaits_first(state: &State, facts: &Facts<'_>) -> bool {
    state.stage.is_some() && !facts.has_drawn && !facts.has_gpu
}

/// Returns the header line: the channel, unless it is lit, and the current work. `None` if there is neither.
fn header(state: &State, facts: &Facts<'_>) -> Option<String> {
    let channel = (state.picture.channel != Channel::Lit).then(|| channels::title(state.picture.channel));
    let told = channel.into_iter().chain(doing(state, facts));
    let told: Vec<_> = told.collect();
    (!told.is_empty()).then(|| told.join(" · "))
}

/// Returns a line that describes the current work, or that playback is paused.
fn doing(state: &State, facts: &Facts<'_>) -> Option<String> {
    if let Some(Moving { scale, is_late }) = facts.moving {
        let share = match scale == 0.5 {
            true => "1/2".into(),
            false => format!("{:.0} %", 100.0 * scale),
        };
        let late = if is_late {
            ", over the target frame time"
        } else {
            ""
        };
        return Some(format!("moving: {share} resolution{late}"));
    }
    if let Some(done) = facts.stats.path_samples {
        let wanted = state.config.paths.samples;
        let [told, all] = [done, wanted].map(|count| grouped(count.into()));
        let count = match done >= wanted {
            true => format!("paths: done, {told} samples per pixel"),
            false => format!("paths: {told} of {all} samples per pixel"),
        };
        let noise = facts.stats.noise.map(Noise::description);
        let left = facts.path_secs_left.filter(|_| done < wanted);
        let left = left.map(|secs| format!("{} left", duration_left(secs)));
        let parts = [Some(count), noise, left];
        return Some(parts.into_iter().flatten().collect::<Vec<_>>().join(", "));
    }
    if facts.rendering {
        return Some("rendering…".into());
    }
    if let Some(text) = state.files.export.description() {
        return Some(text);
    }
    let keys = state.ui.keymap.keys_of(Action::Play);
    (state.playback.is_paused_still && !state.playback.playing).then(|| match keys.is_empty() {
        true => "paused: no GPU".into(),
        false => format!("paused: no GPU ({keys} plays)"),
    })
}

/// Shows the legend of deviation colours in metres, with the figures of all visible surfaces.
fn deviation(ctx: &Context, room: Rect, range: f32, state: &State) {
    Area::new(Id::unique("deviation"))
        .order(Order::Middle)
        .pivot(Align2::RIGHT_BOTTOM)
        .fixed_pos(room.right_bottom() - Vec2::splat(12.0))
        .constrain_to(room)
        .fade_in(false)
        .interactable(false)
        .show(ctx, |ui| {
            card(ui.visuals()).show(ui, |ui| {
                ui.set_width(220.0);
                let title = match &state.deviation.figures {
                    Some(Ok(_)) if state.deviation.figures_lag => "distance in metres (measuring…)",
                    _ => "distance in metres",
                };
                ui.label(RichText::new(title).weak());
                legend(ui, range);
                let statistics = match &state.deviation.figures {
                    Some(Ok(statistics)) => statistics,
                    Some(Err(why)) => {
                        ui.label(RichText::new(why).weak());
                        return;
                    }
                    None => {
                        ui.label(RichText::new("measuring…").weak());
                        return;
                    }
                };
                histogram(ui, statistics, range);
                let extremes = [statistics.min.distance, statistics.max.distance];
                let [min, max] = extremes.map(significant);
                ui.label(digits(format!("min {min}, max {max}")));
                let [mean, rms] = [statistics.mean, statistics.rms].map(significant);
                ui.label(digits(format!("mean {mean}, RMS {rms}")));
                if let Some(out) = statistics.out {
                    let [above, below] = [out.above, out.below].map(percent);
                    ui.label(digits(format!("above {above}, below {below}")));
                }
            });
        });
}

/// Shows a card of fixed width in the centre.
fn card_in(ctx: &Context, name: &str, room: Rect, add: impl FnOnce(&mut Ui)) {
    let room = wide(ctx, room, CARD + MARGINS);
    floating(ctx, name, room, Vec2::ZERO, false, |ui| {
        ui.set_width(CARD.min(room.width() - MARGINS));
        add(ui);
    });
}

/// Shows the progress of compiling.
fn preparing(ui: &mut Ui, compiling: &CompileProgress) {
    /// Interval between progress updates in seconds.
    const PACE: f32 = 0.1;
    let CompileProgress { names, done } = compiling;
    let count = names.len();
    ui.label(RichText::new("Compiling shaders").strong());
    let share = *done as f32 / count.max(1) as f32;
    ui.add(egui::ProgressBar::new(share).text(format!("{done} of {count}")));
    if let Some(name) = names.get(*done).or(names.last()) {
        ui.add(egui::Label::new(RichText::new(name).weak()).truncate());
    }
    ui.ctx().request_repaint_after_secs(PACE);
}

fn progress(ui: &mut Ui, load: &LoadProgress) {
    let LoadProgress { name, stage, share } = load;
    let title = RichText::new(format!("Loading {name}")).strong();
    ui.add(egui::Label::new(title).truncate());
    ui.add(egui::ProgressBar::new(*share).desired_height(8.0));
    ui.add(egui::Label::new(RichText::new(stage).weak()).truncate());
    ui.label(RichText::new("Esc cancels").small().weak());
}

/// Shows a short line in a corner of `room`, where it covers little. It wraps if `room` is too narrow.
fn corner(ctx: &Context, name: &str, (at, align): (Pos2, Align2), room: Rect, text: &str) {
    let inwards = -align.to_sign() * 10.0;
    let most = (room.width() - MARGINS).clamp(120.0, WIDEST);
    let is_wide = line_width(ctx, text, TextStyle::Body) > most;
    Area::new(Id::unique(name))
        .order(Order::Middle)
        .pivot(align)
        .fixed_pos(at + inwards)
        .interactable(false)
        .fade_in(false)
        .show(ctx, |ui| {
            card(ui.visuals())
                .inner_margin(egui::Margin::symmetric(10, 4))
                .show(ui, |ui| {
                    let label = egui::Label::new(RichText::new(text).weak());
                    // An area starts narrow, which would wrap the line.
                    ui.set_max_width(most);
                    ui.add(match is_wide {
                        true => label.wrap(),
                        false => label.extend(),
                    });
                });
        });
}

/// Shows a hint that is as wide as its text, on several lines if it is long.
fn hint(ctx: &Context, room: Rect, text: &str) {
    let width = line_width(ctx, text, TextStyle::Heading);
    let room = wide(ctx, room, width.min(CARD) + MARGINS);
    floating(ctx, "hint", room, Vec2::ZERO, false, |ui| {
        ui.set_width(width.min(room.width() - MARGINS).min(WIDEST));
        ui.label(RichText::new(text).heading());
    });
}

fn notice(ctx: &Context, room: Rect, state: &mut State) {
    let stays = Duration::from_secs_f32(state.config.window.notice_secs);
    state.ui.notice.take_if(|(_, since)| since.elapsed() >= stays);
    if let Some((text, since)) = &state.ui.notice {
        let width = line_width(ctx, text, TextStyle::Body);
        let room = wide(ctx, room, width.min(CARD) + MARGINS);
        let offset = Vec2::new(0.0, room.height() * 0.5 - 36.0);
        floating(ctx, "notice", room, offset, false, |ui| {
            ui.set_width(width.min(room.width() - MARGINS).min(WIDEST));
            ui.label(text);
        });
        ctx.request_repaint_after(stays.saturating_sub(since.elapsed()));
    }
}

/// Returns the width of `text` on one line, in points.
fn line_width(ctx: &Context, text: &str, style: TextStyle) -> f32 {
    let font = style.resolve(&ctx.global_style());
    let layout = |fonts: &mut egui::epaint::text::FontsView<'_>| {
        fonts.layout_no_wrap(text.to_owned(), font, egui::Color32::WHITE)
    };
    ctx.fonts_mut(layout).size().x + 1.0
}

/// Shows the error until the user closes it, so that they can read and copy it.
fn error(ctx: &Context, room: Rect, state: &mut State, facts: &Facts<'_>) {
    let Some(failure) = state.ui.error.clone() else {
        return;
    };
    let room = wide(ctx, room, CARD + MARGINS);
    floating(ctx, "error", room, Vec2::ZERO, true, |ui| {
        ui.set_width((room.width() - MARGINS).clamp(120.0, 520.0));
        let color = ui.visuals().error_fg_color;
        let headline = RichText::new(&failure.headline).strong().color(color);
        ui.add(egui::Label::new(headline).wrap());
        egui::ScrollArea::vertical()
            .max_height((room.height() - 130.0).clamp(30.0, 240.0))
            .auto_shrink([false, true])
            .show(ui, |ui| ui.add(egui::Label::new(&failure.text).wrap()));
        ui.horizontal(|ui| {
            let copy = ui.button("Copy").on_hover_text("Copies the message");
            if copy.clicked() {
                let text = format!("{}: {}", failure.headline, failure.text);
                ui.ctx().copy_text(text);
            }
            if ui
                .button("Close")
                .on_hover_text("Closes the message (Esc)")
                .clicked()
            {
                state.ui.error = None;
            }
        });
        if let Some(loading) = &facts.loading {
            let text = RichText::new(format!("Loading {}", loading.name)).small().weak();
            ui.add(egui::Label::new(text).truncate());
        }
    });
}
