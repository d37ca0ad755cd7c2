//! `channel`: writes one channel of the frame as floats, for AOVs and debug views.

use crate::{
    aov::Channel,
    bindings::Layouts,
    frame::recording::Recording,
    layout::ChannelParams,
    resources::{FogFroxels, GBuffer, HDR_FORMAT, Incident, Motion, Radiance, try_create},
    upload::scene_buffers::SceneBuffers,
};
use canopy_bvh::{
    Result,
    gpu::{
        Gpu, GpuImage, Kernel, Uniform,
        pass::Binding::{self, Float, Read, Store, Uint},
    },
};
use wgpu::{TextureFormat as Format, TextureUsages as Usage};

const FORMAT: Format = Format::Rgba32Float;

/// Pipeline of the pass and its image, which has one texel until a channel is requested.
#[derive(Debug)]
pub struct ChannelPass {
    kernel: Kernel,
    params: Uniform<ChannelParams>,
    output: GpuImage,
    /// Placeholder for volumes if there are none.
    nothing: GpuImage,
}

/// Frame that a channel is read from.
#[derive(Debug, Clone, Copy)]
pub struct ChannelSource<'a> {
    /// Bind group of [`Layouts::frame`].
    pub group: &'a wgpu::BindGroup,
    /// Buffers of the scene.
    pub buffers: &'a SceneBuffers,
    /// Output of `gbuffer`.
    pub gbuffer: &'a GBuffer,
    /// Outputs of the shadow, occlusion, reflection and fog passes.
    pub light: Incident<'a>,
    /// Output of `lighting`.
    pub radiance: &'a Radiance,
    /// Output of `motion`.
    pub motion: Motion<'a>,
    /// Measurements of the surfaces.
    pub measured: SurfaceMeasurements<'a>,
    /// Total of all volumes, as `volume_compose` writes it.
    pub volumes: Option<&'a GpuImage>,
}

/// Measurements of the surfaces.
#[derive(Debug, Clone, Copy)]
pub struct SurfaceMeasurements<'a> {
    /// Output of `deviation`.
    pub deviation: &'a GpuImage,
    /// Output of `intersections`, with one bit per triangle.
    pub intersecting: &'a wgpu::Buffer,
    /// Image of the guest.
    pub guest: &'a GpuImage,
}

impl ChannelPass {
    /// Creates the pass without compiling its pipeline.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        let bindings = [
            Binding::Uniform,
            Float,
            Uint,
            Uint,
            Uint,
            Uint,
            Float,
            Read,
            Read,
            Read,
            Binding::Uniform,
            Store(FORMAT),
            Float,
            Binding::Uniform,
            Float,
            Read,
            Float,
            Read,
            Float,
        ];
        let bindings = [&bindings[..], &FogFroxels::BINDINGS, &[Float]].concat();
        let (path, shared) = ("inspect/channel.wgsl", [(0, &layouts.frame)]);
        Self {
            kernel: Kernel::new(gpu, path, "channel", &shared, &bindings),
            params: Uniform::new(gpu, "channel.params"),
            output: image(gpu, [1, 1]),
            nothing: GpuImage::new(gpu, "channel.nothing", [1, 1], HDR_FORMAT, Usage::TEXTURE_BINDING),
        }
    }

    /// Writes `channel` of a frame. For [`Channel::Lit`], that is linear radiance before exposure.
    pub fn record(
        &mut self,
        recording: &mut Recording<'_>,
        channel: Channel,
        source: ChannelSource<'_>,
    ) -> Result<()> {
        let gpu = recording.gpu;
        let ChannelSource {
            gbuffer,
            radiance,
            buffers,
            ..
        } = source;
        let size = gbuffer.size();
        if self.output.size() != size {
            self.output = try_create(gpu, size, || image(gpu, size))?;
        }
        self.params.write(
            gpu,
            &ChannelParams {
                origin: buffers.origin.to_array(),
                channel: channel as u32,
                nan: f32::NAN,
                volumes: source.volumes.is_some().into(),
                ..ChannelParams::default()
            },
        );
        let (light, measured) = (source.light, source.measured);
        let [fog, fog_texture, fog_sampler] = light.fog.bindings();
        recording.dispatch_pixels(
            "channel",
            &self.kernel,
            &[(0, source.group)],
            &[
                &gbuffer.position,
                &gbuffer.normal,
                &gbuffer.albedo,
                &gbuffer.emissive,
                &gbuffer.ids,
                &radiance.hdr,
                &light.visibility.words,
                &buffers.triangle_info,
                &light.ambient.words,
                &self.params,
                &self.output,
                &radiance.display,
                source.motion.params,
                source.motion.displacement,
                &light.reflected.words,
                measured.deviation,
                measured.intersecting,
                measured.guest,
                fog,
                fog_texture,
                fog_sampler,
                source.volumes.unwrap_or(&self.nothing),
            ],
            size,
            recording.budget.pixels(),
        )
    }

    /// Returns the channel that was written last.
    pub fn output(&self) -> &GpuImage {
        &self.output
    }
}

fn image(gpu: &Gpu, size: [u32; 2]) -> GpuImage {
    let usage = Usage::STORAGE_BINDING | Usage::TEXTURE_BINDING | Usage::COPY_SRC;
    GpuImage::new(gpu, "channel", size, FORMAT, usage)
}
