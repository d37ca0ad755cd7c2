//! Materials in GPU memory: one buffer of uniforms, and a bind group for each set of textures; and the alpha that rays ask for.

use super::{
    bindings::{LAYER_TEXTURES, Layouts},
    mipmap::{Filter, Mipmap},
    sheen,
};
use crate::{
    Error, Result,
    gpu::{
        Bind, Gpu, UniformArray, bind_group,
        layout::{Material as GpuMaterial, MaterialLayers},
    },
    scene::{
        AlphaMode, Image, Layers, Material, Pose, Sampler, Scene, Takes, TexelFormat, TextureRef,
        Wrap,
    },
};
use glam::Vec3;
use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap, HashSet},
};

/// Words of a material's header in the alpha table; `ALPHA_HEADER` of common/shadow_ray.wgsl.
const ALPHA_HEADER: usize = 16;

/// Textures of a material without layers.
const BASE_TEXTURES: usize = 5;

/// In the place of an alpha mode there: casts no shadow.
const ALPHA_CLEAR: u32 = 3;

/// Every material of a scene, ready to be bound.
#[derive(Debug)]
pub struct Materials {
    /// What decides how a material is drawn, by material.
    pub surfaces: Vec<Surface>,
    /// Textures with the uniforms, for [`Layouts::material`]; materials with the same textures share one.
    groups: Groups,
    /// The same with the textures of layers, for [`Layouts::layers`], of materials that have them.
    layer_groups: Groups,
    uniforms: UniformArray<GpuMaterial>,
    /// Of the materials that have layers, and the place of each there.
    layer_uniforms: UniformArray<MaterialLayers>,
    layer_places: HashMap<usize, usize>,
    /// What rays ask for; see [`alpha_table`].
    pub(super) alpha: wgpu::Buffer,
}

/// What decides which pipeline draws a material.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Surface {
    /// Whether back faces are drawn.
    pub double_sided: bool,
    /// Whether fragments are cut out by their alpha.
    pub masked: bool,
    /// Whether it has layers.
    pub layered: bool,
}

impl Surface {
    fn new(material: &Material) -> Self {
        Self {
            double_sided: material.double_sided && !material.is_volume(),
            masked: material.alpha_mode == AlphaMode::Mask,
            layered: material.layers.is_some(),
        }
    }
}

/// Bind groups by what they hold.
#[derive(Debug, Default)]
struct Groups {
    groups: Vec<wgpu::BindGroup>,
    by_textures: HashMap<Vec<Bound>, usize>,
    /// The group of each material.
    of_material: HashMap<usize, usize>,
}

/// A texture as it is bound: image and use, where there is one, and sampler.
type Bound = (Option<(usize, Kind)>, Sampler);

impl Groups {
    /// Gives a material the group that holds what is `bound`, which is `made` once.
    fn add(
        &mut self,
        material: usize,
        bound: Vec<Bound>,
        made: impl FnOnce(&[Bound]) -> Result<wgpu::BindGroup>,
    ) -> Result<()> {
        let number = match self.by_textures.get(&bound) {
            Some(number) => *number,
            None => {
                self.groups.push(made(&bound)?);
                self.by_textures.insert(bound, self.groups.len() - 1);
                self.groups.len() - 1
            }
        };
        self.of_material.insert(material, number);
        Ok(())
    }

    fn get(&self, material: usize) -> Option<&wgpu::BindGroup> {
        self.groups.get(*self.of_material.get(&material)?)
    }
}

/// The images that `gpu` can show.
pub fn takes(gpu: &Gpu) -> Takes {
    Takes {
        blocks: gpu.capabilities.bc_textures,
        sixteen_bits: gpu.capabilities.norm16_textures,
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
    /// As stored, with an alpha that says how far the normals under a texel differ, wherever that can be made: see [`keeps_spread`].
    Normals,
}

impl Kind {
    fn is_srgb(self) -> bool {
        matches!(self, Self::Colors | Self::CutColors)
    }

    fn filter(self) -> Filter {
        match self {
            Self::Colors | Self::Numbers => Filter::Plain,
            Self::CutColors => Filter::Cut,
            Self::Normals => Filter::Normals,
        }
    }
}

/// What an image of this format is stored in: a device that does not take it gets a byte a channel.
fn stored_format(takes: &Takes, format: TexelFormat, kind: Kind) -> TexelFormat {
    let as_it_is = match format {
        TexelFormat::Rgba8 => true,
        TexelFormat::Rgba16 => takes.sixteen_bits && !kind.is_srgb(),
        _ => takes.blocks,
    };
    if as_it_is { format } else { TexelFormat::Rgba8 }
}

/// Whether the alpha of a normal texture says how far normals differ. The levels of blocks are the file's.
fn keeps_spread(scene: &Scene, takes: &Takes, texture: Option<TextureRef>) -> bool {
    let format = |texture: TextureRef| scene.images[scene.textures[texture.texture].image].format;
    let stored = texture.map(|texture| stored_format(takes, format(texture), Kind::Normals));
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
        let takes = takes(gpu);
        let uniforms = scene.materials.iter();
        let uniforms = uniforms.map(|material| gpu_material(scene, &takes, material));
        let uniforms = UniformArray::new(gpu, "materials", uniforms)?;
        let layered = (0..).zip(&scene.materials);
        let layered: Vec<_> = layered.filter(|(_, m)| m.layers.is_some()).collect();
        let layer_uniforms = layered.iter().map(|(_, material)| gpu_layers(material));
        let layer_uniforms = UniformArray::new(gpu, "layered materials", layer_uniforms)?;
        let layer_places = layered
            .iter()
            .zip(0..)
            .map(|((index, _), place)| (*index, place));
        let mut groups = Groups::default();
        let mut layer_groups = Groups::default();
        for (index, material) in scene.materials.iter().enumerate() {
            let mut bind = |groups: &mut Groups, label, layout, bound: Vec<Bound>, table| {
                let made = |bound: &[Bound]| {
                    let uniform = &uniforms.at(0);
                    textures.group((label, layout), uniform, bound, table, (&white, mipmap))
                };
                groups.add(index, bound, made)
            };
            let base = base_textures(scene, material);
            if material.layers.is_some() {
                let mut bound = base.clone();
                bound.extend(layer_textures(scene, material));
                let table = Some((&sheen_table, layer_uniforms.at(0)));
                bind(&mut layer_groups, "layers", &layouts.layers, bound, table)?;
            }
            bind(&mut groups, "material", &layouts.material, base, None)?;
        }
        let alpha = alpha_table(scene, gpu.limits.max_storage_buffer_binding_size);
        gpu.check_binding("the alpha of masked materials", alpha.len() as u64 * 4)?;
        Ok(Self {
            uniforms,
            alpha: gpu.buffer_with("scene.alpha", &alpha, wgpu::BufferUsages::STORAGE),
            layer_uniforms,
            layer_places: layer_places.collect(),
            groups,
            layer_groups,
            surfaces: scene.materials.iter().map(Surface::new).collect(),
        })
    }

    /// Binds a material to group 3, for [`Layouts::material`].
    pub fn bind(&self, pass: &mut wgpu::RenderPass<'_>, material: usize) {
        if let Some(group) = self.groups.get(material) {
            pass.set_bind_group(3, group, &[self.uniforms.offset(material)]);
        }
    }

    /// Binds a material with layers to group 3, for [`Layouts::layers`].
    pub fn bind_layers(&self, pass: &mut wgpu::RenderPass<'_>, material: usize) {
        let group = self.layer_groups.get(material);
        if let Some((group, place)) = group.zip(self.layer_places.get(&material)) {
            let offsets = [
                self.uniforms.offset(material),
                self.layer_uniforms.offset(*place),
            ];
            pass.set_bind_group(3, group, &offsets);
        }
    }
}

/// Materials whose uniforms are not those at rest because a clip moves them, and what the uniforms hold.
#[derive(Debug, Default)]
pub(super) struct MovedMaterials(BTreeMap<usize, Material>);

impl MovedMaterials {
    /// Writes the materials of `pose` that are not in GPU memory yet, and those that are at rest again. Clips move no layers.
    pub(super) fn write(&mut self, gpu: &Gpu, materials: &Materials, scene: &Scene, pose: &Pose) {
        let moved: BTreeMap<usize, Material> = pose.materials.iter().cloned().collect();
        let Self(held) = self;
        let at_rest = held.keys().filter(|index| !moved.contains_key(index));
        let at_rest = at_rest.map(|&index| (index, &scene.materials[index]));
        let differs = |(index, material): &(&usize, &Material)| held.get(index) != Some(material);
        let changed = moved.iter().filter(differs);
        for (index, material) in at_rest.chain(changed.map(|(&index, material)| (index, material)))
        {
            let uniform = gpu_material(scene, &takes(gpu), material);
            materials.uniforms.write(gpu, index, &uniform);
            let alpha = &materials.alpha;
            let header = 4 * (ALPHA_HEADER * index) as u64;
            let factors = [material.alpha_cutoff, material.base_color.w];
            gpu.queue
                .write_buffer(alpha, header + 4, bytemuck::cast_slice(&factors));
            if let Some(texture) = &material.base_color_texture {
                let rows = uv_rows(texture).map(|row| [row[0], row[1], row[2]]);
                gpu.queue
                    .write_buffer(alpha, header + 4 * 8, bytemuck::cast_slice(&rows));
            }
        }
        *held = moved;
    }
}

/// The textures of a material's base, in the order of the shader.
fn base_textures(scene: &Scene, material: &Material) -> Vec<Bound> {
    let textures = (0..).zip(texture_refs(material));
    let of_slot = |(slot, texture): (usize, Option<TextureRef>)| {
        let texture = texture.map(|texture| (texture.texture, kind_of(material, slot)));
        bound(scene, texture)
    };
    textures.map(of_slot).collect()
}

/// The textures of its layers, of which there is room for [`LAYER_TEXTURES`].
fn layer_textures(scene: &Scene, material: &Material) -> Vec<Bound> {
    let there = layer_places(material).bound;
    if there.len() > LAYER_TEXTURES {
        log::warn!(
            "the layers of material {} have {} textures; those past the first {LAYER_TEXTURES} are ignored",
            material.name,
            there.len()
        );
    }
    let places = (0..LAYER_TEXTURES).map(|place| there.get(place).copied());
    places.map(|texture| bound(scene, texture)).collect()
}

fn bound(scene: &Scene, texture: Option<(usize, Kind)>) -> Bound {
    match texture {
        Some((texture, kind)) => {
            let texture = scene.textures[texture];
            (Some((texture.image, kind)), texture.sampler)
        }
        None => (None, Sampler::default()),
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
    /// Views and then samplers of the base's textures, and with the table of sheens and the layers' uniform those of the layers.
    fn group(
        &mut self,
        (label, layout): (&str, &wgpu::BindGroupLayout),
        uniform: &wgpu::BufferBinding<'_>,
        bound: &[Bound],
        of_layers: Option<(&wgpu::Buffer, wgpu::BufferBinding<'_>)>,
        (white, mipmap): (&wgpu::TextureView, &Mipmap),
    ) -> Result<wgpu::BindGroup> {
        let bind = |&(texture, sampler): &Bound| {
            let view = match texture {
                Some((image, kind)) => self.view(image, kind, mipmap)?,
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
        let format = stored_format(&takes(self.gpu), image.format, kind);
        // A device that does not take the image's format gets its finest level alone.
        let mut levels: Vec<_> = if format == image.format {
            let levels = image.levels.iter().map(|l| Cow::Borrowed(l.as_slice()));
            levels.collect()
        } else {
            vec![image.rgba8()]
        };
        if kind == Kind::Normals && format == TexelFormat::Rgba8 {
            levels.truncate(1);
            levels.iter_mut().for_each(make_opaque);
        }
        let texture_format = texture_format(format, kind.is_srgb());
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
                mipmap.record(self.gpu, &mut encoder, &texture, kind.filter())?;
            }
            self.gpu.queue.submit([encoder.finish()]);
            Ok(texture.create_view(&wgpu::TextureViewDescriptor {
                label: Some(&image.name),
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
fn texture_refs(material: &Material) -> [Option<TextureRef>; BASE_TEXTURES] {
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
        2 => Kind::Normals,
        _ => Kind::Numbers,
    }
}

/// What a texture of [`Layers::slots`] holds.
fn kind_of_layer(slot: usize) -> Kind {
    match slot {
        // Colours of specular reflection and of sheen.
        1 | 5 => Kind::Colors,
        4 => Kind::Normals,
        _ => Kind::Numbers,
    }
}

/// Makes every texel of four bytes opaque.
fn make_opaque(rgba8: &mut Cow<'_, [u8]>) {
    if rgba8.iter().skip(3).step_by(4).any(|alpha| *alpha < 255) {
        let alphas = rgba8.to_mut().iter_mut().skip(3).step_by(4);
        alphas.for_each(|alpha| *alpha = 255);
    }
}

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
    for (slot, (place, texture)) in places.iter_mut().zip(slots).enumerate() {
        let Some(texture) = texture else { continue };
        let wanted = (texture.texture, kind_of_layer(slot));
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

/// The uniform of a material: nothing but the material goes into it, and what its textures are stored in.
fn gpu_material(scene: &Scene, takes: &Takes, material: &Material) -> GpuMaterial {
    let layers = material.layers.as_deref();
    let coat_texture = layers.and_then(|layers| layers.clearcoat_normal_texture);
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
            | u32::from(material.alpha_mode == AlphaMode::Blend) << 4
            | u32::from(material.stand_in) << 5
            | u32::from(keeps_spread(scene, takes, material.normal_texture)) << 6
            | u32::from(keeps_spread(scene, takes, coat_texture)) << 7,
        texture_from_uv,
        ..GpuMaterial::default()
    }
}

/// The uniform of its layers.
fn gpu_layers(material: &Material) -> MaterialLayers {
    let Some(layers) = material.layers.as_deref() else {
        return MaterialLayers::default();
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
    MaterialLayers {
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
