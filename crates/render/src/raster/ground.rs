//! `ground`: draws the plane below the scene into the G-buffer, behind all other surfaces.

use crate::{
    bindings::{Layouts, SurfacePipeline},
    frame::{life_cycle::LifeCycle, recording::Recording},
    resources::{GBuffer, gbuffer_targets},
    upload::scene_buffers::SceneBuffers,
    world::World,
};
use canopy_bvh::{
    Result,
    gpu::{Gpu, LazyPipeline, pass},
};
use canopy_scene::framing::Ground;
use glam::Vec2;

/// Number of vertices of the ground. They follow the vertices of the merged scene.
pub(crate) const VERTICES: u32 = 4;
/// Vertex indices of the ground's two triangles, which face up.
pub(crate) const CORNERS: [u32; 6] = [0, 1, 2, 0, 2, 3];
/// Offsets of its vertices from its centre in x and z, in units of half its side.
const SIDES: [[f32; 2]; VERTICES as usize] = [[-1.0, -1.0], [-1.0, 1.0], [1.0, 1.0], [1.0, -1.0]];
/// Number of grid lines from the origin beyond which f32 cannot represent line numbers precisely. They then
/// wrap around.
const FAR: f32 = 10_000.0;

/// Ground pass.
#[derive(Debug)]
pub struct GroundPass {
    pipeline: LazyPipeline<wgpu::RenderPipeline>,
    /// Ground in the merged buffers, and their version.
    written: Option<(u64, Ground)>,
}

impl LifeCycle for GroundPass {}

impl GroundPass {
    /// Creates the pass without compiling it.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        let pipeline = layouts.surface_pipeline(SurfacePipeline {
            path: "passes/ground.wgsl",
            entry: "ground",
            targets: gbuffer_targets(gpu),
            // The ground is invisible from below.
            cull_mode: Some(wgpu::Face::Back),
            topology: wgpu::PrimitiveTopology::TriangleList,
            indexed: false,
            depth_compare: wgpu::CompareFunction::Greater,
            group1: None,
            layered: false,
        });
        Self {
            pipeline,
            written: None,
        }
    }

    /// Draws the frame's ground, if it has one, where `gbuffer` has no nearer surface.
    pub fn record(
        &mut self,
        recording: &mut Recording<'_>,
        world: World<'_>,
        gbuffer: &GBuffer,
    ) -> Result<()> {
        let World { frame, geometry, .. } = world;
        let (gpu, buffers) = (recording.gpu, geometry.buffers);
        let Some(ground) = frame.ground else {
            return Ok(());
        };
        if self.written != Some((buffers.version, ground)) {
            write(gpu, buffers, &ground);
            self.written = Some((buffers.version, ground));
        }
        let words = 3 * buffers.vertex_count..buffers.positions.len();
        buffers.positions.publish(&mut recording.scope, words);
        let color_attachments = gbuffer.attachments(wgpu::LoadOp::Load);
        let mut pass = recording.scope.scoped_render_pass(
            "ground",
            wgpu::RenderPassDescriptor {
                label: Some("ground"),
                color_attachments: &color_attachments,
                depth_stencil_attachment: Some(pass::depth(&gbuffer.depth.view, wgpu::LoadOp::Load)),
                ..Default::default()
            },
        );
        pass.set_bind_group(0, &frame.group, &[]);
        pass.set_bind_group(2, geometry.group, &[]);
        if let Some(pipeline) = self.pipeline.get_or_collect(gpu)? {
            pass.set_pipeline(&pipeline);
            // The vertex shader is shared with surfaces, for which a material must be bound. The ground does
            // not read it.
            buffers.materials.bind(&mut pass, 0);
            let first = 3 * buffers.ground_triangle;
            pass.draw(first..first + CORNERS.len() as u32, 0..1);
        }
        drop(pass);
        recording.split("ground");
        Ok(())
    }
}

/// Writes the ground after the vertices of the merged scene.
fn write(gpu: &Gpu, buffers: &SceneBuffers, ground: &Ground) {
    let middle = ground.middle.as_vec3();
    let positions = SIDES.map(|[x, z]| {
        let side = ground.reach * Vec2::new(x, z);
        [middle.x + side.x, middle.y, middle.z + side.y]
    });
    let has_grid = ground.spacing > 0.0;
    let world = middle + buffers.origin;
    let first_line = match has_grid {
        true => Vec2::new(world.x, world.z) / ground.spacing,
        false => Vec2::ZERO,
    };
    let near = |line: f32| match line.abs() > FAR {
        // Stays clear of the axes, which are drawn at line 0.
        true => line.rem_euclid(1000.0) + 1000.0,
        false => line,
    };
    let lines = |side: f32| {
        if has_grid {
            side * ground.reach / ground.spacing
        } else {
            0.0
        }
    };
    let attributes = SIDES.map(|[x, z]| {
        let grid = [near(first_line.x) + lines(x), near(first_line.y) + lines(z)];
        let alpha = if has_grid { 0xffff_0000 } else { 0 };
        let [u, v, line_x, line_z] = [x, z, grid[0], grid[1]].map(f32::to_bits);
        [u, v, line_x, line_z, u32::MAX, alpha | 0xffff]
    });
    let first = u64::from(buffers.vertex_count);
    let positions: &[u8] = bytemuck::cast_slice(positions.as_flattened());
    let attributes: &[u8] = bytemuck::cast_slice(attributes.as_flattened());
    gpu.queue
        .write_buffer(buffers.positions.buffer(), 12 * first, positions);
    gpu.queue.write_buffer(&buffers.vertices, 24 * first, attributes);
}
