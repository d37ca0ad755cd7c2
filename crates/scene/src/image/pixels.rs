//! PNG, JPEG and WebP files. Their gamma and colour profiles are ignored, as glTF 2.0 requires (3.8.2).

use super::{
    request::Request,
    texels::{Image, TexelFormat},
};
use crate::files::one_line;
use ::image::{ColorType, DynamicImage, ImageDecoder, ImageFormat, ImageReader, Limits};
use std::io::Cursor;

fn reader(bytes: &[u8], format: ImageFormat) -> ImageReader<Cursor<&[u8]>> {
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    reader.no_limits();
    reader
}

/// Returns width and height, and the format that keeps all of the file's precision.
pub(super) fn probe(bytes: &[u8], format: ImageFormat) -> Result<([u32; 2], TexelFormat), String> {
    let decoder = reader(bytes, format).into_decoder().map_err(|e| one_line(&e))?;
    let (width, height) = decoder.dimensions();
    let texel = match decoder.color_type() {
        ColorType::L16 | ColorType::La16 | ColorType::Rgb16 | ColorType::Rgba16 => TexelFormat::Rgba16,
        _ => TexelFormat::Rgba8,
    };
    Ok(([width, height], texel))
}

/// Decodes a file to a texture image. Its size must have been checked.
pub(super) fn decode(bytes: &[u8], format: ImageFormat, request: &Request) -> Result<Image, String> {
    let ([width, height], texel) = probe(bytes, format)?;
    let decoded = decoded(bytes, format)?;
    if texel == TexelFormat::Rgba16 && request.sixteen_bits() {
        let texels = decoded.into_rgba16();
        return Ok(Image {
            name: String::new(),
            width,
            height,
            format: TexelFormat::Rgba16,
            levels: vec![texels.iter().flat_map(|c| c.to_ne_bytes()).collect()],
        });
    }
    // Sixteen bits are rounded to the nearest eight-bit value.
    let texels = DynamicImage::into_rgba8(decoded);
    Ok(Image::from_rgba8("", width, height, texels.into_raw()))
}

/// Decodes a file. Its size must have been checked.
pub(crate) fn decoded(bytes: &[u8], format: ImageFormat) -> Result<DynamicImage, String> {
    let ([width, height], _) = probe(bytes, format)?;
    let mut reader = reader(bytes, format);
    let mut limits = Limits::default();
    limits.max_image_width = Some(width);
    limits.max_image_height = Some(height);
    // Sixteen bits per channel, doubled for the decoder's buffers, plus room for its tables.
    limits.max_alloc = Some(u64::from(width) * u64::from(height) * 16 + (64 << 20));
    reader.limits(limits);
    reader.decode().map_err(|e| one_line(&e))
}
