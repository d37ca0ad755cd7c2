//! `fog_integrate`: what fog puts in front of what is seen, from the light of its froxels.

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
        pass::Binding::{self, FloatArray, StoreArray},
    },
};

/// The pass.
#[derive(Debug)]
pub struct FogIntegrate {
    kernel: Kernel,
}

impl FogIntegrate {
    /// Ready to be compiled.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        let (uniform, out) = (Binding::Uniform, StoreArray(FROXEL_FORMAT));
        let shared = [(0, &layouts.frame)];
        let (path, entry) = ("fog/fog_integrate.wgsl", "fog_integrate");
        Self {
            kernel: Kernel::new(gpu, path, entry, &shared, &[uniform, uniform, FloatArray, out]),
        }
    }

    /// Sums up the light of froxels, of which there are `size`, from the eye on.
    pub fn record(
        &self,
        recording: &mut Recording<'_>,
        frame: &Frame<'_>,
        (size, params): ([u32; 3], &Uniform<FogParams>),
        light: &GpuImage,
        air: &GpuImage,
    ) -> Result<()> {
        let [columns, rows, slices] = size;
        recording.dispatch_pixels(
            "fog_integrate",
            &self.kernel,
            &[(0, &frame.group)],
            &[params, light, air],
            [columns, rows],
            recording.budget.pixels() / slices,
        )
    }
}
