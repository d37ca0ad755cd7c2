//! Data of the radix sort: key-value pairs, the digits of their keys, and the kernels for one digit.

use super::layout::SortParams;
use crate::gpu::{Array, Gpu, Kernel};

/// Key-value pairs to sort, with the auxiliary buffers of the sort. The pass of each digit moves the pairs
/// from one of two arrays to the other.
#[derive(Debug)]
pub struct SortBuffers {
    /// Keys, one word each.
    pub keys: [Array; 2],
    /// Values, one word each.
    pub values: [Array; 2],
    pub(super) counts: wgpu::Buffer,
    pub(super) totals: wgpu::Buffer,
}

/// Passes of one sort, one per digit from the lowest, with their uniforms and bind groups.
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
    /// Sets the number of pairs to sort. It writes through the queue, so submit earlier recordings first.
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

    /// Returns the index of the array that holds the unsorted pairs.
    pub fn input(&self) -> usize {
        self.input
    }

    /// Returns the index of the array that holds the sorted pairs.
    pub fn output(&self) -> usize {
        (self.input + self.groups.len()) % 2
    }
}

/// Kernels that sort by one digit, and their partition of the pairs into blocks.
#[derive(Debug)]
pub(super) struct SortKernels {
    pub(super) histogram: Kernel,
    pub(super) scan: Kernel,
    pub(super) scatter: Kernel,
    /// Sorts all digits of at most [`SORT_SMALL`](super::layout::SORT_SMALL) pairs in one dispatch.
    pub(super) small: Option<Kernel>,
    /// Returns the pairs per block for a number of pairs.
    pub(super) block_size: fn(u32) -> u32,
    /// Returns the workgroups of `histogram` and `scatter`, and of `scan`, for a number of blocks.
    pub(super) workgroups: fn(u32) -> [u32; 2],
}
