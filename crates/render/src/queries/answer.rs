//! Queries to the GPU between frames. One query is pending at a time, and its answer arrives at once or some
//! frames later.

use canopy_bvh::gpu::{Gpu, readback::Counters};
use std::time::Duration;

/// Readback of the first `N` words of a buffer, once the GPU has written them.
#[derive(Debug)]
pub(crate) struct PendingQuery<const N: usize> {
    readback: Counters<N>,
    is_pending: bool,
}

impl<const N: usize> PendingQuery<N> {
    /// Creates an answer without a pending query.
    pub(crate) fn new(gpu: &Gpu, label: &str) -> Self {
        Self {
            readback: Counters::new(gpu, label),
            is_pending: false,
        }
    }

    /// True if an answer is pending.
    pub(crate) fn is_pending(&self) -> bool {
        self.is_pending
    }

    /// Submits the query in `encoder`, which writes its answer to `buffer`.
    pub(crate) fn submit(&mut self, gpu: &Gpu, mut encoder: wgpu::CommandEncoder, buffer: &wgpu::Buffer) {
        self.is_pending = self.readback.record(&mut encoder, buffer);
        gpu.queue.submit([encoder.finish()]);
    }

    /// Returns the words, if they arrive within `wait`.
    pub(crate) fn take(&mut self, gpu: &Gpu, wait: Duration) -> Option<[u32; N]> {
        if !self.is_pending {
            return None;
        }
        gpu.wait_for(wait);
        let mut answer = None;
        self.readback.collect_each(|_, words| answer = Some(words));
        self.is_pending = answer.is_none();
        answer
    }
}
