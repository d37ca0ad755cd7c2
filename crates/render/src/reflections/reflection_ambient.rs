//! `reflection_ambient`: ambient occlusion and bounced light at the hits of reflection rays.

use crate::{
    bindings::Layouts, frame::recording::Recording, layout::OcclusionParams, resources::Hits, world::World,
};
use canopy_bvh::{
    Result,
    gpu::{
        Gpu, Uniform as UniformBuffer, Variants,
        library::wgsl_constants,
        pass::Binding::{Float, StoreArray, Uint, Uniform},
    },
};

const LABEL: &str = "reflection_ambient";

wgsl_constants! {
    /// Ambient rays per hit. `ambient_bounced` of frame/ambient_visibility.wgsl corrects for two.
    pub const HIT_AMBIENT_RAYS: u32 = 2;
}

/// Kernels and parameters of the pass.
#[derive(Debug)]
pub struct ReflectionAmbient {
    kernels: Variants<1>,
    params: UniformBuffer<OcclusionParams>,
}

impl ReflectionAmbient {
    /// Creates the pass without compiling its pipeline.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        let hits = StoreArray(wgpu::TextureFormat::Rgba32Uint);
        let bindings = [Uniform, Float, Uint, Uint, Uniform, hits];
        Self {
            kernels: layouts.ray_kernels(gpu, "reflections/reflection_ambient.wgsl", LABEL, &bindings),
            params: UniformBuffer::new(gpu, "reflection_ambient.params"),
        }
    }

    /// Traces two rays into the hemisphere of each of the `hits` if the frame samples occlusion.
    pub fn record(&self, recording: &mut Recording<'_>, world: World<'_>, hits: &Hits) -> Result<()> {
        let World {
            frame,
            geometry,
            trees,
            ..
        } = world;
        if !frame.samples_occlusion {
            return Ok(());
        }
        let params = frame.occlusion_params(frame.sample_index, HIT_AMBIENT_RAYS);
        self.params.write(recording.gpu, &params);
        let nodes = trees.rays(recording)?;
        recording.dispatch_pixels(
            LABEL,
            self.kernels.get([geometry.buffers.tests_hits(recording.gpu)]),
            &[(0, &frame.group), (1, nodes), (2, geometry.group)],
            &[
                &hits.gbuffer.position,
                &hits.gbuffer.normal,
                &hits.gbuffer.ids,
                &self.params,
                &hits.found,
            ],
            frame.size,
            recording.budget.occlusion_pixels(HIT_AMBIENT_RAYS),
        )
    }
}
