//! Colours, fonts and text styles of the user interface.

use crate::config::{Theme, Window};
use egui::{
    Color32, Context, CornerRadius, FontFamily, FontId, Margin, RichText, Stroke, Style, TextStyle,
    ThemePreference, Ui, Visuals,
};

/// Base text size in points. All other sizes are relative to it.
const FONT_SIZE: f32 = 13.0;

/// Sets the styles of both themes. Digits have a fixed width.
pub(in crate::app) fn set_style(ctx: &Context) {
    ctx.options_mut(|options| {
        options.fallback_theme = egui::Theme::Dark;
        // The settings determine the zoom instead.
        options.zoom_with_keyboard = false;
    });
    ctx.all_styles_mut(set_sizes);
    ctx.style_mut_of(egui::Theme::Dark, |style| set_dark(&mut style.visuals));
    ctx.style_mut_of(egui::Theme::Light, |style| set_light(&mut style.visuals));
}

/// Applies the theme and the text size of the settings.
pub(in crate::app) fn follow(ctx: &Context, settings: &Window) {
    ctx.set_theme(match settings.theme {
        Theme::Dark => ThemePreference::Dark,
        Theme::Light => ThemePreference::Light,
        Theme::System => ThemePreference::System,
    });
    ctx.set_zoom_factor(zoom(settings));
}

/// Returns the zoom factor: the text size of the settings divided by the base size.
pub(in crate::app) fn zoom(settings: &Window) -> f32 {
    settings.font_size / FONT_SIZE
}

fn set_sizes(style: &mut Style) {
    let sizes = [
        (TextStyle::Body, FONT_SIZE, FontFamily::Proportional),
        (TextStyle::Button, FONT_SIZE, FontFamily::Proportional),
        (TextStyle::Small, 11.0, FontFamily::Proportional),
        (TextStyle::Monospace, 12.0, FontFamily::Monospace),
        (TextStyle::Heading, 16.0, FontFamily::Proportional),
    ];
    style.text_styles = sizes
        .into_iter()
        .map(|(name, size, family)| (name, FontId::new(size, family)))
        .collect();
    // Labels have tooltips and are not selectable. An error has a button that copies it.
    style.interaction.selectable_labels = false;
    let spacing = &mut style.spacing;
    spacing.item_spacing = egui::vec2(8.0, 4.0);
    spacing.button_padding = egui::vec2(6.0, 2.0);
    spacing.combo_width = 120.0;
    spacing.indent = 12.0;
    spacing.tooltip_width = 300.0;
    // Room for the scroll bar, which would otherwise cover the contents.
    spacing.scroll.floating_allocated_width = 8.0;
}

/// Keeps the panel's tooltips from covering help, palette and browser. While one of them is open, tooltips
/// need the pointer over it.
pub(in crate::app) fn keep_tooltips_off(ctx: &Context, is_covered: bool) {
    /// Delay in seconds that is practically infinite but can still be added to a time in egui.
    const NEVER: f32 = 1e6;
    let pointer = ctx.input(|input| input.pointer.hover_pos());
    let layer = pointer.and_then(|at| ctx.layer_id_at(at));
    let is_in_front = layer.is_some_and(|layer| layer.order >= egui::Order::Foreground);
    let is_off = is_covered && !is_in_front;
    let was_off = ctx.global_style().interaction.tooltip_delay == NEVER;
    if is_off != was_off {
        let usual = egui::style::Interaction::default().tooltip_delay;
        let delay = if is_off { NEVER } else { usual };
        ctx.all_styles_mut(|style| style.interaction.tooltip_delay = delay);
    }
}

fn set_dark(visuals: &mut Visuals) {
    visuals.panel_fill = Color32::from_rgb(24, 26, 29);
    visuals.window_fill = Color32::from_rgb(28, 30, 34);
    visuals.extreme_bg_color = Color32::from_rgb(15, 16, 18);
    visuals.faint_bg_color = Color32::from_rgb(30, 33, 37);
    visuals.window_stroke = Stroke::new(1.0, Color32::from_gray(58));
    visuals.selection.bg_fill = Color32::from_rgb(34, 98, 74);
    visuals.selection.stroke = Stroke::new(1.0, Color32::from_rgb(190, 240, 215));
    visuals.hyperlink_color = Color32::from_rgb(104, 200, 152);
    visuals.error_fg_color = Color32::from_rgb(255, 116, 104);
    visuals.weak_text_color = Some(Color32::from_gray(168));
    visuals.slider_trailing_fill = true;
    visuals.widgets.noninteractive.fg_stroke.color = Color32::from_gray(198);
    visuals.widgets.inactive.fg_stroke.color = Color32::from_gray(214);
    visuals.widgets.noninteractive.bg_stroke.color = Color32::from_gray(44);
}

fn set_light(visuals: &mut Visuals) {
    visuals.panel_fill = Color32::from_rgb(244, 245, 246);
    visuals.window_fill = Color32::from_rgb(252, 252, 253);
    visuals.extreme_bg_color = Color32::from_rgb(255, 255, 255);
    visuals.faint_bg_color = Color32::from_rgb(235, 237, 239);
    visuals.window_stroke = Stroke::new(1.0, Color32::from_gray(180));
    visuals.selection.bg_fill = Color32::from_rgb(170, 222, 198);
    visuals.selection.stroke = Stroke::new(1.0, Color32::from_rgb(8, 70, 44));
    visuals.hyperlink_color = Color32::from_rgb(14, 116, 72);
    visuals.weak_text_color = Some(Color32::from_gray(98));
    visuals.warn_fg_color = Color32::from_rgb(156, 84, 0);
    visuals.error_fg_color = Color32::from_rgb(176, 16, 16);
    visuals.slider_trailing_fill = true;
    visuals.widgets.noninteractive.fg_stroke.color = Color32::from_gray(46);
    visuals.widgets.inactive.fg_stroke.color = Color32::from_gray(36);
    let pressed = Color32::from_rgb(206, 226, 216);
    visuals.widgets.active.weak_bg_fill = pressed;
    visuals.widgets.active.bg_fill = pressed;
}

/// Returns the leaf green accent colour, also used for the line of the frame-time graph.
pub(in crate::app) fn accent(visuals: &Visuals) -> Color32 {
    visuals.hyperlink_color
}

/// Returns the frame of cards that float over the scene.
pub(in crate::app) fn card(visuals: &Visuals) -> egui::Frame {
    egui::Frame::new()
        .fill(visuals.window_fill)
        .stroke(visuals.window_stroke)
        .corner_radius(CornerRadius::same(8))
        .inner_margin(Margin::symmetric(12, 10))
}

/// Formats a text in the monospaced font, so that its digits do not move when a number changes.
pub(in crate::app) fn digits(text: impl Into<String>) -> RichText {
    RichText::new(text).monospace()
}

/// Draws a line that is truncated if there is no room, with the whole text on hover.
pub(in crate::app) fn line(ui: &mut Ui, text: RichText) -> egui::Response {
    ui.add(egui::Label::new(text).truncate())
}

/// Formats 1234567 as 1 234 567.
pub(in crate::app) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 2);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push('\u{a0}');
        }
        text.push(digit);
    }
    text
}

/// Formats a count in at most six characters, for example 1234567 as 1.23 M.
pub(in crate::app) fn compact(number: u64) -> String {
    let in_units = |unit: f64, name: &str| format!("{}\u{a0}{name}", significant(number as f64 / unit));
    match number {
        0..10_000 => number.to_string(),
        10_000..999_500 => in_units(1e3, "k"),
        999_500..999_500_000 => in_units(1e6, "M"),
        _ => in_units(1e9, "G"),
    }
}

/// Formats three significant digits of a number from 0.1 to 999. Smaller numbers have three decimals, and
/// larger ones have none.
pub(in crate::app) fn significant(number: f64) -> String {
    let decimals = match number.abs() {
        n if n >= 99.95 => 0,
        n if n >= 9.995 => 1,
        n if n >= 0.9995 => 2,
        _ => 3,
    };
    format!("{number:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the contrast ratio of two opaque colours (WCAG 2.2).
    fn contrast(a: Color32, b: Color32) -> f32 {
        let luminance = |color: Color32| {
            let [r, g, b] = [color.r(), color.g(), color.b()].map(|byte| {
                let c = f32::from(byte) / 255.0;
                match c <= 0.040_45 {
                    true => c / 12.92,
                    false => ((c + 0.055) / 1.055).powf(2.4),
                }
            });
            0.2126 * r + 0.7152 * g + 0.0722 * b
        };
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    /// Text has a contrast of at least 4.5 to 1 on every background. Disabled text has no limit.
    #[test]
    fn text_has_contrast_in_both_themes() {
        assert!((contrast(Color32::WHITE, Color32::BLACK) - 21.0).abs() < 1e-3);
        assert!(contrast(Color32::from_gray(118), Color32::WHITE) > 4.5);
        assert!(contrast(Color32::from_gray(119), Color32::WHITE) < 4.5);
        let ctx = Context::default();
        set_style(&ctx);
        let mut faults = Vec::new();
        for theme in [egui::Theme::Dark, egui::Theme::Light] {
            let style = ctx.style_of(theme);
            let visuals = &style.visuals;
            let mut check = |what: &str, text: Color32, ground: Color32| {
                // Colours are premultiplied, and text may be translucent.
                let opaque = ground.blend(text);
                let found = contrast(opaque, ground);
                if found < 4.5 {
                    faults.push(format!("{theme:?}: {what}: {found:.2}"));
                }
            };
            let grounds = [
                ("panel", visuals.panel_fill),
                ("window", visuals.window_fill),
                ("field", visuals.extreme_bg_color),
                ("stripe", visuals.faint_bg_color),
            ];
            let texts = [
                ("text", visuals.text_color()),
                ("weak text", visuals.weak_text_color()),
                ("strong text", visuals.strong_text_color()),
                ("accent", accent(visuals)),
                ("warning", visuals.warn_fg_color),
                ("error", visuals.error_fg_color),
            ];
            for (ground, fill) in grounds {
                for (name, color) in texts {
                    check(&format!("{name} on {ground}"), color, fill);
                }
            }
            let widgets = &visuals.widgets;
            for (name, widget) in [
                ("button", &widgets.inactive),
                ("button under the pointer", &widgets.hovered),
                ("button with the keyboard", &widgets.active),
                ("open list", &widgets.open),
            ] {
                check(name, widget.text_color(), widget.weak_bg_fill);
                check(
                    &format!("weak text on {name}"),
                    visuals.weak_text_color(),
                    widgets.inactive.weak_bg_fill,
                );
            }
            let chosen = visuals.selection;
            check("what is chosen", chosen.stroke.color, chosen.bg_fill);
            // The focus ring needs 3 to 1 (WCAG 2.2, 1.4.11).
            let ring = contrast(widgets.active.bg_stroke.color, visuals.panel_fill);
            assert!(
                ring >= 3.0 && widgets.active.bg_stroke.width >= 1.0,
                "{theme:?}: {ring}"
            );
        }
        assert!(faults.is_empty(), "{}", faults.join("\n"));
    }

    #[test]
    fn digits_are_grouped_by_thousands() {
        assert_eq!(grouped(7), "7");
        assert_eq!(grouped(1234567).replace('\u{a0}', " "), "1 234 567");
    }

    #[test]
    fn large_counts_have_unit_prefixes() {
        let shown = [0, 9999, 12_345, 999_499, 999_500, 59_999_999, 12_345_678_901].map(compact);
        let expected = ["0", "9999", "12.3 k", "999 k", "1.00 M", "60.0 M", "12.3 G"];
        assert_eq!(shown.map(|text| text.replace('\u{a0}', " ")), expected);
    }

    #[test]
    fn numbers_have_three_digits() {
        let shown = [0.0, 0.0123, 0.5, 0.9996, 5.126, 9.996, 16.66, 99.96, 1234.5].map(significant);
        let expected = [
            "0.000", "0.012", "0.500", "1.00", "5.13", "10.0", "16.7", "100", "1234",
        ];
        assert_eq!(shown, expected);
    }
}
