//! A frame while it is recorded: the target of all passes, and the budget of GPU work per submission.
//!
//! Operating systems reset a device whose work does not end within seconds. A queue runs one submission after
//! another, so anything that is submitted after a long frame, such as the panel, waits for it. A long frame
//! is therefore recorded in parts, one per pass. Rays are traced in batches that this adapter finishes within
//! a part's time.

use super::slices::{RowOffsets, slices};
use canopy_bvh::{
    Result,
    gpu::{
        Bind, FullscreenPass, Gpu, Kernel, Workgroups, image, pass,
        profiler::{Profiler, Scope, Stopwatch},
    },
};

/// Profiler scope of a frame.
pub const FRAME_SCOPE: &str = "frame";

/// GPU time in milliseconds above which a frame is recorded in parts, and target time of a batch of rays.
/// Work that is submitted between two parts waits for one part. This is a third of the tenth of a second that
/// feels immediate.
const PART_MS: f64 = 33.0;
/// Maximum number of triangles that a part draws. A slow adapter draws this many in a part's time.
const PART_TRIANGLES: u32 = 1 << 16;
/// Number of pixels of a part before any frame has been measured, and the minimum afterwards. A slow adapter
/// lights or filters this many in a part's time.
const PART_PIXELS: u32 = 1 << 18;
/// Number of shadow rays of a batch before any have been measured. A slow integrated GPU traces this many in
/// a part's time.
const FIRST_BATCH: u32 = 1 << 20;
/// Number of occlusion rays of a slice before any have been measured. Rays in all directions take about four
/// times as long.
const FIRST_OCCLUSION_BATCH: u32 = FIRST_BATCH / 4;
/// Minimum number of rays of a batch. Fewer do not fill a GPU.
const MIN_BATCH: u32 = 1 << 16;
/// Minimum number of rays for a measurement. Fewer do not show how fast the adapter is.
const FEW_RAYS: u64 = 1 << 12;

/// Maximum GPU work per submission, as learned from earlier frames.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FrameBudget {
    /// Maximum number of shadow rays of a batch, a power of two.
    pub batch_rays: u32,
    /// Maximum number of occlusion rays of a slice, a power of two.
    pub occlusion_rays: u32,
    /// True if frames are recorded in parts. This is the case at first, and after a measured frame that took
    /// longer than a part may take.
    pub in_parts: bool,
    /// Maximum number of pixels that a part lights, filters or draws over.
    pub part_pixels: u32,
}

impl FrameBudget {
    /// Maximum number of rays of any batch. An entry of the ray list can address this many pixels.
    pub const MAX_RAYS: u32 = 1 << 24;

    /// Returns the maximum number of triangles that are drawn in a part.
    pub fn triangles(self) -> u32 {
        if self.in_parts { PART_TRIANGLES } else { u32::MAX }
    }

    /// Returns the maximum number of pixels that are lit, filtered or drawn over in a part.
    pub fn pixels(self) -> u32 {
        if self.in_parts { self.part_pixels } else { u32::MAX }
    }

    /// Returns the maximum number of pixels in a slice of occlusion with `rays` rays per pixel.
    pub fn occlusion_pixels(self, rays: u32) -> u32 {
        if self.in_parts {
            self.occlusion_rays / rays.max(1)
        } else {
            u32::MAX
        }
    }

    /// Updates the budget from the time of a frame, its rays, and the number of pixels that its passes lit,
    /// filtered or drawn over.
    pub fn update(&mut self, frame_ms: f64, shadows: RayTiming, occlusion: RayTiming, pixels: u64) {
        self.in_parts = frame_ms > PART_MS;
        // Number of pixels that can be processed in a part's time. `as` saturates.
        let in_time = (pixels as f64 * PART_MS / frame_ms) as u32;
        self.part_pixels = in_time.max(PART_PIXELS);
        self.batch_rays = shadows.batch(self.batch_rays, frame_ms);
        self.occlusion_rays = occlusion.batch(self.occlusion_rays, frame_ms);
    }
}

/// Number and time of the rays of one kind in a frame.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RayTiming {
    /// Number of rays.
    pub rays: u64,
    /// Time that they took in milliseconds; `None` if the adapter has no timestamps. They then took no longer
    /// than the frame.
    pub ms: Option<f64>,
}

impl RayTiming {
    /// Returns the number of rays that can be traced in a part's time, rounded down to a power of two.
    /// Returns `batch`, the current number, if the measurement does not justify a change.
    fn batch(self, batch: u32, frame_ms: f64) -> u32 {
        let ms = self.ms.unwrap_or(frame_ms);
        if self.rays < FEW_RAYS || ms <= 0.0 {
            return batch;
        }
        let most = f64::from(FrameBudget::MAX_RAYS);
        let in_time = (self.rays as f64 * PART_MS / ms).clamp(1.0, most);
        let fitting = (1 << (in_time as u32).ilog2()).max(MIN_BATCH);
        // A new size recreates the ray list, so batches grow only if they at least quadruple. If the rays
        // were not timed, a short frame only proves that this many rays are fast enough, so batches do not
        // shrink.
        let slower = fitting < batch && (self.ms.is_some() || frame_ms > PART_MS);
        if slower || fitting >= batch.saturating_mul(4) {
            fitting
        } else {
            batch
        }
    }
}

/// Part of a frame.
#[derive(Debug)]
pub struct Part {
    /// Pass that the part belongs to.
    pub pass: &'static str,
    /// Commands to submit.
    pub commands: wgpu::CommandBuffer,
}

/// Frame that is being recorded.
pub struct Recording<'a> {
    /// Device that the frame is recorded for.
    pub gpu: &'a Gpu,
    /// Budget of this frame.
    pub budget: FrameBudget,
    /// Profiler scope of the frame, for nested scopes.
    pub scope: Scope<'a>,
    row_offsets: &'a RowOffsets,
    label: &'static str,
    stopwatch: Stopwatch,
    /// Completed parts.
    parts: Vec<Part>,
    /// Number of pixels that passes lit, filtered or drawn over.
    pixels: u64,
    /// Pixels since the last part, as a fraction of the maximum of a part.
    part_share: f64,
}

impl std::fmt::Debug for Recording<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recording")
            .field("label", &self.label)
            .field("budget", &self.budget)
            .finish_non_exhaustive()
    }
}

impl<'a> Recording<'a> {
    /// Begins a frame in `encoder`, in a scope called `label`. `row_offsets` must be large enough for the
    /// height of the frame.
    pub fn new(
        gpu: &'a Gpu,
        profiler: &'a Profiler,
        row_offsets: &'a RowOffsets,
        label: &'static str,
        encoder: &'a mut wgpu::CommandEncoder,
        budget: FrameBudget,
    ) -> Self {
        Self {
            gpu,
            budget,
            row_offsets,
            stopwatch: Stopwatch::new(),
            label,
            scope: profiler.scope(label, encoder),
            parts: Vec::new(),
            pixels: 0,
            part_share: 0.0,
        }
    }

    /// Records one dispatch of `kernel` in a compute pass of its own, called `label`. Groups and resources
    /// are the same as for [`Kernel::dispatch`].
    ///
    /// # Errors
    ///
    /// Any error of compiling the kernel.
    pub fn dispatch(
        &mut self,
        label: &'static str,
        kernel: &Kernel,
        shared: &[(u32, &wgpu::BindGroup)],
        own: &[&dyn Bind],
        workgroups: Workgroups<'_>,
    ) -> Result<()> {
        self.dispatch_unsplit(label, kernel, shared, own, workgroups)?;
        self.split(label);
        Ok(())
    }

    fn dispatch_unsplit(
        &mut self,
        label: &'static str,
        kernel: &Kernel,
        shared: &[(u32, &wgpu::BindGroup)],
        own: &[&dyn Bind],
        workgroups: Workgroups<'_>,
    ) -> Result<()> {
        let mut pass = self.scope.scoped_compute_pass(label);
        kernel.dispatch(self.gpu, &mut pass, shared, own, workgroups)
    }

    /// Records dispatches of `kernel` with a thread for each pixel of `size`, in slices of up to `most`
    /// pixels. The kernel's first own binding receives the first row of the slice. `own` has its other
    /// bindings.
    ///
    /// # Errors
    ///
    /// Any error of compiling the kernel.
    pub fn dispatch_pixels(
        &mut self,
        label: &'static str,
        kernel: &Kernel,
        shared: &[(u32, &wgpu::BindGroup)],
        own: &[&dyn Bind],
        size: [u32; 2],
        most: u32,
    ) -> Result<()> {
        for [row_offset, rows] in slices(size, most) {
            let row_offset = self.row_offsets.at(row_offset);
            let first: &dyn Bind = &row_offset;
            let own: Vec<_> = std::iter::once(first).chain(own.iter().copied()).collect();
            let pixels = Workgroups::Pixels([size[0], rows]);
            self.dispatch_unsplit(label, kernel, shared, &own, pixels)?;
            self.split_after(label, [size[0], rows], most);
        }
        Ok(())
    }

    /// Returns the uniform of a slice's first row, for a bind group.
    pub fn row_offset(&self, row: u32) -> wgpu::BufferBinding<'a> {
        self.row_offsets.at(row)
    }

    /// Draws `shader` over all of `target` in a render pass of its own, called `label`. `own` are the
    /// resources of [`FullscreenPass::draw`].
    ///
    /// # Errors
    ///
    /// Any error of compiling the pipeline.
    pub fn draw_fullscreen(
        &mut self,
        label: &'static str,
        shader: &FullscreenPass,
        target: &wgpu::TextureView,
        own: &[&dyn Bind],
    ) -> Result<()> {
        for slice in slices(image::size_of_view(target), self.budget.pixels()) {
            draw_fullscreen_slice(&mut self.scope, self.gpu, &(label, shader, target, own), slice)?;
            let [width, _] = image::size_of_view(target);
            self.split_after(label, [width, slice[1]], self.budget.pixels());
        }
        Ok(())
    }

    /// Draws over several targets one after another, in a scope `group` of the frame. Each entry has the
    /// arguments of [`Recording::draw_fullscreen`]: label, shader, target and resources.
    ///
    /// # Errors
    ///
    /// Any error of compiling the pipelines.
    pub fn draw_fullscreen_each(&mut self, group: &'static str, draws: &[FullscreenDraw<'_>]) -> Result<()> {
        if !self.budget.in_parts {
            // Uses one scope for all draws. If one scope ended and another began without a pass in between, a
            // scope would end in another command buffer than it began in, and lavapipe 22 would crash.
            let mut scope = self.scope.scope(group);
            for draw in draws {
                let [_, rows] = image::size_of_view(draw.2);
                draw_fullscreen_slice(&mut scope, self.gpu, draw, [0, rows])?;
            }
            return Ok(());
        }
        for draw in draws {
            for slice in slices(image::size_of_view(draw.2), self.budget.pixels()) {
                draw_fullscreen_slice(&mut self.scope.scope(group), self.gpu, draw, slice)?;
                let [width, _] = image::size_of_view(draw.2);
                self.split_after(group, [width, slice[1]], self.budget.pixels());
            }
        }
        Ok(())
    }

    /// Ends a part, which is the work of `pass`, if the frame is recorded in parts. Recording continues in a
    /// new scope with the name of the current one.
    pub fn split(&mut self, pass: &'static str) {
        if self.budget.in_parts {
            let recorded = self.scope.split(self.label, self.gpu.encoder(self.label));
            let commands = recorded.finish();
            self.parts.push(Part { pass, commands });
            self.part_share = 0.0;
        }
    }

    /// Counts a slice of `width` × `height` pixels that `pass` has processed, and ends the part once it is
    /// full. `most` pixels of this pass, or [`FrameBudget::part_pixels`] if that is less, fill a part. An
    /// adapter that is not known to be fast gets one slice per part. Others get several, because each part
    /// costs as much CPU time as some dispatches and leaves the GPU idle at its end.
    fn split_after(&mut self, pass: &'static str, [width, height]: [u32; 2], most: u32) {
        let pixels = u64::from(width) * u64::from(height);
        self.pixels += pixels;
        let part = self.budget.part_pixels;
        self.part_share += pixels as f64 / f64::from(part.min(most).max(1));
        if part <= PART_PIXELS || self.part_share >= 1.0 {
            self.split(pass);
        }
    }

    /// Returns the number of pixels that passes lit, filtered or drawn over. A pixel counts once per pass.
    pub fn pixels(&self) -> u64 {
        self.pixels
    }

    /// Ends the frame. Returns the CPU time of recording it in milliseconds, and all parts but the last,
    /// which the encoder still holds.
    pub fn finish(self) -> (f64, Vec<Part>) {
        (self.stopwatch.ms(), self.parts)
    }
}

/// Arguments of [`Recording::draw_fullscreen`]: label, shader, target and resources.
pub type FullscreenDraw<'a> = (
    &'static str,
    &'a FullscreenPass,
    &'a wgpu::TextureView,
    &'a [&'a dyn Bind],
);

/// Draws over the slice of the target with this first row and height. The first slice clears the target.
fn draw_fullscreen_slice(
    scope: &mut Scope<'_>,
    gpu: &Gpu,
    (label, shader, target, own): &FullscreenDraw<'_>,
    [row_offset, rows]: [u32; 2],
) -> Result<()> {
    let load = match row_offset {
        0 => wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT),
        _ => wgpu::LoadOp::Load,
    };
    let descriptor = wgpu::RenderPassDescriptor {
        label: Some(label),
        color_attachments: &[Some(pass::color(target, load))],
        ..Default::default()
    };
    let mut pass = scope.scoped_render_pass(label, descriptor);
    pass.set_scissor_rect(0, row_offset, image::size_of_view(target)[0], rows);
    shader.draw(gpu, &mut pass, target.texture().format(), own)
}

impl Default for FrameBudget {
    fn default() -> Self {
        Self {
            batch_rays: FIRST_BATCH,
            occlusion_rays: FIRST_OCCLUSION_BATCH,
            in_parts: true,
            part_pixels: PART_PIXELS,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timed(rays: u64, ms: f64) -> RayTiming {
        let ms = Some(ms);
        RayTiming { rays, ms }
    }

    #[test]
    fn batch_sizes_adapt_to_the_measured_ray_rate() {
        let mut budget = FrameBudget::default();
        let none = RayTiming::default();
        // The adapter traces a billion rays per second, then ten million, then a hundred thousand.
        budget.update(5.0, timed(2_000_000, 2.0), none, 0);
        assert_eq!(
            (budget.batch_rays, budget.in_parts),
            (FrameBudget::MAX_RAYS, false)
        );
        budget.update(1000.0, timed(10_000_000, 1000.0), none, 0);
        assert_eq!((budget.batch_rays, budget.in_parts), (1 << 18, true));
        budget.update(1000.0, timed(100_000, 1000.0), none, 0);
        assert_eq!(budget.batch_rays, MIN_BATCH);
        // A batch that could double does not justify a new ray list. A frame without rays changes nothing.
        budget.update(1000.0, timed(8_388_608, 1000.0), none, 0);
        assert_eq!(budget.batch_rays, 1 << 18);
        for (rays, ms) in [
            (8_000_000, 1000.0),
            (10_000_000, 1000.0),
            (0, 1.0),
            (1 << 20, 0.0),
        ] {
            budget.update(1000.0, timed(rays, ms), none, 0);
            assert_eq!(budget.batch_rays, 1 << 18);
        }
        assert_eq!(budget.occlusion_rays, FrameBudget::default().occlusion_rays);
    }

    /// A large GPU with a long frame gets its passes undivided, and several passes in a part.
    #[test]
    fn frame_parts_grow_to_fill_the_time_budget() {
        let (none, picture) = (RayTiming::default(), 2560 * 1440);
        let mut budget = FrameBudget::default();
        budget.update(50.0, none, none, 25 * picture);
        assert!(budget.in_parts);
        let passes = f64::from(budget.pixels()) / picture as f64;
        assert!((16.0..17.0).contains(&passes), "{passes}");
        // A slow adapter gets no less than the initial budget.
        budget.update(50_000.0, none, none, 25 * picture);
        assert_eq!(budget.part_pixels, PART_PIXELS);
    }

    /// Returns the number of occlusion slices with one ray per pixel, at 2560 × 1440.
    fn occlusion_bands(budget: FrameBudget) -> usize {
        slices([2560, 1440], budget.occlusion_pixels(1)).count()
    }

    #[test]
    fn occlusion_is_split_into_bands_only_if_it_is_slow() {
        let pixels = 2560 * 1440;
        let first = FrameBudget::default();
        assert!(occlusion_bands(first) > 10);
        // No shadow rays: shadow maps, or the sky as the only light. The cases are a large GPU, one with a
        // long frame, and one without timestamps.
        let none = RayTiming::default();
        for (frame_ms, occlusion) in [
            (8.0, timed(pixels, 4.0)),
            (60.0, timed(pixels, 30.0)),
            (
                8.0,
                RayTiming {
                    rays: pixels,
                    ms: None,
                },
            ),
        ] {
            let mut budget = first;
            budget.update(frame_ms, none, occlusion, 0);
            assert!(occlusion_bands(budget) <= 2, "{frame_ms}: {budget:?}");
            // The budget is stable.
            let rested = budget;
            budget.update(frame_ms, none, occlusion, 0);
            assert_eq!(budget, rested);
        }
        // A slow adapter gets as much as it traces in a part's time.
        let mut budget = first;
        budget.update(900.0, none, timed(pixels, 800.0), 0);
        assert!(occlusion_bands(budget) >= 24, "{budget:?}");
        // Untimed rays of a long frame may be the reason for it.
        let mut budget = first;
        budget.update(
            3000.0,
            none,
            RayTiming {
                rays: pixels,
                ms: None,
            },
            0,
        );
        assert!(budget.occlusion_rays < first.occlusion_rays, "{budget:?}");
    }
}
