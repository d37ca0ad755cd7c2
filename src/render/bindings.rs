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
    /// `common/frame.wgsl`, `common/light.wgsl`, `common/shadow_map.wgsl`, `common/environment.wgsl`.
    pub frame: wgpu::BindGroupLayout,
    /// `common/bvh.wgsl`.
    pub tree: wgpu::BindGroupLayout,
    /// `common/scene.wgsl`.
    pub scene: wgpu::BindGroupLayout,
    /// `common/material.wgsl`.
    pub material: wgpu::BindGroupLayout,
    /// `common/material_layers.wgsl`.
    pub layers: wgpu::BindGroupLayout,
}

/// Textures that a material's layers may have between them.
pub const LAYER_TEXTURES: usize = 8;

/// A raster pipeline over the merged scene, with the vertex shader of common/material.wgsl.
#[derive(Debug)]
pub(super) struct Merged<'a> {
    pub(super) module: &'a wgpu::ShaderModule,
    pub(super) entry: &'a str,
    pub(super) targets: &'a [Option<wgpu::ColorTargetState>],
    pub(super) cull_mode: Option<wgpu::Face>,
    /// Group 1: what its fragments ask of the frame. With it they leave depth as it is.
    pub(super) asks: Option<&'a wgpu::BindGroupLayout>,
    /// Whether group 3 holds layers.
    pub(super) layered: bool,
}

impl Layouts {
    /// Makes them.
    pub fn new(gpu: &Gpu) -> Self {
        const ALL: ShaderStages = ShaderStages::VERTEX_FRAGMENT.union(ShaderStages::COMPUTE);
        const RAYS: ShaderStages = ShaderStages::FRAGMENT.union(ShaderStages::COMPUTE);
        let mut bindings = vec![(ShaderStages::FRAGMENT, Binding::Uniform)];
        bindings.extend([(ShaderStages::FRAGMENT, Binding::Filtered); 5]);
        bindings.extend([(ShaderStages::FRAGMENT, Binding::Sampler); 5]);
        let material = pass::layout(gpu, "material", &bindings);
        bindings.extend([(ShaderStages::FRAGMENT, Binding::Filtered); LAYER_TEXTURES]);
        bindings.extend([(ShaderStages::FRAGMENT, Binding::Sampler); LAYER_TEXTURES]);
        bindings.push((ShaderStages::FRAGMENT, Binding::Uniform));
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
            layers,
        }
    }

    /// Compiles it.
    pub(super) fn merged_pipeline(
        &self,
        gpu: &Gpu,
        merged: &Merged<'_>,
    ) -> Result<wgpu::RenderPipeline> {
        let Merged { module, entry, .. } = *merged;
        let material = if merged.layered {
            &self.layers
        } else {
            &self.material
        };
        let layout = gpu
            .device
            .create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label: Some(entry),
                bind_group_layouts: &[
                    Some(&self.frame),
                    merged.asks,
                    Some(&self.scene),
                    Some(material),
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
                        cull_mode: merged.cull_mode,
                        ..Default::default()
                    },
                    depth_stencil: Some(wgpu::DepthStencilState {
                        format: DEPTH_FORMAT,
                        depth_write_enabled: Some(merged.asks.is_none()),
                        depth_compare: Some(wgpu::CompareFunction::GreaterEqual),
                        stencil: wgpu::StencilState::default(),
                        bias: wgpu::DepthBiasState::default(),
                    }),
                    multisample: wgpu::MultisampleState::default(),
                    fragment: Some(wgpu::FragmentState {
                        module,
                        entry_point: Some(entry),
                        compilation_options: wgpu::PipelineCompilationOptions::default(),
                        targets: merged.targets,
                    }),
                    multiview_mask: None,
                    cache: None,
                })
        })
    }
}
