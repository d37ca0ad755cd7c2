//! Parts of a path-traced picture: OpenEXR files that hold the mean and the exact sums of a range of the
//! picture's samples.

use crate::{
    Error, Result,
    output::{embedded, picture},
    render::{FloatImage, paths::path_sums::PathSums},
    scene::error::guarded,
};

use exr::{
    image::{AnyChannel, AnyChannels, Encoding, FlatSamples, Image, Layer, write::WritableImage as _},
    meta::{
        BlockDescription, MetaData,
        attribute::{AttributeValue, SampleType, Text},
        header::LayerAttributes,
    },
    prelude::{ReadChannels as _, ReadLayers as _},
};
use serde::{Deserialize, Serialize};
use std::{io::Cursor, ops::Range, path::Path};

/// Name of the OpenEXR attribute that holds the description of the part.
const KEYWORD: &str = "canopyPart";

/// Version of the description. Other versions are rejected.
const FORMAT: u32 = 1;

/// Maximum size of the description in bytes.
const MAX_BYTES: usize = 4096;

/// Maximum number of samples per pixel.
const MAX_SAMPLES: u32 = 1_000_000_000;

/// Names of the colour channels, in the order of a pixel.
const COLORS: [&str; 4] = ["R", "G", "B", "A"];

/// Compression of the files.
const ENCODING: Encoding = Encoding::SMALL_LOSSLESS;

/// Description of a part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartInfo {
    format: u32,
    /// Number of the part, from 1, and the number of parts.
    pub part: [u32; 2],
    /// Range of samples of the complete part: the first sample, and one past the last.
    pub samples: [u32; 2],
    /// Number of samples in the sums. They are the first samples of the range.
    pub held: u32,
    /// Samples per pixel of the whole picture.
    pub total: u32,
    /// Frame number in the sequence.
    pub frame: u32,
    /// Identity of the picture.
    pub of: Identity,
}

/// Hashes and properties that parts of the same picture have in common.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// Version of canopy.
    pub version: String,
    /// Width and height in pixels.
    pub size: [u32; 2],
    /// Hash of the scene's files, edits and hidden nodes.
    pub scene: u32,
    /// Hash of the settings.
    pub settings: u32,
    /// Hash of the camera.
    pub view: u32,
}

impl Identity {
    /// Describes the first difference from `other`, or returns `None` if there is none.
    pub fn difference(&self, other: &Self) -> Option<String> {
        let [a, b] = [self, other];
        let sides = |size: [u32; 2]| format!("{} × {} pixels", size[0], size[1]);
        if a.version != b.version {
            return Some(format!("made with {}, not {}", b.version, a.version));
        }
        if a.size != b.size {
            return Some(format!("of {}, not {}", sides(b.size), sides(a.size)));
        }
        let differing = [
            (a.scene != b.scene, "of another scene"),
            (a.settings != b.settings, "of other settings"),
            (a.view != b.view, "of another view"),
        ];
        let what = differing.into_iter().find(|(differs, _)| *differs);
        what.map(|(_, what)| what.to_owned())
    }
}

impl PartInfo {
    /// Describes a part that covers the samples `range` of the `total` of a picture, and holds the first
    /// `held` of them.
    pub fn new(
        part: [u32; 2],
        (range, held, total): (&Range<u32>, u32, u32),
        (frame, of): (u32, Identity),
    ) -> Self {
        Self {
            format: FORMAT,
            part,
            samples: [range.start, range.end],
            held,
            total,
            frame,
            of,
        }
    }

    /// Returns the range of the samples that the sums contain.
    pub fn range(&self) -> Range<u32> {
        self.samples[0]..self.samples[0] + self.held
    }

    /// True if the fields are consistent.
    fn is_sound(&self) -> bool {
        let [first, end] = self.samples;
        let [number, parts] = self.part;
        (1..=MAX_SAMPLES).contains(&self.total)
            && (1..=parts).contains(&number)
            && first < end
            && end <= self.total
            && (1..=end - first).contains(&self.held)
    }
}

/// Sums of a range of the samples of a path-traced picture, over all of its pixels.
#[derive(Debug, Clone, PartialEq)]
pub struct PathPart {
    /// Description of the part.
    pub about: PartInfo,
    /// Sums of the first [`PartInfo::held`] samples of the part.
    pub sums: PathSums,
    /// Provenance of the picture, if it is known.
    pub made: Option<String>,
}

/// Returns the name of a channel that stores one word of the sums.
fn name_of(word: usize, color: &str) -> String {
    format!("sum{word}.{color}")
}

/// Encodes a part as OpenEXR.
///
/// # Errors
///
/// [`Error::Encode`].
pub fn exr(part: &PathPart) -> Result<Vec<u8>> {
    let unencodable =
        |e: &dyn std::fmt::Display| Error::Encode(format!("cannot be encoded as a path-traced part: {e}"));
    let sums = &part.sums;
    let mean = sums.mean(part.about.held);
    let floats = (0..4).map(|color| {
        let values = mean.iter().map(|texel| texel[color]).collect();
        AnyChannel::new(COLORS[color], FlatSamples::F32(values))
    });
    let places = (0..4).flat_map(|word| (0..4).map(move |color| (word, color)));
    let words = places.map(|(word, color)| {
        let values = sums.pixels.iter().map(|sum| sum[word][color]).collect();
        let name = name_of(word, COLORS[color]);
        AnyChannel::new(name.as_str(), FlatSamples::U32(values))
    });
    let channels = AnyChannels::sort(floats.chain(words).collect());
    let mut attributes = LayerAttributes::default();
    let about = serde_json::to_string(&part.about).map_err(|e| unencodable(&e))?;
    let texts = [
        (KEYWORD, Some(about.as_str())),
        (embedded::KEYWORD, part.made.as_deref()),
    ];
    for (keyword, text) in texts {
        if let Some(text) = text.and_then(Text::new_or_none) {
            let keyword = Text::new_or_none(keyword).unwrap_or_default();
            attributes.other.insert(keyword, AttributeValue::Text(text));
        }
    }
    let size = sums.size.map(|side| side as usize);
    let layer = Layer::new((size[0], size[1]), attributes, ENCODING, channels);
    let mut bytes = Cursor::new(Vec::new());
    Image::from_layer(layer)
        .write()
        .non_parallel()
        .to_buffered(&mut bytes)
        .map_err(|e| unencodable(&e))?;
    Ok(bytes.into_inner())
}

/// Decodes the part in `bytes`, which were read from `path`. The caller has checked their headers against the
/// load limits.
///
/// # Errors
///
/// [`Error::Scene`] if the file is invalid or was not written by canopy as a part.
pub fn read(path: &Path, bytes: &[u8]) -> Result<PathPart> {
    let read = guarded(|| decoded(bytes));
    let broken = || Err("is broken: its decoder failed unexpectedly".into());
    read.unwrap_or_else(broken)
        .map_err(|what| Error::scene(path, what))
}

fn decoded(bytes: &[u8]) -> std::result::Result<PathPart, String> {
    const NO_PART: &str = "is not a part of a path-traced picture: `canopy render --paths N --part I/N` and \
                           --checkpoint write such";
    let meta =
        MetaData::read_from_buffered(Cursor::new(bytes), false).map_err(|e| format!("is broken: {e}"))?;
    let [header] = &meta.headers[..] else {
        return Err(NO_PART.into());
    };
    let text_of = |keyword: &str| {
        let mut all = header.own_attributes.other.iter();
        let found = all.find(|(name, _)| **name == *keyword)?.1;
        match found {
            AttributeValue::Text(text) => Some(text.to_string()),
            _ => None,
        }
    };
    let about = text_of(KEYWORD).filter(|text| text.len() <= MAX_BYTES);
    let about: PartInfo = serde_json::from_str(&about.ok_or(NO_PART)?)
        .map_err(|e| format!("has a broken description of its part: {e}"))?;
    if about.format != FORMAT {
        let format = about.format;
        return Err(format!(
            "is a part of format {format}, not {FORMAT}, which this canopy reads"
        ));
    }
    if !about.is_sound() {
        return Err("has an invalid sample range, sample count or part number".into());
    }
    // Accepts exactly the layout that canopy writes, so that no header can request more memory than its size
    // implies.
    let size = header.layer_size;
    let is_of_size = about.of.size.map(|side| side as usize) == [size.0, size.1];
    let is_plain = header.compression == ENCODING.compression
        && header.blocks == BlockDescription::ScanLines
        && !header.deep;
    let channels = &header.channels.list;
    let is_named = |name: &str, kind| {
        let mut same = channels.iter().filter(|c| c.name == *name);
        same.next()
            .is_some_and(|c| c.sample_type == kind && c.sampling.0 == 1 && c.sampling.1 == 1)
    };
    let has_colors = COLORS.iter().all(|name| is_named(name, SampleType::F32));
    let has_words = (0..4).all(|word| {
        let mut names = COLORS.iter().map(|color| name_of(word, color));
        names.all(|name| is_named(&name, SampleType::U32))
    });
    if !(is_of_size && is_plain && channels.len() == 20 && has_colors && has_words) {
        return Err("declares itself a part, but its channels or sizes do not match".into());
    }
    let made = text_of(embedded::KEYWORD);
    let image = exr::prelude::read()
        .no_deep_data()
        .largest_resolution_level()
        .all_channels()
        .first_valid_layer()
        .all_attributes()
        .non_parallel()
        .from_buffered(Cursor::new(bytes))
        .map_err(|e| format!("is broken: {e}"))?;
    let mut sums = PathSums::new(about.of.size);
    for channel in image.layer_data.channel_data.list {
        let place = (0..4).flat_map(|word| (0..4).map(move |color| (word, color)));
        let mut place = place.filter(|(word, color)| channel.name == *name_of(*word, COLORS[*color]));
        let (Some((word, color)), FlatSamples::U32(values)) = (place.next(), channel.sample_data) else {
            continue;
        };
        for (sum, value) in sums.pixels.iter_mut().zip(values) {
            sum[word][color] = value;
        }
    }
    Ok(PathPart { about, sums, made })
}

/// Encodes the picture of the sums of `samples` samples as OpenEXR, in the same form as `canopy render`.
///
/// # Errors
///
/// [`Error::Encode`].
pub fn whole(sums: &PathSums, samples: u32, made: Option<&str>) -> Result<Vec<u8>> {
    let image = FloatImage {
        width: sums.size[0],
        height: sums.size[1],
        texels: sums.mean(samples),
    };
    picture::exr_with(&image, made)
}
