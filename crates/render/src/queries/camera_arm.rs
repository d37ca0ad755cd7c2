//! The arm of a camera that orbits: how far it reaches from its pivot before a surface is in the way, by the
//! trees of the last frame. As `walk`, it is asked for between frames.

use super::answer::Answer;
use crate::upload::scene_state::UploadedScene;
use canopy_bvh::{
    Result,
    accel::{Contact, Objects, Queries, Search, Sweep, Sweeps},
    gpu::{Gpu, Needs},
};
use glam::Vec3;
use std::time::Duration;

/// Words of a [`Contact`].
const WORDS: usize = size_of::<Contact>() / 4;

/// The question and its answer.
#[derive(Debug)]
pub struct CameraArm {
    sweeps: Sweeps,
    sweep: Queries<Sweep>,
    contact: wgpu::Buffer,
    answer: Answer<WORDS>,
}

impl CameraArm {
    /// Ready to be compiled.
    pub fn new(gpu: &Gpu) -> Self {
        use wgpu::BufferUsages as Usage;
        let buffer = |label, bytes: usize, usage| gpu.buffer(label, bytes as u64, Usage::STORAGE | usage);
        Self {
            sweeps: Sweeps::new(gpu),
            sweep: Queries::of_buffer(buffer("camera_arm.sweep", size_of::<Sweep>(), Usage::COPY_DST), 1),
            contact: buffer("camera_arm.contact", size_of::<Contact>(), Usage::COPY_SRC),
            answer: Answer::new(gpu, "camera_arm.answer"),
        }
    }

    /// What it compiles.
    pub fn needs(&self, needs: &mut Needs) {
        self.sweeps.needs(Objects::Triangles, needs);
    }

    /// Whether an answer is still to come.
    pub fn is_under_way(&self) -> bool {
        self.answer.is_under_way()
    }

    /// Asks how far a ball of this radius gets from `pivot` towards `eye`, both in the world, unless an
    /// answer is still to come.
    ///
    /// # Errors
    ///
    /// Those of compiling the kernel, where it was not compiled before.
    pub fn ask(
        &mut self,
        gpu: &Gpu,
        scene: &UploadedScene,
        [pivot, eye]: [Vec3; 2],
        radius: f32,
    ) -> Result<()> {
        if self.is_under_way() {
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

    /// The share of the way that is free, if the answer comes within `wait`.
    pub fn answer(&mut self, gpu: &Gpu, wait: Duration) -> Option<f32> {
        let words = self.answer.take(gpu, wait)?;
        Some(bytemuck::cast::<_, Contact>(words).t)
    }
}
