//! `volume_march`: what the eye sees of a volume in front of the surfaces.

use super::{
    bindings::Layouts,
    edges::{Air, GBuffer, HDR_FORMAT, fitted},
    frame::Frame,
    recording::Recording,
    volume_grids::PlacedVolume,
};
use crate::{
    Result,
    gpu::{
        Gpu, GpuImage, Kernel, Needs,
        pass::Binding::{Filtered3d, Float, Float3d, Read, Sampler, Store, Uniform},
    },
};
use wgpu::TextureUsages as Usage;

/// Its name among the timings of a frame.
pub const LABEL: &str = "volume_march";

/// The pass.
#[derive(Debug)]
pub struct VolumeMarch {
    kernel: Kernel,
    output: GpuImage,
}

impl VolumeMarch {
    /// Ready to be compiled.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        let out = Store(HDR_FORMAT);
        let bindings = [
            Uniform, Read, Float, Filtered3d, Filtered3d, Float3d, Filtered3d, Sampler, out,
        ];
        let bindings = [&bindings[..], &Air::BINDINGS].concat();
        let path = "render/volume_march.wgsl";
        Self {
            kernel: Kernel::new(gpu, path, LABEL, &[(0, &layouts.frame)], &bindings),
            output: image(gpu, [1, 1]),
        }
    }

    /// What it compiles.
    pub fn needs(&self, needs: &mut Needs) {
        self.kernel.needs(needs);
    }

    /// Gives back its image.
    pub fn forget(&mut self, gpu: &Gpu) {
        if self.output.size() != [1, 1] {
            self.output = image(gpu, [1, 1]);
        }
    }

    /// Marches through a volume: radiance, and the share of the light from behind that comes through.
    pub fn record(
        &mut self,
        recording: &mut Recording<'_>,
        frame: &Frame<'_>,
        gbuffer: &GBuffer,
        volume: &PlacedVolume<'_>,
        air: Air<'_>,
    ) -> Result<&GpuImage> {
        let gpu = recording.gpu;
        if self.output.size() != frame.size {
            self.output = fitted(gpu, frame.size, || image(gpu, frame.size))?;
        }
        let [fog, fog_texture, fog_sampler] = air.bindings();
        recording.dispatch_pixels(
            LABEL,
            &self.kernel,
            &[(0, &frame.group)],
            &[
                volume.params,
                &gbuffer.position,
                &volume.grids.density,
                &volume.grids.look,
                volume.skip,
                volume.light,
                volume.sampler,
                &self.output,
                fog,
                fog_texture,
                fog_sampler,
            ],
            frame.size,
            recording.budget.pixels() / 8,
        )?;
        Ok(&self.output)
    }
}

fn image(gpu: &Gpu, size: [u32; 2]) -> GpuImage {
    let usage = Usage::STORAGE_BINDING | Usage::TEXTURE_BINDING | Usage::COPY_SRC;
    GpuImage::new(gpu, LABEL, size, HDR_FORMAT, usage)
}
