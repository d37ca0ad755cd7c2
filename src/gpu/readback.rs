//! A number that the GPU counts and the CPU learns some frames later, without a wait.

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

/// One `u32` in a storage buffer of its own.
#[derive(Debug)]
pub struct Counter {
    buffer: wgpu::Buffer,
    slots: Vec<(wgpu::Buffer, Arc<AtomicU32>)>,
    last: u32,
}

impl Counter {
    /// A counter of the name.
    pub fn new(gpu: &Gpu, label: &str) -> Self {
        let usage = wgpu::BufferUsages::STORAGE
            | wgpu::BufferUsages::COPY_SRC
            | wgpu::BufferUsages::COPY_DST;
        let staging = || {
            gpu.buffer(
                label,
                4,
                wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            )
        };
        Self {
            buffer: gpu.buffer(label, 4, usage),
            slots: (0..SLOTS).map(|_| (staging(), Arc::default())).collect(),
            last: 0,
        }
    }

    /// What the GPU counts in.
    pub fn buffer(&self) -> &wgpu::Buffer {
        &self.buffer
    }

    /// The last value that has come back.
    pub fn last(&self) -> u32 {
        self.last
    }

    /// Copies the count as it stands, unless all copies are still under way.
    pub fn record(&self, encoder: &mut wgpu::CommandEncoder) {
        if let Some((staging, state)) = self
            .slots
            .iter()
            .find(|(_, state)| state.load(Ordering::Acquire) == FREE)
        {
            encoder.copy_buffer_to_buffer(&self.buffer, 0, staging, 0, 4);
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
                    if let Ok(bytes) = staging.slice(..4).get_mapped_range() {
                        self.last = bytemuck::pod_read_unaligned(&bytes);
                    }
                    staging.unmap();
                    state.store(FREE, Ordering::Release);
                }
                _ => {}
            }
        }
    }
}
