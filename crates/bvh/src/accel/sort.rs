//! `sort`: a stable least-significant-digit radix sort of 32-bit keys with 32-bit values, on the GPU.

pub use super::pairs::{Digits, SortBuffers};
use super::{
    implementation,
    layout::{SORT_SMALL, SortParams},
    pairs::SortKernels,
};
use crate::{
    Result,
    gpu::{Array, Gpu, Kernel, Passes, PipelineSet, Recorder, Workgroups},
};

/// Number of dispatches per eight-bit digit.
const DISPATCHES_PER_DIGIT: u32 = 3;

/// Kernels of the radix sort.
#[derive(Debug)]
pub struct RadixSort(SortKernels);

impl RadixSort {
    /// Creates the sort that suits the device. Its kernels are compiled on first use.
    pub fn new(gpu: &Gpu) -> Self {
        Self(implementation::sort(gpu))
    }

    /// Adds its kernels to the set of pipelines to compile.
    pub fn pipelines(&self, set: &mut PipelineSet) {
        let kernels = &self.0;
        for kernel in [&kernels.histogram, &kernels.scan, &kernels.scatter] {
            kernel.pipelines(set);
        }
        if let Some(small) = &kernels.small {
            small.pipelines(set);
        }
    }

    /// Creates buffers for up to `capacity` pairs.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`](crate::Error::Limit) if they exceed the device's limits.
    pub fn buffers(&self, gpu: &Gpu, capacity: u32) -> Result<SortBuffers> {
        let array = |label| Array::new(gpu, label, 1, capacity.max(1));
        // A smaller number of pairs may be split into as many as 256 runs.
        let blocks = capacity.div_ceil((self.0.block_size)(capacity)).max(256);
        let counts_bytes = u64::from(blocks) * 256 * 4;
        gpu.check_binding("sort.counts", counts_bytes)?;
        let storage = wgpu::BufferUsages::STORAGE;
        Ok(SortBuffers {
            keys: [array("sort.keys")?, array("sort.keys_other")?],
            values: [array("sort.values")?, array("sort.values_other")?],
            counts: gpu.buffer("sort.counts", counts_bytes, storage),
            totals: gpu.buffer("sort.totals", 256 * 4, storage),
        })
    }

    /// Creates the passes of a sort by the lowest `bits` bits of the keys, eight bits each. The unsorted
    /// pairs are in array `input` of `buffers`. With `implied_values`, the values are the pairs' own indices,
    /// and the contents of the value array are ignored.
    pub fn digits(
        &self,
        gpu: &Gpu,
        buffers: &SortBuffers,
        input: usize,
        bits: u32,
        implied_values: bool,
    ) -> Digits {
        let digits = bits.div_ceil(8).max(1);
        let params: Vec<_> = (0..digits)
            .map(|digit| {
                let params = SortParams {
                    shift: 8 * digit,
                    implied_values: u32::from(implied_values && digit == 0),
                    digits,
                    ..SortParams::default()
                };
                let usage = wgpu::BufferUsages::UNIFORM;
                (params, gpu.buffer_with("sort.params", &[params], usage))
            })
            .collect();
        let SortBuffers {
            keys,
            values,
            counts,
            totals,
        } = buffers;
        let groups = (0..)
            .zip(&params)
            .map(|(digit, (_, params))| {
                let from = (input + digit) % 2;
                let to = 1 - from;
                let (keys_out, values_out) = (keys[to].buffer(), values[to].buffer());
                // The three kernels have the same bindings.
                self.0.histogram.bind(
                    gpu,
                    &[
                        params,
                        &keys[from],
                        &values[from],
                        keys_out,
                        values_out,
                        counts,
                        totals,
                    ],
                )
            })
            .collect();
        let small = self.0.small.as_ref().map(|small| {
            let [keys, values] = [keys, values].map(|arrays| arrays.each_ref().map(Array::buffer));
            let other = 1 - input;
            small.bind(
                gpu,
                &[
                    &params[0].1,
                    keys[input],
                    values[input],
                    keys[other],
                    values[other],
                ],
            )
        });
        Digits {
            input,
            count: 0,
            params,
            groups,
            small,
            block_size: self.0.block_size,
        }
    }

    /// Records the sort from array [`Digits::input`], which must have been published, to array
    /// [`Digits::output`], and publishes the values. Returns the number of dispatches.
    ///
    /// # Errors
    ///
    /// A compilation error, if the kernels were not compiled before.
    pub fn record(
        &self,
        gpu: &Gpu,
        recorder: &mut impl Recorder,
        buffers: &SortBuffers,
        digits: &Digits,
    ) -> Result<u32> {
        self.record_in(gpu, &mut Passes::new(recorder), buffers, digits)
    }

    /// Records like [`RadixSort::record`], in passes shared with other work.
    pub(super) fn record_in(
        &self,
        gpu: &Gpu,
        passes: &mut Passes<'_, impl Recorder>,
        buffers: &SortBuffers,
        digits: &Digits,
    ) -> Result<u32> {
        let count = digits.count;
        if let (Some(small), Some(group)) = (&self.0.small, &digits.small)
            && count <= SORT_SMALL
        {
            let workgroups = Workgroups::Count(u32::from(count > 0));
            passes.record("sort", |pass| {
                small.dispatch_bound(gpu, pass, &[], group, workgroups)
            })?;
            return Ok(1);
        }
        if buffers.keys[0].has_texture() {
            // Each publish ends a pass.
            for (number, group) in digits.groups.iter().enumerate() {
                passes.record("sort", |pass| self.digit(gpu, pass, digits, group))?;
                let encoder = passes.recorder().encoder();
                let to = (digits.input + number + 1) % 2;
                if number + 1 < digits.groups.len() {
                    buffers.keys[to].publish(encoder, 0..count);
                }
                buffers.values[to].publish(encoder, 0..count);
            }
        } else {
            passes.record("sort", |pass| {
                let mut groups = digits.groups.iter();
                groups.try_for_each(|group| self.digit(gpu, pass, digits, group))
            })?;
        }
        Ok(DISPATCHES_PER_DIGIT * digits.groups.len() as u32)
    }

    /// Records the sort by one digit.
    fn digit(
        &self,
        gpu: &Gpu,
        pass: &mut wgpu::ComputePass<'_>,
        digits: &Digits,
        group: &wgpu::BindGroup,
    ) -> Result<()> {
        let kernels = &self.0;
        let blocks = digits.count.div_ceil((kernels.block_size)(digits.count));
        let [blocks, rows] = (kernels.workgroups)(blocks);
        let dispatch = |pass: &mut _, kernel: &Kernel, workgroups| {
            kernel.dispatch_bound(gpu, pass, &[], group, Workgroups::Count(workgroups))
        };
        dispatch(pass, &kernels.histogram, blocks)?;
        dispatch(pass, &kernels.scan, rows)?;
        dispatch(pass, &kernels.scatter, blocks)
    }
}
