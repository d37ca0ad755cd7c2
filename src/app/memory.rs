//! What the process and the GPU hold over time, for `--stats`: a leak shows as a slope.

use crate::{Result, gpu::Gpu, output};
use serde_json::{Value, json};
use std::{
    path::Path,
    time::{Duration, Instant},
};

/// Between two samples.
const INTERVAL: Duration = Duration::from_secs(2);

/// A log of samples.
#[derive(Debug)]
pub(super) struct MemoryLog {
    start: Instant,
    samples: Vec<Value>,
    next: Instant,
}

impl MemoryLog {
    pub(super) fn new() -> Self {
        Self {
            start: Instant::now(),
            samples: Vec::new(),
            next: Instant::now(),
        }
    }

    /// Takes a sample where it is time for one.
    pub(super) fn tick(&mut self, gpu: &Gpu, frames: u64, scenes: u64) {
        if Instant::now() < self.next {
            return;
        }
        self.next = Instant::now() + INTERVAL;
        let report = gpu.device.generate_allocator_report();
        self.samples.push(json!({
            "seconds": self.start.elapsed().as_secs_f64(),
            "frames": frames,
            "scenes": scenes,
            "process_bytes": resident_bytes(),
            "gpu_bytes": report.map(|report| report.total_allocated_bytes),
        }));
    }

    /// Writes what was logged, and how many frames and scenes there were.
    pub(super) fn write(&self, path: &Path, frames: u64, scenes: u64) -> Result<()> {
        let report = json!({"frames": frames, "scenes": scenes, "memory": self.samples});
        output::write(path, format!("{report:#}\n").as_bytes())
    }
}

/// Memory of this process that is not swapped out, where the system tells.
fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib << 10)
}
