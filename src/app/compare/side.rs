//! GPU resources of side B of a comparison. A scene has its own renderer, so that both sides have separate
//! BVHs, histories and accumulated samples. A picture has a texture. All of them are dropped when the
//! comparison ends.

use crate::{
    Result,
    app::{
        compare::{costs::SideCosts, model::SavedPicture},
        environment::file::EnvironmentFile,
        files::loading::Loading,
        schedule::{
            NextFrame, PictureKey, RendererState, Schedule,
            in_flight::{InFlight, PartTimes},
        },
        state::Stage,
    },
    config::{self, Config},
    gpu::{Gpu, GpuImage, PipelineSet},
    render::{
        Attempt, Channel, FrameInput, Renderer, UploadedScene, layout::CompareParams,
        present::compare::Compare,
    },
    scene::Pose,
};
use glam::Vec3;
use half::f16;
use std::{path::PathBuf, sync::Arc, time::Instant};
use wgpu::{TextureFormat as Format, TextureUsages as Usage};

/// Files and settings that loading the scene of B depends on. When they change, it is loaded again.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::app) struct Source {
    pub(in crate::app) files: Vec<PathBuf>,
    pub(in crate::app) load: config::Load,
    pub(in crate::app) code_bits: u32,
    pub(in crate::app) anisotropy: u32,
    /// Number of A's scene if B shows the same files. The number changes when A is reloaded, so B follows.
    pub(in crate::app) scene: Option<u64>,
}

/// Side B and the passes that show it beside A.
#[derive(Default)]
pub(in crate::app) struct Comparing {
    pass: Option<Compare>,
    pub(in crate::app) side: Option<Box<Side>>,
    pub(in crate::app) loading: Option<(Source, Loading)>,
    picture: Option<(Arc<SavedPicture>, GpuImage)>,
    /// Key of A's finished picture, which is held back until B's frame is done.
    pub(in crate::app) holds_a: Option<PictureKey>,
    /// Frame of B that was recorded for this redraw.
    pub(in crate::app) recorded: Option<(InFlight, wgpu::CommandEncoder)>,
    /// Number of scenes that B has had, also in earlier comparisons.
    pub(in crate::app) scenes: u64,
    /// Frame costs of A.
    pub(in crate::app) costs: SideCosts,
    /// True if either picture has changed since the errors between them were last measured.
    pub(in crate::app) is_stale: bool,
    /// True while a readback of the errors is pending.
    pub(in crate::app) is_measured: bool,
    /// Parameters of the last error measurement.
    measured: Option<CompareParams>,
}

/// Scene of B.
pub(in crate::app) struct Side {
    pub(in crate::app) source: Source,
    pub(in crate::app) renderer: Renderer,
    pub(in crate::app) uploaded: UploadedScene,
    pub(in crate::app) stage: Stage,
    pub(in crate::app) environment: EnvironmentFile,
    /// Number of environments that the renderer has had. It identifies the current one in picture keys.
    pub(in crate::app) environments: u64,
    pub(in crate::app) schedule: Schedule,
    pub(in crate::app) in_flight: Option<InFlight>,
    pub(in crate::app) part_times: PartTimes,
    /// Wall-clock time of the last frame of B in milliseconds.
    pub(in crate::app) wall_ms: Option<f32>,
    pub(in crate::app) costs: SideCosts,
    /// Number of the scene among all scenes that B has had. It identifies the scene in picture keys.
    pub(in crate::app) number: u64,
    picture: Option<GpuImage>,
    next_picture: Option<GpuImage>,
    /// Last picture for which no pipeline was missing.
    compiled: Option<PictureKey>,
}

/// A frame of either side that is about to be recorded.
pub(in crate::app) struct Plan {
    pub(in crate::app) picture: PictureKey,
    pub(in crate::app) frame: NextFrame,
    pub(in crate::app) pose: Arc<Pose>,
    pub(in crate::app) config: Config,
}

impl Comparing {
    /// Returns the picture of B that is shown.
    pub(in crate::app) fn shown(&self) -> Option<&GpuImage> {
        match (&self.picture, &self.side) {
            (Some((_, picture)), _) => Some(picture),
            (None, Some(side)) => side.picture.as_ref(),
            (None, None) => None,
        }
    }

    /// True if B is a linear-radiance picture.
    pub(in crate::app) fn is_radiance(&self) -> bool {
        let saved = self.picture.as_ref();
        saved.is_some_and(|(saved, _)| saved.picture.is_linear)
    }

    /// Makes this picture side B, and drops the scene of B.
    ///
    /// # Errors
    ///
    /// Any error of a picture that is too large for the adapter, and [`crate::Error::Gpu`] if GPU memory runs
    /// out.
    pub(in crate::app) fn show_picture(&mut self, gpu: &Gpu, saved: &Arc<SavedPicture>) -> Result<()> {
        if self
            .picture
            .as_ref()
            .is_some_and(|(shown, _)| Arc::ptr_eq(shown, saved))
        {
            return Ok(());
        }
        (self.side, self.loading, self.picture) = (None, None, None);
        self.picture = Some((saved.clone(), upload(gpu, saved)?));
        self.is_stale = true;
        Ok(())
    }

    /// Drops everything that belongs to B. The frame costs of A and the number of scenes stay.
    pub(in crate::app) fn drop_side(&mut self) {
        *self = Self {
            scenes: self.scenes,
            costs: std::mem::take(&mut self.costs),
            ..Self::default()
        };
    }

    /// Drops the picture of B.
    pub(in crate::app) fn drop_picture(&mut self) {
        self.picture = None;
    }

    /// Draws both pictures into `target`, and measures the errors between them if these are not known. `a` is
    /// the picture of A. Does nothing without a picture of B.
    pub(in crate::app) fn draw(
        &mut self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        params: &CompareParams,
        a: &wgpu::TextureView,
        target: &wgpu::TextureView,
    ) -> Result<()> {
        let mut pass = self.pass.take().unwrap_or_else(|| Compare::new(gpu));
        if let Some(b) = self.shown() {
            // The line, the gain and the mode do not change the errors.
            let of = CompareParams {
                line: 0.0,
                gain: 0.0,
                is_horizontal: 0,
                is_difference: 0,
                ..*params
            };
            let measures = self.is_stale || self.measured != Some(of);
            if pass.record(gpu, encoder, params, [a, &b.view], target, measures)? {
                (self.is_stale, self.is_measured) = (false, true);
                self.measured = Some(of);
            }
        }
        self.pass = Some(pass);
        Ok(())
    }

    /// Returns the errors once, when their readback has completed.
    pub(in crate::app) fn collect(&mut self, gpu: &Gpu) -> Option<crate::render::present::compare::Errors> {
        if !self.is_measured {
            return None;
        }
        gpu.device.poll(wgpu::PollType::Poll).ok();
        let errors = self.pass.as_mut()?.collect()?;
        self.is_measured = false;
        Some(errors)
    }
}

impl Side {
    pub(in crate::app) fn new(
        source: Source,
        renderer: Renderer,
        (stage, uploaded): (Stage, UploadedScene),
        schedule: Schedule,
        number: u64,
    ) -> Self {
        Self {
            source,
            renderer,
            uploaded,
            stage,
            environment: EnvironmentFile::default(),
            environments: 0,
            schedule,
            in_flight: None,
            part_times: PartTimes::default(),
            wall_ms: None,
            costs: SideCosts::default(),
            number,
            picture: None,
            next_picture: None,
            compiled: None,
        }
    }

    /// Returns the pipelines that are missing for the frame of `plan`. Only a picture that may need other
    /// pipelines than the last complete one is checked.
    pub(in crate::app) fn pipelines(&mut self, gpu: &Gpu, plan: &Plan, now: Instant) -> Result<PipelineSet> {
        let is_compiled = |of: &PictureKey| of.has_same_pipelines(&plan.picture);
        if self.compiled.as_ref().is_some_and(is_compiled) {
            return Ok(PipelineSet::default());
        }
        match self.record(gpu, plan, now, Pipelines::Ask)? {
            Attempt::Missing(missing) if !missing.is_empty() => Ok(missing),
            _ => {
                self.compiled = Some(plan.picture.clone());
                Ok(PipelineSet::default())
            }
        }
    }

    /// Records the frame of `plan` into the next picture, or returns the missing pipelines. `pipelines`
    /// selects the treatment of the latter.
    pub(in crate::app) fn record(
        &mut self,
        gpu: &Gpu,
        plan: &Plan,
        now: Instant,
        pipelines: Pipelines,
    ) -> Result<Attempt> {
        let size = plan.picture.area.size;
        let fits = |image: &GpuImage| image.size() == size;
        let target = match self.next_picture.take().filter(fits) {
            Some(image) => image,
            None => gpu.catch(|| image(gpu, size, Format::Rgba8Unorm))?,
        };
        let pixels = |size: [u32; 2]| u64::from(size[0]) * u64::from(size[1]);
        if pixels(plan.frame.size(size)) > pixels(self.schedule.size()) {
            // A larger frame may take long, so it is drawn in parts at first.
            self.renderer.budget.in_parts = true;
        }
        let input = frame_input(&self.stage, &self.schedule, plan, now);
        let (uploaded, sample) = (&mut self.uploaded, plan.frame.sample);
        let (renderer, view) = (&mut self.renderer, &target.view);
        let recorded = match pipelines {
            Pipelines::Compile => {
                let recorded = renderer.record_sample(gpu, &input, uploaded, sample, view);
                recorded.map(Attempt::Whole)
            }
            Pipelines::Require => renderer.record_compiled(gpu, &input, uploaded, sample, view),
            Pipelines::Ask => {
                let missing = renderer.missing(gpu, &input, uploaded, sample, view);
                missing.map(Attempt::Missing)
            }
        }?;
        self.next_picture = Some(target);
        if matches!(recorded, Attempt::Whole(_)) {
            self.schedule.recorded(plan.picture.clone(), plan.frame, now);
        }
        Ok(recorded)
    }

    /// Makes the finished next picture the shown one.
    pub(in crate::app) fn show_next_picture(&mut self) {
        std::mem::swap(&mut self.picture, &mut self.next_picture);
    }
}

/// Treatment of pipelines that are not compiled when a frame is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::app) enum Pipelines {
    /// Compiles missing pipelines.
    Compile,
    /// Records nothing if a pipeline is missing.
    Require,
    /// Records nothing and only returns the missing pipelines.
    Ask,
}

/// Returns the renderer's input for the frame of `plan`. `schedule` must be that of the same side.
pub(in crate::app) fn frame_input<'a>(
    stage: &'a Stage,
    schedule: &Schedule,
    plan: &'a Plan,
    now: Instant,
) -> FrameInput<'a> {
    let is_new = schedule.last().map(|last| last.scene) != Some(plan.picture.scene);
    FrameInput {
        scene: &stage.scene,
        pose: &plan.pose,
        view: plan.picture.view,
        eye_rounding: Vec3::ZERO,
        config: &plan.config,
        exposure_ev: plan.picture.exposure_ev,
        elapsed_secs: match schedule.since_last_frame(now) {
            // Infinite time completes the adaptation of the exposure at once. At rest it has adapted already,
            // and the slightly different metering at full resolution must not start another adaptation.
            _ if is_new || plan.frame.is_still => f32::INFINITY,
            Some(interval) => interval.as_secs_f32(),
            None => 0.0,
        },
        channel: plan.picture.channel,
        size: plan.frame.size(plan.picture.area.size),
        ground: stage.ground(plan.config.scene.ground),
        reads: match plan.picture.counts_intersections {
            true => &[Channel::Intersections],
            false => &[],
        },
    }
}

/// Returns the state of a renderer that the schedule depends on.
pub(in crate::app) fn renderer_state(
    gpu: &Gpu,
    renderer: &Renderer,
    stage: &Stage,
    pose: &Pose,
    (config, channel): (&Config, Channel),
) -> RendererState {
    let stats = renderer.stats();
    RendererState {
        environment_is_pending: renderer.environment_is_pending(),
        exposure_changes: stats.exposure_ev != stats.exposure_target_ev,
        frames_to_converge: renderer.frames_to_converge(gpu, (&stage.scene, pose), (config, channel)),
        noise: stats.noise,
    }
}

fn image(gpu: &Gpu, size: [u32; 2], format: Format) -> GpuImage {
    let usage = Usage::RENDER_ATTACHMENT | Usage::TEXTURE_BINDING | Usage::COPY_DST;
    GpuImage::new(gpu, "side B", size, format, usage)
}

/// Uploads a picture to a texture: 8-bit RGBA if it is sRGB-encoded, or half floats if it is linear. NaN
/// becomes 0 and other values are clamped to the range of the format.
fn upload(gpu: &Gpu, saved: &SavedPicture) -> Result<GpuImage> {
    let picture = &saved.picture;
    crate::render::frame::check_size(gpu, picture.size)?;
    let pixels = picture.pixels.iter();
    let (format, bytes): (Format, Vec<u8>) = match picture.is_linear {
        true => {
            let half = |c: &f32| f16::from_f32(if c.is_nan() { 0.0 } else { c.clamp(0.0, 65504.0) });
            let texel = |[r, g, b]: &[f32; 3]| [half(r), half(g), half(b), f16::ONE];
            let texels: Vec<[f16; 4]> = pixels.map(texel).collect();
            (Format::Rgba16Float, bytemuck::cast_slice(&texels).to_vec())
        }
        false => {
            let byte = |c: f32| (c.clamp(0.0, 1.0) * 255.0).round() as u8;
            let texel = |[r, g, b]: &[f32; 3]| [byte(*r), byte(*g), byte(*b), 255];
            (Format::Rgba8Unorm, pixels.flat_map(texel).collect())
        }
    };
    let image = gpu.catch(|| image(gpu, picture.size, format))?;
    let row = bytes.len() as u32 / picture.size[1].max(1);
    gpu.queue.write_texture(
        image.texture.as_image_copy(),
        &bytes,
        wgpu::TexelCopyBufferLayout {
            offset: 0,
            bytes_per_row: Some(row),
            rows_per_image: None,
        },
        image.texture.size(),
    );
    Ok(image)
}
