//! DDS files: compressed blocks, and other formats that the crate `dds` decodes.

use super::{
    blocks,
    request::Request,
    texels::{Image, TexelFormat, full_levels, level_size},
};
use crate::files::one_line;
use ::dds::{
    Format, PixelInfo, Precision, Size,
    header::{Header, ParseOptions},
};

/// Magic bytes at the start of a file.
pub(crate) const MAGIC: &[u8] = b"DDS ";

/// Returns the header, the format, and the data after the header.
pub(crate) fn open(mut bytes: &[u8]) -> Result<(Header, Format, &[u8]), String> {
    let options = ParseOptions::new_permissive(Some(bytes.len() as u64));
    let fault = |e: &dyn std::fmt::Display| format!("is not a valid DDS file: {}", one_line(&e));
    let header = Header::read(&mut bytes, &options).map_err(|e| fault(&e))?;
    let format = Format::from_header(&header).map_err(|e| fault(&e))?;
    Ok((header, format, bytes))
}

/// Returns width and height, and the format that keeps all of the file's precision.
pub(super) fn probe(bytes: &[u8]) -> Result<([u32; 2], TexelFormat), String> {
    let (header, format, _) = open(bytes)?;
    let texel = match format.precision() {
        Precision::U8 => TexelFormat::Rgba8,
        _ => TexelFormat::Rgba16,
    };
    Ok(([header.width(), header.height()], texel))
}

/// Decodes a file whose size has been checked.
pub(super) fn decode(bytes: &[u8], request: &Request, notes: &mut Vec<String>) -> Result<Image, String> {
    let (header, format, mut rest) = open(bytes)?;
    let size = [header.width(), header.height()];
    let slices = header.depth().unwrap_or(1);
    let full = full_levels(size);
    // The mip levels of a volume are not the mip levels of its first slice.
    let count = if slices == 1 && header.mipmap_count().get() as usize == full {
        full
    } else {
        1
    };
    let mut levels = Vec::with_capacity(count);
    for level in 0..count {
        let [width, height] = level_size(size, level);
        let bytes = PixelInfo::from(format).surface_bytes(Size::new(width, height));
        let bytes = bytes.and_then(|bytes| usize::try_from(bytes).ok());
        let split = bytes.and_then(|bytes| rest.split_at_checked(bytes));
        let (stored, after) = split.ok_or_else(|| format!("ends within level {level}"))?;
        levels.push(stored);
        rest = after;
    }
    if slices > 1 || header.array_size() > 1 || header.is_cube_map() {
        notes.push("holds several layers, faces or slices; canopy shows the first".into());
    }
    let stored = match format {
        Format::BC1_UNORM => Some(TexelFormat::Bc1),
        Format::BC2_UNORM => Some(TexelFormat::Bc2),
        Format::BC3_UNORM => Some(TexelFormat::Bc3),
        Format::BC7_UNORM => Some(TexelFormat::Bc7),
        _ => None,
    };
    if let Some(stored) = stored {
        let levels = levels.into_iter().map(<[u8]>::to_vec).collect();
        return Ok(blocks::image(stored, size, levels, request));
    }
    let two_channels = matches!(format, Format::BC5_UNORM | Format::BC5_SNORM | Format::R8G8_UNORM);
    blocks::decoded(format, size, &levels, two_channels, request)
}
