//! Bind group layouts that several passes share: the frame (group 0), the tree (1), the scene (2), a material (3); and the raster pipeline
//! over them.

use super::targets::DEPTH_FORMAT;
use crate::{
    Result,
    gpu::{
        Gpu,
        pass::{self, Binding},
    },
};
use wgpu::ShaderStages;

/// The shared layouts.
#[derive(Debug)]
pub struct Layouts {
    /// `common/frame.wgsl`, `common/light.wgsl`, `common/shadow_map.wgsl`.
    pub frame: wgpu::BindGroupLayout,
    /// `common/bvh.wgsl`.
    pub tree: wgpu::BindGroupLayout,
    /// `common/scene.wgsl`.
    pub scene: wgpu::BindGroupLayout,
    /// `common/material.wgsl`.
    pub material: wgpu::BindGroupLayout,
}

impl Layouts {
    /// Makes them.
    pub fn new(gpu: &Gpu) -> Self {
        const ALL: ShaderStages = ShaderStages::VERTEX_FRAGMENT.union(ShaderStages::COMPUTE);
        const RAYS: ShaderStages = ShaderStages::FRAGMENT.union(ShaderStages::COMPUTE);
        let material = {
            let mut bindings = vec![(ShaderStages::FRAGMENT, Binding::Uniform)];
            bindings.extend([(ShaderStages::FRAGMENT, Binding::Filtered); 5]);
            bindings.extend([(ShaderStages::FRAGMENT, Binding::Sampler); 5]);
            pass::layout(gpu, "material", &bindings)
        };
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
                ],
            ),
            tree: crate::accel::Tree::layout(gpu, RAYS),
            // Eight storage buffers a stage: frames are for vertices alone, so that rays have room for the trees and what they find.
            scene: pass::layout(
                gpu,
                "scene",
                &[
                    (ALL, Binding::Read),
                    (ShaderStages::VERTEX, Binding::Read),
                    (ALL, Binding::Read),
                    (ALL, Binding::Read),
                    (RAYS, Binding::Read),
                ],
            ),
            material,
        }
    }

    /// A pipeline over the merged scene with the vertex shader of common/material.wgsl. With `rays` its fragments may trace, and it leaves
    /// depth as it is.
    pub(super) fn merged_pipeline(
        &self,
        gpu: &Gpu,
        module: &wgpu::ShaderModule,
        entry: &str,
        targets: &[Option<wgpu::ColorTargetState>],
        cull_mode: Option<wgpu::Face>,
        rays: bool,
    ) -> Result<wgpu::RenderPipeline> {
        // The G-buffer's fragments send no rays: it has no tree bound.
        let tree = rays.then_some(&self.tree);
        let layout = gpu
            .device
            .create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label: Some(entry),
                bind_group_layouts: &[
                    Some(&self.frame),
                    tree,
                    Some(&self.scene),
                    Some(&self.material),
                ],
                immediate_size: 0,
            });
        gpu.catch(|| {
            gpu.device
                .create_render_pipeline(&wgpu::RenderPipelineDescriptor {
                    label: Some(entry),
                    layout: Some(&layout),
                    vertex: wgpu::VertexState {
                        module,
                        entry_point: Some("merged_vertex"),
                        compilation_options: wgpu::PipelineCompilationOptions::default(),
                        buffers: &[],
                    },
                    primitive: wgpu::PrimitiveState {
                        cull_mode,
                        ..Default::default()
                    },
                    depth_stencil: Some(wgpu::DepthStencilState {
                        format: DEPTH_FORMAT,
                        depth_write_enabled: Some(!rays),
                        depth_compare: Some(wgpu::CompareFunction::GreaterEqual),
                        stencil: wgpu::StencilState::default(),
                        bias: wgpu::DepthBiasState::default(),
                    }),
                    multisample: wgpu::MultisampleState::default(),
                    fragment: Some(wgpu::FragmentState {
                        module,
                        entry_point: Some(entry),
                        compilation_options: wgpu::PipelineCompilationOptions::default(),
                        targets,
                    }),
                    multiview_mask: None,
                    cache: None,
                })
        })
    }
}
