//! `volume_shadow`: attenuates the light that surfaces receive through a volume.

use super::volume_grids::PlacedVolume;
use crate::{
    bindings::Layouts,
    frame::{Frame, recording::Recording},
    resources::{GBuffer, Visibility},
};
use canopy_bvh::{
    Result,
    gpu::{
        Gpu, Kernel,
        pass::Binding::{Filtered3d, Float, Float3d, Read, Sampler, Uniform, Write},
    },
};

/// Label of the pass in frame timings.
pub const LABEL: &str = "volume_shadow";

/// Pipeline of the pass.
#[derive(Debug)]
pub struct VolumeShadow {
    kernel: Kernel,
}

impl VolumeShadow {
    /// Creates the pass without compiling its pipeline.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        let bindings = [Uniform, Read, Float, Filtered3d, Float3d, Sampler, Write];
        let path = "volume/volume_shadow.wgsl";
        Self {
            kernel: Kernel::new(
                gpu,
                path,
                LABEL,
                &[(0, &layouts.frame), (2, &layouts.scene)],
                &bindings,
            ),
        }
    }

    /// Multiplies the visibility of lights by the volume's transmittance.
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
            &[(0, &frame.group), (2, &frame.buffers.scene_group)],
            &[
                volume.params,
                &gbuffer.position,
                &volume.grids.density,
                volume.majorants,
                volume.sampler,
                &visibility.words,
            ],
            frame.size,
            recording.budget.pixels() / lights,
        )
    }
}
