//! List of shadow rays that have to be traced. `shadow_classify` fills it and `shadow_rays` traces it, one
//! batch after another. This bounds the size of the list and the work of one dispatch, regardless of the size
//! of the picture and the number of lights.

use crate::layout::{RAY_BATCH_SLOTS, RAY_LIST_WIDTH, RayBatch};
use canopy_bvh::gpu::{Gpu, GpuImage, array::avoid_power_of_two};
use std::num::NonZeroU64;
use wgpu::{BufferUsages, TextureUsages};

/// Edge of a tile in pixels.
const TILE: u32 = 8;
/// Stride in bytes between the parameters or arguments of two batches. Every adapter supports this binding
/// alignment.
const STRIDE: u64 = 256;

/// List of rays, and the batches that fill it one after another.
#[derive(Debug)]
pub struct RayList {
    /// One entry per texel.
    pub entries: GpuImage,
    /// A [`RayArguments`](crate::layout::RayArguments) per batch. Clear it before the first batch.
    pub arguments: wgpu::Buffer,
    /// Batches of a frame.
    pub batches: Vec<Batch>,
    params: wgpu::Buffer,
}

/// Rays of all pixels in a range of rows, for a range of light slots.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Batch {
    /// Number of tile columns and rows.
    pub tiles: [u32; 2],
    /// Byte offset of its arguments.
    pub offset: u64,
    params: RayBatch,
}

/// Creates an image for `count` entries of a list, row by row.
pub(crate) fn entries(gpu: &Gpu, label: &'static str, count: u32) -> GpuImage {
    let rows = avoid_power_of_two(gpu, count.div_ceil(RAY_LIST_WIDTH));
    let usage = TextureUsages::STORAGE_BINDING | TextureUsages::TEXTURE_BINDING;
    let format = wgpu::TextureFormat::R32Uint;
    GpuImage::new(gpu, label, [RAY_LIST_WIDTH, rows], format, usage)
}

impl RayList {
    /// Creates a list for a picture of `size` pixels with `slots` light slots per pixel, in batches of up to
    /// `most` entries. Without slots it has no batch.
    pub fn new(gpu: &Gpu, size: [u32; 2], slots: u32, most: u32) -> Self {
        let batches = batches(size, slots, most);
        let rays = |batch: &Batch| size[0] * TILE * batch.tiles[1] * batch.params.slot_count;
        let longest = batches.iter().map(rays).max().unwrap_or(0);
        let bytes = STRIDE * batches.len() as u64;
        let params = gpu.buffer(
            "ray_list.params",
            bytes,
            BufferUsages::UNIFORM | BufferUsages::COPY_DST,
        );
        for batch in &batches {
            gpu.queue
                .write_buffer(&params, batch.offset, bytemuck::bytes_of(&batch.params));
        }
        Self {
            entries: entries(gpu, "ray_list", longest),
            arguments: gpu.buffer(
                "ray_list.arguments",
                bytes,
                BufferUsages::STORAGE
                    | BufferUsages::UNIFORM
                    | BufferUsages::INDIRECT
                    | BufferUsages::COPY_DST,
            ),
            batches,
            params,
        }
    }

    /// Returns the number of tiles that are classified in all batches.
    pub fn tiles(&self) -> u32 {
        self.batches
            .iter()
            .map(|batch| batch.tiles[0] * batch.tiles[1])
            .sum()
    }

    /// Returns the bindings of the batch's [`RayBatch`] and [`RayArguments`](crate::layout::RayArguments).
    pub fn bindings(&self, batch: &Batch) -> [wgpu::BufferBinding<'_>; 2] {
        [&self.params, &self.arguments].map(|buffer| wgpu::BufferBinding {
            buffer,
            offset: batch.offset,
            size: NonZeroU64::new(STRIDE),
        })
    }
}

/// Divides every pixel's entries for every slot into batches of up to `most` entries. A batch covers at least
/// a row of tiles for one slot. It spans as many slots as possible, because each batch unpacks the G-buffer
/// of its pixels again.
fn batches([width, height]: [u32; 2], slots: u32, most: u32) -> Vec<Batch> {
    let columns = width.max(1);
    let at_once = (most / (columns * TILE)).clamp(1, RAY_BATCH_SLOTS);
    // Spreads the slots evenly, so that the last batch is not much smaller than the others.
    let batch_slots = slots.div_ceil(slots.div_ceil(at_once).max(1)).max(1);
    let band_rows = (most / (columns * batch_slots) / TILE * TILE)
        .min(height.next_multiple_of(TILE))
        .max(TILE);
    let mut batches = Vec::new();
    for row_offset in (0..height).step_by(band_rows as usize) {
        for first_slot in (0..slots).step_by(batch_slots as usize) {
            batches.push(Batch {
                tiles: [width, band_rows.min(height - row_offset)].map(|side| side.div_ceil(TILE)),
                offset: STRIDE * batches.len() as u64,
                params: RayBatch {
                    row_offset,
                    first_slot,
                    slot_count: batch_slots.min(slots - first_slot),
                },
            });
        }
    }
    batches
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::recording::FrameBudget;

    #[test]
    fn batches_hold_all_lights_if_a_row_of_tiles_fits() {
        let held = |size, slots, most| {
            let batches = batches(size, slots, most);
            let params = batches.iter().map(|batch| batch.params);
            let counts: Vec<_> = params.map(|params| params.slot_count).collect();
            (batches[0].tiles[1] * TILE, counts)
        };
        assert_eq!(held([640, 360], 3, 1 << 16), (32, vec![3; 12]));
        assert_eq!(held([640, 360], 12, 1 << 20), (136, vec![12; 3]));
        assert_eq!(held([640, 8], 17, 1 << 20), (8, vec![9, 8]));
        assert_eq!(held([640, 8], 3, 1), (8, vec![1; 3]));
    }

    #[test]
    fn batches_hold_every_ray_once_within_the_capacity_of_the_list() {
        let sizes = [
            [1, 1],
            [7, 9],
            [640, 360],
            [1920, 1080],
            [3840, 2160],
            [16384, 16384],
            [32768, 4097],
        ];
        for size in sizes {
            let cases = [0, 1, 2, 16, 17, 33, 256]
                .into_iter()
                .flat_map(|lights| [FrameBudget::MAX_RAYS, 1 << 16, 1].map(|most| (lights, most)));
            for (lights, most) in cases {
                let batches = batches(size, lights, most);
                let (mut row, mut light) = (0, 0);
                for (index, batch) in batches.iter().enumerate() {
                    assert_eq!(batch.offset, STRIDE * index as u64);
                    let RayBatch {
                        row_offset,
                        first_slot,
                        slot_count,
                    } = batch.params;
                    assert_eq!(
                        (row_offset, first_slot),
                        (row, light),
                        "{size:?}, {lights} lights"
                    );
                    assert!((1..=RAY_BATCH_SLOTS).contains(&slot_count));
                    let rows = TILE * batch.tiles[1];
                    assert!(size[0] * rows * slot_count <= most.max(size[0] * TILE));
                    light += slot_count;
                    if light == lights {
                        (row, light) = (row + rows, 0);
                    }
                }
                assert!(lights == 0 || row >= size[1], "rows are left out of {size:?}");
                assert_eq!(light, 0, "lights are left out of {size:?}");
            }
        }
    }
}
