//! `lighting`: shades the G-buffer with the lights and the environment.

use crate::{
    bindings::Layouts,
    frame::{life_cycle::LifeCycle, recording::Recording},
    resources::{FogFroxels, GBuffer, HDR_FORMAT, Incident, POSITIONS, Radiance, WORDS, try_create},
    settings::{Settings, ShadowMode},
    world::World,
};
use canopy_bvh::{
    Result,
    gpu::{
        Gpu, Kernel, Variants,
        pass::Binding::{Read, Store, Uniform},
    },
};
use canopy_scene::framing::Ground;

/// Pipelines and output of the pass.
#[derive(Debug)]
pub struct Lighting {
    kernels: Variants<3>,
    output: Radiance,
}

impl LifeCycle for Lighting {}

impl Lighting {
    /// Creates the pass without compiling its pipelines.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        let out = Store(HDR_FORMAT);
        let shared = [(0, &layouts.frame), (2, &layouts.scene)];
        let bindings = [
            Uniform, POSITIONS, WORDS, WORDS, WORDS, Read, Read, out, out, WORDS, Read,
        ];
        let bindings = [&bindings[..], &FogFroxels::BINDINGS].concat();
        let parts = ["HAS_SHADOW_MAPS", "HAS_FOG", "HAS_GROUND"];
        let path = "passes/lighting.wgsl";
        Self {
            kernels: Variants::new(parts, |constants| {
                Kernel::with_constants(gpu, path, "lighting", &shared, &bindings, constants)
            }),
            output: Radiance::new(gpu, [1, 1]),
        }
    }

    fn kernel(&self, config: &Settings, ground: Option<Ground>) -> &Kernel {
        let maps = config.shadows.mode == ShadowMode::Map;
        self.kernels
            .get([maps, config.fog.is_enabled(), ground.is_some()])
    }

    /// Shades the surfaces in the G-buffer, except layered ones.
    pub fn record(
        &mut self,
        recording: &mut Recording<'_>,
        world: World<'_>,
        gbuffer: &GBuffer,
        incident: Incident<'_>,
    ) -> Result<&Radiance> {
        let World { frame, geometry, .. } = world;
        let Incident {
            visibility,
            ambient,
            reflected,
            fog,
        } = incident;
        let gpu = recording.gpu;
        if self.output.size() != frame.size {
            self.output = try_create(gpu, frame.size, || Radiance::new(gpu, frame.size))?;
        }
        // The cost of a pixel is proportional to the number of its lights.
        let lights = frame.light_plan.slots.clamp(1, 16);
        let [fog, fog_texture, fog_sampler] = fog.bindings();
        recording.dispatch_pixels(
            "lighting",
            self.kernel(&frame.config, frame.ground),
            &[(0, &frame.group), (2, geometry.group)],
            &[
                &gbuffer.position,
                &gbuffer.normal,
                &gbuffer.albedo,
                &gbuffer.emissive,
                &visibility.words,
                &ambient.words,
                &self.output.hdr,
                &self.output.display,
                &gbuffer.ids,
                &reflected.words,
                fog,
                fog_texture,
                fog_sampler,
            ],
            frame.size,
            recording.budget.pixels() / lights,
        )?;
        Ok(&self.output)
    }

    /// Returns the radiance of the last frame.
    pub fn output(&self) -> &Radiance {
        &self.output
    }
}
