//! List of the reflection rays of a bounce and of their hits. `reflection_classify` fills it,
//! `reflection_rays` traces it in batches, and `reflection_sort` sorts the hits.

use crate::{
    frame::ray_list::entries,
    layout::{HitRange, REFLECTION_BINS, ReflectionParams, SAMPLE_LOBES, SAMPLE_REFLECTIONS},
    resources::{GBuffer, Hits, Lobes, ReflectedRadiance, ReflectionStart},
    settings::{HitOrder, RayListing},
};
use canopy_bvh::{
    Result,
    accel::layout::{SORT_BLOCK, SORT_ROUNDS},
    gpu::{Gpu, GpuImage, UniformArray},
};
use std::num::NonZeroU64;
use wgpu::BufferUsages;

/// Stride between arguments in bytes, which is the portable alignment of a binding's offset.
const STRIDE: u64 = 256;

/// Number of sampling dimensions that the rays of a [`ReflectionStart`] and the choices of their lobes use.
const SAMPLE_STARTS: u32 = 2 * (SAMPLE_LOBES - SAMPLE_REFLECTIONS);
/// Number of words before the list of tiles that cast rays.
const SENDING_HEADER: u64 = 4;
/// Format of reflections averaged over frames.
pub const MEAN_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rg32Uint;
/// Format of the first ray of each pixel (reflections/sent_ray.wgsl).
pub const SENT_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rg32Uint;

/// Inputs and outputs of one bounce of reflections.
#[derive(Debug, Clone, Copy)]
pub struct Bounce<'a> {
    /// Surfaces that the first bounce starts from.
    pub start: ReflectionStart,
    /// Index of the bounce, from 0.
    pub number: u32,
    /// Surfaces of the ray origins: the picture's surfaces, or the hits of the previous bounce.
    pub gbuffer: &'a GBuffer,
    /// BSDF lobes of the ray origins.
    pub lobes: &'a Lobes,
    /// Hits of the previous bounce's rays, from the second bounce on.
    pub found: &'a GpuImage,
    /// Rays of the bounce, then its hits.
    pub list: &'a ReflectionList,
    /// Surfaces at the hits.
    pub hits: &'a Hits,
    /// Reflections of the pixels, which the bounce adds to.
    pub reflected: &'a ReflectedRadiance,
}

/// Buffers for the rays and hits of one bounce. Each bounce overwrites them.
#[derive(Debug)]
pub struct ReflectionList {
    /// Pixels of the rays, one per texel.
    pub entries: GpuImage,
    /// Dispatch arguments of `reflection_sort` with the counts of rays and tiles, then the parameters of the
    /// sort, then the arguments of each batch.
    pub arguments: wgpu::Buffer,
    /// Range of all hits in `sorted`, then the range of each bin.
    pub ranges: wgpu::Buffer,
    /// Number of hits of each bin in each block of the sort.
    pub counts: wgpu::Buffer,
    /// Pixels of the hits, in [`ListKey::order`].
    pub sorted: wgpu::Buffer,
    /// Tiles that cast rays at the first bounce, preceded by the arguments of a dispatch over them.
    pub sending: wgpu::Buffer,
    /// Parameters of each bounce, for each [`ReflectionStart`].
    params: UniformArray<ReflectionParams>,
    key: ListKey,
}

/// Inputs that a list's buffers depend on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ListKey {
    /// Width and height in pixels.
    pub size: [u32; 2],
    /// Maximum number of rays in a batch.
    pub batch: u32,
    /// Number of bounces.
    pub bounces: u32,
    /// Same value as [`ReflectionParams::blur`].
    pub blur: f32,
    /// Pixels whose rays are listed.
    pub listing: RayListing,
    /// Order of the hits in [`ReflectionList::sorted`].
    pub order: HitOrder,
    /// Number of bins of the scene's materials.
    pub bins: u32,
}

impl ReflectionList {
    /// Creates empty lists.
    ///
    /// # Errors
    ///
    /// [`canopy_bvh::Error::Limit`] if the lists exceed the adapter's limit for a storage binding.
    pub fn new(gpu: &Gpu, key: ListKey) -> Result<Self> {
        let [width, height] = key.size;
        let rays = u64::from(width) * u64::from(height);
        let what = format!("the reflections of {width} × {height} pixels");
        gpu.check_binding(&what, 8 * rays)?;
        let batches = rays.div_ceil(u64::from(key.batch)).max(1);
        let tiles = u64::from(width.div_ceil(8)) * u64::from(height.div_ceil(8));
        let blocks = rays.div_ceil(u64::from(SORT_BLOCK * SORT_ROUNDS)).max(1);
        let storage = BufferUsages::STORAGE;
        let indirect = storage | BufferUsages::INDIRECT;
        let starts = [ReflectionStart::Solid, ReflectionStart::Blended];
        let bounces = starts.map(|start| (0..key.bounces).map(move |bounce| (start, bounce)));
        let params: Vec<_> = bounces
            .into_iter()
            .flatten()
            .map(|(start, bounce)| ReflectionParams {
                bounce,
                dimension: bounce + SAMPLE_STARTS * start as u32,
                batch: key.batch,
                // Reflections of blended surfaces are not averaged.
                blur: match start {
                    ReflectionStart::Solid => key.blur,
                    ReflectionStart::Blended => 0.0,
                },
                is_last: u32::from(bounce + 1 == key.bounces),
                listing: key.listing as u32,
                order: key.order as u32,
                bins: key.bins,
            })
            .collect();
        Ok(Self {
            entries: entries(gpu, "reflection_list", rays as u32),
            arguments: gpu.buffer(
                "reflection_list.arguments",
                STRIDE * (2 + batches),
                indirect | BufferUsages::UNIFORM | BufferUsages::COPY_DST | BufferUsages::COPY_SRC,
            ),
            ranges: gpu.buffer(
                "reflection_list.ranges",
                u64::from(REFLECTION_BINS + 1) * size_of::<HitRange>() as u64,
                indirect | BufferUsages::UNIFORM | BufferUsages::COPY_SRC,
            ),
            counts: gpu.buffer(
                "reflection_list.counts",
                4 * blocks * u64::from(REFLECTION_BINS),
                storage,
            ),
            sorted: gpu.buffer("reflection_list.sorted", 4 * rays, storage),
            sending: gpu.buffer("reflection_list.sending", 4 * (SENDING_HEADER + tiles), indirect),
            params: UniformArray::new(gpu, "bounces of reflections", params.into_iter())?,
            key,
        })
    }

    /// Returns the inputs that the list was created for.
    pub fn key(&self) -> ListKey {
        self.key
    }

    /// Returns the parameters of a bounce.
    pub fn params(&self, start: ReflectionStart, bounce: u32) -> wgpu::BufferBinding<'_> {
        let first = start as u32 * self.key.bounces;
        self.params.at((first + bounce) as usize)
    }

    /// Returns the parameters of the sort.
    pub fn sort_params(&self) -> wgpu::BufferBinding<'_> {
        self.part(1)
    }

    /// Returns the arguments of each batch, with their byte offset in [`ReflectionList::arguments`].
    pub fn batches(&self) -> impl Iterator<Item = (wgpu::BufferBinding<'_>, u64)> {
        let count = self.arguments.size() / STRIDE - 2;
        (2..2 + count).map(|part| (self.part(part), STRIDE * part))
    }

    fn part(&self, part: u64) -> wgpu::BufferBinding<'_> {
        wgpu::BufferBinding {
            buffer: &self.arguments,
            offset: STRIDE * part,
            size: NonZeroU64::new(STRIDE),
        }
    }
}
