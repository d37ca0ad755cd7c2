//! Bind group layouts that several passes share: the frame (group 0), the tree (1), the scene (2), a material
//! (3); and the raster pipeline over them.

use super::formats::DEPTH_FORMAT;
use canopy_bvh::{
    Result,
    gpu::{
        Gpu, OnDemand, PipelineKey,
        pass::{self, Binding},
        shader,
    },
};
use wgpu::ShaderStages;

/// The shared layouts.
#[derive(Debug)]
pub struct Layouts {
    /// `frame/frame.wgsl`, `light/light.wgsl`, `shadow/shadow_map.wgsl`, `environment/environment.wgsl`,
    /// `math/sampling.wgsl`.
    pub frame: wgpu::BindGroupLayout,
    /// `bvh/bvh.wgsl`.
    pub tree: wgpu::BindGroupLayout,
    /// `frame/scene.wgsl`.
    pub scene: wgpu::BindGroupLayout,
    /// `material/material.wgsl`.
    pub material: wgpu::BindGroupLayout,
    /// `material/material_layers.wgsl`.
    pub layers: wgpu::BindGroupLayout,
}

/// The merged buffers as vertex buffers: positions; normals and tangents; two UV sets and colours.
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

/// Most textures that the layers of one material have together.
pub const LAYER_TEXTURES: usize = 8;

/// A raster pipeline over the merged scene, with the vertex shader of material/material.wgsl, or those of
/// material/points_lines.wgsl.
#[derive(Debug, Clone)]
pub(super) struct SurfacePipeline {
    /// Path of the shader.
    pub(super) path: &'static str,
    /// Its fragment entry point.
    pub(super) entry: &'static str,
    pub(super) targets: Vec<wgpu::ColorTargetState>,
    pub(super) cull_mode: Option<wgpu::Face>,
    /// A list of triangles, lines or points.
    pub(super) topology: wgpu::PrimitiveTopology,
    /// Whether vertices come from [`VERTEX_BUFFERS`]; otherwise the vertex shader pulls them.
    pub(super) indexed: bool,
    /// Which fragments are drawn, compared with the depth that is there; depth is reversed.
    pub(super) depth_compare: wgpu::CompareFunction,
    /// Group 1: what its fragments read of the frame. With it they leave depth as it is.
    pub(super) group1: Option<wgpu::BindGroupLayout>,
    /// Whether group 3 holds layers.
    pub(super) layered: bool,
}

impl Layouts {
    /// Describes them to the device.
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
            // Eight storage buffers a stage: with the trees' two, rays have one left for what they find.
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

    /// A raster pipeline over the merged scene, compiled when it is first needed.
    pub(super) fn surface_pipeline(&self, pipeline: SurfacePipeline) -> OnDemand<wgpu::RenderPipeline> {
        let material = if pipeline.layered {
            &self.layers
        } else {
            &self.material
        };
        let (frame, scene, material) = (self.frame.clone(), self.scene.clone(), material.clone());
        OnDemand::new(pipeline.entry, move |gpu| {
            let groups = [
                Some(frame.clone()),
                pipeline.group1.clone(),
                Some(scene.clone()),
                Some(material.clone()),
            ];
            let key = PipelineKey::new(gpu.capabilities.arrays, &groups, format!("{pipeline:?}"));
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
