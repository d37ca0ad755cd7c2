//! `shadow_classify`: which shadow rays of a batch have to be sent, as a dense list.

use super::{
    bindings::Layouts,
    ray_list::Batch,
    scene_buffers::SceneBuffers,
    targets::{Target, Targets},
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
pub struct ShadowClassify {
    classify: OnDemand<wgpu::ComputePipeline>,
    arguments: OnDemand<wgpu::ComputePipeline>,
    layout: wgpu::BindGroupLayout,
}

impl ShadowClassify {
    /// Ready to be compiled.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        let layout = pass::compute_layout(
            gpu,
            "shadow_classify",
            &[
                Binding::Float,
                Binding::Uint,
                Binding::Uint,
                Binding::Uniform,
                Binding::Write,
                Binding::Write,
                Binding::Store(wgpu::TextureFormat::R32Uint),
            ],
        );
        let layouts = [&layouts.frame, &layout, &layouts.scene];
        let pipeline =
            |entry| pass::compute_on_demand("render/shadow_classify.wgsl", entry, &layouts);
        Self {
            classify: pipeline("shadow_classify"),
            arguments: pipeline("shadow_arguments"),
            layout,
        }
    }

    /// What it compiles.
    pub fn needs(&self, needs: &mut Needs) {
        needs.add(&self.classify);
        needs.add(&self.arguments);
    }

    /// Fills the list of `targets` with the rays of `batch`.
    pub fn record(
        &self,
        gpu: &Gpu,
        scope: &mut Scope<'_>,
        frame: &wgpu::BindGroup,
        buffers: &SceneBuffers,
        targets: &Targets,
        batch: &Batch,
    ) -> Result<()> {
        fn view(target: &Target) -> wgpu::BindingResource<'_> {
            wgpu::BindingResource::TextureView(&target.view)
        }
        let [params, arguments] = targets.ray_list.bindings(batch);
        let resources = [
            view(&targets.position),
            view(&targets.normal),
            view(&targets.ids),
            params,
            arguments,
            targets.shadow_words.as_entire_binding(),
            view(&targets.ray_list.entries),
        ];
        let group = pass::bind_group(gpu, "shadow_classify", &self.layout, &resources);
        let mut pass = scope.scoped_compute_pass("shadow_classify");
        pass.set_pipeline(self.classify.get(gpu)?);
        pass.set_bind_group(0, frame, &[]);
        pass.set_bind_group(1, &group, &[]);
        pass.set_bind_group(2, &buffers.scene_group, &[]);
        // A workgroup has eight tiles.
        let [columns, rows] = batch.tiles;
        pass.dispatch_workgroups(columns.div_ceil(8), rows, 1);
        pass.set_pipeline(self.arguments.get(gpu)?);
        pass.dispatch_workgroups(1, 1, 1);
        Ok(())
    }
}
