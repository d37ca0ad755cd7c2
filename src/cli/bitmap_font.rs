//! Text and filled rectangles in pictures.

use image::{Rgb, RgbImage};
use noto_sans_mono_bitmap::{FontWeight, RasterHeight, get_raster, get_raster_width};

/// Text colour.
pub(super) const INK: [u8; 3] = [32, 32, 32];

/// Bitmap font of one size.
#[derive(Debug)]
pub(super) struct BitmapFont {
    font: RasterHeight,
}

impl BitmapFont {
    /// Chooses a size for a picture of `height` pixels.
    pub(super) fn for_height(height: u32) -> Self {
        let font = match height {
            0..800 => RasterHeight::Size16,
            800..1200 => RasterHeight::Size20,
            1200..1600 => RasterHeight::Size24,
            _ => RasterHeight::Size32,
        };
        Self { font }
    }

    /// Returns the width of a character in pixels.
    pub(super) fn character(&self) -> u32 {
        get_raster_width(FontWeight::Regular, self.font) as u32
    }

    /// Returns the line height in pixels.
    pub(super) fn line(&self) -> u32 {
        self.font.val() as u32 + 4
    }

    /// Draws text on the light background. Characters that the font lacks become question marks.
    pub(super) fn text(&self, picture: &mut RgbImage, x: u32, y: u32, text: &str) {
        let raster = |c| get_raster(c, FontWeight::Regular, self.font);
        for (character, column) in text.chars().zip(0..) {
            let Some(glyph) = raster(character).or_else(|| raster('?')) else {
                continue;
            };
            let left = x + column * self.character();
            for (row, dy) in glyph.rows().zip(0..) {
                for (cover, dx) in row.iter().zip(0..) {
                    let Some(pixel) = picture.get_pixel_mut_checked(left + dx, y + dy) else {
                        continue;
                    };
                    for (channel, ink) in pixel.0.iter_mut().zip(INK) {
                        let (old, ink, cover) = (u32::from(*channel), u32::from(ink), u32::from(*cover));
                        *channel = ((old * (255 - cover) + ink * cover) / 255) as u8;
                    }
                }
            }
        }
    }
}

/// Fills a rectangle given by its corner, width and height, clipped to the picture. `color` receives the
/// column and row in the picture.
pub(super) fn fill(
    picture: &mut RgbImage,
    [x, y, width, height]: [u32; 4],
    color: impl Fn(u32, u32) -> [u8; 3],
) {
    for row in y..(y + height).min(picture.height()) {
        for column in x..(x + width).min(picture.width()) {
            picture.put_pixel(column, row, Rgb(color(column, row)));
        }
    }
}

/// Shortens a text to at most `most` characters by leaving out its middle. `most` must be at least 13.
pub(super) fn shortened(text: &str, most: usize) -> String {
    let characters: Vec<char> = text.chars().collect();
    if characters.len() <= most {
        return text.to_owned();
    }
    let tail = 10;
    let head: String = characters[..most - tail - 2].iter().collect();
    let end: String = characters[characters.len() - tail..].iter().collect();
    format!("{head}..{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shortened_names_keep_both_ends() {
        assert_eq!(shortened("bunny.obj", 25), "bunny.obj");
        let long = shortened("a-very-long-name-of-a-scanned-part-rev-7.obj", 25);
        assert_eq!(long.chars().count(), 25);
        assert!(
            long.starts_with("a-very") && long.ends_with("rev-7.obj"),
            "{long}"
        );
    }
}
