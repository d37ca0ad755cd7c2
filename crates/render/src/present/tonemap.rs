//! `tonemap`: maps radiance or a channel to display colours.

use crate::{
    aov::{Channel, Heat},
    frame::{Frame, recording::Recording},
    layout::TonemapParams,
    resources::{Displayed, HDR_FORMAT, PICTURE_FORMAT, Radiance, try_create},
    settings::Tonemap as Curve,
};
use canopy_bvh::{
    Result,
    gpu::{
        FullscreenPass, Gpu, GpuImage, Uniform,
        library::wgsl_constants,
        pass::Binding::{self, Filtered, Float, Sampler},
    },
};
use wgpu::{TextureFormat as Format, TextureUsages as Usage};

wgsl_constants! {
    const CURVE_REINHARD: u32 = Curve::Reinhard as u32;
    const CURVE_ACES: u32 = Curve::Aces as u32;
    const CURVE_NEUTRAL: u32 = Curve::Neutral as u32;
    const CURVE_AGX: u32 = Curve::Agx as u32;
}

/// Motion in pixels in either direction at the ends of the displayed range.
pub const MOTION_SHOWN: f32 = 32.0;

/// Tone mapping pass.
#[derive(Debug)]
pub struct Tonemap {
    fullscreen: FullscreenPass,
    params: Uniform<TonemapParams>,
    /// Parameters without dithering, for use before a later pass that rounds. A frame may use both sets of
    /// parameters.
    undithered: Uniform<TonemapParams>,
    sampler: wgpu::Sampler,
    /// Value of the brightest colour of the channel `cost`.
    cost_range: wgpu::Buffer,
    /// Image that another pass reads; one texel until it is needed.
    output: GpuImage,
}

impl Tonemap {
    /// Creates the pass without compiling it. The first number in `cost_range` is the value of the brightest
    /// colour of the channel `cost`.
    pub fn new(gpu: &Gpu, cost_range: &wgpu::Buffer) -> Self {
        let bindings = [
            Binding::Uniform,
            Filtered,
            Sampler,
            Float,
            Binding::Uniform,
            Filtered,
            Binding::Uniform,
        ];
        Self {
            fullscreen: FullscreenPass::new(gpu, "picture/tonemap.wgsl", "tonemap", &bindings),
            params: Uniform::new(gpu, "tonemap.params"),
            undithered: Uniform::new(gpu, "tonemap.undithered"),
            sampler: gpu.device.create_sampler(&wgpu::SamplerDescriptor {
                label: Some("tonemap"),
                mag_filter: wgpu::FilterMode::Linear,
                min_filter: wgpu::FilterMode::Linear,
                ..Default::default()
            }),
            cost_range: cost_range.clone(),
            output: picture(gpu, [1, 1], PICTURE_FORMAT),
        }
    }

    /// Draws an image of `format` that another pass reads.
    pub fn record(
        &mut self,
        recording: &mut Recording<'_>,
        frame: &Frame<'_>,
        radiance: &Radiance,
        shown: Displayed<'_>,
        exposure: &wgpu::Buffer,
        format: Format,
    ) -> Result<&GpuImage> {
        let gpu = recording.gpu;
        let output = &self.output;
        if (output.size(), output.texture.format()) != (frame.size, format) {
            self.output = try_create(gpu, frame.size, || picture(gpu, frame.size, format))?;
        }
        let target = &self.output.view;
        self.record_to(recording, frame, radiance, shown, exposure, target)?;
        Ok(&self.output)
    }

    /// Draws the frame to `target`.
    pub fn record_to(
        &self,
        recording: &mut Recording<'_>,
        frame: &Frame<'_>,
        radiance: &Radiance,
        shown: Displayed<'_>,
        exposure: &wgpu::Buffer,
        target: &wgpu::TextureView,
    ) -> Result<()> {
        let mut values = params(frame, shown.heat);
        let params = match target.texture().format() {
            HDR_FORMAT => {
                values.dither = 0;
                &self.undithered
            }
            _ => &self.params,
        };
        params.write(recording.gpu, &values);
        recording.draw_fullscreen(
            "tonemap",
            &self.fullscreen,
            target,
            &[
                params,
                &radiance.hdr,
                &self.sampler,
                shown.image,
                exposure,
                &radiance.display,
                &self.cost_range,
            ],
        )
    }
}

fn picture(gpu: &Gpu, size: [u32; 2], format: Format) -> GpuImage {
    let usage = Usage::RENDER_ATTACHMENT | Usage::TEXTURE_BINDING;
    GpuImage::new(gpu, "picture", size, format, usage)
}

/// Returns the parameters of a frame. Positions and depths are scaled to the scene's bounds, so that they
/// fill the displayed range.
fn params(frame: &Frame<'_>, heat: Option<Heat>) -> TonemapParams {
    let (scene, view) = (frame.bounds, &frame.view);
    let size = (scene.max - scene.min).max_element().max(1e-20);
    let (offset, scale) = match frame.channel {
        Channel::Position => (-(frame.buffers.origin + scene.min), 1.0 / size),
        Channel::Normal => (glam::Vec3::ONE, 0.5),
        Channel::Depth => {
            let middle = (scene.center() - view.eye()).dot(view.forward());
            let nearest = (middle - scene.radius()).max(0.0);
            let scale = 0.5 / scene.radius().max(1e-20);
            (glam::Vec3::splat(-nearest), scale)
        }
        Channel::Motion => (glam::Vec3::splat(MOTION_SHOWN), 0.5 / MOTION_SHOWN),
        _ => (glam::Vec3::ZERO, 1.0),
    };
    TonemapParams {
        curve: frame.config.image.tonemap as u32,
        // Counts of any channel use the colours of the channel `cost`.
        channel: match heat {
            Some(_) => Channel::Cost as u32,
            None => frame.channel as u32,
        },
        scale,
        transparent: u32::from(frame.is_transparent()),
        offset: offset.extend(0.0).to_array(),
        dither: u32::from(frame.config.image.dither),
        cost_weights: heat.map_or([0.0; 2], |heat| heat.weights),
        ..TonemapParams::default()
    }
}
