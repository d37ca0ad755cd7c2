//! Thumbnails of the scene's textures, dropped together with the scene.

use crate::scene::Image;
use egui::{ColorImage, Context, TextureHandle, TextureOptions};
use std::collections::HashMap;

/// Number of texels along the longer side of a thumbnail.
const SIDE: u32 = 64;

/// Thumbnails created so far, by image, with and without alpha.
#[derive(Default)]
pub(in crate::app) struct Thumbnails(HashMap<(usize, bool), TextureHandle>);

impl std::fmt::Debug for Thumbnails {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} thumbnails", self.0.len())
    }
}

impl Thumbnails {
    /// Returns the thumbnail of an image, created on first use in a time that does not depend on the image's
    /// size. Without `has_alpha` it is opaque, for images whose alpha is not an opacity.
    pub(in crate::app) fn of(
        &mut self,
        ctx: &Context,
        index: usize,
        image: &Image,
        has_alpha: bool,
    ) -> &TextureHandle {
        self.0.entry((index, has_alpha)).or_insert_with(|| {
            let (size, mut texels) = image.thumbnail(SIDE);
            if !has_alpha {
                texels.chunks_exact_mut(4).for_each(|texel| texel[3] = 255);
            }
            let size = size.map(|side| side as usize);
            let picture = ColorImage::from_rgba_unmultiplied(size, &texels);
            ctx.load_texture("thumbnail", picture, TextureOptions::LINEAR)
        })
    }

    /// Drops all thumbnails.
    pub(in crate::app) fn clear(&mut self) {
        self.0.clear();
    }
}
