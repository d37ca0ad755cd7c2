//! `fog_history`: averages the visibility of lights from froxels over frames, and lights the froxels.

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

/// Pipeline of the pass.
#[derive(Debug)]
pub struct FogHistory {
    kernel: Kernel,
}

impl FogHistory {
    /// Creates the pass without compiling its pipeline.
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

    /// Averages the visibilities of this frame, `noisy`, and the history, `last`, into `mean`, and lights the
    /// froxels into `light`. The mean of the last few frames, `recent`, replaces the history where it differs
    /// significantly. `size` is the number of froxels along each axis.
    pub fn record(
        &self,
        recording: &mut Recording<'_>,
        frame: &Frame<'_>,
        (size, (params, sampler)): ([u32; 3], (&Uniform<FogParams>, &wgpu::Sampler)),
        [noisy, recent]: [&GpuImage; 2],
        [last, mean, light]: [&GpuImage; 3],
    ) -> Result<()> {
        let [columns, rows, slices] = size;
        recording.dispatch_pixels(
            "fog_history",
            &self.kernel,
            &[(0, &frame.group)],
            &[params, noisy, recent, last, sampler, mean, light],
            [columns, rows * slices],
            recording.budget.pixels(),
        )
    }
}
