//! `vignette`: darkens the picture towards its corners.

use crate::{
    frame::{life_cycle::LifeCycle, recording::Recording},
    resources::{HDR_FORMAT, Radiance, try_create},
};
use canopy_bvh::{
    Result,
    gpu::{
        Bind, Gpu, Kernel, Uniform,
        pass::Binding::{Float, Store, Uniform as UniformBinding},
    },
};

const LABEL: &str = "vignette";

/// Pipeline, parameters and output of the pass.
#[derive(Debug)]
pub(crate) struct Vignette {
    kernel: Kernel,
    strength: Uniform<f32>,
    output: Radiance,
}

impl LifeCycle for Vignette {}

impl Vignette {
    /// Creates the pass. Its pipeline is compiled when a frame first needs it.
    pub(crate) fn new(gpu: &Gpu) -> Self {
        let out = Store(HDR_FORMAT);
        let own = [UniformBinding, UniformBinding, Float, Float, out, out];
        Self {
            kernel: Kernel::new(gpu, "picture/vignette.wgsl", LABEL, &[], &own),
            strength: Uniform::new(gpu, "vignette.strength"),
            output: Radiance::new(gpu, [1, 1]),
        }
    }

    /// Darkens `radiance`, whose corners lose the fraction `strength`. With 0 it is returned unchanged.
    pub(crate) fn record<'a>(
        &'a mut self,
        r: &mut Recording<'_>,
        strength: f32,
        radiance: &'a Radiance,
    ) -> Result<&'a Radiance> {
        if strength == 0.0 {
            return Ok(radiance);
        }
        let (gpu, size) = (r.gpu, radiance.size());
        if self.output.size() != size {
            self.output = try_create(gpu, size, || Radiance::new(gpu, size))?;
        }
        self.strength.write(gpu, &strength);
        let (from, to) = (radiance, &self.output);
        let own: &[&dyn Bind] = &[&self.strength, &from.hdr, &from.display, &to.hdr, &to.display];
        r.dispatch_pixels(LABEL, &self.kernel, &[], own, size, r.budget.pixels())?;
        Ok(&self.output)
    }
}
