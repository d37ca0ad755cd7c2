//! Materials in GPU memory: a uniform, five textures and their samplers each; and the alpha that rays ask for.

use super::{bindings::Layouts, mipmap::Mipmap};
use crate::{
    Error, Result,
    gpu::{Gpu, layout::Material as GpuMaterial, pass},
    scene::{AlphaMode, Image, Material, Pose, Sampler, Scene, TextureRef, Wrap},
};
use std::{
    cell::RefCell,
    collections::{BTreeMap, HashMap},
};

/// Words of a material's header in the alpha table; `ALPHA_HEADER` of common/shadow_ray.wgsl.
const ALPHA_HEADER: usize = 16;

/// Every material of a scene, ready to be bound.
#[derive(Debug)]
pub struct Materials {
    /// For [`Layouts::material`], by material.
    pub groups: Vec<wgpu::BindGroup>,
    /// Whether back faces are drawn, by material.
    pub double_sided: Vec<bool>,
    uniforms: Vec<wgpu::Buffer>,
    /// What rays ask for; see [`alpha_table`].
    pub(super) alpha: wgpu::Buffer,
    /// Materials whose uniforms are not as at rest, and what they hold.
    moved: RefCell<BTreeMap<usize, Material>>,
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
        let bound: Vec<_> = scene
            .materials
            .iter()
            .map(|material| textures.bind(material, &white, layouts, mipmap))
            .collect::<Result<_>>()?;
        let (uniforms, groups) = bound.into_iter().unzip();
        let alpha = alpha_table(scene);
        gpu.check_binding("the alpha of masked materials", alpha.len() as u64 * 4)?;
        Ok(Self {
            uniforms,
            alpha: gpu.buffer_with("scene.alpha", &alpha, wgpu::BufferUsages::STORAGE),
            moved: RefCell::default(),
            groups,
            double_sided: scene
                .materials
                .iter()
                .map(|material| material.double_sided)
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

/// Textures and samplers that materials share.
struct Textures<'a> {
    gpu: &'a Gpu,
    scene: &'a Scene,
    /// By image, and whether it is sRGB.
    views: HashMap<(usize, bool), wgpu::TextureView>,
    samplers: HashMap<Sampler, wgpu::Sampler>,
}

impl Textures<'_> {
    fn bind(
        &mut self,
        material: &Material,
        white: &wgpu::TextureView,
        layouts: &Layouts,
        mipmap: &Mipmap,
    ) -> Result<(wgpu::Buffer, wgpu::BindGroup)> {
        let refs = texture_refs(material);
        let mut views = Vec::new();
        let mut samplers = Vec::new();
        for (slot, texture) in refs.iter().enumerate() {
            let texture = texture.map(|texture| self.scene.textures[texture.texture]);
            // Base colour and emission are colours; the others are numbers.
            let srgb = slot == 0 || slot == 4;
            views.push(match texture {
                Some(texture) => self.view(texture.image, srgb, mipmap)?,
                None => white.clone(),
            });
            samplers.push(
                self.sampler(texture.map_or_else(Sampler::default, |texture| texture.sampler)),
            );
        }
        let uniform = self.gpu.buffer_with(
            "material",
            &[gpu_material(material)],
            wgpu::BufferUsages::UNIFORM,
        );
        let mut resources = vec![uniform.as_entire_binding()];
        resources.extend(views.iter().map(wgpu::BindingResource::TextureView));
        resources.extend(samplers.iter().map(wgpu::BindingResource::Sampler));
        let group = pass::bind_group(self.gpu, "material", &layouts.material, &resources);
        Ok((uniform, group))
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

/// The rows of `texture_from_uv`.
fn uv_rows(texture: &TextureRef) -> [[f32; 4]; 2] {
    let m = texture.texture_from_uv;
    [
        [m.matrix2.x_axis.x, m.matrix2.y_axis.x, m.translation.x, 0.0],
        [m.matrix2.x_axis.y, m.matrix2.y_axis.y, m.translation.y, 0.0],
    ]
}

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
        flags: u32::from(material.double_sided) | u32::from(material.unlit) << 1,
        texture_from_uv,
        ..GpuMaterial::default()
    }
}

/// What rays need of materials, as common/shadow_ray.wgsl reads it: a header each, then the alpha of each masked one's texture, once per image.
fn alpha_table(scene: &Scene) -> Vec<u32> {
    let mut table = vec![0; ALPHA_HEADER * scene.materials.len()];
    let mut first_word_of_image = HashMap::new();
    for (index, material) in scene.materials.iter().enumerate() {
        let mut header = [0; ALPHA_HEADER];
        header[0] = material.alpha_mode as u32;
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
