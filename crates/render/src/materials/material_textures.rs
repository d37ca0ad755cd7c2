//! Textures of materials: formats, mip filters, samplers, and the bind groups that hold them.

use super::mipmap::{Filter, Mipmap};
use crate::bindings::LAYER_TEXTURES;
use canopy_bvh::{
    Error, Result,
    gpu::{Bind, Gpu, bind_group},
};
use canopy_scene::{
    AlphaMode, Image, LayerSlot, Layers, Material, Progress, Sampler, Scene, TexelFormat, TextureRef,
    TextureSupport, Wrap,
};
use std::{borrow::Cow, collections::HashMap};

/// Number of textures of a material without layers.
pub(crate) const BASE_TEXTURES: usize = 5;

/// Bound texture: its image and use, if there is one, and its sampler.
pub(crate) type Bound = (Option<(usize, TextureUse)>, Sampler);

/// Image uploaded for one of its uses, or the environment's image.
#[derive(Debug, Clone)]
pub struct SceneTexture {
    /// Index into [`Scene::images`]; `None` for the environment's image.
    pub image: Option<usize>,
    /// Use of the image: `colors`, `colors with alpha`, `numbers` or `normals`; `radiance` for the
    /// environment's.
    pub used_as: &'static str,
    /// View of all mip levels.
    pub view: wgpu::TextureView,
}

impl SceneTexture {
    /// Returns the texture, with its size, format and mip levels.
    pub fn texture(&self) -> &wgpu::Texture {
        self.view.texture()
    }

    /// Returns the size of all mip levels in bytes.
    pub fn bytes(&self) -> u64 {
        let texture = self.texture();
        let block = texture.format().block_dimensions();
        let bytes = texture.format().block_copy_size(None).unwrap_or(0);
        let level = |level| {
            let size = texture.size().mip_level_size(level, wgpu::TextureDimension::D2);
            u64::from(size.width.div_ceil(block.0)) * u64::from(size.height.div_ceil(block.1))
        };
        let blocks: u64 = (0..texture.mip_level_count()).map(level).sum();
        blocks * u64::from(bytes)
    }
}

/// Returns the image formats that `gpu` can sample.
pub fn texture_support(gpu: &Gpu) -> TextureSupport {
    TextureSupport {
        blocks: gpu.capabilities.bc_textures,
        sixteen_bits: gpu.capabilities.norm16_textures,
        max_side: gpu.limits.max_texture_dimension_2d,
    }
}

/// Content of a texture. It determines the format and the mip filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum TextureUse {
    /// sRGB colours.
    Colors,
    /// sRGB colours weighted by alpha.
    CutColors,
    /// Linear numbers.
    Numbers,
    /// Normals. Where it can be generated, alpha stores the spread of the normals under a texel.
    Normals,
}

impl TextureUse {
    pub(crate) fn is_srgb(self) -> bool {
        matches!(self, Self::Colors | Self::CutColors)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Colors => "colors",
            Self::CutColors => "colors with alpha",
            Self::Numbers => "numbers",
            Self::Normals => "normals",
        }
    }

    fn filter(self) -> Filter {
        match self {
            Self::Colors | Self::Numbers => Filter::Plain,
            Self::CutColors => Filter::Cut,
            Self::Normals => Filter::Normals,
        }
    }
}

/// Returns the format in which an image is stored: a byte per channel if the device cannot sample the image's
/// own format.
fn stored_format(support: &TextureSupport, format: TexelFormat, texels: TextureUse) -> TexelFormat {
    let as_it_is = match format {
        TexelFormat::Rgba8 => true,
        TexelFormat::Rgba16 => support.sixteen_bits && !texels.is_srgb(),
        _ => support.blocks,
    };
    if as_it_is { format } else { TexelFormat::Rgba8 }
}

/// True if the alpha of a normal texture stores the spread of normals. Block-compressed textures keep the
/// file's mip levels instead.
pub(crate) fn stores_normal_variance(
    scene: &Scene,
    support: &TextureSupport,
    texture: Option<TextureRef>,
) -> bool {
    let format = |texture: TextureRef| scene.images[scene.textures[texture.texture].image].format;
    let stored = texture.map(|texture| stored_format(support, format(texture), TextureUse::Normals));
    matches!(stored, Some(TexelFormat::Rgba8 | TexelFormat::Rgba16))
}

fn texture_format(format: TexelFormat, srgb: bool) -> wgpu::TextureFormat {
    use wgpu::TextureFormat::{
        Bc1RgbaUnorm, Bc2RgbaUnorm, Bc3RgbaUnorm, Bc7RgbaUnorm, Rgba8Unorm, Rgba16Unorm,
    };
    let linear = match format {
        TexelFormat::Rgba8 => Rgba8Unorm,
        TexelFormat::Rgba16 => Rgba16Unorm,
        TexelFormat::Bc1 => Bc1RgbaUnorm,
        TexelFormat::Bc2 => Bc2RgbaUnorm,
        TexelFormat::Bc3 => Bc3RgbaUnorm,
        TexelFormat::Bc7 => Bc7RgbaUnorm,
    };
    if srgb { linear.add_srgb_suffix() } else { linear }
}

/// Returns the textures of a material's base, in the order of the shader.
pub(crate) fn base_textures(scene: &Scene, material: &Material) -> Vec<Bound> {
    let textures = (0..).zip(texture_refs(material));
    let of_slot = |(slot, texture): (usize, Option<TextureRef>)| {
        let texture = texture.map(|texture| (texture.texture, use_of(material, slot)));
        bound(scene, texture)
    };
    textures.map(of_slot).collect()
}

/// Returns the textures of a material's layers, at most [`LAYER_TEXTURES`].
pub(crate) fn layer_textures(scene: &Scene, material: &Material) -> Vec<Bound> {
    let there = layer_bindings(material).bound;
    if there.len() > LAYER_TEXTURES {
        log::warn!(
            "the layers of material {} have {} textures; those past the first {LAYER_TEXTURES} are ignored",
            material.name,
            there.len()
        );
    }
    let bindings = (0..LAYER_TEXTURES).map(|index| there.get(index).copied());
    bindings.map(|texture| bound(scene, texture)).collect()
}

fn bound(scene: &Scene, texture: Option<(usize, TextureUse)>) -> Bound {
    match texture {
        Some((texture, texels)) => {
            let texture = scene.textures[texture];
            (Some((texture.image, texels)), texture.sampler)
        }
        // A missing texture is one white texel with the cheapest sampler.
        None => {
            let nearest = Sampler {
                mag_linear: false,
                min_linear: false,
                mip_linear: None,
                ..Sampler::default()
            };
            (None, nearest)
        }
    }
}

/// Textures and samplers shared by materials.
pub(crate) struct Textures<'a> {
    gpu: &'a Gpu,
    scene: &'a Scene,
    anisotropy: u16,
    /// Views keyed by image and use.
    views: HashMap<(usize, TextureUse), wgpu::TextureView>,
    samplers: HashMap<Sampler, wgpu::Sampler>,
    progress: &'a Progress,
}

impl<'a> Textures<'a> {
    /// Creates an empty set. Samplers filter with up to `anisotropy` taps, on software adapters with one.
    /// `progress` reports the images.
    pub(crate) fn new(gpu: &'a Gpu, scene: &'a Scene, anisotropy: u32, progress: &'a Progress) -> Self {
        Self {
            gpu,
            scene,
            anisotropy: if gpu.capabilities.filters_anisotropically {
                anisotropy as u16
            } else {
                1
            },
            views: HashMap::new(),
            samplers: HashMap::new(),
            progress,
        }
    }

    /// Creates a bind group with the uniform, then views and samplers of the base textures, then views and
    /// samplers of the layer textures in `bound`. Last follow the sheen table and the layer uniform in
    /// `of_layers`.
    pub(crate) fn group(
        &mut self,
        (label, layout): (&str, &wgpu::BindGroupLayout),
        uniform: &wgpu::BufferBinding<'_>,
        bound: &[Bound],
        of_layers: Option<(&wgpu::Buffer, wgpu::BufferBinding<'_>)>,
        (white, mipmap): (&wgpu::TextureView, &Mipmap),
    ) -> Result<wgpu::BindGroup> {
        let bind = |&(texture, sampler): &Bound| {
            let view = match texture {
                Some((image, texels)) => self.view(image, texels, mipmap)?,
                None => white.clone(),
            };
            Ok((view, self.sampler(sampler)))
        };
        let textures = bound.iter().map(bind).collect::<Result<Vec<_>>>()?;
        let mut resources: Vec<&dyn Bind> = vec![uniform];
        let (base, layers) = textures.split_at(BASE_TEXTURES);
        for textures in [base, layers] {
            resources.extend(textures.iter().map(|(view, _)| view as &dyn Bind));
            resources.extend(textures.iter().map(|(_, sampler)| sampler as &dyn Bind));
        }
        if let Some((sheen_table, layers)) = &of_layers {
            resources.extend([*sheen_table as &dyn Bind, layers]);
        }
        Ok(bind_group(self.gpu, label, layout, &resources))
    }

    /// Returns the uploaded textures: every image once per use, in the order of the scene's images.
    pub(crate) fn uploaded(&self) -> Vec<SceneTexture> {
        let views = self.views.iter();
        let mut uploaded: Vec<_> = views
            .map(|(&(image, texels), view)| SceneTexture {
                image: Some(image),
                used_as: texels.name(),
                view: view.clone(),
            })
            .collect();
        uploaded.sort_by_key(|texture| (texture.image, texture.used_as));
        uploaded
    }

    fn view(&mut self, image: usize, texels: TextureUse, mipmap: &Mipmap) -> Result<wgpu::TextureView> {
        if let Some(view) = self.views.get(&(image, texels)) {
            return Ok(view.clone());
        }
        let (number, count) = (self.views.len() + 1, self.scene.images.len());
        // An image with two uses is uploaded twice.
        let count = count.max(number);
        self.progress
            .enter(format!("uploading texture {number} of {count}"))
            .map_err(|_| Error::Cancelled)?;
        self.progress.set_fraction(number as f32 / count as f32);
        let view = self.upload(&self.scene.images[image], texels, mipmap)?;
        self.views.insert((image, texels), view.clone());
        Ok(view)
    }

    pub(crate) fn upload(
        &self,
        image: &Image,
        texels: TextureUse,
        mipmap: &Mipmap,
    ) -> Result<wgpu::TextureView> {
        let &Image { width, height, .. } = image;
        let allowed = self.gpu.limits.max_texture_dimension_2d;
        if width.max(height) > allowed {
            let (needed, allowed) = (format!("{width} × {height} texels"), format!("{allowed} a side"));
            return Err(Error::Limit {
                what: format!("the texture {}", image.name),
                needed,
                allowed,
                by: format!("texture limit of {}", self.gpu.info.name),
            });
        }
        let size = wgpu::Extent3d {
            width,
            height,
            depth_or_array_layers: 1,
        };
        let format = stored_format(&texture_support(self.gpu), image.format, texels);
        // If the adapter cannot sample the image's own format, only mip level 0 is converted.
        let mut levels: Vec<_> = if format == image.format {
            let levels = image.levels.iter().map(|l| Cow::Borrowed(l.as_slice()));
            levels.collect()
        } else {
            vec![image.rgba8()]
        };
        if texels == TextureUse::Normals && format == TexelFormat::Rgba8 {
            levels.truncate(1);
            levels.iter_mut().for_each(make_opaque);
        }
        let texture_format = texture_format(format, texels.is_srgb());
        let mip_level_count = size.max_mips(wgpu::TextureDimension::D2);
        let makes_mipmaps = levels.len() == 1 && mip_level_count > 1;
        let mut usage = wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST;
        if makes_mipmaps {
            usage |= wgpu::TextureUsages::RENDER_ATTACHMENT;
        }
        // The prefix keeps file names apart from the names of other textures.
        let label = format!("image {}", image.name);
        self.gpu.catch(|| {
            let texture = self.gpu.device.create_texture(&wgpu::TextureDescriptor {
                label: Some(&label),
                size,
                mip_level_count,
                sample_count: 1,
                dimension: wgpu::TextureDimension::D2,
                format: texture_format,
                usage,
                view_formats: &[],
            });
            for (level, bytes) in levels.iter().enumerate() {
                let destination = wgpu::TexelCopyTextureInfo {
                    mip_level: level as u32,
                    ..texture.as_image_copy()
                };
                let extent = size
                    .mip_level_size(level as u32, wgpu::TextureDimension::D2)
                    .physical_size(texture_format);
                let layout = wgpu::TexelCopyBufferLayout {
                    offset: 0,
                    bytes_per_row: Some(extent.width / format.block_side() * format.block_bytes()),
                    rows_per_image: None,
                };
                self.gpu.queue.write_texture(destination, bytes, layout, extent);
            }
            let mut encoder = self.gpu.encoder("mipmap");
            if makes_mipmaps {
                mipmap.record(self.gpu, &mut encoder, &texture, texels.filter())?;
            }
            self.gpu.queue.submit([encoder.finish()]);
            Ok(texture.create_view(&wgpu::TextureViewDescriptor {
                label: Some(&label),
                ..Default::default()
            }))
        })?
    }

    fn sampler(&mut self, sampler: Sampler) -> wgpu::Sampler {
        let make = || {
            let wrap = |wrap| match wrap {
                Wrap::Repeat => wgpu::AddressMode::Repeat,
                Wrap::Mirror => wgpu::AddressMode::MirrorRepeat,
                Wrap::Clamp => wgpu::AddressMode::ClampToEdge,
            };
            let filter = |linear| {
                if linear {
                    wgpu::FilterMode::Linear
                } else {
                    wgpu::FilterMode::Nearest
                }
            };
            let smooth = sampler.mag_linear && sampler.min_linear && sampler.mip_linear == Some(true);
            self.gpu.device.create_sampler(&wgpu::SamplerDescriptor {
                label: Some("material"),
                address_mode_u: wrap(sampler.wrap_u),
                address_mode_v: wrap(sampler.wrap_v),
                mag_filter: filter(sampler.mag_linear),
                min_filter: filter(sampler.min_linear),
                mipmap_filter: if sampler.mip_linear == Some(true) {
                    wgpu::MipmapFilterMode::Linear
                } else {
                    wgpu::MipmapFilterMode::Nearest
                },
                lod_max_clamp: if sampler.mip_linear.is_some() { 32.0 } else { 0.0 },
                anisotropy_clamp: if smooth { self.anisotropy } else { 1 },
                ..Default::default()
            })
        };
        self.samplers.entry(sampler).or_insert_with(make).clone()
    }
}

/// Returns a material's textures, in the order of the shader.
pub(crate) fn texture_refs(material: &Material) -> [Option<TextureRef>; BASE_TEXTURES] {
    [
        material.base_color_texture,
        material.metallic_roughness_texture,
        material.normal_texture,
        material.occlusion_texture,
        material.emissive_texture,
    ]
}

/// Returns the use of the texture at index `slot` of [`texture_refs`]. The glossiness of a
/// specular-glossiness texture is in alpha, which is linear in both formats.
fn use_of(material: &Material, slot: usize) -> TextureUse {
    let glossiness = material.layers.as_ref().is_some_and(|l| l.glossiness);
    match slot {
        0 if material.alpha_mode != AlphaMode::Opaque => TextureUse::CutColors,
        0 | 4 => TextureUse::Colors,
        1 if glossiness => TextureUse::Colors,
        2 => TextureUse::Normals,
        _ => TextureUse::Numbers,
    }
}

/// Returns the uses of a material's textures, with the names of [`SceneTexture::used_as`]. Textures of its
/// base come first, then textures of its layers in the order of [`LayerSlot::ALL`].
pub fn uses(material: &Material) -> impl Iterator<Item = &'static str> {
    let base = (0..BASE_TEXTURES).map(|slot| use_of(material, slot));
    let layers = LayerSlot::ALL.into_iter().map(use_of_layer);
    base.chain(layers).map(TextureUse::name)
}

/// Returns the use of a layer's texture.
fn use_of_layer(slot: LayerSlot) -> TextureUse {
    match slot {
        LayerSlot::SpecularColor | LayerSlot::SheenColor => TextureUse::Colors,
        LayerSlot::ClearcoatNormal => TextureUse::Normals,
        _ => TextureUse::Numbers,
    }
}

/// Sets the alpha of every texel of four bytes to 255.
fn make_opaque(rgba8: &mut Cow<'_, [u8]>) {
    if rgba8.iter().skip(3).step_by(4).any(|alpha| *alpha < 255) {
        let alphas = rgba8.to_mut().iter_mut().skip(3).step_by(4);
        alphas.for_each(|alpha| *alpha = 255);
    }
}

/// Bindings of the textures of a material's layers.
pub(crate) struct LayerBindings {
    /// Binding index of each of [`Layers::slots`]. Indices from `LAYER_TEXTURES` on are ignored.
    pub(crate) indices: [Option<usize>; 12],
    /// Texture and use of each binding.
    bound: Vec<(usize, TextureUse)>,
}

pub(crate) fn layer_bindings(material: &Material) -> LayerBindings {
    let slots = material.layers.as_deref().map_or([None; 12], Layers::slots);
    let mut bound: Vec<(usize, TextureUse)> = Vec::new();
    let mut indices = [None; 12];
    let slots = LayerSlot::ALL.into_iter().zip(slots);
    for (index, (slot, texture)) in indices.iter_mut().zip(slots) {
        let Some(texture) = texture else { continue };
        let wanted = (texture.texture, use_of_layer(slot));
        let found = bound.iter().position(|known| *known == wanted);
        *index = Some(found.unwrap_or_else(|| {
            bound.push(wanted);
            bound.len() - 1
        }));
    }
    LayerBindings { indices, bound }
}
