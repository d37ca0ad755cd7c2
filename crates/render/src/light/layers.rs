//! `layers`: shades the layered materials in the G-buffer.

use crate::{
    bindings::{Layouts, SurfacePipeline},
    frame::{Frame, life_cycle::LifeCycle, recording::Recording},
    materials::Surface,
    resources::{FogFroxels, GBuffer, HDR_FORMAT, Incident, Radiance, WORD_FORMAT},
    world::World,
};
use canopy_bvh::{
    Result,
    gpu::{
        Gpu, LazyPipeline, PipelineSet, bind_group,
        pass::{self, Binding, PipelineInUse},
    },
};
use wgpu::ShaderStages;

/// Pipelines of the pass.
#[derive(Debug)]
pub struct LayersPass {
    single_sided: LazyPipeline<wgpu::RenderPipeline>,
    double_sided: LazyPipeline<wgpu::RenderPipeline>,
    layout: wgpu::BindGroupLayout,
}

impl LifeCycle for LayersPass {}

impl LayersPass {
    /// Creates the pass without compiling its pipelines.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        // Layered materials leave only one sampled texture below the limit, so the ids are a storage texture.
        let ids = Binding::Load(WORD_FORMAT);
        let bindings = [ids, Binding::Read, Binding::Read, Binding::Read];
        let bindings = bindings.into_iter().chain(FogFroxels::BINDINGS);
        let bindings: Vec<_> = bindings
            .map(|binding| (ShaderStages::FRAGMENT, binding))
            .collect();
        let layout = pass::layout(gpu, "layers", &bindings);
        let pipeline = |cull_mode| {
            layouts.surface_pipeline(SurfacePipeline {
                path: "passes/layers.wgsl",
                entry: "layers",
                targets: vec![HDR_FORMAT.into()],
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
        }
    }

    fn pipeline(&self, surface: &Surface) -> &LazyPipeline<wgpu::RenderPipeline> {
        if surface.double_sided {
            &self.double_sided
        } else {
            &self.single_sided
        }
    }

    /// Shades the surfaces that `lighting` leaves out, into `radiance`.
    pub fn record(
        &self,
        recording: &mut Recording<'_>,
        world: World<'_>,
        gbuffer: &GBuffer,
        incident: Incident<'_>,
        radiance: &Radiance,
    ) -> Result<()> {
        let World { frame, geometry, .. } = world;
        let (gpu, buffers) = (recording.gpu, geometry.buffers);
        let mut runs = buffers.layered(frame.traces_reflections).peekable();
        if runs.peek().is_none() {
            return Ok(());
        }
        let Incident {
            visibility,
            ambient,
            reflected,
            fog,
        } = incident;
        let [fog, fog_texture, fog_sampler] = fog.bindings();
        let group = bind_group(
            gpu,
            "layers",
            &self.layout,
            &[
                &gbuffer.ids,
                &visibility.words,
                &ambient.words,
                &reflected.words,
                fog,
                fog_texture,
                fog_sampler,
            ],
        );
        let mut pass = recording.scope.scoped_render_pass(
            "layers",
            wgpu::RenderPassDescriptor {
                label: Some("layers"),
                color_attachments: &[Some(pass::color(&radiance.hdr.view, wgpu::LoadOp::Load))],
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
        recording.split("layers");
        Ok(())
    }

    /// Adds the pipelines for all layered surfaces of a scene, visible or not.
    pub fn add_pipelines(&self, frame: &Frame<'_>, set: &mut PipelineSet) {
        for (_, surface) in frame.buffers.layered(frame.traces_reflections) {
            set.add(self.pipeline(surface));
        }
    }
}
