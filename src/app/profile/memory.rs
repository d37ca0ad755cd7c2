//! Memory of the process and of the GPU over time, for `--stats`. A leak appears as a slope.
//!
//! An entry holds the maximum since the previous entry. If the window's size changed between entries, a
//! single sample would depend on the size at that moment.

use crate::{Result, gpu::Gpu, output, profile::memory::Memory};
use serde_json::{Value, json};
use std::{
    path::Path,
    time::{Duration, Instant},
};

/// Interval between two entries.
const INTERVAL: Duration = Duration::from_secs(2);

/// Log of memory use.
#[derive(Debug)]
pub(in crate::app) struct MemoryLog {
    start: Instant,
    samples: Vec<Value>,
    next: Instant,
    /// Maximum since the last entry.
    peak: Memory,
}

impl MemoryLog {
    pub(in crate::app) fn new() -> Self {
        Self {
            start: Instant::now(),
            samples: Vec::new(),
            next: Instant::now(),
            peak: Memory::default(),
        }
    }

    /// Measures, and adds an entry if one is due. Must be called once per frame.
    pub(in crate::app) fn tick(&mut self, gpu: &Gpu, frames: u64, scenes: u64) {
        self.peak = self.peak.max(&Memory::now(gpu));
        if Instant::now() < self.next {
            return;
        }
        self.next = Instant::now() + INTERVAL;
        let peak = std::mem::take(&mut self.peak);
        self.samples.push(json!({
            "seconds": self.start.elapsed().as_secs_f64(),
            "frames": frames,
            "scenes": scenes,
            "process_bytes": peak.process_bytes,
            "gpu_bytes": peak.gpu_total(),
            "gpu_bytes_by_kind": peak.kinds_json(),
        }));
    }

    /// Writes the log with the numbers of frames and scenes.
    pub(in crate::app) fn write(&self, path: &Path, frames: u64, scenes: u64) -> Result<()> {
        let report = json!({"frames": frames, "scenes": scenes, "memory": self.samples});
        output::write(path, format!("{report:#}\n").as_bytes())
    }
}
