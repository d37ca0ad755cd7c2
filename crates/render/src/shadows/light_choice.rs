//! `light_choice`: the lights that each pixel sends shadow rays to, where there are too many for all.

use crate::{
    bindings::Layouts,
    edges::{GBuffer, POSITIONS, Visibility, WORDS},
    frame::recording::Recording,
    world::World,
};
use canopy_bvh::{
    Result,
    gpu::{
        Gpu, Kernel,
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

    /// Writes the lights of each pixel into [`Visibility::words`].
    pub fn record(
        &self,
        recording: &mut Recording<'_>,
        world: World<'_>,
        gbuffer: &GBuffer,
        visibility: &Visibility,
    ) -> Result<()> {
        let World { frame, geometry, .. } = world;
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
