//! Radiance HDR (.hdr, .pic): flat, and with both kinds of run lengths.

use super::{
    image::{EnvironmentImage, Shape, check_size, image, odd_sides},
    texels::{Rows, latitude_weight},
};
use crate::scene::files::one_line;
use ::image::{ImageDecoder as _, codecs::hdr::HdrDecoder};
use std::io::Read as _;

/// The longest header, in bytes: the decoder keeps all of its lines.
const LONGEST_HEADER: usize = 1 << 16;

/// Decodes the picture row by row, so that only one row is in memory as floats.
pub(super) fn decode(bytes: &[u8], max_pixels: u64, most: u32) -> Result<EnvironmentImage, String> {
    let rows = |size| Rows::new(size, most);
    let (size, rows) = read(bytes, max_pixels, rows, |rows, row, weight| {
        rows.push(row, |_| weight);
    })?;
    let mut image = image(Shape::Equirectangular, rows);
    image.warnings.extend(odd_sides(size));
    Ok(image)
}

/// Width, height, and red, green and blue of each pixel.
pub(in crate::scene) fn rgb(
    bytes: &[u8],
    max_pixels: u64,
) -> Result<([u32; 2], Vec<[f32; 3]>), String> {
    let room = |[width, height]: [u32; 2]| Vec::with_capacity(width as usize * height as usize);
    read(bytes, max_pixels, room, |pixels, row, _| pixels.extend(row))
}

/// Reads the rows from the top into what `start` makes for the picture's size, each with its weight on a
/// sphere.
fn read<T>(
    bytes: &[u8],
    max_pixels: u64,
    start: impl FnOnce([u32; 2]) -> T,
    add: impl Fn(&mut T, &[[f32; 3]], f64),
) -> Result<([u32; 2], T), String> {
    let header = &bytes[..bytes.len().min(LONGEST_HEADER)];
    let mut after = header;
    // The strict decoder reads only one of the two signatures.
    let decoder = HdrDecoder::new_nonstrict(&mut after).map_err(|e| one_line(&e))?;
    let size = decoder.dimensions().into();
    check_size(size, 1, max_pixels)?;
    let mut read = start(size);
    let mut rest = &bytes[header.len() - after.len()..];
    let [width, height] = size;
    let mut row = vec![[0.0_f32; 3]; width as usize];
    // The decoder reads whole pictures only, so each row is given to it as one.
    let one_row = format!("\n-Y 1 +X {width}\n");
    for y in 0..height {
        let decoded = HdrDecoder::new_nonstrict(one_row.as_bytes().chain(&mut rest))
            .and_then(|decoder| decoder.read_image(bytemuck::cast_slice_mut(&mut row)));
        decoded.map_err(|e| format!("breaks off in row {y} of {height}: {}", one_line(&e)))?;
        add(&mut read, &row, latitude_weight(y, height));
    }
    Ok((size, read))
}
