//! `exposure`: what radiance is multiplied with before the tone curve, as it was settled or as the picture's histogram asks for.

use super::FrameInput;
use crate::{
    Result,
    gpu::{
        Gpu, Needs, OnDemand,
        layout::{EXPOSURE_BINS, EXPOSURE_TILE, Exposure as Used, ExposureBin, ExposureParams},
        pass::{self, Binding},
        profiler::Scope,
        readback::Counters,
    },
};
use wgpu::BufferUsages as Buffer;

/// The pass, with the exposure that lasts from frame to frame.
#[derive(Debug)]
pub struct Exposure {
    histogram: OnDemand<wgpu::ComputePipeline>,
    settle: OnDemand<wgpu::ComputePipeline>,
    layout: wgpu::BindGroupLayout,
    /// An [`ExposureBin`] each, of the last frame.
    pub bins: wgpu::Buffer,
    /// The exposure in use: a [`Used`].
    pub used: wgpu::Buffer,
    /// What it was, as words.
    counters: Counters<3>,
    is_metered: bool,
}

impl Exposure {
    /// Ready to be compiled.
    pub fn new(gpu: &Gpu) -> Self {
        let layout = pass::compute_layout(
            gpu,
            "exposure",
            &[
                Binding::Uniform,
                Binding::Float,
                Binding::Write,
                Binding::Write,
            ],
        );
        let pipeline = |entry| pass::compute_on_demand("render/exposure.wgsl", entry, &[&layout]);
        let bins = u64::from(EXPOSURE_BINS) * size_of::<ExposureBin>() as u64;
        let kept = Buffer::STORAGE | Buffer::COPY_SRC | Buffer::COPY_DST;
        Self {
            histogram: pipeline("exposure_histogram"),
            settle: pipeline("exposure"),
            bins: gpu.buffer("exposure.bins", bins, kept),
            used: gpu.buffer(
                "exposure.used",
                size_of::<Used>() as u64,
                kept | Buffer::UNIFORM,
            ),
            counters: Counters::new(gpu, "exposure.counters"),
            is_metered: false,
            layout,
        }
    }

    /// What it compiles to meter a picture.
    pub fn needs(&self, needs: &mut Needs) {
        needs.add(&self.histogram);
        needs.add(&self.settle);
    }

    /// Exposes what follows by `ev` stops.
    pub fn fix(&mut self, gpu: &Gpu, ev: f32) {
        let used = Used {
            scale: ev.exp2(),
            ev,
            target_ev: ev,
        };
        gpu.queue
            .write_buffer(&self.used, 0, bytemuck::bytes_of(&used));
        self.is_metered = false;
    }

    /// Exposes what follows by the histogram of `hdr`, a texture of half floats.
    pub fn record(
        &mut self,
        gpu: &Gpu,
        scope: &mut Scope<'_>,
        params: &ExposureParams,
        hdr: &wgpu::TextureView,
    ) -> Result<()> {
        scope.clear_buffer(&self.bins, 0, None);
        let uniform = gpu.buffer_with("exposure.params", &[*params], Buffer::UNIFORM);
        let resources = [
            uniform.as_entire_binding(),
            wgpu::BindingResource::TextureView(hdr),
            self.bins.as_entire_binding(),
            self.used.as_entire_binding(),
        ];
        let group = pass::bind_group(gpu, "exposure", &self.layout, &resources);
        let mut pass = scope.scoped_compute_pass("exposure");
        pass.set_bind_group(0, &group, &[]);
        pass.set_pipeline(self.histogram.get(gpu)?);
        let tiles = |pixels: u32| pixels.div_ceil(EXPOSURE_TILE);
        let texture = hdr.texture();
        pass.dispatch_workgroups(tiles(texture.width()), tiles(texture.height()), 1);
        pass.set_pipeline(self.settle.get(gpu)?);
        pass.dispatch_workgroups(1, 1, 1);
        drop(pass);
        self.counters.record(scope, &self.used);
        self.is_metered = true;
        Ok(())
    }

    /// Takes in what has come back of earlier frames: the exposure in stops, and that which it was on its way to. `None` where it is fixed.
    pub fn collect(&mut self) -> Option<[f32; 2]> {
        self.counters.collect();
        let [_, ev, target] = self.counters.last().map(f32::from_bits);
        self.is_metered.then_some([ev, target])
    }
}

/// What the settings ask for, at once or as time goes by.
pub fn params(input: &FrameInput<'_>, at_once: bool) -> ExposureParams {
    let settings = &input.config.exposure;
    let [low, high] = settings.percentiles.map(|percent| percent / 100.0);
    let [least, most] = settings.range;
    let share = 1.0 - (-input.elapsed_secs / settings.adaptation).exp();
    ExposureParams {
        low,
        high,
        compensation: settings.compensation,
        least,
        most,
        fallback: input.exposure_ev + settings.compensation,
        share: if at_once || settings.adaptation == 0.0 {
            1.0
        } else {
            share
        },
    }
}
