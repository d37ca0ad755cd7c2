//! `occlusion_filter`: what rays have found of the light from everywhere, over the frames and over the pixels around.

use super::{
    bindings::Layouts,
    occlusion::{BLOCKED_FORMAT, Occlusion, PLACES_FORMAT},
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
pub struct OcclusionFilter {
    accumulate: Step,
    filter: Step,
    finish: Step,
}

#[derive(Debug)]
struct Step {
    pipeline: OnDemand<wgpu::ComputePipeline>,
    layout: wgpu::BindGroupLayout,
}

impl OcclusionFilter {
    /// Ready to be compiled.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        let step = |entry, bindings: &[Binding]| {
            let layout = pass::compute_layout(gpu, entry, bindings);
            let layouts = [&layouts.frame, &layout];
            let pipeline = pass::compute_on_demand("render/occlusion_filter.wgsl", entry, &layouts);
            Step { pipeline, layout }
        };
        let (uniform, uint) = (Binding::Uniform, Binding::Uint);
        let blocked_out = Binding::Store(BLOCKED_FORMAT);
        Self {
            accumulate: step(
                "occlusion_accumulate",
                &[
                    uniform,
                    uint,
                    Binding::Float,
                    uint,
                    uint,
                    blocked_out,
                    Binding::Store(PLACES_FORMAT),
                ],
            ),
            filter: step("occlusion_filter", &[uniform, uint, uint, blocked_out]),
            finish: step(
                "occlusion_finish",
                &[uniform, uint, uint, uint, Binding::Write],
            ),
        }
    }

    /// What it compiles; `filters` as in [`OcclusionFilter::record`].
    pub fn needs(&self, filters: bool, needs: &mut Needs) {
        needs.add(&self.accumulate.pipeline);
        if filters {
            needs.add(&self.filter.pipeline);
        }
        needs.add(&self.finish.pipeline);
    }

    /// Takes in what this frame's rays have found; `filters` says whether neighbours are asked too.
    pub fn record(
        &self,
        gpu: &Gpu,
        scope: &mut Scope<'_>,
        frame: &wgpu::BindGroup,
        targets: &Targets,
        occlusion: &Occlusion,
        filters: bool,
    ) -> Result<()> {
        fn view(target: &Target) -> wgpu::BindingResource<'_> {
            wgpu::BindingResource::TextureView(&target.view)
        }
        let [last, now] = occlusion.memories();
        let [far, near, nearest, none] = [4, 2, 1, 0].map(|step| occlusion.params(gpu, 0, step));
        let (far, near) = (far.as_entire_binding(), near.as_entire_binding());
        let end = if filters { nearest } else { none };
        // What the last frame left is of use once, and then has room for the filter's first round.
        let (first, second) = (&last.blocked, &occlusion.smooth);
        let places = view(&now.places);
        let accumulate = [
            near.clone(),
            view(&occlusion.fresh),
            view(&targets.position),
            view(&last.blocked),
            view(&last.places),
            view(&now.blocked),
            places.clone(),
        ];
        let rounds = [
            [far, view(&now.blocked), places.clone(), view(first)],
            [near, view(first), places.clone(), view(second)],
        ];
        let finish = [
            end.as_entire_binding(),
            view(if filters { second } else { &now.blocked }),
            places,
            view(&targets.normal),
            occlusion.words.as_entire_binding(),
        ];
        let mut pass = scope.scoped_compute_pass("occlusion_filter");
        pass.set_bind_group(0, frame, &[]);
        let mut run = |step: &Step, resources: &[wgpu::BindingResource<'_>]| -> Result<()> {
            let group = pass::bind_group(gpu, "occlusion_filter", &step.layout, resources);
            pass.set_pipeline(step.pipeline.get(gpu)?);
            pass.set_bind_group(1, &group, &[]);
            pass.dispatch_workgroups(targets.size[0].div_ceil(8), targets.size[1].div_ceil(8), 1);
            Ok(())
        };
        run(&self.accumulate, &accumulate)?;
        if filters {
            for round in &rounds {
                run(&self.filter, round)?;
            }
        }
        run(&self.finish, &finish)
    }
}
