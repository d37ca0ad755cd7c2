//! `shadow_rays`: shadow rays through the trees, those of a list or those of every pixel.

use super::{bindings::Layouts, ray_list::Batch, scene_buffers::SceneBuffers, targets::Targets};
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
pub struct ShadowRays {
    listed: Road,
    by_pixel: Road,
}

#[derive(Debug)]
struct Road {
    pipeline: OnDemand<wgpu::ComputePipeline>,
    layout: wgpu::BindGroupLayout,
}

impl ShadowRays {
    /// Ready to be compiled.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        let road = |entry, bindings: &[Binding]| {
            let layout = pass::compute_layout(gpu, entry, bindings);
            let layouts = [&layouts.frame, &layouts.tree, &layouts.scene, &layout];
            let pipeline = pass::compute_on_demand("render/shadow_rays.wgsl", entry, &layouts);
            Road { pipeline, layout }
        };
        let bindings = [
            Binding::Float,
            Binding::Uint,
            Binding::Uint,
            Binding::Write,
            Binding::Uint,
            Binding::Uniform,
            Binding::Uniform,
        ];
        Self {
            listed: road("shadow_rays", &bindings),
            by_pixel: road("shadow_rays_by_pixel", &bindings[..4]),
        }
    }

    /// What it compiles for rays that are `listed` or not.
    pub fn needs(&self, listed: bool, needs: &mut Needs) {
        let road = if listed { &self.listed } else { &self.by_pixel };
        needs.add(&road.pipeline);
    }

    /// Traces the rays of `batch`, which the list of `targets` holds.
    pub fn record(
        &self,
        gpu: &Gpu,
        scope: &mut Scope<'_>,
        frame: &wgpu::BindGroup,
        buffers: &SceneBuffers,
        targets: &Targets,
        batch: &Batch,
    ) -> Result<()> {
        let list = &targets.ray_list;
        let [params, arguments] = list.bindings(batch);
        let entries = wgpu::BindingResource::TextureView(&list.entries.view);
        let own = [entries, params, arguments];
        let mut pass = scope.scoped_compute_pass("shadow_rays");
        self.listed
            .bind(gpu, &mut pass, frame, buffers, targets, &own)?;
        pass.dispatch_workgroups_indirect(&list.arguments, batch.offset);
        Ok(())
    }

    /// Traces a ray for every pixel and light.
    pub fn record_by_pixel(
        &self,
        gpu: &Gpu,
        scope: &mut Scope<'_>,
        frame: &wgpu::BindGroup,
        buffers: &SceneBuffers,
        targets: &Targets,
    ) -> Result<()> {
        let mut pass = scope.scoped_compute_pass("shadow_rays");
        self.by_pixel
            .bind(gpu, &mut pass, frame, buffers, targets, &[])?;
        pass.dispatch_workgroups(targets.size[0].div_ceil(8), targets.size[1].div_ceil(8), 1);
        Ok(())
    }
}

impl Road {
    /// Binds what both roads read and write, then `own`.
    fn bind(
        &self,
        gpu: &Gpu,
        pass: &mut wgpu::ComputePass<'_>,
        frame: &wgpu::BindGroup,
        buffers: &SceneBuffers,
        targets: &Targets,
        own: &[wgpu::BindingResource<'_>],
    ) -> Result<()> {
        let views = [&targets.position, &targets.normal, &targets.ids];
        let mut resources: Vec<_> = views
            .map(|target| wgpu::BindingResource::TextureView(&target.view))
            .into();
        resources.push(targets.shadow_words.as_entire_binding());
        resources.extend_from_slice(own);
        let group = pass::bind_group(gpu, "shadow_rays", &self.layout, &resources);
        pass.set_pipeline(self.pipeline.get(gpu)?);
        for (index, group) in [frame, &buffers.tree_group, &buffers.scene_group, &group]
            .into_iter()
            .enumerate()
        {
            pass.set_bind_group(index as u32, group, &[]);
        }
        Ok(())
    }
}
