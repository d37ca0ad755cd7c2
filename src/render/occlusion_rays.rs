//! `occlusion_rays`: what blocks the light from everywhere, by rays through the trees.

use super::{
    bindings::Layouts,
    occlusion::{Occlusion, PLACES_FORMAT},
    scene_buffers::SceneBuffers,
    targets::Targets,
};
use crate::{
    Result,
    gpu::{
        Gpu, Needs, OnDemand,
        pass::{self, Binding},
        profiler::Scope,
    },
};

/// The pass.
#[derive(Debug)]
pub struct OcclusionRays {
    pipeline: OnDemand<wgpu::ComputePipeline>,
    layout: wgpu::BindGroupLayout,
}

impl OcclusionRays {
    /// Ready to be compiled.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        let layout = pass::compute_layout(
            gpu,
            "occlusion_rays",
            &[
                Binding::Float,
                Binding::Uint,
                Binding::Uint,
                Binding::Uniform,
                Binding::Store(PLACES_FORMAT),
            ],
        );
        let layouts = [&layouts.frame, &layouts.tree, &layouts.scene, &layout];
        let (path, entry) = ("render/occlusion_rays.wgsl", "occlusion_rays");
        Self {
            pipeline: pass::compute_on_demand(path, entry, &layouts),
            layout,
        }
    }

    /// What it compiles.
    pub fn needs(&self, needs: &mut Needs) {
        needs.add(&self.pipeline);
    }

    /// Traces the rays of `rows` rows from `first_row` on.
    pub fn record(
        &self,
        gpu: &Gpu,
        scope: &mut Scope<'_>,
        frame: &wgpu::BindGroup,
        buffers: &SceneBuffers,
        (targets, occlusion): (&Targets, &Occlusion),
        [first_row, rows]: [u32; 2],
    ) -> Result<()> {
        let params = occlusion.params(gpu, first_row, 0);
        let views = [&targets.position, &targets.normal, &targets.ids];
        let mut resources: Vec<_> = views
            .map(|target| wgpu::BindingResource::TextureView(&target.view))
            .into();
        resources.push(params.as_entire_binding());
        resources.push(wgpu::BindingResource::TextureView(&occlusion.fresh.view));
        let group = pass::bind_group(gpu, "occlusion_rays", &self.layout, &resources);
        let mut pass = scope.scoped_compute_pass("occlusion_rays");
        pass.set_pipeline(self.pipeline.get(gpu)?);
        for (index, group) in [frame, &buffers.tree_group, &buffers.scene_group, &group]
            .into_iter()
            .enumerate()
        {
            pass.set_bind_group(index as u32, group, &[]);
        }
        pass.dispatch_workgroups(targets.size[0].div_ceil(8), rows.div_ceil(8), 1);
        Ok(())
    }
}
