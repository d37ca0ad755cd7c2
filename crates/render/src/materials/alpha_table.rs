//! Alpha of materials for rays, and their mean colours, in one buffer. A buffer is used because binding
//! arrays are missing on the web and on software adapters.

use super::material_uniforms::{alpha_cutoff, alpha_sampler, uv_rows};
use canopy_bvh::gpu::library::wgsl_constants;
use canopy_scene::{AlphaMode, Image, Material, Scene, srgb};
use glam::{Vec3, Vec4Swizzles};
use std::collections::{HashMap, HashSet};

wgsl_constants! {
    /// Size of a material's header in words.
    pub(crate) const ALPHA_HEADER: u32 = 24;
    /// Index of the mode's word: an [`AlphaMode`], or [`ALPHA_CLEAR`].
    const ALPHA_MODE: u32 = 0;
    const ALPHA_BLEND: u32 = AlphaMode::Blend as u32;
    const ALPHA_MASK: u32 = AlphaMode::Mask as u32;
    /// Mode of a material that casts no shadow.
    const ALPHA_CLEAR: u32 = 3;
    /// Index of the cutoff's word, an `f32`. The cutoff is 0 if the material is not masked.
    pub(crate) const ALPHA_CUTOFF: u32 = 1;
    /// Index of the alpha factor's word, an `f32`. It directly follows the cutoff.
    const ALPHA_FACTOR: u32 = 2;
    /// Index of the UV set's word; all ones without a texture.
    const ALPHA_UV_SET: u32 = 3;
    /// Index of the word with the offset of the texture's alpha.
    const ALPHA_FIRST_WORD: u32 = 4;
    /// Index of the word with the texture width in texels.
    const ALPHA_WIDTH: u32 = 5;
    /// Index of the word with the texture height in texels.
    const ALPHA_HEIGHT: u32 = 6;
    /// Index of the sampler's word: see [`alpha_sampler`].
    const ALPHA_SAMPLER: u32 = 7;
    /// Index of the word that is 1 if back faces are visible.
    const ALPHA_DOUBLE_SIDED: u32 = 14;
    /// Index of the word that is 1 if the surface is alpha-blended.
    const ALPHA_BLENDED: u32 = 15;
    /// Index of the first word of the UV transform: two rows of three `f32`.
    pub(crate) const ALPHA_FROM_UV: u32 = 8;
    /// Index of the first word of the surface's diffuse albedo, three `f32`, including the mean of its
    /// texture.
    pub(crate) const ALPHA_SCATTERS: u32 = 16;
    /// Index of the first word of the diffuse albedo without the texture, three `f32`. It directly follows
    /// [`ALPHA_SCATTERS`].
    const ALPHA_SCATTERS_BARE: u32 = 19;
}

const HEADER: usize = ALPHA_HEADER as usize;

/// Table that material/alpha.wgsl reads. It has a header for each material, then the alpha of the texture of
/// each masked or blended material, once per image.
pub(crate) struct AlphaTable {
    pub(crate) words: Vec<u32>,
    pub(crate) layout: AlphaLayout,
}

/// Longer side in texels of the thumbnail from which an image's mean colour is computed.
const MEAN_SIDE: u32 = 32;

/// Offsets of the alpha of images in a table, and their mean colours.
#[derive(Debug)]
pub(crate) struct AlphaLayout {
    /// Number of times that every image was halved.
    halvings: u32,
    first_word_of_image: HashMap<usize, u32>,
    /// Mean colours, keyed by the image and whether its alpha weights the mean.
    means: HashMap<(usize, bool), Vec3>,
}

/// Returns the image whose alpha rays read on `material`; `None` if it is opaque or has no texture.
fn image_of(scene: &Scene, material: &Material) -> Option<usize> {
    let texture = material.base_color_texture?.texture;
    (material.alpha_mode != AlphaMode::Opaque).then_some(scene.textures[texture].image)
}

impl AlphaTable {
    /// Creates the table of `scene`. Images are halved until the table is no larger than `max_bytes`.
    pub(crate) fn new(scene: &Scene, max_bytes: u64) -> Self {
        let images = scene.materials.iter().filter_map(|m| image_of(scene, m));
        let images: HashSet<usize> = images.collect();
        let headers = 4 * (HEADER * scene.materials.len()) as u64;
        let bytes = |halvings: u32| {
            let sizes = images.iter().map(|i| halved(&scene.images[*i], halvings));
            let texels = sizes.map(|[width, height]| u64::from(width) * u64::from(height) + 3);
            headers + texels.sum::<u64>()
        };
        let halvings = (0..32).find(|h| bytes(*h) <= max_bytes).unwrap_or(0);
        if halvings > 0 {
            log::warn!(
                "shadow rays see masked textures at 1/{} of their size",
                1 << halvings
            );
        }
        let mut layout = AlphaLayout {
            halvings,
            first_word_of_image: HashMap::new(),
            means: HashMap::new(),
        };
        let mut words = vec![0; HEADER * scene.materials.len()];
        for (index, material) in scene.materials.iter().enumerate() {
            if let Some(image) = image_of(scene, material) {
                layout.first_word_of_image.entry(image).or_insert_with(|| {
                    let first = words.len() as u32;
                    let alphas = alphas(&scene.images[image], halvings);
                    words.extend(alphas.chunks(4).map(|four| {
                        four.iter()
                            .rev()
                            .fold(0, |word, alpha| word << 8 | u32::from(*alpha))
                    }));
                    first
                });
            }
            if let Some(key) = mean_key(scene, material) {
                let mean = || mean_color(&scene.images[key.0], key.1);
                layout.means.entry(key).or_insert_with(mean);
            }
            words[HEADER * index..HEADER * (index + 1)].copy_from_slice(&layout.header(scene, material));
        }
        Self { words, layout }
    }
}

impl AlphaLayout {
    /// True if the table has the alpha that rays read on `material`.
    pub(crate) fn has_alpha_of(&self, scene: &Scene, material: &Material) -> bool {
        image_of(scene, material).is_none_or(|image| self.first_word_of_image.contains_key(&image))
    }

    /// Returns the header of a material whose alpha is in the table.
    pub(crate) fn header(&self, scene: &Scene, material: &Material) -> [u32; HEADER] {
        let mut header = [0; HEADER];
        let mut set = |word: u32, value| header[word as usize] = value;
        let mode = match material.alpha_mode {
            _ if material.is_clear() => ALPHA_CLEAR,
            _ if material.is_blended() => ALPHA_BLEND,
            mode => mode as u32,
        };
        set(ALPHA_MODE, mode);
        set(ALPHA_CUTOFF, alpha_cutoff(material).to_bits());
        set(ALPHA_FACTOR, material.base_color.w.to_bits());
        set(ALPHA_UV_SET, u32::MAX);
        // Rays inside a volume hit the back faces of its surface.
        let is_seen = material.double_sided || material.is_volume();
        set(ALPHA_DOUBLE_SIDED, u32::from(is_seen));
        let blends = material.alpha_mode == AlphaMode::Blend;
        set(ALPHA_BLENDED, u32::from(blends));
        let image = image_of(scene, material);
        let first_word = image.and_then(|image| self.first_word_of_image.get(&image));
        if let (Some(first_word), Some(texture_ref)) = (first_word, material.base_color_texture) {
            let texture = scene.textures[texture_ref.texture];
            let image = &scene.images[texture.image];
            set(ALPHA_UV_SET, texture_ref.uv_set);
            set(ALPHA_FIRST_WORD, *first_word);
            let [width, height] = halved(image, self.halvings);
            set(ALPHA_WIDTH, width);
            set(ALPHA_HEIGHT, height);
            set(ALPHA_SAMPLER, alpha_sampler(&texture.sampler));
            for (row, values) in (0..).zip(uv_rows(&texture_ref)) {
                for (word, value) in (ALPHA_FROM_UV + 3 * row..).zip(&values[..3]) {
                    set(word, value.to_bits());
                }
            }
        }
        let scatters = ALPHA_SCATTERS as usize..ALPHA_HEADER as usize;
        for (word, value) in header[scatters].iter_mut().zip(self.scatters(scene, material)) {
            *word = value.to_bits();
        }
        header
    }

    /// Returns the diffuse albedo of a surface with the mean of its texture, then without the texture.
    pub(crate) fn scatters(&self, scene: &Scene, material: &Material) -> [f32; 6] {
        let passes = material
            .layers
            .as_deref()
            .map_or(0.0, |layers| layers.transmission);
        let bare = match material.unlit {
            true => Vec3::ZERO,
            false => material.base_color.xyz() * (1.0 - passes),
        };
        let mean = mean_key(scene, material).map_or(Vec3::ONE, |key| {
            let known = self.means.get(&key).copied();
            known.unwrap_or_else(|| mean_color(&scene.images[key.0], key.1))
        });
        let [a, b, c] = (bare * mean).to_array();
        let [d, e, f] = bare.to_array();
        [a, b, c, d, e, f]
    }
}

/// Returns the image of a material's base colour, and whether its alpha weights the mean.
fn mean_key(scene: &Scene, material: &Material) -> Option<(usize, bool)> {
    let texture = material.base_color_texture?.texture;
    let is_cut = material.alpha_mode != AlphaMode::Opaque;
    Some((scene.textures[texture].image, is_cut))
}

/// Returns the linear mean colour of an image. For masked and blended materials, texels are weighted by
/// alpha, because invisible texels may have any colour.
fn mean_color(image: &Image, is_cut: bool) -> Vec3 {
    let (_, texels) = image.thumbnail(MEAN_SIDE);
    let (mut sum, mut weights) = (Vec3::ZERO, 0.0);
    for texel in texels.chunks_exact(4) {
        let [r, g, b, alpha] = [0, 1, 2, 3].map(|channel| f32::from(texel[channel]) / 255.0);
        let weight = if is_cut { alpha } else { 1.0 };
        sum += weight * Vec3::from_array([r, g, b].map(srgb::decode));
        weights += weight;
    }
    if weights > 0.0 { sum / weights } else { Vec3::ZERO }
}

fn halved(image: &Image, halvings: u32) -> [u32; 2] {
    [image.width, image.height].map(|side| (side >> halvings).max(1))
}

/// Returns the alpha of an image that is halved `halvings` times, row by row. Each texel is the mean of a
/// box.
fn alphas(image: &Image, halvings: u32) -> Vec<u8> {
    let rgba8 = image.rgba8();
    let [width, height] = halved(image, halvings).map(|side| side as usize);
    let [wide, high] = [image.width, image.height].map(|side| side as usize);
    let mut out = Vec::with_capacity(width * height);
    for y in 0..height {
        for x in 0..width {
            let (mut sum, mut count) = (0, 0);
            for row in y * high / height..(y + 1) * high / height {
                for column in x * wide / width..(x + 1) * wide / width {
                    sum += u32::from(rgba8[4 * (row * wide + column) + 3]);
                    count += 1;
                }
            }
            out.push(((sum + count / 2) / count) as u8);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use canopy_scene::{Sampler, Texture, TextureRef};
    use glam::Affine2;

    #[test]
    fn alpha_textures_are_halved_until_they_fit() {
        let mut scene = Scene::default();
        let texels = (0..6 * 4).flat_map(|i| [9, 9, 9, if i % 6 < 2 { 0 } else { 200 }]);
        scene
            .images
            .push(Image::from_rgba8("alpha", 6, 4, texels.collect()));
        scene.textures.push(Texture {
            image: 0,
            sampler: Sampler::default(),
        });
        scene.materials.push(Material {
            alpha_mode: AlphaMode::Mask,
            base_color_texture: Some(TextureRef {
                texture: 0,
                uv_set: 0,
                texture_from_uv: Affine2::IDENTITY,
            }),
            ..Material::default()
        });
        let header = 4 * u64::from(ALPHA_HEADER);
        for (bytes, size, words) in [
            (1000, [6, 4], vec![0xc8c8_0000; 1]),
            (26, [3, 2], vec![0x00c8_c800, 0xc8c8]),
            (4, [1, 1], vec![133]),
        ] {
            let table = AlphaTable::new(&scene, header + bytes).words;
            assert_eq!(table[5..7], size);
            assert_eq!(table[4], ALPHA_HEADER);
            assert_eq!(table[HEADER..][..words.len()], words);
            assert!(table.len() as u64 * 4 <= header + bytes);
        }
    }

    /// The mean of a texture is computed in linear light. For a masked material, it is the mean of the
    /// visible part.
    #[test]
    fn the_scattered_colour_uses_the_mean_of_the_texture() {
        let mut scene = Scene::default();
        // Half white, half black; the black half is transparent.
        let texels = (0..64).flat_map(|i| if i % 8 < 4 { [255; 4] } else { [0; 4] });
        let image = Image::from_rgba8("halves", 8, 8, texels.collect());
        scene.images.push(image);
        let sampler = Sampler::default();
        scene.textures.push(Texture { image: 0, sampler });
        let textured = Material {
            base_color: Vec3::new(0.8, 0.4, 0.2).extend(1.0),
            base_color_texture: Some(TextureRef {
                texture: 0,
                uv_set: 0,
                texture_from_uv: Affine2::IDENTITY,
            }),
            ..Material::default()
        };
        let mut glass = textured.clone();
        glass.layers = Some(Box::default());
        glass.layers.as_mut().unwrap().transmission = 0.75;
        scene.materials = vec![
            textured.clone(),
            Material {
                alpha_mode: AlphaMode::Mask,
                ..textured.clone()
            },
            glass,
            Material {
                unlit: true,
                ..textured
            },
        ];
        let table = AlphaTable::new(&scene, 1 << 20).words;
        let first = ALPHA_SCATTERS as usize;
        for (material, [mean, bare]) in [[0.4, 0.8], [0.8, 0.8], [0.1, 0.2], [0.0; 2]]
            .into_iter()
            .enumerate()
        {
            let words = &table[HEADER * material + first..][..6];
            let found: Vec<_> = words.iter().map(|word| f32::from_bits(*word)).collect();
            let expected = [mean, bare].map(|red| [red, red / 2.0, red / 4.0]).concat();
            let apart = found.iter().zip(&expected).map(|(a, b)| (a - b).abs());
            assert!(apart.fold(0.0, f32::max) < 1e-3, "{found:?}, not {expected:?}");
        }
    }
}
