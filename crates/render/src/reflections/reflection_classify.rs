//! `reflection_classify`: compacts the pixels that cast reflection rays into a dense list.

use super::reflection_list::{Bounce, MEAN_FORMAT};
use crate::{
    bindings::Layouts,
    frame::{Frame, recording::Recording},
};
use canopy_bvh::{
    Result,
    gpu::{
        Bind, Gpu, GpuImage, Kernel, Workgroups,
        pass::Binding::{Float, Store, Uint, Uniform, Write},
    },
};

/// Pipelines of the pass.
#[derive(Debug)]
pub struct ReflectionClassify {
    classify: Kernel,
    arguments: Kernel,
}

impl ReflectionClassify {
    /// Creates the pass without compiling its pipelines.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        let words = Store(wgpu::TextureFormat::R32Uint);
        let bindings = [
            Uniform,
            Float,
            Uint,
            Write,
            Write,
            Write,
            words,
            words,
            Store(MEAN_FORMAT),
            Uint,
            Uint,
        ];
        let path = "reflections/reflection_classify.wgsl";
        let kernel = |entry| Kernel::new(gpu, path, entry, &[(0, &layouts.frame)], &bindings);
        Self {
            classify: kernel("reflection_classify"),
            arguments: kernel("reflection_arguments"),
        }
    }

    /// Fills the bounce's list with the pixels of its `gbuffer` that cast a ray. All other pixels get 0 in
    /// the ids of `hits`, and at the first bounce also in `reflected` and `mean`.
    pub fn record(
        &self,
        recording: &mut Recording<'_>,
        frame: &Frame<'_>,
        bounce: Bounce<'_>,
        mean: &GpuImage,
    ) -> Result<()> {
        let Bounce {
            list, hits, lobes, ..
        } = bounce;
        let gpu = recording.gpu;
        recording.scope.clear_buffer(&list.arguments, 0, None);
        let params = list.params(bounce.start, bounce.number);
        let own: &[&dyn Bind] = &[
            &params,
            &bounce.gbuffer.position,
            &bounce.gbuffer.ids,
            &list.arguments,
            &bounce.reflected.words,
            &list.sending,
            &list.entries,
            &hits.gbuffer.ids,
            mean,
            &lobes.layers,
            &lobes.glass,
        ];
        let shared = [(0, &frame.group)];
        let mut pass = recording.scope.scoped_compute_pass("reflection_classify");
        // Each workgroup covers eight tiles.
        let [width, height] = frame.size;
        let tiles = Workgroups::Grid([width.div_ceil(64), height.div_ceil(8), 1]);
        let (classify, arguments) = (&self.classify, &self.arguments);
        classify.dispatch(gpu, &mut pass, &shared, own, tiles)?;
        arguments.dispatch(gpu, &mut pass, &shared, own, Workgroups::Count(1))
    }
}
