//! `blend`: draws alpha-blended and transmissive surfaces, and blended points and lines, over the lit picture
//! from back to front.

use crate::{
    bindings::{Layouts, SurfacePipeline},
    frame::{Frame, life_cycle::LifeCycle, recording::Recording},
    materials::Surface,
    raster::{
        draw_lists::{Run, SegmentRun},
        segments::{self, SegmentPipelines},
    },
    resources::{FogFroxels, GBuffer, HDR_FORMAT, Radiance, ReflectedRadiance, VolumeLayers, WORD_FORMAT},
    settings::ShadowMode,
    upload::scene_buffers::SceneBuffers,
    world::World,
};
use canopy_bvh::{
    Result,
    accel::Tree,
    gpu::{
        Bind, Gpu, GpuImage, LazyPipeline, PipelineSet, bind_group,
        pass::{self, Binding, PipelineInUse},
    },
};
use wgpu::{ShaderStages, TextureUsages as Usage};

/// Pipelines and bind group layout of the pass.
#[derive(Debug)]
pub struct Blend {
    plain: [Sides; 1],
    /// Pipelines for layered materials, one that attenuates the background and one that adds light to it.
    layered: [Sides; 2],
    /// Pipelines for points and lines.
    segments: SegmentPipelines,
    /// Layout of group 1, with the BVHs, the reflections of front-most surfaces, and the fog and volumes in
    /// front of the surfaces.
    layout: wgpu::BindGroupLayout,
    /// Placeholder for the surfaces' ids if reflections are not traced.
    nothing: GpuImage,
}

/// Draw of a part.
#[derive(Clone, Copy)]
enum Piece {
    Triangles(Run),
    Segments(SegmentRun),
}

/// Pipelines for back faces and front faces.
#[derive(Debug)]
struct Sides {
    /// Back faces, drawn before front faces if a material is double-sided.
    back: LazyPipeline<wgpu::RenderPipeline>,
    front: LazyPipeline<wgpu::RenderPipeline>,
}

impl LifeCycle for Blend {}

impl Blend {
    /// Creates the pass without compiling its pipelines.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        // Layered materials leave only one sampled texture below the limit, so the ids are a storage texture.
        let own = [Binding::Load(WORD_FORMAT), Binding::Read];
        let ahead = [&FogFroxels::BINDINGS[..], &VolumeLayers::BINDINGS].concat();
        let bindings = [&Tree::BINDINGS[..], &own, &ahead].concat();
        let bindings: Vec<_> = bindings
            .into_iter()
            .map(|binding| (ShaderStages::FRAGMENT, binding))
            .collect();
        let layout = pass::layout(gpu, "blend", &bindings);
        use wgpu::BlendFactor::{One, OneMinusSrcAlpha, Src, Zero};
        // Targets for radiance and for display colours. Their states are equal, because not all adapters
        // support different blend states for each target.
        let targets = |blend| {
            vec![
                wgpu::ColorTargetState {
                    format: HDR_FORMAT,
                    blend: Some(blend),
                    write_mask: wgpu::ColorWrites::ALL,
                };
                2
            ]
        };
        let sides = |entry, layered, blend| {
            let pipeline = |cull| {
                layouts.surface_pipeline(SurfacePipeline {
                    path: "passes/blend.wgsl",
                    entry,
                    targets: targets(blend),
                    cull_mode: Some(cull),
                    topology: wgpu::PrimitiveTopology::TriangleList,
                    indexed: false,
                    depth_compare: wgpu::CompareFunction::GreaterEqual,
                    group1: Some(layout.clone()),
                    layered,
                })
            };
            Sides {
                back: pipeline(wgpu::Face::Front),
                front: pipeline(wgpu::Face::Back),
            }
        };
        let component = |src_factor, dst_factor| wgpu::BlendComponent {
            src_factor,
            dst_factor,
            operation: wgpu::BlendOperation::Add,
        };
        let multiplied = wgpu::BlendState {
            color: component(Zero, Src),
            alpha: component(Zero, One),
        };
        let added = wgpu::BlendState {
            color: component(One, One),
            alpha: component(One, OneMinusSrcAlpha),
        };
        let over = wgpu::BlendState::ALPHA_BLENDING;
        Self {
            plain: [sides("blend", false, over)],
            layered: [
                sides("blend_behind", true, multiplied),
                sides("blend_layers", true, added),
            ],
            segments: SegmentPipelines::new(|topology| {
                layouts.surface_pipeline(SurfacePipeline {
                    path: "passes/blend_points_lines.wgsl",
                    entry: "blend_points_lines",
                    targets: targets(over),
                    cull_mode: None,
                    topology,
                    indexed: false,
                    depth_compare: wgpu::CompareFunction::GreaterEqual,
                    group1: Some(layout.clone()),
                    layered: false,
                })
            }),
            nothing: GpuImage::new(gpu, "blend.nothing", [1, 1], WORD_FORMAT, Usage::STORAGE_BINDING),
            layout,
        }
    }

    /// Returns the pipelines that draw a surface, in drawing order.
    fn steps(&self, surface: &Surface) -> &[Sides] {
        if surface.layered {
            &self.layered
        } else {
            &self.plain
        }
    }

    /// Draws the blended parts of the scene over `radiance`, the farthest first. Surfaces in `blended` show
    /// `reflected`. All are seen through the fog and the volumes in front of them.
    pub fn record(
        &self,
        recording: &mut Recording<'_>,
        world: World<'_>,
        gbuffer: &GBuffer,
        (blended, reflected): (Option<&GBuffer>, &ReflectedRadiance),
        (fog, volumes): (FogFroxels<'_>, VolumeLayers<'_>),
        radiance: &Radiance,
    ) -> Result<()> {
        let World {
            frame,
            geometry,
            trees,
            ..
        } = world;
        let (gpu, buffers, parts) = (recording.gpu, geometry.buffers, &frame.parts);
        let mut order: Vec<_> = pieces(frame, buffers).collect();
        if order.is_empty() {
            return Ok(());
        }
        let distance = |part: usize| (parts[part].center() - frame.view.eye()).dot(frame.view.forward());
        order.sort_by(|(_, a), (_, b)| distance(*b).total_cmp(&distance(*a)));
        let front = blended.map_or(&self.nothing, |blended| &blended.ids);
        if frame.config.shadows.mode == ShadowMode::Rays {
            trees.record_ray_nodes(recording)?;
        }
        let [info, nodes, triangles] = trees.tree.ray_bindings(gpu)?;
        let [fog, fog_texture, fog_sampler] = fog.bindings();
        let [layers, spans] = volumes.bindings();
        let own: &[&dyn Bind] = &[
            info,
            nodes,
            triangles,
            front,
            &reflected.words,
            fog,
            fog_texture,
            fog_sampler,
            layers,
            spans,
        ];
        let group = bind_group(gpu, "blend", &self.layout, own);
        let views = [&radiance.hdr.view, &radiance.display.view];
        let mut pass = recording.scope.scoped_render_pass(
            "blend",
            wgpu::RenderPassDescriptor {
                label: Some("blend"),
                color_attachments: &views.map(|view| Some(pass::color(view, wgpu::LoadOp::Load))),
                depth_stencil_attachment: Some(pass::depth(&gbuffer.depth.view, wgpu::LoadOp::Load)),
                ..Default::default()
            },
        );
        pass.set_bind_group(0, &frame.group, &[]);
        pass.set_bind_group(1, &group, &[]);
        pass.set_bind_group(2, geometry.group, &[]);
        let mut pipeline = PipelineInUse::default();
        for (piece, _) in order {
            let run = match piece {
                Piece::Triangles(run) => run,
                Piece::Segments(run) => {
                    if pipeline.set(gpu, &mut pass, self.segments.of(&run))? {
                        segments::draw(&mut pass, buffers, &run);
                    }
                    continue;
                }
            };
            let materials = &buffers.materials;
            let surface = &materials.surfaces[run.material];
            if surface.layered {
                materials.bind_layers(&mut pass, run.material);
            } else {
                materials.bind(&mut pass, run.material);
            }
            let steps = self.steps(surface);
            let back = steps.iter().filter(|_| surface.double_sided);
            let back = back.map(|sides| &sides.back);
            for step in back.chain(steps.iter().map(|sides| &sides.front)) {
                if !pipeline.set(gpu, &mut pass, step)? {
                    continue;
                }
                pass.draw(run.corners(), 0..1);
            }
        }
        drop(pass);
        recording.split("blend");
        Ok(())
    }

    /// Adds the pipelines for all blended surfaces, points and lines of a scene, visible or not.
    pub fn add_pipelines(&self, frame: &Frame<'_>, set: &mut PipelineSet) {
        let buffers = frame.buffers;
        for (run, _) in buffers.draws.blended_runs(frame.traces_reflections) {
            let surface = &buffers.materials.surfaces[run.material];
            for sides in self.steps(surface) {
                if surface.double_sided {
                    set.add(&sides.back);
                }
                set.add(&sides.front);
            }
        }
        for run in &buffers.draws.blended_segments {
            set.add(self.segments.of(run));
        }
    }
}

/// Returns the draws of the visible blended parts, each with the index of its part.
fn pieces<'a>(frame: &'a Frame<'_>, buffers: &'a SceneBuffers) -> impl Iterator<Item = (Piece, usize)> + 'a {
    let draws = &buffers.draws;
    let triangles = draws.blended_runs(frame.traces_reflections);
    let triangles = triangles.map(|(run, part)| (Piece::Triangles(*run), *part));
    let segments = draws.blended_segments.iter();
    let segments = segments.map(|run| (Piece::Segments(*run), run.part));
    let shows = |(_, part): &(Piece, usize)| !frame.parts[*part].is_empty();
    triangles.chain(segments).filter(shows)
}
