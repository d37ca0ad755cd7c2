//! Counters that the GPU writes and the CPU reads some frames later, without waiting.

use super::device::Gpu;
use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

/// Maximum number of copies in flight, which is more than the frames in a queue.
const SLOTS: usize = 4;

const FREE: u32 = 0;
/// The copy is recorded, submitted or being mapped.
const UNDER_WAY: u32 = 1;
const READY: u32 = 2;

/// Readback of the first `N` words of a buffer.
#[derive(Debug)]
pub struct Counters<const N: usize> {
    slots: Vec<Slot>,
    /// Number of copies recorded so far.
    recorded: u64,
    last: [u32; N],
}

#[derive(Debug)]
struct Slot {
    staging: wgpu::Buffer,
    state: Arc<AtomicU32>,
    /// Number of the copy in this slot.
    number: u64,
}

/// Copy in flight. Commands that are never submitted drop it, which frees its slot.
struct Ticket {
    state: Arc<AtomicU32>,
    has_arrived: bool,
}

impl Ticket {
    /// Ends the copy, which has arrived or failed.
    fn end(mut self, has_arrived: bool) {
        self.has_arrived = has_arrived;
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        // The only store that ends UNDER_WAY. If the arrival were stored earlier, the slot could be in use
        // again by now, because callbacks run on any thread that polls the device.
        let state = if self.has_arrived { READY } else { FREE };
        self.state.store(state, Ordering::Release);
    }
}

impl<const N: usize> Counters<N> {
    /// Creates counters with this label.
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

    /// Returns the last values that have come back.
    pub fn last(&self) -> [u32; N] {
        self.last
    }

    /// Returns the sequence number of the copy that `record` will add next.
    pub fn next(&self) -> u64 {
        self.recorded
    }

    /// Records a copy of the counters in `buffer`, which runs when `encoder` is submitted. Returns false if
    /// all slots are in flight.
    pub fn record(&mut self, encoder: &mut wgpu::CommandEncoder, buffer: &wgpu::Buffer) -> bool {
        let free = |slot: &&mut Slot| slot.state.load(Ordering::Acquire) == FREE;
        let Some(slot) = self.slots.iter_mut().find(free) else {
            return false;
        };
        encoder.copy_buffer_to_buffer(buffer, 0, &slot.staging, 0, 4 * N as u64);
        slot.state.store(UNDER_WAY, Ordering::Release);
        slot.number = self.recorded;
        self.recorded += 1;
        let ticket = Ticket {
            state: slot.state.clone(),
            has_arrived: false,
        };
        encoder.map_buffer_on_submit(&slot.staging, wgpu::MapMode::Read, .., move |result| {
            ticket.end(result.is_ok());
        });
        true
    }

    /// Collects the copies that have arrived. It never waits, so the device must be polled elsewhere.
    pub fn collect(&mut self) {
        self.collect_each(|_, _| {});
    }

    /// Collects like [`Counters::collect`], and calls `arrived` with the number and the words of each copy,
    /// in the order of recording.
    pub fn collect_each(&mut self, mut arrived: impl FnMut(u64, [u32; N])) {
        self.slots.sort_by_key(|slot| slot.number);
        for slot in &self.slots {
            if slot.state.load(Ordering::Acquire) != READY {
                continue;
            }
            if let Ok(bytes) = slot.staging.slice(..4 * N as u64).get_mapped_range() {
                for (last, word) in self.last.iter_mut().zip(bytes.chunks_exact(4)) {
                    *last = bytemuck::pod_read_unaligned(word);
                }
                arrived(slot.number, self.last);
            }
            slot.staging.unmap();
            slot.state.store(FREE, Ordering::Release);
        }
    }
}
