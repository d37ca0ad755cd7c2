//! `mipmap`: the coarser levels of a texture, made on the GPU when a scene is uploaded.

use crate::{
    Result,
    gpu::{Gpu, pass, shader},
};

/// The pass.
#[derive(Debug)]
pub struct Mipmap {
    linear: wgpu::RenderPipeline,
    srgb: wgpu::RenderPipeline,
    /// sRGB, with colours weighed by their alpha.
    cut: wgpu::RenderPipeline,
    layout: wgpu::BindGroupLayout,
}

impl Mipmap {
    /// Compiles it.
    pub fn new(gpu: &Gpu) -> Result<Self> {
        let module = shader::module(gpu, "render/mipmap.wgsl")?;
        let layout = pass::layout(
            gpu,
            "mipmap",
            &[(wgpu::ShaderStages::FRAGMENT, pass::Binding::Filtered)],
        );
        let pipeline =
            |entry, format| pass::cover_pipeline(gpu, &module, entry, &[&layout], format);
        Ok(Self {
            linear: pipeline("mipmap", wgpu::TextureFormat::Rgba8Unorm)?,
            srgb: pipeline("mipmap", wgpu::TextureFormat::Rgba8UnormSrgb)?,
            cut: pipeline("mipmap_cut", wgpu::TextureFormat::Rgba8UnormSrgb)?,
            layout,
        })
    }

    /// Fills every level of `texture`, which has a byte a channel, below the first, which holds the image. `cut` weighs sRGB
    /// colours by their alpha.
    pub fn record(
        &self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        texture: &wgpu::Texture,
        cut: bool,
    ) {
        let pipeline = match (texture.format().is_srgb(), cut) {
            (false, _) => &self.linear,
            (true, false) => &self.srgb,
            (true, true) => &self.cut,
        };
        let level = |level| {
            texture.create_view(&wgpu::TextureViewDescriptor {
                label: Some("mipmap.level"),
                base_mip_level: level,
                mip_level_count: Some(1),
                ..Default::default()
            })
        };
        for coarser in 1..texture.mip_level_count() {
            let resources = [wgpu::BindingResource::TextureView(&level(coarser - 1))];
            let group = pass::bind_group(gpu, "mipmap", &self.layout, &resources);
            let target = level(coarser);
            let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
                label: Some("mipmap"),
                color_attachments: &[Some(pass::color(
                    &target,
                    wgpu::LoadOp::Clear(wgpu::Color::BLACK),
                ))],
                ..Default::default()
            });
            pass.set_pipeline(pipeline);
            pass.set_bind_group(0, &group, &[]);
            pass.draw(0..3, 0..1);
        }
    }
}
