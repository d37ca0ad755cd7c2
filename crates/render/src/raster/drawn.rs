//! Raster pipeline of an overlay, compiled when it is first needed.

use canopy_bvh::{
    Result,
    gpu::{Gpu, LazyPipeline, PipelineKey, pass, shader},
};
use wgpu::{PrimitiveTopology as Topology, RenderPipeline, TextureFormat as Format};

/// Descriptor of an overlay's raster pipeline.
pub(crate) struct DrawDescriptor {
    /// Path of the shader.
    pub(crate) path: &'static str,
    pub(crate) groups: Vec<Option<wgpu::BindGroupLayout>>,
    /// Entry points.
    pub(crate) vertex: &'static str,
    pub(crate) fragment: &'static str,
    pub(crate) topology: Topology,
    /// Samples per pixel (MSAA).
    pub(crate) samples: u32,
    pub(crate) target: wgpu::ColorTargetState,
}

/// Blending that keeps the maximum of each channel, so that the order of draws does not matter.
pub(crate) const LARGEST: wgpu::BlendComponent = wgpu::BlendComponent {
    src_factor: wgpu::BlendFactor::One,
    dst_factor: wgpu::BlendFactor::One,
    operation: wgpu::BlendOperation::Max,
};

/// Returns a colour target of this format that blends colour and alpha with `blend`.
pub(crate) fn blended(format: Format, blend: wgpu::BlendComponent) -> wgpu::ColorTargetState {
    wgpu::ColorTargetState {
        format,
        blend: Some(wgpu::BlendState {
            color: blend,
            alpha: blend,
        }),
        write_mask: wgpu::ColorWrites::ALL,
    }
}

impl DrawDescriptor {
    /// Returns the lazily compiled pipeline of the pass `label`.
    pub(crate) fn lazy_pipeline(self, label: &'static str) -> LazyPipeline<RenderPipeline> {
        LazyPipeline::new(label, move |gpu| {
            let key = PipelineKey::new(gpu.capabilities.shader_choices(), &self.groups, self.text());
            gpu.render_pipeline(key, || self.compile(gpu))
        })
    }

    /// Returns the descriptor as text for the pipeline key, without the bind groups.
    fn text(&self) -> String {
        let Self {
            path,
            groups: _,
            vertex,
            fragment,
            topology,
            samples,
            target,
        } = self;
        format!("{path} {vertex} {fragment} {topology:?} {samples} {target:?}")
    }

    fn compile(&self, gpu: &Gpu) -> Result<RenderPipeline> {
        let module = &shader::module(gpu, self.path)?;
        let groups: Vec<_> = self.groups.iter().map(Option::as_ref).collect();
        let layout = pass::pipeline_layout(gpu, self.fragment, &groups);
        gpu.catch(|| {
            gpu.device
                .create_render_pipeline(&wgpu::RenderPipelineDescriptor {
                    label: Some(self.vertex),
                    layout: Some(&layout),
                    vertex: wgpu::VertexState {
                        module,
                        entry_point: Some(self.vertex),
                        compilation_options: wgpu::PipelineCompilationOptions::default(),
                        buffers: &[],
                    },
                    primitive: wgpu::PrimitiveState {
                        topology: self.topology,
                        ..Default::default()
                    },
                    depth_stencil: None,
                    multisample: wgpu::MultisampleState {
                        count: self.samples,
                        ..Default::default()
                    },
                    fragment: Some(wgpu::FragmentState {
                        module,
                        entry_point: Some(self.fragment),
                        compilation_options: wgpu::PipelineCompilationOptions::default(),
                        targets: &[Some(self.target.clone())],
                    }),
                    multiview_mask: None,
                    cache: gpu.pipeline_cache(),
                })
        })
    }
}
