//! `volume_shadow`: dims the light that surfaces see by the volume in between.

use super::volume_grids::PlacedVolume;
use crate::{
    bindings::Layouts,
    edges::{GBuffer, Visibility},
    frame::{Frame, recording::Recording},
};
use canopy_bvh::{
    Result,
    gpu::{
        Gpu, Kernel,
        pass::Binding::{Filtered3d, Float, Float3d, Read, Sampler, Uniform, Write},
    },
};

/// Its name among the timings of a frame.
pub const LABEL: &str = "volume_shadow";

/// The pass.
#[derive(Debug)]
pub struct VolumeShadow {
    kernel: Kernel,
}

impl VolumeShadow {
    /// Ready to be compiled.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        let bindings = [Uniform, Read, Float, Filtered3d, Float3d, Sampler, Write];
        let path = "volume/volume_shadow.wgsl";
        Self {
            kernel: Kernel::new(gpu, path, LABEL, &[(0, &layouts.frame)], &bindings),
        }
    }

    /// Multiplies what shadow rays have found with what comes through a volume.
    pub fn record(
        &self,
        recording: &mut Recording<'_>,
        frame: &Frame<'_>,
        gbuffer: &GBuffer,
        volume: &PlacedVolume<'_>,
        visibility: &Visibility,
    ) -> Result<()> {
        let lights = frame.light_plan.slots.clamp(1, 16);
        recording.dispatch_pixels(
            LABEL,
            &self.kernel,
            &[(0, &frame.group)],
            &[
                volume.params,
                &gbuffer.position,
                &volume.grids.density,
                volume.skip,
                volume.sampler,
                &visibility.words,
            ],
            frame.size,
            recording.budget.pixels() / lights,
        )
    }
}
