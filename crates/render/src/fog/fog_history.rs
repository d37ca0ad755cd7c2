//! `fog_history`: what reaches froxels, averaged over frames, and their light.

use crate::{
    bindings::Layouts,
    formats::FROXEL_FORMAT,
    frame::{Frame, recording::Recording},
    layout::FogParams,
};
use canopy_bvh::{
    Result,
    gpu::{
        Gpu, GpuImage, Kernel, Uniform,
        pass::Binding::{self, FilteredArray, FloatArray, Sampler, StoreArray},
    },
};

/// The pass.
#[derive(Debug)]
pub struct FogHistory {
    kernel: Kernel,
}

impl FogHistory {
    /// Ready to be compiled.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        let (uniform, out) = (Binding::Uniform, StoreArray(FROXEL_FORMAT));
        let bindings = [
            uniform,
            uniform,
            FloatArray,
            FloatArray,
            FilteredArray,
            Sampler,
            out,
            out,
        ];
        let shared = [(0, &layouts.frame)];
        let path = "fog/fog_history.wgsl";
        Self {
            kernel: Kernel::new(gpu, path, "fog_history", &shared, &bindings),
        }
    }

    /// Averages what this frame (`fresh`) and `recent` ones have found in froxels, of which there are `size`, into the
    /// mean of all, and lights them.
    pub fn record(
        &self,
        recording: &mut Recording<'_>,
        frame: &Frame<'_>,
        (size, (params, sampler)): ([u32; 3], (&Uniform<FogParams>, &wgpu::Sampler)),
        [fresh, recent]: [&GpuImage; 2],
        [last, mean, light]: [&GpuImage; 3],
    ) -> Result<()> {
        let [columns, rows, slices] = size;
        recording.dispatch_pixels(
            "fog_history",
            &self.kernel,
            &[(0, &frame.group)],
            &[params, fresh, recent, last, sampler, mean, light],
            [columns, rows * slices],
            recording.budget.pixels(),
        )
    }
}
