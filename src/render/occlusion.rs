//! How much of the environment each pixel sees, by rays where the settings enable them.

use super::{
    bindings::Layouts,
    edges::{AmbientVisibility, GBuffer, Geometry, Motion, Trees, fitted},
    frame::{Frame, FrameInput},
    occlusion_filter::OcclusionFilter,
    occlusion_history::History,
    occlusion_rays::OcclusionRays,
    recording::Recording,
    tree_policy::TreePlan,
};
use crate::{
    Result,
    gpu::{Gpu, Needs},
};

/// The passes, with what they keep from frame to frame.
#[derive(Debug)]
pub struct Occlusion {
    rays: OcclusionRays,
    filter: OcclusionFilter,
    history: History,
    output: AmbientVisibility,
}

impl Occlusion {
    /// Ready to be compiled.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Gpu`] where the adapter has no memory left.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Result<Self> {
        Ok(Self {
            rays: OcclusionRays::new(gpu, layouts),
            filter: OcclusionFilter::new(gpu, layouts),
            history: History::new(gpu)?,
            output: AmbientVisibility::new(gpu, None)?,
        })
    }

    /// What a frame compiles.
    pub fn needs(&self, gpu: &Gpu, input: &FrameInput<'_>, needs: &mut Needs) {
        let settings = &input.config.occlusion;
        if settings.sends_rays(gpu.capabilities.fast_rays) {
            self.rays.needs(needs);
            self.filter.needs(settings.filter, needs);
        }
    }

    /// Begins a frame, before anything of it is recorded.
    pub fn begin(&mut self) {
        self.history.begin();
    }

    /// Traces rays into the hemisphere of each pixel and averages them, where the settings enable it.
    #[expect(clippy::too_many_arguments, reason = "they are the edges of the frame")]
    pub fn record(
        &mut self,
        recording: &mut Recording<'_>,
        frame: &Frame<'_>,
        geometry: Geometry<'_>,
        trees: Trees<'_>,
        gbuffer: &GBuffer,
        motion: Motion<'_>,
        plan: &TreePlan,
    ) -> Result<&AmbientVisibility> {
        let gpu = recording.gpu;
        let traced = frame
            .config
            .occlusion
            .sends_rays(gpu.capabilities.fast_rays);
        if !traced && self.history.size().is_some() {
            self.history = History::new(gpu)?;
        }
        let size = traced.then_some(frame.size);
        if self.output.size() != size {
            self.output = fitted(gpu, frame.size, || AmbientVisibility::new(gpu, size))??;
        }
        if !traced {
            return Ok(&self.output);
        }
        let (history, output) = (&mut self.history, &self.output);
        let moves = plan.changed.contains(&true);
        history.prepare(gpu, frame, moves)?;
        self.rays
            .record(recording, frame, geometry, trees, gbuffer, history)?;
        self.filter
            .record(recording, frame, gbuffer, motion, history, output)?;
        Ok(output)
    }

    /// The frame has been recorded whole.
    pub fn settle(&mut self) {
        self.history.settle();
    }

    /// Ambient visibility of the last frame.
    pub fn output(&self) -> &AmbientVisibility {
        &self.output
    }
}
