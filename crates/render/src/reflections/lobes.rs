//! `lobes`: draws the BSDF lobes that reflection rays sample at layered surfaces of the G-buffer.

use crate::{
    bindings::{Layouts, SurfacePipeline},
    frame::recording::Recording,
    materials::Surface,
    raster::draw_lists::Run,
    resources::{GBuffer, LOBE_FORMATS, Lobes, ReflectionStart, UNUSED, try_create},
    upload::scene_buffers::SceneBuffers,
    world::World,
};
use canopy_bvh::{
    Result,
    gpu::{
        Gpu, LazyPipeline, bind_group,
        pass::{self, Binding, PipelineInUse},
    },
};
use wgpu::{ShaderStages, TextureUsages as Usage};

/// Pipelines and outputs of the pass.
#[derive(Debug)]
pub struct LobesPass {
    single_sided: LazyPipeline<wgpu::RenderPipeline>,
    double_sided: LazyPipeline<wgpu::RenderPipeline>,
    layout: wgpu::BindGroupLayout,
    /// Outputs, indexed by [`ReflectionStart`].
    outputs: [Lobes; 2],
}

impl LobesPass {
    /// Creates the pass without compiling its pipelines.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        let layout = pass::layout(gpu, "lobes", &[(ShaderStages::FRAGMENT, Binding::Uint)]);
        let pipeline = |cull_mode| {
            layouts.surface_pipeline(SurfacePipeline {
                path: "passes/lobes.wgsl",
                entry: "lobes",
                targets: LOBE_FORMATS.map(Into::into).to_vec(),
                cull_mode,
                topology: wgpu::PrimitiveTopology::TriangleList,
                indexed: false,
                // Keeps only fragments that are the G-buffer's surface.
                depth_compare: wgpu::CompareFunction::Equal,
                group1: Some(layout.clone()),
                layered: true,
            })
        };
        Self {
            single_sided: pipeline(Some(wgpu::Face::Back)),
            double_sided: pipeline(None),
            layout,
            outputs: [(); 2].map(|()| Lobes::new(gpu, UNUSED, Usage::RENDER_ATTACHMENT)),
        }
    }

    fn pipeline(&self, surface: &Surface) -> &LazyPipeline<wgpu::RenderPipeline> {
        match surface.double_sided {
            true => &self.double_sided,
            false => &self.single_sided,
        }
    }

    /// Frees the output of `start`.
    pub fn reset(&mut self, gpu: &Gpu, start: ReflectionStart) -> Result<()> {
        self.fit(gpu, start, UNUSED)
    }

    fn fit(&mut self, gpu: &Gpu, start: ReflectionStart, size: [u32; 2]) -> Result<()> {
        let output = &mut self.outputs[start as usize];
        if output.size() != size {
            *output = try_create(gpu, size, || Lobes::new(gpu, size, Usage::RENDER_ATTACHMENT))?;
        }
        Ok(())
    }

    /// Draws the lobes of all layered surfaces in `gbuffer`, the G-buffer of `start`. If there are none, the
    /// output has [`UNUSED`] texels.
    pub fn record(
        &mut self,
        recording: &mut Recording<'_>,
        world: World<'_>,
        gbuffer: &GBuffer,
        start: ReflectionStart,
    ) -> Result<&Lobes> {
        let World { frame, geometry, .. } = world;
        let (gpu, buffers) = (recording.gpu, geometry.buffers);
        let mut runs = runs(buffers, start).peekable();
        if runs.peek().is_none() {
            self.reset(gpu, start)?;
            return Ok(&self.outputs[start as usize]);
        }
        self.fit(gpu, start, frame.size)?;
        let output = &self.outputs[start as usize];
        let group = bind_group(gpu, "lobes", &self.layout, &[&gbuffer.ids]);
        let clear = wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT);
        let images = [&output.layers, &output.glass];
        let attachments = images.map(|image| Some(pass::color(&image.view, clear)));
        let mut pass = recording.scope.scoped_render_pass(
            "lobes",
            wgpu::RenderPassDescriptor {
                label: Some("lobes"),
                color_attachments: &attachments,
                depth_stencil_attachment: Some(pass::depth(&gbuffer.depth.view, wgpu::LoadOp::Load)),
                ..Default::default()
            },
        );
        pass.set_bind_group(0, &frame.group, &[]);
        pass.set_bind_group(1, &group, &[]);
        pass.set_bind_group(2, geometry.group, &[]);
        let mut pipeline = PipelineInUse::default();
        for (run, surface) in runs {
            if !pipeline.set(gpu, &mut pass, self.pipeline(surface))? {
                continue;
            }
            buffers.materials.bind_layers(&mut pass, run.material);
            pass.draw(run.corners(), 0..1);
        }
        drop(pass);
        recording.split("lobes");
        Ok(output)
    }
}

/// Returns the runs with layered materials that rays of `start` begin from.
fn runs(buffers: &SceneBuffers, start: ReflectionStart) -> Box<dyn Iterator<Item = (&Run, &Surface)> + '_> {
    match start {
        ReflectionStart::Solid => Box::new(buffers.layered(true)),
        ReflectionStart::Blended => {
            let blended = buffers.blended().map(|(run, surface, _)| (run, surface));
            Box::new(blended.filter(|(_, surface)| surface.layered))
        }
    }
}
