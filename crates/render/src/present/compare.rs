//! `compare`: shows two pictures in one, on either side of a divider or as their error in colours, and
//! measures that error. It is not part of a frame: a viewer draws it from two finished pictures.

use crate::layout::CompareParams;
use canopy_bvh::{
    Result,
    gpu::{
        Bind, FullscreenPass, Gpu, Kernel, Uniform, Workgroups,
        pass::{self, Binding},
        readback::Counters,
    },
};
use wgpu::{BufferUsages as Buffer, TextureFormat as Format};

const PATH: &str = "picture/compare.wgsl";
/// Format of the target.
const TARGET: Format = Format::Rgba8Unorm;
/// Errors are counted in integer units of 1/65535.
const STEPS: f64 = 65535.0;

/// Errors over the pixels that exist in both pictures. The error of a pixel is the largest difference of any
/// of its channels, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Errors {
    /// Mean error.
    pub mean: f64,
    /// Largest error.
    pub max: f64,
    /// Number of pixels that exist in both pictures.
    pub pixels: u32,
}

/// Comparison pass.
#[derive(Debug)]
pub struct Compare {
    cover: FullscreenPass,
    errors: Kernel,
    params: Uniform<CompareParams>,
    totals: wgpu::Buffer,
    counters: Counters<4>,
}

impl Compare {
    /// Creates the pass. It is compiled when it is first recorded.
    pub fn new(gpu: &Gpu) -> Self {
        let drawn = [Binding::Uniform, Binding::Float, Binding::Float];
        let summed = [drawn[0], drawn[1], drawn[2], Binding::Write];
        let usage = Buffer::STORAGE | Buffer::COPY_SRC | Buffer::COPY_DST;
        Self {
            cover: FullscreenPass::new(gpu, PATH, "compare", &drawn),
            errors: Kernel::new(gpu, PATH, "compare_errors", &[], &summed),
            params: Uniform::new(gpu, "compare.params"),
            totals: gpu.buffer("compare.totals", 16, usage),
            counters: Counters::new(gpu, "compare.counters"),
        }
    }

    /// Draws both pictures into the region of the sRGB-encoded `target` that `params` specify. If `measures`
    /// is set, sums up their errors for [`Compare::collect`]. Returns true if the errors are summed up. They
    /// are not if the region is empty or too many readbacks are pending.
    ///
    /// # Errors
    ///
    /// Any error of compiling the pass.
    pub fn record(
        &mut self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        params: &CompareParams,
        [a, b]: [&wgpu::TextureView; 2],
        target: &wgpu::TextureView,
        measures: bool,
    ) -> Result<bool> {
        let [[x, y], [width, height]] = [params.origin, params.size];
        let [room_x, room_y] = canopy_bvh::gpu::image::size_of_view(target);
        let [width, height] = [
            width.min(room_x.saturating_sub(x)),
            height.min(room_y.saturating_sub(y)),
        ];
        if width == 0 || height == 0 {
            return Ok(false);
        }
        self.params.write(gpu, params);
        let is_measured = if measures {
            encoder.clear_buffer(&self.totals, 0, None);
            let own: [&dyn Bind; 4] = [&self.params, a, b, &self.totals];
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                label: Some("compare_errors"),
                timestamp_writes: None,
            });
            let pixels = Workgroups::Pixels(params.size);
            self.errors.dispatch(gpu, &mut pass, &[], &own, pixels)?;
            drop(pass);
            self.counters.record(encoder, &self.totals)
        } else {
            false
        };
        let own: [&dyn Bind; 3] = [&self.params, a, b];
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("compare"),
            color_attachments: &[Some(pass::color(target, wgpu::LoadOp::Load))],
            ..Default::default()
        });
        pass.set_scissor_rect(x, y, width, height);
        self.cover.draw(gpu, &mut pass, TARGET, &own)?;
        Ok(is_measured)
    }

    /// Returns the errors that have been read back since the last call. Call it after the submission. It
    /// never waits: poll the device.
    pub fn collect(&mut self) -> Option<Errors> {
        let mut errors = None;
        self.counters.collect_each(|_, [low, high, max, pixels]| {
            let sum = f64::from(high) * 65536.0 + f64::from(low);
            errors = Some(Errors {
                mean: sum / STEPS / f64::from(pixels.max(1)),
                max: f64::from(max) / STEPS,
                pixels,
            });
        });
        errors
    }
}

/// Returns the scale and the offset in texels that centre a picture of size `picture` in a region of size
/// `room` and match their heights. The vertical extent of the camera's view then does not depend on the
/// width.
pub fn placed(picture: [u32; 2], room: [u32; 2]) -> (f32, [f32; 2]) {
    let [picture, room] = [picture, room].map(|size| size.map(|side| side as f32));
    let scale = picture[1] / room[1].max(1.0);
    let middle = |axis: usize| 0.5 * (picture[axis] - scale * room[axis]);
    let offset = [middle(0), middle(1)];
    // If the heights are equal, texels map exactly to pixels.
    let is_whole = scale == 1.0;
    (scale, offset.map(|o| if is_whole { o.floor() } else { o }))
}
