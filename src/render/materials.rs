//! Materials in GPU memory: a uniform, five textures and their samplers each, and those of their layers; and the alpha that rays ask for.

use super::{
    bindings::{LAYER_TEXTURES, Layouts},
    mipmap::Mipmap,
    sheen,
};
use crate::{
    Error, Result,
    gpu::{Gpu, layout::Material as GpuMaterial, pass},
    scene::{AlphaMode, Image, Layers, Material, Sampler, Scene, TextureRef, Wrap},
};
use glam::Vec3;
use std::collections::HashMap;

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
}

impl Materials {
    /// Uploads textures with their mipmaps, and binds every material.
    pub fn new(gpu: &Gpu, scene: &Scene, layouts: &Layouts, mipmap: &Mipmap) -> Result<Self> {
        let mut textures = Textures {
            gpu,
            scene,
            views: HashMap::new(),
            samplers: HashMap::new(),
        };
        let white = textures.upload("white", 1, 1, &[255; 4], false, mipmap)?;
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
        }
        Ok(Self {
            groups,
            layers,
            double_sided: scene
                .materials
                .iter()
                .map(|material| material.double_sided && !material.is_volume())
                .collect(),
        })
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
    /// By image, and whether it is sRGB.
    views: HashMap<(usize, bool), wgpu::TextureView>,
    samplers: HashMap<Sampler, wgpu::Sampler>,
}

impl Textures<'_> {
    fn bindings(
        &mut self,
        material: &Material,
        white: &wgpu::TextureView,
        mipmap: &Mipmap,
    ) -> Result<Bindings> {
        let mut bind = |texture: Option<(usize, bool)>| -> Result<_> {
            let Some((texture, srgb)) = texture else {
                return Ok((white.clone(), self.sampler(Sampler::default())));
            };
            let texture = self.scene.textures[texture];
            let view = self.view(texture.image, srgb, mipmap)?;
            Ok((view, self.sampler(texture.sampler)))
        };
        let base = (0..).zip(texture_refs(material)).map(|(slot, texture)| {
            texture.map(|texture| (texture.texture, is_srgb(material, slot)))
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

    fn view(&mut self, image: usize, srgb: bool, mipmap: &Mipmap) -> Result<wgpu::TextureView> {
        if let Some(view) = self.views.get(&(image, srgb)) {
            return Ok(view.clone());
        }
        let Image {
            name,
            width,
            height,
            rgba8,
        } = &self.scene.images[image];
        let view = self.upload(name, *width, *height, rgba8, srgb, mipmap)?;
        self.views.insert((image, srgb), view.clone());
        Ok(view)
    }

    fn upload(
        &self,
        name: &str,
        width: u32,
        height: u32,
        rgba8: &[u8],
        srgb: bool,
        mipmap: &Mipmap,
    ) -> Result<wgpu::TextureView> {
        let allowed = self.gpu.limits.max_texture_dimension_2d;
        if width.max(height) > allowed {
            let (needed, allowed) = (
                format!("{width} × {height} texels"),
                format!("{allowed} a side"),
            );
            return Err(Error::Limit {
                what: format!("the texture {name}"),
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
        self.gpu.catch(|| {
            let texture = self.gpu.device.create_texture(&wgpu::TextureDescriptor {
                label: Some(name),
                size,
                mip_level_count: size.max_mips(wgpu::TextureDimension::D2),
                sample_count: 1,
                dimension: wgpu::TextureDimension::D2,
                format: if srgb {
                    wgpu::TextureFormat::Rgba8UnormSrgb
                } else {
                    wgpu::TextureFormat::Rgba8Unorm
                },
                usage: wgpu::TextureUsages::TEXTURE_BINDING
                    | wgpu::TextureUsages::COPY_DST
                    | wgpu::TextureUsages::RENDER_ATTACHMENT,
                view_formats: &[],
            });
            let layout = wgpu::TexelCopyBufferLayout {
                offset: 0,
                bytes_per_row: Some(4 * width),
                rows_per_image: None,
            };
            self.gpu
                .queue
                .write_texture(texture.as_image_copy(), rgba8, layout, size);
            let mut encoder = self.gpu.encoder("mipmap");
            mipmap.record(self.gpu, &mut encoder, &texture);
            self.gpu.queue.submit([encoder.finish()]);
            texture.create_view(&wgpu::TextureViewDescriptor {
                label: Some(name),
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
                anisotropy_clamp: if smooth { 8 } else { 1 },
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

/// Whether a texture of [`texture_refs`] holds colours; the others hold numbers. The glossiness of a specular-glossiness texture is in alpha,
/// which is a number in both.
fn is_srgb(material: &Material, slot: usize) -> bool {
    let glossiness = material.layers.as_ref().is_some_and(|l| l.glossiness);
    matches!(slot, 0 | 4) || slot == 1 && glossiness
}

/// Whether a texture of [`Layers::slots`] holds colours: those of specular reflection and of sheen.
const LAYER_IS_SRGB: [bool; 12] = [
    false, true, false, false, false, true, false, false, false, false, false, false,
];

/// How the textures of a material's layers are bound.
struct LayerPlaces {
    /// In the order of [`Layers::slots`]; a place past `LAYER_TEXTURES` is ignored.
    places: [Option<usize>; 12],
    /// The texture at each place, and whether it is sRGB.
    bound: Vec<(usize, bool)>,
}

fn layer_places(material: &Material) -> LayerPlaces {
    let slots = material.layers.as_deref().map_or([None; 12], Layers::slots);
    let mut bound: Vec<(usize, bool)> = Vec::new();
    let mut places = [None; 12];
    for ((place, texture), srgb) in places.iter_mut().zip(slots).zip(LAYER_IS_SRGB) {
        let Some(texture) = texture else { continue };
        let wanted = (texture.texture, srgb);
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
pub(super) fn alpha_table(scene: &Scene) -> Vec<u32> {
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
                let alphas: Vec<u8> = image.rgba8.chunks_exact(4).map(|texel| texel[3]).collect();
                table.extend(alphas.chunks(4).map(|four| {
                    four.iter()
                        .rev()
                        .fold(0, |word, alpha| word << 8 | u32::from(*alpha))
                }));
                first
            });
            header[5] = image.width;
            header[6] = image.height;
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
