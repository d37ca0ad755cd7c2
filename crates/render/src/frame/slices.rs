//! Slices of rows: cutting a pass into them divides its GPU time into shorter submissions.
//!
//! Every shader that is cut into slices binds the first row of its slice and adds it to its pixel. WebGPU has
//! no dispatch with a base offset, and its weakest targets have no immediates. An `override` would need a
//! pipeline for each row. Rewriting entry points of shaders that do not know their first row would be
//! invisible to a reader of the shader. So each shader has one line for it, `row_offset`, always the first of
//! the kernel's own bindings (`Recording::dispatch_pixels`).

use canopy_bvh::{
    Result,
    gpu::{Gpu, UniformArray},
};

/// Height in rows of a workgroup's tile. Slices begin at multiples of it.
const TILE: u32 = 8;
const LABEL: &str = "row_offsets";

/// First rows that a slice can have, each in a uniform of its own.
#[derive(Debug)]
pub struct RowOffsets {
    uniforms: UniformArray<u32>,
    /// Height of the largest picture so far.
    height: u32,
}

impl RowOffsets {
    /// Creates the uniforms for a picture of one row.
    ///
    /// # Errors
    ///
    /// [`canopy_bvh::Error::Limit`] if they exceed the device's buffer size.
    pub fn new(gpu: &Gpu) -> Result<Self> {
        Self::of_height(gpu, 1)
    }

    fn of_height(gpu: &Gpu, height: u32) -> Result<Self> {
        let rows: Vec<_> = (0..height).step_by(TILE as usize).collect();
        let uniforms = UniformArray::new(gpu, LABEL, rows.into_iter())?;
        Ok(Self { uniforms, height })
    }

    /// Grows to pictures of `height` rows.
    ///
    /// # Errors
    ///
    /// Any error of [`RowOffsets::new`].
    pub fn fit(&mut self, gpu: &Gpu, height: u32) -> Result<()> {
        if self.height < height {
            *self = Self::of_height(gpu, height)?;
        }
        Ok(())
    }

    /// Returns the uniform of a slice that begins at `row`, for a bind group.
    pub fn at(&self, row: u32) -> wgpu::BufferBinding<'_> {
        self.uniforms.at((row / TILE) as usize)
    }
}

/// Returns the first row and the height of each slice. A slice has at most `most` pixels, but at least one
/// row of tiles.
pub(crate) fn slices([width, height]: [u32; 2], most: u32) -> impl Iterator<Item = [u32; 2]> {
    let rows = most / width.max(1) / TILE * TILE;
    let rows = rows.clamp(TILE, height.next_multiple_of(TILE).max(TILE));
    (0..height)
        .step_by(rows as usize)
        .map(move |first| [first, rows.min(height - first)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_hold_every_row_once_within_the_pixel_limit() {
        for size in [[1, 1], [480, 360], [3840, 2160], [16384, 16383]] {
            for most in [1, 1 << 14, 1 << 18, 1 << 22, u32::MAX] {
                let mut row = 0;
                for [first, rows] in slices(size, most) {
                    assert_eq!((first, first % TILE), (row, 0));
                    assert!(rows <= TILE || rows * size[0] <= most, "{size:?}");
                    row += rows;
                }
                assert_eq!(row, size[1]);
            }
        }
        assert_eq!(slices([5, 0], 1 << 18).count(), 0);
    }
}
