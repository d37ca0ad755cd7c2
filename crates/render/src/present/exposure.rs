//! `exposure`: determines the factor on radiance before the tone curve, fixed by the settings or metered from
//! the picture's histogram.

use crate::{
    frame::FrameSetup,
    layout::{EXPOSURE_BINS, EXPOSURE_TILE, Exposure as Used, ExposureBin, ExposureParams},
};
use canopy_bvh::{
    Result,
    gpu::{
        Bind, Gpu, Kernel, Uniform, Workgroups, image,
        pass::Binding::{self, Float, Write},
        profiler::Scope,
        readback::Counters,
    },
};
use wgpu::BufferUsages as Buffer;

/// Exposure pass, with the exposure that persists from frame to frame.
#[derive(Debug)]
pub struct Exposure {
    histogram: Kernel,
    adapt: Kernel,
    params: Uniform<ExposureParams>,
    /// Histogram of the last frame, an [`ExposureBin`] per bin.
    pub bins: wgpu::Buffer,
    /// Current exposure, a [`Used`].
    pub used: wgpu::Buffer,
    /// Readback of the exposure.
    counters: Counters<3>,
    is_metered: bool,
}

impl Exposure {
    /// Creates the pass without compiling it.
    pub fn new(gpu: &Gpu) -> Self {
        let bindings = [Binding::Uniform, Float, Write, Write];
        let kernel = |entry| Kernel::new(gpu, "picture/exposure.wgsl", entry, &[], &bindings);
        let bins = u64::from(EXPOSURE_BINS) * size_of::<ExposureBin>() as u64;
        let kept = Buffer::STORAGE | Buffer::COPY_SRC | Buffer::COPY_DST;
        Self {
            histogram: kernel("exposure_histogram"),
            adapt: kernel("exposure"),
            bins: gpu.buffer("exposure.bins", bins, kept),
            used: gpu.buffer("exposure.used", size_of::<Used>() as u64, kept | Buffer::UNIFORM),
            counters: Counters::new(gpu, "exposure.counters"),
            is_metered: false,
            params: Uniform::new(gpu, "exposure.params"),
        }
    }

    /// Sets a fixed exposure of `ev` stops.
    pub fn fix(&mut self, gpu: &Gpu, ev: f32) {
        let used = Used {
            scale: ev.exp2(),
            ev,
            target_ev: ev,
        };
        gpu.queue.write_buffer(&self.used, 0, bytemuck::bytes_of(&used));
        self.is_metered = false;
    }

    /// Meters the exposure from the histogram of `hdr`, a texture of half floats.
    pub fn record(
        &mut self,
        gpu: &Gpu,
        scope: &mut Scope<'_>,
        params: &ExposureParams,
        hdr: &wgpu::TextureView,
    ) -> Result<()> {
        scope.clear_buffer(&self.bins, 0, None);
        self.params.write(gpu, params);
        let own: &[&dyn Bind] = &[&self.params, hdr, &self.bins, &self.used];
        let mut pass = scope.scoped_compute_pass("exposure");
        let [columns, rows] = image::size_of_view(hdr).map(|side| side.div_ceil(EXPOSURE_TILE));
        let tiles = Workgroups::Grid([columns, rows, 1]);
        self.histogram.dispatch(gpu, &mut pass, &[], own, tiles)?;
        let once = Workgroups::Count(1);
        self.adapt.dispatch(gpu, &mut pass, &[], own, once)?;
        drop(pass);
        self.counters.record(scope, &self.used);
        self.is_metered = true;
        Ok(())
    }

    /// Reads back the exposure of earlier frames in stops, and the target of its adaptation. Returns `None`
    /// if it is fixed.
    pub fn collect(&mut self) -> Option<[f32; 2]> {
        self.counters.collect();
        let [_, ev, target] = self.counters.last().map(f32::from_bits);
        self.is_metered.then_some([ev, target])
    }
}

/// Returns the parameters of a frame from its settings. The exposure of a picture of several frames adapts at
/// once, because it has no time to adapt.
pub fn params(frame: &FrameSetup<'_>) -> ExposureParams {
    let settings = &frame.config.exposure;
    let [low, high] = settings.percentiles.map(|percent| percent / 100.0);
    let [least, most] = settings.range;
    let share = 1.0 - (-frame.elapsed_secs / settings.adaptation).exp();
    let at_once = frame.accumulates() || settings.adaptation == 0.0;
    ExposureParams {
        low,
        high,
        compensation: settings.compensation,
        min_ev: least,
        max_ev: most,
        fallback: frame.exposure_ev + settings.compensation,
        share: if at_once { 1.0 } else { share },
    }
}
