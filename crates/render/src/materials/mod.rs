//! Materials in GPU memory: one buffer of uniforms, a bind group for each set of textures, and the alpha that
//! rays read.

pub(super) mod alpha_table;
pub mod hit_materials;
pub mod material_textures;
pub(super) mod material_uniforms;
pub mod mipmap;
pub(super) mod sheen;

use super::{
    bindings::Layouts,
    layout::{Material as GpuMaterial, MaterialLayers},
};
use alpha_table::{ALPHA_CUTOFF, ALPHA_FROM_UV, ALPHA_HEADER, ALPHA_SCATTERS, AlphaLayout, AlphaTable};
use canopy_bvh::{
    Result,
    gpu::{Gpu, UniformArray},
};
use canopy_scene::{AlphaMode, Image, Layers, Material, Pose, Scene};
use glam::Vec3;
use hit_materials::HitMaterials;
use material_textures::{
    Bound, SceneTexture, TextureUse, Textures, base_textures, layer_textures, texture_support,
};
use material_uniforms::{alpha_cutoff, gpu_layers, gpu_material, uv_rows};
use mipmap::Mipmap;
use std::collections::{BTreeMap, HashMap};

/// Every material of a scene, ready to be bound.
#[derive(Debug)]
pub struct Materials {
    /// How each material is drawn.
    pub surfaces: Vec<Surface>,
    /// Textures with the uniforms, for [`Layouts::material`]; materials with the same textures share one.
    groups: Groups,
    /// The same with the textures of layers, for [`Layouts::layers`], of materials that have them.
    layer_groups: Groups,
    uniforms: UniformArray<GpuMaterial>,
    /// Uniforms of the materials that have layers.
    layer_uniforms: UniformArray<MaterialLayers>,
    /// Index of each material there.
    layer_indices: HashMap<usize, usize>,
    /// Which dispatch shades which hits of reflection rays.
    pub hits: HitMaterials,
    /// Alpha as rays read it; see `alpha_table`.
    pub(super) alpha: wgpu::Buffer,
    alpha_layout: AlphaLayout,
    sheen_table: wgpu::Buffer,
    /// Whether the table of sheen is filled.
    has_sheen: bool,
    /// Every image in every use that it was uploaded for, in the order of the scene's images.
    pub textures: Vec<SceneTexture>,
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
    /// Whether its colour is shown as it is.
    pub unlit: bool,
    /// How its alpha is used.
    pub alpha_mode: AlphaMode,
    /// Whether it is drawn over what lies behind.
    pub blended: bool,
    /// Whether it casts no shadow.
    pub clear: bool,
}

impl Surface {
    fn new(material: &Material) -> Self {
        Self {
            double_sided: material.double_sided && !material.is_volume(),
            masked: material.alpha_mode == AlphaMode::Mask,
            layered: material.layers.is_some(),
            unlit: material.unlit,
            alpha_mode: material.alpha_mode,
            blended: material.is_blended(),
            clear: material.is_clear(),
        }
    }
}

fn has_sheen(material: &Material) -> bool {
    let scatters = |layers: &Layers| layers.sheen_color != Vec3::ZERO;
    material.layers.as_deref().is_some_and(scatters)
}

/// The alpha of all materials, and where it lies.
fn upload_alpha(gpu: &Gpu, scene: &Scene) -> Result<(wgpu::Buffer, AlphaLayout)> {
    let table = AlphaTable::new(scene, gpu.limits.max_storage_buffer_binding_size);
    let words = &table.words;
    gpu.check_binding("the alpha of masked materials", words.len() as u64 * 4)?;
    let buffer = gpu.buffer_with("scene.alpha", words, wgpu::BufferUsages::STORAGE);
    Ok((buffer, table.layout))
}

/// Bind groups by what they hold.
#[derive(Debug, Default)]
struct Groups {
    groups: Vec<wgpu::BindGroup>,
    by_textures: HashMap<Vec<Bound>, usize>,
    /// The group of each material.
    of_material: HashMap<usize, usize>,
}

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

impl Materials {
    /// Uploads textures with their mipmaps, and binds every material. `anisotropy` is the most that samplers
    /// do, 1 to 16.
    pub(super) fn new(
        gpu: &Gpu,
        scene: &Scene,
        layouts: &Layouts,
        mipmap: &Mipmap,
        mut textures: Textures<'_>,
    ) -> Result<Self> {
        let white = Image::from_rgba8("white", 1, 1, vec![255; 4]);
        let white = textures.upload(&white, TextureUse::Numbers, mipmap)?;
        let has_sheen = scene.materials.iter().any(has_sheen);
        let table = if has_sheen {
            sheen::albedo_table()
        } else {
            vec![0.0; sheen::TABLE_LEN]
        };
        let sheen_table = gpu.buffer_with(
            "sheen_table",
            &table,
            wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_SRC,
        );
        let support = texture_support(gpu);
        // The ground wants a material bound, and a scene of volumes alone has none.
        let nothing = [Material::default()];
        let materials = match &scene.materials[..] {
            [] => &nothing,
            materials => materials,
        };
        let uniforms = materials.iter();
        let uniforms = uniforms.map(|material| gpu_material(scene, &support, material));
        let uniforms = UniformArray::new(gpu, "materials", uniforms)?;
        let layered = (0..).zip(&scene.materials);
        let layered: Vec<_> = layered.filter(|(_, m)| m.layers.is_some()).collect();
        let layer_uniforms = layered.iter().map(|(_, material)| gpu_layers(material));
        let layer_uniforms = UniformArray::new(gpu, "layered materials", layer_uniforms)?;
        let layer_indices = layered
            .iter()
            .zip(0..)
            .map(|((material, _), index)| (*material, index));
        let mut groups = Groups::default();
        let mut layer_groups = Groups::default();
        let stride = hit_materials::stride(&uniforms);
        let hits = HitMaterials::new(gpu, &scene.materials, stride)?;
        for (index, material) in materials.iter().enumerate() {
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
        let (alpha, alpha_layout) = upload_alpha(gpu, scene)?;
        Ok(Self {
            textures: textures.uploaded(),
            hits,
            uniforms,
            alpha,
            alpha_layout,
            sheen_table,
            has_sheen,
            layer_uniforms,
            layer_indices: layer_indices.collect(),
            groups,
            layer_groups,
            surfaces: scene.materials.iter().map(Surface::new).collect(),
        })
    }

    /// Writes the values of a material that has the textures and layers that it was uploaded with. Returns
    /// whether [`Self::alpha`] is another buffer then.
    ///
    /// # Errors
    ///
    /// [`canopy_bvh::Error::Limit`] where the adapter has no room for its alpha.
    pub(super) fn write(&mut self, gpu: &Gpu, scene: &Scene, index: usize) -> Result<bool> {
        let material = &scene.materials[index];
        // What may fail comes first, so that rays and the picture see the same.
        let has_room = self.alpha_layout.has_alpha_of(scene, material);
        if !has_room {
            (self.alpha, self.alpha_layout) = upload_alpha(gpu, scene)?;
        }
        let uniform = gpu_material(scene, &texture_support(gpu), material);
        self.uniforms.write(gpu, index, &uniform);
        if let Some(&layers) = self.layer_indices.get(&index) {
            self.layer_uniforms.write(gpu, layers, &gpu_layers(material));
        }
        if !self.has_sheen && has_sheen(material) {
            let table = sheen::albedo_table();
            gpu.queue
                .write_buffer(&self.sheen_table, 0, bytemuck::cast_slice(&table));
            self.has_sheen = true;
        }
        self.surfaces[index] = Surface::new(material);
        if !has_room {
            return Ok(true);
        }
        let header = self.alpha_layout.header(scene, material);
        let first_byte = 4 * header.len() as u64 * index as u64;
        let header = bytemuck::cast_slice(&header);
        gpu.queue.write_buffer(&self.alpha, first_byte, header);
        Ok(false)
    }

    /// Binds a material to group 3, for [`Layouts::material`].
    pub fn bind(&self, pass: &mut wgpu::RenderPass<'_>, material: usize) {
        if let Some(group) = self.groups.get(material) {
            pass.set_bind_group(3, group, &[self.uniforms.offset(material)]);
        }
    }

    /// Binds a material with textures or layers to group 3 of a compute shader, for [`Layouts::layers`] or
    /// [`Layouts::material`].
    pub fn bind_at_hits(&self, pass: &mut wgpu::ComputePass<'_>, material: usize, layers: bool) {
        if layers {
            if let Some((group, offsets)) = self.of_layers(material) {
                pass.set_bind_group(3, group, &offsets);
            }
        } else if let Some(group) = self.groups.get(material) {
            pass.set_bind_group(3, group, &[self.uniforms.offset(material)]);
        }
    }

    /// The uniforms of all of them, for shaders that read them by their number.
    pub fn all_uniforms(&self) -> &wgpu::Buffer {
        self.uniforms.buffer()
    }

    /// The uniforms of all layers.
    pub(super) fn all_layer_uniforms(&self) -> &wgpu::Buffer {
        self.layer_uniforms.buffer()
    }

    /// Bytes from one uniform to the next: of materials, and of layers.
    pub(super) fn strides(&self) -> [u32; 2] {
        [self.uniforms.offset(1), self.layer_uniforms.offset(1)]
    }

    /// Which of the uniforms of layers a material has.
    pub(super) fn layer_index(&self, material: usize) -> Option<usize> {
        self.layer_indices.get(&material).copied()
    }

    /// Whether any material has layers.
    pub(super) fn have_layers(&self) -> bool {
        !self.layer_indices.is_empty()
    }

    /// The table of E of sheens, zeros where there are none.
    pub(super) fn sheen_table(&self) -> &wgpu::Buffer {
        &self.sheen_table
    }

    /// An image in one of its uses.
    pub(super) fn texture(&self, image: usize, used: TextureUse) -> Option<&SceneTexture> {
        let mut textures = self.textures.iter();
        textures.find(|texture| texture.image == Some(image) && texture.used_as == used.name())
    }

    /// Binds a material with layers to group 3, for [`Layouts::layers`].
    pub fn bind_layers(&self, pass: &mut wgpu::RenderPass<'_>, material: usize) {
        if let Some((group, offsets)) = self.of_layers(material) {
            pass.set_bind_group(3, group, &offsets);
        }
    }

    /// The group of a material, and where its uniforms and those of its layers lie.
    fn of_layers(&self, material: usize) -> Option<(&wgpu::BindGroup, [u32; 2])> {
        let index = *self.layer_indices.get(&material)?;
        let offsets = [self.uniforms.offset(material), self.layer_uniforms.offset(index)];
        Some((self.layer_groups.get(material)?, offsets))
    }
}

/// Materials whose uniforms are not those at rest because a clip moves them, and what the uniforms hold.
#[derive(Debug, Default)]
pub(super) struct MovedMaterials(BTreeMap<usize, Material>);

impl MovedMaterials {
    /// The uniforms of a material were written: it is at rest.
    pub(super) fn forget(&mut self, material: usize) {
        self.0.remove(&material);
    }

    /// Writes the materials of `pose` that are not in GPU memory yet, and those that are at rest again. Clips
    /// move no layers.
    pub(super) fn write(&mut self, gpu: &Gpu, materials: &Materials, scene: &Scene, pose: &Pose) {
        let moved: BTreeMap<usize, Material> = pose.materials.iter().cloned().collect();
        let Self(held) = self;
        let at_rest = held.keys().filter(|index| !moved.contains_key(index));
        let at_rest = at_rest.map(|&index| (index, &scene.materials[index]));
        let differs = |(index, material): &(&usize, &Material)| held.get(index) != Some(material);
        let changed = moved.iter().filter(differs);
        for (index, material) in at_rest.chain(changed.map(|(&index, material)| (index, material))) {
            let uniform = gpu_material(scene, &texture_support(gpu), material);
            materials.uniforms.write(gpu, index, &uniform);
            let alpha = &materials.alpha;
            let word = |word: u32| 4 * u64::from(ALPHA_HEADER * index as u32 + word);
            let factors = [alpha_cutoff(material), material.base_color.w];
            gpu.queue
                .write_buffer(alpha, word(ALPHA_CUTOFF), bytemuck::cast_slice(&factors));
            let scatters = materials.alpha_layout.scatters(scene, material);
            gpu.queue
                .write_buffer(alpha, word(ALPHA_SCATTERS), bytemuck::cast_slice(&scatters));
            if let Some(texture) = &material.base_color_texture {
                let rows = uv_rows(texture).map(|row| [row[0], row[1], row[2]]);
                gpu.queue
                    .write_buffer(alpha, word(ALPHA_FROM_UV), bytemuck::cast_slice(&rows));
            }
        }
        *held = moved;
    }
}
