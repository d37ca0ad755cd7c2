//! Frames one after another: recorded, then committed or dropped, submitted in parts, and what comes back of them.

use super::LastFrame;
use crate::{
    Renderer, SceneBuffers, UploadedScene,
    ambient::{occlusion::Occlusion, occlusion_rays},
    aov::Channel,
    fog::{self, Fog},
    frame::{
        self, FrameInput, Integrator, Prepared,
        frame_sample::FrameSample,
        life_cycle::LifeCycle,
        recording::{FRAME_SCOPE, Part, Recording, Traced},
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
    gpu::{Gpu, Needs, image, on_demand::collect, profiler::TimedFrame},
};
use canopy_scene::{Pose, Scene};
use std::sync::Arc;

/// Outcome of recording a frame without compiling.
#[derive(Debug)]
pub enum Attempt {
    /// The frame; the encoder holds its last part, for [`Renderer::finish`].
    Whole(wgpu::CommandEncoder),
    /// Nothing, because these have to be compiled before.
    Missing(Needs),
}

/// A frame that has been recorded.
#[derive(Debug)]
struct DrawnFrame {
    last: LastFrame,
    /// Frames before of the same scene with the same settings.
    number: u32,
    sampled: u32,
    /// Scene, size and settings of the first frame with these.
    begins: Option<(u64, [u32; 2], Settings)>,
    /// All parts but the last.
    parts: Vec<Part>,
    cpu_record_ms: f64,
    /// Pixels that passes lit, filtered or covered.
    pixels: u64,
    occlusion_rays: u64,
    lights: u32,
    plan: TreePlan,
}

impl Renderer {
    /// Records a frame of `scene` that ends in `target`, a view of a non-sRGB 8-bit format: the values are sRGB-encoded
    /// here. Compiles what it needs. Returns the encoder of its last part, for [`Renderer::submit`].
    ///
    /// # Errors
    ///
    /// Those of compiling, and of the adapter's memory; [`canopy_bvh::Error::Limit`] where the picture is too large.
    pub fn record(
        &mut self,
        gpu: &Gpu,
        input: &FrameInput<'_>,
        scene: &mut UploadedScene,
        target: &wgpu::TextureView,
    ) -> Result<wgpu::CommandEncoder> {
        self.record_sample(gpu, input, scene, FrameSample::SINGLE, target)
    }

    /// As [`Renderer::record`], one frame of the several that the lit picture is the mean of. The last one
    /// draws to `target`.
    ///
    /// # Errors
    ///
    /// As there.
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
                Attempt::Missing(needs) => needs.meet(gpu)?,
            }
        }
    }

    /// As [`Renderer::record_sample`], where all is compiled that the frame needs. Otherwise nothing is recorded.
    ///
    /// # Errors
    ///
    /// As there.
    pub fn record_compiled(
        &mut self,
        gpu: &Gpu,
        input: &FrameInput<'_>,
        scene: &mut UploadedScene,
        sample: FrameSample,
        target: &wgpu::TextureView,
    ) -> Result<Attempt> {
        let (encoder, recorded, needs) = self.attempt(gpu, input, scene, sample, target);
        match recorded {
            Ok(drawn) if needs.is_empty() => {
                self.commit(drawn, scene);
                Ok(Attempt::Whole(encoder))
            }
            dropped => {
                self.abort(gpu, scene)?;
                dropped.map(|_| Attempt::Missing(needs))
            }
        }
    }

    /// Pipelines that have to be compiled before this frame is recorded.
    ///
    /// # Errors
    ///
    /// As for [`Renderer::record`], but for those of compiling.
    pub fn missing(
        &mut self,
        gpu: &Gpu,
        input: &FrameInput<'_>,
        scene: &mut UploadedScene,
        sample: FrameSample,
        target: &wgpu::TextureView,
    ) -> Result<Needs> {
        let (_, recorded, needs) = self.attempt(gpu, input, scene, sample, target);
        self.abort(gpu, scene)?;
        recorded.map(|_| needs)
    }

    /// Records a frame without compiling; what it lacks is collected.
    fn attempt(
        &mut self,
        gpu: &Gpu,
        input: &FrameInput<'_>,
        scene: &mut UploadedScene,
        sample: FrameSample,
        target: &wgpu::TextureView,
    ) -> (wgpu::CommandEncoder, Result<DrawnFrame>, Needs) {
        let mut encoder = gpu.encoder(FRAME_SCOPE);
        let frame = || self.record_frame(gpu, &mut encoder, input, scene, sample, target);
        let (recorded, needs) = collect(frame);
        (encoder, recorded, needs)
    }

    /// Records a frame into `encoder`, with whatever it leaves behind.
    fn record_frame(
        &mut self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        input: &FrameInput<'_>,
        scene: &mut UploadedScene,
        sample: FrameSample,
        target: &wgpu::TextureView,
    ) -> Result<DrawnFrame> {
        let UploadedScene { buffers, state } = scene;
        let config = frame::drawn_settings(gpu, input);
        let input = &FrameInput {
            config: &config,
            ..*input
        };
        let (integrator, sample) = match frame::is_of_paths(&config, input.channel) {
            true => (self.paths_to_add(), FrameSample::SINGLE),
            false => (Integrator::Hybrid, sample),
        };
        let is_hybrid = matches!(integrator, Integrator::Hybrid);
        // Until this frame is recorded whole, there is none to read back.
        self.before = self.last.take();
        self.parts.clear();
        self.passes.begin();
        frame::check_size(gpu, input.size)?;
        let shown = image::size_of_view(target);
        let rows = most_rows(input, buffers, shown);
        self.first_rows.fit(gpu, rows)?;
        // Sampling begins anew with other settings, so that the same settings give the same picture.
        let of = (buffers.version, input.size, input.config);
        let are_of = self.frames_are_of.as_ref();
        let continues = are_of.is_some_and(|(version, size, config)| (*version, *size, config) == of);
        let begins = (!continues).then(|| (of.0, of.1, of.2.clone()));
        let number = if continues { self.frames } else { 0 };
        let sampled = self.sampled_as.unwrap_or(number);
        let (profiler, first_rows) = (&self.profiler, &self.first_rows);
        let mut recording = Recording::new(gpu, profiler, first_rows, FRAME_SCOPE, encoder, self.budget);
        let layouts = &self.uploader.layouts;
        let spreads = self.spreads_environment;
        let prepared = Prepared::new(
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

    /// Paths of the samples that the caller asks for.
    fn paths_to_add(&self) -> Integrator {
        Integrator::Paths {
            part: self.path_part.clone(),
            added: self.path_samples,
        }
    }

    /// The frame has been recorded whole: it leaves behind what holds for the next one.
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
        // More frames than this are not in flight; those of adapters without times are never asked for.
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
        // Counts of earlier frames, until those of this one come back.
        self.passes.report(&mut stats);
        self.stats = stats;
    }

    /// Undoes what was recorded of a frame that is dropped. The one before is still the last.
    fn abort(&mut self, gpu: &Gpu, scene: &mut UploadedScene) -> Result<()> {
        scene.state.abort(gpu);
        self.passes.abort();
        self.occlusion_rays.clear();
        self.has_dropped = true;
        let size = self.passes.gbuffer.output().size();
        self.last = self.before.take().filter(|last| last.size == size);
        self.profiler.abandon(gpu)
    }

    /// Ends the frame that was recorded, whose last part `encoder` holds. [`Renderer::submit_part`] submits
    /// it.
    pub fn finish(&mut self, encoder: wgpu::CommandEncoder) {
        self.parts.push_back(Part {
            pass: FRAME_SCOPE,
            commands: self.profiler.finish(encoder),
        });
    }

    /// Submits what was recorded, and what the caller added to it (the panel, say), and reads the figures of
    /// earlier frames. Never waits.
    pub fn submit(&mut self, gpu: &Gpu, encoder: wgpu::CommandEncoder) {
        self.finish(encoder);
        while !self.submit_part(gpu) {}
    }

    /// Submits the next part of the frame. After the last one it reads the figures of earlier frames and
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

    /// The pass that the next part of the frame belongs to.
    pub fn next_part(&self) -> Option<&'static str> {
        self.parts.front().map(|part| part.pass)
    }

    /// Forgets the parts of the last frame of `scene` that have not been submitted, and whatever the next
    /// frame cannot go on from without them.
    ///
    /// # Errors
    ///
    /// [`canopy_bvh::Error::Gpu`] where the adapter has no memory left.
    pub fn abandon(&mut self, gpu: &Gpu, scene: &mut UploadedScene) -> Result<()> {
        if self.parts.is_empty() {
            return Ok(());
        }
        self.parts.clear();
        self.occlusion_rays.clear();
        self.last = None;
        self.frames_are_of = None;
        scene.state.lose();
        self.passes.lose();
        self.profiler.abandon(gpu)
    }

    /// The next frame has no history, as the first one of another renderer.
    pub fn begin_anew(&mut self) {
        self.passes.forget();
        self.frames_are_of = None;
    }

    /// Frames of a picture that rests, until all that is averaged over them is complete.
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

    /// See [`Renderer::sampled_as`].
    pub fn sampled(&self) -> u32 {
        self.sampled
    }

    /// Number of the last frame that was submitted whole.
    pub fn submitted_frames(&self) -> u64 {
        self.profiler.ended()
    }

    /// The timings that have come back since the last call, of frames by [`Renderer::submitted_frames`].
    pub fn take_timed(&mut self) -> impl Iterator<Item = Arc<TimedFrame>> {
        self.profiler.take_finished()
    }

    /// Reads timings and counts that have come back. Those of a frame are not asked for before its last part
    /// was submitted.
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
        // Earlier frames were timed.
        let mut occlusion_rays = 0;
        for _ in 0..timed {
            occlusion_rays = self.occlusion_rays.pop_front().unwrap_or(0);
        }
        if let Some(frame_ms) = self.stats.frame_ms().filter(|_| timed > 0) {
            let timed = |rays, pass| Traced {
                rays,
                ms: Some(self.stats.pass_ms(pass).unwrap_or(0.0)),
            };
            let shadows = timed(self.stats.rays, shadow_rays::LABEL);
            let occlusion = timed(occlusion_rays, occlusion_rays::LABEL);
            self.budget
                .learn(frame_ms, shadows, occlusion, self.recorded_pixels);
        }
    }

    /// The noise of the picture whose last frame was submitted, waiting for it; `None` where it was not estimated.
    pub fn read_noise(&mut self, gpu: &Gpu) -> Result<Option<Noise>> {
        gpu.wait()?;
        self.stats.noise = self.passes.present.noise.collect();
        Ok(self.stats.noise)
    }

    /// Learns how much work the adapter is given at once from the time of the last frame by the clock: for
    /// adapters that tell no times of their own.
    pub fn learn_wall_ms(&mut self, frame_ms: f64) {
        let untimed = |rays| Traced { rays, ms: None };
        let occlusion = self.occlusion_rays.pop_back().unwrap_or(0);
        self.occlusion_rays.clear();
        let shadows = untimed(self.stats.rays);
        let pixels = self.recorded_pixels;
        self.budget.learn(frame_ms, shadows, untimed(occlusion), pixels);
    }

    /// The figures of the last frames.
    pub fn stats(&self) -> &FrameStats {
        &self.stats
    }
}

/// Most rows of pixels, froxels or cells that a pass covers.
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
