//! KTX2 files: Basis Universal (ETC1S and UASTC), BC blocks, and plain texels of eight bits.

use super::{
    blocks,
    request::Request,
    texels::{Image, TexelFormat, fill_blue, full_levels, level_size},
};
use crate::files::one_line;
use ::basisu::{DecodeFlags, SourceFormat, TargetFormat, Transcoder};
use ::dds::Format as Encoding;
use ::ktx2::{ColorModel, Reader, SupercompressionScheme};
use std::{borrow::Cow, io::Read as _};

/// Zstandard window size that is always allowed. A larger window must be justified by as much data.
const ZSTD_WINDOW: u64 = 8 << 20;

/// Returns width and height, and the format that keeps all of the file's precision.
pub(super) fn probe(bytes: &[u8]) -> Result<([u32; 2], TexelFormat), String> {
    let header = open(bytes)?.header();
    // Half floats may be stored with sixteen bits.
    let halves = [ktx2::Format::BC6H_UFLOAT_BLOCK, ktx2::Format::BC6H_SFLOAT_BLOCK];
    let format = match header.format {
        Some(format) if halves.contains(&format) => TexelFormat::Rgba16,
        _ => TexelFormat::Rgba8,
    };
    Ok(([header.pixel_width, header.pixel_height], format))
}

pub(crate) fn open(bytes: &[u8]) -> Result<Reader<&[u8]>, String> {
    Reader::new(bytes).map_err(|e| format!("is not a valid KTX2 file: {}", one_line(&e)))
}

/// Decodes a file whose size has been checked.
pub(super) fn decode(bytes: &[u8], request: &Request, notes: &mut Vec<String>) -> Result<Image, String> {
    let reader = open(bytes)?;
    let header = reader.header();
    let parts = [header.layer_count, header.face_count, header.pixel_depth];
    let parts = parts.map(|count| u64::from(count.max(1)));
    let layers = parts.into_iter().fold(1, u64::saturating_mul);
    let image = match header.format {
        None => basis(&reader, layers, request),
        Some(format) => plain(&reader, format.value(), request),
    }?;
    if layers > 1 {
        notes.push(format!(
            "holds {layers} layers, faces or slices; canopy shows the first"
        ));
    }
    Ok(image)
}

/// Returns the number of mip levels to use: all if they are complete, else one.
fn usable_levels(reader: &Reader<&[u8]>, size: [u32; 2]) -> usize {
    let full = full_levels(size);
    if reader.levels().len() == full { full } else { 1 }
}

/// Reads a texture in a VkFormat.
fn plain(reader: &Reader<&[u8]>, format: u32, request: &Request) -> Result<Image, String> {
    let header = reader.header();
    let size = [header.pixel_width, header.pixel_height];
    let levels = usable_levels(reader, size);
    // In each pair the first VkFormat is linear and the second sRGB.
    let texels = |bytes_per_texel: u64, to_rgba8: fn(&[u8]) -> [u8; 4]| -> Result<Image, String> {
        let level = |level| {
            let [width, height] = level_size(size, level);
            let bytes = u64::from(width) * u64::from(height) * bytes_per_texel;
            let stored = stored(reader, level, bytes)?;
            let texels = stored.chunks_exact(bytes_per_texel as usize);
            let mut rgba8: Vec<u8> = texels.flat_map(to_rgba8).collect();
            if bytes_per_texel == 2 && request.uses.normals {
                fill_blue(&mut rgba8);
            }
            Ok(rgba8)
        };
        Ok(Image {
            levels: (0..levels).map(level).collect::<Result<_, String>>()?,
            ..Image::from_rgba8("", size[0], size[1], Vec::new())
        })
    };
    let blocks = |format: TexelFormat| -> Result<Image, String> {
        let level =
            |level| stored(reader, level, format.level_bytes(level_size(size, level))).map(Cow::into_owned);
        let levels: Result<_, String> = (0..levels).map(level).collect();
        Ok(blocks::image(format, size, levels?, request))
    };
    let decoded = |format: Encoding, block_bytes: u64| -> Result<Image, String> {
        let level = |level| {
            let [across, down] = level_size(size, level).map(|side| u64::from(side.div_ceil(4)));
            stored(reader, level, across * down * block_bytes)
        };
        let levels: Vec<_> = (0..levels).map(level).collect::<Result<_, String>>()?;
        let levels: Vec<&[u8]> = levels.iter().map(AsRef::as_ref).collect();
        let two_channels = format == Encoding::BC5_UNORM;
        blocks::decoded(format, size, &levels, two_channels, request)
    };
    match format {
        9 | 15 => texels(1, |t| [t[0], 0, 0, 255]),
        16 | 22 => texels(2, |t| [t[0], t[1], 0, 255]),
        23 | 29 => texels(3, |t| [t[0], t[1], t[2], 255]),
        30 | 36 => texels(3, |t| [t[2], t[1], t[0], 255]),
        37 | 43 => texels(4, |t| [t[0], t[1], t[2], t[3]]),
        44 | 50 => texels(4, |t| [t[2], t[1], t[0], t[3]]),
        131..=134 => blocks(TexelFormat::Bc1),
        135 | 136 => blocks(TexelFormat::Bc2),
        137 | 138 => blocks(TexelFormat::Bc3),
        139 => decoded(Encoding::BC4_UNORM, 8),
        141 => decoded(Encoding::BC5_UNORM, 16),
        143 => decoded(Encoding::BC6H_UF16, 16),
        144 => decoded(Encoding::BC6H_SF16, 16),
        145 | 146 => blocks(TexelFormat::Bc7),
        other => Err(format!("is KTX2 in VkFormat {other}, which canopy does not read")),
    }
}

/// Returns at least the first `bytes` of a level, which belong to its first layer, face and slice.
pub(crate) fn stored<'a>(
    reader: &'a Reader<&[u8]>,
    level: usize,
    bytes: u64,
) -> Result<Cow<'a, [u8]>, String> {
    let short = || format!("ends within mip level {level}");
    let data = reader.levels().nth(level).ok_or_else(short)?.data;
    let bytes = usize::try_from(bytes).map_err(|_| short())?;
    match reader.header().supercompression_scheme {
        None => data.get(..bytes).map(Cow::Borrowed).ok_or_else(short),
        Some(SupercompressionScheme::Zstandard) => {
            check_window(data, bytes as u64)?;
            let mut decoder = ::ruzstd::StreamingDecoder::new(data).map_err(|e| one_line(&e))?;
            let mut out = vec![0; bytes];
            decoder.read_exact(&mut out).map_err(|_| short())?;
            Ok(Cow::Owned(out))
        }
        Some(other) => Err(format!(
            "has the KTX2 supercompression {other:?}, which canopy does not read for this format"
        )),
    }
}

/// Fails for a large window, because a Zstandard decoder allocates it before reading anything.
fn check_window(data: &[u8], bytes: u64) -> Result<(), String> {
    let (frame, _) = ::ruzstd::frame::read_frame_header(data).map_err(|e| one_line(&e))?;
    let window = frame.header.window_size().map_err(|e| one_line(&e))?;
    if window > ZSTD_WINDOW.max(2 * bytes) {
        return Err(format!(
            "has a Zstandard window of {window} bytes, too large for {bytes} bytes of data"
        ));
    }
    Ok(())
}

/// Transcodes Basis Universal, to compressed blocks if they are supported.
fn basis(reader: &Reader<&[u8]>, layers: u64, request: &Request) -> Result<Image, String> {
    let header = reader.header();
    let size = [header.pixel_width, header.pixel_height];
    let descriptor = reader.basic_dfd().ok_or("has no data format descriptor")?;
    match descriptor.color_model {
        Some(ColorModel::ETC1S | ColorModel::UASTC) => {}
        Some(other) => {
            return Err(format!(
                "has the KTX2 colour model {other:?}, which canopy does not read"
            ));
        }
        None => return Err("has an unknown KTX2 colour model".into()),
    }
    if reader.levels().len() > full_levels(size) {
        return Err("has more mip levels than its size allows".into());
    }
    if header.supercompression_scheme == Some(SupercompressionScheme::Zstandard) {
        // The transcoder inflates complete levels to the lengths that the file declares.
        for (index, level) in reader.levels().enumerate() {
            let [across, down] = level_size(size, index).map(|side| u64::from(side.div_ceil(4)));
            let bytes = (across * down * 16).saturating_mul(layers);
            if level.uncompressed_byte_length != bytes {
                return Err(format!(
                    "has {} bytes in mip level {index}, expected {bytes}",
                    level.uncompressed_byte_length
                ));
            }
            if bytes / 16 > request.max_pixels / 16 + 4 {
                return Err(format!(
                    "has {bytes} bytes in mip level {index}, more than load.max_image_pixels allows"
                ));
            }
            check_window(level.data, bytes)?;
        }
    }
    let invalid = |_| "is not valid Basis Universal data".to_owned();
    let transcoder = Transcoder::new(reader.data()).map_err(invalid)?;
    let levels = usable_levels(reader, size);
    // Channels red, red, red and green mean that alpha holds the second of two channels.
    let is_second = |channel| match transcoder.source_format() {
        SourceFormat::Etc1s => channel == 4,
        _ => channel == 5,
    };
    let samples = &descriptor.sample_information;
    let two_channels = samples.iter().any(|s| is_second(s.channel_type));
    let (target, format) = if two_channels || !request.blocks(size, levels) {
        (TargetFormat::Rgba32, TexelFormat::Rgba8)
    } else if transcoder.source_format() == SourceFormat::Etc1s
        && !transcoder.has_alpha()
        && !request.uses.numbers
    {
        (TargetFormat::Bc1Rgb, TexelFormat::Bc1)
    } else {
        (TargetFormat::Bc7Rgba, TexelFormat::Bc7)
    };
    // Black in three-colour blocks would be transparent. A filter across blocks would make them differ from
    // texels.
    let flags = DecodeFlags::BC1_FORBID_THREE_COLOR_BLOCKS | DecodeFlags::NO_ETC1S_CHROMA_FILTERING;
    let level = |level| {
        let mut out = transcoder
            .transcode_image(level as u32, 0, 0, target, flags)
            .map_err(|e| {
                format!("has Basis Universal data in mip level {level} that canopy cannot transcode ({e:?})")
            })?;
        if out.len() as u64 != format.level_bytes(level_size(size, level)) {
            return Err(format!("has invalid Basis Universal data in mip level {level}"));
        }
        if two_channels {
            for texel in out.chunks_exact_mut(4) {
                texel.copy_from_slice(&[texel[0], texel[3], 0, 255]);
            }
            if request.uses.normals {
                fill_blue(&mut out);
            }
        }
        Ok(out)
    };
    Ok(Image {
        name: String::new(),
        width: size[0],
        height: size[1],
        format,
        levels: (0..levels).map(level).collect::<Result<_, String>>()?,
    })
}
