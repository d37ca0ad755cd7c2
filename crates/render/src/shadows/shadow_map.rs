//! `shadow_map`: depth of the merged scene from every light. A directional light has one layer fitted to the
//! view, a spot light one and a point light six.

use crate::{
    bindings::Layouts,
    frame::{FrameSetup, recording::Recording},
    layout::{Light, SHADOW_VIEW_LIMIT, ShadowView},
    light::lights::{self, LIGHT_DIRECTIONAL, LIGHT_POINT},
    raster::draw_lists::{DrawLists, Run},
    resources::{DEPTH_FORMAT, ShadowMaps},
    world::World,
};
use canopy_bvh::{
    Result,
    gpu::{
        Gpu, LazyPipeline, bind_group,
        pass::{self, Binding, PipelineInUse},
        shader,
    },
};
use canopy_scene::bounds::Aabb;
use glam::{
    Mat4, Vec3,
    camera::rh::{proj::directx as proj, view},
};

/// Maximum total size of all layers in bytes. Above it the resolution is halved.
const BYTES_LIMIT: u64 = 512 << 20;
/// Stride between the matrices of two layers in bytes, which is the portable alignment of a uniform's dynamic
/// offset.
const MATRIX_STRIDE: u64 = 256;

/// Pipelines of the pass and the maps that it draws.
#[derive(Debug)]
pub struct ShadowMap {
    opaque: LazyPipeline<wgpu::RenderPipeline>,
    masked: LazyPipeline<wgpu::RenderPipeline>,
    matrices: wgpu::Buffer,
    matrix_group: wgpu::BindGroup,
    sampler: wgpu::Sampler,
    maps: Maps,
    views: Vec<ShadowView>,
}

#[derive(Debug)]
struct Maps {
    resolution: u32,
    layers: u32,
    view: wgpu::TextureView,
    layer_views: Vec<wgpu::TextureView>,
}

impl ShadowMap {
    /// Creates the pass without compiling its pipelines.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        let matrix_layout = pass::layout(
            gpu,
            "shadow_map.matrix",
            &[(wgpu::ShaderStages::VERTEX, Binding::UniformAt)],
        );
        let layout = gpu
            .device
            .create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label: Some("shadow_map"),
                bind_group_layouts: &[None, Some(&matrix_layout), None, Some(&layouts.material)],
                immediate_size: 0,
            });
        let pipeline = |masked: bool| {
            let layout = layout.clone();
            LazyPipeline::new("shadow_map", move |gpu| pipeline(gpu, &layout, masked))
        };
        let [opaque, masked] = [false, true].map(pipeline);
        let matrices = gpu.buffer(
            "shadow_map.matrices",
            MATRIX_STRIDE * u64::from(SHADOW_VIEW_LIMIT),
            wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
        );
        let binding = wgpu::BufferBinding {
            buffer: &matrices,
            offset: 0,
            size: wgpu::BufferSize::new(64),
        };
        let matrix_group = bind_group(gpu, "shadow_map.matrix", &matrix_layout, &[&binding]);
        let sampler = gpu.device.create_sampler(&wgpu::SamplerDescriptor {
            label: Some("shadow_map"),
            mag_filter: wgpu::FilterMode::Linear,
            min_filter: wgpu::FilterMode::Linear,
            // Depth is reversed, so a receiver is lit if it is not farther than the depth in the map.
            compare: Some(wgpu::CompareFunction::GreaterEqual),
            ..Default::default()
        });
        Self {
            opaque,
            masked,
            matrices,
            matrix_group,
            sampler,
            maps: Maps::new(gpu, 1, 1),
            views: Vec::new(),
        }
    }

    /// Returns the shadow maps that the lights of a frame refer to, as assigned by [`ShadowMap::fit`].
    pub fn maps(&self) -> ShadowMaps<'_> {
        ShadowMaps {
            depth: &self.maps.view,
            sampler: &self.sampler,
            views: &self.views,
        }
    }

    /// Removes the views of all lights.
    pub fn clear(&mut self) {
        self.views.clear();
    }

    /// Assigns each light of a frame its views, reallocates the maps and writes their matrices. Lights whose
    /// views would exceed [`SHADOW_VIEW_LIMIT`] layers get none.
    pub fn fit(&mut self, gpu: &Gpu, frame: &mut FrameSetup<'_>) -> Result<()> {
        let scene = frame.buffers.triangle_bounds(&frame.parts);
        let wanted: u32 = frame
            .lights
            .iter()
            .map(|light| if light.kind == LIGHT_POINT { 6 } else { 1 })
            .sum();
        let layers = wanted.clamp(1, SHADOW_VIEW_LIMIT);
        let mut resolution = frame
            .config
            .shadows
            .map_resolution
            .min(gpu.limits.max_texture_dimension_2d);
        while u64::from(resolution).pow(2) * 4 * u64::from(layers) > BYTES_LIMIT {
            resolution /= 2;
        }
        if (self.maps.resolution, self.maps.layers) != (resolution, layers) {
            self.maps = gpu.catch(|| Maps::new(gpu, resolution, layers))?;
        }
        let receivers = match frame.ground {
            Some(ground) => scene.union(ground.bounds()),
            None => scene,
        };
        let mut views = Vec::new();
        for index in lights::first(&frame.lights, &frame.light_plan) {
            let light = &frame.lights[index];
            // A sun below the horizon has no intensity and needs no view.
            if light.intensity == [0.0; 3] {
                continue;
            }
            let fresh = match light.kind {
                LIGHT_DIRECTIONAL => vec![directional(light, frame, scene, resolution)],
                LIGHT_POINT => (0..6)
                    .map(|face| point(light, face, receivers, resolution))
                    .collect(),
                _ => vec![spot(light, receivers, resolution)],
            };
            if views.len() + fresh.len() <= SHADOW_VIEW_LIMIT as usize {
                frame.lights[index].shadow_view = views.len() as u32;
                views.extend(fresh);
            }
        }
        for (index, view) in (0..).zip(&views) {
            gpu.queue.write_buffer(
                &self.matrices,
                MATRIX_STRIDE * index,
                bytemuck::bytes_of(&view.clip_from_world),
            );
        }
        self.views = views;
        Ok(())
    }

    /// Draws every layer.
    pub fn record(&self, recording: &mut Recording<'_>, world: World<'_>, blended_cast: bool) -> Result<()> {
        let World { geometry, .. } = world;
        let (gpu, buffers) = (recording.gpu, geometry.buffers);
        let draws = &buffers.draws;
        let mut scope = recording.scope.scope("shadow_map");
        let layers = self.maps.layer_views.iter().take(self.views.len());
        for (layer, view) in layers.enumerate() {
            let mut pass = scope.scoped_render_pass(
                &format!("layer {layer}"),
                wgpu::RenderPassDescriptor {
                    label: Some("shadow_map"),
                    depth_stencil_attachment: Some(pass::depth(view, wgpu::LoadOp::Clear(0.0))),
                    ..Default::default()
                },
            );
            pass.set_bind_group(1, &self.matrix_group, &[layer as u32 * MATRIX_STRIDE as u32]);
            pass.set_index_buffer(buffers.indices.buffer().slice(..), wgpu::IndexFormat::Uint32);
            pass.set_vertex_buffer(0, buffers.positions.buffer().slice(..));
            pass.set_vertex_buffer(1, buffers.vertices.slice(..));
            let mut pipeline = PipelineInUse::default();
            // The pipeline layout includes a material, so one must be bound even though the opaque pipeline
            // does not read it.
            buffers.materials.bind(&mut pass, 0);
            for run in &draws.opaque_casters {
                if pipeline.set(gpu, &mut pass, &self.opaque)? {
                    pass.draw_indexed(run.corners(), 0, 0..1);
                }
            }
            for run in cut_out(draws, blended_cast) {
                if pipeline.set(gpu, &mut pass, &self.masked)? {
                    buffers.materials.bind(&mut pass, run.material);
                    pass.draw_indexed(run.corners(), 0, 0..1);
                }
            }
        }
        drop(scope);
        recording.split("shadow_map");
        Ok(())
    }
}

/// Returns the runs of casters with alpha-tested shadows.
fn cut_out(draws: &DrawLists, blended_cast: bool) -> impl Iterator<Item = &Run> {
    let blended = draws.blended_casters.iter().filter(move |_| blended_cast);
    draws.masked_casters.iter().chain(blended)
}

/// Creates the pipeline of opaque casters, or of masked and blended casters, which test alpha.
fn pipeline(gpu: &Gpu, layout: &wgpu::PipelineLayout, masked: bool) -> Result<wgpu::RenderPipeline> {
    let module = shader::module(gpu, "passes/shadow_map.wgsl")?;
    let buffers = [
        Some(wgpu::VertexBufferLayout {
            array_stride: 12,
            step_mode: wgpu::VertexStepMode::Vertex,
            attributes: &wgpu::vertex_attr_array![0 => Float32x3],
        }),
        Some(wgpu::VertexBufferLayout {
            array_stride: 24,
            step_mode: wgpu::VertexStepMode::Vertex,
            attributes: &wgpu::vertex_attr_array![1 => Float32x2, 2 => Float32x2, 3 => Unorm16x4],
        }),
    ];
    gpu.catch(|| {
        gpu.device
            .create_render_pipeline(&wgpu::RenderPipelineDescriptor {
                label: Some("shadow_map"),
                layout: Some(layout),
                vertex: wgpu::VertexState {
                    module: &module,
                    entry_point: Some(if masked { "masked" } else { "opaque" }),
                    compilation_options: wgpu::PipelineCompilationOptions::default(),
                    buffers: if masked { &buffers } else { &buffers[..1] },
                },
                primitive: wgpu::PrimitiveState::default(),
                depth_stencil: Some(wgpu::DepthStencilState {
                    format: DEPTH_FORMAT,
                    depth_write_enabled: Some(true),
                    depth_compare: Some(wgpu::CompareFunction::Greater),
                    stencil: wgpu::StencilState::default(),
                    bias: wgpu::DepthBiasState::default(),
                }),
                multisample: wgpu::MultisampleState::default(),
                fragment: masked.then(|| wgpu::FragmentState {
                    module: &module,
                    entry_point: Some("cut_out"),
                    compilation_options: wgpu::PipelineCompilationOptions::default(),
                    targets: &[],
                }),
                multiview_mask: None,
                cache: gpu.pipeline_cache(),
            })
    })
}

impl Maps {
    fn new(gpu: &Gpu, resolution: u32, layers: u32) -> Self {
        let texture = gpu.device.create_texture(&wgpu::TextureDescriptor {
            label: Some("shadow_maps"),
            size: wgpu::Extent3d {
                width: resolution,
                height: resolution,
                depth_or_array_layers: layers,
            },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: DEPTH_FORMAT,
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::TEXTURE_BINDING,
            view_formats: &[],
        });
        let view = |dimension, first, count| {
            texture.create_view(&wgpu::TextureViewDescriptor {
                label: Some("shadow_maps"),
                dimension: Some(dimension),
                base_array_layer: first,
                array_layer_count: Some(count),
                ..Default::default()
            })
        };
        Self {
            resolution,
            layers,
            view: view(wgpu::TextureViewDimension::D2Array, 0, layers),
            layer_views: (0..layers)
                .map(|layer| view(wgpu::TextureViewDimension::D2, layer, 1))
                .collect(),
        }
    }
}

/// Returns an up vector that is not parallel to `direction`.
fn up_for(direction: Vec3) -> Vec3 {
    if direction.y.abs() > 0.99 {
        Vec3::Z
    } else {
        Vec3::Y
    }
}

/// Fits an orthographic projection to the visible part of the scene and everything between it and the light.
fn directional(light: &Light, input: &FrameSetup<'_>, scene: Aabb, resolution: u32) -> ShadowView {
    let direction = Vec3::from(light.direction);
    let light_from_world = view::look_to_mat4(scene.center(), direction, up_for(direction));
    let whole = scene.transformed(light_from_world);
    let seen = Aabb::from_points(
        input
            .view
            .corners(input.aspect())
            .map(|corner| light_from_world.transform_point3(corner)),
    );
    let mut min = whole.min.max(seen.min);
    let mut max = whole.max.min(seen.max);
    if min.cmpgt(max).any() || !min.is_finite() || !max.is_finite() {
        (min, max) = (whole.min, whole.max);
    }
    // The size is in steps of a sixteenth of the scene, and the corner is on a texel. Shadow edges thus stay
    // put while the camera moves a little.
    let step = (whole.max - whole.min).max_element().max(1e-6) / 16.0;
    let size = (((max - min).max_element() + step) / step).ceil() * step;
    let texel = size / resolution as f32;
    let corner = (0.5 * (min + max) - 0.5 * size).truncate();
    let corner = (corner / texel).floor() * texel;
    let margin = 0.01 * scene.radius();
    let to_ground = input.ground.map_or(0.0, |ground| {
        // Covers the length of the shadow beyond the scene, but not beyond the visible ground.
        let height = (scene.max.y - ground.middle.y as f32).max(0.0);
        (height / direction.y.abs().max(1e-6)).min(2.0 * ground.reach)
    });
    let (near, far) = (-whole.max.z - margin, -whole.min.z + margin + to_ground);
    let clip_from_light = proj::orthographic(corner.x, corner.x + size, corner.y, corner.y + size, far, near);
    ShadowView {
        clip_from_world: (clip_from_light * light_from_world).to_cols_array_2d(),
        texel_size: texel,
        perspective: 0.0,
        near,
        far,
    }
}

/// Returns the distances of the near and far planes of a light. The far plane is at its range or at the far
/// side of the scene, whichever is nearer. The near plane is a fixed fraction of that.
fn reach(light: &Light, scene: Aabb) -> (f32, f32) {
    let to_far_side = (scene.center() - Vec3::from(light.position)).length() + scene.radius();
    let far = if light.range > 0.0 {
        light.range.min(to_far_side)
    } else {
        to_far_side
    }
    .max(1e-6);
    // With reversed floating-point depth, a near plane this close costs no precision.
    (far * 1e-6, far)
}

fn spot(light: &Light, scene: Aabb, resolution: u32) -> ShadowView {
    let direction = Vec3::from(light.direction);
    let outer_angle = lights::outer_angle(light).unwrap_or_default();
    // Slightly wider than the cone, for the filter. A perspective projection cannot cover a hemisphere.
    let fov = (2.0 * outer_angle + 0.02).min(170f32.to_radians());
    perspective(light, direction, up_for(direction), fov, scene, resolution)
}

/// Creates the view of face 0 to 5 of a point light's cube, in the order +X, −X, +Y, −Y, +Z, −Z. Each field
/// of view is slightly wider than 90°, for the filter at the face's edges.
fn point(light: &Light, face: usize, scene: Aabb, resolution: u32) -> ShadowView {
    let direction = [Vec3::X, Vec3::NEG_X, Vec3::Y, Vec3::NEG_Y, Vec3::Z, Vec3::NEG_Z][face];
    let half = 1.0 + 16.0 / resolution as f32;
    perspective(
        light,
        direction,
        up_for(direction),
        2.0 * half.atan(),
        scene,
        resolution,
    )
}

fn perspective(
    light: &Light,
    direction: Vec3,
    up: Vec3,
    fov: f32,
    scene: Aabb,
    resolution: u32,
) -> ShadowView {
    let (near, far) = reach(light, scene);
    let light_from_world: Mat4 = view::look_to_mat4(Vec3::from(light.position), direction, up);
    let clip_from_light = proj::perspective(fov, 1.0, far, near);
    ShadowView {
        clip_from_world: (clip_from_light * light_from_world).to_cols_array_2d(),
        texel_size: 2.0 * (0.5 * fov).tan() / resolution as f32,
        perspective: 1.0,
        near,
        far,
    }
}
