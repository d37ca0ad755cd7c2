//! What the radix sort works on: pairs of keys and values, the digits of their keys, and the kernels for one
//! digit.

use super::layout::SortParams;
use crate::gpu::{Array, Gpu, Kernel};

/// Pairs to be sorted, with what the sort needs beside them. Each digit moves the pairs to the other of two
/// arrays.
#[derive(Debug)]
pub struct SortBuffers {
    /// Keys, a word each.
    pub keys: [Array; 2],
    /// Values, a word each.
    pub values: [Array; 2],
    pub(super) counts: wgpu::Buffer,
    pub(super) totals: wgpu::Buffer,
}

/// Consecutive digits of one sort.
#[derive(Debug)]
pub struct Digits {
    pub(super) input: usize,
    pub(super) count: u32,
    pub(super) params: Vec<(SortParams, wgpu::Buffer)>,
    pub(super) groups: Vec<wgpu::BindGroup>,
    pub(super) small: Option<wgpu::BindGroup>,
    pub(super) block_size: fn(u32) -> u32,
}

impl Digits {
    /// Sorts the first `count` pairs from now on. It takes effect through the queue: what has been recorded
    /// has to be submitted before.
    pub fn set_count(&mut self, gpu: &Gpu, count: u32) {
        if std::mem::replace(&mut self.count, count) == count {
            return;
        }
        let run = (self.block_size)(count);
        for (params, buffer) in &self.params {
            let params = SortParams {
                count,
                block_count: count.div_ceil(run),
                run,
                ..*params
            };
            gpu.queue.write_buffer(buffer, 0, bytemuck::bytes_of(&params));
        }
    }

    /// Which of the two arrays holds the pairs at first.
    pub fn input(&self) -> usize {
        self.input
    }

    /// Which of the two arrays holds the sorted pairs.
    pub fn output(&self) -> usize {
        (self.input + self.groups.len()) % 2
    }
}

/// The kernels that sort by one digit, and how they divide the pairs.
#[derive(Debug)]
pub(super) struct SortKernels {
    pub(super) histogram: Kernel,
    pub(super) scan: Kernel,
    pub(super) scatter: Kernel,
    /// All digits of at most [`SORT_SMALL`](super::layout::SORT_SMALL) pairs in one dispatch.
    pub(super) small: Option<Kernel>,
    /// Pairs of a block, by the number of all pairs.
    pub(super) block_size: fn(u32) -> u32,
    /// Workgroups of `histogram` and `scatter`, and of `scan`, by the number of blocks.
    pub(super) workgroups: fn(u32) -> [u32; 2],
}
