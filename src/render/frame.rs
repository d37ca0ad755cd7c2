//! The frame's uniforms: what group 0 holds.

use super::{
    FrameInput, View, accumulate::Sample, bindings::Layouts, environment::Environment, lights,
    scene_buffers::columns, shadow_map::ShadowMap,
};
use crate::{
    config::{self, ShadowMode},
    gpu::{
        Gpu,
        layout::{Frame, LIGHT_LIMIT, Light, SHADOW_VIEW_LIMIT, ShadowView},
        pass,
    },
    scene::Projection,
};
use glam::{Mat4, Vec2, Vec3, Vec4};

impl View {
    /// The eye.
    pub fn eye(&self) -> Vec3 {
        self.world_from_view.w_axis.truncate()
    }

    /// The same view from elsewhere.
    pub fn moved(mut self, by: Vec3) -> Self {
        self.world_from_view.w_axis += by.extend(0.0);
        self
    }

    /// Unit vector along the view.
    pub fn forward(&self) -> Vec3 {
        (-self.world_from_view.z_axis.truncate())
            .try_normalize()
            .unwrap_or(Vec3::NEG_Z)
    }

    /// From offsets to the eye, in world axes, to clip space with reversed depth: 1 at the near plane, 0 at the far one.
    pub fn clip_from_offset(&self, aspect: f32) -> Mat4 {
        let (_, rotation, _) = self.world_from_view.to_scale_rotation_translation();
        let clip_from_view = match self.projection {
            Projection::Perspective { fov_y } => {
                glam::camera::rh::proj::directx::perspective(fov_y, aspect, self.far, self.near)
            }
            Projection::Orthographic { half_height } => {
                let half_width = half_height * aspect;
                glam::camera::rh::proj::directx::orthographic(
                    -half_width,
                    half_width,
                    -half_height,
                    half_height,
                    self.far,
                    self.near,
                )
            }
        };
        clip_from_view * Mat4::from_quat(rotation.inverse())
    }

    /// From the middle of the picture to its right and its upper edge, at a metre's distance; zero in a parallel projection.
    pub fn half_extents(&self, aspect: f32) -> [Vec3; 2] {
        let tangent = match self.projection {
            Projection::Perspective { fov_y } => (0.5 * fov_y).tan(),
            Projection::Orthographic { .. } => 0.0,
        };
        let (_, rotation, _) = self.world_from_view.to_scale_rotation_translation();
        [
            rotation * Vec3::X * tangent * aspect,
            rotation * Vec3::Y * tangent,
        ]
    }

    /// The eight corners of what is seen, in the world, near ones first.
    pub fn corners(&self, aspect: f32) -> [Vec3; 8] {
        let offset_from_clip = self.clip_from_offset(aspect).inverse();
        std::array::from_fn(|i| {
            let sign = |bit: usize| if i & bit == 0 { -1.0 } else { 1.0 };
            let corner = offset_from_clip
                * Vec4::new(sign(1), sign(2), if i & 4 == 0 { 1.0 } else { 0.0 }, 1.0);
            self.eye() + corner.truncate() / corner.w
        })
    }
}

/// The buffers of group 0.
#[derive(Debug)]
pub struct FrameUniforms {
    frame: wgpu::Buffer,
    lights: wgpu::Buffer,
    shadow_views: wgpu::Buffer,
}

impl FrameUniforms {
    /// Makes them.
    pub fn new(gpu: &Gpu) -> Self {
        let uniform = |label: &str, count: u32, bytes: usize| {
            gpu.buffer(
                label,
                u64::from(count) * bytes as u64,
                wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            )
        };
        Self {
            frame: uniform("frame", 1, size_of::<Frame>()),
            lights: uniform("lights", LIGHT_LIMIT, size_of::<Light>()),
            shadow_views: uniform("shadow_views", SHADOW_VIEW_LIMIT, size_of::<ShadowView>()),
        }
    }

    /// Writes the frame and binds it, with light from all around and the shadow maps that its lights refer to.
    pub fn write(
        &self,
        gpu: &Gpu,
        layouts: &Layouts,
        input: &FrameInput<'_>,
        sample: Sample,
        (lights, environment): (&[Light], &Environment),
        (shadow_map, shadow_views): (&ShadowMap, &[ShadowView]),
    ) -> wgpu::BindGroup {
        let config = input.config;
        // What a pixel looks at comes to lie in its middle.
        let [width, height] = input.size.map(|side| 2.0 / side.max(1) as f32);
        let shift = sample.offset() * Vec2::new(-width, height);
        let sampled_from_clip = Mat4::from_translation(shift.extend(0.0));
        let clip_from_offset = input.view.clip_from_offset(input.aspect());
        let [view_right, view_up] = input.view.half_extents(input.aspect());
        let view_middle = input.view.forward() - shift.x * view_right - shift.y * view_up;
        let around = environment.place(config, lights::has_sun(input.scene, config));
        let frame = Frame {
            clip_from_offset: columns(sampled_from_clip * clip_from_offset),
            eye: input.view.eye().to_array(),
            light_count: lights.len() as u32,
            forward: input.view.forward().to_array(),
            leaf_cutoff: config.tree.leaf_cutoff.max(1),
            view_middle: view_middle.to_array(),
            shadow_mode: match config.shadows.mode {
                ShadowMode::Off => 0,
                ShadowMode::Map => 1,
                ShadowMode::Rays => 2,
            },
            view_right: view_right.to_array(),
            pcf_width: config.shadows.map_pcf_width.max(1),
            view_up: view_up.to_array(),
            blended_cast: u32::from(config.shadows.blended_cast),
            background: config.image.background,
            background_blur: config.environment.blur,
            to_sun: around.to_sun.to_array(),
            environment_scale: around.scale,
            sun_disc: around.sun_disc.to_array(),
            sun_horizon: around.sun_horizon,
            shows_environment: u32::from(
                config.environment.background == config::Background::Environment,
            ),
            environment_turn: around.turn.to_array(),
            size: input.size,
            depth_bias: config.shadows.map_depth_bias,
            normal_bias: config.shadows.map_normal_bias,
            orthographic: u32::from(matches!(
                input.view.projection,
                Projection::Orthographic { .. }
            )),
            occlusion: u32::from(config.occlusion.sends_rays(gpu.is_software())),
            ..Frame::default()
        };
        gpu.queue
            .write_buffer(&self.frame, 0, bytemuck::bytes_of(&frame));
        gpu.queue
            .write_buffer(&self.lights, 0, bytemuck::cast_slice(lights));
        gpu.queue
            .write_buffer(&self.shadow_views, 0, bytemuck::cast_slice(shadow_views));
        let resources = [
            self.frame.as_entire_binding(),
            self.lights.as_entire_binding(),
            self.shadow_views.as_entire_binding(),
            wgpu::BindingResource::TextureView(shadow_map.view()),
            wgpu::BindingResource::Sampler(shadow_map.sampler()),
            environment.project_sh.result.as_entire_binding(),
            environment.brdf_table.buffer.as_entire_binding(),
            wgpu::BindingResource::TextureView(&environment.prefiltered.view),
            wgpu::BindingResource::Sampler(&environment.sampler),
        ];
        pass::bind_group(gpu, "frame", &layouts.frame, &resources)
    }
}
