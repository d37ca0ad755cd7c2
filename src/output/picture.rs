//! Picture files. OpenEXR stores floats unchanged. PNG and JPEG store eight bits per channel, and
//! [`viewable`] maps channels such as depths to colours for them.

use super::{deviation_colors, embedded, intersection_colors, magma};
use crate::{
    Error, Result,
    render::{Channel, FloatImage, present::tonemap::MOTION_SHOWN},
    scene::srgb,
};

use exr::{
    image::{SpecificChannels, write::WritableImage as _},
    meta::attribute::{AttributeValue, Text},
};
use glam::Vec3;
use image::ImageFormat;
use std::io::Cursor;

/// Encodes sRGB-encoded RGBA with eight bits per channel as PNG.
///
/// # Errors
///
/// [`Error::Encode`] if the number of bytes does not match the size.
pub fn png(width: u32, height: u32, rgba8: Vec<u8>) -> Result<Vec<u8>> {
    let picture = image::RgbaImage::from_raw(width, height, rgba8);
    encode(picture.map(Into::into), ImageFormat::Png)
}

/// Divides the colours of RGBA pixels by their alpha. They are sRGB-encoded and were premultiplied in linear
/// space. PNG stores straight alpha.
pub fn unmultiply(rgba8: &mut [u8]) {
    for pixel in rgba8.as_chunks_mut::<4>().0 {
        let [.., alpha] = *pixel;
        if alpha == 0 || alpha == 255 {
            continue;
        }
        let [r, g, b, a] = pixel.map(|byte| f32::from(byte) / 255.0);
        let own = srgb(Vec3::new(r, g, b).map(srgb::decode) / a)
            .to_array()
            .map(byte);
        pixel[..3].copy_from_slice(&own);
    }
}

/// Encodes sRGB-encoded RGBA with eight bits per channel as JPEG, without the alpha channel. `quality` is
/// from 1 to 100.
///
/// # Errors
///
/// [`Error::Encode`] if the number of bytes does not match the size, or if the size is too large for JPEG.
pub fn jpeg(width: u32, height: u32, rgba8: Vec<u8>, quality: u32) -> Result<Vec<u8>> {
    let picture = image::RgbaImage::from_raw(width, height, rgba8).ok_or_else(too_few)?;
    let rgb = image::DynamicImage::from(picture).into_rgb8();
    let mut bytes = Vec::new();
    let quality = quality.clamp(1, 100) as u8;
    let encoder = image::codecs::jpeg::JpegEncoder::new_with_quality(&mut bytes, quality);
    rgb.write_with_encoder(encoder).map_err(|e| unencodable(&e))?;
    Ok(bytes)
}

/// Encodes floats as OpenEXR with the channels R, G, B and A, unchanged.
///
/// # Errors
///
/// [`Error::Encode`] if the number of texels does not match the size.
pub fn exr(image: &FloatImage) -> Result<Vec<u8>> {
    exr_with(image, None)
}

/// Encodes floats like [`exr()`], with a text as an attribute. See [`embedded`].
///
/// # Errors
///
/// Any error of [`exr()`].
pub fn exr_with(image: &FloatImage, text: Option<&str>) -> Result<Vec<u8>> {
    let (width, height) = (image.width as usize, image.height as usize);
    if width * height != image.texels.len() {
        return Err(too_few());
    }
    let texel = |at: exr::math::Vec2<usize>| {
        let [r, g, b, a] = image.texels[at.1 * width + at.0];
        (r, g, b, a)
    };
    let mut picture = exr::image::Image::from_channels((width, height), SpecificChannels::rgba(texel));
    // Cannot fail, because the text is ASCII. Provenance escapes all other characters.
    if let Some(text) = text.and_then(Text::new_or_none) {
        let attributes = &mut picture.layer_data.attributes.other;
        let keyword = Text::new_or_none(embedded::KEYWORD).unwrap_or_default();
        attributes.insert(keyword, AttributeValue::Text(text));
    }
    let mut bytes = Cursor::new(Vec::new());
    picture
        .write()
        .to_buffered(&mut bytes)
        .map_err(|e| unencodable(&e))?;
    Ok(bytes.into_inner())
}

fn encode(picture: Option<image::DynamicImage>, format: ImageFormat) -> Result<Vec<u8>> {
    let picture = picture.ok_or_else(too_few)?;
    let mut bytes = Cursor::new(Vec::new());
    picture
        .write_to(&mut bytes, format)
        .map_err(|e| unencodable(&e))?;
    Ok(bytes.into_inner())
}

fn too_few() -> Error {
    unencodable(&"too few pixels came back")
}

fn unencodable(why: &dyn std::fmt::Display) -> Error {
    Error::Encode(format!("the picture cannot be encoded: {why}"))
}

/// Converts a channel to RGBA with eight bits per channel. Pixels without a surface are transparent.
///
/// Positions are scaled to their bounds, depths run from white (near) to black (far), and a normal n is
/// stored as 0.5 n + 0.5. Colours are sRGB-encoded, and each index has its own colour. Costs use the map of
/// [`cost`], for nodes and triangles together up to 256. Deviations and intersections have their own colours.
/// All other channels are grey.
pub fn viewable(channel: Channel, image: &FloatImage) -> Vec<u8> {
    let covered = || image.texels.iter().filter(|t| t[3] != 0.0);
    let vector = |t: &[f32; 4]| Vec3::new(t[0], t[1], t[2]);
    let mut low = Vec3::INFINITY;
    let mut high = Vec3::NEG_INFINITY;
    for value in covered().map(vector).filter(|v| v.is_finite()) {
        low = low.min(value);
        high = high.max(value);
    }
    let span = (high - low).max(Vec3::splat(f32::MIN_POSITIVE));
    let color = |texel: &[f32; 4]| {
        let value = vector(texel);
        match channel {
            Channel::Position => (value - low) / span,
            Channel::Normal => value * 0.5 + 0.5,
            Channel::Lit
            | Channel::Albedo
            | Channel::Emissive
            | Channel::Bounced
            | Channel::Reflection
            | Channel::Scattered => srgb(value),
            Channel::Depth => Vec3::splat(1.0 - (value.x - low.x) / span.x),
            Channel::Mesh | Channel::Material => hashed(value.x),
            Channel::Cost => magma::color((value.x + value.y) / 256.0),
            Channel::Deviation => deviation_colors::color(value.y),
            Channel::Intersections => intersection_colors::color(value.x > 0.0, value.y),
            Channel::Motion => value / (2.0 * MOTION_SHOWN) + 0.5,
            Channel::Roughness
            | Channel::Metallic
            | Channel::Occlusion
            | Channel::Shadow
            | Channel::Ambient
            | Channel::Lab
            | Channel::Transmittance
            | Channel::ReflectionTiles => value,
            // Near hits are dark. A distance of 1 m has half the brightness of an infinite distance.
            Channel::ReflectionDistance => value / (1.0 + value),
        }
    };
    let pixel = |texel: &[f32; 4]| {
        if texel[3] == 0.0 {
            return [0; 4];
        }
        let [r, g, b] = bytes(color(texel));
        [r, g, b, 255]
    };
    image.texels.iter().flat_map(pixel).collect()
}

/// Converts the channel `cost` to RGBA with eight bits per channel, using the map [`magma`]. Pixels without a
/// surface are transparent. The brightest colour represents `range`. If `range` is 0, it represents the 99th
/// percentile of the pixels, but at least 1. `weights` are the weights of nodes and triangles. Also returns
/// the value of the brightest colour.
pub fn cost(image: &FloatImage, weights: [f32; 2], range: f32) -> (Vec<u8>, f32) {
    let count = |texel: &[f32; 4]| texel[0] * weights[0] + texel[1] * weights[1];
    let range = match range {
        0.0 => {
            let seen = image.texels.iter().filter(|texel| texel[3] != 0.0);
            let mut counts: Vec<f32> = seen.map(count).collect();
            counts.sort_unstable_by(f32::total_cmp);
            let place = counts.len().saturating_sub(counts.len() / 100 + 1);
            counts.get(place).copied().unwrap_or(0.0).max(1.0)
        }
        range => range,
    };
    let pixel = |texel: &[f32; 4]| {
        if texel[3] == 0.0 {
            return [0; 4];
        }
        let [r, g, b] = bytes(magma::color(count(texel) / range));
        [r, g, b, 255]
    };
    (image.texels.iter().flat_map(pixel).collect(), range)
}

/// Converts a colour from 0 to 1 to eight bits per channel.
pub fn bytes(color: Vec3) -> [u8; 3] {
    color.to_array().map(byte)
}

/// Converts a value from 0 to 1 to a byte. NaN becomes 0.
fn byte(value: f32) -> u8 {
    (value.clamp(0.0, 1.0) * 255.0).round() as u8
}

fn srgb(linear: Vec3) -> Vec3 {
    linear.clamp(Vec3::ZERO, Vec3::ONE).map(srgb::encode)
}

/// Returns the pseudorandom colour of an index, like the tonemap pass.
fn hashed(id: f32) -> Vec3 {
    let h = (id as u32).wrapping_add(1).wrapping_mul(2_654_435_761);
    let channel = |shift: u32| (h >> shift & 255) as f32 / 255.0;
    Vec3::new(channel(0), channel(8), channel(16)) * 0.75 + 0.25
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(channel: Channel, texels: &[[f32; 4]]) -> Vec<u8> {
        let image = FloatImage {
            width: texels.len() as u32,
            height: 1,
            texels: texels.to_vec(),
        };
        viewable(channel, &image)
    }

    #[test]
    fn channels_are_converted_to_viewable_colours() {
        let nothing = [f32::NAN, f32::NAN, f32::NAN, 0.0];
        assert_eq!(
            one(
                Channel::Position,
                &[[-5.0, 1.0, 2.0, 1.0], [5.0, 1.0, 4.0, 1.0], nothing]
            ),
            [0, 0, 0, 255, 255, 0, 255, 255, 0, 0, 0, 0]
        );
        assert_eq!(one(Channel::Normal, &[[0.0, 1.0, -1.0, 1.0]]), [128, 255, 0, 255]);
        assert_eq!(
            one(Channel::Depth, &[[1.0, 1.0, 1.0, 1.0], [9.0, 9.0, 9.0, 1.0]]),
            [255, 255, 255, 255, 0, 0, 0, 255]
        );
        assert_eq!(one(Channel::Albedo, &[[0.5, 0.0, 2.0, 1.0]]), [188, 0, 255, 255]);
        let ids = one(Channel::Mesh, &[[0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 1.0]]);
        assert_ne!(ids[..4], ids[4..]);
        let heat = one(Channel::Cost, &[[0.0, 0.0, 0.0, 1.0], [200.0, 56.0, 0.0, 1.0]]);
        assert_eq!(
            (&heat[..3], &heat[4..7]),
            (&magma::MAGMA[0][..], &magma::MAGMA[16][..])
        );
    }

    /// The automatic range is exceeded by at most a hundredth of the pixels.
    #[test]
    fn the_automatic_cost_range_is_the_99th_percentile() {
        let texels = (0..200).map(|i| [i as f32, 1000.0, 0.0, 1.0]);
        let image = FloatImage {
            width: 201,
            height: 1,
            texels: texels.chain([[9999.0, 0.0, 0.0, 0.0]]).collect(),
        };
        let range = |weights, range| cost(&image, weights, range).1;
        assert_eq!(range([1.0, 0.0], 0.0), 197.0);
        assert_eq!(range([0.0, 1.0], 0.0), 1000.0);
        assert_eq!(range([1.0, 1.0], 0.0), 1197.0);
        assert_eq!(range([1.0, 1.0], 50.0), 50.0);
        let pixels = cost(&image, [1.0, 0.0], 50.0).0;
        assert_eq!(pixels[..3], magma::MAGMA[0]);
        assert_eq!(pixels[4 * 50..4 * 50 + 3], magma::MAGMA[16]);
        assert_eq!(pixels[4 * 200..], [0; 4], "nothing is seen");
    }

    #[test]
    fn colours_are_divided_by_alpha_in_linear_light() {
        // sRGB 188 is half the linear value of white.
        let mut pixels = [188, 0, 188, 128, 10, 20, 30, 255, 0, 0, 0, 0];
        unmultiply(&mut pixels);
        assert_eq!(pixels[3..], [128, 10, 20, 30, 255, 0, 0, 0, 0]);
        assert!(
            pixels[0] >= 254 && pixels[1] == 0 && pixels[2] >= 254,
            "{pixels:?}"
        );
    }

    #[test]
    fn written_image_files_hold_the_given_pixels() {
        let image = FloatImage {
            width: 2,
            height: 1,
            texels: vec![[1.5, -2.0, 0.25, 1.0], [f32::NAN, 0.0, 0.0, 0.0]],
        };
        let read = |bytes: &[u8]| image::load_from_memory(bytes).unwrap();
        let floats = read(&exr(&image).unwrap()).into_rgba32f();
        assert_eq!(floats.get_pixel(0, 0).0, [1.5, -2.0, 0.25, 1.0]);
        assert!(floats.get_pixel(1, 0).0[0].is_nan());
        let bytes = png(1, 1, vec![1, 2, 3, 4]).unwrap();
        assert_eq!(read(&bytes).into_rgba8().into_raw(), [1, 2, 3, 4]);
        assert!(png(2, 2, vec![0; 3]).is_err());
        let grey: Vec<u8> = [120, 130, 140, 0].repeat(64);
        let small = jpeg(8, 8, grey.clone(), 90).unwrap();
        let pixel = read(&small).into_rgb8().get_pixel(4, 4).0;
        let near = pixel.iter().zip([120, 130, 140]);
        assert!(near.clone().all(|(a, b)| a.abs_diff(b) < 4), "{pixel:?}");
        assert!(jpeg(8, 9, grey, 90).is_err());
    }
}
