//! Table of the path tracer (path/path_table.wgsl). One buffer holds materials, texels and the distributions
//! for light sampling. Texels are copied from the textures, so the table does not depend on their formats.

use super::path_volumes::PathVolumes;
use crate::{
    bindings::Layouts,
    frame::{
        Frame,
        life_cycle::{LifeCycle, TemporalState},
        recording::Recording,
    },
    layout::{Material as GpuMaterial, MaterialLayers, PathParams, PathTexels},
    materials::{
        material_textures::{Bound, TextureUse, base_textures, layer_bindings, layer_textures, texture_refs},
        material_uniforms::alpha_sampler,
    },
    resources::Geometry,
    settings::{self, Settings},
    upload::scene_buffers::SceneBuffers,
    world::World,
};
use canopy_bvh::{
    Error, Result,
    gpu::{
        Bind, Gpu, Kernel, UniformArray, Workgroups,
        library::wgsl_constants,
        pass::Binding::{Float, FloatArray, Read, Uniform, Write},
    },
};
use canopy_scene::{AlphaMode, LayerSlot, Material, Pose, Scene, TextureRef};
use glam::Vec3;
use std::{
    collections::{BTreeMap, BTreeSet},
    mem::offset_of,
};
use wgpu::BufferUsages as Buffer;

wgsl_constants! {
    /// Number of kinds of shadow rays at a surface: to lights, to the environment and to emissive triangles.
    pub(crate) const PATH_DIRECT: u32 = 3;
    /// First row of a path's shadow rays, with two rows each (path/path_rows.wgsl).
    pub(crate) const PATH_DIRECT_ROW: u32 = 7;
    /// Number of textures of a material: textures of its base, followed by textures of its layers.
    const PATH_TEXTURES: u32 = 17;
    /// Number of words of a material's header.
    const PATH_HEADER: u32 = 4 + 4 * PATH_TEXTURES;
    /// Word of a material, and of its layers, at which the UV transforms begin.
    const PATH_MATERIAL_ROWS: u32 = offset_of!(GpuMaterial, texture_from_uv) as u32 / 4;
    const PATH_LAYER_ROWS: u32 = offset_of!(MaterialLayers, layer_from_uv) as u32 / 4;
    /// Flag of sRGB-encoded colours. The lower bits are the bits of [`alpha_sampler`].
    const PATH_TEXEL_SRGB: u32 = 32;
    /// Flag of the second UV set.
    const PATH_TEXEL_SECOND: u32 = 64;
}

/// Maximum number of texels along an edge of the cube for sampling the environment.
pub(crate) const ENVIRONMENT_FACE: u32 = 64;

/// Number of surfaces of a path before Russian roulette starts.
const SURE_BOUNCES: u32 = 3;

/// Number of rows of a texture that a dispatch copies.
const COPIED_ROWS: u32 = 1024;

const LABEL: &str = "path_table";

/// Specialisation constants of features that kernels compile out if no path can meet them.
pub(crate) const PATH_PARTS: [&str; 3] = ["HAS_FOG", "HAS_VOLUMES", "HAS_LAYERS"];

/// Selects the [`PATH_PARTS`] that paths may meet.
pub(crate) fn path_parts(config: &Settings, buffers: &SceneBuffers) -> [bool; PATH_PARTS.len()] {
    let has_volumes = config.volumes.enabled && buffers.has_volumes();
    let has_layers = buffers.materials.have_layers();
    [config.fog.is_enabled(), has_volumes, has_layers]
}

/// Everything that the table depends on.
#[derive(Debug, Clone, PartialEq)]
struct TableKey {
    version: u64,
    files: (u64, bool),
    environment: settings::Environment,
    sun: settings::Sun,
    pose: Pose,
    materials: settings::Materials,
    volumes: settings::Volumes,
}

/// Table and the passes that fill it.
#[derive(Debug)]
pub struct PathTable {
    texels: Kernel,
    emitters: Kernel,
    environment: Kernel,
    scan: Kernel,
    volumes: PathVolumes,
    pub(crate) buffer: wgpu::Buffer,
    /// Word offsets and counts of the parts of the table.
    pub(crate) parts: PathParams,
    /// Uniforms of the passes that fill the table.
    steps: UniformArray<PathParams>,
    /// Version of the scene in the table.
    version: Option<u64>,
    /// State of the table after the last frame.
    key: TemporalState<TableKey>,
    /// True if the frame being recorded has filled the table.
    is_fresh: bool,
}

/// Placement of a texture in the table.
struct TexturePlacement {
    word: u32,
    level: u32,
    size: [u32; 2],
}

/// Textures of the table, by image and use.
type Places = BTreeMap<(usize, TextureUse), TexturePlacement>;

impl PathTable {
    /// Creates the passes without compiling their pipelines.
    pub(crate) fn new(gpu: &Gpu, layouts: &Layouts) -> Result<Self> {
        let path = "path/path_weights.wgsl";
        let shared = [(0, &layouts.frame), (2, &layouts.scene)];
        let kernel = |entry| Kernel::new(gpu, path, entry, &shared, &[Uniform, Write]);
        Ok(Self {
            texels: Kernel::new(
                gpu,
                "path/path_texels.wgsl",
                "path_texels",
                &[],
                &[Uniform, Float, Write],
            ),
            emitters: kernel("path_emitters"),
            environment: Kernel::new(
                gpu,
                path,
                "path_environment",
                &shared,
                &[Uniform, Write, FloatArray],
            ),
            scan: kernel("path_scan"),
            volumes: PathVolumes::new(gpu),
            buffer: gpu.buffer(LABEL, 16, Buffer::STORAGE),
            parts: PathParams::default(),
            steps: UniformArray::new(gpu, LABEL, std::iter::empty())?,
            version: None,
            key: TemporalState::default(),
            is_fresh: false,
        })
    }

    /// Binding of the table in the path tracer's kernels.
    pub(crate) const BINDING: canopy_bvh::gpu::pass::Binding = Read;

    /// Returns the parameters of sample `index` of each pixel.
    pub(crate) fn params(&self, frame: &Frame<'_>, index: u32) -> PathParams {
        PathParams {
            index,
            bounces: frame.config.paths.bounces,
            clamp: frame.config.paths.clamp,
            near: frame.view.near,
            width: frame.size[0],
            sure_bounces: SURE_BOUNCES,
            medium: frame.fog_medium(),
            ..self.parts
        }
    }

    /// Updates the table if the frame traces paths and anything in the table has changed. Fills it if the
    /// scene is another one. Then writes what may have changed: materials, volumes, and the sampling
    /// distributions of emissive triangles and of the environment.
    pub(crate) fn record(&mut self, recording: &mut Recording<'_>, world: World<'_>) -> Result<()> {
        let World {
            frame,
            geometry,
            environment,
            ..
        } = world;
        if !frame.needs_path_table() {
            return Ok(());
        }
        let (cube, face) = environment.level(ENVIRONMENT_FACE);
        let gpu = recording.gpu;
        let version = geometry.buffers.version;
        let key = TableKey {
            version,
            files: environment.state(),
            environment: frame.config.environment.clone(),
            sun: frame.config.sun.clone(),
            pose: frame.pose.clone().into_owned(),
            materials: frame.config.materials.clone(),
            volumes: frame.config.volumes.clone(),
        };
        self.is_fresh = self.version != Some(version) || self.parts.environment_face != face;
        if self.key.last() == Some(&key) && !self.is_fresh {
            return Ok(());
        }
        self.key.set_pending(key);
        if self.is_fresh {
            self.version = None;
            self.fill(recording, world, face)?;
            self.version = Some(version);
        }
        self.parts.volume_count = self.volumes.write(gpu, frame, &self.buffer);
        let materials = &geometry.buffers.materials;
        let parts = &self.parts;
        for (source, word) in [
            (materials.all_uniforms(), parts.material_word),
            (materials.all_layer_uniforms(), parts.layer_word),
            (materials.sheen_table(), parts.sheen_word),
        ] {
            let to = u64::from(word) * 4;
            recording
                .scope
                .copy_buffer_to_buffer(source, 0, &self.buffer, to, source.size());
        }
        let count = parts.emitter_count;
        let scan_of = |scan_word, scan_count| PathParams {
            scan_word,
            scan_count,
            ..*parts
        };
        let texels = 6 * face * face;
        let steps = [
            scan_of(parts.emitter_word + count, count),
            scan_of(parts.environment_word, texels),
        ];
        self.steps.write_all(gpu, LABEL, &steps)?;
        let shared = [(0, &frame.group), (2, geometry.group)];
        let mut dispatch = |kernel: &Kernel, own: &[&dyn Bind], groups| {
            recording.dispatch(LABEL, kernel, &shared, own, Workgroups::Count(groups))
        };
        let [of_emitters, of_environment] = [0, 1].map(|step| self.steps.at(step));
        if count > 0 {
            let own: &[&dyn Bind] = &[&of_emitters, &self.buffer];
            dispatch(&self.emitters, own, count.div_ceil(64))?;
            dispatch(&self.scan, own, 1)?;
        }
        let own: &[&dyn Bind] = &[&of_environment, &self.buffer, &cube];
        dispatch(&self.environment, own, texels.div_ceil(64))?;
        dispatch(&self.scan, &own[..2], 1)
    }

    /// Allocates the table for a scene and copies everything that does not change between frames.
    fn fill(&mut self, recording: &mut Recording<'_>, world: World<'_>, face: u32) -> Result<()> {
        let World { geometry, .. } = world;
        let scene = world.frame.scene;
        let gpu = recording.gpu;
        let materials = &geometry.buffers.materials;
        let emitters = emitters(scene, geometry);
        let words = |buffer: &wgpu::Buffer| buffer.size().div_ceil(4) as u32;
        let [material_stride, layer_stride] = materials.strides().map(|bytes| bytes / 4);
        let mut parts = PathParams {
            material_stride,
            layer_stride,
            emitter_count: emitters.len() as u32,
            environment_face: face,
            ..PathParams::default()
        };
        let mut end = 0_u32;
        let mut room = |words: u32| {
            let first = end;
            end = end.saturating_add(words);
            first
        };
        parts.material_word = room(words(materials.all_uniforms()));
        parts.layer_word = room(words(materials.all_layer_uniforms()));
        parts.sheen_word = room(words(materials.sheen_table()));
        parts.header_word = room(PATH_HEADER * scene.materials.len() as u32);
        parts.emitter_word = room(3 * parts.emitter_count);
        parts.environment_word = room(6 * face * face);
        let end = self.volumes.place(gpu, scene, geometry.buffers, end)?;
        parts.volume_word = self.volumes.word;
        let (placed, end) = place(gpu, materials, used(scene), end)?;
        let bytes = u64::from(end) * 4;
        gpu.check_binding("the table of the path tracer", bytes)?;
        let usage = Buffer::STORAGE | Buffer::COPY_DST;
        self.buffer = gpu.catch(|| gpu.buffer(LABEL, bytes, usage))?;
        let headers: Vec<u32> = (scene.materials.iter().enumerate())
            .flat_map(|(index, material)| header(scene, material, materials.layer_index(index), &placed))
            .collect();
        let write = |word: u32, words: &[u32]| {
            let bytes = bytemuck::cast_slice(words);
            gpu.queue.write_buffer(&self.buffer, u64::from(word) * 4, bytes);
        };
        write(parts.header_word, &headers);
        let [triangles, of_materials]: [Vec<u32>; 2] = [
            emitters.iter().map(|(triangle, _)| *triangle).collect(),
            emitters.iter().map(|(_, material)| *material).collect(),
        ];
        write(parts.emitter_word, &triangles);
        write(parts.emitter_word + 2 * parts.emitter_count, &of_materials);
        self.parts = parts;
        for (key, placed) in &placed {
            self.copy(recording, materials, *key, placed)?;
        }
        self.volumes.copy(recording, geometry.buffers, &self.buffer)
    }

    /// Copies a texture into the table.
    fn copy(
        &self,
        recording: &mut Recording<'_>,
        materials: &crate::materials::Materials,
        (image, used): (usize, TextureUse),
        placed: &TexturePlacement,
    ) -> Result<()> {
        let gpu = recording.gpu;
        let Some(texture) = materials.texture(image, used) else {
            return Ok(());
        };
        let [width, height] = placed.size;
        let slices: Vec<_> = (0..height).step_by(COPIED_ROWS as usize).collect();
        let slice_params = slices.iter().map(|&row_offset| PathTexels {
            word: placed.word,
            level: placed.level,
            size: placed.size,
            row_offset,
            srgb: u32::from(used.is_srgb()),
        });
        let uniforms = UniformArray::new(gpu, "path_texels", slice_params)?;
        for (number, &row_offset) in slices.iter().enumerate() {
            let rows = COPIED_ROWS.min(height - row_offset);
            let uniform = uniforms.at(number);
            let own: &[&dyn Bind] = &[&uniform, &texture.view, &self.buffer];
            let pixels = Workgroups::Pixels([width, rows]);
            recording.dispatch("path_texels", &self.texels, &[], own, pixels)?;
        }
        Ok(())
    }
}

impl LifeCycle for PathTable {
    fn parts(&mut self) -> Vec<&mut dyn LifeCycle> {
        vec![&mut self.key]
    }

    fn begin(&mut self) {
        self.is_fresh = false;
        self.key.begin();
    }

    /// The next frame writes again what this one has, and fills the table again if this one has.
    fn abort(&mut self) {
        if self.is_fresh {
            self.version = None;
        }
        if self.key.pending().is_some() {
            self.key.reset();
        }
    }

    fn invalidate(&mut self) {
        self.version = None;
        self.key.reset();
    }
}

/// Returns the emissive triangles for light sampling, with their materials, in ascending order. Alpha-tested,
/// blended, clearcoated and unlit materials are left out, so only BSDF-sampled paths hit them.
fn emitters(scene: &Scene, geometry: Geometry<'_>) -> Vec<(u32, u32)> {
    let glows = |material: &Material| {
        let coated = material
            .layers
            .as_deref()
            .is_some_and(|layers| layers.clearcoat > 0.0);
        material.emissive != Vec3::ZERO
            && material.alpha_mode == AlphaMode::Opaque
            && !material.unlit
            && !material.is_blended()
            && !coated
    };
    let runs = geometry.buffers.draws.surfaces(true);
    let runs = runs.filter(|run| glows(&scene.materials[run.material]));
    let mut found: Vec<_> = runs
        .flat_map(|run| {
            let end = run.first_triangle + run.triangle_count;
            (run.first_triangle..end).map(|triangle| (triangle, run.material as u32))
        })
        .collect();
    found.sort_unstable();
    found
}

/// Returns the textures of a material with their slots.
fn textures(scene: &Scene, material: &Material) -> Vec<(usize, TextureRef, Bound)> {
    let base = texture_refs(material).into_iter();
    let base = base.zip(base_textures(scene, material)).enumerate();
    let mut found: Vec<_> = base
        .filter_map(|(slot, (texture, bound))| Some((slot, texture?, bound)))
        .collect();
    if let Some(layers) = material.layers.as_deref() {
        let bound = layer_textures(scene, material);
        let slots = layers.slots().into_iter().zip(layer_bindings(material).indices);
        let of_layers = LayerSlot::ALL.into_iter().zip(slots);
        found.extend(of_layers.filter_map(|(slot, (texture, index))| {
            let bound = bound.get(index?)?;
            Some((texture_refs(material).len() + slot as usize, texture?, *bound))
        }));
    }
    found
}

/// Returns all images, in each use that materials have for them.
fn used(scene: &Scene) -> BTreeSet<(usize, TextureUse)> {
    let all = scene.materials.iter();
    let all = all.flat_map(|material| textures(scene, material));
    all.filter_map(|(_, _, (image, _))| image).collect()
}

/// Places textures from word `first` on, in the finest mip level for which they fit into a storage binding.
/// Returns their locations and the end.
fn place(
    gpu: &Gpu,
    materials: &crate::materials::Materials,
    used: BTreeSet<(usize, TextureUse)>,
    first: u32,
) -> Result<(Places, u32)> {
    let most = (gpu.binding_limit() / 4).min(u64::from(u32::MAX));
    for level in 0..16 {
        let mut end = u64::from(first);
        let mut placed = BTreeMap::new();
        for &(image, used) in &used {
            let Some(texture) = materials.texture(image, used) else {
                continue;
            };
            let level = level.min(texture.texture().mip_level_count() - 1);
            let size = texture.texture().size();
            let size = [size.width, size.height].map(|side| (side >> level).max(1));
            let word = end as u32;
            end += u64::from(size[0]) * u64::from(size[1]);
            placed.insert((image, used), TexturePlacement { word, level, size });
        }
        if end <= most {
            if level > 0 {
                log::warn!(
                    "paths see textures at 1/{} of their size, which fits {}",
                    1 << level,
                    gpu.info.name
                );
            }
            return Ok((placed, end as u32));
        }
    }
    Err(Error::Limit {
        what: "the textures of the path tracer".into(),
        needed: format!("more than {} bytes", 4 * most),
        allowed: format!("{} bytes", 4 * most),
        by: format!("storage binding limit of {}", gpu.info.name),
    })
}

/// Returns the header of a material.
fn header(
    scene: &Scene,
    material: &Material,
    layers: Option<usize>,
    placed: &Places,
) -> [u32; PATH_HEADER as usize] {
    let mut header = [0; PATH_HEADER as usize];
    header[0] = layers.map_or(u32::MAX, |layers| layers as u32);
    for (slot, texture, (key, sampler)) in textures(scene, material) {
        let Some((key, placed)) = key.and_then(|key| Some((key, placed.get(&key)?))) else {
            continue;
        };
        header[1] |= 1 << slot;
        let flags = alpha_sampler(&sampler)
            | if key.1.is_srgb() { PATH_TEXEL_SRGB } else { 0 }
            | if texture.uv_set == 1 { PATH_TEXEL_SECOND } else { 0 };
        let [width, height] = placed.size;
        header[4 + 4 * slot..8 + 4 * slot].copy_from_slice(&[placed.word, width, height, flags]);
    }
    header
}

const _: () = assert!(PATH_TEXTURES as usize == 5 + LayerSlot::ALL.len());
