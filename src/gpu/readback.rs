//! Numbers that the GPU counts and the CPU learns some frames later, without a wait.

use super::device::Gpu;
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
    slots: Vec<Slot>,
    /// Copies recorded so far.
    recorded: u64,
    last: [u32; N],
}

#[derive(Debug)]
struct Slot {
    staging: wgpu::Buffer,
    state: Arc<AtomicU32>,
    /// Number of the copy that it holds.
    number: u64,
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
            slots: (0..SLOTS)
                .map(|_| Slot {
                    staging: staging(),
                    state: Arc::default(),
                    number: 0,
                })
                .collect(),
            recorded: 0,
            last: [0; N],
        }
    }

    /// The last values that have come back.
    pub fn last(&self) -> [u32; N] {
        self.last
    }

    /// The number that the next copy gets.
    pub fn next(&self) -> u64 {
        self.recorded
    }

    /// Copies the counts as they stand in `buffer`; false where all copies are still under way.
    pub fn record(&mut self, encoder: &mut wgpu::CommandEncoder, buffer: &wgpu::Buffer) -> bool {
        let free = |slot: &&mut Slot| slot.state.load(Ordering::Acquire) == FREE;
        let Some(slot) = self.slots.iter_mut().find(free) else {
            return false;
        };
        encoder.copy_buffer_to_buffer(buffer, 0, &slot.staging, 0, 4 * N as u64);
        slot.state.store(RECORDED, Ordering::Release);
        slot.number = self.recorded;
        self.recorded += 1;
        true
    }

    /// Takes back the copies that were recorded since the last collection: they are not going to be submitted.
    pub fn withdraw(&mut self) {
        for slot in &self.slots {
            if slot.state.load(Ordering::Acquire) == RECORDED {
                slot.state.store(FREE, Ordering::Release);
            }
        }
    }

    /// After the submission: maps the copies that were recorded, and collects those that have arrived.
    pub fn collect(&mut self) {
        self.collect_each(|_, _| {});
    }

    /// As [`Counters::collect`], and hands out the number and the words of each that has arrived, in the
    /// order of recording.
    pub fn collect_each(&mut self, mut arrived: impl FnMut(u64, [u32; N])) {
        self.slots.sort_by_key(|slot| slot.number);
        for Slot {
            staging,
            state,
            number,
        } in &self.slots
        {
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
                        arrived(*number, self.last);
                    }
                    staging.unmap();
                    state.store(FREE, Ordering::Release);
                }
                _ => {}
            }
        }
    }
}
