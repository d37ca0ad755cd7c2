//! The arm of an orbiting camera: its length from the pivot to the first obstructing surface, found in the
//! BVHs of the last frame. Like `walk`, it is queried between frames.

use super::answer::PendingQuery;
use crate::upload::scene_state::UploadedScene;
use canopy_bvh::{
    Result,
    accel::{Contact, Objects, Queries, Search, Sweep, Sweeps},
    gpu::{Gpu, PipelineSet},
};
use glam::Vec3;
use std::time::Duration;

/// Number of words of a [`Contact`].
const WORDS: usize = size_of::<Contact>() / 4;

/// Query for the length of the camera arm, and its answer.
#[derive(Debug)]
pub struct CameraArm {
    sweeps: Sweeps,
    sweep: Queries<Sweep>,
    contact: wgpu::Buffer,
    answer: PendingQuery<WORDS>,
}

impl CameraArm {
    /// Creates the query without compiling it.
    pub fn new(gpu: &Gpu) -> Self {
        use wgpu::BufferUsages as Usage;
        let buffer = |label, bytes: usize, usage| gpu.buffer(label, bytes as u64, Usage::STORAGE | usage);
        Self {
            sweeps: Sweeps::new(gpu),
            sweep: Queries::from_buffer(buffer("camera_arm.sweep", size_of::<Sweep>(), Usage::COPY_DST), 1),
            contact: buffer("camera_arm.contact", size_of::<Contact>(), Usage::COPY_SRC),
            answer: PendingQuery::new(gpu, "camera_arm.answer"),
        }
    }

    /// Adds its pipelines.
    pub fn pipelines(&self, set: &mut PipelineSet) {
        self.sweeps.pipelines(Objects::Triangles, set);
    }

    /// True if an answer is pending.
    pub fn is_pending(&self) -> bool {
        self.answer.is_pending()
    }

    /// Queries how far a sphere of `radius` moves from `pivot` towards `eye`, both in world space, unless an
    /// answer is pending.
    ///
    /// # Errors
    ///
    /// Any error of compiling the kernel, if it has not been compiled before.
    pub fn submit(
        &mut self,
        gpu: &Gpu,
        scene: &UploadedScene,
        [pivot, eye]: [Vec3; 2],
        radius: f32,
    ) -> Result<()> {
        if self.is_pending() {
            return Ok(());
        }
        let center = (pivot - scene.buffers.origin).to_array();
        let sweep = Sweep {
            a: center,
            b: center,
            radius,
            motion: (eye - pivot).to_array(),
            ..Sweep::default()
        };
        let mut encoder = gpu.encoder("camera_arm");
        let search = Search::new(&scene.state.tree);
        let (asked, found) = (&self.sweep, &self.contact);
        self.sweeps.record(gpu, &mut encoder, &search, asked, found)?;
        let bytes = bytemuck::bytes_of(&sweep);
        gpu.queue.write_buffer(&self.sweep.buffer, 0, bytes);
        self.answer.submit(gpu, encoder, &self.contact);
        Ok(())
    }

    /// Returns the free fraction of the way from pivot to eye, if the answer arrives within `wait`.
    pub fn answer(&mut self, gpu: &Gpu, wait: Duration) -> Option<f32> {
        let words = self.answer.take(gpu, wait)?;
        Some(bytemuck::cast::<_, Contact>(words).t)
    }
}
