//! `cube_edges`: makes compute shaders filter a cube across its face edges on drivers that only prepare
//! seamless filtering in draws.

use super::cube::Cube;
use canopy_bvh::{
    Result,
    gpu::{
        FullscreenPass, Gpu, GpuImage,
        pass::{self, Binding},
        profiler::Scope,
    },
};
use wgpu::{TextureFormat as Format, TextureUsages as Usage};

const FORMAT: Format = Format::R8Unorm;

/// Full-screen pass and target, or `None` if
/// [`Capabilities::cube_edges_drawn`](canopy_bvh::gpu::Capabilities::cube_edges_drawn) is false.
#[derive(Debug)]
pub(super) struct CubeEdges(Option<(FullscreenPass, GpuImage)>);

impl CubeEdges {
    pub(super) fn new(gpu: &Gpu) -> Self {
        let path = "environment/cube_edges.wgsl";
        Self(gpu.capabilities.cube_edges_drawn.then(|| {
            let cover = FullscreenPass::new(gpu, path, "cube_edges", &[Binding::Cube]);
            let usage = Usage::RENDER_ATTACHMENT;
            (cover, GpuImage::new(gpu, "cube_edges", [1, 1], FORMAT, usage))
        }))
    }

    /// Records the draw for `cube` after its texels have been written.
    pub(super) fn record(&self, gpu: &Gpu, scope: &mut Scope<'_>, cube: &Cube) -> Result<()> {
        let Some((cover, target)) = &self.0 else {
            return Ok(());
        };
        let descriptor = wgpu::RenderPassDescriptor {
            label: Some("cube_edges"),
            color_attachments: &[Some(pass::color(
                &target.view,
                wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT),
            ))],
            ..Default::default()
        };
        let mut pass = scope.scoped_render_pass("cube_edges", descriptor);
        cover.draw(gpu, &mut pass, FORMAT, &[&cube.view])
    }
}
