//! `fog_light`: how much of the lights reaches froxels, by shadow rays through the trees, or by shadow maps.

use crate::{
    bindings::Layouts, edges::GBuffer, formats::FROXEL_FORMAT, frame::recording::Recording,
    layout::FogParams, world::World,
};
use canopy_bvh::{
    Result,
    gpu::{
        Gpu, GpuImage, Kernel, Uniform,
        pass::Binding::{self, FilteredArray, Float, Sampler, StoreArray},
    },
};

/// Its name among the timings of a frame.
pub const LABEL: &str = "fog_light";

/// The pass.
#[derive(Debug)]
pub struct FogLight {
    kernel: Kernel,
}

impl FogLight {
    /// Ready to be compiled.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        let (uniform, out) = (Binding::Uniform, StoreArray(FROXEL_FORMAT));
        let bindings = [uniform, uniform, Float, FilteredArray, Sampler, out, out];
        let shared = [(0, &layouts.frame), (1, &layouts.tree), (2, &layouts.scene)];
        let path = "fog/fog_light.wgsl";
        Self {
            kernel: Kernel::new(gpu, path, LABEL, &shared, &bindings),
        }
    }

    /// Finds what reaches the froxels, of which there are `size`, and averages it with the `last` few frames.
    pub fn record(
        &self,
        recording: &mut Recording<'_>,
        world: World<'_>,
        gbuffer: &GBuffer,
        (size, (params, sampler)): ([u32; 3], (&Uniform<FogParams>, &wgpu::Sampler)),
        [last, fresh, recent]: [&GpuImage; 3],
    ) -> Result<()> {
        let World {
            frame,
            geometry,
            trees,
            ..
        } = world;
        let [columns, rows, slices] = size;
        // A ray to each light, and one to the sky.
        let rays = frame.light_plan.slots + 1;
        recording.dispatch_pixels(
            LABEL,
            &self.kernel,
            &[(0, &frame.group), (1, trees.group), (2, geometry.group)],
            &[params, &gbuffer.position, last, sampler, fresh, recent],
            [columns, rows * slices],
            recording.budget.occlusion_pixels(rays),
        )
    }
}
