//! Decoding of compressed blocks to texels, for renderers that do not support them and loaders that read
//! texels.

use super::{
    request::Request,
    texels::{Image, TexelFormat, fill_blue, level_size},
};
use crate::files::one_line;
use ::dds::{ColorFormat, DecodeOptions, Format, ImageViewMut, Size};
use std::borrow::Cow;

impl Image {
    /// Returns the finest mip level with eight bits per channel, converted from any format.
    pub fn rgba8(&self) -> Cow<'_, [u8]> {
        let finest = self.levels.first().map_or(&[][..], Vec::as_slice);
        match self.format {
            TexelFormat::Rgba8 => Cow::Borrowed(finest),
            TexelFormat::Rgba16 => finest
                .chunks_exact(2)
                .map(|c| rounded(u16::from_ne_bytes([c[0], c[1]])))
                .collect(),
            _ => Cow::Owned(rgba8(self.format, [self.width, self.height], finest)),
        }
    }
}

/// Rounds a 16-bit value to 8 bits.
fn rounded(value: u16) -> u8 {
    ((u32::from(value) + 128) / 257) as u8
}

/// Decodes a mip level of `format` to eight bits per channel. Returns an empty list if the level is too
/// short.
pub(super) fn rgba8(format: TexelFormat, size: [u32; 2], level: &[u8]) -> Vec<u8> {
    let format = match format {
        TexelFormat::Rgba8 | TexelFormat::Rgba16 => Format::R8G8B8A8_UNORM,
        TexelFormat::Bc1 => Format::BC1_UNORM,
        TexelFormat::Bc2 => Format::BC2_UNORM,
        TexelFormat::Bc3 => Format::BC3_UNORM,
        TexelFormat::Bc7 => Format::BC7_UNORM,
    };
    // A level of the right length always decodes, because every block is valid in these formats.
    surface(format, size, level, ColorFormat::RGBA_U8).unwrap_or_default()
}

/// Decodes a surface to `color`, which must have four channels.
pub(crate) fn surface(
    format: Format,
    [width, height]: [u32; 2],
    mut bytes: &[u8],
    color: ColorFormat,
) -> Result<Vec<u8>, String> {
    let mut texels = vec![0; width as usize * height as usize * usize::from(color.bytes_per_pixel())];
    let view = ImageViewMut::new(&mut texels, Size::new(width, height), color);
    let view = view.ok_or("has a size that its decoder does not support")?;
    ::dds::decode(&mut bytes, view, format, &DecodeOptions::default()).map_err(|e| one_line(&e))?;
    Ok(texels)
}

/// Builds an image from stored mip levels of blocks, which are decoded if the request does not support them.
pub(super) fn image(format: TexelFormat, size: [u32; 2], levels: Vec<Vec<u8>>, request: &Request) -> Image {
    let [width, height] = size;
    let stored = Image {
        name: String::new(),
        width,
        height,
        format,
        levels,
    };
    if request.blocks(size, stored.levels.len()) {
        stored
    } else {
        texels(&stored)
    }
}

/// Decodes every mip level to eight bits per channel.
pub(super) fn texels(image: &Image) -> Image {
    let levels = image.levels.iter().enumerate();
    let decode =
        |(level, bytes): (usize, &Vec<u8>)| rgba8(image.format, level_size(image.size(), level), bytes);
    Image {
        name: image.name.clone(),
        format: TexelFormat::Rgba8,
        levels: levels.map(decode).collect(),
        ..*image
    }
}

/// Builds an image from mip levels in a format that is always decoded. If `two_channels` is set, blue is
/// reconstructed.
pub(super) fn decoded(
    format: Format,
    [width, height]: [u32; 2],
    levels: &[&[u8]],
    two_channels: bool,
    request: &Request,
) -> Result<Image, String> {
    let sixteen = request.sixteen_bits() && format.precision() != ::dds::Precision::U8;
    let (texel, color) = if sixteen {
        (TexelFormat::Rgba16, ColorFormat::RGBA_U16)
    } else {
        (TexelFormat::Rgba8, ColorFormat::RGBA_U8)
    };
    let decode = |(level, bytes): (usize, &&[u8])| {
        let mut texels = surface(format, level_size([width, height], level), bytes, color)?;
        if two_channels && request.uses.normals && !sixteen {
            fill_blue(&mut texels);
        }
        Ok(texels)
    };
    let levels: Result<Vec<_>, String> = levels.iter().enumerate().map(decode).collect();
    Ok(Image {
        name: String::new(),
        width,
        height,
        format: texel,
        levels: levels?,
    })
}
