//! Where the shadows of lights that have a size have edges with little history, and where they have settled:
//! `shadow_filter` finds both in one frame, and in the next one more rays go to edges, and none to what has settled.

use crate::edges::{FRESH_FORMAT, Reprojection, TAPS_FORMAT, UNUSED, fitted, unused_layers};
use canopy_bvh::{
    Result,
    gpu::{Bind, Gpu, GpuImage},
};
use wgpu::TextureUsages as Usage;

/// What the last frame found; images that are not used without it.
#[derive(Debug)]
pub struct ShadowEdges {
    /// A layer for two slots (shadow/shadow_edges_word.wgsl), of the last frame and of this one by the parity of
    /// [`Reprojection::index`].
    found: [GpuImage; 2],
    /// Nothing, for what has no last frame.
    none: GpuImage,
    no_taps: GpuImage,
}

impl ShadowEdges {
    /// None.
    pub fn new(gpu: &Gpu) -> Self {
        let usage = Usage::STORAGE_BINDING | Usage::TEXTURE_BINDING;
        Self {
            found: pair(gpu, UNUSED, unused_layers(gpu)),
            none: image(gpu, UNUSED, unused_layers(gpu)),
            no_taps: GpuImage::new(gpu, "shadow_edges.no_taps", UNUSED, TAPS_FORMAT, usage),
        }
    }

    /// Makes room for pictures of `size` pixels with `slots` lights each, if any; what was found stays where that is
    /// the same.
    ///
    /// # Errors
    ///
    /// [`canopy_bvh::Error::Gpu`] where the adapter has no memory left.
    pub fn fit(&mut self, gpu: &Gpu, size: [u32; 2], slots: Option<u32>) -> Result<()> {
        // Of the kind of those that are not used; a layer that nobody writes holds no edges.
        let least = unused_layers(gpu);
        let (size, layers) = match slots {
            Some(slots) => (size, slots.div_ceil(2).max(least)),
            None => (UNUSED, least),
        };
        let [found, _] = &self.found;
        if (found.size(), found.layers()) != (size, layers) {
            self.found = fitted(gpu, size, || pair(gpu, size, layers))?;
        }
        Ok(())
    }

    /// Where this frame's pixels were, what the last frame found there, and the tiles where something has changed.
    pub fn before<'a>(&'a self, history: Reprojection<'a>, tiles: &'a GpuImage) -> [&'a dyn Bind; 3] {
        [history.taps, self.found(history)[0], tiles]
    }

    /// The same for pixels that no frame has seen before.
    pub fn none<'a>(&'a self, tiles: &'a GpuImage) -> [&'a dyn Bind; 3] {
        [&self.no_taps, &self.none, tiles]
    }

    /// What the last frame found, and what this one finds.
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
    GpuImage::with_layers(gpu, "shadow_edges", size, layers, FRESH_FORMAT, usage)
}
