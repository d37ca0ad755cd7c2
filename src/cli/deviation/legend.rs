//! Legend beside a picture: a colour bar with numbers, and the statistics.

use super::result::Deviation;
use crate::{
    cli::bitmap_font::{BitmapFont, INK, fill, shortened},
    output::{
        deviation_colors,
        numbers::{percent, significant},
        picture::bytes,
    },
};
use image::RgbImage;

/// Characters per line.
const COLUMNS: usize = 27;
/// Minimum height of the bar in lines of text, and the number of lines above and below it.
const BAR_LINES: u32 = 9;
const TEXT_LINES: u32 = 15;

/// Placement of the picture and its legend.
#[derive(Debug)]
pub(super) struct Layout {
    size: [u32; 2],
    /// Width of the legend in pixels, or 0 if there is no room for it.
    legend: u32,
    bitmap_font: BitmapFont,
}

impl Layout {
    /// Lays out a picture of `size` pixels.
    pub(super) fn new(size: [u32; 2]) -> Self {
        let mut layout = Self {
            size,
            legend: 0,
            bitmap_font: BitmapFont::for_height(size[1]),
        };
        let width = layout.bitmap_font.character() * COLUMNS as u32 + 2 * layout.margin();
        let height = (BAR_LINES + TEXT_LINES) * layout.line();
        if 2 * width <= size[0] && height <= size[1] {
            layout.legend = width;
        }
        layout
    }

    /// Returns the size of the whole picture in pixels.
    pub(super) fn size(&self) -> [u32; 2] {
        self.size
    }

    /// Returns the size of the view of the scene in pixels.
    pub(super) fn view(&self) -> [u32; 2] {
        [self.size[0] - self.legend, self.size[1]]
    }

    pub(super) fn has_legend(&self) -> bool {
        self.legend > 0
    }

    fn line(&self) -> u32 {
        self.bitmap_font.line()
    }

    fn margin(&self) -> u32 {
        self.line()
    }
}

/// Draws the legend to the right of the view.
pub(super) fn draw(picture: &mut RgbImage, layout: &Layout, deviation: &Deviation<'_>) {
    let line = layout.line();
    let left = layout.view()[0] + layout.margin();
    let mut pen = Pen {
        picture,
        layout,
        left,
        y: line,
    };
    let name = |path: &std::path::Path| {
        let name = path.file_name().unwrap_or(path.as_os_str());
        name.to_string_lossy().into_owned()
    };
    pen.line(&format!("A {}", shortened(&name(&deviation.a.path), COLUMNS - 2)));
    pen.line(&format!("B {}", shortened(&name(&deviation.b.path), COLUMNS - 2)));
    pen.y += line / 2;
    pen.line("distance of A from B, m");
    let text_below = 8 * line;
    let marks = if deviation.tolerance.is_some() {
        3 * line
    } else {
        0
    };
    let end = layout.size[1] - text_below;
    let bar = end.saturating_sub(pen.y + marks).min(20 * line);
    pen.bar(deviation, bar);
    pen.y += line / 2;
    if let Some(tolerance) = deviation.tolerance {
        pen.line(&format!("tolerance ±{}", significant(tolerance)));
    }
    let statistics = &deviation.statistics;
    for (name, value) in [
        ("minimum", statistics.min.distance),
        ("maximum", statistics.max.distance),
        ("mean", statistics.mean),
        ("RMS", statistics.rms),
    ] {
        pen.line(&format!("{name:<10}{}", significant(value)));
    }
    if let Some(out) = statistics.out {
        pen.line(&format!("out       {}", percent(out.share())));
    }
}

struct Pen<'a> {
    picture: &'a mut RgbImage,
    layout: &'a Layout,
    left: u32,
    /// Top edge of the next line.
    y: u32,
}

impl Pen<'_> {
    fn line(&mut self, text: &str) {
        self.text(self.left, self.y, text);
        self.y += self.layout.line();
    }

    /// Draws the colour bar from the largest distance down to the smallest, with numbers. Also draws the
    /// colours of values outside the range, with the fraction of such values.
    fn bar(&mut self, deviation: &Deviation<'_>, height: u32) {
        let line = self.layout.line();
        let width = 2 * line;
        let range = deviation.range();
        let outside = |share: Option<f64>, color: [u8; 3], word: &str, pen: &mut Self| {
            let Some(share) = share else { return };
            pen.fill([pen.left, pen.y, width, line], |_| color);
            let text = format!("{word} {}", percent(share));
            pen.text(pen.left + width + line / 2, pen.y + 2, &text);
            pen.y += line;
        };
        let out = deviation.statistics.out;
        let above = out.map(|out| out.above);
        outside(above, deviation_colors::ABOVE, "above", self);
        self.y += line / 2;
        let top = self.y;
        let share = |y: u32| 1.0 - 2.0 * (y as f32 + 0.5) / height as f32;
        self.fill([self.left, top, width, height], |y| {
            bytes(deviation_colors::color(share(y - top)))
        });
        for step in 0..=4 {
            let y = top + (height - 1) * step / 4;
            let tick = self.left + width;
            self.fill([tick, y, line / 3, 1], |_| INK);
            let distance = range * (1.0 - 0.5 * f64::from(step));
            let sign = if distance > 0.0 { "+" } else { "" };
            let text = format!("{sign}{}", significant(distance));
            self.text(tick + line / 2, y.saturating_sub(line / 2 - 1), &text);
        }
        self.y = top + height + line / 2;
        let below = out.map(|out| out.below);
        outside(below, deviation_colors::BELOW, "below", self);
    }

    fn fill(&mut self, rectangle: [u32; 4], color: impl Fn(u32) -> [u8; 3]) {
        fill(self.picture, rectangle, |_, y| color(y));
    }

    fn text(&mut self, x: u32, y: u32, text: &str) {
        self.layout.bitmap_font.text(self.picture, x, y, text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_pictures_have_no_legend() {
        let wide = Layout::new([1280, 720]);
        assert!(wide.has_legend() && wide.view()[0] > 900, "{wide:?}");
        for size in [[1, 1], [320, 240], [400, 2000], [2000, 200]] {
            assert_eq!(Layout::new(size).view(), size);
        }
        for size in [[800, 600], [1920, 1080], [3840, 2160], [16_384, 16_384]] {
            assert!(Layout::new(size).has_legend(), "{size:?}");
        }
    }
}
