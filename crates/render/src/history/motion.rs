//! `motion`: displacement of each pixel's surface point since the last frame.

use crate::{
    bindings::Layouts,
    frame::{
        Frame,
        life_cycle::{LifeCycle, TemporalState},
        recording::Recording,
    },
    layout::MotionParams,
    resources::{GBuffer, Motion, POSITIONS, WORDS, try_create},
    world::World,
};
use canopy_bvh::{
    Result,
    gpu::{
        Array, Gpu, GpuImage, Kernel, Uniform,
        lazy_pipeline::collect_later,
        pass::Binding::{self, ReadArray, Store},
    },
};
use glam::{Mat4, Vec2, Vec3};
use wgpu::{TextureFormat as Format, TextureUsages as Usage};

const FORMAT: Format = Format::Rgba32Float;

/// Motion pass. Its image has one texel until something moves.
#[derive(Debug)]
pub struct MotionPass {
    kernel: Kernel,
    params: Uniform<MotionParams>,
    output: GpuImage,
    camera: TemporalState<Camera>,
    /// True if the last frame computed motion.
    is_known: bool,
    /// True if `output` holds that motion; otherwise nothing moved.
    has_output: bool,
}

#[derive(Debug, Clone, Copy)]
struct Camera {
    /// [`SceneBuffers::version`](crate::SceneBuffers::version).
    scene: u64,
    clip_from_offset: Mat4,
    eye: Vec3,
    jitter: Vec2,
}

impl Camera {
    fn of(frame: &Frame<'_>) -> Self {
        Self {
            scene: frame.buffers.version,
            clip_from_offset: frame.view.clip_from_offset(frame.aspect()),
            eye: frame.view.eye(),
            jitter: frame.jitter,
        }
    }
}

impl MotionPass {
    /// Creates the pass without compiling it.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        let shared = [(0, &layouts.frame), (2, &layouts.scene)];
        let uniform = Binding::Uniform;
        let bindings = [uniform, uniform, POSITIONS, WORDS, ReadArray(1), Store(FORMAT)];
        let path = "passes/motion.wgsl";
        Self {
            kernel: Kernel::new(gpu, path, "motion", &shared, &bindings),
            params: Uniform::new(gpu, "motion.params"),
            output: image(gpu, [1, 1]),
            camera: TemporalState::default(),
            is_known: false,
            has_output: false,
        }
    }

    /// Computes each pixel's displacement if the frame needs motion. `last_positions` are the vertices of the
    /// last frame, if they differ from this one's. Without a last frame of the same scene, nothing has moved.
    pub fn record<'a>(
        &'a mut self,
        recording: &mut Recording<'_>,
        world: World<'_>,
        gbuffer: &'a GBuffer,
        last_positions: Option<&'a Array>,
    ) -> Result<Motion<'a>> {
        let World { frame, geometry, .. } = world;
        let now = Camera::of(frame);
        self.camera.set_pending(now);
        if !frame.motion {
            return Ok(self.output(gbuffer));
        }
        self.is_known = true;
        let gpu = recording.gpu;
        collect_later(|set| self.kernel.pipelines(set));
        let last = self.camera.last().copied();
        let last = last.filter(|last| last.scene == now.scene);
        let Camera {
            clip_from_offset: last_clip,
            eye: last_eye,
            jitter: last_jitter,
            ..
        } = last.unwrap_or(now);
        let last_positions = last_positions.filter(|_| last.is_some());
        let params = MotionParams {
            clip_from_offset: now.clip_from_offset.to_cols_array_2d(),
            last_clip_from_offset: last_clip.to_cols_array_2d(),
            last_eye: last_eye.to_array(),
            triangle_count: geometry.buffers.triangle_count,
            jitter: (now.jitter - last_jitter).to_array(),
            moves: u32::from(last_positions.is_some()),
            ..MotionParams::default()
        };
        self.params.write(gpu, &params);
        let Some(last_positions) = last_positions else {
            return Ok(self.output(gbuffer));
        };
        if self.output.size() != frame.size {
            self.output = try_create(gpu, frame.size, || image(gpu, frame.size))?;
        }
        self.has_output = true;
        let output = self.output(gbuffer);
        recording.dispatch_pixels(
            "motion",
            &self.kernel,
            &[(0, &frame.group), (2, geometry.group)],
            &[
                &self.params,
                &gbuffer.position,
                &gbuffer.ids,
                last_positions,
                &self.output,
            ],
            frame.size,
            recording.budget.pixels(),
        )?;
        Ok(Motion {
            last_positions: Some(last_positions),
            ..output
        })
    }

    /// True if the last frame computed motion.
    pub fn is_known(&self) -> bool {
        self.is_known
    }

    /// Returns the motion of the last frame, whose G-buffer is given, without its vertices.
    pub fn output<'a>(&'a self, gbuffer: &'a GBuffer) -> Motion<'a> {
        // If nothing has moved, any image of the right binding type will do.
        let displacement = match self.has_output {
            true => &self.output,
            false => &gbuffer.position,
        };
        Motion {
            params: &self.params,
            displacement,
            last_positions: None,
        }
    }
}

fn image(gpu: &Gpu, size: [u32; 2]) -> GpuImage {
    let usage = Usage::STORAGE_BINDING | Usage::TEXTURE_BINDING;
    GpuImage::new(gpu, "displacement", size, FORMAT, usage)
}

impl LifeCycle for MotionPass {
    fn parts(&mut self) -> Vec<&mut dyn LifeCycle> {
        vec![&mut self.camera]
    }

    fn begin(&mut self) {
        (self.is_known, self.has_output) = (false, false);
        self.camera.begin();
    }
}
