//! `mipmap`: generates the mip levels of a texture on the GPU when a scene is uploaded.

use canopy_bvh::{
    Result,
    gpu::{FullscreenPass, Gpu, pass},
};

/// Filter from one mip level to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Filter {
    /// Averages each channel by itself, colours in linear light.
    Plain,
    /// Averages sRGB colours weighted by alpha.
    Cut,
    /// Averages linear normals. Their alpha stores the spread of the normals; it is 1 in mip level 0.
    Normals,
}

/// Mip generation pass.
#[derive(Debug)]
pub struct Mipmap {
    plain: FullscreenPass,
    cut: FullscreenPass,
    normals: FullscreenPass,
}

impl Mipmap {
    /// Creates the pass without compiling it.
    pub fn new(gpu: &Gpu) -> Self {
        let bindings = [pass::Binding::Filtered];
        let fullscreen = |entry| FullscreenPass::new(gpu, "frame/mipmap.wgsl", entry, &bindings);
        Self {
            plain: fullscreen("mipmap"),
            cut: fullscreen("mipmap_cut"),
            normals: fullscreen("mipmap_normals"),
        }
    }

    /// Fills every mip level of `texture`, which has a byte per channel, from level 0, which holds the image.
    pub fn record(
        &self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        texture: &wgpu::Texture,
        filter: Filter,
    ) -> Result<()> {
        let fullscreen = match (texture.format().is_srgb(), filter) {
            (false, Filter::Normals) => &self.normals,
            (true, Filter::Cut) => &self.cut,
            _ => &self.plain,
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
            let finer = level(coarser - 1);
            let target = level(coarser);
            let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
                label: Some("mipmap"),
                color_attachments: &[Some(pass::color(
                    &target,
                    wgpu::LoadOp::Clear(wgpu::Color::BLACK),
                ))],
                ..Default::default()
            });
            fullscreen.draw(gpu, &mut pass, texture.format(), &[&finer])?;
        }
        Ok(())
    }
}
