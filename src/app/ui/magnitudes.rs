//! Legends and histograms of counts.

use crate::output::{magma, numbers::grouped, picture::bytes};
use egui::{Align2, Color32, FontId, Rect, Sense, Ui, pos2, vec2};

/// Maximum size of a legend's bar in points.
const BAR: [f32; 2] = [220.0, 12.0];
/// Height of the highest histogram bar in points.
const HISTOGRAM_HEIGHT: f32 = 40.0;
/// Maximum number of histogram bars. The last one includes all larger numbers.
pub(in crate::app) const MAX_BARS: usize = 40;

fn color(share: f32) -> Color32 {
    let [r, g, b] = bytes(magma::color(share));
    Color32::from_rgb(r, g, b)
}

/// Draws the colour map from position `from`, in [0, 1], to its end, with labels at both ends.
pub(in crate::app) fn legend(ui: &mut Ui, from: f32, ends: [&str; 2]) {
    let width = ui.available_width().clamp(100.0, BAR[0]);
    let (whole, _) = ui.allocate_exact_size(vec2(width, BAR[1] + 16.0), Sense::hover());
    let painter = ui.painter();
    let steps = width.max(1.0) as usize;
    for step in 0..steps {
        let at = |step: usize| whole.left() + width * step as f32 / steps as f32;
        let strip = Rect::from_min_max(
            pos2(at(step), whole.top()),
            pos2(at(step + 1), whole.top() + BAR[1]),
        );
        let share = from + (1.0 - from) * (step as f32 + 0.5) / steps as f32;
        painter.rect_filled(strip, 0.0, color(share));
    }
    let ink = ui.visuals().weak_text_color();
    let font = FontId::proportional(11.0);
    for (x, align, text) in [
        (whole.left(), Align2::LEFT_TOP, ends[0]),
        (whole.right(), Align2::RIGHT_TOP, ends[1]),
    ] {
        painter.text(
            pos2(x, whole.top() + BAR[1] + 2.0),
            align,
            text,
            font.clone(),
            ink,
        );
    }
}

/// Draws a histogram. `counts[n]` is the height of the bar for the number n. The colours start at position
/// `from` of the map. A hovered bar shows its count and the text that `what` returns.
pub(in crate::app) fn histogram(ui: &mut Ui, counts: &[u32], from: f32, what: impl Fn(usize) -> String) {
    let bars = counts.len().clamp(1, MAX_BARS);
    let of = |bar: usize| -> u64 {
        let more = if bar + 1 == bars { counts.len() } else { bar + 1 };
        counts[bar.min(counts.len())..more.min(counts.len())]
            .iter()
            .map(|count| u64::from(*count))
            .sum()
    };
    let width = ui.available_width().clamp(100.0, BAR[0]);
    let (room, response) = ui.allocate_exact_size(vec2(width, HISTOGRAM_HEIGHT), Sense::hover());
    let painter = ui.painter();
    painter.rect_filled(room, 2.0, ui.visuals().extreme_bg_color);
    let most = (0..bars).map(of).max().unwrap_or(0).max(1);
    let step = width / bars as f32;
    for bar in 0..bars {
        let left = room.left() + step * bar as f32;
        let height = room.height() * (of(bar) as f64 / most as f64) as f32;
        let rect = Rect::from_min_max(
            pos2(left, room.bottom() - height),
            pos2(left + (step - 0.5).max(0.5), room.bottom()),
        );
        let share = from + (1.0 - from) * bar as f32 / (bars - 1).max(1) as f32;
        painter.rect_filled(rect, 0.0, color(share));
    }
    let pointer = response.hover_pos();
    let bar = pointer.map(|at| ((at.x - room.left()) / step).clamp(0.0, bars as f32 - 1.0) as usize);
    if let Some(bar) = bar {
        let more = if bar + 1 < counts.len() && bar + 1 == bars {
            " or more"
        } else {
            ""
        };
        response.on_hover_text(format!("{}{more}: {}", what(bar), grouped(of(bar))));
    }
}
