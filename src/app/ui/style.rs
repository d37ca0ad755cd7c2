//! Colours, fonts and small widgets that all sections share.

use egui::{Color32, CornerRadius, FontFamily, FontId, Margin, RichText, Stroke, TextStyle, Ui};

/// Sets a dark style whose digits keep their width.
pub(in crate::app) fn set_style(ctx: &egui::Context) {
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

/// Leaf green, for what is on and for the history's line.
pub(super) const ACCENT: Color32 = Color32::from_rgb(104, 200, 152);

/// A frame around what floats over the scene.
pub(super) fn card() -> egui::Frame {
    egui::Frame::new()
        .fill(Color32::from_rgba_unmultiplied(22, 24, 27, 240))
        .stroke(Stroke::new(1.0, Color32::from_gray(60)))
        .corner_radius(CornerRadius::same(8))
        .inner_margin(Margin::symmetric(16, 12))
}

/// A text in a column of this width.
pub(super) fn cell(ui: &mut Ui, width: f32, text: &str) {
    let size = egui::vec2(width, ui.spacing().interact_size.y);
    let layout = egui::Layout::left_to_right(egui::Align::Center);
    ui.allocate_ui_with_layout(size, layout, |ui| {
        ui.set_min_width(width);
        ui.add(egui::Label::new(text).truncate());
    });
}

/// A number whose digits do not move as it changes.
pub(super) fn digits(text: impl Into<String>) -> RichText {
    RichText::new(text).monospace()
}

/// Writes 1234567 as 1 234 567.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 2);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push('\u{2009}');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(grouped(7), "7");
        assert_eq!(grouped(1234567).replace('\u{2009}', " "), "1 234 567");
    }
}
