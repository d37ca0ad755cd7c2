//! Decodes an image file of any format, and provides a placeholder if that fails.

use super::{
    dds, ktx2, pixels,
    request::Request,
    shrink,
    texels::Image,
    uses::{Role, Uses},
};
use crate::{
    error::guarded,
    files::{Bytes, shorten},
};

/// Bytes of an image file, or the reason why they are missing.
pub(crate) type Candidate = Result<Bytes, String>;

/// An image that is not decoded yet.
#[derive(Debug, Clone)]
pub(crate) struct EncodedImage {
    /// Name in messages.
    pub(crate) name: String,
    /// Encodings of the image in different formats. The first that decodes is used.
    pub(crate) candidates: Vec<Candidate>,
    pub(crate) uses: Uses,
}

impl EncodedImage {
    /// Creates an image whose texels the loader itself reads, with eight bits per channel.
    pub(crate) fn plain(name: String, bytes: Candidate, role: Role) -> Self {
        Self {
            name,
            candidates: vec![bytes],
            uses: Uses {
                texels: true,
                ..Uses::of(role)
            },
        }
    }
}

/// Result of decoding an image file.
pub(super) struct Outcome {
    pub(super) image: Image,
    /// Notes for the scene's warnings.
    pub(super) notes: Vec<String>,
    /// True if `image` is the placeholder.
    pub(super) is_missing: bool,
}

/// Decodes the first candidate that is valid.
pub(super) fn decode(encoded: &EncodedImage, request: &Request) -> Outcome {
    let name = shorten(&encoded.name);
    let mut notes = Vec::new();
    let mut failures = Vec::new();
    for candidate in &encoded.candidates {
        let decoded = candidate
            .as_ref()
            .map_err(Clone::clone)
            .and_then(|bytes| decode_bytes(bytes, request, &mut notes));
        match decoded {
            Ok(mut image) => {
                let lead = format!("image {name}: ");
                for why in failures {
                    notes.push(format!("{why}; its fallback is used"));
                }
                shrink::to_fit(&mut image, request, &mut notes);
                shrink::complete(&mut image, request.uses.normals);
                image.name.clone_from(&encoded.name);
                return Outcome {
                    image,
                    notes: notes.iter().map(|n| format!("{lead}{n}")).collect(),
                    is_missing: false,
                };
            }
            Err(why) => failures.push(why),
        }
    }
    let why = failures.join("; ");
    let outcome = match (encoded.uses.colors, encoded.uses.numbers) {
        (true, false) => "a checkerboard replaces it",
        (true, true) => "a checkerboard replaces its colours, and its other channels are ignored",
        (false, _) => "materials ignore it",
    };
    Outcome {
        image: placeholder(&encoded.name),
        notes: vec![format!("image {name}: {why}; {outcome}")],
        is_missing: true,
    }
}

/// Decodes a file, whose format is detected by content.
fn decode_bytes(bytes: &[u8], request: &Request, notes: &mut Vec<String>) -> Result<Image, String> {
    probe(bytes, request.max_pixels)?;
    guarded(|| match ImageFileFormat::of(bytes)? {
        ImageFileFormat::Pixels(format) => pixels::decode(bytes, format, request),
        ImageFileFormat::Ktx2 => ktx2::decode(bytes, request, notes),
        ImageFileFormat::Dds => dds::decode(bytes, request, notes),
    })
    .unwrap_or_else(|| Err("is broken: its decoder failed unexpectedly".into()))
}

/// Format of an image file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ImageFileFormat {
    Pixels(::image::ImageFormat),
    Ktx2,
    Dds,
}

impl ImageFileFormat {
    fn of(bytes: &[u8]) -> Result<Self, String> {
        use ::image::ImageFormat::{Jpeg, Png, WebP};
        if bytes.starts_with(&::ktx2::MAGIC) {
            return Ok(Self::Ktx2);
        }
        if bytes.starts_with(dds::MAGIC) {
            return Ok(Self::Dds);
        }
        match ::image::guess_format(bytes) {
            Ok(format @ (Png | Jpeg | WebP)) => Ok(Self::Pixels(format)),
            _ if bytes.is_empty() => Err("is empty".into()),
            _ => Err("is not PNG, JPEG, WebP, KTX2 or DDS".into()),
        }
    }
}

/// Checks the image size in the header, and returns the maximum number of bytes of the finest mip level.
/// Allocates no texels.
pub(crate) fn probe(bytes: &[u8], max_pixels: u64) -> Result<u64, String> {
    let probed = guarded(|| match ImageFileFormat::of(bytes)? {
        ImageFileFormat::Pixels(format) => pixels::probe(bytes, format),
        ImageFileFormat::Ktx2 => ktx2::probe(bytes),
        ImageFileFormat::Dds => dds::probe(bytes),
    });
    let ([width, height], format) =
        probed.unwrap_or_else(|| Err("has a header that its decoder cannot read".into()))?;
    let pixels = u64::from(width) * u64::from(height);
    if pixels == 0 {
        return Err("holds no pixels".into());
    }
    if pixels > max_pixels {
        return Err(format!(
            "{width}×{height} pixels are more than load.max_image_pixels allows ({max_pixels})"
        ));
    }
    Ok(format.level_bytes([width, height]))
}

/// Returns a placeholder of magenta and black squares, which no real texture looks like.
fn placeholder(name: &str) -> Image {
    const SIDE: u32 = 8;
    let texel = |i: u32| {
        if (i % SIDE + i / SIDE).is_multiple_of(2) {
            [255, 0, 255, 255]
        } else {
            [0, 0, 0, 255]
        }
    };
    Image::from_rgba8(name, SIDE, SIDE, (0..SIDE * SIDE).flat_map(texel).collect())
}
