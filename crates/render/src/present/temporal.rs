//! `temporal`: the mean of the frames of a moving picture, each of which looks at other points of its pixels.

use crate::{
    aov::Channel,
    bindings::Layouts,
    edges::{GBuffer, HDR_FORMAT, Motion, fitted},
    frame::{
        Frame,
        life_cycle::{Carried, LifeCycle},
        recording::Recording,
    },
    layout::{TEMPORAL_SAMPLES, TemporalParams},
    settings::{Antialias, Settings},
};
use canopy_bvh::{
    Result,
    gpu::{
        Bind, Cover, Gpu, GpuImage, Kernel, Needs, Uniform,
        pass::Binding::{self, Filtered, Float, Sampler, Store, Uint},
    },
};
use wgpu::{TextureFormat as Format, TextureUsages as Usage};

/// The frame as the pass reads it: what eight bits would round away, the mean brings back.
pub const ENCODED_FORMAT: Format = HDR_FORMAT;
const SAMPLES_FORMAT: Format = Format::R32Float;
const BOX_FORMAT: Format = Format::Rg32Uint;

/// The pass, with the mean of the frames so far.
#[derive(Debug)]
pub struct Temporal {
    kernel: Kernel,
    shown: Cover,
    params: Uniform<TemporalParams>,
    sampler: wgpu::Sampler,
    /// Means of one frame and of the next, in turn.
    means: [Mean; 2],
    past: Carried<Option<Past>>,
}

/// State that the last frame has left.
#[derive(Debug, Clone, Copy)]
struct Past {
    /// Scene that the mean shows.
    scene: u64,
    /// Which of the means it is.
    mean: usize,
}

#[derive(Debug)]
struct Mean {
    color: GpuImage,
    /// Samples that it is the mean of.
    samples: GpuImage,
    /// The colours that it was allowed.
    colors: GpuImage,
}

impl Temporal {
    /// Ready to be compiled.
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
            shown: Cover::new(gpu, path, "shown", &[uniform, Float]),
            params: Uniform::new(gpu, "temporal.params"),
            sampler: gpu.device.create_sampler(&wgpu::SamplerDescriptor {
                label: Some("temporal"),
                mag_filter: wgpu::FilterMode::Linear,
                min_filter: wgpu::FilterMode::Linear,
                ..Default::default()
            }),
            means: [(); 2].map(|()| Mean::new(gpu, [1, 1])),
            past: Carried::default(),
        }
    }

    /// Gives its memory back, where frames are not averaged any more.
    pub fn clear(&mut self, gpu: &Gpu) {
        if self.means[0].color.size() != [1, 1] {
            self.means = [(); 2].map(|()| Mean::new(gpu, [1, 1]));
            self.past.forget();
        }
    }

    /// Whether there is a mean of the frames before, of a picture that is shown in `size` pixels.
    pub fn continues(&self, frame: &Frame<'_>, size: [u32; 2]) -> bool {
        let past = self.past.last().copied().flatten();
        past.is_some_and(|past| past.scene == frame.buffers.version) && self.means[0].color.size() == size
    }

    /// Frames of a picture that rests, until what this pass averages over them is complete; 1 where it averages nothing.
    pub fn frames_to_converge(config: &Settings, channel: Channel) -> u32 {
        match config.image.antialias {
            Antialias::Temporal if channel == Channel::Lit => TEMPORAL_SAMPLES as u32,
            _ => 1,
        }
    }

    /// Adds `picture`, of [`ENCODED_FORMAT`], to the mean, which has `size` pixels.
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
            self.means = fitted(gpu, size, || [(); 2].map(|()| Mean::new(gpu, size)))?;
            self.past.forget();
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
        self.past.leave(Some(Past {
            scene: frame.buffers.version,
            mean,
        }));
        Ok(())
    }

    /// Adds what draws the mean to targets of `format`.
    pub fn needs_shown(&self, format: Format, needs: &mut Needs) {
        self.shown.needs(format, needs);
    }

    /// Draws the mean that was recorded to `target`, which has the size that it was recorded for.
    pub fn show(&self, recording: &mut Recording<'_>, target: &wgpu::TextureView) -> Result<()> {
        let mean = self.past.coming().copied().flatten().map_or(0, |now| now.mean);
        let own: &[&dyn Bind] = &[&self.params, &self.means[mean].color];
        recording.cover("temporal", &self.shown, target, own)
    }

    /// Keeps the mean over a frame of the same still picture.
    pub fn keep(&mut self) {
        self.past.leave(self.past.last().copied().flatten());
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
        // A frame that neither adds to the mean nor keeps it leaves none.
        self.past.leave(None);
    }
}
