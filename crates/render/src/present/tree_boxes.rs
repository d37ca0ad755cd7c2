//! `tree_boxes`: draws boxes of BVH nodes as lines over the picture, directly from the nodes. It costs
//! nothing in frames without them.

use crate::{
    bindings::Layouts,
    frame::{life_cycle::LifeCycle, recording::Recording},
    layout::{TreeBox, TreeBoxesParams},
    raster::drawn::{DrawDescriptor, LARGEST, blended},
    resources::{GBuffer, PICTURE_FORMAT, try_create},
    settings::{BoxDepths, BoxTrees, TreeBoxes as Settings},
    stats::{FrameStats, TreeBoxCounts},
    upload::scene_buffers::SceneBuffers,
    view::View,
    world::World,
};
use canopy_bvh::{
    Result,
    gpu::{
        Bind, Gpu, GpuImage, Kernel, LazyPipeline, PipelineSet, Recorder, Uniform, Workgroups, bind_group,
        image,
        library::{Constant, wgsl_constants},
        pass::{self, Binding},
        readback::Counters,
        recorder::Scope,
    },
};
use std::collections::HashMap;
use wgpu::{BufferUsages, RenderPipeline, ShaderStages as Stages, TextureFormat as Format};

wgsl_constants! {
    /// Maximum number of boxes that are drawn.
    pub const TREE_BOX_LIMIT: u32 = 1 << 15;
    /// Number of thinning levels. Level 0 has about half of all boxes, level 1 a quarter, and so on.
    pub const TREE_BOX_LEVELS: u32 = 20;
    /// Number of words before the counts of boxes at each thinning level.
    const TREE_BOX_HEADER: u32 = 4;
    /// Index of the word that counts all boxes.
    const TREE_BOXES_FOUND: u32 = 0;
    /// Index of the word with the greatest depth of any box.
    const TREE_BOXES_DEEPEST: u32 = 1;
    /// Index of the word that counts the listed boxes.
    const TREE_BOXES_LISTED: u32 = 2;
    /// Index of the word with the lowest thinning level whose boxes are listed. Boxes of higher levels are
    /// listed too.
    const TREE_BOXES_LEVEL: u32 = 3;
    /// Workgroup size.
    const TREE_BOX_THREADS: u32 = 64;
    /// Position in the colour map at which the colours of depths begin.
    pub const TREE_BOX_DARKEST: f64 = 0.3;
}

/// Colours of boxes and lines of a ray, sRGB-encoded.
pub(crate) const COLORS: &[Constant] = &[
    Constant::vec4("TREE_BOX_CURRENT_COLOR", [0.35, 0.95, 1.0, 1.0]),
    Constant::vec4("TREE_BOX_LINE_COLOR", [0.45, 1.0, 0.45, 1.0]),
];

const LABEL: &str = "tree_boxes";
/// Format of the window.
const TARGET_FORMAT: Format = Format::Rgba8Unorm;
const PATH: &str = "inspect/tree_boxes.wgsl";
/// Number of words in the buffer of counts.
const WORDS: u64 = (TREE_BOX_HEADER + TREE_BOX_LEVELS) as u64;

/// Pass that draws BVH boxes. Its lists are allocated when they are needed.
#[derive(Debug)]
pub struct TreeBoxes {
    count: Kernel,
    choose: Kernel,
    list: Kernel,
    lines: Lines,
    params: Uniform<TreeBoxesParams>,
    /// Traversal of a ray, drawn between frames.
    path_lines: Lines,
    path_params: Uniform<TreeBoxesParams>,
    /// Parameters for blending the traversal over the target.
    path_shown: Uniform<TreeBoxesParams>,
    buffers: Option<Listed>,
    readback: Counters<4>,
    counts: Option<TreeBoxCounts>,
    /// Scene version and settings that the counts belong to.
    of: Option<(u64, Settings)>,
    /// First readback that belongs to `of`.
    first_answer: u64,
}

/// Buffers with the list of boxes to draw.
#[derive(Debug)]
struct Listed {
    counts: wgpu::Buffer,
    list: wgpu::Buffer,
    arguments: wgpu::Buffer,
}

impl TreeBoxes {
    /// Creates the pass without compiling it.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        let kernel = |entry| {
            let bindings = [
                Binding::Uniform,
                Binding::Read,
                Binding::Write,
                Binding::Write,
                Binding::Write,
            ];
            Kernel::new(gpu, PATH, entry, &[(1, &layouts.tree)], &bindings)
        };
        Self {
            count: kernel("tree_boxes_count"),
            choose: kernel("tree_boxes_choose"),
            list: kernel("tree_boxes_list"),
            lines: Lines::new(gpu),
            params: Uniform::new(gpu, "tree_boxes.params"),
            path_lines: Lines::new(gpu),
            path_params: Uniform::new(gpu, "tree_boxes.path"),
            path_shown: Uniform::new(gpu, "tree_boxes.path_shown"),
            buffers: None,
            readback: Counters::new(gpu, "tree_boxes.readback"),
            counts: None,
            of: None,
            first_answer: 0,
        }
    }

    /// Draws the boxes of the frame's BVHs over `target`, if the settings ask for any.
    pub fn record(
        &mut self,
        recording: &mut Recording<'_>,
        world: World<'_>,
        gbuffer: &GBuffer,
        target: &wgpu::TextureView,
    ) -> Result<()> {
        let World { frame, trees, .. } = world;
        let gpu = recording.gpu;
        let settings = &frame.config.tree_boxes;
        let of = (settings.show != BoxDepths::Off).then(|| (frame.buffers.version, settings.clone()));
        if self.of != of {
            self.counts = None;
            self.first_answer = self.readback.next();
            self.of = of;
        }
        let Some([first_depth, last_depth]) = settings.show.range() else {
            self.buffers = None;
            return Ok(());
        };
        // A picture of several frames is only drawn in the last one.
        if !frame.sample.is_last() {
            return Ok(());
        }
        let leaves = leaves(settings.of, frame.buffers);
        let size = image::size_of_view(target);
        self.params.write(
            gpu,
            &TreeBoxesParams {
                first_leaf: leaves.start,
                leaf_count: leaves.len() as u32,
                over_meshes: u32::from(settings.of == BoxTrees::Top),
                leaf_cutoff: frame.config.tree.leaf_cutoff,
                first_depth,
                last_depth,
                leaves_alone: u32::from(settings.show == BoxDepths::Leaves),
                half_width: 0.5 * settings.width,
                hidden: settings.hidden,
                ..seen(&frame.view, size, frame.size)
            },
        );
        let listed = match &mut self.buffers {
            Some(listed) => listed,
            none => none.insert(gpu.catch(|| Listed::new(gpu, TREE_BOX_LIMIT))?),
        };
        recording.scope.encoder().clear_buffer(&listed.counts, 0, None);
        let groups = Workgroups::Count((leaves.len() as u32).div_ceil(TREE_BOX_THREADS));
        let own: [&dyn Bind; 5] = [
            &self.params,
            &trees.tree.tlas,
            &listed.counts,
            &listed.list,
            &listed.arguments,
        ];
        let shared = [(1, trees.group)];
        recording.dispatch(LABEL, &self.count, &shared, &own, groups)?;
        recording.dispatch(LABEL, &self.choose, &shared, &own, Workgroups::Count(1))?;
        recording.dispatch(LABEL, &self.list, &shared, &own, groups)?;
        self.readback.record(&mut recording.scope, &listed.counts);
        let scope = &mut recording.scope;
        self.lines
            .record(gpu, scope, &self.params, listed, gbuffer, size)?;
        self.lines.show(gpu, scope, &self.params, (target, [0, 0]))?;
        recording.split(LABEL);
        Ok(())
    }

    /// Adds the pipelines that draw the traversal of a ray.
    pub fn path_pipelines(&self, set: &mut PipelineSet) {
        set.add(&self.path_lines.pipeline);
        for shown in self.path_lines.show.values() {
            set.add(shown);
        }
    }

    /// Draws the traversal of a ray for a picture of `size`. `view` is in the coordinates of the frame.
    /// [`TreeBoxes::show_path`] shows it.
    pub fn draw_path(
        &mut self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        gbuffer: &GBuffer,
        (view, size, settings): (&View, [u32; 2], &Settings),
        boxes: &[TreeBox],
    ) -> Result<()> {
        self.path_params.write(
            gpu,
            &TreeBoxesParams {
                half_width: 0.5 * settings.width + 0.25,
                // Boxes along a ray are mostly behind surfaces, but should be visible.
                hidden: settings.hidden.max(0.5),
                ..seen(view, size, gbuffer.size())
            },
        );
        let listed = gpu.catch(|| Listed::of(gpu, boxes))?;
        let mut scope = encoder.scope("ray_path");
        self.path_lines
            .record(gpu, &mut scope, &self.path_params, &listed, gbuffer, size)
    }

    /// Draws the traversal that was drawn last over `target`, with its top-left corner at `origin`.
    pub fn show_path(
        &mut self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        target: &wgpu::TextureView,
        origin: [u32; 2],
    ) -> Result<()> {
        let params = TreeBoxesParams {
            origin,
            ..TreeBoxesParams::default()
        };
        self.path_shown.write(gpu, &params);
        let mut scope = encoder.scope("ray_path");
        self.path_lines
            .show(gpu, &mut scope, &self.path_shown, (target, origin))
    }

    fn collect(&mut self) {
        let (first, counts) = (self.first_answer, &mut self.counts);
        self.readback.collect_each(|number, [found, deepest, drawn, _]| {
            if number >= first {
                *counts = Some(TreeBoxCounts {
                    found,
                    drawn,
                    deepest,
                });
            }
        });
    }

    /// Reads back the boxes that the last frame has drawn, in any order, in the coordinates of the frame.
    /// Waits for the GPU.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](canopy_bvh::Error::Gpu) if the device is lost.
    pub(crate) fn read(&self, gpu: &Gpu) -> Result<Vec<TreeBox>> {
        let Some(listed) = &self.buffers else {
            return Ok(Vec::new());
        };
        let counts: Vec<u32> = bytemuck::pod_collect_to_vec(&gpu.read(&listed.counts)?);
        let mut boxes: Vec<TreeBox> = bytemuck::pod_collect_to_vec(&gpu.read(&listed.list)?);
        boxes.truncate(counts[TREE_BOXES_LISTED as usize] as usize);
        Ok(boxes)
    }
}

/// Returns the range of leaves of the BVHs that are shown.
fn leaves(of: BoxTrees, buffers: &SceneBuffers) -> std::ops::Range<u32> {
    let triangles = buffers.triangle_count;
    match of {
        BoxTrees::Meshes => 0..triangles,
        BoxTrees::Top => triangles..triangles + buffers.meshes.len() as u32,
        BoxTrees::Mesh(mesh) => match buffers.meshes.get(mesh as usize) {
            Some(mesh) => mesh.first_triangle..mesh.first_triangle + mesh.triangle_count,
            None => 0..0,
        },
    }
}

/// Returns the view parameters for a picture of `size`, over a G-buffer of another size.
fn seen(view: &View, size: [u32; 2], gbuffer: [u32; 2]) -> TreeBoxesParams {
    let [width, height] = size.map(|side| side.max(1) as f32);
    TreeBoxesParams {
        clip_from_offset: view.clip_from_offset(width / height).to_cols_array_2d(),
        eye: view.eye().to_array(),
        forward: view.forward().to_array(),
        size: [width, height],
        pixel_side: view.pixel_side(gbuffer[1]),
        ..TreeBoxesParams::default()
    }
}

impl Listed {
    fn new(gpu: &Gpu, room: u32) -> Self {
        let usage = BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
        let bytes = size_of::<TreeBox>() as u64 * u64::from(room);
        Self {
            counts: gpu.buffer("tree_boxes.counts", 4 * WORDS, usage),
            list: gpu.buffer("tree_boxes.list", bytes, usage),
            arguments: gpu.buffer("tree_boxes.arguments", 16, usage | BufferUsages::INDIRECT),
        }
    }
}

impl Listed {
    /// Creates a list with the given boxes.
    fn of(gpu: &Gpu, boxes: &[TreeBox]) -> Self {
        let mut counts = [0; WORDS as usize];
        let deepest = boxes.iter().map(|shown| shown.depth).max();
        counts[TREE_BOXES_DEEPEST as usize] = deepest.unwrap_or(0);
        let usage = BufferUsages::STORAGE;
        let arguments = [4, 12 * boxes.len() as u32, 0, 0];
        Self {
            counts: gpu.buffer_with("ray_path.counts", &counts, usage),
            list: gpu.buffer_with("ray_path.list", boxes, usage),
            arguments: gpu.buffer_with("ray_path.arguments", &arguments, BufferUsages::INDIRECT),
        }
    }
}

/// Pipelines and target for drawing a list.
#[derive(Debug)]
struct Lines {
    pipeline: LazyPipeline<RenderPipeline>,
    layout: wgpu::BindGroupLayout,
    show: HashMap<Format, LazyPipeline<RenderPipeline>>,
    show_layout: wgpu::BindGroupLayout,
    output: GpuImage,
}

impl Lines {
    fn new(gpu: &Gpu) -> Self {
        let both = Stages::VERTEX_FRAGMENT;
        let bindings = [
            (both, Binding::Uniform),
            (both, Binding::Read),
            (both, Binding::Read),
            (Stages::FRAGMENT, Binding::Float),
        ];
        let layout = pass::layout(gpu, "tree_boxes.lines", &bindings);
        let shown = [
            (Stages::FRAGMENT, Binding::Uniform),
            (Stages::FRAGMENT, Binding::Float),
        ];
        let mut lines = Self {
            pipeline: DrawDescriptor {
                path: PATH,
                groups: vec![Some(layout.clone())],
                vertex: "tree_boxes_edge",
                fragment: "tree_boxes_line",
                topology: wgpu::PrimitiveTopology::TriangleStrip,
                samples: 1,
                target: blended(PICTURE_FORMAT, LARGEST),
            }
            .lazy_pipeline(LABEL),
            layout,
            show: HashMap::new(),
            show_layout: pass::layout(gpu, "tree_boxes.show", &shown),
            output: output(gpu, [1, 1]),
        };
        lines.shown(TARGET_FORMAT);
        lines
    }

    /// Returns the pipeline that blends the lines over targets of `format`.
    fn shown(&mut self, format: Format) -> &LazyPipeline<RenderPipeline> {
        let layout = &self.show_layout;
        self.show.entry(format).or_insert_with(|| {
            DrawDescriptor {
                path: PATH,
                groups: vec![Some(layout.clone())],
                vertex: "fullscreen",
                fragment: "tree_boxes_show",
                topology: wgpu::PrimitiveTopology::TriangleList,
                samples: 1,
                target: blended(format, wgpu::BlendComponent::OVER),
            }
            .lazy_pipeline(LABEL)
        })
    }

    /// Draws the list of boxes for a picture of `size`.
    fn record(
        &mut self,
        gpu: &Gpu,
        scope: &mut Scope<'_>,
        params: &Uniform<TreeBoxesParams>,
        listed: &Listed,
        gbuffer: &GBuffer,
        size: [u32; 2],
    ) -> Result<()> {
        if self.output.size() != size {
            self.output = try_create(gpu, size, || output(gpu, size))?;
        }
        let own: [&dyn Bind; 4] = [params, &listed.list, &listed.counts, &gbuffer.position];
        let group = bind_group(gpu, "tree_boxes.lines", &self.layout, &own);
        let Some(pipeline) = self.pipeline.get_or_collect(gpu)? else {
            return Ok(());
        };
        let clear = wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT);
        let mut pass = scope.scoped_render_pass(
            LABEL,
            wgpu::RenderPassDescriptor {
                label: Some("tree_boxes.lines"),
                color_attachments: &[Some(pass::color(&self.output.view, clear))],
                ..Default::default()
            },
        );
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.draw_indirect(&listed.arguments, 0);
        Ok(())
    }

    /// Blends the drawn lines over `target`.
    fn show(
        &mut self,
        gpu: &Gpu,
        scope: &mut Scope<'_>,
        params: &Uniform<TreeBoxesParams>,
        (target, origin): (&wgpu::TextureView, [u32; 2]),
    ) -> Result<()> {
        let whole = image::size_of_view(target);
        let fits = |axis: usize| {
            let room = whole[axis].saturating_sub(origin[axis]);
            self.output.size()[axis].min(room)
        };
        let [width, height] = [fits(0), fits(1)];
        if width == 0 || height == 0 {
            return Ok(());
        }
        let own: [&dyn Bind; 2] = [params, &self.output];
        let group = bind_group(gpu, "tree_boxes.show", &self.show_layout, &own);
        let shown = self.shown(target.texture().format());
        let Some(pipeline) = shown.get_or_collect(gpu)? else {
            return Ok(());
        };
        let mut pass = scope.scoped_render_pass(
            LABEL,
            wgpu::RenderPassDescriptor {
                label: Some("tree_boxes.show"),
                color_attachments: &[Some(pass::color(target, wgpu::LoadOp::Load))],
                ..Default::default()
            },
        );
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.set_scissor_rect(origin[0], origin[1], width, height);
        pass.draw(0..3, 0..1);
        Ok(())
    }
}

fn output(gpu: &Gpu, size: [u32; 2]) -> GpuImage {
    let usage = wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::TEXTURE_BINDING;
    GpuImage::new(gpu, "tree_boxes.lines", size, PICTURE_FORMAT, usage)
}

impl LifeCycle for TreeBoxes {
    fn report(&mut self, stats: &mut FrameStats) {
        self.collect();
        stats.tree_boxes = self.counts;
    }
}
