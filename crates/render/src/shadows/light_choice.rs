//! `light_choice`: samples the lights that each pixel casts shadow rays to, if there are too many to trace
//! all.

use crate::{
    bindings::Layouts,
    frame::recording::Recording,
    resources::{GBuffer, POSITIONS, Visibility, WORDS},
    world::World,
};
use canopy_bvh::{
    Result,
    gpu::{
        Gpu, Kernel,
        pass::Binding::{Uniform, Write},
    },
};

/// Pipeline of the pass.
#[derive(Debug)]
pub struct LightChoice {
    kernel: Kernel,
}

impl LightChoice {
    /// Creates the pass without compiling its pipeline.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        let bindings = [Uniform, POSITIONS, WORDS, WORDS, WORDS, Write];
        let shared = [(0, &layouts.frame), (2, &layouts.scene)];
        let path = "shadow/light_choice.wgsl";
        Self {
            kernel: Kernel::new(gpu, path, "light_choice", &shared, &bindings),
        }
    }

    /// Writes the chosen lights of each pixel to [`Visibility::words`].
    pub fn record(
        &self,
        recording: &mut Recording<'_>,
        world: World<'_>,
        gbuffer: &GBuffer,
        visibility: &Visibility,
    ) -> Result<()> {
        let World { frame, geometry, .. } = world;
        // The kernel looks at all candidates twice. A draw from the tree takes about as long as eight looks.
        let plan = frame.light_plan;
        let draws = match plan.has_tree() {
            true => plan.candidates,
            false => plan.candidates / 8,
        };
        let most = recording.budget.pixels() / draws.max(1);
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
