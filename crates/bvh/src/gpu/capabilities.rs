//! What a device can do, and what canopy chooses for it: one table, made when the device is wrapped.

/// How shaders read large arrays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Arrays {
    /// From storage buffers.
    Buffers,
    /// From textures of [`Arrays::WIDTH`] texels a row, storage textures if their format allows. Software adapters
    /// vectorise these loads; they load from buffers lane by lane.
    Textures,
}

impl Arrays {
    /// Elements in a row of a texture.
    pub const WIDTH: u32 = 8192;
}

/// How the threads of a workgroup share their work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cooperation {
    /// By subgroup operations; subgroups have this many threads or more.
    Subgroups(u32),
    /// Through the workgroup's memory, with barriers.
    Workgroups,
    /// Not at all: each thread works on a run of elements. On software adapters a barrier costs more than the
    /// work between two of them.
    None,
}

/// Bytes of workgroup memory that kernels without [`Cooperation`] need: the stacks of
/// `bvh/software/hierarchy_serial.wgsl`.
pub const SERIAL_WORKGROUP_BYTES: u32 = 24_832;

/// Storage textures that [`Arrays::Textures`] needs in a stage: `shadow_motion` has 14 with the scene's.
const STORAGE_TEXTURES: u32 = 16;

/// Whether a device has what [`Arrays::Textures`] needs.
pub fn has_room_for_textures(limits: &wgpu::Limits) -> bool {
    limits.max_compute_workgroup_storage_size >= SERIAL_WORKGROUP_BYTES
        && limits.max_storage_textures_per_shader_stage >= STORAGE_TEXTURES
}

/// What a device can do, and what suits it.
#[derive(Debug, Clone)]
pub struct Capabilities {
    /// How shaders read large arrays. [`Arrays::Textures`] implies [`Cooperation::None`].
    pub arrays: Arrays,
    /// Threads that a subgroup has at least; `None` where subgroup operations are missing.
    pub subgroup_size: Option<u32>,
    /// Whether all subgroups have that many.
    pub one_subgroup_size: bool,
    /// Threads that a subgroup needs for sorting by it.
    pub sort_subgroup_size: u32,
    /// Whether a GPU does the work. Without one everything runs on the processor.
    pub has_gpu: bool,
    /// Whether several rays per pixel and frame leave a frame interactive.
    pub fast_rays: bool,
    /// Rendered size over the window's while something moves, before any frame was measured.
    pub moving_scale: f32,
    /// Time of a frame that feels interactive and that the device can keep, in milliseconds.
    pub frame_ms: f32,
    /// Samples that one dispatch may take without holding up the frames behind it.
    pub dispatch_samples: u32,
    /// Whether trees that are cheap to trace pay where they are built once. In software they take eight times as
    /// long to build as others.
    pub better_trees: bool,
    /// True where samplers may be anisotropic. Mesa's software adapter filters wrongly: version 22 repeats textures however
    /// they wrap, and takes as long as for ten other lookups; version 25 returns zeros where the coordinates do not vary.
    pub filters_anisotropically: bool,
    /// Texels along an edge of the largest cube map that is chosen automatically.
    pub cube_face: u32,
    /// The same for the cube map of a procedural sky.
    pub sky_face: u32,
    /// True if kernels filter cubes wrongly at the edges of faces until a draw has read the cube: SwiftShader.
    pub cube_edges_drawn: bool,
    /// True where entry points read copies of uniforms (`private_uniforms`): Mesa's software driver before version 25.
    pub private_uniforms: bool,
    /// Whether paths of light are followed by several kernels, because threads that wait for longer paths cost more
    /// than what the kernels hand each other.
    pub separate_path_kernels: bool,
    /// Textures in BC formats.
    pub bc_textures: bool,
    /// Textures of 16-bit normalised integers.
    pub norm16_textures: bool,
    /// Whether draws of surfaces are indexed, because fragments know the number of their primitive. In software,
    /// pulling three vertices a triangle is faster.
    pub indexed_draws: bool,
    /// GPU timestamps around passes.
    pub timestamps: bool,
    /// Pipeline caches that can be saved.
    pub pipeline_cache: bool,
}

/// The version of Mesa's software driver, where it is the one: 22 of "Mesa 22.3.6 (LLVM 15.0.6)".
fn mesa_version(info: &wgpu::AdapterInfo) -> Option<u32> {
    let version = info.driver_info.strip_prefix("Mesa ")?;
    let major = version.split('.').next()?.parse().ok()?;
    (info.driver == "llvmpipe").then_some(major)
}

impl Capabilities {
    /// Those of `device`.
    pub(super) fn new(device: &wgpu::Device) -> Self {
        let (info, features) = (device.adapter_info(), device.features());
        let is_software = info.device_type == wgpu::DeviceType::Cpu;
        let has_subgroups = features.contains(wgpu::Features::SUBGROUP);
        Self {
            arrays: if is_software && has_room_for_textures(&device.limits()) {
                Arrays::Textures
            } else {
                Arrays::Buffers
            },
            subgroup_size: has_subgroups.then_some(info.subgroup_min_size),
            one_subgroup_size: info.subgroup_min_size == info.subgroup_max_size,
            sort_subgroup_size: 8,
            has_gpu: !is_software,
            fast_rays: !is_software,
            moving_scale: if is_software { 0.5 } else { 1.0 },
            frame_ms: if is_software { 100.0 } else { 16.0 },
            dispatch_samples: if is_software { 1 << 20 } else { 1 << 25 },
            better_trees: !is_software,
            filters_anisotropically: !is_software,
            cube_face: if is_software { 256 } else { 1024 },
            sky_face: if is_software { 64 } else { 256 },
            cube_edges_drawn: info.driver.starts_with("SwiftShader"),
            private_uniforms: mesa_version(&info).is_some_and(|version| version < 25),
            separate_path_kernels: !is_software,
            bc_textures: features.contains(wgpu::Features::TEXTURE_COMPRESSION_BC),
            norm16_textures: features.contains(wgpu::Features::TEXTURE_FORMAT_16BIT_NORM),
            // OpenGL does not tell vertex shaders the first instance of a draw.
            indexed_draws: features.contains(wgpu::Features::PRIMITIVE_INDEX)
                && info.backend != wgpu::Backend::Gl
                && !is_software,
            timestamps: features.contains(wgpu::Features::TIMESTAMP_QUERY),
            // Software adapters have nothing to save: they keep compiled shaders on disk by themselves.
            pipeline_cache: features.contains(wgpu::Features::PIPELINE_CACHE) && !is_software,
        }
    }

    /// Which kernels the device gets where there are several for the same work.
    pub fn cooperation(&self) -> Cooperation {
        match (self.arrays, self.subgroup_size) {
            (Arrays::Textures, _) => Cooperation::None,
            (Arrays::Buffers, Some(size)) => Cooperation::Subgroups(size),
            (Arrays::Buffers, None) => Cooperation::Workgroups,
        }
    }
}
