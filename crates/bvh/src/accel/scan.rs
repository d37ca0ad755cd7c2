//! `scan`: in-place exclusive prefix sum.

use super::layout::SCAN_BLOCK;
use crate::{
    Result,
    gpu::{
        Bind, Gpu, Kernel, PipelineSet, Recorder, Workgroups,
        pass::Binding::{Uniform, Write},
    },
};

/// Kernels of the prefix sum.
#[derive(Debug)]
pub struct Scan {
    kernels: [Kernel; 3],
}

impl Scan {
    /// Creates the kernels. They are compiled on first use.
    pub fn new(gpu: &Gpu) -> Self {
        let kernels = ["scan_blocks", "scan_sums", "scan_add"].map(|entry| {
            let bindings = [Uniform, Write, Write];
            Kernel::new(gpu, "bvh/build/scan.wgsl", entry, &[], &bindings)
        });
        Self { kernels }
    }

    /// Adds its kernels to the set of pipelines to compile.
    pub fn pipelines(&self, set: &mut PipelineSet) {
        self.kernels.iter().for_each(|kernel| kernel.pipelines(set));
    }

    /// Replaces the first `count` of `numbers` by their exclusive prefix sum, and writes the total after
    /// them. Sums saturate at `u32::MAX`. The buffer needs room for `count` + 1 numbers.
    ///
    /// # Errors
    ///
    /// A compilation error, if the kernels were not compiled before.
    pub fn record(
        &self,
        gpu: &Gpu,
        recorder: &mut impl Recorder,
        numbers: &wgpu::Buffer,
        count: u32,
    ) -> Result<()> {
        // Clamp the count here, because the BVH's kernels may be compiled without bounds checks.
        let room = u32::try_from(numbers.size() / 4).unwrap_or(u32::MAX);
        let count = count.min(room.saturating_sub(1));
        let blocks = count.div_ceil(SCAN_BLOCK);
        let uniform = [[count, blocks, 0, 0]];
        let uniform = gpu.buffer_with("scan.params", &uniform, wgpu::BufferUsages::UNIFORM);
        let bytes = 4 * u64::from(blocks.max(1));
        let sums = gpu.buffer("scan.sums", bytes, wgpu::BufferUsages::STORAGE);
        let own: [&dyn Bind; 3] = [&uniform, numbers, &sums];
        let group = self.kernels[0].bind(gpu, &own);
        let mut pass = recorder.scoped_compute_pass("scan");
        for (kernel, workgroups) in self.kernels.iter().zip([blocks, 1, blocks]) {
            let workgroups = Workgroups::Count(workgroups);
            kernel.dispatch_bound(gpu, &mut pass, &[], &group, workgroups)?;
        }
        Ok(())
    }
}
