//! `reflection_classify`: the pixels whose surfaces trace what they reflect, as a dense list.

use super::{
    bindings::Layouts,
    edges::{Hits, Reflected, ReflectionSource},
    frame::Frame,
    recording::Recording,
    reflection_list::{MEAN_FORMAT, ReflectionList},
};
use crate::{
    Result,
    gpu::{
        Bind, Gpu, GpuImage, Kernel, Needs, Workgroups,
        pass::Binding::{Float, Store, Uint, Uniform, Write},
    },
};

/// The pass.
#[derive(Debug)]
pub struct ReflectionClassify {
    classify: Kernel,
    arguments: Kernel,
}

impl ReflectionClassify {
    /// Ready to be compiled.
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

    /// What it compiles.
    pub fn needs(&self, needs: &mut Needs) {
        self.classify.needs(needs);
        self.arguments.needs(needs);
    }

    /// Fills `list` with the pixels of `source` that send a ray at this bounce; the ids of `hits` become 0 where
    /// none is sent, and at the first bounce `reflected` and `mean` too.
    #[expect(clippy::too_many_arguments, reason = "they are the edges of the frame")]
    pub fn record(
        &self,
        recording: &mut Recording<'_>,
        frame: &Frame<'_>,
        source: ReflectionSource<'_>,
        list: &ReflectionList,
        hits: &Hits,
        reflected: &Reflected,
        mean: &GpuImage,
    ) -> Result<()> {
        let gpu = recording.gpu;
        recording.scope.clear_buffer(&list.arguments, 0, None);
        let params = list.params(source.start, source.bounce);
        let own: &[&dyn Bind] = &[
            &params,
            &source.gbuffer.position,
            &source.gbuffer.ids,
            &list.arguments,
            &reflected.words,
            &list.sending,
            &list.entries,
            &hits.gbuffer.ids,
            mean,
            &source.lobes.layers,
            &source.lobes.glass,
        ];
        let shared = [(0, &frame.group)];
        let mut pass = recording.scope.scoped_compute_pass("reflection_classify");
        // A workgroup has eight tiles.
        let [width, height] = frame.size;
        let tiles = Workgroups::Grid([width.div_ceil(64), height.div_ceil(8), 1]);
        let (classify, arguments) = (&self.classify, &self.arguments);
        classify.dispatch(gpu, &mut pass, &shared, own, tiles)?;
        arguments.dispatch(gpu, &mut pass, &shared, own, Workgroups::Count(1))
    }
}
