//! `light_choice`: the lights that each pixel sends shadow rays to, where there are too many for all.

use super::{
    bindings::Layouts,
    edges::{GBuffer, Geometry, POSITIONS, Visibility, WORDS},
    frame::Frame,
    recording::Recording,
};
use crate::{
    Result,
    gpu::{
        Gpu, Kernel, Needs,
        pass::Binding::{Uniform, Write},
    },
};

/// The pass.
#[derive(Debug)]
pub struct LightChoice {
    kernel: Kernel,
}

impl LightChoice {
    /// Ready to be compiled.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        let bindings = [Uniform, POSITIONS, WORDS, WORDS, WORDS, Write];
        let shared = [(0, &layouts.frame), (2, &layouts.scene)];
        let path = "shadow/light_choice.wgsl";
        Self {
            kernel: Kernel::new(gpu, path, "light_choice", &shared, &bindings),
        }
    }

    /// What it compiles.
    pub fn needs(&self, needs: &mut Needs) {
        self.kernel.needs(needs);
    }

    /// Writes the lights of each pixel into [`Visibility::words`].
    pub fn record(
        &self,
        recording: &mut Recording<'_>,
        frame: &Frame<'_>,
        geometry: Geometry<'_>,
        gbuffer: &GBuffer,
        visibility: &Visibility,
    ) -> Result<()> {
        // Every light is looked at twice.
        let most = recording.budget.pixels() / (frame.lights.len() as u32 / 8).max(1);
        recording.dispatch_pixels(
            "light_choice",
            &self.kernel,
            &[(0, &frame.group), (2, geometry.group)],
            &[
                &gbuffer.position,
                &gbuffer.normal,
                &gbuffer.albedo,
                &gbuffer.ids,
                &visibility.words,
            ],
            frame.size,
            most,
        )
    }
}
