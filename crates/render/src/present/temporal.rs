//! `temporal`: temporal anti-aliasing, the mean of jittered frames of a moving picture.

use crate::{
    aov::Channel,
    bindings::Layouts,
    frame::{
        Frame,
        life_cycle::{LifeCycle, TemporalState},
        recording::Recording,
    },
    layout::{TEMPORAL_SAMPLES, TemporalParams},
    resources::{GBuffer, HDR_FORMAT, Motion, try_create},
    settings::{Antialias, Settings},
};
use canopy_bvh::{
    Result,
    gpu::{
        Bind, FullscreenPass, Gpu, GpuImage, Kernel, PipelineSet, Uniform,
        pass::Binding::{self, Filtered, Float, Sampler, Store, Uint},
    },
};
use wgpu::{TextureFormat as Format, TextureUsages as Usage};

/// Format of the frame that the pass reads. The mean recovers differences that eight bits would round away.
pub const ENCODED_FORMAT: Format = HDR_FORMAT;
const SAMPLES_FORMAT: Format = Format::R32Float;
const BOX_FORMAT: Format = Format::Rg32Uint;

/// Temporal anti-aliasing pass and its history.
#[derive(Debug)]
pub struct Temporal {
    kernel: Kernel,
    shown: FullscreenPass,
    params: Uniform<TemporalParams>,
    sampler: wgpu::Sampler,
    /// Means of consecutive frames, alternating.
    means: [Mean; 2],
    past: TemporalState<Option<Past>>,
}

/// State left by the last frame.
#[derive(Debug, Clone, Copy)]
struct Past {
    /// Version of the scene in the mean.
    scene: u64,
    /// Index into [`Temporal::means`].
    mean: usize,
}

#[derive(Debug)]
struct Mean {
    color: GpuImage,
    /// Number of samples in the mean.
    samples: GpuImage,
    /// Colour box that the mean was clamped to.
    colors: GpuImage,
}

impl Temporal {
    /// Creates the pass without compiling it.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        let path = "picture/temporal.wgsl";
        let uniform = Binding::Uniform;
        let bindings = [
            uniform,
            uniform,
            uniform,
            Float,
            Float,
            Float,
            Filtered,
            Sampler,
            Float,
            Uint,
            Store(HDR_FORMAT),
            Store(SAMPLES_FORMAT),
            Store(BOX_FORMAT),
        ];
        let shared = [(0, &layouts.frame)];
        Self {
            kernel: Kernel::new(gpu, path, "temporal", &shared, &bindings),
            shown: FullscreenPass::new(gpu, path, "shown", &[uniform, Float]),
            params: Uniform::new(gpu, "temporal.params"),
            sampler: gpu.device.create_sampler(&wgpu::SamplerDescriptor {
                label: Some("temporal"),
                mag_filter: wgpu::FilterMode::Linear,
                min_filter: wgpu::FilterMode::Linear,
                ..Default::default()
            }),
            means: [(); 2].map(|()| Mean::new(gpu, [1, 1])),
            past: TemporalState::default(),
        }
    }

    /// Frees its memory when frames are no longer averaged.
    pub fn clear(&mut self, gpu: &Gpu) {
        if self.means[0].color.size() != [1, 1] {
            self.means = [(); 2].map(|()| Mean::new(gpu, [1, 1]));
            self.past.reset();
        }
    }

    /// True if there is a mean of earlier frames of the same scene with `size` pixels.
    pub fn continues(&self, frame: &Frame<'_>, size: [u32; 2]) -> bool {
        let past = self.past.last().copied().flatten();
        past.is_some_and(|past| past.scene == frame.buffers.version) && self.means[0].color.size() == size
    }

    /// Returns the number of frames of a still picture until the mean of this pass has converged; 1 if it
    /// does not average.
    pub fn frames_to_converge(config: &Settings, channel: Channel) -> u32 {
        match config.image.antialias {
            Antialias::Temporal if channel == Channel::Lit => TEMPORAL_SAMPLES as u32,
            _ => 1,
        }
    }

    /// Accumulates `picture`, in [`ENCODED_FORMAT`], into the mean, which has `size` pixels.
    pub fn record(
        &mut self,
        recording: &mut Recording<'_>,
        frame: &Frame<'_>,
        picture: &GpuImage,
        gbuffer: &GBuffer,
        motion: Motion<'_>,
        size: [u32; 2],
    ) -> Result<()> {
        let gpu = recording.gpu;
        let continues = self.continues(frame, size);
        if self.means[0].color.size() != size {
            self.means = try_create(gpu, size, || [(); 2].map(|()| Mean::new(gpu, size)))?;
            self.past.reset();
        }
        let past = self.past.last().copied().flatten();
        let mean = past.map_or(0, |past| 1 - past.mean);
        let (last, now) = (&self.means[1 - mean], &self.means[mean]);
        self.params.write(
            gpu,
            &TemporalParams {
                jitter: frame.jitter.to_array(),
                continues: u32::from(continues),
                dither: u32::from(frame.config.image.dither),
            },
        );
        recording.dispatch_pixels(
            "temporal",
            &self.kernel,
            &[(0, &frame.group)],
            &[
                &self.params,
                motion.params,
                picture,
                &gbuffer.position,
                motion.displacement,
                &last.color,
                &self.sampler,
                &last.samples,
                &last.colors,
                &now.color,
                &now.samples,
                &now.colors,
            ],
            size,
            recording.budget.pixels(),
        )?;
        self.past.set_pending(Some(Past {
            scene: frame.buffers.version,
            mean,
        }));
        Ok(())
    }

    /// Adds the pipeline that draws the mean to targets of `format`.
    pub fn shown_pipelines(&self, format: Format, set: &mut PipelineSet) {
        self.shown.pipelines(format, set);
    }

    /// Draws the recorded mean to `target`, which has the same size.
    pub fn show(&self, recording: &mut Recording<'_>, target: &wgpu::TextureView) -> Result<()> {
        let mean = self.past.pending().copied().flatten().map_or(0, |now| now.mean);
        let own: &[&dyn Bind] = &[&self.params, &self.means[mean].color];
        recording.draw_fullscreen("temporal", &self.shown, target, own)
    }

    /// Keeps the mean during a frame of the same still picture.
    pub fn keep(&mut self) {
        self.past.set_pending(self.past.last().copied().flatten());
    }
}

impl Mean {
    fn new(gpu: &Gpu, size: [u32; 2]) -> Self {
        let usage = Usage::STORAGE_BINDING | Usage::TEXTURE_BINDING;
        let image = |label, format| GpuImage::new(gpu, label, size, format, usage);
        Self {
            color: image("temporal.mean", HDR_FORMAT),
            samples: image("temporal.samples", SAMPLES_FORMAT),
            colors: image("temporal.box", BOX_FORMAT),
        }
    }
}

impl LifeCycle for Temporal {
    fn parts(&mut self) -> Vec<&mut dyn LifeCycle> {
        vec![&mut self.past]
    }

    fn begin(&mut self) {
        // A frame that neither updates nor keeps the mean leaves none.
        self.past.set_pending(None);
    }
}
