//! `shadow_classify`: compacts the shadow rays of a batch that have to be traced into a dense list.

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
        Bind, Gpu, Kernel, Workgroups,
        pass::Binding::{self, Store, StoreArray, Write},
    },
};

/// Pipelines of the pass.
#[derive(Debug)]
pub struct ShadowClassify {
    classify: Kernel,
    arguments: Kernel,
}

impl ShadowClassify {
    /// Creates the pass without compiling its pipelines.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        let entries = Store(wgpu::TextureFormat::R32Uint);
        let blocked = StoreArray(wgpu::TextureFormat::R32Uint);
        let bindings = [
            POSITIONS,
            WORDS,
            WORDS,
            Binding::Uniform,
            Write,
            Write,
            entries,
            blocked,
            REPROJECTED,
            NOISY,
            TILES,
        ];
        let shared = [(0, &layouts.frame), (2, &layouts.scene)];
        let path = "shadow/shadow_classify.wgsl";
        let kernel = |entry| Kernel::new(gpu, path, entry, &shared, &bindings);
        Self {
            classify: kernel("shadow_classify"),
            arguments: kernel("shadow_arguments"),
        }
    }

    /// Fills `list` with the rays of `batch`.
    pub fn record(
        &self,
        recording: &mut Recording<'_>,
        world: World<'_>,
        job: ShadowJob<'_>,
        list: &RayList,
        batch: &Batch,
    ) -> Result<()> {
        let World { frame, geometry, .. } = world;
        let gpu = recording.gpu;
        let ShadowJob {
            gbuffer,
            visibility,
            edges: [reprojected, edges, tiles],
            ..
        } = job;
        let [params, arguments] = list.bindings(batch);
        let shared = [(0, &frame.group), (2, geometry.group)];
        let own: &[&dyn Bind] = &[
            &gbuffer.position,
            &gbuffer.normal,
            &gbuffer.ids,
            &params,
            &arguments,
            &visibility.words,
            &list.entries,
            &visibility.blocked,
            reprojected,
            edges,
            tiles,
        ];
        let mut pass = recording.scope.scoped_compute_pass("shadow_classify");
        // Each workgroup covers eight tiles.
        let [columns, rows] = batch.tiles;
        let tiles = Workgroups::Grid([columns.div_ceil(8), rows, 1]);
        let (classify, arguments) = (&self.classify, &self.arguments);
        classify.dispatch(gpu, &mut pass, &shared, own, tiles)?;
        arguments.dispatch(gpu, &mut pass, &shared, own, Workgroups::Count(1))
    }
}
