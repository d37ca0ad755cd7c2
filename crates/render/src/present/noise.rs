//! `noise`: estimates the error of the mean of many samples from its change since it had fewer.

use crate::{
    frame::{
        Frame,
        frame_sample::{FIRST_CHECKPOINT, FrameSample, is_checkpoint},
        life_cycle::LifeCycle,
        recording::Recording,
    },
    layout::NoiseParams,
    settings,
    stats::Noise,
};
use canopy_bvh::{
    Result,
    gpu::{
        Bind, Gpu, Kernel, PipelineSet, Uniform, Workgroups,
        library::wgsl_constants,
        pass::Binding::{self, Read, Write},
        profiler::Scope,
        readback::Counters,
    },
};
use wgpu::BufferUsages as Usage;

wgsl_constants! {
    /// Number of bins of the histogram, one for each thread of a workgroup.
    pub const NOISE_BINS: u32 = 64;
    /// Number of uniform bins for each of the 255 levels of a display.
    pub const NOISE_BINS_PER_LEVEL: u32 = 16;
    /// Number of uniform bins. The widths of later bins grow with the noise.
    pub const NOISE_EVEN_BINS: u32 = 32;
    /// Number of later bins for each factor of 2.
    pub const NOISE_BINS_PER_OCTAVE: u32 = 4;
}

/// Largest noise that is not visible, in levels of 255.
pub const CONVERGED_LEVELS: f32 = 0.5;

/// Maximum number of frames of a picture that is accumulated until it has converged, unless a setting
/// overrides it.
pub const MAX_SAMPLES: u32 = 64;

impl Noise {
    /// Computes the noise of a picture of `frames` frames from its histogram.
    pub fn from_bins(frames: u32, bins: &[u32; NOISE_BINS as usize]) -> Self {
        let pixels: u64 = bins.iter().copied().map(u64::from).sum();
        let mut above = pixels;
        let bin = bins.iter().position(|count| {
            above -= u64::from(*count);
            above * 20 <= pixels
        });
        let is_last = |bin: usize| bin + 1 == bins.len();
        let levels = match bin {
            Some(bin) if !is_last(bin) => end_of_bin(bin as u32),
            _ => f32::INFINITY,
        };
        Self { frames, levels }
    }

    /// True if the noise is not visible.
    pub fn is_converged(self) -> bool {
        self.levels <= CONVERGED_LEVELS
    }

    /// Returns the noise as text: "noise 2.4 of 255", or "converged" if the noise is not visible.
    pub fn description(self) -> String {
        match self.levels {
            _ if self.is_converged() => "converged".into(),
            f32::INFINITY => "noise unknown".into(),
            levels => format!("noise {levels:.1} of 255"),
        }
    }
}

/// Returns the upper end of a bin, in levels.
fn end_of_bin(bin: u32) -> f32 {
    let even = (bin + 1).min(NOISE_EVEN_BINS) as f32 / NOISE_BINS_PER_LEVEL as f32;
    let later = (bin + 1).saturating_sub(NOISE_EVEN_BINS) as f32;
    even * (later / NOISE_BINS_PER_OCTAVE as f32).exp2()
}

/// Picture accumulated so far.
#[derive(Debug, Clone, Copy)]
pub struct Mean<'a> {
    /// Sums of displayed light (after tone mapping, linear), four floats per pixel.
    pub shown: &'a wgpu::Buffer,
    /// Width and height in pixels.
    pub size: [u32; 2],
    /// Number of frames of the picture.
    pub frames: u32,
    /// Number of frames that are summed in `shown`: all of them, or 1 if it holds their mean.
    pub summed: u32,
}

/// Last state of a picture that was stored for comparison.
#[derive(Debug, Clone, Copy, Default)]
struct Checkpoint {
    /// Number of frames of the picture. The next field is the number of frames that are summed in the buffer.
    frames: u32,
    summed: u32,
    /// Number of the pending estimate, and the number of frames in its picture.
    awaited: Option<(u64, u32)>,
}

/// Noise estimation pass.
#[derive(Debug)]
pub struct NoisePass {
    kernel: Kernel,
    params: Uniform<NoiseParams>,
    bins: wgpu::Buffer,
    before: wgpu::Buffer,
    looked: Checkpoint,
    /// Value of `looked` before the frame that is being recorded.
    looked_before: Checkpoint,
    counters: Counters<{ NOISE_BINS as usize }>,
    found: Option<Noise>,
    /// Display settings and exposure of the path-traced picture that was stored.
    displayed: Option<(settings::Image, f32)>,
}

impl NoisePass {
    /// Creates the pass without compiling it.
    ///
    /// # Errors
    ///
    /// [`canopy_bvh::Error::Gpu`] if the adapter is out of memory.
    pub fn new(gpu: &Gpu) -> Result<Self> {
        let bindings = [Binding::Uniform, Read, Write, Write];
        let usage = Usage::STORAGE | Usage::COPY_DST | Usage::COPY_SRC;
        Ok(Self {
            kernel: Kernel::new(gpu, "picture/noise.wgsl", "noise", &[], &bindings),
            params: Uniform::new(gpu, "noise.params"),
            bins: gpu.buffer("noise.bins", 4 * u64::from(NOISE_BINS), usage),
            before: before(gpu, 16)?,
            looked: Checkpoint::default(),
            looked_before: Checkpoint::default(),
            counters: Counters::new(gpu, "noise.counters"),
            found: None,
            displayed: None,
        })
    }

    /// Adds its pipeline.
    pub fn pipelines(&self, set: &mut PipelineSet) {
        self.kernel.pipelines(set);
    }

    /// Estimates the noise of a supersampled picture, whose frames up to `sample` add up to `shown`, if an
    /// estimate is due.
    pub fn record(
        &mut self,
        recording: &mut Recording<'_>,
        shown: &wgpu::Buffer,
        sample: FrameSample,
        size: [u32; 2],
    ) -> Result<()> {
        if sample.index == 0 {
            self.restart();
        }
        let frames = sample.index + 1;
        let summed = frames;
        let mean = Mean {
            shown,
            size,
            frames,
            summed,
        };
        match sample.is_estimated() && is_checkpoint(frames) {
            true => self.estimate(recording.gpu, &mut recording.scope, mean),
            false => Ok(()),
        }
    }

    /// True if a path-traced picture is due for an estimate. Fewer samples than before or other display
    /// settings restart the estimate, because the difference would not be noise.
    pub fn is_due(&mut self, samples: u32, frame: &Frame<'_>) -> bool {
        let displayed = Some((frame.config.image.clone(), frame.exposure_ev));
        if samples < self.looked.frames.max(1) || displayed != self.displayed {
            self.restart();
            self.displayed = displayed;
        }
        samples >= FIRST_CHECKPOINT && 2 * u64::from(samples) >= 3 * u64::from(self.looked.frames)
    }

    fn restart(&mut self) {
        (self.looked, self.looked_before, self.found) = Default::default();
    }

    /// Estimates the noise of a picture from its difference to the stored state with fewer frames, if there
    /// is one. Then stores the picture for the next estimate.
    pub fn estimate(&mut self, gpu: &Gpu, scope: &mut Scope<'_>, mean: Mean<'_>) -> Result<()> {
        let Mean {
            shown,
            size,
            frames,
            summed,
        } = mean;
        if self.before.size() != shown.size() {
            self.before = before(gpu, shown.size())?;
            (self.looked, self.looked_before) = Default::default();
        }
        let params = NoiseParams {
            width: size[0],
            height: size[1],
            frames,
            frames_before: self.looked.frames,
            summed,
            summed_before: self.looked.summed,
        };
        self.params.write(gpu, &params);
        scope.clear_buffer(&self.bins, 0, None);
        let own: &[&dyn Bind] = &[&self.params, shown, &self.before, &self.bins];
        let mut pass = scope.scoped_compute_pass("noise");
        let pixels = Workgroups::Pixels(size);
        self.kernel.dispatch(gpu, &mut pass, &[], own, pixels)?;
        drop(pass);
        let mut awaited = None;
        if self.looked.frames > 0 {
            let number = self.counters.next();
            if self.counters.record(scope, &self.bins) {
                awaited = Some((number, frames));
            } else {
                // There will be no readback, so the picture counts as noisy.
                let levels = f32::INFINITY;
                self.found = Some(Noise { frames, levels });
            }
        }
        self.looked = Checkpoint {
            frames,
            summed,
            awaited,
        };
        Ok(())
    }

    /// Returns the last estimate, once it has been read back.
    pub fn collect(&mut self) -> Option<Noise> {
        let (awaited, found) = (self.looked.awaited, &mut self.found);
        self.counters.collect_each(|number, bins| {
            if let Some((_, frames)) = awaited.filter(|(awaited, _)| *awaited == number) {
                *found = Some(Noise::from_bins(frames, &bins));
            }
        });
        self.found
    }
}

fn before(gpu: &Gpu, bytes: u64) -> Result<wgpu::Buffer> {
    gpu.catch(|| gpu.buffer("noise.before", bytes, Usage::STORAGE))
}

impl LifeCycle for NoisePass {
    fn begin(&mut self) {
        self.looked_before = self.looked;
    }

    fn abort(&mut self) {
        self.looked = self.looked_before;
    }

    fn invalidate(&mut self) {
        self.restart();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_noise_level_is_the_95th_percentile_of_pixels() {
        let mut bins = [0; 64];
        (bins[0], bins[7], bins[8]) = (90, 5, 5);
        let noise = Noise::from_bins(16, &bins);
        assert_eq!(noise.levels, 0.5);
        assert!(noise.is_converged() && noise.description() == "converged");
        (bins[7], bins[8]) = (4, 6);
        let noise = Noise::from_bins(16, &bins);
        assert_eq!(noise.levels, 9.0 / 16.0);
        assert!(!noise.is_converged() && noise.description() == "noise 0.6 of 255");
        bins[63] = 100;
        let noise = Noise::from_bins(16, &bins);
        assert_eq!(noise.levels, f32::INFINITY);
        bins[63] = 0;
        bins[39] = 100;
        assert_eq!(Noise::from_bins(16, &bins).levels, 8.0);
    }
}
