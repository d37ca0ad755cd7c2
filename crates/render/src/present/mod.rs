//! From radiance to the display or a file: exposure, then either the mean of several frames, or tone mapping
//! and anti-aliasing.

pub mod accumulate;
pub mod antialias;
pub mod compare;
pub mod cost_range;
pub mod depth_of_field;
pub mod exposure;
pub mod noise;
pub mod overlay;
pub mod temporal;
pub mod tonemap;
pub mod tree_boxes;

use super::{
    bindings::Layouts,
    frame::{Frame, life_cycle::LifeCycle, recording::Recording},
    resources::{Displayed, PICTURE_FORMAT, Radiance, VisibleSurfaces},
    stats::FrameStats,
};
use crate::settings;
use accumulate::Accumulate;
use antialias::Antialias;
use canopy_bvh::{
    Result,
    gpu::{Gpu, image, lazy_pipeline::collect_later},
};
use cost_range::CostRangePass;
use exposure::Exposure;
use noise::{Mean, NoisePass};
use temporal::{ENCODED_FORMAT, Temporal};
use tonemap::Tonemap;

/// Passes from radiance to the display.
#[derive(Debug)]
pub struct Present {
    pub(super) exposure: Exposure,
    pub(super) cost_range: CostRangePass,
    pub(super) accumulate: Accumulate,
    pub(super) noise: NoisePass,
    tonemap: Tonemap,
    antialias: Antialias,
    pub(super) temporal: Temporal,
    /// Exposure from the settings of the last frame, in stops.
    exposure_ev: f32,
}

impl Present {
    /// Creates the passes without compiling them.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Result<Self> {
        let cost_range = CostRangePass::new(gpu);
        Ok(Self {
            exposure: Exposure::new(gpu),
            accumulate: Accumulate::new(gpu)?,
            noise: NoisePass::new(gpu)?,
            tonemap: Tonemap::new(gpu, cost_range.output()),
            cost_range,
            antialias: Antialias::new(gpu),
            temporal: Temporal::new(gpu, layouts),
            exposure_ev: 0.0,
        })
    }

    /// Draws a frame to `target`: the lit picture or the channel that it shows. For a picture of several
    /// frames, only the last one draws.
    pub fn record(
        &mut self,
        recording: &mut Recording<'_>,
        frame: &Frame<'_>,
        seen: VisibleSurfaces<'_>,
        (radiance, shown): (&Radiance, Displayed<'_>),
        target: &wgpu::TextureView,
    ) -> Result<()> {
        let gpu = recording.gpu;
        match shown.heat {
            Some(heat) => self.cost_range.record(recording, heat, shown.image)?,
            None => self.cost_range.clear(),
        }
        self.exposure_ev = frame.exposure_ev;
        if !frame.config.image.is_metered() {
            self.exposure.fix(gpu, frame.exposure_ev);
        } else if frame.is_lit() && frame.sample.index == 0 {
            let params = exposure::params(frame);
            let scope = &mut recording.scope;
            self.exposure.record(gpu, scope, &params, &radiance.hdr.view)?;
        }
        let exposure = &self.exposure.used;
        if frame.accumulates() {
            self.accumulate.record(recording, frame, radiance, exposure)?;
            let mean = self.accumulate.shown();
            self.noise.record(recording, mean, frame.sample, frame.size)?;
            self.temporal.keep();
            let fits = image::size_of_view(target) == frame.size;
            let format = target.texture().format();
            // These are compiled with the pipelines of the first sample. Otherwise the picture would stall
            // midway.
            collect_later(|set| {
                let mean = if fits { format } else { PICTURE_FORMAT };
                self.accumulate.resolve_pipelines(mean, set);
                if !fits {
                    self.antialias.upscale_pipelines(format, set);
                }
                if frame.sample.is_estimated() {
                    self.noise.pipelines(set);
                }
            });
            if !frame.sample.is_last() {
                return Ok(());
            }
            let mean = if fits {
                target
            } else {
                &self.antialias.upscale_source(gpu, frame.size)?.view
            };
            self.accumulate.resolve(recording, mean)?;
            return match fits {
                true => Ok(()),
                false => self.antialias.upscale(recording, target),
            };
        }
        let samples = radiance.path_samples;
        if samples.is_some() {
            collect_later(|set| {
                self.accumulate.sum_pipelines(set);
                self.noise.pipelines(set);
            });
        }
        if let Some(samples) = samples.filter(|n| self.noise.is_due(*n, frame)) {
            self.estimate_paths(recording, frame, radiance, samples)?;
        }
        self.record_single(recording, frame, seen, (radiance, shown), target)
    }

    /// Estimates the noise of a path-traced picture from the mean of `samples` samples, as displayed.
    fn estimate_paths(
        &mut self,
        recording: &mut Recording<'_>,
        frame: &Frame<'_>,
        radiance: &Radiance,
        samples: u32,
    ) -> Result<()> {
        let exposure = &self.exposure.used;
        self.accumulate.record(recording, frame, radiance, exposure)?;
        let mean = Mean {
            shown: self.accumulate.shown(),
            size: frame.size,
            frames: samples,
            summed: 1,
        };
        self.noise.estimate(recording.gpu, &mut recording.scope, mean)
    }

    /// Draws a frame to `target` as a picture of its own, or accumulates it into the temporal mean.
    fn record_single(
        &mut self,
        recording: &mut Recording<'_>,
        frame: &Frame<'_>,
        seen: VisibleSurfaces<'_>,
        (radiance, shown): (&Radiance, Displayed<'_>),
        target: &wgpu::TextureView,
    ) -> Result<()> {
        let VisibleSurfaces { gbuffer, motion, .. } = seen;
        let gpu = recording.gpu;
        let exposure = &self.exposure.used;
        let tonemap = &mut self.tonemap;
        if frame.antialias != settings::Antialias::Temporal {
            self.temporal.clear(gpu);
        }
        if frame.antialias == settings::Antialias::Off {
            return tonemap.record_to(recording, frame, radiance, shown, exposure, target);
        }
        if frame.antialias == settings::Antialias::Temporal {
            let continues = self.temporal.continues(frame, image::size_of_view(target));
            let format = target.texture().format();
            collect_later(|set| self.temporal.shown_pipelines(format, set));
            let (format, size) = (ENCODED_FORMAT, image::size_of_view(target));
            let picture = tonemap.record(recording, frame, radiance, shown, exposure, format)?;
            self.temporal
                .record(recording, frame, picture, gbuffer, motion, size)?;
            if continues {
                return self.temporal.show(recording, target);
            }
            // A single frame has one sample per pixel, so it gets morphological anti-aliasing.
        }
        let format = PICTURE_FORMAT;
        let picture = tonemap.record(recording, frame, radiance, shown, exposure, format)?;
        self.antialias.record(recording, picture, target)
    }
}

impl LifeCycle for Present {
    fn parts(&mut self) -> Vec<&mut dyn LifeCycle> {
        vec![&mut self.temporal, &mut self.noise]
    }

    fn report(&mut self, stats: &mut FrameStats) {
        stats.cost_range = self.cost_range.collect();
        stats.noise = self.noise.collect();
        let metered = self.exposure.collect();
        [stats.exposure_ev, stats.exposure_target_ev] = metered.unwrap_or([self.exposure_ev; 2]);
    }
}
