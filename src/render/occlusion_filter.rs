//! `occlusion_filter`: this frame's rays of ambient visibility, averaged over frames and over neighbouring
//! pixels.

use super::{
    bindings::Layouts,
    edges::{AmbientVisibility, GBuffer, Motion},
    frame::Frame,
    occlusion_history::{BLOCKED_FORMAT, History, SURFACES_FORMAT, Tap},
    recording::Recording,
};
use crate::{
    Result,
    gpu::{
        Bind, Gpu, Kernel, Needs,
        pass::Binding::{self, Float, Store, Uint, Write},
    },
};

/// The pass.
#[derive(Debug)]
pub struct OcclusionFilter {
    accumulate: Kernel,
    filter: Kernel,
    finish: Kernel,
}

impl OcclusionFilter {
    /// Ready to be compiled.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        let kernel = |entry, bindings: &[Binding]| {
            let shared = [(0, &layouts.frame)];
            Kernel::new(
                gpu,
                "render/occlusion_filter.wgsl",
                entry,
                &shared,
                bindings,
            )
        };
        let (uniform, blocked) = (Binding::Uniform, Store(BLOCKED_FORMAT));
        let surfaces = Store(SURFACES_FORMAT);
        let accumulate = [
            uniform, uniform, Uint, Float, Uint, Uint, blocked, surfaces, Float, uniform,
        ];
        let filter = [uniform, uniform, Uint, Uint, blocked];
        let finish = [uniform, uniform, Uint, Uint, Uint, Write];
        Self {
            accumulate: kernel("occlusion_accumulate", &accumulate),
            filter: kernel("occlusion_filter", &filter),
            finish: kernel("occlusion_finish", &finish),
        }
    }

    /// What it compiles; `filters` as in [`OcclusionFilter::record`].
    pub fn needs(&self, filters: bool, needs: &mut Needs) {
        self.accumulate.needs(needs);
        if filters {
            self.filter.needs(needs);
        }
        self.finish.needs(needs);
    }

    /// Adds this frame's rays to the history and writes `output`; where the settings filter, from neighbours
    /// too.
    pub fn record(
        &self,
        recording: &mut Recording<'_>,
        frame: &Frame<'_>,
        gbuffer: &GBuffer,
        motion: Motion<'_>,
        history: &History,
        output: &AmbientVisibility,
    ) -> Result<()> {
        let filters = frame.config.occlusion.filter;
        let [last, now] = history.generations();
        // The last frame's means are read once, and then have room for the filter's first round.
        let (first, second) = (&last.blocked, &history.smooth);
        let [far, near, nearest, none] =
            [Tap::Far, Tap::Near, Tap::Nearest, Tap::None].map(|tap| history.tap_params(tap));
        let shared = [(0, &frame.group)];
        let mut run = |kernel: &Kernel, own: &[&dyn Bind]| {
            let most = recording.budget.pixels();
            recording.dispatch_pixels("occlusion_filter", kernel, &shared, own, frame.size, most)
        };
        let surfaces = &now.surfaces;
        run(
            &self.accumulate,
            &[
                &near,
                &history.fresh,
                &gbuffer.position,
                &last.blocked,
                &last.surfaces,
                &now.blocked,
                surfaces,
                motion.last_position,
                motion.params,
            ],
        )?;
        if filters {
            run(&self.filter, &[&far, &now.blocked, surfaces, first])?;
            run(&self.filter, &[&near, first, surfaces, second])?;
        }
        let (end, mean) = if filters {
            (&nearest, second)
        } else {
            (&none, &now.blocked)
        };
        run(
            &self.finish,
            &[end, mean, surfaces, &gbuffer.normal, &output.words],
        )
    }
}
