//! Labelled compute pipelines, bind groups and dispatches.

use super::{capabilities::Arrays, device::Gpu, lazy_pipeline::LazyPipeline, pipelines::PipelineKey, shader};
use crate::Result;

/// Creates a compute pipeline with the layout derived from its shader.
pub fn compute_pipeline(gpu: &Gpu, path: &str, entry: &str) -> Result<wgpu::ComputePipeline> {
    let module = shader::module(gpu, path)?;
    compute_pipeline_of(gpu, &module, entry, None, &[])
}

/// Creates a compute pipeline like [`compute_pipeline`], from a module that may have several entry points.
/// Pass an explicit layout if bind groups are shared. Some groups may be missing. `constants` are values for
/// `override` constants of the module.
pub fn compute_pipeline_of(
    gpu: &Gpu,
    module: &wgpu::ShaderModule,
    entry: &str,
    layouts: Option<&[Option<&wgpu::BindGroupLayout>]>,
    constants: &[(&str, f64)],
) -> Result<wgpu::ComputePipeline> {
    let layout = layouts.map(|layouts| pipeline_layout(gpu, entry, layouts));
    gpu.catch(|| {
        gpu.device
            .create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some(entry),
                layout: layout.as_ref(),
                module,
                entry_point: Some(entry),
                compilation_options: wgpu::PipelineCompilationOptions {
                    constants,
                    zero_initialize_workgroup_memory: false,
                },
                cache: gpu.pipeline_cache(),
            })
    })
}

/// Creates a pipeline layout over `layouts`, group 0 first.
pub fn pipeline_layout(
    gpu: &Gpu,
    label: &str,
    layouts: &[Option<&wgpu::BindGroupLayout>],
) -> wgpu::PipelineLayout {
    gpu.device
        .create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some(label),
            bind_group_layouts: layouts,
            immediate_size: 0,
        })
}

/// Dispatches one-dimensional work of `groups` workgroups. Above 65,535 it becomes two-dimensional, and the
/// shader's `dispatch_workgroup` (bvh/dispatch.wgsl) flattens it again. The last row may exceed the work, so
/// shaders must check their bounds.
pub fn dispatch(pass: &mut wgpu::ComputePass<'_>, groups: u32) {
    const LIMIT: u32 = 65_535;
    let rows = groups.div_ceil(LIMIT);
    pass.dispatch_workgroups(
        if rows > 1 { groups.div_ceil(rows) } else { groups },
        rows.max(1),
        1,
    );
}

/// Resource type of a binding in a bind group layout.
#[derive(Debug, Clone, Copy)]
pub enum Binding {
    /// Uniform buffer.
    Uniform,
    /// Uniform buffer with a dynamic offset.
    UniformAt,
    /// Read-only storage buffer.
    Read,
    /// Read-write storage buffer.
    Write,
    /// [`Array`](super::Array) for reading, with elements of this many words.
    ReadArray(u32),
    /// Filterable float texture.
    Filtered,
    /// Filterable float texture array.
    FilteredArray,
    /// Unfilterable float texture.
    Float,
    /// Unfilterable float texture array.
    FloatArray,
    /// Filterable float cube map.
    Cube,
    /// Filterable float 3D texture.
    Filtered3d,
    /// Unfilterable float 3D texture.
    Float3d,
    /// Integer texture.
    Uint,
    /// Integer texture array.
    UintArray,
    /// Depth texture array.
    DepthArray,
    /// Write-only storage texture.
    Store(wgpu::TextureFormat),
    /// Write-only storage texture array.
    StoreArray(wgpu::TextureFormat),
    /// Write-only 3D storage texture.
    Store3d(wgpu::TextureFormat),
    /// Texture whose texels are loaded, declared by a `#texels` line.
    Texels(wgpu::TextureFormat),
    /// Texture array whose texels are loaded, declared by a `#texels` line.
    TexelsArray(wgpu::TextureFormat),
    /// Read-only storage texture.
    Load(wgpu::TextureFormat),
    /// Read-only storage texture array.
    LoadArray(wgpu::TextureFormat),
    /// Filtering sampler.
    Sampler,
    /// Comparison sampler.
    Compare,
}

impl Binding {
    fn ty(self, arrays: Arrays) -> wgpu::BindingType {
        use wgpu::{
            BufferBindingType as Buffer, StorageTextureAccess as Access, TextureSampleType as Sample,
            TextureViewDimension as View,
        };
        let buffer = |ty, has_dynamic_offset| wgpu::BindingType::Buffer {
            ty,
            has_dynamic_offset,
            min_binding_size: None,
        };
        let texture = |sample_type, view_dimension| wgpu::BindingType::Texture {
            sample_type,
            view_dimension,
            multisampled: false,
        };
        let stored = |access, format, view_dimension| wgpu::BindingType::StorageTexture {
            access,
            format,
            view_dimension,
        };
        let texels = |format: wgpu::TextureFormat, dimension| match (arrays, format.sample_type(None, None)) {
            (Arrays::Textures, _) => stored(Access::ReadOnly, format, dimension),
            (Arrays::Buffers, Some(Sample::Uint)) => texture(Sample::Uint, dimension),
            (Arrays::Buffers, _) => texture(Sample::Float { filterable: false }, dimension),
        };
        let store = |format, dimension| stored(Access::WriteOnly, format, dimension);
        match self {
            Self::Uniform => buffer(Buffer::Uniform, false),
            Self::UniformAt => buffer(Buffer::Uniform, true),
            Self::Read => buffer(Buffer::Storage { read_only: true }, false),
            Self::Write => buffer(Buffer::Storage { read_only: false }, false),
            Self::ReadArray(words) => match (arrays, super::array::storage_format(words)) {
                (Arrays::Buffers, _) => Self::Read.ty(arrays),
                (Arrays::Textures, Some(format)) => Self::Load(format).ty(arrays),
                (Arrays::Textures, None) => Self::Uint.ty(arrays),
            },
            Self::Filtered => texture(Sample::Float { filterable: true }, View::D2),
            Self::FilteredArray => texture(Sample::Float { filterable: true }, View::D2Array),
            Self::Float => texture(Sample::Float { filterable: false }, View::D2),
            Self::FloatArray => texture(Sample::Float { filterable: false }, View::D2Array),
            Self::Cube => texture(Sample::Float { filterable: true }, View::Cube),
            Self::Filtered3d => texture(Sample::Float { filterable: true }, View::D3),
            Self::Float3d => texture(Sample::Float { filterable: false }, View::D3),
            Self::Uint => texture(Sample::Uint, View::D2),
            Self::UintArray => texture(Sample::Uint, View::D2Array),
            Self::DepthArray => texture(Sample::Depth, View::D2Array),
            Self::Store(format) => store(format, View::D2),
            Self::StoreArray(format) => store(format, View::D2Array),
            Self::Store3d(format) => store(format, View::D3),
            Self::Texels(format) => texels(format, View::D2),
            Self::TexelsArray(format) => texels(format, View::D2Array),
            Self::Load(format) => stored(Access::ReadOnly, format, View::D2),
            Self::LoadArray(format) => stored(Access::ReadOnly, format, View::D2Array),
            Self::Sampler => wgpu::BindingType::Sampler(wgpu::SamplerBindingType::Filtering),
            Self::Compare => wgpu::BindingType::Sampler(wgpu::SamplerBindingType::Comparison),
        }
    }
}

/// Returns the bind group layout of `bindings` at 0, 1, 2, …, each with its shader stages.
pub fn layout(gpu: &Gpu, label: &str, bindings: &[(wgpu::ShaderStages, Binding)]) -> wgpu::BindGroupLayout {
    let entries: Vec<_> = (0..)
        .zip(bindings)
        .map(|(index, (visibility, binding))| wgpu::BindGroupLayoutEntry {
            binding: index,
            visibility: *visibility,
            ty: binding.ty(gpu.capabilities.arrays),
            count: None,
        })
        .collect();
    gpu.pipelines.layout(&entries, || {
        gpu.device
            .create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
                label: Some(label),
                entries: &entries,
            })
    })
}

/// Returns the bind group layout of `bindings` for compute shaders.
pub fn compute_layout(gpu: &Gpu, label: &str, bindings: &[Binding]) -> wgpu::BindGroupLayout {
    let bindings: Vec<_> = bindings
        .iter()
        .map(|binding| (wgpu::ShaderStages::COMPUTE, *binding))
        .collect();
    layout(gpu, label, &bindings)
}

/// Creates the pipeline of a full-screen pass, with the entry points `fullscreen` and `entry` of `module`.
fn compile_fullscreen(
    gpu: &Gpu,
    module: &wgpu::ShaderModule,
    entry: &str,
    layouts: &[&wgpu::BindGroupLayout],
    format: wgpu::TextureFormat,
) -> Result<wgpu::RenderPipeline> {
    let layouts: Vec<_> = layouts.iter().copied().map(Some).collect();
    let layout = pipeline_layout(gpu, entry, &layouts);
    gpu.catch(|| {
        gpu.device
            .create_render_pipeline(&wgpu::RenderPipelineDescriptor {
                label: Some(entry),
                layout: Some(&layout),
                vertex: wgpu::VertexState {
                    module,
                    entry_point: Some("fullscreen"),
                    compilation_options: wgpu::PipelineCompilationOptions::default(),
                    buffers: &[],
                },
                primitive: wgpu::PrimitiveState::default(),
                depth_stencil: None,
                multisample: wgpu::MultisampleState::default(),
                fragment: Some(wgpu::FragmentState {
                    module,
                    entry_point: Some(entry),
                    compilation_options: wgpu::PipelineCompilationOptions::default(),
                    targets: &[Some(format.into())],
                }),
                multiview_mask: None,
                cache: gpu.pipeline_cache(),
            })
    })
}

/// Creates the lazily compiled pipeline of a full-screen pass, with the entry points `fullscreen` and
/// `entry`.
pub fn fullscreen_pipeline(
    path: &'static str,
    entry: &'static str,
    layout: &wgpu::BindGroupLayout,
    format: wgpu::TextureFormat,
) -> LazyPipeline<wgpu::RenderPipeline> {
    let layout = layout.clone();
    LazyPipeline::new(entry, move |gpu| {
        let text = format!("{path} {entry} {format:?}");
        let key = PipelineKey::new(gpu.capabilities.shader_choices(), &[Some(layout.clone())], text);
        gpu.pipelines.render(key, || {
            let module = shader::module(gpu, path)?;
            compile_fullscreen(gpu, &module, entry, &[&layout], format)
        })
    })
}

/// Current pipeline of a render pass. Consecutive draws with the same pipeline fetch and set it only once.
#[derive(Debug, Default)]
pub struct PipelineInUse(Option<usize>);

impl PipelineInUse {
    /// Sets `pipeline` in `pass`, unless it is already set. Returns false if it is missing, and then nothing
    /// may be drawn with it ([`LazyPipeline::get_or_collect`]).
    ///
    /// # Errors
    ///
    /// Any error of compiling it.
    pub fn set(
        &mut self,
        gpu: &Gpu,
        pass: &mut wgpu::RenderPass<'_>,
        pipeline: &LazyPipeline<wgpu::RenderPipeline>,
    ) -> Result<bool> {
        let identity = Some(pipeline.identity());
        if self.0 != identity {
            let Some(pipeline) = pipeline.get_or_collect(gpu)? else {
                return Ok(false);
            };
            pass.set_pipeline(&pipeline);
            self.0 = identity;
        }
        Ok(true)
    }
}

/// Returns a colour attachment whose result is stored.
pub fn color(
    view: &wgpu::TextureView,
    load: wgpu::LoadOp<wgpu::Color>,
) -> wgpu::RenderPassColorAttachment<'_> {
    wgpu::RenderPassColorAttachment {
        view,
        depth_slice: None,
        resolve_target: None,
        ops: wgpu::Operations {
            load,
            store: wgpu::StoreOp::Store,
        },
    }
}

/// Returns a depth attachment whose result is stored. Depth is reversed, so clear it to 0, which is far.
pub fn depth(
    view: &wgpu::TextureView,
    load: wgpu::LoadOp<f32>,
) -> wgpu::RenderPassDepthStencilAttachment<'_> {
    wgpu::RenderPassDepthStencilAttachment {
        view,
        depth_ops: Some(wgpu::Operations {
            load,
            store: wgpu::StoreOp::Store,
        }),
        stencil_ops: None,
    }
}
