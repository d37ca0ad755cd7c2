//! Picture of a comparison: A, B and the error map side by side, each with a caption.

use super::{
    result::Comparison,
    side::{Cost, Drawn},
};
use crate::{
    Result,
    cli::bitmap_font::{BitmapFont, INK, fill, shortened},
    output::{
        magma,
        numbers::significant,
        picture::{self, bytes},
        picture_error::Metric,
    },
    render::{Channel, FloatImage},
    scene::picture::Picture,
};
use image::{Rgb, RgbImage};

const BACKGROUND: [u8; 3] = [255; 3];
/// Characters per line that fit each panel.
const COLUMNS: u32 = 27;
/// Lines per caption.
const LINES: u32 = 2;

/// Encodes the sheet, or only the error map, as PNG.
pub(super) fn png(comparison: &Comparison, map_only: bool) -> Result<Vec<u8>> {
    let map = map(comparison);
    let image = match map_only {
        true => map,
        false => sheet(comparison, map),
    };
    let (width, height) = image.dimensions();
    let rgba = image::DynamicImage::from(image).into_rgba8();
    picture::png(width, height, rgba.into_raw())
}

/// Returns the error of the brightest colour: 1 for FLIP, otherwise the largest error.
fn range(comparison: &Comparison) -> f32 {
    let errors = comparison.error.pixels.iter().copied();
    let largest = errors.filter(|error| error.is_finite()).fold(0.0, f32::max);
    match comparison.metric {
        Metric::Rmse if largest > 0.0 => largest,
        _ => 1.0,
    }
}

fn map(comparison: &Comparison) -> RgbImage {
    let [width, height] = comparison.a.picture.size;
    let range = range(comparison);
    RgbImage::from_fn(width, height, |x, y| {
        let error = comparison.error.pixels[(y * width + x) as usize];
        Rgb(bytes(magma::color(error / range)))
    })
}

fn sheet(comparison: &Comparison, map: RgbImage) -> RgbImage {
    let [width, height] = comparison.a.picture.size;
    let bitmap_font = BitmapFont::for_height(height);
    let line = bitmap_font.line();
    let panel = width.max(COLUMNS * bitmap_font.character());
    let top = (LINES + 1) * line;
    let below = top + height + line / 2;
    let mut sheet = RgbImage::from_pixel(3 * panel + 4 * line, below + 5 * line / 2, Rgb(BACKGROUND));
    let most = (panel / bitmap_font.character()) as usize;
    let shown = [shown(&comparison.a.picture), shown(&comparison.b.picture), map];
    let captions = [
        caption("A", &comparison.a),
        caption("B", &comparison.b),
        [
            comparison.title(),
            format!(
                "{} {}, max {}",
                comparison.mean_name(),
                significant(comparison.error.mean),
                significant(comparison.error.max.into())
            ),
        ],
    ];
    let mut left = line;
    for (picture, caption) in shown.iter().zip(captions) {
        for (text, row) in caption.iter().zip(0..) {
            let y = line / 2 + row * line;
            bitmap_font.text(&mut sheet, left, y, &shortened(text, most));
        }
        image::imageops::replace(&mut sheet, picture, left.into(), top.into());
        left += panel + line;
    }
    let left = left - panel - line;
    legend(&mut sheet, &bitmap_font, [left, below, panel], range(comparison));
    sheet
}

/// Draws the colour bar with its error values. `left`, `top` and `width` are in pixels.
fn legend(sheet: &mut RgbImage, bitmap_font: &BitmapFont, [left, top, width]: [u32; 3], range: f32) {
    let line = bitmap_font.line();
    fill(sheet, [left, top, width, line], |x, _| {
        bytes(magma::color((x - left) as f32 / (width - 1) as f32))
    });
    for step in 0..=2 {
        let text = significant(f64::from(range) * 0.5 * f64::from(step));
        let x = left + (width - 1) * step / 2;
        fill(sheet, [x, top + line, 1, line / 4], |_, _| INK);
        // Centred below its tick, within the bar.
        let own = text.chars().count() as u32 * bitmap_font.character();
        let x = (x.saturating_sub(own / 2)).clamp(left, left + width - own);
        bitmap_font.text(sheet, x, top + line + line / 4, &text);
    }
}

/// Formats the name and the cost of a side.
fn caption(letter: &str, side: &Drawn) -> [String; 2] {
    let name = match side.name.with.is_empty() {
        true => {
            let file = side.name.file.as_deref();
            let name = file.map(|file| file.file_name().unwrap_or(file.as_os_str()));
            name.map_or("built-in scene".into(), |name| {
                name.to_string_lossy().into_owned()
            })
        }
        false => side.name.with.join(" "),
    };
    let cost = side.cost.as_ref().map(Cost::text);
    [format!("{letter} {name}"), cost.unwrap_or_default()]
}

/// Converts a picture to eight bits per channel. Linear radiance is clamped.
fn shown(picture: &Picture) -> RgbImage {
    let [width, height] = picture.size;
    let pixels: Vec<u8> = match picture.is_linear {
        false => picture
            .pixels
            .iter()
            .flat_map(|pixel| bytes(glam::Vec3::from_array(*pixel)))
            .collect(),
        true => {
            let texels = picture.pixels.iter().map(|[r, g, b]| [*r, *g, *b, 1.0]);
            let image = FloatImage {
                width,
                height,
                texels: texels.collect(),
            };
            let rgba = picture::viewable(Channel::Lit, &image);
            rgba.as_chunks::<4>()
                .0
                .iter()
                .flat_map(|[r, g, b, _]| [*r, *g, *b])
                .collect()
        }
    };
    RgbImage::from_raw(width, height, pixels).unwrap_or_default()
}
