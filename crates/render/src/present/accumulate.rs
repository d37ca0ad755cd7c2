//! `accumulate`: sums the frames of a supersampled picture, and computes their mean.

use crate::{
    frame::{Frame, recording::Recording},
    layout::AccumulateParams,
    resources::Radiance,
};
use canopy_bvh::{
    Result,
    gpu::{
        Bind, FullscreenPass, Gpu, Kernel, PipelineSet, Uniform,
        pass::Binding::{self, Float, Read, Write},
    },
};
use wgpu::BufferUsages as Buffer;

/// Accumulation pass and its sums.
#[derive(Debug)]
pub struct Accumulate {
    kernel: Kernel,
    resolve: FullscreenPass,
    params: Uniform<AccumulateParams>,
    sums: Sums,
}

/// Two sums of four floats per pixel, whatever the number of frames.
#[derive(Debug)]
struct Sums {
    size: [u32; 2],
    shown: wgpu::Buffer,
    radiance: wgpu::Buffer,
}

impl Accumulate {
    /// Creates the pass without compiling it.
    ///
    /// # Errors
    ///
    /// [`canopy_bvh::Error::Gpu`] if the adapter is out of memory.
    pub fn new(gpu: &Gpu) -> Result<Self> {
        let path = "picture/accumulate.wgsl";
        let uniform = Binding::Uniform;
        let bindings = [uniform, uniform, Float, Write, Write, uniform, Float];
        Ok(Self {
            kernel: Kernel::new(gpu, path, "accumulate", &[], &bindings),
            resolve: FullscreenPass::new(gpu, path, "resolve", &[Read, uniform]),
            params: Uniform::new(gpu, "accumulate.params"),
            sums: Sums::new(gpu, [1, 1])?,
        })
    }

    /// Adds the radiance of a frame to both sums. The first frame of a picture overwrites them.
    pub fn record(
        &mut self,
        recording: &mut Recording<'_>,
        frame: &Frame<'_>,
        radiance: &Radiance,
        exposure: &wgpu::Buffer,
    ) -> Result<()> {
        let gpu = recording.gpu;
        if self.sums.size != frame.size {
            self.sums = Sums::new(gpu, frame.size)?;
        }
        self.params.write(
            gpu,
            &AccumulateParams {
                curve: frame.config.image.tonemap as u32,
                index: frame.sample.index,
                width: frame.size[0],
                transparent: u32::from(frame.is_transparent()),
                dither: u32::from(frame.config.image.dither),
                unlit_radiance: frame.unlit_radiance(),
            },
        );
        recording.dispatch_pixels(
            "accumulate",
            &self.kernel,
            &[],
            &[
                &self.params,
                &radiance.hdr,
                &self.sums.shown,
                &self.sums.radiance,
                exposure,
                &radiance.display,
            ],
            frame.size,
            recording.budget.pixels(),
        )
    }

    /// Adds the pipeline that accumulates.
    pub fn sum_pipelines(&self, set: &mut PipelineSet) {
        self.kernel.pipelines(set);
    }

    /// Adds the pipeline that draws the mean to targets of `format`.
    pub fn resolve_pipelines(&self, format: wgpu::TextureFormat, set: &mut PipelineSet) {
        self.resolve.pipelines(format, set);
    }

    /// Draws the mean of the frames so far to `target`, which has the same size.
    pub fn resolve(&self, recording: &mut Recording<'_>, target: &wgpu::TextureView) -> Result<()> {
        let own: &[&dyn Bind] = &[&self.sums.shown, &self.params];
        recording.draw_fullscreen("resolve", &self.resolve, target, own)
    }

    /// Returns the sums of displayed light (after tone mapping, linear): four floats per pixel.
    pub fn shown(&self) -> &wgpu::Buffer {
        &self.sums.shown
    }

    /// Reads back the mean radiance of `frames` frames: four floats per pixel. Waits for the GPU.
    pub fn read(&self, gpu: &Gpu, frames: u32) -> Result<Vec<[f32; 4]>> {
        let [width, height] = self.sums.size.map(|side| side as usize);
        let bytes = gpu.read(&self.sums.radiance)?;
        let sums: Vec<[f32; 4]> = bytemuck::pod_collect_to_vec(&bytes[..16 * width * height]);
        let mean = |sum: &[f32; 4]| sum.map(|channel| channel / frames as f32);
        Ok(sums.iter().map(mean).collect())
    }
}

impl Sums {
    fn new(gpu: &Gpu, size: [u32; 2]) -> Result<Self> {
        let bytes = 16 * u64::from(size[0]) * u64::from(size[1]);
        let what = format!("the sums of {} × {} pixels' samples", size[0], size[1]);
        gpu.check_binding(&what, bytes)?;
        let usage = Buffer::STORAGE | Buffer::COPY_SRC;
        gpu.catch(|| Self {
            size,
            shown: gpu.buffer("accumulate.shown", bytes, usage),
            radiance: gpu.buffer("accumulate.radiance", bytes, usage),
        })
    }
}
