//! `lab_rays`: generates the rays of the channel `lab`.

use crate::{data::LabRayParams, settings::LabRays};
use canopy_bvh::{
    Result,
    gpu::{
        Gpu, Kernel, Uniform,
        library::wgsl_constants,
        pass::Binding::{self, Float, Read, Uint, Write},
    },
};
use canopy_render::{bindings::Layouts, frame::recording::Recording, resources::GBuffer, world::World};
use canopy_scene::Projection;
use glam::Vec3;

wgsl_constants! {
    /// Direction of shadow rays in scenes without lights: upwards and slightly sideways, not normalised.
    const LAB_ABOVE_X: f64 = 0.4;
    const LAB_ABOVE_Y: f64 = 1.0;
    const LAB_ABOVE_Z: f64 = 0.3;
}

/// Offset of shadow rays from a surface, relative to half the scene's diagonal.
const STEP: f32 = 1e-4;
/// Length of shadow rays, relative to half the scene's diagonal.
const FAR: f32 = 1e4;

/// Pipelines of the pass.
#[derive(Debug)]
pub struct LabRaysPass {
    primary: Kernel,
    shadow: Kernel,
    params: Uniform<LabRayParams>,
}

impl LabRaysPass {
    /// Creates the pass without compiling its pipelines.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        let kernel = |entry| {
            let bindings = [Binding::Uniform, Binding::Uniform, Float, Uint, Read, Read, Write];
            let (path, shared) = ("lab/lab_rays.wgsl", [(0, &layouts.frame)]);
            Kernel::new(gpu, path, entry, &shared, &bindings)
        };
        Self {
            primary: kernel("lab_rays_primary"),
            shadow: kernel("lab_rays_shadow"),
            params: Uniform::new(gpu, "lab_rays.params"),
        }
    }

    fn kernel(&self, rays: LabRays) -> &Kernel {
        match rays {
            LabRays::Primary => &self.primary,
            LabRays::Shadow => &self.shadow,
        }
    }

    /// Writes a ray, or a placeholder, for each pixel of the tiles that cover the picture.
    pub fn record(
        &self,
        recording: &mut Recording<'_>,
        world: World<'_>,
        gbuffer: &GBuffer,
        (of, rays): (LabRays, &wgpu::Buffer),
    ) -> Result<()> {
        let World { frame, geometry, .. } = world;
        let gpu = recording.gpu;
        let radius = frame.bounds.radius();
        let view = &frame.view;
        let [right, up] = match view.projection {
            Projection::Perspective { .. } => [Vec3::ZERO; 2],
            Projection::Orthographic { half_height } => {
                let (_, rotation, _) = view.world_from_view.to_scale_rotation_translation();
                let half_width = half_height * frame.aspect();
                [rotation * Vec3::X * half_width, rotation * Vec3::Y * half_height]
            }
        };
        self.params.write(
            gpu,
            &LabRayParams {
                right: right.to_array(),
                far: match of {
                    LabRays::Primary => view.far,
                    LabRays::Shadow => FAR * radius,
                },
                up: up.to_array(),
                step: STEP * radius,
                triangle_count: geometry.buffers.triangle_count,
                ..LabRayParams::default()
            },
        );
        // Rounds up to whole tiles, so the last ones may extend beyond the picture.
        let size = frame.size.map(|side| side.next_multiple_of(8));
        recording.dispatch_pixels(
            "lab_rays",
            self.kernel(of),
            &[(0, &frame.group)],
            &[
                &self.params,
                &gbuffer.position,
                &gbuffer.ids,
                geometry.buffers.positions.buffer(),
                geometry.buffers.indices.buffer(),
                rays,
            ],
            size,
            recording.budget.pixels(),
        )
    }
}
