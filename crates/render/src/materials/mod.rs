//! Materials in GPU memory: one buffer of uniforms, a bind group for each set of textures, and the alpha
//! table for rays.

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

/// Bind groups and uniforms of every material of a scene.
#[derive(Debug)]
pub struct Materials {
    /// Pipeline properties of each material.
    pub surfaces: Vec<Surface>,
    /// Bind groups of textures and uniforms, for [`Layouts::material`]. Materials with the same textures
    /// share one.
    groups: Groups,
    /// Bind groups with the textures of layers too, for [`Layouts::layers`], of layered materials.
    layer_groups: Groups,
    uniforms: UniformArray<GpuMaterial>,
    /// Uniforms of the layered materials.
    layer_uniforms: UniformArray<MaterialLayers>,
    /// Index of each layered material in `layer_uniforms`.
    layer_indices: HashMap<usize, usize>,
    /// Dispatches that shade the hits of reflection rays.
    pub hits: HitMaterials,
    /// Alpha table for rays; see `alpha_table`. Lights follow.
    pub(super) tables: wgpu::Buffer,
    /// First word of the lights in [`Self::tables`].
    pub(crate) lights_word: u32,
    /// Number of words for lights in [`Self::tables`].
    light_words: usize,
    alpha_layout: AlphaLayout,
    sheen_table: wgpu::Buffer,
    /// True if the sheen table is filled.
    has_sheen: bool,
    /// Uploaded textures: every image once per use, in the order of the scene's images.
    pub textures: Vec<SceneTexture>,
}

/// Properties that select the pipeline of a material.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Surface {
    /// True if back faces are drawn.
    pub double_sided: bool,
    /// True if fragments are discarded by their alpha.
    pub masked: bool,
    /// True if it has layers.
    pub layered: bool,
    /// True if it is unlit.
    pub unlit: bool,
    /// Alpha mode.
    pub alpha_mode: AlphaMode,
    /// True if the material is blended over the surfaces behind it.
    pub blended: bool,
    /// True if it casts no shadow.
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

/// Name of the scene's tables in errors.
const TABLES: &str = "the alpha of masked materials and the lights";
const TABLES_USAGE: wgpu::BufferUsages = wgpu::BufferUsages::STORAGE
    .union(wgpu::BufferUsages::COPY_SRC)
    .union(wgpu::BufferUsages::COPY_DST);

/// Uploads the alpha of all materials, with room for `room` words behind it. Returns the layout of the alpha, and the
/// first word of the room.
fn upload_tables(gpu: &Gpu, scene: &Scene, room: usize) -> Result<(wgpu::Buffer, AlphaLayout, u32)> {
    let most = gpu.limits.max_storage_buffer_binding_size;
    let table = AlphaTable::new(scene, most.saturating_sub(4 * room as u64));
    let mut words = table.words;
    let first_word = words.len() as u32;
    words.resize(words.len() + room, 0);
    gpu.check_binding(TABLES, words.len() as u64 * 4)?;
    let buffer = gpu.buffer_with("scene.tables", &words, TABLES_USAGE);
    Ok((buffer, table.layout, first_word))
}

/// Bind groups, shared by materials with the same textures.
#[derive(Debug, Default)]
struct Groups {
    groups: Vec<wgpu::BindGroup>,
    by_textures: HashMap<Vec<Bound>, usize>,
    /// Index of each material's group.
    of_material: HashMap<usize, usize>,
}

impl Groups {
    /// Assigns the bind group with the textures `bound` to a material. Each distinct group is created once,
    /// by `made`.
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
    /// Uploads textures with their mip levels, and creates the bind groups of every material.
    pub(super) fn new(
        gpu: &Gpu,
        scene: &Scene,
        layouts: &Layouts,
        mipmap: &Mipmap,
        mut textures: Textures<'_>,
        light_words: usize,
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
        // The ground needs a material to be bound, but a scene that only has volumes has none.
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
        let (tables, alpha_layout, lights_word) = upload_tables(gpu, scene, light_words)?;
        Ok(Self {
            textures: textures.uploaded(),
            hits,
            uniforms,
            tables,
            alpha_layout,
            lights_word,
            light_words,
            sheen_table,
            has_sheen,
            layer_uniforms,
            layer_indices: layer_indices.collect(),
            groups,
            layer_groups,
            surfaces: scene.materials.iter().map(Surface::new).collect(),
        })
    }

    /// Makes room for `words` words of lights. Returns true if [`Self::tables`] has been replaced by another
    /// buffer.
    ///
    /// # Errors
    ///
    /// [`canopy_bvh::Error::Limit`] if the lights exceed the adapter's limits.
    pub(super) fn make_room_for_lights(&mut self, gpu: &Gpu, words: usize) -> Result<bool> {
        if words <= self.light_words {
            return Ok(false);
        }
        let light_words = words.next_power_of_two();
        let before = 4 * u64::from(self.lights_word);
        let bytes = before + 4 * light_words as u64;
        gpu.check_binding(TABLES, bytes)?;
        // The images may no longer be in memory, so the alpha is copied.
        let tables = gpu.catch(|| gpu.buffer("scene.tables", bytes, TABLES_USAGE))?;
        let mut encoder = gpu.encoder("scene.tables");
        encoder.copy_buffer_to_buffer(&self.tables, 0, &tables, 0, before);
        gpu.queue.submit([encoder.finish()]);
        (self.tables, self.light_words) = (tables, light_words);
        Ok(true)
    }

    /// Writes the values of a material that still has its uploaded textures and layers. Returns true if
    /// [`Self::tables`] has been replaced by another buffer.
    ///
    /// # Errors
    ///
    /// [`canopy_bvh::Error::Limit`] if its alpha exceeds the adapter's limits.
    pub(super) fn write(&mut self, gpu: &Gpu, scene: &Scene, index: usize) -> Result<bool> {
        let material = &scene.materials[index];
        // Operations that may fail come first, so that rays and raster passes stay consistent.
        let has_room = self.alpha_layout.has_alpha_of(scene, material);
        if !has_room {
            let uploaded = upload_tables(gpu, scene, self.light_words)?;
            (self.tables, self.alpha_layout, self.lights_word) = uploaded;
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
        gpu.queue.write_buffer(&self.tables, first_byte, header);
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

    /// Returns the uniforms of all materials, for shaders that index them.
    pub fn all_uniforms(&self) -> &wgpu::Buffer {
        self.uniforms.buffer()
    }

    /// Returns the uniforms of all layered materials.
    pub(super) fn all_layer_uniforms(&self) -> &wgpu::Buffer {
        self.layer_uniforms.buffer()
    }

    /// Returns the strides in bytes of the uniforms of materials and of layers.
    pub(super) fn strides(&self) -> [u32; 2] {
        [self.uniforms.offset(1), self.layer_uniforms.offset(1)]
    }

    /// Returns the index of a material's layer uniforms.
    pub(super) fn layer_index(&self, material: usize) -> Option<usize> {
        self.layer_indices.get(&material).copied()
    }

    /// True if any material has layers.
    pub(super) fn have_layers(&self) -> bool {
        !self.layer_indices.is_empty()
    }

    /// Returns the sheen table of E, or zeros if no material has sheen.
    pub(super) fn sheen_table(&self) -> &wgpu::Buffer {
        &self.sheen_table
    }

    /// Returns the texture of an image in one of its uses.
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

    /// Returns the bind group of a layered material, and the offsets of its uniforms and of its layer
    /// uniforms.
    fn of_layers(&self, material: usize) -> Option<(&wgpu::BindGroup, [u32; 2])> {
        let index = *self.layer_indices.get(&material)?;
        let offsets = [self.uniforms.offset(material), self.layer_uniforms.offset(index)];
        Some((self.layer_groups.get(material)?, offsets))
    }
}

/// Animated materials, whose uniforms differ from the rest pose, with their uploaded values.
#[derive(Debug, Default)]
pub(super) struct AnimatedMaterials(BTreeMap<usize, Material>);

impl AnimatedMaterials {
    /// Records that the rest-pose uniforms of a material have been written.
    pub(super) fn invalidate(&mut self, material: usize) {
        self.0.remove(&material);
    }

    /// Writes the materials of `pose` that differ from GPU memory, and resets those that are no longer
    /// animated. Layers are not animated.
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
            let tables = &materials.tables;
            let word = |word: u32| 4 * u64::from(ALPHA_HEADER * index as u32 + word);
            let factors = [alpha_cutoff(material), material.base_color.w];
            gpu.queue
                .write_buffer(tables, word(ALPHA_CUTOFF), bytemuck::cast_slice(&factors));
            let scatters = materials.alpha_layout.scatters(scene, material);
            gpu.queue
                .write_buffer(tables, word(ALPHA_SCATTERS), bytemuck::cast_slice(&scatters));
            if let Some(texture) = &material.base_color_texture {
                let rows = uv_rows(texture).map(|row| [row[0], row[1], row[2]]);
                gpu.queue
                    .write_buffer(tables, word(ALPHA_FROM_UV), bytemuck::cast_slice(&rows));
            }
        }
        *held = moved;
    }
}
