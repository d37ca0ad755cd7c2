//! Cube maps, of which the finest mip level is read: KTX2 in VkFormats of radiance or colours, and DDS in all
//! formats that can be decoded.

use super::{
    image::{EnvironmentImage, Shape, check_size, image},
    texels::{Rows, cube_row_weights},
};
use crate::{
    files::one_line,
    image::{blocks, dds, ktx2},
    srgb,
};
use ::dds::{ColorFormat, DataLayout, DataRegion as _, Format, PixelInfo, Size, TextureArrayKind};

const NO_CUBE: &str = "is not a cube map; canopy reads KTX2 and DDS with six faces, and equirectangular \
                       pictures as .hdr or .exr";

/// Decodes the cube map of a KTX2 file, the first if there are several.
pub(super) fn ktx2(bytes: &[u8], max_pixels: u64, most: u32) -> Result<EnvironmentImage, String> {
    let reader = ktx2::open(bytes)?;
    let header = reader.header();
    if header.face_count != 6 || header.pixel_depth > 1 {
        return Err(NO_CUBE.into());
    }
    let side = square([header.pixel_width, header.pixel_height], max_pixels)?;
    let (format, srgb) = match header.format.map(|format| format.value()) {
        Some(value) => encoding(value).ok_or_else(|| {
            format!("is KTX2 in VkFormat {value}, which canopy does not read as an environment")
        })?,
        None => {
            return Err(
                "is compressed with Basis Universal, which canopy does not read as an environment".into(),
            );
        }
    };
    let face_bytes = face_bytes(format, side)?;
    let stored = ktx2::stored(&reader, 0, face_bytes.saturating_mul(6))?;
    let mut faces = stored.chunks_exact(face_bytes as usize);
    cube(format, srgb, side, most, |_| faces.next())
}

/// Decodes the cube map of a DDS file, the first if there are several.
pub(super) fn dds(bytes: &[u8], max_pixels: u64, most: u32) -> Result<EnvironmentImage, String> {
    let (header, format, data) = dds::open(bytes)?;
    if !header.is_cube_map() {
        return Err(NO_CUBE.into());
    }
    let side = square([header.width(), header.height()], max_pixels)?;
    let layout = DataLayout::from_header(&header).map_err(|e| one_line(&e))?;
    let faces = layout.texture_array();
    let faces = faces.filter(|faces| faces.kind() == TextureArrayKind::CubeMaps);
    let faces = faces.ok_or("is a cube map that lacks faces")?;
    cube(format, header.is_srgb(), side, most, |face| {
        let finest = faces.get(face)?.main();
        let place = [finest.data_offset(), finest.data_end()].map(usize::try_from);
        let [Ok(start), Ok(end)] = place else {
            return None;
        };
        data.get(start..end)
    })
}

/// Returns the DDS format that equals a VkFormat, and true if it is sRGB.
fn encoding(format: u32) -> Option<(Format, bool)> {
    Some(match format {
        37 | 43 => (Format::R8G8B8A8_UNORM, format == 43),
        44 | 50 => (Format::B8G8R8A8_UNORM, format == 50),
        64 => (Format::R10G10B10A2_UNORM, false),
        91 => (Format::R16G16B16A16_UNORM, false),
        97 => (Format::R16G16B16A16_FLOAT, false),
        106 => (Format::R32G32B32_FLOAT, false),
        109 => (Format::R32G32B32A32_FLOAT, false),
        122 => (Format::R11G11B10_FLOAT, false),
        123 => (Format::R9G9B9E5_SHAREDEXP, false),
        131..=134 => (Format::BC1_UNORM, format.is_multiple_of(2)),
        137 | 138 => (Format::BC3_UNORM, format == 138),
        143 => (Format::BC6H_UF16, false),
        144 => (Format::BC6H_SF16, false),
        145 | 146 => (Format::BC7_UNORM, format == 146),
        _ => return None,
    })
}

/// Returns the number of texels along the edge of a face. Fails if faces are not square, or have no pixels or
/// too many.
fn square(size: [u32; 2], max_pixels: u64) -> Result<u32, String> {
    check_size(size, 6, max_pixels)?;
    match size {
        [width, height] if width == height => Ok(width),
        [width, height] => Err(format!(
            "is a cube map whose faces are {width}×{height} texels; faces must be square"
        )),
    }
}

fn face_bytes(format: Format, side: u32) -> Result<u64, String> {
    let bytes = PixelInfo::from(format).surface_bytes(Size::new(side, side));
    bytes.ok_or_else(|| format!("has faces of {side}×{side} texels, which is too large"))
}

/// Decodes the cube map one face at a time.
fn cube<'a>(
    format: Format,
    srgb: bool,
    side: u32,
    most: u32,
    mut stored: impl FnMut(usize) -> Option<&'a [u8]>,
) -> Result<EnvironmentImage, String> {
    let mut rows = Rows::new([side; 2], most.div_ceil(4));
    let mut weights = Vec::new();
    if rows.shrinks() {
        let mut row = Vec::new();
        for y in 0..side {
            cube_row_weights(side, y, &mut row);
            weights.extend(row.iter().map(|weight| *weight as f32));
        }
    }
    let width = side as usize;
    let mut row = Vec::with_capacity(width);
    for face in 0..6 {
        let bytes = stored(face).ok_or_else(|| format!("ends within face {face}"))?;
        let texels = blocks::surface(format, [side; 2], bytes, ColorFormat::RGBA_F32)?;
        for (y, bytes) in texels.chunks_exact(16 * width).enumerate() {
            row.clear();
            row.extend(bytes.chunks_exact(16).map(|texel| {
                let channel =
                    |at: usize| f32::from_ne_bytes([texel[at], texel[at + 1], texel[at + 2], texel[at + 3]]);
                let color = [channel(0), channel(4), channel(8)];
                if srgb { color.map(srgb::decode) } else { color }
            }));
            rows.push(&row, |x| f64::from(weights[y * width + x]));
        }
    }
    Ok(image(Shape::Cube, rows))
}
