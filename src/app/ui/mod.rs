//! What egui shows: the panel with a function for each of its sections, the help, progress and messages.

mod overlay;
mod sections;
mod timings;

use super::state::State;
use crate::render::FrameStats;
use egui::{Color32, CornerRadius, FontFamily, FontId, Margin, RichText, Stroke, TextStyle, Ui};

/// Width of the panel in logical pixels, at first.
const PANEL_WIDTH: f32 = 330.0;

/// What the panel shows and cannot change.
pub(super) struct Facts<'a> {
    /// Figures of the renderer.
    pub(super) stats: &'a FrameStats,
    /// What is being loaded: names, what is being done, and the share that is done.
    pub(super) loading: Option<(String, String, f32)>,
    /// Names of the passes that are being compiled.
    pub(super) preparing: Option<String>,
    /// Whether files hover over the window.
    pub(super) dropping: bool,
    /// The exposure of this frame in stops.
    pub(super) exposure_ev: f32,
    /// The adapter.
    pub(super) adapter: &'a str,
    /// Whether the adapter is a GPU.
    pub(super) has_gpu: bool,
    /// Whether several rays a pixel are fast on it.
    pub(super) fast_rays: bool,
    /// The render scale that suits it.
    pub(super) render_scale: f32,
    /// Pixels that are traced and shaded.
    pub(super) size: [u32; 2],
}

/// Shows everything; the room that is left is the scene's.
pub(super) fn show(ui: &mut Ui, state: &mut State, facts: &Facts<'_>) -> egui::Rect {
    if state.panel {
        let panel = egui::Panel::right("settings")
            .default_size(PANEL_WIDTH)
            .min_size(280.0)
            .max_size((ui.available_width() * 0.6).max(280.0));
        panel.show(ui, |ui| {
            egui::ScrollArea::vertical()
                .auto_shrink(false)
                .show(ui, |ui| sections::show(ui, state, facts));
        });
    }
    let room = ui.available_rect_before_wrap();
    overlay::show(ui.ctx(), room, state, facts);
    room
}

/// A dark, quiet look, and digits that keep their width.
pub(super) fn set_style(ctx: &egui::Context) {
    ctx.set_theme(egui::Theme::Dark);
    ctx.all_styles_mut(|style| {
        let sizes = [
            (TextStyle::Body, 13.0, FontFamily::Proportional),
            (TextStyle::Button, 13.0, FontFamily::Proportional),
            (TextStyle::Small, 11.0, FontFamily::Proportional),
            (TextStyle::Monospace, 12.0, FontFamily::Monospace),
            (TextStyle::Heading, 16.0, FontFamily::Proportional),
        ];
        style.text_styles = sizes
            .into_iter()
            .map(|(name, size, family)| (name, FontId::new(size, family)))
            .collect();
        let spacing = &mut style.spacing;
        spacing.item_spacing = egui::vec2(8.0, 5.0);
        spacing.button_padding = egui::vec2(8.0, 3.0);
        spacing.slider_width = 130.0;
        spacing.combo_width = 140.0;
        spacing.indent = 12.0;
        // Room for the bar, which would lie over what it scrolls.
        spacing.scroll.floating_allocated_width = 8.0;
        let visuals = &mut style.visuals;
        visuals.panel_fill = Color32::from_rgb(24, 26, 29);
        visuals.window_fill = Color32::from_rgb(28, 30, 34);
        visuals.extreme_bg_color = Color32::from_rgb(15, 16, 18);
        visuals.faint_bg_color = Color32::from_rgb(30, 33, 37);
        visuals.window_stroke = Stroke::new(1.0, Color32::from_gray(58));
        visuals.selection.bg_fill = Color32::from_rgb(34, 98, 74);
        visuals.selection.stroke = Stroke::new(1.0, Color32::from_rgb(190, 240, 215));
        visuals.hyperlink_color = ACCENT;
        visuals.slider_trailing_fill = true;
        visuals.widgets.noninteractive.fg_stroke.color = Color32::from_gray(198);
        visuals.widgets.inactive.fg_stroke.color = Color32::from_gray(214);
        visuals.widgets.noninteractive.bg_stroke.color = Color32::from_gray(44);
    });
}

/// Leaf green: what is on, and the history's line.
const ACCENT: Color32 = Color32::from_rgb(104, 200, 152);

/// A frame for what floats over the scene.
fn card() -> egui::Frame {
    egui::Frame::new()
        .fill(Color32::from_rgba_unmultiplied(22, 24, 27, 240))
        .stroke(Stroke::new(1.0, Color32::from_gray(60)))
        .corner_radius(CornerRadius::same(8))
        .inner_margin(Margin::symmetric(16, 12))
}

/// A text in a column of this width.
fn cell(ui: &mut Ui, width: f32, text: &str) {
    let size = egui::vec2(width, ui.spacing().interact_size.y);
    let layout = egui::Layout::left_to_right(egui::Align::Center);
    ui.allocate_ui_with_layout(size, layout, |ui| {
        ui.set_min_width(width);
        ui.add(egui::Label::new(text).truncate());
    });
}

/// A number whose digits do not move as it changes.
fn digits(text: impl Into<String>) -> RichText {
    RichText::new(text).monospace()
}

/// 1234567 as 1 234 567.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 2);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push('\u{2009}');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        app::{loading::Loaded, state::Stage},
        config::{Config, ExposureMode},
        scene::{ExtensionUse, Pose, Scene, Treatment, bounds::Bounds},
    };

    /// A scene of which there is little but much to say.
    fn loaded() -> Loaded {
        let extension = |treatment| ExtensionUse {
            name: "EXT_x".into(),
            required: true,
            treatment,
            note: "a note",
        };
        let scene = Scene {
            variants: vec!["red".into(), String::new()],
            extensions: vec![extension(Treatment::Full), extension(Treatment::Ignored)],
            warnings: vec!["a warning".into()],
            ..Scene::default()
        };
        Loaded {
            bounds: Bounds::new(&scene),
            clip: None,
            variant: Some(1),
            pose: Pose::new(&scene, None, 0.0),
            points: Vec::new(),
            misfit: None,
            scene,
        }
    }

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(grouped(7), "7");
        assert_eq!(grouped(1234567).replace('\u{2009}', " "), "1 234 567");
    }

    /// Every section, the help, a message and the progress, with and without a scene, at a small and at a large size.
    #[test]
    fn everything_shows_without_a_window() {
        let stats = FrameStats::default();
        let mut state = State::new(Config::default());
        let facts = Facts {
            stats: &stats,
            loading: Some(("a.glb".into(), "reading".into(), 0.5)),
            preparing: Some("gbuffer".into()),
            dropping: true,
            exposure_ev: 0.0,
            adapter: "test",
            has_gpu: false,
            fast_rays: false,
            render_scale: 0.5,
            size: [640, 360],
        };
        for (size, help) in [([320.0, 200.0], true), ([1280.0, 720.0], false)] {
            state.help = help;
            state.error = Some("a: b".into());
            if !help {
                state.config.image.exposure = ExposureMode::Histogram;
            }
            state.stage = help.then(|| Stage::new(Vec::new(), loaded(), 0.0));
            let ctx = egui::Context::default();
            set_style(&ctx);
            let input = egui::RawInput {
                screen_rect: Some(egui::Rect::from_min_size(egui::Pos2::ZERO, size.into())),
                ..Default::default()
            };
            let mut room = egui::Rect::NOTHING;
            let output = ctx.run_ui(input, |ui| room = show(ui, &mut state, &facts));
            assert!(room.width() > 0.0 && room.width() < size[0], "{room}");
            output.drop_without_applying_deltas();
        }
    }
}
