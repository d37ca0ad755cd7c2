//! Asynchronous readback of deformed vertices and their triangles, of one mesh or of the entire scene.

use crate::upload::scene_buffers::SceneBuffers;
use canopy_bvh::{Error, Result, gpu::Gpu};
use glam::Vec3;
use std::{
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

const PENDING: u32 = 0;
const READY: u32 = 1;
const FAILED: u32 = 2;

/// Pending copy of vertices and triangles.
#[derive(Debug)]
pub struct GeometryCopy {
    staging: wgpu::Buffer,
    vertices: Range<u32>,
    triangles: Range<u32>,
    origin: Vec3,
    state: Arc<AtomicU32>,
}

impl GeometryCopy {
    /// Records the copy of one mesh. Returns `None` if there is no such mesh.
    pub(crate) fn of_mesh(
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
        let vertices = range.first_vertex..end.max(range.first_vertex);
        let triangles = range.first_triangle..range.first_triangle + range.triangle_count;
        Self::record(gpu, encoder, buffers, vertices, triangles).map(Some)
    }

    /// Records a copy of the entire scene.
    pub(crate) fn of_scene(
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        buffers: &SceneBuffers,
    ) -> Result<Self> {
        let (vertices, triangles) = (0..buffers.vertex_count, 0..buffers.triangle_count);
        Self::record(gpu, encoder, buffers, vertices, triangles)
    }

    fn record(
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        buffers: &SceneBuffers,
        vertices: Range<u32>,
        triangles: Range<u32>,
    ) -> Result<Self> {
        // Vertices and triangles take three words each.
        let [vertex_bytes, triangle_bytes] = [&vertices, &triangles].map(|r| 12 * r.len() as u64);
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let bytes = vertex_bytes + triangle_bytes;
        let staging = gpu.catch(|| gpu.buffer("geometry_copy", bytes, usage))?;
        for (buffer, first, to, bytes) in [
            (buffers.positions.buffer(), vertices.start, 0, vertex_bytes),
            (
                buffers.indices.buffer(),
                triangles.start,
                vertex_bytes,
                triangle_bytes,
            ),
        ] {
            if bytes > 0 {
                encoder.copy_buffer_to_buffer(buffer, 12 * u64::from(first), &staging, to, bytes);
            }
        }
        Ok(Self {
            staging,
            vertices,
            triangles,
            origin: buffers.origin,
            state: Arc::default(),
        })
    }

    /// Requests the mapping of the staging buffer. Call it after the submission.
    pub fn map(&self) {
        let state = self.state.clone();
        let told = move |result: std::result::Result<(), wgpu::BufferAsyncError>| {
            let arrived = if result.is_ok() { READY } else { FAILED };
            state.store(arrived, Ordering::Release);
        };
        self.staging.slice(..).map_async(wgpu::MapMode::Read, told);
    }

    /// True if the copy has arrived or has failed. Poll the device meanwhile.
    pub fn is_done(&self) -> bool {
        self.state.load(Ordering::Acquire) != PENDING
    }

    /// Returns the world positions of the vertices, and the triangles as indices into them.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`] if they have not arrived.
    pub fn read(&self) -> Result<(Vec<Vec3>, Vec<[u32; 3]>)> {
        let missing = || Error::Gpu("deformed vertices could not be read back".into());
        if self.state.load(Ordering::Acquire) != READY {
            return Err(missing());
        }
        let mapped = self.staging.slice(..).get_mapped_range();
        let mapped = mapped.map_err(|_| missing())?;
        let (positions, rest) = mapped.split_at(12 * self.vertices.len());
        let positions: Vec<[f32; 3]> = bytemuck::pod_collect_to_vec(positions);
        let triangles: Vec<[u32; 3]> = bytemuck::pod_collect_to_vec(&rest[..12 * self.triangles.len()]);
        let first = self.vertices.start;
        Ok((
            positions
                .into_iter()
                .map(|position| self.origin + Vec3::from(position))
                .collect(),
            triangles
                .into_iter()
                .map(|triangle| triangle.map(|vertex| vertex - first))
                .collect(),
        ))
    }
}
