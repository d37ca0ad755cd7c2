//! OpenEXR (.exr): reads the display window of the first part that has red, green and blue, without alpha.

use super::{
    chromaticities,
    image::{EnvironmentImage, Shape, check_size, image, odd_sides},
    texels::{Rows, latitude_weight},
};
use crate::files::one_line;
use ::image::{ImageDecoder as _, codecs::openexr::OpenExrDecoder};
use std::io::Cursor;

/// Magic bytes at the start of a file.
pub(crate) const MAGIC: &[u8] = b"\x76\x2f\x31\x01";

/// Maximum size of all headers, in bytes.
const LONGEST_HEADERS: usize = 1 << 24;

/// Block size in bytes that is always allowed: 256 lines of 16,384 pixels with four floats each.
const SMALL_BLOCK: u64 = 1 << 26;

/// Maximum size of larger blocks, per byte of the file. It is the ratio at which ZIP compresses zeros.
const MAX_EXPANSION: u64 = 1024;

/// Decodes the image.
pub(super) fn decode(bytes: &[u8], max_pixels: u64, most: u32) -> Result<EnvironmentImage, String> {
    let (size, texels) = rgb(bytes, max_pixels)?;
    let rows = Rows::whole(size, most, texels, |y| latitude_weight(y, size[1]));
    let mut image = image(Shape::Equirectangular, rows);
    image.warnings.extend(odd_sides(size));
    Ok(image)
}

/// Returns width, height, and red, green and blue of each pixel.
pub(crate) fn rgb(bytes: &[u8], max_pixels: u64) -> Result<([u32; 2], Vec<[f32; 3]>), String> {
    let primaries = check_headers(bytes, max_pixels)?;
    let to_rec709 = primaries.map_or(Ok(None), |from| {
        chromaticities::to_rec709(&from.map(|xy| xy.map(f64::from)))
    })?;
    let decoder =
        OpenExrDecoder::with_alpha_preference(Cursor::new(bytes), Some(false)).map_err(|e| one_line(&e))?;
    let size: [u32; 2] = decoder.dimensions().into();
    check_size(size, 1, max_pixels)?;
    let [width, height] = size;
    let mut texels = vec![[0.0_f32; 3]; width as usize * height as usize];
    decoder
        .read_image(bytemuck::cast_slice_mut(&mut texels))
        .map_err(|e| one_line(&e))?;
    if let Some(matrix) = &to_rec709 {
        chromaticities::convert(matrix, &mut texels);
    }
    Ok((size, texels))
}

/// Fails if a header of any part needs more memory than is allowed. The decoder allocates complete blocks
/// before it reads them, and a block may be as large as the data window. Returns the chromaticities, which
/// apply to all parts. (OpenEXR file layout, "Header"; little-endian.)
pub(crate) fn check_headers(bytes: &[u8], max_pixels: u64) -> Result<Option<[[f32; 2]; 4]>, String> {
    let mut headers = Headers(&bytes[..bytes.len().min(LONGEST_HEADERS)]);
    headers.take(4)?;
    let several = headers.int()? & 0x1000 != 0;
    let from_bytes = MAX_EXPANSION.saturating_mul(bytes.len() as u64);
    let small = max_pixels.saturating_mul(16).min(SMALL_BLOCK);
    let max_block = max_pixels.saturating_mul(4).min(from_bytes).max(small);
    let mut chromaticities = None;
    loop {
        // If an attribute occurs twice, the larger value counts.
        let (mut windows, mut lines, mut tile, mut texel_bytes) = ([[0; 2]; 2], 1, 0, 0);
        loop {
            let name = headers.text()?;
            if name.is_empty() {
                break;
            }
            headers.text()?;
            let length = u32::try_from(headers.int()?).map_err(|_| Headers::FAULT)?;
            let mut value = Headers(headers.take(length as usize)?);
            match name {
                b"dataWindow" => windows[0] = larger(windows[0], value.sides()?),
                b"displayWindow" => windows[1] = larger(windows[1], value.sides()?),
                b"compression" => lines = lines_of_block(value.take(1)?[0]).max(lines),
                b"tiles" => {
                    let [across, down] = [value.int()?, value.int()?].map(|side| u64::from(side as u32));
                    tile = across.saturating_mul(down).max(tile);
                }
                b"channels" => texel_bytes = (value.channels()? * 4).max(texel_bytes),
                b"chromaticities" if chromaticities.is_none() => {
                    chromaticities = Some(value.floats()?);
                }
                _ => {}
            }
        }
        for window in windows {
            check_size(window, 1, max_pixels)?;
        }
        let [[width, height], _] = windows.map(|window| window.map(u64::from));
        // Blocks count in full, even if the image fills little of them. Tiles always count, because other
        // fields may also declare the part as tiled.
        let block = (width * lines).max(tile).saturating_mul(texel_bytes);
        if block > max_block {
            return Err(format!(
                "has blocks of {block} bytes for {width}×{height} pixels; canopy reads at most {max_block}"
            ));
        }
        // An empty name in place of another part ends the headers.
        if !several || headers.0.first() == Some(&0) {
            return Ok(chromaticities);
        }
    }
}

/// Returns the number of lines per block of a compression method.
fn lines_of_block(compression: u8) -> u64 {
    match compression {
        0..=2 => 1,
        3 | 5 => 16,
        4 | 6..=8 => 32,
        _ => 256,
    }
}

fn larger(a: [u32; 2], b: [u32; 2]) -> [u32; 2] {
    [a[0].max(b[0]), a[1].max(b[1])]
}

/// Unread part of the headers, or of an attribute in them.
struct Headers<'a>(&'a [u8]);

impl<'a> Headers<'a> {
    const FAULT: &'static str = "has a header that is broken or does not end";

    fn take(&mut self, count: usize) -> Result<&'a [u8], &'static str> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(Self::FAULT)?;
        self.0 = rest;
        Ok(taken)
    }

    fn int(&mut self) -> Result<i32, &'static str> {
        let bytes = self.take(4)?.try_into().map_err(|_| Self::FAULT)?;
        Ok(i32::from_le_bytes(bytes))
    }

    /// Reads text up to a NUL.
    fn text(&mut self) -> Result<&'a [u8], &'static str> {
        let length = self.0.iter().position(|byte| *byte == 0).ok_or(Self::FAULT)?;
        let text = self.take(length)?;
        self.take(1)?;
        Ok(text)
    }

    /// Reads the width and height of a box. Both corners are inclusive and may be in either order.
    fn sides(&mut self) -> Result<[u32; 2], &'static str> {
        let [left, top, right, bottom] = [self.int()?, self.int()?, self.int()?, self.int()?];
        let side = |from: i32, to: i32| from.abs_diff(to).saturating_add(1);
        Ok([side(left, right), side(top, bottom)])
    }

    /// Reads pairs of floats.
    fn floats<const N: usize>(&mut self) -> Result<[[f32; 2]; N], &'static str> {
        let mut pairs = [[0.0; 2]; N];
        for float in pairs.as_flattened_mut() {
            *float = f32::from_bits(self.int()? as u32);
        }
        Ok(pairs)
    }

    /// Counts the channels in a list. Each has a name, a type, flags and two sampling distances.
    fn channels(&mut self) -> Result<u64, &'static str> {
        let mut count = 0;
        while !self.text()?.is_empty() {
            self.take(16)?;
            count += 1;
        }
        Ok(count)
    }
}
