//! `fog_light`: visibility of the lights from froxels, by shadow rays through the BVHs or by shadow maps.

use crate::{
    bindings::Layouts, formats::FROXEL_FORMAT, frame::recording::Recording, layout::FogParams,
    resources::GBuffer, world::World,
};
use canopy_bvh::{
    Result,
    gpu::{
        Gpu, GpuImage, Uniform, Variants,
        pass::Binding::{self, FilteredArray, Float, Sampler, StoreArray},
    },
};

/// Label of the pass in frame timings.
pub const LABEL: &str = "fog_light";

/// Pipeline of the pass.
#[derive(Debug)]
pub struct FogLight {
    kernels: Variants<1>,
}

impl FogLight {
    /// Creates the pass without compiling its pipeline.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        let (uniform, out) = (Binding::Uniform, StoreArray(FROXEL_FORMAT));
        let bindings = [uniform, uniform, Float, FilteredArray, Sampler, out, out];
        Self {
            kernels: layouts.ray_kernels(gpu, "fog/fog_light.wgsl", LABEL, &bindings),
        }
    }

    /// Samples the visibility of the lights from the froxels into `noisy`. Averages it with `last`, the mean
    /// of the last few frames, into `recent`. `size` is the number of froxels along each axis.
    pub fn record(
        &self,
        recording: &mut Recording<'_>,
        world: World<'_>,
        gbuffer: &GBuffer,
        (size, (params, sampler)): ([u32; 3], (&Uniform<FogParams>, &wgpu::Sampler)),
        [last, noisy, recent]: [&GpuImage; 3],
    ) -> Result<()> {
        let World {
            frame,
            geometry,
            trees,
            ..
        } = world;
        let [columns, rows, slices] = size;
        // Each froxel casts a ray for each light slot and one to the sky.
        let rays = frame.light_plan.slots + 1;
        let nodes = trees.rays(recording)?;
        recording.dispatch_pixels(
            LABEL,
            self.kernels.get([geometry.buffers.tests_hits(recording.gpu)]),
            &[(0, &frame.group), (1, nodes), (2, geometry.group)],
            &[params, &gbuffer.position, last, sampler, noisy, recent],
            [columns, rows * slices],
            recording.budget.occlusion_pixels(rays),
        )
    }
}
