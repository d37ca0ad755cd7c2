//! `bounced_light`: lights the hits of ambient-occlusion rays.

use crate::{
    bindings::Layouts,
    frame::recording::Recording,
    resources::{NOISY_FORMAT, NoisyOcclusion},
    world::World,
};
use canopy_bvh::{
    Result,
    gpu::{
        Gpu, GpuImage, Variants,
        pass::Binding::{StoreArray, Uint, Uniform},
    },
};

/// Label of the pass in frame timings.
const LABEL: &str = "bounced_light";

/// Pipeline of the pass.
#[derive(Debug)]
pub struct BouncedLight {
    kernels: Variants<1>,
}

impl BouncedLight {
    /// Creates the pass without compiling its pipeline.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        let bindings = [Uniform, Uint, Uniform, StoreArray(NOISY_FORMAT)];
        Self {
            kernels: layouts.ray_kernels(gpu, "ambient/bounced_light.wgsl", LABEL, &bindings),
        }
    }

    /// Lights each hit in `found` by one stochastically chosen light, to which it traces a shadow ray. Writes
    /// the noisy radiance to `output`.
    pub fn record(
        &self,
        recording: &mut Recording<'_>,
        world: World<'_>,
        found: NoisyOcclusion<'_>,
        output: &GpuImage,
    ) -> Result<()> {
        let World {
            frame,
            geometry,
            trees,
            ..
        } = world;
        let gpu = recording.gpu;
        let nodes = trees.rays(recording)?;
        recording.dispatch_pixels(
            LABEL,
            self.kernels.get([geometry.buffers.tests_hits(gpu)]),
            &[(0, &frame.group), (1, nodes), (2, geometry.group)],
            &[found.hits, found.params, output],
            frame.size,
            recording.budget.occlusion_pixels(1),
        )
    }
}
