//! `fog_integrate`: integrates the light and extinction of froxels along the view rays.

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

/// Pipeline of the pass.
#[derive(Debug)]
pub struct FogIntegrate {
    kernel: Kernel,
}

impl FogIntegrate {
    /// Creates the pass without compiling its pipeline.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        let (uniform, out) = (Binding::Uniform, StoreArray(FROXEL_FORMAT));
        let shared = [(0, &layouts.frame)];
        let (path, entry) = ("fog/fog_integrate.wgsl", "fog_integrate");
        Self {
            kernel: Kernel::new(gpu, path, entry, &shared, &[uniform, uniform, FloatArray, out]),
        }
    }

    /// Integrates the light of froxels front to back. `size` is the number of froxels along each axis.
    pub fn record(
        &self,
        recording: &mut Recording<'_>,
        frame: &Frame<'_>,
        (size, params): ([u32; 3], &Uniform<FogParams>),
        light: &GpuImage,
        integrated: &GpuImage,
    ) -> Result<()> {
        let [columns, rows, slices] = size;
        recording.dispatch_pixels(
            "fog_integrate",
            &self.kernel,
            &[(0, &frame.group)],
            &[params, light, integrated],
            [columns, rows],
            recording.budget.pixels() / slices,
        )
    }
}
