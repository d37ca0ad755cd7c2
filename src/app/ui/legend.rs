//! Legend of signed distances.

use crate::{output::deviation_colors, scene::deviation::Statistics};
use egui::{Align2, Color32, FontId, Rect, Sense, Ui, pos2, vec2};

/// Size of the colour bar in points.
const BAR: [f32; 2] = [220.0, 14.0];
/// Width of the colours for values outside of the range, in points.
const OUTSIDE: f32 = 18.0;
/// Height of the highest histogram bar in points.
const HISTOGRAM_HEIGHT: f32 = 36.0;

fn color(share: f32) -> Color32 {
    let [r, g, b] = deviation_colors::color(share)
        .to_array()
        .map(|c| (c * 255.0).round() as u8);
    Color32::from_rgb(r, g, b)
}

/// Draws the colours from `-range` to `range`, those of values outside at both ends, and the numbers.
pub(in crate::app) fn legend(ui: &mut Ui, range: f32) {
    let width = ui.available_width().clamp(100.0, BAR[0]);
    let font = FontId::proportional(11.0);
    let (whole, _) = ui.allocate_exact_size(vec2(width, BAR[1] + 16.0), Sense::hover());
    let painter = ui.painter();
    let bar = Rect::from_min_size(whole.min, vec2(width, BAR[1]));
    let strip = |from: f32, to: f32, share: f32| {
        let rect = Rect::from_min_max(pos2(from, bar.top()), pos2(to, bar.bottom()));
        painter.rect_filled(rect, 0.0, color(share));
    };
    let (left, right) = (bar.left() + OUTSIDE, bar.right() - OUTSIDE);
    strip(bar.left(), left - 2.0, -2.0);
    strip(right + 2.0, bar.right(), 2.0);
    let steps = (right - left).max(1.0) as usize;
    for step in 0..steps {
        let at = |step: usize| left + (right - left) * step as f32 / steps as f32;
        strip(
            at(step),
            at(step + 1),
            2.0 * (step as f32 + 0.5) / steps as f32 - 1.0,
        );
    }
    let ink = ui.visuals().weak_text_color();
    for (x, align, value) in [
        (left, Align2::LEFT_TOP, -range),
        (0.5 * (left + right), Align2::CENTER_TOP, 0.0),
        (right, Align2::RIGHT_TOP, range),
    ] {
        painter.text(
            pos2(x, bar.bottom() + 2.0),
            align,
            short(value),
            font.clone(),
            ink,
        );
    }
}

/// Draws a histogram of surface area by distance, in the colours of the distances.
pub(in crate::app) fn histogram(ui: &mut Ui, statistics: &Statistics, range: f32) {
    let width = ui.available_width().clamp(100.0, BAR[0]);
    let (room, _) = ui.allocate_exact_size(vec2(width, HISTOGRAM_HEIGHT), Sense::hover());
    let painter = ui.painter();
    painter.rect_filled(room, 2.0, ui.visuals().extreme_bg_color);
    let most = statistics.histogram.iter().copied().fold(0.0, f64::max);
    let step = width / statistics.histogram.len().max(1) as f32;
    let edges: Vec<f64> = statistics.edges().collect();
    for ((share, ends), number) in statistics.histogram.iter().zip(edges.windows(2)).zip(0u16..) {
        let left = room.left() + step * f32::from(number);
        let height = room.height() * (share / most.max(1e-30)) as f32;
        let middle = ends[0].midpoint(ends[1]) as f32;
        let bar = Rect::from_min_max(
            pos2(left, room.bottom() - height),
            pos2(left + (step - 0.5).max(0.5), room.bottom()),
        );
        painter.rect_filled(bar, 0.0, color(middle / range.max(f32::MIN_POSITIVE)));
    }
}

/// Formats a distance with up to three digits.
fn short(value: f32) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let decimals = (2.0 - value.abs().log10().floor()).clamp(0.0, 12.0) as usize;
    let text = format!("{value:+.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn legend_distances_have_no_superfluous_digits() {
        for (value, text) in [(0.0, "0"), (0.0005, "+0.0005"), (-1.5, "-1.5"), (1234.0, "+1234")] {
            assert_eq!(short(value), text);
        }
    }
}
