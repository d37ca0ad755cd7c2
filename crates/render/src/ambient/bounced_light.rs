//! `bounced_light`: lights the hits of ambient-occlusion rays.

use crate::{
    bindings::Layouts,
    frame::recording::Recording,
    resources::{NOISY_FORMAT, NoisyOcclusion, try_create},
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

/// Pipeline and output of the pass.
#[derive(Debug)]
pub struct BouncedLight {
    kernels: Variants<1>,
    /// Radiance of this frame, in two layers.
    output: GpuImage,
}

impl BouncedLight {
    /// Creates the pass without compiling its pipeline.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        let bindings = [Uniform, Uint, Uniform, StoreArray(NOISY_FORMAT)];
        Self {
            kernels: layouts.ray_kernels(gpu, "ambient/bounced_light.wgsl", LABEL, &bindings),
            output: image(gpu, [1, 1]),
        }
    }

    /// Lights each hit in `found` by one stochastically chosen light, to which it traces a shadow ray.
    /// Returns the noisy radiance.
    pub fn record(
        &mut self,
        recording: &mut Recording<'_>,
        world: World<'_>,
        found: NoisyOcclusion<'_>,
    ) -> Result<&GpuImage> {
        let World {
            frame,
            geometry,
            trees,
            ..
        } = world;
        let gpu = recording.gpu;
        if self.output.size() != frame.size {
            self.output = try_create(gpu, frame.size, || image(gpu, frame.size))?;
        }
        let nodes = trees.rays(recording)?;
        recording.dispatch_pixels(
            LABEL,
            self.kernels.get([geometry.buffers.tests_hits(gpu)]),
            &[(0, &frame.group), (1, nodes), (2, geometry.group)],
            &[found.hits, found.params, &self.output],
            frame.size,
            recording.budget.occlusion_pixels(1),
        )?;
        Ok(&self.output)
    }
}

fn image(gpu: &Gpu, size: [u32; 2]) -> GpuImage {
    let usage = wgpu::TextureUsages::STORAGE_BINDING | wgpu::TextureUsages::TEXTURE_BINDING;
    GpuImage::with_layers(gpu, "bounced.noisy", size, 2, NOISY_FORMAT, usage)
}
