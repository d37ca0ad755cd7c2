//! `texture_view`: draws a texture of a scene for a viewer. It is not part of a frame.

use super::copied::PendingCopy;
use crate::{
    frame::check_size,
    layout::{TextureViewParams, TextureViewTexel},
    materials::material_textures::SceneTexture,
    raster::drawn::{DrawDescriptor, blended},
};
use canopy_bvh::{
    Result,
    gpu::{
        Bind, Gpu, GpuImage, Kernel, LazyPipeline, Recorder, Workgroups, bind_group,
        library::wgsl_constants,
        pass::{self, Binding},
    },
};
use canopy_scene::environment::EnvironmentImage;
use wgpu::{RenderPipeline, ShaderStages as Stages, TextureFormat as Format};

wgsl_constants! {
    /// Side in pixels of a square of the checkerboard behind transparent texels.
    pub const TEXTURE_VIEW_CHECKER: u32 = 8;
}

/// Use of an environment's image ([`SceneTexture::used_as`]).
pub const RADIANCE: &str = "radiance";

const LABEL: &str = "texture_view";
const PATH: &str = "inspect/texture_view.wgsl";
const TEXEL_BYTES: u64 = size_of::<TextureViewTexel>() as u64;

/// Pass that draws a texture.
#[derive(Debug)]
pub struct TextureView {
    pipeline: LazyPipeline<RenderPipeline>,
    layout: wgpu::BindGroupLayout,
    texel: Kernel,
    smooth: wgpu::Sampler,
}

/// Texture with its bind group, ready to be drawn. Clones share the buffer of its parameters.
#[derive(Debug, Clone)]
pub struct DrawnTexture {
    pipeline: RenderPipeline,
    group: wgpu::BindGroup,
    params: wgpu::Buffer,
}

/// Pending readback of a texel.
#[derive(Debug)]
pub struct TexelCopy(PendingCopy);

impl TextureView {
    /// Creates the pass for targets of `format`, without compiling it.
    pub fn new(gpu: &Gpu, format: Format) -> Self {
        let bindings = [Binding::Filtered, Binding::Uniform, Binding::Sampler];
        let bindings = bindings.map(|binding| (Stages::FRAGMENT, binding));
        let layout = pass::layout(gpu, LABEL, &bindings);
        let own = [Binding::Float, Binding::Write];
        Self {
            pipeline: DrawDescriptor {
                path: PATH,
                groups: vec![Some(layout.clone())],
                vertex: "fullscreen",
                fragment: "texture_view",
                topology: wgpu::PrimitiveTopology::TriangleList,
                samples: 1,
                target: blended(format, wgpu::BlendComponent::OVER),
            }
            .lazy_pipeline(LABEL),
            layout,
            texel: Kernel::new(gpu, PATH, "texture_view_texel", &[], &own),
            smooth: gpu.device.create_sampler(&wgpu::SamplerDescriptor {
                label: Some("texture_view.smooth"),
                mag_filter: wgpu::FilterMode::Linear,
                min_filter: wgpu::FilterMode::Linear,
                ..Default::default()
            }),
        }
    }

    /// Creates the bind group of a texture.
    ///
    /// # Errors
    ///
    /// Any error of compiling the pipeline.
    pub fn show(&self, gpu: &Gpu, texture: &SceneTexture) -> Result<DrawnTexture> {
        let usage = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
        let bytes = size_of::<TextureViewParams>() as u64;
        let params = gpu.buffer("texture_view.params", bytes, usage);
        let own: [&dyn Bind; 3] = [&texture.view, &params, &self.smooth];
        Ok(DrawnTexture {
            pipeline: self.pipeline.get(gpu)?,
            group: bind_group(gpu, LABEL, &self.layout, &own),
            params,
        })
    }

    /// Records the readback of a texel of a mip level. Call [`TexelCopy::map`] after the submission.
    ///
    /// # Errors
    ///
    /// Any error of compiling the kernel, or [`Error::Gpu`](canopy_bvh::Error::Gpu) if the adapter is out of
    /// memory.
    pub fn copy_texel(
        &self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        texture: &SceneTexture,
        (level, place): (u32, [u32; 2]),
    ) -> Result<TexelCopy> {
        let query = TextureViewTexel {
            place,
            level,
            ..TextureViewTexel::default()
        };
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
        let texel = gpu.catch(|| gpu.buffer("texture_view.texel", TEXEL_BYTES, usage))?;
        gpu.queue.write_buffer(&texel, 0, bytemuck::bytes_of(&query));
        let mut pass = encoder.scoped_compute_pass(LABEL);
        let own: [&dyn Bind; 2] = [&texture.view, &texel];
        self.texel
            .dispatch(gpu, &mut pass, &[], &own, Workgroups::Count(1))?;
        drop(pass);
        let parts = [(&texel, TEXEL_BYTES)];
        PendingCopy::record(gpu, encoder, "a texel", &parts).map(TexelCopy)
    }
}

/// Uploads the image of an environment unchanged, for viewing. The faces of a cube are stacked vertically.
/// Its values become radiance when multiplied by [`EnvironmentImage::scale`].
///
/// # Errors
///
/// [`Error`](canopy_bvh::Error) if the image exceeds the adapter's limits.
pub fn environment_texture(gpu: &Gpu, image: &EnvironmentImage) -> Result<SceneTexture> {
    let size = [image.width, image.height];
    check_size(gpu, size)?;
    let usage = wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST;
    let label = "image of the environment";
    let texture = gpu.catch(|| GpuImage::new(gpu, label, size, Format::Rgba16Float, usage))?;
    gpu.queue.write_texture(
        texture.texture.as_image_copy(),
        bytemuck::cast_slice(&image.texels),
        wgpu::TexelCopyBufferLayout {
            offset: 0,
            bytes_per_row: Some(image.width * 8),
            rows_per_image: None,
        },
        texture.texture.size(),
    );
    Ok(SceneTexture {
        image: None,
        used_as: RADIANCE,
        view: texture.view,
    })
}

impl DrawnTexture {
    /// Writes the parameters for the next draw.
    pub fn place(&self, queue: &wgpu::Queue, params: &TextureViewParams) {
        queue.write_buffer(&self.params, 0, bytemuck::bytes_of(params));
    }

    /// Draws the texture into the viewport of `pass`.
    pub fn draw(&self, pass: &mut wgpu::RenderPass<'_>) {
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.group, &[]);
        pass.draw(0..3, 0..1);
    }
}

impl TexelCopy {
    /// Requests the mapping of the texel. Call it after the submission.
    pub fn map(&self) {
        self.0.map();
    }

    /// True if the texel has arrived or the readback has failed. Poll the device meanwhile.
    pub fn is_done(&self) -> bool {
        self.0.is_done()
    }

    /// Returns red, green, blue and alpha of the texel. Colours are linear.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](canopy_bvh::Error::Gpu) if it has not arrived.
    pub fn read(&self) -> Result<[f32; 4]> {
        self.0.read(|bytes| {
            let texel: TextureViewTexel =
                bytemuck::pod_read_unaligned(&bytes[..size_of::<TextureViewTexel>()]);
            texel.value
        })
    }
}
