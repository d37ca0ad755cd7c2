//! Traced ambient visibility of each pixel and the bounced light of the occluders, if the settings enable
//! them.

use super::{
    bounced_filter::BouncedFilter, bounced_light::BouncedLight, occlusion_filter::OcclusionFilter,
    occlusion_rays::OcclusionRays,
};
use crate::{
    bindings::Layouts,
    frame::{life_cycle::LifeCycle, recording::Recording},
    resources::{AmbientVisibility, VisibleSurfaces, try_create},
    settings::Settings,
    world::World,
};
use canopy_bvh::{Result, gpu::Gpu};

/// Passes and the histories that they keep.
#[derive(Debug)]
pub struct Occlusion {
    rays: OcclusionRays,
    filter: OcclusionFilter,
    bounced: BouncedLight,
    bounced_filter: BouncedFilter,
    output: AmbientVisibility,
}

impl Occlusion {
    /// Creates the passes without compiling their pipelines.
    ///
    /// # Errors
    ///
    /// [`canopy_bvh::Error::Gpu`] if the adapter runs out of memory.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Result<Self> {
        Ok(Self {
            rays: OcclusionRays::new(gpu, layouts),
            filter: OcclusionFilter::new(gpu, layouts)?,
            bounced: BouncedLight::new(gpu, layouts),
            bounced_filter: BouncedFilter::new(gpu, layouts)?,
            output: AmbientVisibility::new(gpu, None)?,
        })
    }

    /// Traces rays into the hemisphere of each pixel and denoises the ambient visibility. Also lights the
    /// hits and denoises the bounced light. The output stays empty if the settings disable occlusion.
    pub fn record(
        &mut self,
        recording: &mut Recording<'_>,
        world: World<'_>,
        seen: VisibleSurfaces<'_>,
    ) -> Result<&AmbientVisibility> {
        let World { frame, .. } = world;
        let VisibleSurfaces { gbuffer, history, .. } = seen;
        let gpu = recording.gpu;
        let traced = frame.samples_occlusion;
        let size = traced.then_some(frame.size);
        if self.output.size() != size {
            self.output = try_create(gpu, frame.size, || AmbientVisibility::new(gpu, size))??;
        }
        if !traced {
            return Ok(&self.output);
        }
        let found = self.rays.record(recording, world, gbuffer, history.index)?;
        let output = &self.output;
        self.filter
            .record(recording, frame, gbuffer, history, found.signal, output)?;
        if frame.bounces_light {
            let bounced = self.bounced.record(recording, world, found)?;
            self.bounced_filter
                .record(recording, frame, history, bounced, output)?;
        }
        Ok(output)
    }

    /// Returns the number of frames until the averages of a still picture converge, or 1 without averaging.
    pub fn frames_to_converge(config: &Settings) -> u32 {
        match config.occlusion.sends_rays() {
            true => config.occlusion.history,
            false => 1,
        }
    }

    /// Returns the ambient visibility of the last frame.
    pub fn output(&self) -> &AmbientVisibility {
        &self.output
    }
}

impl LifeCycle for Occlusion {
    fn parts(&mut self) -> Vec<&mut dyn LifeCycle> {
        vec![&mut self.bounced_filter]
    }
}
