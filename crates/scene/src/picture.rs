//! Image files for comparison: PNG and JPEG in their encoding, OpenEXR and Radiance HDR as linear floats.

use super::{
    environment::{openexr, radiance},
    files::read_file,
    image,
};
use crate::{Error, Result, error::guarded, settings};
use ::image::ImageFormat::{Jpeg, Png};
use std::path::Path;

/// File name extensions of images.
pub const EXTENSIONS: [&str; 5] = ["png", "jpg", "jpeg", "exr", "hdr"];

/// First bytes of Radiance HDR, common to the two spellings of its signature.
const RADIANCE: &[u8] = b"#?";

/// Background of transparent pixels, sRGB-encoded.
const BACKDROP: f32 = 0.5;

/// An image as floats.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    /// Width and height in pixels.
    pub size: [u32; 2],
    /// Red, green and blue, row by row from the top.
    pub pixels: Vec<[f32; 3]>,
    /// True if pixels are linear radiance. Otherwise they are sRGB-encoded, from 0 to 1.
    pub is_linear: bool,
}

impl Picture {
    /// Converts sRGB-encoded 8-bit RGBA. Transparent pixels are composited over middle grey.
    pub fn from_rgba8(size: [u32; 2], rgba8: &[u8]) -> Self {
        let pixels = rgba8.as_chunks::<4>().0.iter();
        let pixels = pixels.map(|pixel| opaque(pixel.map(|byte| f32::from(byte) / 255.0)));
        Self {
            size,
            pixels: pixels.collect(),
            is_linear: false,
        }
    }

    /// Reads the picture at `path`. Transparent pixels of a PNG are composited over middle grey, and the
    /// alpha of an OpenEXR file is ignored.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] for a file that cannot be read, and [`Error::Limit`] for one larger than `limits`.
    /// [`Error::Scene`] for one that is broken, has more pixels than `limits` allow, or does not have the
    /// format of its extension.
    pub fn load(path: &Path, limits: &settings::Load) -> Result<Self> {
        let bytes = read_file(path, limits.max_file_bytes)?;
        let decoded = guarded(|| match is_linear(path) {
            true => linear(&bytes, limits.max_environment_pixels),
            false => encoded(&bytes, limits.max_image_pixels),
        });
        let broken = || Err("is broken: its decoder failed unexpectedly".into());
        decoded
            .unwrap_or_else(broken)
            .map_err(|what| Error::scene(path, what))
    }
}

/// Reads the OpenEXR file at `path` after checking that its headers need no more memory than `limits` allow.
///
/// # Errors
///
/// Any error of [`Picture::load`].
pub fn checked_openexr(path: &Path, limits: &settings::Load) -> Result<Vec<u8>> {
    let bytes = read_file(path, limits.max_file_bytes)?;
    let checked = match bytes.starts_with(openexr::MAGIC) {
        true => openexr::check_headers(&bytes, limits.max_environment_pixels).map(drop),
        false => Err("is not an OpenEXR file".into()),
    };
    checked.map_err(|what| Error::scene(path, what))?;
    Ok(bytes)
}

/// True if the path has an extension of an image.
pub fn is_picture(path: &Path) -> bool {
    extension(path).is_some_and(|extension| EXTENSIONS.contains(&extension.as_str()))
}

/// True if the path has an extension of an image of linear radiance.
pub fn is_linear(path: &Path) -> bool {
    extension(path).is_some_and(|extension| extension == "exr" || extension == "hdr")
}

fn extension(path: &Path) -> Option<String> {
    Some(path.extension()?.to_str()?.to_ascii_lowercase())
}

fn linear(bytes: &[u8], max_pixels: u64) -> Result<Picture, String> {
    let (size, pixels) = match bytes {
        bytes if bytes.starts_with(openexr::MAGIC) => openexr::rgb(bytes, max_pixels)?,
        bytes if bytes.starts_with(RADIANCE) => radiance::rgb(bytes, max_pixels)?,
        _ => return Err("is not OpenEXR or Radiance HDR, although its name says so".into()),
    };
    Ok(Picture {
        size,
        pixels,
        is_linear: true,
    })
}

fn encoded(bytes: &[u8], max_pixels: u64) -> Result<Picture, String> {
    let Ok(format @ (Png | Jpeg)) = ::image::guess_format(bytes) else {
        return Err("is not PNG or JPEG, although its name says so".into());
    };
    image::probe(bytes, max_pixels)?;
    let decoded = image::decoded(bytes, format)?;
    let size = [decoded.width(), decoded.height()];
    // Converts integers rather than floats, because the float conversion rounds grey and colour differently.
    let color = decoded.color();
    if color.bytes_per_pixel() == color.channel_count() {
        return Ok(Picture::from_rgba8(size, &decoded.into_rgba8()));
    }
    let decoded = decoded.into_rgba16();
    let pixels = decoded
        .pixels()
        .map(|pixel| pixel.0.map(|c| f32::from(c) / 65535.0));
    Ok(Picture {
        size,
        pixels: pixels.map(opaque).collect(),
        is_linear: false,
    })
}

/// Composites a pixel over the background.
fn opaque([r, g, b, a]: [f32; 4]) -> [f32; 3] {
    match a < 1.0 {
        true => [r, g, b].map(|c| a * c + (1.0 - a) * BACKDROP),
        false => [r, g, b],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::image::{ColorType, ExtendedColorType, ImageEncoder as _, codecs::png::PngEncoder};

    fn png(color: ColorType, bytes: &[u8]) -> Picture {
        let mut out = Vec::new();
        let channels = usize::from(color.bytes_per_pixel());
        let width = (bytes.len() / channels) as u32;
        PngEncoder::new(&mut out)
            .write_image(bytes, width, 1, ExtendedColorType::from(color))
            .unwrap();
        encoded(&out, 1 << 20).unwrap()
    }

    /// Every 8-bit value and every 8-bit alpha gives the same number in each kind of PNG.
    #[test]
    fn png_decoding_is_the_same_for_every_color_type() {
        for alpha in [255, 254, 128, 1, 0] {
            let all = |pixel: fn(u8, u8) -> Vec<u8>| -> Vec<u8> {
                (0..=255).flat_map(|value| pixel(value, alpha)).collect()
            };
            // A 16-bit value is 257 times the 8-bit one: the byte is repeated.
            let wide = |bytes: Vec<u8>| -> Vec<u8> { bytes.iter().flat_map(|b| [*b; 2]).collect() };
            let expected = png(ColorType::Rgba8, &all(|v, a| vec![v, v, v, a]));
            let mut others = vec![
                png(ColorType::La8, &all(|v, a| vec![v, a])),
                png(ColorType::La16, &wide(all(|v, a| vec![v, a]))),
                png(ColorType::Rgba16, &wide(all(|v, a| vec![v, v, v, a]))),
            ];
            if alpha == 255 {
                others.extend([
                    png(ColorType::L8, &all(|v, _| vec![v])),
                    png(ColorType::Rgb8, &all(|v, _| vec![v; 3])),
                    png(ColorType::L16, &wide(all(|v, _| vec![v]))),
                    png(ColorType::Rgb16, &wide(all(|v, _| vec![v; 3]))),
                ]);
            }
            for other in others {
                assert!(other == expected, "alpha {alpha}");
            }
        }
    }

    /// Sixteen bits keep precision that eight do not have.
    #[test]
    fn sixteen_bits_are_not_rounded_to_eight() {
        let pixel = png(ColorType::L16, &1000_u16.to_ne_bytes()).pixels[0];
        assert_eq!(pixel, [1000.0 / 65535.0; 3]);
    }
}
