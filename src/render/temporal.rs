//! `temporal`: the mean of the frames of a moving picture, each of which looks at other points of its pixels.

use super::{
    bindings::Layouts,
    edges::{GBuffer, HDR_FORMAT, Motion, fitted},
    frame::Frame,
    life_cycle::LifeCycle,
    recording::Recording,
};
use crate::{
    Result,
    gpu::{
        Bind, Cover, Gpu, GpuImage, Kernel, Needs, Uniform,
        layout::TemporalParams,
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
    /// Of the last frame and of this one, by the parity of `frames`.
    means: [Mean; 2],
    /// Frames that have been recorded.
    frames: u32,
    /// What the mean shows; `None` where the last frame has none.
    shows: Option<u64>,
    /// The same, while a frame is being recorded.
    showed: Option<u64>,
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
            frames: 0,
            shows: None,
            showed: None,
        }
    }

    /// What it compiles for targets of `format`.
    pub fn needs(&mut self, format: Format, needs: &mut Needs) {
        self.kernel.needs(needs);
        self.shown.needs(format, needs);
    }

    /// Gives its memory back, where frames are not averaged any more.
    pub fn clear(&mut self, gpu: &Gpu) {
        if self.means[0].color.size() != [1, 1] {
            self.means = [(); 2].map(|()| Mean::new(gpu, [1, 1]));
        }
    }

    /// Whether there is a mean of the frames before, of a picture that is shown in `size` pixels.
    pub fn continues(&self, frame: &Frame<'_>, size: [u32; 2]) -> bool {
        self.showed == Some(frame.buffers.version) && self.means[0].color.size() == size
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
        }
        self.frames = self.frames.wrapping_add(1);
        let [last, now] = self.means();
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
        self.shows = Some(frame.buffers.version);
        Ok(())
    }

    /// Draws the mean to `target`, which has the size that it was recorded for.
    pub fn show(&self, recording: &mut Recording<'_>, target: &wgpu::TextureView) -> Result<()> {
        let [_, now] = self.means();
        let own: &[&dyn Bind] = &[&self.params, &now.color];
        recording.cover("temporal", &self.shown, target, own)
    }

    /// Of the last frame and of this one.
    fn means(&self) -> [&Mean; 2] {
        let [even, odd] = &self.means;
        match self.frames.is_multiple_of(2) {
            true => [odd, even],
            false => [even, odd],
        }
    }

    /// Keeps the mean over a frame of the same still picture.
    pub fn keep(&mut self) {
        self.shows = self.showed;
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
    fn begin(&mut self) {
        self.showed = self.shows.take();
    }
}
