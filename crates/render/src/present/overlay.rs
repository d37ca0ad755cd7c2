//! `overlay`: draws edges, vertices, normals and tangents of the meshes as lines over the picture, from the
//! frame's merged geometry. It costs nothing in frames without them.

use crate::{
    bindings::Layouts,
    frame::{Frame, life_cycle::LifeCycle, recording::Recording},
    layout::{OVERLAY_FACE_NORMALS, OVERLAY_KINDS, OVERLAY_WIREFRAME, OverlayParams},
    raster::drawn::{DrawDescriptor, LARGEST, blended},
    resources::{GBuffer, PICTURE_FORMAT, try_create},
    settings::Overlay as Settings,
    stats::{FrameStats, OverlayCounts},
    upload::scene_buffers::SceneBuffers,
};
use canopy_bvh::{
    Result,
    gpu::{
        Bind, Gpu, GpuImage, LazyPipeline, Uniform, bind_group, image,
        library::{Constant, wgsl_constants},
        pass::{self, Binding},
        recorder::RenderPass,
    },
};
use std::collections::HashMap;
use wgpu::{RenderPipeline, ShaderStages as Stages, TextureFormat as Format};

wgsl_constants! {
    /// Radius of a vertex dot beyond half the line width, in pixels.
    pub const OVERLAY_DOT: f64 = 1.5;
}

/// Colours of the kinds of lines, sRGB-encoded.
pub const COLORS: &[Constant] = &[
    Constant::vec4("OVERLAY_WIREFRAME_COLOR", [0.9, 0.9, 0.9, 1.0]),
    Constant::vec4("OVERLAY_FACE_NORMALS_COLOR", [0.1, 0.9, 0.9, 1.0]),
    Constant::vec4("OVERLAY_VERTICES_COLOR", [1.0, 0.65, 0.1, 1.0]),
    Constant::vec4("OVERLAY_NORMALS_COLOR", [0.35, 0.5, 1.0, 1.0]),
    Constant::vec4("OVERLAY_TANGENTS_COLOR", [1.0, 0.25, 0.25, 1.0]),
    Constant::vec4("OVERLAY_BITANGENTS_COLOR", [0.3, 0.9, 0.25, 1.0]),
];

/// Maximum number of lines of a kind that are drawn.
pub const OVERLAY_LIMIT: u32 = 1 << 19;

const LABEL: &str = "overlay";
const PATH: &str = "inspect/overlay.wgsl";

/// Overlay pass.
#[derive(Debug)]
pub struct Overlay {
    lines: LazyPipeline<RenderPipeline>,
    lines_layout: wgpu::BindGroupLayout,
    show: HashMap<Format, LazyPipeline<RenderPipeline>>,
    show_layout: wgpu::BindGroupLayout,
    params: Uniform<OverlayParams>,
    output: GpuImage,
    counts: Option<OverlayCounts>,
}

impl Overlay {
    /// Creates the pass without compiling it.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        let bindings = [
            (Stages::VERTEX_FRAGMENT, Binding::Uniform),
            (Stages::FRAGMENT, Binding::Float),
        ];
        let lines_layout = pass::layout(gpu, "overlay.lines", &bindings);
        let groups = [Some(lines_layout.clone()), None, Some(layouts.scene.clone())];
        Self {
            lines: DrawDescriptor {
                path: PATH,
                groups: groups.into(),
                vertex: "overlay_edge",
                fragment: "overlay_line",
                topology: wgpu::PrimitiveTopology::TriangleStrip,
                samples: 1,
                target: blended(PICTURE_FORMAT, LARGEST),
            }
            .lazy_pipeline(LABEL),
            lines_layout,
            show: HashMap::new(),
            show_layout: pass::layout(gpu, "overlay.show", &[(Stages::FRAGMENT, Binding::Float)]),
            params: Uniform::new(gpu, "overlay.params"),
            output: output(gpu, [1, 1]),
            counts: None,
        }
    }

    /// Draws lines of the frame's meshes over `target`, if the settings ask for any.
    pub fn record(
        &mut self,
        recording: &mut Recording<'_>,
        frame: &Frame<'_>,
        gbuffer: &GBuffer,
        target: &wgpu::TextureView,
    ) -> Result<()> {
        let settings = &frame.config.overlay;
        self.counts = None;
        if !settings.shows_any() {
            self.output = output(recording.gpu, [1, 1]);
            return Ok(());
        }
        let Some(plan) = Plan::new(settings, frame.buffers) else {
            self.counts = Some(OverlayCounts::default());
            return Ok(());
        };
        self.counts = Some(plan.counts);
        // A picture of several frames is only drawn in the last one.
        if !frame.sample.is_last() {
            return Ok(());
        }
        let gpu = recording.gpu;
        let size = image::size_of_view(target);
        if self.output.size() != size {
            self.output = try_create(gpu, size, || output(gpu, size))?;
        }
        let [width, height] = size.map(|side| side.max(1) as f32);
        let view = &frame.view;
        self.params.write(
            gpu,
            &OverlayParams {
                clip_from_offset: view.clip_from_offset(width / height).to_cols_array_2d(),
                eye: view.eye().to_array(),
                hidden: settings.hidden,
                forward: view.forward().to_array(),
                half_width: 0.5 * settings.width,
                size: [width, height],
                pixel_side: view.pixel_side(frame.size[1]),
                length: settings.length * 2.0 * frame.bounds.radius(),
                ..plan.params
            },
        );
        let own: [&dyn Bind; 2] = [&self.params, &gbuffer.position];
        let group = bind_group(gpu, "overlay.lines", &self.lines_layout, &own);
        let clear = wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT);
        let mut pass = begin(recording, "overlay.lines", &self.output.view, clear);
        if let Some(pipeline) = self.lines.get_or_collect(gpu)? {
            pass.set_pipeline(&pipeline);
            pass.set_bind_group(0, &group, &[]);
            pass.set_bind_group(2, &frame.buffers.scene_group, &[]);
            pass.draw(0..4, 0..plan.params.kinds[OVERLAY_KINDS as usize - 1][0]);
        }
        drop(pass);
        let own: [&dyn Bind; 1] = [&self.output];
        let group = bind_group(gpu, "overlay.show", &self.show_layout, &own);
        let shown = self.shown(target.texture().format());
        if let Some(pipeline) = shown.get_or_collect(gpu)? {
            let mut pass = begin(recording, "overlay.show", target, wgpu::LoadOp::Load);
            pass.set_pipeline(&pipeline);
            pass.set_bind_group(0, &group, &[]);
            pass.draw(0..3, 0..1);
        }
        recording.split(LABEL);
        Ok(())
    }

    /// Returns the pipeline that blends the lines over targets of `format`.
    fn shown(&mut self, format: Format) -> &LazyPipeline<RenderPipeline> {
        let layout = &self.show_layout;
        self.show.entry(format).or_insert_with(|| {
            DrawDescriptor {
                path: PATH,
                groups: vec![Some(layout.clone())],
                vertex: "fullscreen",
                fragment: "overlay_show",
                topology: wgpu::PrimitiveTopology::TriangleList,
                samples: 1,
                target: blended(format, wgpu::BlendComponent::OVER),
            }
            .lazy_pipeline(LABEL)
        })
    }
}

/// Selection of the lines that are drawn.
struct Plan {
    /// Only the fields that select what is drawn are set.
    params: OverlayParams,
    counts: OverlayCounts,
}

impl Plan {
    /// Returns `None` if there is nothing to draw, or no such mesh.
    fn new(settings: &Settings, buffers: &SceneBuffers) -> Option<Self> {
        let (vertices, triangles) = match usize::try_from(settings.mesh) {
            Err(_) => (0..buffers.vertex_count, 0..buffers.triangle_count),
            Ok(number) => {
                let mesh = buffers.meshes.get(number)?;
                let next = buffers.meshes.get(number + 1);
                let end = next.map_or(buffers.vertex_count, |next| next.first_vertex);
                let last = mesh.first_triangle + mesh.triangle_count;
                (mesh.first_vertex..end, mesh.first_triangle..last)
            }
        };
        let mut params = OverlayParams {
            first_vertex: vertices.start,
            first_triangle: triangles.start,
            ..OverlayParams::default()
        };
        let [vertices, triangles] = [vertices, triangles].map(|range| range.len() as u32);
        let mut counts = OverlayCounts::default();
        let mut end = 0;
        for ((kind, is_shown), row) in (0..).zip(settings.kinds()).zip(&mut params.kinds) {
            let [elements, lines] = match kind {
                OVERLAY_WIREFRAME => [triangles, 3],
                OVERLAY_FACE_NORMALS => [triangles, 1],
                _ => [vertices, 1],
            };
            let step = elements.div_ceil(OVERLAY_LIMIT / lines).max(1);
            if is_shown {
                let drawn = elements.div_ceil(step) * lines;
                end += drawn;
                counts.found += u64::from(elements) * u64::from(lines);
                counts.drawn += u64::from(drawn);
            }
            *row = [end, step, 0, 0];
        }
        (end > 0).then_some(Self { params, counts })
    }
}

fn begin<'r>(
    recording: &'r mut Recording<'_>,
    label: &str,
    target: &wgpu::TextureView,
    load: wgpu::LoadOp<wgpu::Color>,
) -> RenderPass<'r> {
    recording.scope.scoped_render_pass(
        LABEL,
        wgpu::RenderPassDescriptor {
            label: Some(label),
            color_attachments: &[Some(pass::color(target, load))],
            ..Default::default()
        },
    )
}

fn output(gpu: &Gpu, size: [u32; 2]) -> GpuImage {
    let usage = wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::TEXTURE_BINDING;
    GpuImage::new(gpu, "overlay.lines", size, PICTURE_FORMAT, usage)
}

impl LifeCycle for Overlay {
    fn report(&mut self, stats: &mut FrameStats) {
        stats.overlay = self.counts;
    }
}
