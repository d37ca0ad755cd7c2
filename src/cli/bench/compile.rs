//! `canopy bench compile`: compile time of every entry point of every shader, up to its first use, without a
//! scene.
//!
//! Each pipeline uses the layout that its shader implies, and runs once over bindings filled with zeros. Most
//! drivers compile when the pipeline is created, llvmpipe when it is first used, so both are timed.

use super::{
    report::{Column, Format, Run},
    session::Session,
};
use crate::{
    Error, Result,
    cli::reflected::Reflected,
    gpu::{Gpu, GpuImage, pass, profiler::Stopwatch, shader},
};
use serde_json::json;
use std::collections::BTreeMap;
use wgpu::naga::{
    AddressSpace, Block, Function, GlobalVariable, Handle, ImageClass, ImageDimension, Module, ScalarKind,
    ShaderStage, Statement, StorageFormat, TypeInner,
};

/// Columns of the table.
pub(super) const COLUMNS: &[Column] = &[
    ("shader", "shader", Format::Text),
    ("entry point", "name", Format::Text),
    ("expressions", "expressions", Format::Count),
    ("parse ms", "parse_ms", Format::Ms),
    ("make ms", "make_ms", Format::Ms),
    ("first use ms", "first_use_ms", Format::Ms),
    ("sum ms", "sum_ms", Format::Ms),
];

/// Size of each bound storage buffer in bytes, larger than any struct that a shader reads from it.
const STORAGE_BYTES: u64 = 1 << 20;
/// Edge length of textures and render targets in texels.
const SIDE: u32 = 8;

/// Measures all selected entry points, and sorts them by time with the slowest first.
pub(super) fn run(session: &mut Session<'_>) -> Result<()> {
    let gpu = &session.meter.gpu;
    let parts = &session.args.only;
    let entries = |(path, _): &(&'static str, &str)| {
        parts.is_empty() || parts.iter().any(|part| path.contains(part.as_str()))
    };
    let shaders: Vec<_> = gpu.shaders().entry_files().filter(entries).collect();
    if shaders.is_empty() {
        let named = parts.join(",");
        return Err(Error::Usage(format!("no shader has {named} in its path")));
    }
    let mut progress = session.progress(shaders.len());
    let mut runs = Vec::new();
    let mut total_ms = 0.0;
    let has_primitive_index = gpu.device.features().contains(wgpu::Features::PRIMITIVE_INDEX);
    for (path, text) in shaders {
        progress.step(path);
        let lacks_subgroups = path.ends_with("_subgroups.wgsl") && gpu.capabilities.subgroup_size.is_none();
        let lacks_index = text.contains("enable primitive_index;") && !has_primitive_index;
        if lacks_subgroups || lacks_index {
            continue;
        }
        let stopwatch = Stopwatch::new();
        let reflected = Reflected::new(gpu.shaders(), path, gpu.capabilities.shader_choices())?;
        let module = shader::module(gpu, path)?;
        let parse_ms = stopwatch.ms();
        let mut parse_ms = Some(parse_ms);
        for (index, entry) in reflected.module.entry_points.iter().enumerate() {
            if entry.stage == ShaderStage::Vertex && !reflected.only_has_vertices() {
                continue;
            }
            let [make_ms, first_use_ms] = reflected.measure(gpu, &module, index)?;
            let parse_ms = parse_ms.take().unwrap_or(0.0);
            let sum_ms = parse_ms + make_ms + first_use_ms;
            total_ms += sum_ms;
            runs.push((
                sum_ms,
                Run::new(json!({
                    "name": entry.name,
                    "shader": path,
                    "expressions": reflected.expressions(index),
                    "parse_ms": parse_ms,
                    "make_ms": make_ms,
                    "first_use_ms": first_use_ms,
                    "sum_ms": sum_ms,
                })),
            ));
        }
    }
    runs.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    session.report.runs.extend(runs.into_iter().map(|(_, run)| run));
    let note = format!(
        "total: {:.1} s. If the driver caches compiled shaders on disk, turn its cache off \
         (Mesa: MESA_SHADER_CACHE_DISABLE=true)",
        total_ms / 1e3
    );
    session.report.notes.push(note);
    Ok(())
}

impl Reflected {
    /// Counts the expressions of an entry point and of all functions that it reaches, each function once.
    /// This is the compiler's input before inlining.
    fn expressions(&self, index: usize) -> usize {
        fn visit(module: &Module, function: &Function, seen: &mut Vec<Handle<Function>>) -> usize {
            let mut called = Vec::new();
            calls(&function.body, &mut called);
            called.retain(|function| !seen.contains(function));
            called.sort();
            called.dedup();
            seen.extend(&called);
            let inner = called.iter().map(|called| &module.functions[*called]);
            let inner: Vec<_> = inner.collect();
            let below: usize = inner.iter().map(|inner| visit(module, inner, seen)).sum();
            function.expressions.len() + below
        }
        let entry = &self.module.entry_points[index];
        visit(&self.module, &entry.function, &mut Vec::new())
    }

    /// Returns the milliseconds that creating the pipeline takes, and the milliseconds by which its first use
    /// is slower than the second.
    fn measure(&self, gpu: &Gpu, module: &wgpu::ShaderModule, index: usize) -> Result<[f64; 2]> {
        let entry = &self.module.entry_points[index];
        let stopwatch = Stopwatch::new();
        if entry.stage == ShaderStage::Compute {
            let overrides: Vec<_> = self.module.overrides.iter().collect();
            let missing = overrides.iter().filter(|(_, o)| o.init.is_none());
            let constants: Vec<_> = missing
                .filter_map(|(_, o)| Some((o.name.as_deref()?, 1.0)))
                .collect();
            let pipeline = pass::compute_pipeline_of(gpu, module, &entry.name, None, &constants)?;
            let make_ms = stopwatch.ms();
            let layout = |group| pipeline.get_bind_group_layout(group);
            let groups = self.groups(gpu, &self.bound(&[index]), layout);
            let use_ms = || {
                let mut encoder = gpu.encoder("compile");
                let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                    label: Some("compile"),
                    ..Default::default()
                });
                pass.set_pipeline(&pipeline);
                for (group, bound) in &groups {
                    pass.set_bind_group(*group, bound, &[]);
                }
                pass.dispatch_workgroups(1, 1, 1);
                drop(pass);
                submit_ms(gpu, encoder)
            };
            let first_ms = use_ms()?;
            return Ok([make_ms, (first_ms - use_ms()?).max(0.0)]);
        }
        let drawing = self.drawing(gpu, module, index)?;
        let make_ms = stopwatch.ms();
        let first_ms = drawing.use_ms(gpu)?;
        Ok([make_ms, (first_ms - drawing.use_ms(gpu)?).max(0.0)])
    }

    fn groups(
        &self,
        gpu: &Gpu,
        bound: &BTreeMap<u32, BTreeMap<u32, &GlobalVariable>>,
        layout: impl Fn(u32) -> wgpu::BindGroupLayout,
    ) -> Vec<(u32, wgpu::BindGroup)> {
        let group = |(group, globals): (&u32, &BTreeMap<u32, &GlobalVariable>)| {
            let dummies: Vec<_> = globals
                .iter()
                .map(|(binding, global)| (*binding, self.dummy(gpu, global)))
                .collect();
            let entries: Vec<_> = dummies
                .iter()
                .map(|(binding, dummy)| wgpu::BindGroupEntry {
                    binding: *binding,
                    resource: dummy.resource(),
                })
                .collect();
            let bound = gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some("compile"),
                layout: &layout(*group),
                entries: &entries,
            });
            (*group, bound)
        };
        bound.iter().map(group).collect()
    }

    /// Creates a resource of zeros for a binding.
    fn dummy(&self, gpu: &Gpu, global: &GlobalVariable) -> Dummy {
        let mut inner = &self.module.types[global.ty].inner;
        if let TypeInner::BindingArray { base, .. } = inner {
            inner = &self.module.types[*base].inner;
        }
        match *inner {
            TypeInner::Sampler { comparison } => {
                Dummy::Sampler(gpu.device.create_sampler(&wgpu::SamplerDescriptor {
                    label: Some("compile"),
                    compare: comparison.then_some(wgpu::CompareFunction::Less),
                    ..Default::default()
                }))
            }
            TypeInner::Image { dim, arrayed, class } => texture(gpu, dim, arrayed, class),
            _ if global.space == AddressSpace::Uniform => {
                let bytes = gpu.limits.max_uniform_buffer_binding_size;
                let usage = wgpu::BufferUsages::UNIFORM;
                Dummy::Buffer(gpu.buffer("compile", bytes.min(1 << 16), usage))
            }
            _ => Dummy::Buffer(gpu.buffer("compile", STORAGE_BYTES, wgpu::BufferUsages::STORAGE)),
        }
    }

    /// Creates a pipeline that draws with the entry point at `index`. A fragment entry point is paired with a
    /// compatible vertex entry point. A vertex entry point is used without a fragment entry point.
    fn drawing(&self, gpu: &Gpu, module: &wgpu::ShaderModule, index: usize) -> Result<Drawing> {
        let entry = &self.module.entry_points[index];
        let vertex_index = match entry.stage {
            ShaderStage::Vertex => index,
            _ => self.vertex_for(entry)?,
        };
        let vertex = &self.module.entry_points[vertex_index];
        let fragment = (entry.stage == ShaderStage::Fragment).then_some(entry);
        let formats: Vec<_> = fragment.map_or(vec![], |entry| self.outputs(entry));
        let attributes: Vec<_> = self.inputs(vertex);
        let buffers: Vec<_> = attributes
            .iter()
            .map(|attribute| {
                Some(wgpu::VertexBufferLayout {
                    array_stride: 16,
                    step_mode: wgpu::VertexStepMode::Vertex,
                    attributes: std::slice::from_ref(attribute),
                })
            })
            .collect();
        let targets: Vec<_> = formats.iter().map(|format| Some((*format).into())).collect();
        let options = wgpu::PipelineCompilationOptions::default;
        let pipeline = gpu.catch(|| {
            gpu.device
                .create_render_pipeline(&wgpu::RenderPipelineDescriptor {
                    label: Some(&entry.name),
                    layout: None,
                    vertex: wgpu::VertexState {
                        module,
                        entry_point: Some(&vertex.name),
                        compilation_options: options(),
                        buffers: &buffers,
                    },
                    primitive: wgpu::PrimitiveState::default(),
                    depth_stencil: Some(wgpu::DepthStencilState {
                        format: wgpu::TextureFormat::Depth32Float,
                        depth_write_enabled: Some(true),
                        depth_compare: Some(wgpu::CompareFunction::Greater),
                        stencil: wgpu::StencilState::default(),
                        bias: wgpu::DepthBiasState::default(),
                    }),
                    multisample: wgpu::MultisampleState::default(),
                    fragment: fragment.map(|entry| wgpu::FragmentState {
                        module,
                        entry_point: Some(&entry.name),
                        compilation_options: options(),
                        targets: &targets,
                    }),
                    multiview_mask: None,
                    cache: None,
                })
        })?;
        let layout = |group| pipeline.get_bind_group_layout(group);
        let groups = self.groups(gpu, &self.bound(&[vertex_index, index]), layout);
        let attachment = |format| {
            let usage = wgpu::TextureUsages::RENDER_ATTACHMENT;
            GpuImage::new(gpu, "compile", [SIDE; 2], format, usage).view
        };
        Ok(Drawing {
            colors: formats.into_iter().map(attachment).collect(),
            depth: attachment(wgpu::TextureFormat::Depth32Float),
            vertices: attributes.len() as u32,
            pipeline,
            groups,
        })
    }
}

/// Collects the functions that a block calls.
fn calls(block: &Block, out: &mut Vec<Handle<Function>>) {
    for statement in block {
        match statement {
            Statement::Call { function, .. } => out.push(*function),
            Statement::Block(block) => calls(block, out),
            Statement::If { accept, reject, .. } => {
                calls(accept, out);
                calls(reject, out);
            }
            Statement::Switch { cases, .. } => cases.iter().for_each(|case| calls(&case.body, out)),
            Statement::Loop { body, continuing, .. } => {
                calls(body, out);
                calls(continuing, out);
            }
            _ => {}
        }
    }
}

/// Placeholder resource for a binding.
enum Dummy {
    Buffer(wgpu::Buffer),
    Texture(wgpu::TextureView),
    Sampler(wgpu::Sampler),
}

impl Dummy {
    fn resource(&self) -> wgpu::BindingResource<'_> {
        match self {
            Self::Buffer(buffer) => buffer.as_entire_binding(),
            Self::Texture(view) => wgpu::BindingResource::TextureView(view),
            Self::Sampler(sampler) => wgpu::BindingResource::Sampler(sampler),
        }
    }
}

fn texture(gpu: &Gpu, dim: ImageDimension, arrayed: bool, class: ImageClass) -> Dummy {
    use wgpu::{TextureFormat as Color, TextureUsages as Usage};
    let (format, usage) = match class {
        ImageClass::Storage { format, .. } => (
            match format {
                StorageFormat::R32Uint => Color::R32Uint,
                StorageFormat::Rg32Uint => Color::Rg32Uint,
                StorageFormat::Rgba32Uint => Color::Rgba32Uint,
                StorageFormat::Rgba32Float => Color::Rgba32Float,
                StorageFormat::Rg32Float => Color::Rg32Float,
                StorageFormat::R32Float => Color::R32Float,
                _ => Color::Rgba16Float,
            },
            Usage::STORAGE_BINDING,
        ),
        ImageClass::Depth { .. } => (Color::Depth32Float, Usage::TEXTURE_BINDING),
        ImageClass::Sampled {
            kind: ScalarKind::Uint,
            ..
        } => (Color::Rgba32Uint, Usage::TEXTURE_BINDING),
        _ => (Color::Rgba8Unorm, Usage::TEXTURE_BINDING),
    };
    let cube = dim == ImageDimension::Cube;
    let texture = gpu.device.create_texture(&wgpu::TextureDescriptor {
        label: Some("compile"),
        size: wgpu::Extent3d {
            width: SIDE,
            height: SIDE,
            depth_or_array_layers: if cube || arrayed { 6 } else { 1 },
        },
        mip_level_count: 1,
        sample_count: 1,
        dimension: match dim {
            ImageDimension::D3 => wgpu::TextureDimension::D3,
            _ => wgpu::TextureDimension::D2,
        },
        format,
        usage,
        view_formats: &[],
    });
    Dummy::Texture(texture.create_view(&wgpu::TextureViewDescriptor {
        label: Some("compile"),
        dimension: Some(match (dim, arrayed) {
            (ImageDimension::Cube, _) => wgpu::TextureViewDimension::Cube,
            (ImageDimension::D3, _) => wgpu::TextureViewDimension::D3,
            (_, true) => wgpu::TextureViewDimension::D2Array,
            (_, false) => wgpu::TextureViewDimension::D2,
        }),
        ..Default::default()
    }))
}

/// A draw call of one triangle.
struct Drawing {
    pipeline: wgpu::RenderPipeline,
    groups: Vec<(u32, wgpu::BindGroup)>,
    colors: Vec<wgpu::TextureView>,
    depth: wgpu::TextureView,
    /// Number of vertex buffers.
    vertices: u32,
}

impl Drawing {
    fn use_ms(&self, gpu: &Gpu) -> Result<f64> {
        let vertices = gpu.buffer("compile", STORAGE_BYTES, wgpu::BufferUsages::VERTEX);
        let clear = wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT);
        let colors = self.colors.iter().map(|view| Some(pass::color(view, clear)));
        let colors: Vec<_> = colors.collect();
        let mut encoder = gpu.encoder("compile");
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("compile"),
            color_attachments: &colors,
            depth_stencil_attachment: Some(pass::depth(&self.depth, wgpu::LoadOp::Clear(0.0))),
            ..Default::default()
        });
        pass.set_pipeline(&self.pipeline);
        for (group, bound) in &self.groups {
            pass.set_bind_group(*group, bound, &[]);
        }
        for slot in 0..self.vertices {
            pass.set_vertex_buffer(slot, vertices.slice(..));
        }
        pass.draw(0..3, 0..1);
        drop(pass);
        submit_ms(gpu, encoder)
    }
}

/// Submits the commands, waits for them, and returns the elapsed milliseconds.
fn submit_ms(gpu: &Gpu, encoder: wgpu::CommandEncoder) -> Result<f64> {
    let stopwatch = Stopwatch::new();
    gpu.queue.submit([encoder.finish()]);
    gpu.wait()?;
    Ok(stopwatch.ms())
}
