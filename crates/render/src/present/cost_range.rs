//! `cost_range`: finds the count of nodes and triangles that the brightest colour stands for, in the channel
//! `cost` or for counts in the channel `lab`.

use crate::{aov::Heat, frame::recording::Recording, layout::CostRangeParams, stats::CostRange};
use canopy_bvh::{
    Result,
    gpu::{
        Bind, Gpu, GpuImage, Kernel, Recorder, Uniform, Workgroups,
        library::wgsl_constants,
        pass::Binding::{self, Float, Write},
        readback::Counters,
    },
};
use wgpu::BufferUsages as Usage;

wgsl_constants! {
    /// Number of histogram bins. Larger counts share the last one.
    pub const COST_BINS: u32 = 4096;
}

/// Pass that finds the colour range.
#[derive(Debug)]
pub struct CostRangePass {
    histogram: Kernel,
    find: Kernel,
    params: Uniform<CostRangeParams>,
    bins: wgpu::Buffer,
    output: wgpu::Buffer,
    readback: Counters<2>,
    found: Option<CostRange>,
}

impl CostRangePass {
    /// Creates the pass without compiling it.
    pub fn new(gpu: &Gpu) -> Self {
        let kernel = |entry| {
            let bindings = [Binding::Uniform, Float, Write, Write];
            Kernel::new(gpu, "inspect/cost_range.wgsl", entry, &[], &bindings)
        };
        let stored = Usage::STORAGE | Usage::COPY_DST;
        let usage = stored | Usage::UNIFORM | Usage::COPY_SRC;
        Self {
            histogram: kernel("cost_histogram"),
            find: kernel("cost_range"),
            params: Uniform::new(gpu, "cost_range.params"),
            bins: gpu.buffer("cost_range.bins", 4 * u64::from(COST_BINS), stored),
            output: gpu.buffer("cost_range", 16, usage),
            readback: Counters::new(gpu, "cost_range.readback"),
            found: None,
        }
    }

    /// Finds the range of `channel`, or uses the range of the settings.
    pub fn record(&mut self, recording: &mut Recording<'_>, heat: Heat, channel: &GpuImage) -> Result<()> {
        let gpu = recording.gpu;
        if heat.range > 0.0 {
            let range = [heat.range, 0.0, 0.0, 0.0];
            gpu.queue
                .write_buffer(&self.output, 0, bytemuck::bytes_of(&range));
            self.found = Some(CostRange {
                range: heat.range,
                most: None,
            });
            return Ok(());
        }
        let params = CostRangeParams {
            weights: heat.weights,
        };
        self.params.write(gpu, &params);
        recording.scope.encoder().clear_buffer(&self.bins, 0, None);
        let own: [&dyn Bind; 4] = [&self.params, channel, &self.bins, &self.output];
        let pixels = Workgroups::Pixels(channel.size());
        recording.dispatch("cost_range", &self.histogram, &[], &own, pixels)?;
        recording.dispatch("cost_range", &self.find, &[], &own, Workgroups::Count(1))?;
        self.readback.record(&mut recording.scope, &self.output);
        Ok(())
    }

    /// Drops the range, because the channel is not shown.
    pub fn clear(&mut self) {
        self.found = None;
    }

    /// Returns the range of the last frame with the channel that has been read back.
    pub fn collect(&mut self) -> Option<CostRange> {
        let found = &mut self.found;
        self.readback.collect_each(|_, words| {
            let [range, most] = words.map(f32::from_bits);
            *found = Some(CostRange {
                range,
                most: Some(most),
            });
        });
        self.found
    }

    /// Returns the buffer with the range, for shaders.
    pub fn output(&self) -> &wgpu::Buffer {
        &self.output
    }
}
