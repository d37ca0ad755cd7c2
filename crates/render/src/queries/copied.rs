//! Asynchronous readback of buffers.

use canopy_bvh::{Error, Result, gpu::Gpu};
use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

const PENDING: u32 = 0;
const READY: u32 = 1;
const FAILED: u32 = 2;

/// Pending readback of copied buffers.
#[derive(Debug)]
pub(crate) struct PendingCopy {
    label: &'static str,
    staging: wgpu::Buffer,
    state: Arc<AtomicU32>,
}

impl PendingCopy {
    /// Records the copy of the given number of bytes from the beginning of each buffer, one after another.
    pub(crate) fn record(
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        label: &'static str,
        parts: &[(&wgpu::Buffer, u64)],
    ) -> Result<Self> {
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let bytes = parts.iter().map(|(_, bytes)| bytes).sum();
        let staging = gpu.catch(|| gpu.buffer(label, bytes, usage))?;
        let mut to = 0;
        for (buffer, bytes) in parts.iter().filter(|(_, bytes)| *bytes > 0) {
            encoder.copy_buffer_to_buffer(buffer, 0, &staging, to, *bytes);
            to += bytes;
        }
        Ok(Self {
            label,
            staging,
            state: Arc::default(),
        })
    }

    /// Requests the mapping of the staging buffer. Call it after the submission.
    pub(crate) fn map(&self) {
        let state = self.state.clone();
        let told = move |result: std::result::Result<(), wgpu::BufferAsyncError>| {
            let arrived = if result.is_ok() { READY } else { FAILED };
            state.store(arrived, Ordering::Release);
        };
        self.staging.slice(..).map_async(wgpu::MapMode::Read, told);
    }

    /// True if the copy has arrived or has failed. Poll the device meanwhile.
    pub(crate) fn is_done(&self) -> bool {
        self.state.load(Ordering::Acquire) != PENDING
    }

    /// Returns the result of `read` for the bytes.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`] if they have not arrived.
    pub(crate) fn read<T>(&self, read: impl FnOnce(&[u8]) -> T) -> Result<T> {
        let missing = || Error::Gpu(format!("{} could not be read back", self.label));
        if self.state.load(Ordering::Acquire) != READY {
            return Err(missing());
        }
        let mapped = self.staging.slice(..).get_mapped_range();
        let mapped = mapped.map_err(|_| missing())?;
        Ok(read(&mapped))
    }
}
