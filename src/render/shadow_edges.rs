//! Where the shadows of lights that have a size have edges with little history: `shadow_filter` finds them in one
//! frame, and in the next one more rays go there.

use super::{
    edges::{TAPS_FORMAT, fitted},
    history::Reprojection,
    signal::FRESH_FORMAT,
};
use crate::{
    Result,
    gpu::{Bind, Gpu, GpuImage},
};
use wgpu::TextureUsages as Usage;

/// What the last frame found; one texel of each image without it.
#[derive(Debug)]
pub struct ShadowEdges {
    /// A layer for two slots: a bit for each that has an edge there.
    found: GpuImage,
    /// Nothing, for what has no last frame.
    none: GpuImage,
    no_taps: GpuImage,
}

impl ShadowEdges {
    /// None.
    pub fn new(gpu: &Gpu) -> Self {
        let usage = Usage::STORAGE_BINDING | Usage::TEXTURE_BINDING;
        Self {
            found: image(gpu, [1, 1], 1),
            none: image(gpu, [1, 1], 1),
            no_taps: GpuImage::new(gpu, "shadow_edges.no_taps", [1, 1], TAPS_FORMAT, usage),
        }
    }

    /// Makes room for pictures of `size` pixels with `slots` lights each, if any; what was found stays where that is
    /// the same.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Gpu`] where the adapter has no memory left.
    pub fn fit(&mut self, gpu: &Gpu, size: [u32; 2], slots: Option<u32>) -> Result<()> {
        let (size, layers) = match slots {
            Some(slots) => (size, slots.div_ceil(2).max(1)),
            None => ([1, 1], 1),
        };
        if (self.found.size(), self.found.layers()) != (size, layers) {
            self.found = fitted(gpu, size, || image(gpu, size, layers))?;
        }
        Ok(())
    }

    /// Where this frame's pixels were, and what the last frame found there.
    pub fn before<'a>(&'a self, history: Reprojection<'a>) -> [&'a dyn Bind; 2] {
        [history.taps, &self.found]
    }

    /// The same for pixels that no frame has seen before.
    pub fn none(&self) -> [&dyn Bind; 2] {
        [&self.no_taps, &self.none]
    }

    /// What this frame finds.
    pub fn found(&self) -> &GpuImage {
        &self.found
    }
}

fn image(gpu: &Gpu, size: [u32; 2], layers: u32) -> GpuImage {
    let usage = Usage::STORAGE_BINDING | Usage::TEXTURE_BINDING;
    GpuImage::with_layers(gpu, "shadow_edges", size, layers, FRESH_FORMAT, usage)
}
