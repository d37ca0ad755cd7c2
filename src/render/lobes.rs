//! `lobes`: the lobes by which surfaces with layers send reflection rays on, where the G-buffer shows them.

use super::{
    bindings::{Layouts, SurfacePipeline},
    edges::{GBuffer, Geometry, LOBE_FORMATS, Lobes, fitted},
    frame::Frame,
    materials::Surface,
    recording::Recording,
    scene_buffers::SceneBuffers,
};
use crate::{
    Result,
    gpu::{
        Gpu, Needs, OnDemand, bind_group,
        pass::{self, Binding},
    },
};
use wgpu::{ShaderStages, TextureUsages as Usage};

/// The pass.
#[derive(Debug)]
pub struct LobesPass {
    single_sided: OnDemand<wgpu::RenderPipeline>,
    double_sided: OnDemand<wgpu::RenderPipeline>,
    layout: wgpu::BindGroupLayout,
    output: Lobes,
}

impl LobesPass {
    /// Ready to be compiled.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        let layout = pass::layout(gpu, "lobes", &[(ShaderStages::FRAGMENT, Binding::Uint)]);
        let pipeline = |cull_mode| {
            layouts.surface_pipeline(SurfacePipeline {
                path: "render/lobes.wgsl",
                entry: "lobes",
                targets: LOBE_FORMATS.map(Into::into).to_vec(),
                cull_mode,
                topology: wgpu::PrimitiveTopology::TriangleList,
                indexed: false,
                // Where they are what the G-buffer shows.
                depth_compare: wgpu::CompareFunction::Equal,
                group1: Some(layout.clone()),
                layered: true,
            })
        };
        Self {
            single_sided: pipeline(Some(wgpu::Face::Back)),
            double_sided: pipeline(None),
            layout,
            output: Lobes::new(gpu, [1, 1], Usage::RENDER_ATTACHMENT),
        }
    }

    /// What it compiles for `buffers`.
    pub fn needs(&self, buffers: &SceneBuffers, needs: &mut Needs) {
        for (_, surface) in buffers.layered(true) {
            needs.add(self.pipeline(surface));
        }
    }

    fn pipeline(&self, surface: &Surface) -> &OnDemand<wgpu::RenderPipeline> {
        match surface.double_sided {
            true => &self.double_sided,
            false => &self.single_sided,
        }
    }

    /// Forgets all of them.
    pub fn forget(&mut self, gpu: &Gpu) -> Result<()> {
        self.fit(gpu, [1, 1])
    }

    fn fit(&mut self, gpu: &Gpu, size: [u32; 2]) -> Result<()> {
        if self.output.size() != size {
            self.output = fitted(gpu, size, || {
                Lobes::new(gpu, size, Usage::RENDER_ATTACHMENT)
            })?;
        }
        Ok(())
    }

    /// Draws the lobes of all surfaces with layers that `gbuffer` shows. A texel where there are none.
    pub fn record(
        &mut self,
        recording: &mut Recording<'_>,
        frame: &Frame<'_>,
        geometry: Geometry<'_>,
        gbuffer: &GBuffer,
    ) -> Result<&Lobes> {
        let (gpu, buffers) = (recording.gpu, geometry.buffers);
        let mut runs = buffers.layered(true).peekable();
        if runs.peek().is_none() {
            self.forget(gpu)?;
            return Ok(&self.output);
        }
        self.fit(gpu, frame.size)?;
        let group = bind_group(gpu, "lobes", &self.layout, &[&gbuffer.ids]);
        let clear = wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT);
        let images = [&self.output.layers, &self.output.glass];
        let attachments = images.map(|image| Some(pass::color(&image.view, clear)));
        let mut pass = recording.scope.scoped_render_pass(
            "lobes",
            wgpu::RenderPassDescriptor {
                label: Some("lobes"),
                color_attachments: &attachments,
                depth_stencil_attachment: Some(pass::depth(
                    &gbuffer.depth.view,
                    wgpu::LoadOp::Load,
                )),
                ..Default::default()
            },
        );
        pass.set_bind_group(0, &frame.group, &[]);
        pass.set_bind_group(1, &group, &[]);
        pass.set_bind_group(2, geometry.group, &[]);
        for (run, surface) in runs {
            pass.set_pipeline(self.pipeline(surface).get(gpu)?);
            buffers.materials.bind_layers(&mut pass, run.material);
            pass.draw(run.corners(), 0..1);
        }
        drop(pass);
        recording.split("lobes");
        Ok(&self.output)
    }
}
