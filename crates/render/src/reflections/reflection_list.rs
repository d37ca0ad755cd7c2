//! The list of reflection rays of a bounce, and of their hits: `reflection_classify` fills it, `reflection_rays` traces
//! it in batches, and `reflection_sort` sorts the hits.

use crate::{
    edges::{GBuffer, Hits, Lobes, Reflected, ReflectionStart},
    frame::ray_list::entries,
    layout::{HitRange, REFLECTION_BINS, ReflectionParams, SAMPLE_LOBES, SAMPLE_REFLECTIONS},
    settings::{HitOrder, RayListing},
};
use canopy_bvh::{
    Result,
    accel::layout::{SORT_BLOCK, SORT_ROUNDS},
    gpu::{Gpu, GpuImage, UniformArray},
};
use std::num::NonZeroU64;
use wgpu::BufferUsages;

/// Bytes from one of the arguments to the next: every adapter lets bindings begin at its multiples.
const STRIDE: u64 = 256;

/// Dimensions of the sampling sequence for the rays of one start, and the choices of their lobes.
const SAMPLE_STARTS: u32 = 2 * (SAMPLE_LOBES - SAMPLE_REFLECTIONS);
/// Words in front of the list of sending tiles.
const SENDING_HEADER: u64 = 4;
/// What reflections are averaged in over frames.
pub const MEAN_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rg32Uint;
/// The first ray of each pixel: reflections/sent_ray.wgsl.
pub const SENT_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rg32Uint;

/// A bounce of reflections.
#[derive(Debug, Clone, Copy)]
pub struct Bounce<'a> {
    /// Where the first bounce has started.
    pub start: ReflectionStart,
    /// Number of the bounce, from 0 on.
    pub number: u32,
    /// The surfaces that it starts from: those of the picture, or the hits of the bounce before.
    pub gbuffer: &'a GBuffer,
    /// Their lobes.
    pub lobes: &'a Lobes,
    /// What rays have found there, from the second bounce on.
    pub found: &'a GpuImage,
    /// Its rays, and then its hits.
    pub list: &'a ReflectionList,
    /// The surfaces that it hits.
    pub hits: &'a Hits,
    /// What the pixels reflect, which it adds to.
    pub reflected: &'a Reflected,
}

/// The lists of one bounce, which the next one fills anew.
#[derive(Debug)]
pub struct ReflectionList {
    /// A pixel a texel.
    pub entries: GpuImage,
    /// Workgroups of `reflection_sort` and the counts of rays and tiles; its parameters; then those of each batch.
    pub arguments: wgpu::Buffer,
    /// Where all hits lie in `sorted`, and then those of each bin.
    pub ranges: wgpu::Buffer,
    /// How many hits of each bin a block of the sort has.
    pub counts: wgpu::Buffer,
    /// Pixels of the hits, in [`ListKey::order`].
    pub sorted: wgpu::Buffer,
    /// Tiles that send rays at the first bounce, with the workgroups of a dispatch over them.
    pub sending: wgpu::Buffer,
    /// Parameters of each bounce, for either start.
    params: UniformArray<ReflectionParams>,
    made_for: ListKey,
}

/// What a list is made for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ListKey {
    /// Pixels in a row, and rows.
    pub size: [u32; 2],
    /// Most rays of a batch.
    pub batch: u32,
    /// Bounces.
    pub bounces: u32,
    /// As [`ReflectionParams::blur`].
    pub blur: f32,
    /// Of which pixels rays are listed.
    pub listing: RayListing,
    /// How hits are listed.
    pub order: HitOrder,
    /// Bins of the scene's materials.
    pub bins: u32,
}

impl ReflectionList {
    /// Empty lists.
    ///
    /// # Errors
    ///
    /// [`canopy_bvh::Error::Limit`] where a storage binding of the adapter does not hold them.
    pub fn new(gpu: &Gpu, made_for: ListKey) -> Result<Self> {
        let [width, height] = made_for.size;
        let rays = u64::from(width) * u64::from(height);
        let what = format!("the reflections of {width} × {height} pixels");
        gpu.check_binding(&what, 8 * rays)?;
        let batches = rays.div_ceil(u64::from(made_for.batch)).max(1);
        let tiles = u64::from(width.div_ceil(8)) * u64::from(height.div_ceil(8));
        let blocks = rays.div_ceil(u64::from(SORT_BLOCK * SORT_ROUNDS)).max(1);
        let storage = BufferUsages::STORAGE;
        let indirect = storage | BufferUsages::INDIRECT;
        let starts = [ReflectionStart::Solid, ReflectionStart::Blended];
        let bounces = starts.map(|start| (0..made_for.bounces).map(move |bounce| (start, bounce)));
        let params: Vec<_> = bounces
            .into_iter()
            .flatten()
            .map(|(start, bounce)| ReflectionParams {
                bounce,
                dimension: bounce + SAMPLE_STARTS * start as u32,
                batch: made_for.batch,
                // Nothing averages what blended surfaces show.
                blur: match start {
                    ReflectionStart::Solid => made_for.blur,
                    ReflectionStart::Blended => 0.0,
                },
                is_last: u32::from(bounce + 1 == made_for.bounces),
                listing: made_for.listing as u32,
                order: made_for.order as u32,
                bins: made_for.bins,
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
            made_for,
        })
    }

    /// What it was made for.
    pub fn made_for(&self) -> ListKey {
        self.made_for
    }

    /// The parameters of a bounce.
    pub fn params(&self, start: ReflectionStart, bounce: u32) -> wgpu::BufferBinding<'_> {
        let first = start as u32 * self.made_for.bounces;
        self.params.at((first + bounce) as usize)
    }

    /// The parameters of the sort.
    pub fn sort_params(&self) -> wgpu::BufferBinding<'_> {
        self.part(1)
    }

    /// The arguments of each batch, and the byte at which they lie.
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
