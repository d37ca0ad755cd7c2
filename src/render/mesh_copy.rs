//! The deformed vertices of one mesh, read back without a wait.

use super::scene_buffers::SceneBuffers;
use crate::{Error, Result, gpu::Gpu};
use glam::Vec3;
use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

const PENDING: u32 = 0;
const READY: u32 = 1;
const FAILED: u32 = 2;

/// A copy of a mesh's vertices that is under way.
#[derive(Debug)]
pub struct MeshCopy {
    staging: wgpu::Buffer,
    bytes: u64,
    origin: Vec3,
    state: Arc<AtomicU32>,
}

impl MeshCopy {
    /// Records the copy; `None` where there is no such mesh.
    pub(super) fn record(
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        buffers: &SceneBuffers,
        mesh: usize,
    ) -> Result<Option<Self>> {
        let Some(range) = buffers.meshes.get(mesh) else {
            return Ok(None);
        };
        let next = buffers.meshes.get(mesh + 1);
        let end = next.map_or(buffers.vertex_count, |next| next.first_vertex);
        let bytes = 12 * u64::from(end.saturating_sub(range.first_vertex));
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let staging = gpu.catch(|| gpu.buffer("mesh_copy", bytes, usage))?;
        if bytes > 0 {
            let first = 12 * u64::from(range.first_vertex);
            encoder.copy_buffer_to_buffer(&buffers.positions, first, &staging, 0, bytes);
        }
        Ok(Some(Self {
            staging,
            bytes,
            origin: buffers.origin,
            state: Arc::default(),
        }))
    }

    /// Asks for the copy, once it has been submitted.
    pub fn map(&self) {
        let state = self.state.clone();
        let told = move |result: std::result::Result<(), wgpu::BufferAsyncError>| {
            let arrived = if result.is_ok() { READY } else { FAILED };
            state.store(arrived, Ordering::Release);
        };
        self.staging.slice(..).map_async(wgpu::MapMode::Read, told);
    }

    /// Whether it has arrived, or never will. The device has to be polled meanwhile.
    pub fn is_done(&self) -> bool {
        self.state.load(Ordering::Acquire) != PENDING
    }

    /// World positions of the vertices, primitive after primitive.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`] where they have not arrived.
    pub fn read(&self) -> Result<Vec<Vec3>> {
        let missing = || Error::Gpu("the vertices of a mesh could not be read back".into());
        if self.state.load(Ordering::Acquire) != READY {
            return Err(missing());
        }
        let mapped = self.staging.slice(..).get_mapped_range();
        let mapped = mapped.map_err(|_| missing())?;
        let positions: Vec<[f32; 3]> = bytemuck::pod_collect_to_vec(&mapped[..self.bytes as usize]);
        Ok(positions
            .into_iter()
            .map(|position| self.origin + Vec3::from(position))
            .collect())
    }
}
