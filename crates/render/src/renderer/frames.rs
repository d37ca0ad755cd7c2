//! Life of a frame: it is recorded, then committed or dropped, submitted in parts, and its results are read
//! back.

use super::LastFrame;
use crate::{
    Renderer, SceneBuffers, UploadedScene,
    ambient::{occlusion::Occlusion, occlusion_rays},
    aov::Channel,
    fog::{self, Fog},
    frame::{
        self, FrameInput, FrameSetup, Integrator,
        frame_sample::FrameSample,
        life_cycle::LifeCycle,
        recording::{FRAME_SCOPE, Part, RayTiming, Recording},
    },
    geometry::tree_policy::TreePlan,
    present::temporal::Temporal,
    reflections::Reflections,
    settings::Settings,
    shadows::{Shadows, shadow_rays},
    stats::{FrameStats, Noise},
    volumes,
};
use canopy_bvh::{
    Result,
    gpu::{Gpu, PipelineSet, image, lazy_pipeline::collect, profiler::TimedFrame},
};
use canopy_scene::{Pose, Scene};
use std::sync::Arc;

/// Outcome of recording a frame without compiling pipelines.
#[derive(Debug)]
pub enum Attempt {
    /// Complete frame. The encoder holds its last part, for [`Renderer::finish`].
    Whole(wgpu::CommandEncoder),
    /// Nothing was recorded, because these pipelines have to be compiled first.
    Missing(PipelineSet),
}

/// Recorded frame before its commit.
#[derive(Debug)]
struct DrawnFrame {
    last: LastFrame,
    /// Number of earlier frames of the same scene with the same settings.
    number: u32,
    sampled: u32,
    /// Scene, size and settings, if this is the first frame with them.
    begins: Option<(u64, [u32; 2], Settings)>,
    /// All parts but the last.
    parts: Vec<Part>,
    cpu_record_ms: f64,
    /// Number of pixels that passes lit, filtered or covered.
    pixels: u64,
    occlusion_rays: u64,
    lights: u32,
    plan: TreePlan,
}

impl Renderer {
    /// Records a frame of `scene` into `target`, a view of a non-sRGB 8-bit format. The written values are
    /// already sRGB-encoded. Compiles the pipelines that it needs. Returns the encoder of the last part, for
    /// [`Renderer::submit`].
    ///
    /// # Errors
    ///
    /// Any error of compiling, [`canopy_bvh::Error::Gpu`] if the adapter is out of memory, or
    /// [`canopy_bvh::Error::Limit`] if the picture is too large.
    pub fn record(
        &mut self,
        gpu: &Gpu,
        input: &FrameInput<'_>,
        scene: &mut UploadedScene,
        target: &wgpu::TextureView,
    ) -> Result<wgpu::CommandEncoder> {
        self.record_sample(gpu, input, scene, FrameSample::SINGLE, target)
    }

    /// Records one of the frames whose mean is the lit picture, like [`Renderer::record`]. The last one draws
    /// to `target`.
    ///
    /// # Errors
    ///
    /// Any error of [`Renderer::record`].
    pub fn record_sample(
        &mut self,
        gpu: &Gpu,
        input: &FrameInput<'_>,
        scene: &mut UploadedScene,
        sample: FrameSample,
        target: &wgpu::TextureView,
    ) -> Result<wgpu::CommandEncoder> {
        loop {
            match self.record_compiled(gpu, input, scene, sample, target)? {
                Attempt::Whole(encoder) => return Ok(encoder),
                Attempt::Missing(set) => set.compile(gpu)?,
            }
        }
    }

    /// Records a frame like [`Renderer::record_sample`] if all pipelines that it needs are compiled.
    /// Otherwise it records nothing.
    ///
    /// # Errors
    ///
    /// Any error of [`Renderer::record`].
    pub fn record_compiled(
        &mut self,
        gpu: &Gpu,
        input: &FrameInput<'_>,
        scene: &mut UploadedScene,
        sample: FrameSample,
        target: &wgpu::TextureView,
    ) -> Result<Attempt> {
        let (encoder, recorded, set) = self.attempt(gpu, input, scene, sample, target);
        match recorded {
            Ok(drawn) if set.is_empty() => {
                self.commit(drawn, scene);
                Ok(Attempt::Whole(encoder))
            }
            dropped => {
                self.abort(gpu, scene)?;
                dropped.map(|_| Attempt::Missing(set))
            }
        }
    }

    /// Returns the pipelines that have to be compiled before this frame is recorded.
    ///
    /// # Errors
    ///
    /// Any error of [`Renderer::record`] except errors of compiling.
    pub fn missing(
        &mut self,
        gpu: &Gpu,
        input: &FrameInput<'_>,
        scene: &mut UploadedScene,
        sample: FrameSample,
        target: &wgpu::TextureView,
    ) -> Result<PipelineSet> {
        let (_, recorded, set) = self.attempt(gpu, input, scene, sample, target);
        self.abort(gpu, scene)?;
        recorded.map(|_| set)
    }

    /// Records a frame without compiling, and collects the missing pipelines.
    fn attempt(
        &mut self,
        gpu: &Gpu,
        input: &FrameInput<'_>,
        scene: &mut UploadedScene,
        sample: FrameSample,
        target: &wgpu::TextureView,
    ) -> (wgpu::CommandEncoder, Result<DrawnFrame>, PipelineSet) {
        let mut encoder = gpu.encoder(FRAME_SCOPE);
        let frame = || self.record_frame(gpu, &mut encoder, input, scene, sample, target);
        let (recorded, set) = collect(frame);
        (encoder, recorded, set)
    }

    /// Records a frame into `encoder`, and returns the state after the frame.
    fn record_frame(
        &mut self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        input: &FrameInput<'_>,
        scene: &mut UploadedScene,
        sample: FrameSample,
        target: &wgpu::TextureView,
    ) -> Result<DrawnFrame> {
        scene.make_room_for_lights(gpu, &self.uploader.layouts, input.scene)?;
        let UploadedScene { buffers, state } = scene;
        let config = frame::drawn_settings(gpu, input);
        let input = &FrameInput {
            config: &config,
            ..*input
        };
        let (integrator, sample) = match frame::is_path_traced(&config, input.channel) {
            true => (self.paths_to_add(), FrameSample::SINGLE),
            false => (Integrator::Hybrid, sample),
        };
        let is_hybrid = matches!(integrator, Integrator::Hybrid);
        // Until this frame is recorded completely, there is none to read back.
        self.before = self.last.take();
        self.parts.clear();
        self.passes.begin();
        frame::check_size(gpu, input.size)?;
        let shown = image::size_of_view(target);
        let rows = most_rows(input, buffers, shown);
        self.row_offsets.fit(gpu, rows)?;
        // Sampling restarts with other settings, so that the same settings give the same picture.
        let of = (buffers.version, input.size, input.config);
        let are_of = self.frames_are_of.as_ref();
        let continues = are_of.is_some_and(|(version, size, config)| (*version, *size, config) == of);
        let begins = (!continues).then(|| (of.0, of.1, of.2.clone()));
        let number = if continues { self.frames } else { 0 };
        let sampled = self.sample_index_override.unwrap_or(number);
        let (profiler, row_offsets) = (&self.profiler, &self.row_offsets);
        let mut recording = Recording::new(gpu, profiler, row_offsets, FRAME_SCOPE, encoder, self.budget);
        let layouts = &self.uploader.layouts;
        let spreads = self.spreads_environment;
        let prepared = FrameSetup::new(
            gpu,
            input,
            buffers,
            (integrator, sample),
            (sampled, shown),
            &self.passes.environment,
        )?;
        let frame = self.passes.prepare(&mut recording, prepared, layouts, spreads)?;
        let plan = state.update(gpu, &frame);
        self.passes.frame(&mut recording, &frame, &plan, state, target)?;
        let pixels = recording.pixels();
        let (cpu_record_ms, parts) = recording.finish();
        let [width, height] = frame.size.map(u64::from);
        Ok(DrawnFrame {
            last: LastFrame {
                group: frame.group.clone(),
                rays: frame.rays(),
                size: frame.size,
                sample,
                is_hybrid,
            },
            number,
            sampled,
            begins,
            parts,
            cpu_record_ms,
            pixels,
            occlusion_rays: width * height * u64::from(frame.occlusion_rays),
            lights: frame.lights.len() as u32,
            plan,
        })
    }

    /// Returns the path-tracing integrator with the samples that the caller requests.
    fn paths_to_add(&self) -> Integrator {
        Integrator::Paths {
            samples: self.path_part.clone(),
            added: self.path_samples,
        }
    }

    /// Commits a frame that has been recorded completely. It updates the state for the next frame.
    fn commit(&mut self, drawn: DrawnFrame, scene: &mut UploadedScene) {
        let UploadedScene { buffers, state } = scene;
        let plan = &drawn.plan;
        state.commit(plan);
        self.passes.commit();
        (self.last, self.before, self.has_dropped) = (Some(drawn.last), None, false);
        self.parts.extend(drawn.parts);
        self.recorded_pixels = drawn.pixels;
        (self.frames, self.sampled) = (drawn.number.wrapping_add(1), drawn.sampled);
        if drawn.begins.is_some() {
            self.frames_are_of = drawn.begins;
        }
        // At most this many frames are in flight. On adapters without timestamps, the entries are never
        // consumed.
        if self.occlusion_rays.len() == 16 {
            self.occlusion_rays.pop_front();
        }
        self.occlusion_rays.push_back(drawn.occlusion_rays);
        let mut stats = FrameStats {
            passes: std::mem::take(&mut self.stats.passes),
            timed_frames: self.stats.timed_frames,
            cpu_record_ms: drawn.cpu_record_ms,
            triangles: buffers.triangle_count,
            lines: buffers.line_and_point_counts[0],
            points: buffers.line_and_point_counts[1],
            vertices: buffers.vertex_count,
            meshes: buffers.meshes.len() as u32,
            lights: drawn.lights,
            ..FrameStats::default()
        };
        state.report(plan, &mut stats);
        // Until the counts of this frame are read back, these are counts of earlier frames.
        self.passes.report(&mut stats);
        self.stats = stats;
    }

    /// Undoes the recording of a frame that is dropped. The frame before stays the last one.
    fn abort(&mut self, gpu: &Gpu, scene: &mut UploadedScene) -> Result<()> {
        scene.state.abort(gpu);
        self.passes.abort();
        self.occlusion_rays.clear();
        self.has_dropped = true;
        let size = self.passes.gbuffer.output().size();
        self.last = self.before.take().filter(|last| last.size == size);
        self.profiler.abort(gpu)
    }

    /// Ends the recorded frame, whose last part `encoder` holds. [`Renderer::submit_part`] submits it.
    pub fn finish(&mut self, encoder: wgpu::CommandEncoder) {
        self.parts.push_back(Part {
            pass: FRAME_SCOPE,
            commands: self.profiler.finish(encoder),
        });
    }

    /// Submits the recorded frame and anything that the caller added to the encoder, such as the panel. Reads
    /// the statistics of earlier frames. Never waits.
    pub fn submit(&mut self, gpu: &Gpu, encoder: wgpu::CommandEncoder) {
        self.finish(encoder);
        while !self.submit_part(gpu) {}
    }

    /// Submits the next part of the frame. After the last part it reads the statistics of earlier frames and
    /// returns `true`. Never waits.
    pub fn submit_part(&mut self, gpu: &Gpu) -> bool {
        if let Some(part) = self.parts.pop_front() {
            gpu.queue.submit([part.commands]);
            if self.parts.is_empty() {
                self.profiler.end_frame();
            }
        }
        self.collect(gpu);
        self.parts.is_empty()
    }

    /// Returns the pass that the next part of the frame belongs to.
    pub fn next_part(&self) -> Option<&'static str> {
        self.parts.front().map(|part| part.pass)
    }

    /// Drops the unsubmitted parts of the last frame of `scene`, and all state that depends on them.
    ///
    /// # Errors
    ///
    /// [`canopy_bvh::Error::Gpu`] if the adapter is out of memory.
    pub fn cancel(&mut self, gpu: &Gpu, scene: &mut UploadedScene) -> Result<()> {
        if self.parts.is_empty() {
            return Ok(());
        }
        self.parts.clear();
        self.occlusion_rays.clear();
        self.last = None;
        self.frames_are_of = None;
        scene.state.invalidate();
        self.passes.invalidate();
        self.profiler.abort(gpu)
    }

    /// Drops the history, so that the next frame is like the first one of another renderer.
    pub fn reset_history(&mut self) {
        self.passes.reset();
        self.frames_are_of = None;
    }

    /// Returns the number of frames of a still picture until all temporal averages have converged.
    pub fn frames_to_converge(
        &self,
        gpu: &Gpu,
        (scene, pose): (&Scene, &Pose),
        (config, channel): (&Settings, Channel),
    ) -> u32 {
        let config = &frame::resolved_for(gpu, scene, config);
        let of_passes = [
            Shadows::frames_to_converge(scene, config),
            Occlusion::frames_to_converge(config),
            Fog::frames_to_converge(config),
            Reflections::frames_to_converge((scene, pose), config),
            Temporal::frames_to_converge(config, channel),
        ];
        of_passes.into_iter().fold(1, u32::max)
    }

    /// Returns the index that seeded the random numbers of the last frame; see
    /// [`Renderer::sample_index_override`].
    pub fn sampled(&self) -> u32 {
        self.sampled
    }

    /// Returns the number of the last frame that was submitted completely.
    pub fn submitted_frames(&self) -> u64 {
        self.profiler.ended()
    }

    /// Returns the timings that have been read back since the last call. Frames are numbered as in
    /// [`Renderer::submitted_frames`].
    pub fn take_timed(&mut self) -> impl Iterator<Item = Arc<TimedFrame>> {
        self.profiler.take_finished()
    }

    /// Reads timings and counts that have arrived, and updates the work budget from them. Does nothing while
    /// parts of a frame are still to be submitted.
    pub fn collect(&mut self, gpu: &Gpu) {
        if !self.parts.is_empty() {
            return;
        }
        self.profiler.collect(gpu);
        let timed = self.profiler.frames().saturating_sub(self.stats.timed_frames);
        self.stats.passes.clear();
        self.stats.passes.extend_from_slice(self.profiler.timings());
        self.stats.timed_frames = self.profiler.frames();
        // Until the next commit, passes describe a frame that was dropped.
        if !self.has_dropped {
            self.passes.report(&mut self.stats);
        }
        // The timings are from earlier frames.
        let mut occlusion_rays = 0;
        for _ in 0..timed {
            occlusion_rays = self.occlusion_rays.pop_front().unwrap_or(0);
        }
        if let Some(frame_ms) = self.stats.frame_ms().filter(|_| timed > 0) {
            let timed = |rays, pass| RayTiming {
                rays,
                ms: Some(self.stats.pass_ms(pass).unwrap_or(0.0)),
            };
            let shadows = timed(self.stats.rays, shadow_rays::LABEL);
            let occlusion = timed(occlusion_rays, occlusion_rays::LABEL);
            self.budget
                .update(frame_ms, shadows, occlusion, self.recorded_pixels);
        }
    }

    /// Waits for the GPU and returns the noise of the submitted picture; `None` if it was not estimated.
    pub fn read_noise(&mut self, gpu: &Gpu) -> Result<Option<Noise>> {
        gpu.wait()?;
        self.stats.noise = self.passes.present.noise.collect();
        Ok(self.stats.noise)
    }

    /// Updates the work budget from the wall-clock time of the last frame, for adapters without timestamps.
    pub fn update_budget(&mut self, frame_ms: f64) {
        let untimed = |rays| RayTiming { rays, ms: None };
        let occlusion = self.occlusion_rays.pop_back().unwrap_or(0);
        self.occlusion_rays.clear();
        let shadows = untimed(self.stats.rays);
        let pixels = self.recorded_pixels;
        self.budget.update(frame_ms, shadows, untimed(occlusion), pixels);
    }

    /// Returns the statistics of the last frame. Values that are read back from the GPU belong to earlier
    /// frames.
    pub fn stats(&self) -> &FrameStats {
        &self.stats
    }
}

/// Returns the maximum number of rows of pixels, froxels or cells that a pass covers.
fn most_rows(input: &FrameInput<'_>, buffers: &SceneBuffers, shown: [u32; 2]) -> u32 {
    let froxels = fog::froxels(&input.config.fog, input.size);
    let froxel_rows = froxels.map_or(0, |[_, rows, slices]| rows * slices);
    let slices = match buffers.volumes.is_empty() {
        true => 0,
        false => volumes::SLICES,
    };
    let rows = input.size[1].max(shown[1]);
    rows.max(froxel_rows).max(slices)
}
