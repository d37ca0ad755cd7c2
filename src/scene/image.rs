//! PNG and JPEG to RGBA8, in parallel; what does not decode becomes a placeholder that shows.

use super::{
    Image,
    files::{Bytes, shorten},
    load::{Load, Progress},
};
use crate::Result;
use ::image::{ImageFormat, ImageReader, Limits};
use std::{
    io::Cursor,
    num::NonZero,
    ops::Range,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

/// Bytes of an image file.
#[derive(Debug, Clone)]
pub(super) struct Encoded {
    /// Holds the file, perhaps among other things.
    pub(super) bytes: Bytes,
    /// Where in `bytes`; in range.
    pub(super) range: Range<usize>,
}

impl Encoded {
    fn slice(&self) -> &[u8] {
        &self.bytes[self.range.clone()]
    }
}

/// An image to decode: its name for messages, and its bytes, or why there are none.
pub(super) type Source = (String, Result<Encoded, String>);

/// Decodes `sources` in order. One that is missing or broken becomes a placeholder and a line in `warnings`; only a total past
/// the limit is an error.
pub(super) fn decode_all(
    sources: &[Source],
    load: &mut Load<'_>,
    warnings: &mut Vec<String>,
) -> Result<Vec<Image>> {
    let mut sizes = Vec::with_capacity(sources.len());
    for (name, encoded) in sources {
        let size = encoded
            .as_ref()
            .map_err(Clone::clone)
            .and_then(|e| size(e, load.limits.max_image_pixels));
        if let Ok([width, height]) = size {
            let bytes = u64::from(width) * u64::from(height) * 4;
            load.take_texture_bytes(bytes, || format!("image {}", shorten(name)))?;
        }
        sizes.push(size);
    }
    let next = AtomicUsize::new(0);
    let worker = || worker(sources, &sizes, &next, load.progress());
    let threads = thread::available_parallelism()
        .map_or(1, NonZero::get)
        .min(sources.len());
    let mut decoded: Vec<Option<Result<Image, String>>> = vec![None; sources.len()];
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        // A decoder that panicked leaves its images to the placeholder.
        for (index, image) in workers.into_iter().filter_map(|w| w.join().ok()).flatten() {
            decoded[index] = Some(image);
        }
    });
    load.progress().check()?;
    let finish = |(image, (name, _)): (Option<Result<Image, String>>, &Source)| {
        image
            .unwrap_or_else(|| Err("could not be decoded".into()))
            .unwrap_or_else(|why| {
                warnings.push(format!(
                    "image {}: {why}; a checker stands in for it",
                    shorten(name)
                ));
                placeholder(name)
            })
    };
    Ok(decoded.into_iter().zip(sources).map(finish).collect())
}

fn worker(
    sources: &[Source],
    sizes: &[Result<[u32; 2], String>],
    next: &AtomicUsize,
    progress: &Progress,
) -> Vec<(usize, Result<Image, String>)> {
    let mut done = Vec::new();
    loop {
        let index = next.fetch_add(1, Ordering::Relaxed);
        let Some((name, encoded)) = sources.get(index) else {
            return done;
        };
        if progress
            .enter(format!("decoding image {} of {}", index + 1, sources.len()))
            .is_err()
        {
            return done;
        }
        let image = match (encoded, &sizes[index]) {
            (Ok(encoded), Ok(size)) => decode(name, encoded, *size),
            (Err(why), _) | (_, Err(why)) => Err(why.clone()),
        };
        done.push((index, image));
    }
}

fn reader(encoded: &Encoded) -> Result<ImageReader<Cursor<&[u8]>>, String> {
    let bytes = encoded.slice();
    let reader = ImageReader::new(Cursor::new(bytes))
        .with_guessed_format()
        .map_err(|e| e.to_string())?;
    match reader.format() {
        Some(ImageFormat::Png | ImageFormat::Jpeg) => Ok(reader),
        _ => Err("is neither PNG nor JPEG".into()),
    }
}

/// Width and height, before anything is allocated for them.
fn size(encoded: &Encoded, max_pixels: u64) -> Result<[u32; 2], String> {
    let (width, height) = reader(encoded)?
        .into_dimensions()
        .map_err(|e| one_line(&e))?;
    let pixels = u64::from(width) * u64::from(height);
    if pixels == 0 {
        return Err("holds no pixels".into());
    }
    if pixels > max_pixels {
        return Err(format!(
            "{width}×{height} pixels are more than load.max_image_pixels allows ({max_pixels})"
        ));
    }
    Ok([width, height])
}

fn decode(name: &str, encoded: &Encoded, [width, height]: [u32; 2]) -> Result<Image, String> {
    let mut reader = reader(encoded)?;
    let mut limits = Limits::default();
    limits.max_image_width = Some(width);
    limits.max_image_height = Some(height);
    // Sixteen bits a channel, twice over for what the decoder keeps beside the result, and room for its tables.
    limits.max_alloc = Some(u64::from(width) * u64::from(height) * 16 + (64 << 20));
    reader.limits(limits);
    let rgba8 = reader.decode().map_err(|e| one_line(&e))?.into_rgba8();
    let (width, height) = rgba8.dimensions();
    Ok(Image {
        name: name.to_owned(),
        width,
        height,
        rgba8: rgba8.into_raw(),
    })
}

fn one_line(error: &::image::ImageError) -> String {
    error
        .to_string()
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

/// Magenta and black squares: seen at once, and never what a file meant.
fn placeholder(name: &str) -> Image {
    const SIDE: u32 = 8;
    let texel = |i: u32| {
        if (i % SIDE + i / SIDE).is_multiple_of(2) {
            [255, 0, 255, 255]
        } else {
            [0, 0, 0, 255]
        }
    };
    Image {
        name: name.to_owned(),
        width: SIDE,
        height: SIDE,
        rgba8: (0..SIDE * SIDE).flat_map(texel).collect(),
    }
}
