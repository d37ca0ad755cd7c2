//! Masks of the penumbra edges with a short history, and of the settled shadows, for lights that have a size.
//! `shadow_filter` writes the masks. In the next frame, edges cast more rays and settled pixels cast none.

use crate::resources::{NOISY_FORMAT, REPROJECTED_FORMAT, Reprojection, UNUSED, try_create, unused_layers};
use canopy_bvh::{
    Result,
    gpu::{Bind, Gpu, GpuImage},
};
use wgpu::TextureUsages as Usage;

/// Masks of the last frame and of this one. Unused images have [`UNUSED`] texels.
#[derive(Debug)]
pub struct ShadowEdges {
    /// Alternates between the last frame and this one by the parity of [`Reprojection::index`]. Each layer
    /// holds two slots (shadow/shadow_edges_word.wgsl).
    found: [GpuImage; 2],
    /// Empty mask, bound for pixels without a history.
    none: GpuImage,
    no_pixels: GpuImage,
}

impl ShadowEdges {
    /// Creates empty masks.
    pub fn new(gpu: &Gpu) -> Self {
        let usage = Usage::STORAGE_BINDING | Usage::TEXTURE_BINDING;
        Self {
            found: pair(gpu, UNUSED, unused_layers(gpu)),
            none: image(gpu, UNUSED, unused_layers(gpu)),
            no_pixels: GpuImage::new(gpu, "shadow_edges.no_pixels", UNUSED, REPROJECTED_FORMAT, usage),
        }
    }

    /// Reallocates the masks for `size` pixels with `slots` light slots each. Without slots, frees them.
    /// Keeps the contents if nothing changes.
    ///
    /// # Errors
    ///
    /// [`canopy_bvh::Error::Gpu`] if the adapter runs out of memory.
    pub fn fit(&mut self, gpu: &Gpu, size: [u32; 2], slots: Option<u32>) -> Result<()> {
        // Matches the view dimension of unused images. A layer that is never written contains no edges.
        let least = unused_layers(gpu);
        let (size, layers) = match slots {
            Some(slots) => (size, slots.div_ceil(2).max(least)),
            None => (UNUSED, least),
        };
        let [found, _] = &self.found;
        if (found.size(), found.layers()) != (size, layers) {
            self.found = try_create(gpu, size, || pair(gpu, size, layers))?;
        }
        Ok(())
    }

    /// Returns the bindings of a frame: reprojected pixels, the last frame's masks, and the tiles where
    /// something has changed.
    pub fn before<'a>(&'a self, history: Reprojection<'a>, tiles: &'a GpuImage) -> [&'a dyn Bind; 3] {
        [history.reprojected, self.found(history)[0], tiles]
    }

    /// Returns placeholders for the bindings of [`ShadowEdges::before`], for pixels without a history.
    pub fn none<'a>(&'a self, tiles: &'a GpuImage) -> [&'a dyn Bind; 3] {
        [&self.no_pixels, &self.none, tiles]
    }

    /// Returns the masks of the last frame and of this one.
    pub fn found(&self, history: Reprojection<'_>) -> [&GpuImage; 2] {
        let [even, odd] = &self.found;
        match history.index.is_multiple_of(2) {
            true => [odd, even],
            false => [even, odd],
        }
    }
}

fn pair(gpu: &Gpu, size: [u32; 2], layers: u32) -> [GpuImage; 2] {
    [(); 2].map(|()| image(gpu, size, layers))
}

fn image(gpu: &Gpu, size: [u32; 2], layers: u32) -> GpuImage {
    let usage = Usage::STORAGE_BINDING | Usage::TEXTURE_BINDING;
    GpuImage::with_layers(gpu, "shadow_edges", size, layers, NOISY_FORMAT, usage)
}
