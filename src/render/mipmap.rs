//! `mipmap`: the coarser levels of a texture, made on the GPU when a scene is uploaded.

use crate::{
    Result,
    gpu::{Gpu, OnDemand, pass},
};

/// How texels become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Filter {
    /// Each channel by itself, colours in linear light.
    Plain,
    /// sRGB colours, weighed by their alpha.
    Cut,
    /// Linear normals, whose alpha, 1 in the finest level, says how far they differ.
    Normals,
}

/// The pass.
#[derive(Debug)]
pub struct Mipmap {
    linear: OnDemand<wgpu::RenderPipeline>,
    srgb: OnDemand<wgpu::RenderPipeline>,
    /// sRGB, with colours weighed by their alpha.
    cut: OnDemand<wgpu::RenderPipeline>,
    normals: OnDemand<wgpu::RenderPipeline>,
    layout: wgpu::BindGroupLayout,
}

impl Mipmap {
    /// Ready to be compiled.
    pub fn new(gpu: &Gpu) -> Self {
        let layout = pass::layout(
            gpu,
            "mipmap",
            &[(wgpu::ShaderStages::FRAGMENT, pass::Binding::Filtered)],
        );
        let pipeline =
            |entry, format| pass::cover_on_demand("render/mipmap.wgsl", entry, &layout, format);
        Self {
            linear: pipeline("mipmap", wgpu::TextureFormat::Rgba8Unorm),
            srgb: pipeline("mipmap", wgpu::TextureFormat::Rgba8UnormSrgb),
            cut: pipeline("mipmap_cut", wgpu::TextureFormat::Rgba8UnormSrgb),
            normals: pipeline("mipmap_normals", wgpu::TextureFormat::Rgba8Unorm),
            layout,
        }
    }

    /// Fills every level of `texture`, which has a byte a channel, below the first, which holds the image.
    pub fn record(
        &self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        texture: &wgpu::Texture,
        filter: Filter,
    ) -> Result<()> {
        let pipeline = match (texture.format().is_srgb(), filter) {
            (false, Filter::Normals) => &self.normals,
            (false, _) => &self.linear,
            (true, Filter::Cut) => &self.cut,
            (true, _) => &self.srgb,
        };
        let pipeline = pipeline.get(gpu)?;
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
        Ok(())
    }
}
