//! Capabilities of a device, and canopy's choices for it: one table, made when the device is wrapped.

/// Read access to large arrays in shaders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Arrays {
    /// Storage buffers.
    Buffers,
    /// Textures of [`Arrays::WIDTH`] texels per row, as storage textures if the format allows. Software
    /// adapters vectorise these loads, but not buffer loads.
    Textures,
}

impl Arrays {
    /// Elements per row of a texture.
    pub const WIDTH: u32 = 8192;
}

/// Number format of the boxes in nodes for rays on GPUs (`bvh/ray_node.wgsl`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum RayBoxes {
    /// Halves, which RDNA reads without conversion. A node has 80 bytes.
    #[default]
    Halves,
    /// Bytes. A node has 64 bytes.
    Bytes,
}

impl RayBoxes {
    /// Returns the rows of four words in a node.
    pub fn rows(self) -> u32 {
        match self {
            Self::Halves => 5,
            Self::Bytes => 4,
        }
    }
}

/// Memory for the traversal stack of rays on GPUs (`bvh/ray_stack.wgsl`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum RayStack {
    /// Workgroup memory.
    #[default]
    Workgroup,
    /// Private memory (`bvh/software/ray_stack.wgsl`), which is scratch memory on many GPUs.
    Private,
}

/// Choices on which the text of shaders depends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ShaderChoices {
    /// Read access to large arrays.
    pub arrays: Arrays,
    /// Boxes of nodes for rays.
    pub ray_boxes: RayBoxes,
    /// Stack of rays.
    pub ray_stack: RayStack,
}

impl From<Arrays> for ShaderChoices {
    /// Returns the default of everything but `arrays`.
    fn from(arrays: Arrays) -> Self {
        Self {
            arrays,
            ray_boxes: RayBoxes::default(),
            ray_stack: RayStack::default(),
        }
    }
}

/// Cooperation between the threads of a workgroup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cooperation {
    /// Subgroup operations. Subgroups have at least this many threads.
    Subgroups(u32),
    /// Workgroup memory with barriers.
    Workgroups,
    /// No cooperation: each thread processes a run of elements. On software adapters, a barrier costs more
    /// than the work between two of them.
    None,
}

/// Workgroup memory in bytes that kernels without [`Cooperation`] need: the stacks of
/// `bvh/software/hierarchy_serial.wgsl`.
pub const SERIAL_WORKGROUP_BYTES: u32 = 24_832;

/// Storage textures per stage that [`Arrays::Textures`] needs: `shadow_motion` has 14, including the scene's.
const STORAGE_TEXTURES: u32 = 16;

/// True if a device has the limits that [`Arrays::Textures`] needs.
pub fn has_room_for_textures(limits: &wgpu::Limits) -> bool {
    limits.max_compute_workgroup_storage_size >= SERIAL_WORKGROUP_BYTES
        && limits.max_storage_textures_per_shader_stage >= STORAGE_TEXTURES
}

/// Capabilities of a device, and the choices that suit it.
#[derive(Debug, Clone)]
pub struct Capabilities {
    /// Read access to large arrays in shaders. [`Arrays::Textures`] implies [`Cooperation::None`].
    pub arrays: Arrays,
    /// Boxes of nodes for rays, if [`Capabilities::has_ray_nodes`].
    pub ray_boxes: RayBoxes,
    /// Stack of rays, if [`Capabilities::has_ray_nodes`].
    pub ray_stack: RayStack,
    /// Minimum subgroup size. `None` without subgroup operations.
    pub subgroup_size: Option<u32>,
    /// True if all subgroups have that size.
    pub one_subgroup_size: bool,
    /// Minimum subgroup size for the subgroup sort.
    pub sort_subgroup_size: u32,
    /// True for a GPU, false for an adapter that runs on the CPU.
    pub has_gpu: bool,
    /// True if several rays per pixel and frame are fast enough for interactive use.
    pub fast_rays: bool,
    /// Default render scale relative to the window during motion, until a frame time has been measured.
    pub moving_scale: f32,
    /// Target frame time in milliseconds that feels interactive and that the device can reach.
    pub frame_ms: f32,
    /// Maximum number of samples per dispatch that does not delay the following frames.
    pub dispatch_samples: u32,
    /// True if high-quality BVHs pay off for static geometry. On software adapters they take eight times as
    /// long to build as others.
    pub better_trees: bool,
    /// True if samplers may be anisotropic. llvmpipe filters incorrectly. Version 22 ignores the wrap mode
    /// and takes as long as ten other lookups. Version 25 returns zeros if the coordinates do not vary.
    pub filters_anisotropically: bool,
    /// Maximum face size, in texels, of a cube map whose size is chosen automatically.
    pub cube_face: u32,
    /// Face size, in texels, of the cube map of a procedural sky.
    pub sky_face: u32,
    /// True if compute shaders filter cubes wrongly at face edges until a draw has sampled the cube, as on
    /// SwiftShader.
    pub cube_edges_drawn: bool,
    /// True if entry points must read copies of uniforms (`private_uniforms`), as on llvmpipe before version
    /// 25.
    pub private_uniforms: bool,
    /// True if path tracing is split into several kernels, because waiting for longer paths costs more than
    /// passing data between kernels.
    pub separate_path_kernels: bool,
    /// True if textures may have BC formats.
    pub bc_textures: bool,
    /// True if textures may have 16-bit normalised formats.
    pub norm16_textures: bool,
    /// True if draws of surfaces are indexed, which needs the primitive index in fragment shaders. On
    /// software adapters, pulling three vertices per triangle is faster.
    pub indexed_draws: bool,
    /// True if passes can have GPU timestamps.
    pub timestamps: bool,
    /// True if pipeline caches can be saved.
    pub pipeline_cache: bool,
}

/// Returns the major version of Mesa if the driver is llvmpipe, for example 22 for "Mesa 22.3.6 (LLVM
/// 15.0.6)".
fn mesa_version(info: &wgpu::AdapterInfo) -> Option<u32> {
    let version = info.driver_info.strip_prefix("Mesa ")?;
    let major = version.split('.').next()?.parse().ok()?;
    (info.driver == "llvmpipe").then_some(major)
}

impl Capabilities {
    /// Returns the capabilities of `device`.
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
            ray_boxes: RayBoxes::default(),
            ray_stack: RayStack::default(),
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
            // OpenGL vertex shaders cannot read the first instance of a draw.
            indexed_draws: features.contains(wgpu::Features::PRIMITIVE_INDEX)
                && info.backend != wgpu::Backend::Gl
                && !is_software,
            timestamps: features.contains(wgpu::Features::TIMESTAMP_QUERY),
            // Software adapters have nothing to save. They cache compiled shaders on disk by themselves.
            pipeline_cache: features.contains(wgpu::Features::PIPELINE_CACHE) && !is_software,
        }
    }

    /// True if rays traverse nodes of their own ([`RayNodes`](crate::accel::RayNodes)), by kernels that leave
    /// out unneeded parts. Software adapters take longer to compile a kernel than to run a frame.
    pub fn has_ray_nodes(&self) -> bool {
        self.arrays == Arrays::Buffers
    }

    /// Returns the choices on which the text of shaders depends.
    pub fn shader_choices(&self) -> ShaderChoices {
        ShaderChoices {
            arrays: self.arrays,
            ray_boxes: self.ray_boxes,
            ray_stack: self.ray_stack,
        }
    }

    /// Returns the kind of kernels for this device, where there are several for the same task.
    pub fn cooperation(&self) -> Cooperation {
        match (self.arrays, self.subgroup_size) {
            (Arrays::Textures, _) => Cooperation::None,
            (Arrays::Buffers, Some(size)) => Cooperation::Subgroups(size),
            (Arrays::Buffers, None) => Cooperation::Workgroups,
        }
    }
}
