//! `occlusion_rays`: samples ambient visibility with rays through the BVHs.

use crate::{
    bindings::Layouts,
    frame::{Bounced, recording::Recording},
    layout::OcclusionParams,
    resources::{GBuffer, NOISY_FORMAT, NoisyOcclusion, POSITIONS, UNUSED, WORDS, try_create},
    world::World,
};
use canopy_bvh::{
    Result,
    gpu::{
        Gpu, GpuImage, Kernel, Uniform, Variants,
        pass::Binding::{self, Store, StoreArray},
    },
};

/// Label of the pass in frame timings.
pub const LABEL: &str = "occlusion_rays";
/// Pipeline and outputs of the pass.
#[derive(Debug)]
pub struct OcclusionRays {
    kernels: Variants<3>,
    params: Uniform<OcclusionParams>,
    /// Noisy visibility of this frame, in two layers.
    output: GpuImage,
    /// Closest hit of one ray of each pixel.
    hits: GpuImage,
}

/// Format of [`NoisyOcclusion::hits`].
const HITS_FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rg32Uint;

impl OcclusionRays {
    /// Creates the pass without compiling its pipeline.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        let (uniform, noisy) = (Binding::Uniform, StoreArray(NOISY_FORMAT));
        let bindings = [
            uniform,
            POSITIONS,
            WORDS,
            WORDS,
            uniform,
            noisy,
            Store(HITS_FORMAT),
        ];
        let shared = [(0, &layouts.frame), (1, &layouts.tree), (2, &layouts.scene)];
        let (path, entry) = ("ambient/occlusion_rays.wgsl", "occlusion_rays");
        Self {
            kernels: Variants::new(
                ["BVH_TESTS_HITS", "RECORDS_HIT", "WEIGHS_ENVIRONMENT"],
                |constants| Kernel::with_constants(gpu, path, entry, &shared, &bindings, constants),
            ),
            params: Uniform::new(gpu, "occlusion.params"),
            output: image(gpu, [1, 1]),
            hits: hits(gpu, UNUSED),
        }
    }

    /// Traces the rays of all pixels. `index` is the number of frames or samples before.
    pub fn record(
        &mut self,
        recording: &mut Recording<'_>,
        world: World<'_>,
        gbuffer: &GBuffer,
        index: u32,
    ) -> Result<NoisyOcclusion<'_>> {
        let World {
            frame,
            geometry,
            trees,
            ..
        } = world;
        let gpu = recording.gpu;
        let bounces = frame.bounced != Bounced::Off;
        let hits_size = if bounces { frame.size } else { UNUSED };
        if self.hits.size() != hits_size {
            self.hits = try_create(gpu, hits_size, || hits(gpu, hits_size))?;
        }
        if self.output.size() != frame.size {
            self.output = try_create(gpu, frame.size, || image(gpu, frame.size))?;
        }
        let params = frame.occlusion_params(index, frame.occlusion_rays);
        self.params.write(gpu, &params);
        let records_hit = bounces || !gpu.capabilities.has_ray_nodes();
        let nodes = trees.rays(recording)?;
        recording.dispatch_pixels(
            LABEL,
            self.kernels.get([
                geometry.buffers.tests_hits(gpu),
                records_hit,
                frame.bounced.is_full(),
            ]),
            &[(0, &frame.group), (1, nodes), (2, geometry.group)],
            &[
                &gbuffer.position,
                &gbuffer.normal,
                &gbuffer.ids,
                &self.params,
                &self.output,
                &self.hits,
            ],
            frame.size,
            recording.budget.occlusion_pixels(frame.occlusion_rays),
        )?;
        Ok(NoisyOcclusion {
            signal: &self.output,
            hits: &self.hits,
            params: &self.params,
        })
    }
}

fn hits(gpu: &Gpu, size: [u32; 2]) -> GpuImage {
    let usage = wgpu::TextureUsages::STORAGE_BINDING | wgpu::TextureUsages::TEXTURE_BINDING;
    GpuImage::new(gpu, "occlusion.hits", size, HITS_FORMAT, usage)
}

fn image(gpu: &Gpu, size: [u32; 2]) -> GpuImage {
    let usage = wgpu::TextureUsages::STORAGE_BINDING | wgpu::TextureUsages::TEXTURE_BINDING;
    GpuImage::with_layers(gpu, "occlusion.noisy", size, 2, NOISY_FORMAT, usage)
}
