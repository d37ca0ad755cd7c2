//! Image files to texels or blocks, in parallel; what does not decode becomes a placeholder that shows.

pub(super) mod blocks;
pub(super) mod dds;
pub(super) mod ktx2;
mod pixels;
mod shrink;

use super::{
    Scene, TextureRef,
    files::{Bytes, shorten},
    load::{Budget, Load, Progress},
};
use crate::{Result, error::guarded};
use std::{
    borrow::Cow,
    collections::BinaryHeap,
    num::NonZero,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    thread,
};

/// A decoded image, rows from the top.
#[derive(Debug, Clone)]
pub struct Image {
    /// Name or file name, for messages.
    pub name: String,
    /// Texels in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// How texels are stored.
    pub format: TexelFormat,
    /// The levels, finest first: the first alone, or all down to a single texel; each of [`TexelFormat::level_bytes`] bytes.
    pub levels: Vec<Vec<u8>>,
}

/// How an image stores its texels, all as encoded in the file: whether they are sRGB is up to who uses them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TexelFormat {
    /// Red, green, blue and alpha in a byte each.
    Rgba8,
    /// Red, green, blue and alpha in 16 bits each, in the machine's byte order.
    Rgba16,
    /// Blocks of 4 × 4 texels in 8 bytes: colour, and alpha of one bit.
    Bc1,
    /// Blocks of 4 × 4 texels in 16 bytes: colour, and alpha of four bits.
    Bc2,
    /// Blocks of 4 × 4 texels in 16 bytes: colour, and alpha between two ends.
    Bc3,
    /// Blocks of 4 × 4 texels in 16 bytes: colour and alpha.
    Bc7,
}

impl TexelFormat {
    /// Texels along the edge of a block; 1 where texels stand alone.
    pub fn block_side(self) -> u32 {
        match self {
            Self::Rgba8 | Self::Rgba16 => 1,
            _ => 4,
        }
    }

    /// Bytes of a block, or of a texel.
    pub fn block_bytes(self) -> u32 {
        match self {
            Self::Rgba8 => 4,
            Self::Rgba16 | Self::Bc1 => 8,
            _ => 16,
        }
    }

    /// Bytes of a level.
    pub fn level_bytes(self, [width, height]: [u32; 2]) -> u64 {
        let blocks = |side: u32| u64::from(side.div_ceil(self.block_side()));
        blocks(width) * blocks(height) * u64::from(self.block_bytes())
    }
}

/// Levels of an image down to a single texel.
fn full_levels([width, height]: [u32; 2]) -> usize {
    (u32::BITS - width.max(height).leading_zeros()) as usize
}

/// Texels along the sides of a level.
fn level_size([width, height]: [u32; 2], level: usize) -> [u32; 2] {
    [width, height].map(|side| side.checked_shr(level as u32).unwrap_or(0).max(1))
}

impl Image {
    /// An image of one level with a byte a channel, `width * height * 4` in all.
    pub fn from_rgba8(name: impl Into<String>, width: u32, height: u32, rgba8: Vec<u8>) -> Self {
        Self {
            name: name.into(),
            width,
            height,
            format: TexelFormat::Rgba8,
            levels: vec![rgba8],
        }
    }

    /// The finest level with a byte a channel, whatever the format.
    pub fn rgba8(&self) -> Cow<'_, [u8]> {
        let finest = self.levels.first().map_or(&[][..], Vec::as_slice);
        match self.format {
            TexelFormat::Rgba8 => Cow::Borrowed(finest),
            TexelFormat::Rgba16 => finest
                .chunks_exact(2)
                .map(|c| rounded(u16::from_ne_bytes([c[0], c[1]])))
                .collect(),
            _ => Cow::Owned(blocks::rgba8(
                self.format,
                [self.width, self.height],
                finest,
            )),
        }
    }

    fn size(&self) -> [u32; 2] {
        [self.width, self.height]
    }
}

/// The nearest of 256 steps.
fn rounded(value: u16) -> u8 {
    ((u32::from(value) + 128) / 257) as u8
}

/// What the one who shows images takes; by default, a byte a channel and any size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Takes {
    /// The blocks of [`TexelFormat`], of images whose sides are multiples of four.
    pub blocks: bool,
    /// Sixteen bits a channel.
    pub sixteen_bits: bool,
    /// Texels along a side.
    pub max_side: u32,
}

impl Default for Takes {
    fn default() -> Self {
        Self {
            blocks: false,
            sixteen_bits: false,
            max_side: u32::MAX,
        }
    }
}

/// Bytes of an image file, or why there are none.
pub(super) type Candidate = Result<Bytes, String>;

/// An image to decode.
#[derive(Debug, Clone)]
pub(super) struct Source {
    /// For messages.
    pub(super) name: String,
    /// Its forms: the first that decodes is taken.
    pub(super) candidates: Vec<Candidate>,
    pub(super) uses: Uses,
}

impl Source {
    /// One whose texels are wanted as such, a byte a channel.
    pub(super) fn plain(name: String, bytes: Candidate, role: Role) -> Self {
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

/// What a texture is to a material.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// A colour, which is displayed.
    Color,
    /// Normals, or numbers that scale others.
    Number,
}

/// What an image is used for, as far as it matters to its decoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Uses {
    /// For colours, which are displayed with eight bits anyway.
    colors: bool,
    /// For anything else.
    pub(super) numbers: bool,
    /// For normals.
    pub(super) normals: bool,
    /// By the loader itself.
    texels: bool,
}

impl Uses {
    /// In one role.
    pub(super) fn of(role: Role) -> Self {
        Self {
            colors: role == Role::Color,
            numbers: role == Role::Number,
            ..Self::default()
        }
    }

    /// Those of another material as well.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            colors: self.colors | other.colors,
            numbers: self.numbers | other.numbers,
            normals: self.normals | other.normals,
            texels: self.texels | other.texels,
        }
    }
}

/// Takes the textures with missing images from materials, but where they are colours, which show the placeholder: what such a texture scales or
/// bends stays as the material's factors have it.
pub(super) fn forget_missing(scene: &mut Scene, missing: &[bool]) {
    if !missing.contains(&true) {
        return;
    }
    let textures = &scene.textures;
    let forget = |slot: &mut Option<TextureRef>| {
        slot.take_if(|of| missing[textures[of.texture].image]);
    };
    for material in &mut scene.materials {
        forget(&mut material.metallic_roughness_texture);
        forget(&mut material.normal_texture);
        forget(&mut material.occlusion_texture);
        let Some(layers) = material.layers.as_deref_mut() else {
            continue;
        };
        let colors = (layers.specular_color_texture, layers.sheen_color_texture);
        layers.slots_mut().into_iter().for_each(forget);
        (layers.specular_color_texture, layers.sheen_color_texture) = colors;
    }
}

/// What the textures of a scene are used for.
pub(super) fn uses(scene: &mut Scene) -> Vec<Uses> {
    let mut uses = vec![Uses::default(); scene.textures.len()];
    for material in &mut scene.materials {
        let number = |texture: Option<TextureRef>| texture.map(|t| t.texture);
        let layers = material.layers.as_deref();
        let glossiness = layers.is_some_and(|layers| layers.glossiness);
        let colors = [
            material.base_color_texture,
            material.emissive_texture,
            layers.and_then(|layers| layers.specular_color_texture),
            layers.and_then(|layers| layers.sheen_color_texture),
            material.metallic_roughness_texture.filter(|_| glossiness),
        ]
        .map(number);
        let normals = [
            material.normal_texture,
            layers.and_then(|layers| layers.clearcoat_normal_texture),
        ]
        .map(number);
        let all: Vec<usize> = material.textures_mut().map(|r| r.texture).collect();
        for &place in &all {
            let texture = Some(place);
            let as_colors = colors.iter().filter(|color| **color == texture).count();
            let here = Uses {
                colors: as_colors > 0,
                numbers: all.iter().filter(|other| **other == place).count() > as_colors,
                normals: normals.contains(&texture),
                texels: false,
            };
            uses[place] = uses[place].and(here);
        }
    }
    uses
}

/// How an image is to be decoded.
#[derive(Debug, Clone, Copy)]
struct Request {
    uses: Uses,
    /// What may come out.
    takes: Takes,
    max_pixels: u64,
    /// Bytes of its finest level.
    max_bytes: u64,
}

impl Request {
    fn sixteen_bits(&self) -> bool {
        self.takes.sixteen_bits && self.uses.numbers
    }

    /// Whether an image of this size with this many levels can go to the GPU in blocks; those of others are decoded.
    fn blocks(&self, size: [u32; 2], levels: usize) -> bool {
        self.takes.blocks
            && size.iter().all(|side| side.is_multiple_of(4))
            && levels == full_levels(size)
    }
}

/// What came of an image, and what there is to say about it.
struct Outcome {
    image: Image,
    notes: Vec<String>,
    is_missing: bool,
}

/// Images as they came out.
#[derive(Debug)]
pub(super) struct Decoded {
    pub(super) images: Vec<Image>,
    /// Of each whether it is missing, and a placeholder stands in for it.
    pub(super) missing: Vec<bool>,
}

/// Images that threads of their own are decoding.
#[derive(Debug)]
pub(super) struct Decoding {
    outcomes: mpsc::Receiver<(usize, Outcome)>,
    count: usize,
}

/// Decodes `sources` in order. One that is missing or broken becomes a placeholder and a line in `warnings`.
pub(super) fn decode_all(
    sources: &[Source],
    load: &mut Load<'_>,
    warnings: &mut Vec<String>,
) -> Result<Decoded> {
    thread::scope(|scope| start(scope, sources, load)?.finish(load, warnings))
}

/// Begins to decode `sources`. Those past a limit on sizes are scaled down; an error is only a limit that nothing fits.
pub(super) fn start<'scope, 'load: 'scope>(
    scope: &'scope thread::Scope<'scope, '_>,
    sources: &'scope [Source],
    load: &mut Load<'load>,
) -> Result<Decoding> {
    let requests = requests(sources, load)?;
    let (sender, outcomes) = mpsc::channel();
    let next = Arc::new(AtomicUsize::new(0));
    let requests: Arc<[Request]> = requests.into();
    let threads = thread::available_parallelism()
        .map_or(1, NonZero::get)
        .min(sources.len());
    for _ in 0..threads {
        let (sender, next, requests) = (sender.clone(), next.clone(), requests.clone());
        let progress = load.progress();
        scope.spawn(move || work(sources, &requests, &next, progress, &sender));
    }
    Ok(Decoding {
        outcomes,
        count: sources.len(),
    })
}

fn work(
    sources: &[Source],
    requests: &[Request],
    next: &AtomicUsize,
    progress: &Progress,
    sender: &mpsc::Sender<(usize, Outcome)>,
) {
    loop {
        let index = next.fetch_add(1, Ordering::Relaxed);
        let (Some(source), Some(request)) = (sources.get(index), requests.get(index)) else {
            return;
        };
        // Where nobody waits for the outcome any more, the load has failed elsewhere.
        if progress.check().is_err() || sender.send((index, decode(source, request))).is_err() {
            return;
        }
    }
}

impl Decoding {
    /// Waits for the images.
    pub(super) fn finish(self, load: &Load<'_>, warnings: &mut Vec<String>) -> Result<Decoded> {
        let mut outcomes: Vec<Option<Outcome>> = (0..self.count).map(|_| None).collect();
        for done in 0..self.count {
            let share = done as f32 / self.count as f32;
            load.enter(
                format!("decoding image {} of {}", done + 1, self.count),
                0.5 + 0.5 * share,
            )?;
            let Ok((index, outcome)) = self.outcomes.recv() else {
                break;
            };
            outcomes[index] = Some(outcome);
        }
        load.progress().check()?;
        let mut decoded = Decoded {
            images: Vec::with_capacity(self.count),
            missing: Vec::with_capacity(self.count),
        };
        // Every index has come in once: the threads stop early only where the load is cancelled.
        for outcome in outcomes.into_iter().flatten() {
            warnings.extend(outcome.notes);
            decoded.images.push(outcome.image);
            decoded.missing.push(outcome.is_missing);
        }
        Ok(decoded)
    }
}

/// How each image is decoded, so that all together stay within what textures may take.
fn requests(sources: &[Source], load: &mut Load<'_>) -> Result<Vec<Request>> {
    let max_pixels = load.limits.max_image_pixels;
    let mut sizes = Vec::with_capacity(sources.len());
    for source in sources {
        load.progress().check()?;
        let probes = source.candidates.iter().flatten();
        let probe = |bytes: &Bytes| probe(bytes, max_pixels).ok();
        sizes.push(probes.filter_map(probe).max().unwrap_or(0));
    }
    let mut total = sizes.iter().copied().fold(0, u64::saturating_add);
    let allowed = load.texture_bytes_left();
    let mut largest: BinaryHeap<(u64, usize)> = sizes.iter().copied().zip(0..).collect();
    let mut max_bytes = vec![u64::MAX; sources.len()];
    while total > allowed {
        let Some((bytes, index)) = largest.pop().filter(|(bytes, _)| *bytes >= 64) else {
            load.take(Budget::TextureBytes, total, || "all images".into())?;
            break;
        };
        total -= bytes - bytes / 4;
        max_bytes[index] = bytes / 4;
        largest.push((bytes / 4, index));
    }
    load.take(Budget::TextureBytes, total, || "all images".into())?;
    let request = |(source, max_bytes): (&Source, u64)| Request {
        uses: source.uses,
        takes: if source.uses.texels {
            Takes {
                max_side: load.takes.max_side,
                ..Takes::default()
            }
        } else {
            load.takes
        },
        max_pixels,
        max_bytes,
    };
    Ok(sources.iter().zip(max_bytes).map(request).collect())
}

/// Decodes the first candidate that can be.
fn decode(source: &Source, request: &Request) -> Outcome {
    let name = shorten(&source.name);
    let mut notes = Vec::new();
    let mut failures = Vec::new();
    for candidate in &source.candidates {
        let decoded = candidate
            .as_ref()
            .map_err(Clone::clone)
            .and_then(|bytes| decode_bytes(bytes, request, &mut notes));
        match decoded {
            Ok(mut image) => {
                let lead = format!("image {name}: ");
                for why in failures {
                    notes.push(format!("{why}; another form of it is taken"));
                }
                shrink::to_fit(&mut image, request, &mut notes);
                shrink::complete(&mut image, request.uses.normals);
                image.name.clone_from(&source.name);
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
    let outcome = match (source.uses.colors, source.uses.numbers) {
        (true, false) => "a checker stands in for it",
        (true, true) => "a checker stands in for its colours, and nothing for the rest of it",
        (false, _) => "materials do without it",
    };
    Outcome {
        image: placeholder(&source.name),
        notes: vec![format!("image {name}: {why}; {outcome}")],
        is_missing: true,
    }
}

/// Decodes a file of any format; its content says which.
fn decode_bytes(bytes: &[u8], request: &Request, notes: &mut Vec<String>) -> Result<Image, String> {
    probe(bytes, request.max_pixels)?;
    guarded(|| match Kind::of(bytes)? {
        Kind::Pixels(format) => pixels::decode(bytes, format, request),
        Kind::Ktx2 => ktx2::decode(bytes, request, notes),
        Kind::Dds => dds::decode(bytes, request, notes),
    })
    .unwrap_or_else(|| Err("is broken in a way that its decoder did not expect".into()))
}

/// The format of an image file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Pixels(::image::ImageFormat),
    Ktx2,
    Dds,
}

impl Kind {
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
            _ => Err("is none of PNG, JPEG, WebP, KTX2 and DDS".into()),
        }
    }
}

/// The bytes that the finest level takes at most, once the size is known to be allowed; nothing is allocated for it before.
fn probe(bytes: &[u8], max_pixels: u64) -> Result<u64, String> {
    let probed = guarded(|| match Kind::of(bytes)? {
        Kind::Pixels(format) => pixels::probe(bytes, format),
        Kind::Ktx2 => ktx2::probe(bytes),
        Kind::Dds => dds::probe(bytes),
    });
    let ([width, height], format) =
        probed.unwrap_or_else(|| Err("has a header that its decoder did not expect".into()))?;
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

/// Messages of decoders come in several lines and with addresses of none.
pub(super) fn one_line(error: &impl std::fmt::Display) -> String {
    let text = error.to_string();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Light of an sRGB value from 0 to 1 (IEC 61966-2-1).
pub(super) fn light(encoded: f32) -> f32 {
    if encoded <= 0.04045 {
        encoded / 12.92
    } else {
        ((encoded + 0.055) / 1.055).powf(2.4)
    }
}

/// Blue from red and green, of normals whose file leaves it out.
fn fill_blue(rgba8: &mut [u8]) {
    for texel in rgba8.chunks_exact_mut(4) {
        let [x, y] = [texel[0], texel[1]].map(|c| f32::from(c) / 127.5 - 1.0);
        let z = (1.0 - x * x - y * y).max(0.0).sqrt();
        texel[2] = ((z + 1.0) * 127.5).round() as u8;
    }
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
    Image::from_rgba8(name, SIDE, SIDE, (0..SIDE * SIDE).flat_map(texel).collect())
}
