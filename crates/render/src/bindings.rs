//! Bind group layouts that several passes share: frame (group 0), BVH (1), scene (2) and material (3). Also
//! the raster pipelines that use them.

use super::formats::DEPTH_FORMAT;
use canopy_bvh::{
    Result,
    gpu::{
        Gpu, Kernel, LazyPipeline, PipelineKey, Variants,
        pass::{self, Binding},
        shader,
    },
};
use wgpu::ShaderStages;

/// Shared bind group layouts.
#[derive(Debug)]
pub struct Layouts {
    /// Group 0: bindings of `frame/frame.wgsl`, `light/light.wgsl`, `shadow/shadow_map.wgsl`,
    /// `environment/environment.wgsl` and `math/sampling.wgsl`.
    pub frame: wgpu::BindGroupLayout,
    /// Group 1: bindings of `bvh/bvh.wgsl`.
    pub tree: wgpu::BindGroupLayout,
    /// Group 2: bindings of `frame/scene.wgsl`.
    pub scene: wgpu::BindGroupLayout,
    /// Group 3: bindings of `material/material.wgsl`.
    pub material: wgpu::BindGroupLayout,
    /// Group 3 for layered materials: bindings of `material/material_layers.wgsl`.
    pub layers: wgpu::BindGroupLayout,
}

/// Vertex buffer layouts of the merged buffers: positions; normals and tangents; two UV sets and colours.
const VERTEX_BUFFERS: [Option<wgpu::VertexBufferLayout<'_>>; 3] = [
    vertex_buffer(12, &wgpu::vertex_attr_array![0 => Float32x3]),
    vertex_buffer(28, &wgpu::vertex_attr_array![1 => Float32x3, 2 => Float32x4]),
    vertex_buffer(24, &wgpu::vertex_attr_array![3 => Float32x4, 4 => Unorm16x4]),
];

const fn vertex_buffer(
    array_stride: u64,
    attributes: &'static [wgpu::VertexAttribute],
) -> Option<wgpu::VertexBufferLayout<'static>> {
    Some(wgpu::VertexBufferLayout {
        array_stride,
        step_mode: wgpu::VertexStepMode::Vertex,
        attributes,
    })
}

/// Maximum number of layer textures per material, counted over all of its layers.
pub const LAYER_TEXTURES: usize = 8;

/// Raster pipeline over the merged scene. Its vertex shader is in material/material.wgsl or
/// material/points_lines.wgsl.
#[derive(Debug, Clone)]
pub(super) struct SurfacePipeline {
    /// Path of the shader file.
    pub(super) path: &'static str,
    /// Fragment entry point.
    pub(super) entry: &'static str,
    pub(super) targets: Vec<wgpu::ColorTargetState>,
    pub(super) cull_mode: Option<wgpu::Face>,
    /// Topology: a list of triangles, lines or points.
    pub(super) topology: wgpu::PrimitiveTopology,
    /// True if vertices come from [`VERTEX_BUFFERS`]; otherwise the vertex shader pulls them.
    pub(super) indexed: bool,
    /// Depth test. Depth is reversed.
    pub(super) depth_compare: wgpu::CompareFunction,
    /// Layout of group 1, which holds outputs of earlier passes for the fragment shader. Pipelines that have
    /// a group 1 do not write depth.
    pub(super) group1: Option<wgpu::BindGroupLayout>,
    /// True if group 3 holds a layered material.
    pub(super) layered: bool,
}

impl Layouts {
    /// Creates the layouts.
    pub fn new(gpu: &Gpu) -> Self {
        const ALL: ShaderStages = ShaderStages::VERTEX_FRAGMENT.union(ShaderStages::COMPUTE);
        const RAYS: ShaderStages = ShaderStages::FRAGMENT.union(ShaderStages::COMPUTE);
        let mut bindings = vec![(RAYS, Binding::UniformAt)];
        bindings.extend([(RAYS, Binding::Filtered); 5]);
        bindings.extend([(RAYS, Binding::Sampler); 5]);
        let material = pass::layout(gpu, "material", &bindings);
        bindings.extend([(RAYS, Binding::Filtered); LAYER_TEXTURES]);
        bindings.extend([(RAYS, Binding::Sampler); LAYER_TEXTURES]);
        bindings.push((RAYS, Binding::Uniform));
        bindings.push((RAYS, Binding::UniformAt));
        let layers = pass::layout(gpu, "layers", &bindings);
        Self {
            frame: pass::layout(
                gpu,
                "frame",
                &[
                    (ALL, Binding::Uniform),
                    (RAYS, Binding::Uniform),
                    (RAYS, Binding::Uniform),
                    (RAYS, Binding::DepthArray),
                    (RAYS, Binding::Compare),
                    (RAYS, Binding::Uniform),
                    (RAYS, Binding::Uniform),
                    (RAYS, Binding::Cube),
                    (RAYS, Binding::Sampler),
                    (RAYS, Binding::Uniform),
                ],
            ),
            tree: canopy_bvh::accel::Tree::layout(gpu, RAYS),
            // Portable limits allow eight storage buffers per stage. These five and the two of the BVHs leave
            // one for the output of rays.
            scene: pass::layout(
                gpu,
                "scene",
                &[
                    (ALL, Binding::ReadArray(1)),
                    (ALL, Binding::ReadArray(1)),
                    (ALL, Binding::ReadArray(1)),
                    (ALL, Binding::Read),
                    (RAYS, Binding::Read),
                ],
            ),
            material,
            layers,
        }
    }

    /// Returns the kernels of a compute shader that traces rays, with and without any-hit tests
    /// ([`SceneBuffers::tests_hits`](crate::upload::SceneBuffers::tests_hits)). `bindings` are the kernel's
    /// own bindings, in group 3.
    pub(super) fn ray_kernels(
        &self,
        gpu: &Gpu,
        path: &'static str,
        entry: &'static str,
        bindings: &[Binding],
    ) -> Variants<1> {
        let shared = [(0, &self.frame), (1, &self.tree), (2, &self.scene)];
        Variants::new(["BVH_TESTS_HITS"], |constants| {
            Kernel::with_constants(gpu, path, entry, &shared, bindings, constants)
        })
    }

    /// Returns a raster pipeline over the merged scene. It is compiled when it is first needed.
    pub(super) fn surface_pipeline(&self, pipeline: SurfacePipeline) -> LazyPipeline<wgpu::RenderPipeline> {
        let material = if pipeline.layered {
            &self.layers
        } else {
            &self.material
        };
        let (frame, scene, material) = (self.frame.clone(), self.scene.clone(), material.clone());
        LazyPipeline::new(pipeline.entry, move |gpu| {
            let groups = [
                Some(frame.clone()),
                pipeline.group1.clone(),
                Some(scene.clone()),
                Some(material.clone()),
            ];
            let key = PipelineKey::new(
                gpu.capabilities.shader_choices(),
                &groups,
                format!("{pipeline:?}"),
            );
            gpu.render_pipeline(key, || {
                pipeline.compile(gpu, &groups.each_ref().map(Option::as_ref))
            })
        })
    }
}

impl SurfacePipeline {
    fn compile(&self, gpu: &Gpu, groups: &[Option<&wgpu::BindGroupLayout>]) -> Result<wgpu::RenderPipeline> {
        let (entry, module) = (self.entry, &shader::module(gpu, self.path)?);
        let targets: Vec<_> = self.targets.iter().cloned().map(Some).collect();
        let layout = gpu
            .device
            .create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label: Some(entry),
                bind_group_layouts: groups,
                immediate_size: 0,
            });
        gpu.catch(|| {
            gpu.device
                .create_render_pipeline(&wgpu::RenderPipelineDescriptor {
                    label: Some(entry),
                    layout: Some(&layout),
                    vertex: wgpu::VertexState {
                        module,
                        entry_point: Some(match self.topology {
                            wgpu::PrimitiveTopology::LineList => "line_vertex",
                            wgpu::PrimitiveTopology::PointList => "point_vertex",
                            _ if self.indexed => "indexed_vertex",
                            _ => "merged_vertex",
                        }),
                        compilation_options: wgpu::PipelineCompilationOptions::default(),
                        buffers: if self.indexed { &VERTEX_BUFFERS } else { &[] },
                    },
                    primitive: wgpu::PrimitiveState {
                        topology: self.topology,
                        cull_mode: self.cull_mode,
                        ..Default::default()
                    },
                    depth_stencil: Some(wgpu::DepthStencilState {
                        format: DEPTH_FORMAT,
                        depth_write_enabled: Some(self.group1.is_none()),
                        depth_compare: Some(self.depth_compare),
                        stencil: wgpu::StencilState::default(),
                        bias: wgpu::DepthBiasState::default(),
                    }),
                    multisample: wgpu::MultisampleState::default(),
                    fragment: Some(wgpu::FragmentState {
                        module,
                        entry_point: Some(entry),
                        compilation_options: wgpu::PipelineCompilationOptions::default(),
                        targets: &targets,
                    }),
                    multiview_mask: None,
                    cache: gpu.pipeline_cache(),
                })
        })
    }
}
