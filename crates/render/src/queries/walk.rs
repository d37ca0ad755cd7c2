//! `walk`: a walking character in the scene, which collides with the BVHs of the last frame.
//!
//! A step of the simulation is queried between frames and does not affect the frame. BVHs stay as they are
//! until the next build, so the character sees animated geometry one frame late. One query is pending at a
//! time. The caller waits for its result only as long as a window can spare. Results that take longer are
//! picked up when they arrive.

use super::answer::PendingQuery;
use crate::{
    bindings::Layouts,
    layout::{WALK_STEPS, WalkParams, WalkState},
    upload::scene_state::UploadedScene,
};
use canopy_bvh::{
    Result,
    accel::layout::BVH_MISS,
    gpu::{
        Bind, Gpu, Kernel, PipelineSet, Recorder, Uniform as UniformBuffer, Workgroups,
        pass::Binding::{Read, Uniform, Write},
    },
};
use std::time::Duration;

/// Longest time step in seconds.
const LONGEST_STEP_SECS: f32 = 1.0 / 60.0;

/// Height of the character in metres, low enough for most doors. All other lengths scale with it.
pub const PERSON_HEIGHT: f32 = 1.8;
/// Height of the eyes in metres.
pub const EYE_HEIGHT: f32 = 1.65;
const RADIUS: f32 = 0.3;
const RISE: f32 = 0.35;
const SKIN: f32 = 0.01;
const GRAVITY: f32 = 9.81;
/// Speed of a jump half a metre high, in metres per second.
const JUMP: f32 = 3.1;
/// Acceleration of the character in metres per second squared. It reaches its speed within one or two tenths
/// of a second.
const ACCELERATION: f32 = 25.0;
/// Steepest slope that can be walked on, in degrees.
const SLOPE_DEGREES: f32 = 50.0;
/// Value of [`WalkParams::floor`] without a ground plane.
pub const NO_FLOOR: f32 = -1e30;

/// Number of words of a [`WalkState`].
const WORDS: usize = size_of::<WalkState>() / 4;

/// Pass that simulates the walking character.
#[derive(Debug)]
pub struct Walk {
    walk: Kernel,
    start: Kernel,
    params: UniformBuffer<WalkParams>,
    state: wgpu::Buffer,
    answer: PendingQuery<WORDS>,
}

/// Returns the parameters that depend only on the character's height, at rest in the air at the origin.
pub fn params_for_height(height: f32) -> WalkParams {
    let scale = height / PERSON_HEIGHT;
    WalkParams {
        height,
        radius: RADIUS * scale,
        step_height: RISE * scale,
        skin: SKIN * scale,
        gravity: GRAVITY * scale,
        acceleration: ACCELERATION * scale,
        walkable: SLOPE_DEGREES.to_radians().cos(),
        floor: NO_FLOOR,
        ground_triangle: BVH_MISS,
        leaf_cutoff: 1,
        ..WalkParams::default()
    }
}

/// Returns the jump speed of a character of this height.
pub fn jump_speed(height: f32) -> f32 {
    JUMP * height / PERSON_HEIGHT
}

/// Returns `params` with the values of `state`, so that the next simulation continues from it.
pub fn from_state(params: WalkParams, state: &WalkState) -> WalkParams {
    WalkParams {
        position: state.position,
        velocity: state.velocity,
        is_grounded: state.is_grounded,
        ground_triangle: state.ground_triangle,
        ground_point: state.ground_point,
        ground_weights: state.ground_weights,
        ..params
    }
}

/// Collision geometry of the character: the deformed triangles and their BVHs.
#[derive(Debug, Clone, Copy)]
pub struct CollisionGeometry<'a> {
    /// Bind group of [`Layouts::tree`].
    pub trees: &'a wgpu::BindGroup,
    /// Vertex positions, three floats each.
    pub positions: &'a wgpu::Buffer,
    /// Triangles, three vertex indices each.
    pub indices: &'a wgpu::Buffer,
}

impl<'a> From<&'a UploadedScene> for CollisionGeometry<'a> {
    fn from(scene: &'a UploadedScene) -> Self {
        let buffers = &scene.buffers;
        Self {
            trees: &buffers.tree_group,
            positions: buffers.positions.buffer(),
            indices: buffers.indices.buffer(),
        }
    }
}

/// Returns the number of time steps for `elapsed_secs`, at most [`WALK_STEPS`], and the length of each in
/// seconds. Because of the limit, the character walks on slowly after a stall instead of jumping through
/// obstacles.
pub fn steps(elapsed_secs: f32) -> (u32, f32) {
    // NaN counts as no time passed.
    let elapsed = elapsed_secs.max(0.0);
    let steps = (elapsed / LONGEST_STEP_SECS).ceil().min(WALK_STEPS as f32);
    (steps as u32, (elapsed / steps.max(1.0)).min(LONGEST_STEP_SECS))
}

impl Walk {
    /// Creates the pass without compiling it.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        let bindings = [Uniform, Read, Read, Write];
        let kernel = |entry| Kernel::new(gpu, "inspect/walk.wgsl", entry, &[(1, &layouts.tree)], &bindings);
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
        Self {
            walk: kernel("walk"),
            start: kernel("walk_start"),
            params: UniformBuffer::new(gpu, "walk.params"),
            state: gpu.buffer("walk.state", size_of::<WalkState>() as u64, usage),
            answer: PendingQuery::new(gpu, "walk.answer"),
        }
    }

    /// Adds its pipelines.
    pub fn pipelines(&self, set: &mut PipelineSet) {
        self.walk.pipelines(set);
        self.start.pipelines(set);
    }

    /// True if an answer is pending.
    pub fn is_pending(&self) -> bool {
        self.answer.is_pending()
    }

    /// Records and submits a simulation from the state in `params`, unless one is pending. If `start` is
    /// true, finds a starting point instead.
    ///
    /// # Errors
    ///
    /// Any error of compiling the kernels, if they have not been compiled before.
    pub fn submit(
        &mut self,
        gpu: &Gpu,
        walked: CollisionGeometry<'_>,
        params: &WalkParams,
        start: bool,
    ) -> Result<()> {
        if self.is_pending() {
            return Ok(());
        }
        let kernel = if start { &self.start } else { &self.walk };
        let mut encoder = gpu.encoder("walk");
        let own: [&dyn Bind; 4] = [&self.params, walked.positions, walked.indices, &self.state];
        let mut pass = encoder.scoped_compute_pass("walk");
        let shared = [(1, walked.trees)];
        kernel.dispatch(gpu, &mut pass, &shared, &own, Workgroups::Count(1))?;
        drop(pass);
        self.params.write(gpu, params);
        self.answer.submit(gpu, encoder, &self.state);
        Ok(())
    }

    /// Returns the state, if the result arrives within `wait`.
    pub fn answer(&mut self, gpu: &Gpu, wait: Duration) -> Option<WalkState> {
        self.answer.take(gpu, wait).map(bytemuck::cast)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_frames_are_split_into_several_steps() {
        assert_eq!(steps(0.0), (0, 0.0));
        assert_eq!(steps(0.01), (1, 0.01));
        let (count, secs) = steps(0.1);
        assert!(count == 6 || count == 7, "{count}");
        assert!((count as f32 * secs - 0.1).abs() < 1e-6 && secs <= LONGEST_STEP_SECS);
        for (elapsed, count) in [
            (9.0, WALK_STEPS),
            (f32::INFINITY, WALK_STEPS),
            (-1.0, 0),
            (f32::NAN, 0),
        ] {
            let (steps, secs) = steps(elapsed);
            assert!(
                steps == count && (0.0..=LONGEST_STEP_SECS).contains(&secs),
                "{elapsed}"
            );
        }
    }
}
