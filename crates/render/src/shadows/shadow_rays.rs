//! `shadow_rays`: traces shadow rays through the BVHs, from a list or for every pixel.

use crate::{
    bindings::Layouts,
    frame::{
        ray_list::{Batch, RayList},
        recording::Recording,
    },
    resources::{NOISY, POSITIONS, REPROJECTED, ShadowJob, TILES, WORDS},
    world::World,
};
use canopy_bvh::{
    Result,
    gpu::{
        Bind, Gpu, Variants, Workgroups,
        pass::Binding::{self, StoreArray, Write},
    },
};

/// Label of the pass in frame timings.
pub const LABEL: &str = "shadow_rays";
/// Label of the pass for rays from the hits of reflection rays.
pub const LABEL_AT_HITS: &str = "shadow_rays_at_hits";

/// Pipelines of the pass, for listed rays and for every pixel.
#[derive(Debug)]
pub struct ShadowRays {
    listed: Variants<1>,
    by_pixel: Variants<1>,
}

impl ShadowRays {
    /// Creates the pass without compiling its pipelines.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        let uniform = Binding::Uniform;
        let blocked = StoreArray(wgpu::TextureFormat::R32Uint);
        let bindings = [uniform, POSITIONS, WORDS, WORDS, Write, blocked];
        let listed = [&bindings[..], &[WORDS, uniform]].concat();
        let by_pixel = [&bindings[..], &[REPROJECTED, NOISY, TILES]].concat();
        let kernels = |entry, bindings: &[Binding]| {
            layouts.ray_kernels(gpu, "shadow/shadow_rays.wgsl", entry, bindings)
        };
        Self {
            listed: kernels("shadow_rays", &listed),
            by_pixel: kernels("shadow_rays_by_pixel", &by_pixel),
        }
    }

    /// Traces the rays of `batch` in `list`. Without a batch, traces rays for every pixel and light slot.
    /// Pixels on a shadow edge of the last frame then cast more rays, and settled pixels cast none.
    /// `job.label` labels the pass.
    pub fn record(
        &self,
        recording: &mut Recording<'_>,
        world: World<'_>,
        job: ShadowJob<'_>,
        batch: Option<(&RayList, &Batch)>,
    ) -> Result<()> {
        let World {
            frame,
            geometry,
            trees,
            ..
        } = world;
        let shared = [
            (0, &frame.group),
            (1, trees.rays(recording)?),
            (2, geometry.group),
        ];
        let ShadowJob {
            label,
            gbuffer,
            visibility,
            edges: [reprojected, edges, tiles],
        } = job;
        let tests_hits = [geometry.buffers.tests_hits(recording.gpu)];
        let (position, normal) = (&gbuffer.position, &gbuffer.normal);
        let (ids, words) = (&gbuffer.ids, &visibility.words);
        let blocked = &visibility.blocked;
        let Some((list, batch)) = batch else {
            let own: &[&dyn Bind] = &[position, normal, ids, words, blocked, reprojected, edges, tiles];
            let most = recording.budget.batch_rays / frame.light_plan.rays_per_pixel().max(1);
            let kernel = self.by_pixel.get(tests_hits);
            return recording.dispatch_pixels(label, kernel, &shared, own, frame.size, most);
        };
        let [params, arguments] = list.bindings(batch);
        let own: &[&dyn Bind] = &[
            &params,
            position,
            normal,
            ids,
            words,
            blocked,
            &list.entries,
            &arguments,
        ];
        let listed = Workgroups::Indirect(&list.arguments, batch.offset);
        recording.dispatch(label, self.listed.get(tests_hits), &shared, own, listed)
    }
}
