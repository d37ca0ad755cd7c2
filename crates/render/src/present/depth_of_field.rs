//! `depth_of_field`: blurs the picture like a lens with an aperture. It costs nothing in frames without it.

use crate::{
    bindings::Layouts,
    formats::HDR_FORMAT,
    frame::{Frame, life_cycle::LifeCycle, recording::Recording},
    layout::DepthOfFieldParams,
    resources::{GBuffer, Radiance, try_create},
    settings::DepthOfField as Settings,
};
use canopy_bvh::{
    Result,
    gpu::{
        Gpu, GpuImage, Kernel, Recorder, Uniform,
        library::wgsl_constants,
        pass::Binding::{Float, Read, Store, Uniform as UniformBinding, Write},
    },
};
use canopy_scene::Projection;
use wgpu::{BufferUsages, TextureFormat as Format, TextureUsages as Usage};

wgsl_constants! {
    /// Largest radius of a circle of confusion, in pixels.
    pub const DEPTH_OF_FIELD_LIMIT: f64 = 32.0;
    /// Side of a tile in pixels. It equals the radius of the largest circle.
    pub const DEPTH_OF_FIELD_TILE: u32 = 32;
    /// Number of neighbouring pixels that each pixel gathers from.
    pub const DEPTH_OF_FIELD_SAMPLES: u32 = 96;
    /// Depth of the background, in metres along the view.
    pub const DEPTH_OF_FIELD_FAR: f64 = 1e12;
    /// Golden angle in radians, between neighbouring points of a sunflower spiral: (3 − √5) π.
    pub const DEPTH_OF_FIELD_GOLDEN_ANGLE: f64 = 2.399_963_229_728_653;
}

const LABEL: &str = "depth_of_field";
const CIRCLES: &str = "depth_of_field_circles";
const PATH: &str = "picture/depth_of_field.wgsl";

/// Depth-of-field pass.
#[derive(Debug)]
pub struct DepthOfField {
    circles: Kernel,
    gather: Kernel,
    params: Uniform<DepthOfFieldParams>,
    made: Option<Images>,
}

/// Resources that exist while depth of field is on.
#[derive(Debug)]
struct Images {
    circles: GpuImage,
    tiles: wgpu::Buffer,
    output: Radiance,
}

/// Returns the lens of a camera with the vertical field of view `fov_y` in radians, for a picture of `rows`
/// rows.
pub fn lens(settings: &Settings, fov_y: f32, rows: u32) -> DepthOfFieldParams {
    let sensor = 1e-3 * settings.sensor_height;
    let focal_length = 0.5 * sensor / (0.5 * fov_y).tan();
    DepthOfFieldParams {
        aperture: focal_length / settings.f_number,
        focal_length,
        focus: settings.focus,
        pixels_per_metre: rows as f32 / sensor,
    }
}

impl LifeCycle for DepthOfField {}

impl DepthOfField {
    /// Creates the pass without compiling it.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        let shared = [(0, &layouts.frame)];
        let uniform = UniformBinding;
        let circles = [uniform, uniform, Float, Store(Format::R32Float), Write];
        let out = Store(HDR_FORMAT);
        let gather = [uniform, uniform, Float, Read, Float, Float, out, out];
        Self {
            circles: Kernel::new(gpu, PATH, CIRCLES, &shared, &circles),
            gather: Kernel::new(gpu, PATH, LABEL, &shared, &gather),
            params: Uniform::new(gpu, "depth_of_field.params"),
            made: None,
        }
    }

    /// Blurs `radiance`, or returns it unchanged if depth of field is off.
    pub fn record<'a>(
        &'a mut self,
        recording: &mut Recording<'_>,
        frame: &Frame<'_>,
        gbuffer: &GBuffer,
        radiance: &'a Radiance,
    ) -> Result<&'a Radiance> {
        let settings = &frame.config.depth_of_field;
        let fov_y = match frame.view.projection {
            Projection::Perspective { fov_y } if settings.enabled => fov_y,
            _ => {
                self.made = None;
                return Ok(radiance);
            }
        };
        let (gpu, size) = (recording.gpu, frame.size);
        self.params.write(gpu, &lens(settings, fov_y, size[1]));
        let made = match self.made.take() {
            Some(made) if made.output.size() == size => made,
            _ => try_create(gpu, size, || Images::new(gpu, size))?,
        };
        let made = self.made.insert(made);
        recording.scope.encoder().clear_buffer(&made.tiles, 0, None);
        let shared = [(0, &frame.group)];
        recording.dispatch_pixels(
            CIRCLES,
            &self.circles,
            &shared,
            &[&self.params, &gbuffer.position, &made.circles, &made.tiles],
            size,
            recording.budget.pixels(),
        )?;
        recording.dispatch_pixels(
            LABEL,
            &self.gather,
            &shared,
            &[
                &self.params,
                &made.circles,
                &made.tiles,
                &radiance.hdr,
                &radiance.display,
                &made.output.hdr,
                &made.output.display,
            ],
            size,
            recording.budget.pixels() / 4,
        )?;
        Ok(&made.output)
    }

    /// Returns the blurred radiance of the last frame, or `None` if it was not blurred.
    pub(crate) fn output(&self) -> Option<&Radiance> {
        self.made.as_ref().map(|made| &made.output)
    }
}

impl Images {
    fn new(gpu: &Gpu, size: [u32; 2]) -> Self {
        let usage = Usage::STORAGE_BINDING | Usage::TEXTURE_BINDING;
        let tiles = size.map(|side| u64::from(side.div_ceil(DEPTH_OF_FIELD_TILE)));
        Self {
            circles: GpuImage::new(gpu, CIRCLES, size, Format::R32Float, usage),
            tiles: gpu.buffer(
                "depth_of_field.tiles",
                4 * tiles[0] * tiles[1],
                BufferUsages::STORAGE | BufferUsages::COPY_DST,
            ),
            output: Radiance::new(gpu, size),
        }
    }
}
