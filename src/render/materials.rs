//! Materials in GPU memory: a uniform, five textures and their samplers each, and those of their layers; and the alpha that rays ask for.

use super::{
    bindings::{LAYER_TEXTURES, Layouts},
    mipmap::Mipmap,
    sheen,
};
use crate::{
    Error, Result,
    gpu::{Gpu, layout::Material as GpuMaterial, pass},
    scene::{
        AlphaMode, Image, Layers, Material, Pose, Sampler, Scene, Takes, TexelFormat, TextureRef,
        Wrap,
    },
};
use glam::Vec3;
use std::{
    borrow::Cow,
    cell::RefCell,
    collections::{BTreeMap, HashMap, HashSet},
};

/// Words of a material's header in the alpha table; `ALPHA_HEADER` of common/shadow_ray.wgsl.
const ALPHA_HEADER: usize = 16;

/// In the place of an alpha mode there: casts no shadow.
const ALPHA_CLEAR: u32 = 3;

/// Every material of a scene, ready to be bound.
#[derive(Debug)]
pub struct Materials {
    /// For [`Layouts::material`], by material.
    pub groups: Vec<wgpu::BindGroup>,
    /// For [`Layouts::layers`], by material, where it has any.
    pub layers: Vec<Option<wgpu::BindGroup>>,
    /// Whether back faces are drawn, by material.
    pub double_sided: Vec<bool>,
    uniforms: Vec<wgpu::Buffer>,
    /// What rays ask for; see [`alpha_table`].
    pub(super) alpha: wgpu::Buffer,
    /// Materials whose uniforms are not as at rest, and what they hold.
    moved: RefCell<BTreeMap<usize, Material>>,
}

/// The images that `gpu` can show.
pub fn takes(gpu: &Gpu) -> Takes {
    let features = gpu.device.features();
    Takes {
        blocks: features.contains(wgpu::Features::TEXTURE_COMPRESSION_BC),
        sixteen_bits: features.contains(wgpu::Features::TEXTURE_FORMAT_16BIT_NORM),
        max_side: gpu.limits.max_texture_dimension_2d,
    }
}

/// How a texture is sampled and filtered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    /// sRGB.
    Colors,
    /// sRGB with an alpha that says how much of the colour there is.
    CutColors,
    /// As stored.
    Numbers,
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
    if srgb {
        linear.add_srgb_suffix()
    } else {
        linear
    }
}

impl Materials {
    /// Uploads textures with their mipmaps, and binds every material. `anisotropy` is the most that samplers do, 1 to 16.
    pub fn new(
        gpu: &Gpu,
        scene: &Scene,
        layouts: &Layouts,
        mipmap: &Mipmap,
        anisotropy: u32,
    ) -> Result<Self> {
        let mut textures = Textures {
            gpu,
            scene,
            anisotropy: anisotropy as u16,
            views: HashMap::new(),
            samplers: HashMap::new(),
        };
        let white = Image::from_rgba8("white", 1, 1, vec![255; 4]);
        let white = textures.upload(&white, Kind::Numbers, mipmap)?;
        let scatters = |layers: &Layers| layers.sheen_color != Vec3::ZERO;
        let any_sheen = scene
            .materials
            .iter()
            .any(|material| material.layers.as_deref().is_some_and(scatters));
        let table = if any_sheen {
            sheen::albedo_table()
        } else {
            vec![0.0; sheen::TABLE_LEN]
        };
        let sheen_table = gpu.buffer_with("sheen_table", &table, wgpu::BufferUsages::UNIFORM);
        let mut uniforms = Vec::new();
        let mut groups = Vec::new();
        let mut layers = Vec::new();
        for material in &scene.materials {
            let bindings = textures.bindings(material, &white, mipmap)?;
            groups.push(bindings.group(gpu, "material", &layouts.material, None));
            layers.push(
                material
                    .layers
                    .is_some()
                    .then(|| bindings.group(gpu, "layers", &layouts.layers, Some(&sheen_table))),
            );
            uniforms.push(bindings.uniform);
        }
        let alpha = alpha_table(scene, gpu.limits.max_storage_buffer_binding_size);
        gpu.check_binding("the alpha of masked materials", alpha.len() as u64 * 4)?;
        Ok(Self {
            uniforms,
            alpha: gpu.buffer_with("scene.alpha", &alpha, wgpu::BufferUsages::STORAGE),
            moved: RefCell::default(),
            groups,
            layers,
            double_sided: scene
                .materials
                .iter()
                .map(|material| material.double_sided && !material.is_volume())
                .collect(),
        })
    }

    /// Brings what a clip moves into GPU memory: materials of `pose` that are not there yet, and those at rest again.
    pub fn write(&self, gpu: &Gpu, scene: &Scene, pose: &Pose) {
        let moved: BTreeMap<usize, Material> = pose.materials.iter().cloned().collect();
        let mut there = self.moved.borrow_mut();
        let at_rest = there.keys().filter(|index| !moved.contains_key(index));
        let at_rest = at_rest.map(|&index| (index, &scene.materials[index]));
        let differs = |(index, material): &(&usize, &Material)| there.get(index) != Some(material);
        let changed = moved.iter().filter(differs);
        for (index, material) in at_rest.chain(changed.map(|(&index, material)| (index, material)))
        {
            let uniform = [gpu_material(material)];
            gpu.queue
                .write_buffer(&self.uniforms[index], 0, bytemuck::cast_slice(&uniform));
            let header = 4 * (ALPHA_HEADER * index) as u64;
            let factors = [material.alpha_cutoff, material.base_color.w];
            gpu.queue
                .write_buffer(&self.alpha, header + 4, bytemuck::cast_slice(&factors));
            if let Some(texture) = &material.base_color_texture {
                let rows = uv_rows(texture).map(|row| [row[0], row[1], row[2]]);
                gpu.queue
                    .write_buffer(&self.alpha, header + 4 * 8, bytemuck::cast_slice(&rows));
            }
        }
        *there = moved;
    }
}

/// What a material is bound to.
struct Bindings {
    uniform: wgpu::Buffer,
    base: Vec<(wgpu::TextureView, wgpu::Sampler)>,
    layers: Vec<(wgpu::TextureView, wgpu::Sampler)>,
}

impl Bindings {
    /// The base, and with the table of sheens the layers too.
    fn group(
        &self,
        gpu: &Gpu,
        label: &str,
        layout: &wgpu::BindGroupLayout,
        sheen_table: Option<&wgpu::Buffer>,
    ) -> wgpu::BindGroup {
        let mut resources = vec![self.uniform.as_entire_binding()];
        let layers = sheen_table.map(|_| &self.layers);
        for textures in [Some(&self.base), layers].into_iter().flatten() {
            resources.extend(
                textures
                    .iter()
                    .map(|(view, _)| wgpu::BindingResource::TextureView(view)),
            );
            resources.extend(
                textures
                    .iter()
                    .map(|(_, sampler)| wgpu::BindingResource::Sampler(sampler)),
            );
        }
        resources.extend(sheen_table.map(wgpu::Buffer::as_entire_binding));
        pass::bind_group(gpu, label, layout, &resources)
    }
}

/// Textures and samplers that materials share.
struct Textures<'a> {
    gpu: &'a Gpu,
    scene: &'a Scene,
    anisotropy: u16,
    /// By image and use.
    views: HashMap<(usize, Kind), wgpu::TextureView>,
    samplers: HashMap<Sampler, wgpu::Sampler>,
}

impl Textures<'_> {
    fn bindings(
        &mut self,
        material: &Material,
        white: &wgpu::TextureView,
        mipmap: &Mipmap,
    ) -> Result<Bindings> {
        let mut bind = |texture: Option<(usize, Kind)>| -> Result<_> {
            let Some((texture, kind)) = texture else {
                return Ok((white.clone(), self.sampler(Sampler::default())));
            };
            let texture = self.scene.textures[texture];
            let view = self.view(texture.image, kind, mipmap)?;
            Ok((view, self.sampler(texture.sampler)))
        };
        let base = (0..).zip(texture_refs(material)).map(|(slot, texture)| {
            texture.map(|texture| (texture.texture, kind_of(material, slot)))
        });
        let base = base.map(&mut bind).collect::<Result<Vec<_>>>()?;
        let bound = layer_places(material).bound;
        if bound.len() > LAYER_TEXTURES {
            log::warn!(
                "the layers of material {} have {} textures; those past the first {LAYER_TEXTURES} are ignored",
                material.name,
                bound.len()
            );
        }
        let layers = (0..LAYER_TEXTURES).map(|place| bound.get(place).copied());
        let layers = layers.map(&mut bind).collect::<Result<Vec<_>>>()?;
        Ok(Bindings {
            uniform: self.gpu.buffer_with(
                "material",
                &[gpu_material(material)],
                wgpu::BufferUsages::UNIFORM,
            ),
            base,
            layers,
        })
    }

    fn view(&mut self, image: usize, kind: Kind, mipmap: &Mipmap) -> Result<wgpu::TextureView> {
        if let Some(view) = self.views.get(&(image, kind)) {
            return Ok(view.clone());
        }
        let view = self.upload(&self.scene.images[image], kind, mipmap)?;
        self.views.insert((image, kind), view.clone());
        Ok(view)
    }

    fn upload(&self, image: &Image, kind: Kind, mipmap: &Mipmap) -> Result<wgpu::TextureView> {
        let &Image { width, height, .. } = image;
        let allowed = self.gpu.limits.max_texture_dimension_2d;
        if width.max(height) > allowed {
            let (needed, allowed) = (
                format!("{width} × {height} texels"),
                format!("{allowed} a side"),
            );
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
        let takes = takes(self.gpu);
        let as_it_is = match image.format {
            TexelFormat::Rgba8 => true,
            TexelFormat::Rgba16 => takes.sixteen_bits && kind == Kind::Numbers,
            _ => takes.blocks,
        };
        // A device that does not take the image's format gets its finest level with a byte a channel.
        let (format, levels) = if as_it_is {
            let levels = image.levels.iter().map(|l| Cow::Borrowed(l.as_slice()));
            (image.format, levels.collect())
        } else {
            (TexelFormat::Rgba8, vec![image.rgba8()])
        };
        let texture_format = texture_format(format, kind != Kind::Numbers);
        let mip_level_count = size.max_mips(wgpu::TextureDimension::D2);
        let makes_mipmaps = levels.len() == 1 && mip_level_count > 1;
        let mut usage = wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST;
        if makes_mipmaps {
            usage |= wgpu::TextureUsages::RENDER_ATTACHMENT;
        }
        self.gpu.catch(|| {
            let texture = self.gpu.device.create_texture(&wgpu::TextureDescriptor {
                label: Some(&image.name),
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
                self.gpu
                    .queue
                    .write_texture(destination, bytes, layout, extent);
            }
            let mut encoder = self.gpu.encoder("mipmap");
            if makes_mipmaps {
                mipmap.record(self.gpu, &mut encoder, &texture, kind == Kind::CutColors);
            }
            self.gpu.queue.submit([encoder.finish()]);
            texture.create_view(&wgpu::TextureViewDescriptor {
                label: Some(&image.name),
                ..Default::default()
            })
        })
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
            let smooth =
                sampler.mag_linear && sampler.min_linear && sampler.mip_linear == Some(true);
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
                lod_max_clamp: if sampler.mip_linear.is_some() {
                    32.0
                } else {
                    0.0
                },
                anisotropy_clamp: if smooth { self.anisotropy } else { 1 },
                ..Default::default()
            })
        };
        self.samplers.entry(sampler).or_insert_with(make).clone()
    }
}

/// A material's textures, in the order of the shader.
fn texture_refs(material: &Material) -> [Option<TextureRef>; 5] {
    [
        material.base_color_texture,
        material.metallic_roughness_texture,
        material.normal_texture,
        material.occlusion_texture,
        material.emissive_texture,
    ]
}

/// What a texture of [`texture_refs`] holds. The glossiness of a specular-glossiness texture is in alpha,
/// which is a number in both.
fn kind_of(material: &Material, slot: usize) -> Kind {
    let glossiness = material.layers.as_ref().is_some_and(|l| l.glossiness);
    match slot {
        0 if material.alpha_mode != AlphaMode::Opaque => Kind::CutColors,
        0 | 4 => Kind::Colors,
        1 if glossiness => Kind::Colors,
        _ => Kind::Numbers,
    }
}

/// Whether a texture of [`Layers::slots`] holds colours: those of specular reflection and of sheen.
const LAYER_HOLDS_COLORS: [bool; 12] = [
    false, true, false, false, false, true, false, false, false, false, false, false,
];

/// How the textures of a material's layers are bound.
struct LayerPlaces {
    /// In the order of [`Layers::slots`]; a place past `LAYER_TEXTURES` is ignored.
    places: [Option<usize>; 12],
    /// The texture at each place, and what it holds.
    bound: Vec<(usize, Kind)>,
}

fn layer_places(material: &Material) -> LayerPlaces {
    let slots = material.layers.as_deref().map_or([None; 12], Layers::slots);
    let mut bound: Vec<(usize, Kind)> = Vec::new();
    let mut places = [None; 12];
    for ((place, texture), colors) in places.iter_mut().zip(slots).zip(LAYER_HOLDS_COLORS) {
        let Some(texture) = texture else { continue };
        let kind = if colors { Kind::Colors } else { Kind::Numbers };
        let wanted = (texture.texture, kind);
        let found = bound.iter().position(|known| *known == wanted);
        *place = Some(found.unwrap_or_else(|| {
            bound.push(wanted);
            bound.len() - 1
        }));
    }
    LayerPlaces { places, bound }
}

/// The rows of `texture_from_uv`.
fn uv_rows(texture: &TextureRef) -> [[f32; 4]; 2] {
    let m = texture.texture_from_uv;
    [
        [m.matrix2.x_axis.x, m.matrix2.y_axis.x, m.translation.x, 0.0],
        [m.matrix2.x_axis.y, m.matrix2.y_axis.y, m.translation.y, 0.0],
    ]
}

/// The uniform of a material: nothing but the material goes into it.
fn gpu_material(material: &Material) -> GpuMaterial {
    let mut texture_from_uv = [[0.0; 4]; 10];
    let mut uv_sets = 0;
    for (slot, texture) in texture_refs(material).iter().enumerate() {
        if let Some(texture) = texture {
            texture_from_uv[2 * slot..2 * slot + 2].copy_from_slice(&uv_rows(texture));
            uv_sets |= (texture.uv_set + 1) << (2 * slot);
        }
    }
    GpuMaterial {
        base_color: material.base_color.to_array(),
        emissive: material.emissive.to_array(),
        normal_scale: material.normal_scale,
        metallic: material.metallic,
        roughness: material.roughness,
        occlusion_strength: material.occlusion_strength,
        alpha_cutoff: if material.alpha_mode == AlphaMode::Mask {
            material.alpha_cutoff
        } else {
            0.0
        },
        uv_sets,
        flags: u32::from(material.double_sided)
            | u32::from(material.unlit) << 1
            | u32::from(material.layers.is_some()) << 2
            | u32::from(material.layers.as_ref().is_some_and(|l| l.glossiness)) << 3
            | u32::from(material.alpha_mode == AlphaMode::Blend) << 4,
        texture_from_uv,
        ..gpu_layers(material)
    }
}

/// The part of the uniform that describes the layers.
fn gpu_layers(material: &Material) -> GpuMaterial {
    let Some(layers) = material.layers.as_deref() else {
        return GpuMaterial::default();
    };
    let mut layer_slots = [[0; 4]; 3];
    let mut layer_from_uv = [[0.0; 4]; 24];
    let places = layer_places(material).places;
    for (slot, (texture, place)) in layers.slots().iter().zip(places).enumerate() {
        if let (Some(texture), Some(place)) = (texture, place.filter(|p| *p < LAYER_TEXTURES)) {
            layer_slots[slot / 4][slot % 4] = (place as u32 + 1) | (texture.uv_set << 8);
            layer_from_uv[2 * slot..2 * slot + 2].copy_from_slice(&uv_rows(texture));
        }
    }
    let reflectance = if layers.ior == 0.0 {
        1.0
    } else {
        ((layers.ior - 1.0) / (layers.ior + 1.0)).powi(2)
    };
    // Black lets nothing through after any distance; its logarithm would be infinite.
    let absorption = |color: f32| -color.max(1e-6).ln() / layers.attenuation_distance;
    GpuMaterial {
        specular_color: layers.specular_color.to_array(),
        specular: layers.specular,
        sheen_color: layers.sheen_color.to_array(),
        sheen_roughness: layers.sheen_roughness,
        absorption: layers.attenuation_color.to_array().map(absorption),
        thickness: layers.thickness,
        reflectance,
        clearcoat: layers.clearcoat,
        clearcoat_roughness: layers.clearcoat_roughness,
        clearcoat_normal_scale: layers.clearcoat_normal_scale,
        anisotropy_direction: [
            layers.anisotropy_rotation.cos(),
            layers.anisotropy_rotation.sin(),
        ],
        anisotropy: layers.anisotropy,
        transmission: layers.transmission,
        iridescence: layers.iridescence,
        iridescence_ior: layers.iridescence_ior,
        iridescence_thickness: [
            layers.iridescence_thickness_min,
            layers.iridescence_thickness_max,
        ],
        layer_slots,
        layer_from_uv,
        ..GpuMaterial::default()
    }
}

/// What rays need of materials, as common/shadow_ray.wgsl reads it: a header each, then the alpha of each masked one's texture, once per image.
/// Images are halved until all of it fits into `max_bytes`.
fn alpha_table(scene: &Scene, max_bytes: u64) -> Vec<u32> {
    let masked = |material: &Material| {
        let texture = material.base_color_texture?.texture;
        (material.alpha_mode == AlphaMode::Mask).then_some(scene.textures[texture].image)
    };
    let images: HashSet<usize> = scene.materials.iter().filter_map(masked).collect();
    let headers = 4 * (ALPHA_HEADER * scene.materials.len()) as u64;
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
    let mut table = vec![0; ALPHA_HEADER * scene.materials.len()];
    let mut first_word_of_image = HashMap::new();
    for (index, material) in scene.materials.iter().enumerate() {
        let mut header = [0; ALPHA_HEADER];
        header[0] = match material.alpha_mode {
            _ if material.is_clear() => ALPHA_CLEAR,
            _ if material.is_blended() => AlphaMode::Blend as u32,
            mode => mode as u32,
        };
        header[1] = material.alpha_cutoff.to_bits();
        header[2] = material.base_color.w.to_bits();
        header[3] = u32::MAX;
        if let (AlphaMode::Mask, Some(texture_ref)) =
            (material.alpha_mode, material.base_color_texture)
        {
            let texture = scene.textures[texture_ref.texture];
            let image = &scene.images[texture.image];
            header[3] = texture_ref.uv_set;
            header[4] = *first_word_of_image.entry(texture.image).or_insert_with(|| {
                let first = table.len() as u32;
                table.extend(alphas(image, halvings).chunks(4).map(|four| {
                    four.iter()
                        .rev()
                        .fold(0, |word, alpha| word << 8 | u32::from(*alpha))
                }));
                first
            });
            [header[5], header[6]] = halved(image, halvings);
            let wrap = |wrap| match wrap {
                Wrap::Repeat => 0,
                Wrap::Mirror => 1,
                Wrap::Clamp => 2,
            };
            header[7] = wrap(texture.sampler.wrap_u)
                | wrap(texture.sampler.wrap_v) << 2
                | u32::from(texture.sampler.mag_linear) << 4;
            for (row, values) in uv_rows(&texture_ref).iter().enumerate() {
                for column in 0..3 {
                    header[8 + 3 * row + column] = values[column].to_bits();
                }
            }
        }
        table[ALPHA_HEADER * index..ALPHA_HEADER * (index + 1)].copy_from_slice(&header);
    }
    table
}

fn halved(image: &Image, halvings: u32) -> [u32; 2] {
    [image.width, image.height].map(|side| (side >> halvings).max(1))
}

/// The mean alpha of each box of texels.
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
    use crate::scene::Texture;
    use glam::Affine2;

    #[test]
    fn alpha_is_halved_until_it_fits() {
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
        let header = 4 * ALPHA_HEADER as u64;
        for (bytes, size, words) in [
            (1000, [6, 4], vec![0xc8c8_0000; 1]),
            (26, [3, 2], vec![0x00c8_c800, 0xc8c8]),
            (4, [1, 1], vec![133]),
        ] {
            let table = alpha_table(&scene, header + bytes);
            assert_eq!(table[5..7], size);
            assert_eq!(table[4] as usize, ALPHA_HEADER);
            assert_eq!(table[ALPHA_HEADER..][..words.len()], words);
            assert!(table.len() as u64 * 4 <= header + bytes);
        }
    }
}
