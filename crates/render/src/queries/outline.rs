//! `outline`: draws outlines of the selected meshes, for a viewer to show over the finished picture. It is
//! not part of a frame.

use crate::{
    bindings::Layouts,
    layout::OutlineParams,
    raster::{
        draw_lists::SegmentRun,
        drawn::{DrawDescriptor, LARGEST, blended},
    },
    resources::{PICTURE_FORMAT, try_create},
    upload::scene_buffers::SceneBuffers,
    view::View,
};
use canopy_bvh::{
    Result,
    gpu::{
        Bind, Gpu, GpuImage, LazyPipeline, PipelineSet, Uniform, bind_group, image,
        pass::{self, Binding, PipelineInUse},
    },
};
use wgpu::{
    PrimitiveTopology as Topology, RenderPipeline, ShaderStages as Stages, TextureFormat as Format,
    TextureUsages as Usage,
};

/// Maximum number of meshes with an outline.
pub const OUTLINES: usize = 2;

const LABEL: &str = "outline";
const PATH: &str = "inspect/outline.wgsl";
/// Format of the selection mask, with a channel for each selected mesh.
const MASK_FORMAT: Format = Format::Rg8Unorm;
/// Samples per pixel of the mask, for smooth lines.
const MASK_SAMPLES: u32 = 4;
/// Format of the target.
const TARGET_FORMAT: Format = Format::Rgba8Unorm;
/// Premultiplied colours of the first and the second outline.
const COLORS: [[f32; 4]; OUTLINES] = [[0.35, 0.95, 0.55, 1.0], [1.0, 0.72, 0.25, 1.0]];

/// Selected meshes, and the camera.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OutlineQuery {
    /// Camera.
    pub view: View,
    /// Width and height of the picture in pixels.
    pub size: [u32; 2],
    /// Indices of the mesh instances.
    pub meshes: [Option<usize>; OUTLINES],
    /// Width of the lines in pixels.
    pub width: f32,
}

/// Outline pass.
#[derive(Debug)]
pub struct Outline {
    triangles: LazyPipeline<RenderPipeline>,
    lines: LazyPipeline<RenderPipeline>,
    points: LazyPipeline<RenderPipeline>,
    edges: LazyPipeline<RenderPipeline>,
    show: LazyPipeline<RenderPipeline>,
    mask_layout: wgpu::BindGroupLayout,
    cover_layout: wgpu::BindGroupLayout,
    params: Uniform<OutlineParams>,
    /// Parameters for blending the outlines over the target.
    shown_params: Uniform<OutlineParams>,
    /// Resolved selection mask. The next field is the multisampled image that it is resolved from.
    mask: GpuImage,
    mask_samples: wgpu::TextureView,
    drawn: GpuImage,
}

impl Outline {
    /// Creates the pass without compiling it.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        let both = Stages::VERTEX_FRAGMENT;
        let mask_layout = pass::layout(
            gpu,
            "outline.mask",
            &[(both, Binding::Uniform), (both, Binding::Read)],
        );
        let fragment = Stages::FRAGMENT;
        let cover_layout = pass::layout(
            gpu,
            "outline.cover",
            &[(fragment, Binding::Uniform), (fragment, Binding::Float)],
        );
        let mask = |vertex, topology| {
            let groups = [Some(mask_layout.clone()), None, Some(layouts.scene.clone())];
            DrawDescriptor {
                path: PATH,
                groups: groups.into(),
                vertex,
                fragment: "outline_mask",
                topology,
                samples: MASK_SAMPLES,
                target: blended(MASK_FORMAT, LARGEST),
            }
        };
        let cover = |entry, target| DrawDescriptor {
            path: PATH,
            groups: [Some(cover_layout.clone())].into(),
            vertex: "fullscreen",
            fragment: entry,
            topology: Topology::TriangleList,
            samples: 1,
            target,
        };
        let over = wgpu::BlendComponent::OVER;
        Self {
            triangles: mask("outline_triangle", Topology::TriangleList).lazy_pipeline(LABEL),
            lines: mask("outline_line", Topology::LineList).lazy_pipeline(LABEL),
            points: mask("outline_point", Topology::PointList).lazy_pipeline(LABEL),
            edges: cover("outline_edges", PICTURE_FORMAT.into()).lazy_pipeline(LABEL),
            show: cover("outline_show", blended(TARGET_FORMAT, over)).lazy_pipeline(LABEL),
            params: Uniform::new(gpu, "outline.params"),
            shown_params: Uniform::new(gpu, "outline.shown"),
            mask: mask_image(gpu, [1, 1]),
            mask_samples: mask_samples(gpu, [1, 1]),
            drawn: drawn_image(gpu, [1, 1]),
            mask_layout,
            cover_layout,
        }
    }

    /// Adds the pipelines for `buffers`.
    pub fn pipelines(&self, buffers: &SceneBuffers, set: &mut PipelineSet) {
        set.add(&self.triangles);
        for run in segments(buffers) {
            set.add(self.of(run));
        }
        set.add(&self.edges);
        set.add(&self.show);
    }

    fn of(&self, run: &SegmentRun) -> &LazyPipeline<RenderPipeline> {
        if run.is_points { &self.points } else { &self.lines }
    }

    /// Draws the outlines of the geometry in the merged buffers.
    ///
    /// # Errors
    ///
    /// Any error of compiling the pipelines, or [`canopy_bvh::Error::Gpu`] if the adapter is out of memory.
    pub fn record(
        &mut self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        buffers: &SceneBuffers,
        query: &OutlineQuery,
    ) -> Result<()> {
        let size = query.size.map(|side| side.max(1));
        if self.mask.size() != size {
            self.mask = try_create(gpu, size, || mask_image(gpu, size))?;
            self.mask_samples = try_create(gpu, size, || mask_samples(gpu, size))?;
            self.drawn = try_create(gpu, size, || drawn_image(gpu, size))?;
        }
        let view = query.view.translated(-buffers.origin);
        let aspect = size[0] as f32 / size[1] as f32;
        self.params.write(
            gpu,
            &OutlineParams {
                clip_from_offset: view.clip_from_offset(aspect).to_cols_array_2d(),
                eye: view.eye().to_array(),
                width: query.width.clamp(1.0, 8.0),
                colors: COLORS,
                triangle_count: buffers.triangle_count,
                ..OutlineParams::default()
            },
        );
        let own: [&dyn Bind; 2] = [&self.params, &buffers.triangle_info];
        let group = bind_group(gpu, "outline.mask", &self.mask_layout, &own);
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("outline.mask"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &self.mask_samples,
                depth_slice: None,
                resolve_target: Some(&self.mask.view),
                ops: wgpu::Operations {
                    load: CLEAR,
                    store: wgpu::StoreOp::Discard,
                },
            })],
            ..Default::default()
        });
        pass.set_bind_group(0, &group, &[]);
        pass.set_bind_group(2, &buffers.scene_group, &[]);
        let mut pipeline = PipelineInUse::default();
        for (number, mesh) in (0..).zip(query.meshes) {
            let Some((mesh, range)) = mesh.and_then(|m| Some((m, buffers.meshes.get(m)?))) else {
                continue;
            };
            if range.triangle_count > 0 && pipeline.set(gpu, &mut pass, &self.triangles)? {
                let end = range.first_triangle + range.triangle_count;
                pass.draw(3 * range.first_triangle..3 * end, number..number + 1);
            }
            for run in segments(buffers).filter(|run| run.mesh as usize == mesh) {
                if pipeline.set(gpu, &mut pass, self.of(run))? {
                    pass.draw(run.corners(), number..number + 1);
                }
            }
        }
        drop(pass);
        let own: [&dyn Bind; 2] = [&self.params, &self.mask];
        let group = bind_group(gpu, "outline.edges", &self.cover_layout, &own);
        let mut pass = begin(encoder, "outline.edges", &self.drawn.view, CLEAR);
        if let Some(edges) = self.edges.get_or_collect(gpu)? {
            pass.set_pipeline(&edges);
            pass.set_bind_group(0, &group, &[]);
            pass.draw(0..3, 0..1);
        }
        Ok(())
    }

    /// Blends the outlines that were drawn last over `target`, with their top-left corner at `origin`.
    ///
    /// # Errors
    ///
    /// Any error of compiling the pipeline.
    pub fn show(
        &self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        target: &wgpu::TextureView,
        origin: [u32; 2],
    ) -> Result<()> {
        let whole = image::size_of_view(target);
        let fits = |axis: usize| {
            let room = whole[axis].saturating_sub(origin[axis]);
            self.drawn.size()[axis].min(room)
        };
        let [width, height] = [fits(0), fits(1)];
        if width == 0 || height == 0 {
            return Ok(());
        }
        let params = OutlineParams {
            origin,
            ..OutlineParams::default()
        };
        self.shown_params.write(gpu, &params);
        let own: [&dyn Bind; 2] = [&self.shown_params, &self.drawn];
        let group = bind_group(gpu, "outline.show", &self.cover_layout, &own);
        let mut pass = begin(encoder, "outline.show", target, wgpu::LoadOp::Load);
        if let Some(show) = self.show.get_or_collect(gpu)? {
            pass.set_pipeline(&show);
            pass.set_bind_group(0, &group, &[]);
            pass.set_scissor_rect(origin[0], origin[1], width, height);
            pass.draw(0..3, 0..1);
        }
        Ok(())
    }
}

/// Returns the runs of all lines and points.
fn segments(buffers: &SceneBuffers) -> impl Iterator<Item = &SegmentRun> {
    let draws = &buffers.draws;
    draws.segments.iter().chain(&draws.blended_segments)
}

const CLEAR: wgpu::LoadOp<wgpu::Color> = wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT);
const USAGE: Usage = Usage::RENDER_ATTACHMENT.union(Usage::TEXTURE_BINDING);

fn mask_image(gpu: &Gpu, size: [u32; 2]) -> GpuImage {
    GpuImage::new(gpu, "outline.mask", size, MASK_FORMAT, USAGE)
}

fn mask_samples(gpu: &Gpu, size: [u32; 2]) -> wgpu::TextureView {
    let texture = gpu.device.create_texture(&wgpu::TextureDescriptor {
        label: Some("outline.mask_samples"),
        size: wgpu::Extent3d {
            width: size[0],
            height: size[1],
            depth_or_array_layers: 1,
        },
        mip_level_count: 1,
        sample_count: MASK_SAMPLES,
        dimension: wgpu::TextureDimension::D2,
        format: MASK_FORMAT,
        usage: Usage::RENDER_ATTACHMENT,
        view_formats: &[],
    });
    texture.create_view(&wgpu::TextureViewDescriptor::default())
}

fn drawn_image(gpu: &Gpu, size: [u32; 2]) -> GpuImage {
    GpuImage::new(gpu, "outline", size, PICTURE_FORMAT, USAGE)
}

fn begin<'e>(
    encoder: &'e mut wgpu::CommandEncoder,
    label: &str,
    target: &wgpu::TextureView,
    load: wgpu::LoadOp<wgpu::Color>,
) -> wgpu::RenderPass<'e> {
    encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        label: Some(label),
        color_attachments: &[Some(pass::color(target, load))],
        ..Default::default()
    })
}
