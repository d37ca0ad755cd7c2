//! From radiance to the display or a file: exposure, then the mean of several frames, or the tone curve and
//! anti-aliasing.

use super::{
    accumulate::Accumulate,
    antialias::Antialias,
    aov::Channel,
    edges::{PICTURE_FORMAT, Radiance, fitted},
    exposure::{self, Exposure},
    frame::{Frame, FrameInput, FrameSample},
    recording::Recording,
    tonemap::Tonemap,
};
use crate::{
    Result, config,
    gpu::{Gpu, GpuImage, Needs, image},
};

/// The passes.
#[derive(Debug)]
pub struct Present {
    pub(super) exposure: Exposure,
    pub(super) accumulate: Accumulate,
    tonemap: Tonemap,
    antialias: Antialias,
    /// The filtered first frame of a progressive picture; one pixel until there is one.
    first: GpuImage,
}

impl Present {
    /// Ready to be compiled.
    pub fn new(gpu: &Gpu) -> Result<Self> {
        Ok(Self {
            exposure: Exposure::new(gpu),
            accumulate: Accumulate::new(gpu)?,
            tonemap: Tonemap::new(gpu),
            antialias: Antialias::new(gpu),
            first: first(gpu, [1, 1]),
        })
    }

    /// What a frame of `input`, which is `sample`, compiles for a target of this format and size.
    pub fn needs(
        &mut self,
        input: &FrameInput<'_>,
        sample: FrameSample,
        (format, size): (wgpu::TextureFormat, [u32; 2]),
        needs: &mut Needs,
    ) {
        let stretched = size != input.size;
        let is_lit = input.channel == Channel::Lit;
        if is_lit && input.config.image.is_metered() {
            self.exposure.needs(needs);
        }
        if is_lit && sample.count > 1 {
            let mean = if stretched { PICTURE_FORMAT } else { format };
            self.accumulate.needs(mean, sample.is_progressive, needs);
            if sample.is_progressive {
                self.tonemap.needs(PICTURE_FORMAT, needs);
                self.antialias.needs(PICTURE_FORMAT, false, needs);
            }
            if stretched {
                self.antialias.needs_stretch(format, needs);
            }
        } else if is_lit && input.config.image.antialias == config::Antialias::Smaa {
            self.tonemap.needs(PICTURE_FORMAT, needs);
            self.antialias.needs(format, stretched, needs);
        } else {
            self.tonemap.needs(format, needs);
        }
    }

    /// Draws a frame to `target`; of a picture of several frames the last one does, or all where it is
    /// progressive. `channel` is shown where the frame asks for one.
    pub fn record(
        &mut self,
        recording: &mut Recording<'_>,
        frame: &Frame<'_>,
        radiance: &Radiance,
        channel: &GpuImage,
        target: &wgpu::TextureView,
    ) -> Result<()> {
        let gpu = recording.gpu;
        if !frame.config.image.is_metered() {
            self.exposure.fix(gpu, frame.exposure_ev);
        } else if frame.is_lit() && frame.sample.index == 0 {
            let params = exposure::params(frame);
            let scope = &mut recording.scope;
            self.exposure
                .record(gpu, scope, &params, &radiance.hdr.view)?;
        }
        let exposure = &self.exposure.used;
        if frame.accumulates() {
            self.accumulate
                .record(recording, frame, radiance, exposure)?;
            let fades = frame.sample.is_progressive;
            if fades && frame.sample.index == 0 {
                if self.first.size() != frame.size {
                    self.first = fitted(gpu, frame.size, || first(gpu, frame.size))?;
                }
                let tonemap = &mut self.tonemap;
                let picture = tonemap.record(recording, frame, radiance, channel, exposure)?;
                self.antialias
                    .record(recording, picture, &self.first.view)?;
            }
            if !fades && !frame.sample.is_last() {
                return Ok(());
            }
            let fits = image::size_of_view(target) == frame.size;
            let mean = if fits {
                target
            } else {
                &self.antialias.unstretched(gpu, frame.size)?.view
            };
            if fades {
                self.accumulate.fade(recording, &self.first, mean)?;
            } else {
                self.accumulate.resolve(recording, mean)?;
            }
            return match fits {
                true => Ok(()),
                false => self.antialias.stretch(recording, target),
            };
        }
        let smooths = frame.config.image.antialias == config::Antialias::Smaa;
        let tonemap = &mut self.tonemap;
        if frame.is_lit() && smooths {
            let picture = tonemap.record(recording, frame, radiance, channel, exposure)?;
            self.antialias.record(recording, picture, target)
        } else {
            tonemap.record_to(recording, frame, radiance, channel, exposure, target)
        }
    }
}

fn first(gpu: &Gpu, size: [u32; 2]) -> GpuImage {
    let usage = wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::TEXTURE_BINDING;
    GpuImage::new(gpu, "first", size, PICTURE_FORMAT, usage)
}
