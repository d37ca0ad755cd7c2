//! `compare`: two pictures in one, on either side of a line or as their error in colours, and how large that
//! error is. No frame draws it: a viewer does, over two finished pictures.

use crate::layout::CompareParams;
use canopy_bvh::{
    Result,
    gpu::{
        Bind, Cover, Gpu, Kernel, Uniform, Workgroups,
        pass::{self, Binding},
        readback::Counters,
    },
};
use wgpu::{BufferUsages as Buffer, TextureFormat as Format};

const PATH: &str = "picture/compare.wgsl";
/// What it draws to.
const TARGET: Format = Format::Rgba8Unorm;
/// The errors are counted in parts of 1 over this.
const STEPS: f64 = 65535.0;

/// The errors of all pixels that both pictures have: of each its channel that differs most, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Errors {
    /// Their mean.
    pub mean: f64,
    /// The largest of them.
    pub max: f64,
    /// How many pixels both pictures have.
    pub pixels: u32,
}

/// The pass.
#[derive(Debug)]
pub struct Compare {
    cover: Cover,
    errors: Kernel,
    params: Uniform<CompareParams>,
    totals: wgpu::Buffer,
    counters: Counters<4>,
}

impl Compare {
    /// Compiled when it is first recorded.
    pub fn new(gpu: &Gpu) -> Self {
        let drawn = [Binding::Uniform, Binding::Float, Binding::Float];
        let summed = [drawn[0], drawn[1], drawn[2], Binding::Write];
        let usage = Buffer::STORAGE | Buffer::COPY_SRC | Buffer::COPY_DST;
        Self {
            cover: Cover::new(gpu, PATH, "compare", &drawn),
            errors: Kernel::new(gpu, PATH, "compare_errors", &[], &summed),
            params: Uniform::new(gpu, "compare.params"),
            totals: gpu.buffer("compare.totals", 16, usage),
            counters: Counters::new(gpu, "compare.counters"),
        }
    }

    /// Draws both pictures into the part of `target`, which is sRGB-encoded, that `params` say. Where that
    /// `measures`, their errors are summed up, for [`Compare::collect`]. Returns whether they are: where nothing
    /// is seen, or too many are still to come, they are not.
    ///
    /// # Errors
    ///
    /// Those of compiling the pass.
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

    /// After the submission: the errors that have come back since the last call. Never waits: the device has
    /// to be polled.
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

/// Factor and offset, in texels, that put a picture of `picture` pixels about the middle of one of `room`
/// pixels, as high as that: what a camera sees above and below stays at its place, whatever the width.
pub fn placed(picture: [u32; 2], room: [u32; 2]) -> (f32, [f32; 2]) {
    let [picture, room] = [picture, room].map(|size| size.map(|side| side as f32));
    let scale = picture[1] / room[1].max(1.0);
    let middle = |axis: usize| 0.5 * (picture[axis] - scale * room[axis]);
    let offset = [middle(0), middle(1)];
    // Texels of a picture of the same height stay whole.
    let is_whole = scale == 1.0;
    (scale, offset.map(|o| if is_whole { o.floor() } else { o }))
}
