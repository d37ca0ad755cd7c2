//! Radiance HDR (.hdr, .pic): uncompressed, and with either kind of run-length encoding.

use super::{
    chromaticities::{self, Chromaticities},
    image::{EnvironmentImage, Shape, check_size, image, odd_sides},
    texels::{Rows, latitude_weight},
};
use crate::files::{one_line, shorten};
use ::image::{ImageDecoder as _, codecs::hdr::HdrDecoder};
use glam::{DVec3, Mat3, Vec3};
use std::io::Read as _;

/// Maximum size of a header, in bytes.
const LONGEST_HEADER: usize = 1 << 16;

/// Decodes the image row by row, so that only one row is in memory as floats.
pub(super) fn decode(bytes: &[u8], max_pixels: u64, most: u32) -> Result<EnvironmentImage, String> {
    let rows = |size| Rows::new(size, most);
    let (size, rows) = read(bytes, max_pixels, rows, |rows, row, weight| {
        rows.push(row, |_| weight);
    })?;
    let mut image = image(Shape::Equirectangular, rows);
    image.warnings.extend(odd_sides(size));
    Ok(image)
}

/// Returns width, height, and red, green and blue of each pixel.
pub(crate) fn rgb(bytes: &[u8], max_pixels: u64) -> Result<([u32; 2], Vec<[f32; 3]>), String> {
    let room = |[width, height]: [u32; 2]| Vec::with_capacity(width as usize * height as usize);
    read(bytes, max_pixels, room, |pixels, row, _| pixels.extend(row))
}

/// Reads the rows from the top into the value that `start` creates for the image's size. Each row comes with
/// its weight on a sphere.
fn read<T>(
    bytes: &[u8],
    max_pixels: u64,
    start: impl FnOnce([u32; 2]) -> T,
    add: impl Fn(&mut T, &[[f32; 3]], f64),
) -> Result<([u32; 2], T), String> {
    let header = Header::read(&bytes[..bytes.len().min(LONGEST_HEADER)])?;
    let size = header.size;
    check_size(size, 1, max_pixels)?;
    let mut read = start(size);
    let mut rest = &bytes[header.bytes..];
    let [width, height] = size;
    let mut row = vec![[0.0_f32; 3]; width as usize];
    // The decoder reads only complete images, so each row is passed to it as an image of one row.
    let one_row = format!("\n-Y 1 +X {width}\n");
    for y in 0..height {
        // The strict decoder accepts only one of the two signatures.
        let decoded = HdrDecoder::new_nonstrict(one_row.as_bytes().chain(&mut rest))
            .and_then(|decoder| decoder.read_image(bytemuck::cast_slice_mut(&mut row)));
        decoded.map_err(|e| format!("is cut off in row {y} of {height}: {}", one_line(&e)))?;
        if let Some(matrix) = &header.to_rec709 {
            chromaticities::convert(matrix, &mut row);
        }
        add(&mut read, &row, latitude_weight(y, height));
    }
    Ok((size, read))
}

/// Header of a Radiance file.
struct Header {
    /// Width and height.
    size: [u32; 2],
    /// Length of the header in bytes.
    bytes: usize,
    /// Matrix from stored colours to radiance in linear Rec. 709, if they differ.
    to_rec709: Option<Mat3>,
}

impl Header {
    /// Reads a header whose lines end in LF or CRLF. Pixels have been multiplied by the product of all
    /// EXPOSURE and COLORCORR lines (Radiance file formats). Lines that begin with a blank belong to the
    /// headers of other images that this one was made of.
    fn read(bytes: &[u8]) -> Result<Self, String> {
        let mut rest = bytes;
        let mut line = || {
            let end = memchr::memchr(b'\n', rest).ok_or("has a header that does not end")?;
            let line = &rest[..end];
            rest = &rest[end + 1..];
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            Ok::<_, String>((String::from_utf8_lossy(line), bytes.len() - rest.len()))
        };
        let (mut multiplied, mut primaries) = (DVec3::ONE, None);
        loop {
            let (text, _) = line()?;
            if text.is_empty() {
                break;
            }
            let Some((key, value)) = text.split_once('=') else {
                continue;
            };
            match key.trim_end() {
                "FORMAT" if value.trim() != "32-bit_rle_rgbe" => {
                    return Err(format!(
                        "has the format {}; canopy reads 32-bit_rle_rgbe",
                        shorten(value.trim())
                    ));
                }
                "EXPOSURE" => {
                    let [exposure] = numbers(value)
                        .filter(are_positive)
                        .ok_or_else(|| header_error(&text))?;
                    multiplied *= exposure;
                }
                "COLORCORR" => {
                    let factors = numbers(value)
                        .filter(are_positive)
                        .ok_or_else(|| header_error(&text))?;
                    multiplied *= DVec3::from_array(factors);
                }
                "PRIMARIES" => {
                    let numbers = numbers::<8>(value).ok_or_else(|| header_error(&text))?;
                    let pairs: &Chromaticities = bytemuck::cast_ref(&numbers);
                    primaries = chromaticities::to_rec709(pairs)?;
                }
                _ => {}
            }
        }
        let gains = multiplied.recip().as_vec3();
        if !(gains.is_finite() && gains.min_element() >= f32::MIN_POSITIVE) {
            return Err("has EXPOSURE or COLORCORR lines whose product is out of range".into());
        }
        let gained = (gains != Vec3::ONE).then(|| Mat3::from_diagonal(gains));
        let (text, length) = line()?;
        Ok(Self {
            size: size(&text)?,
            bytes: length,
            to_rec709: match (primaries, gained) {
                (Some(primaries), Some(gained)) => Some(primaries * gained),
                (primaries, gained) => primaries.or(gained),
            },
        })
    }
}

/// Parses the first `N` numbers of a value.
fn numbers<const N: usize>(value: &str) -> Option<[f64; N]> {
    let words = value.split_whitespace().take(N);
    let numbers: Vec<f64> = words.map_while(|word| word.parse().ok()).collect();
    numbers.try_into().ok()
}

/// True if the numbers are valid factors of pixels.
fn are_positive<const N: usize>(numbers: &[f64; N]) -> bool {
    numbers.iter().all(|number| number.is_finite() && *number > 0.0)
}

/// Returns the error for an invalid header line.
fn header_error(line: &str) -> String {
    format!(
        "has the line \"{}\" in its header, whose numbers are out of range",
        shorten(line)
    )
}

/// Parses width and height from the resolution line before the rows.
fn size(line: &str) -> Result<[u32; 2], String> {
    let words: Vec<_> = line.split_whitespace().take(5).collect();
    let size = match words[..] {
        ["-Y", height, "+X", width] => width.parse().ok().zip(height.parse().ok()),
        _ => None,
    };
    let (width, height) = size.ok_or_else(|| {
        format!(
            "has the size \"{}\"; canopy reads \"-Y HEIGHT +X WIDTH\"",
            shorten(line)
        )
    })?;
    Ok([width, height])
}
