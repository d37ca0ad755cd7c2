//! `mipmap`: the coarser levels of a texture, made on the GPU when a scene is uploaded.

use crate::{
    Result,
    gpu::{Gpu, pass, shader},
};

/// The pass, one pipeline per format.
#[derive(Debug)]
pub struct Mipmap {
    linear: wgpu::RenderPipeline,
    srgb: wgpu::RenderPipeline,
    layout: wgpu::BindGroupLayout,
    sampler: wgpu::Sampler,
}

impl Mipmap {
    /// Compiles it.
    pub fn new(gpu: &Gpu) -> Result<Self> {
        let module = shader::module(gpu, "render/mipmap.wgsl")?;
        let fragment = wgpu::ShaderStages::FRAGMENT;
        let layout = pass::layout(
            gpu,
            "mipmap",
            &[
                (fragment, pass::Binding::Filtered),
                (fragment, pass::Binding::Sampler),
            ],
        );
        let pipeline = |format| pass::cover_pipeline(gpu, &module, "mipmap", &[&layout], format);
        Ok(Self {
            linear: pipeline(wgpu::TextureFormat::Rgba8Unorm)?,
            srgb: pipeline(wgpu::TextureFormat::Rgba8UnormSrgb)?,
            sampler: gpu.device.create_sampler(&wgpu::SamplerDescriptor {
                label: Some("mipmap"),
                mag_filter: wgpu::FilterMode::Linear,
                min_filter: wgpu::FilterMode::Linear,
                ..Default::default()
            }),
            layout,
        })
    }

    /// Fills every level of `texture` below the first, which holds the image.
    pub fn record(&self, gpu: &Gpu, encoder: &mut wgpu::CommandEncoder, texture: &wgpu::Texture) {
        let pipeline = if texture.format().is_srgb() {
            &self.srgb
        } else {
            &self.linear
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
            let resources = [
                wgpu::BindingResource::TextureView(&level(coarser - 1)),
                wgpu::BindingResource::Sampler(&self.sampler),
            ];
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
