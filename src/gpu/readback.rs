//! Numbers that the GPU counts and the CPU learns some frames later, without a wait.

use super::Gpu;
use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

/// Copies under way at once: more frames than a queue holds.
const SLOTS: usize = 4;

const FREE: u32 = 0;
const RECORDED: u32 = 1;
const MAPPING: u32 = 2;
const READY: u32 = 3;

/// The first `N` words of a buffer.
#[derive(Debug)]
pub struct Counters<const N: usize> {
    slots: Vec<(wgpu::Buffer, Arc<AtomicU32>)>,
    last: [u32; N],
}

impl<const N: usize> Counters<N> {
    /// Counters of the name.
    pub fn new(gpu: &Gpu, label: &str) -> Self {
        let staging = || {
            gpu.buffer(
                label,
                4 * N as u64,
                wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            )
        };
        Self {
            slots: (0..SLOTS).map(|_| (staging(), Arc::default())).collect(),
            last: [0; N],
        }
    }

    /// The last values that have come back.
    pub fn last(&self) -> [u32; N] {
        self.last
    }

    /// Copies the counts as they stand in `buffer`, unless all copies are still under way.
    pub fn record(&self, encoder: &mut wgpu::CommandEncoder, buffer: &wgpu::Buffer) {
        if let Some((staging, state)) = self
            .slots
            .iter()
            .find(|(_, state)| state.load(Ordering::Acquire) == FREE)
        {
            encoder.copy_buffer_to_buffer(buffer, 0, staging, 0, 4 * N as u64);
            state.store(RECORDED, Ordering::Release);
        }
    }

    /// After the submission: asks for the copies that were recorded, and takes in those that have arrived.
    pub fn collect(&mut self) {
        for (staging, state) in &self.slots {
            match state.load(Ordering::Acquire) {
                RECORDED => {
                    state.store(MAPPING, Ordering::Release);
                    let state = state.clone();
                    staging
                        .slice(..)
                        .map_async(wgpu::MapMode::Read, move |result| {
                            state.store(
                                if result.is_ok() { READY } else { FREE },
                                Ordering::Release,
                            );
                        });
                }
                READY => {
                    if let Ok(bytes) = staging.slice(..4 * N as u64).get_mapped_range() {
                        for (last, word) in self.last.iter_mut().zip(bytes.chunks_exact(4)) {
                            *last = bytemuck::pod_read_unaligned(word);
                        }
                    }
                    staging.unmap();
                    state.store(FREE, Ordering::Release);
                }
                _ => {}
            }
        }
    }
}
