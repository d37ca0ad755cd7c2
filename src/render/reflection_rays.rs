//! `reflection_rays`: what surfaces reflect, by rays through the trees.

use super::{
    bindings::Layouts,
    edges::{Air, Geometry, Hits, Reflected, ReflectionSource, Trees},
    frame::Frame,
    recording::Recording,
    reflection_list::{ReflectionList, SENT_FORMAT},
};
use crate::{
    Result,
    gpu::{
        Bind, Gpu, GpuImage, Kernel, Needs, Workgroups,
        pass::Binding::{Float, Store, StoreArray, Uint, UintArray, Uniform, Write},
    },
};
use wgpu::TextureFormat as Format;

/// Its name among the timings of a frame.
pub const LABEL: &str = "reflection_rays";

/// The pass.
#[derive(Debug)]
pub struct ReflectionRays {
    kernel: Kernel,
}

impl ReflectionRays {
    /// Ready to be compiled.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        let bindings = [
            Uniform,
            Uniform,
            Uint,
            Float,
            Uint,
            Uint,
            Uint,
            Uint,
            Uint,
            UintArray,
            Write,
            Store(Format::R32Uint),
            StoreArray(Format::Rgba32Uint),
            Store(SENT_FORMAT),
        ];
        let bindings = [&bindings[..], &Air::BINDINGS].concat();
        let shared = [(0, &layouts.frame), (1, &layouts.tree), (2, &layouts.scene)];
        let path = "reflections/reflection_rays.wgsl";
        Self {
            kernel: Kernel::new(gpu, path, LABEL, &shared, &bindings),
        }
    }

    /// What it compiles.
    pub fn needs(&self, needs: &mut Needs) {
        self.kernel.needs(needs);
    }

    /// Traces the rays of `list` from the surfaces of `source` into `hits`. What hits nothing adds the environment to
    /// `reflected`. At the first bounce `sent` gets the rays that neighbours may reuse.
    #[expect(clippy::too_many_arguments, reason = "they are the edges of the frame")]
    pub fn record(
        &self,
        recording: &mut Recording<'_>,
        frame: &Frame<'_>,
        geometry: Geometry<'_>,
        trees: Trees<'_>,
        source: ReflectionSource<'_>,
        list: &ReflectionList,
        hits: &Hits,
        reflected: &Reflected,
        sent: &GpuImage,
        air: Air<'_>,
    ) -> Result<()> {
        let shared = [(0, &frame.group), (1, trees.group), (2, geometry.group)];
        let params = list.params(source.start, source.bounce);
        for (batch, offset) in list.batches() {
            let own: &[&dyn Bind] = &[
                &params,
                &batch,
                &list.entries,
                &source.gbuffer.position,
                &source.gbuffer.normal,
                &source.gbuffer.albedo,
                &source.gbuffer.ids,
                &source.lobes.layers,
                &source.lobes.glass,
                source.found,
                &reflected.words,
                &hits.gbuffer.ids,
                &hits.found,
                sent,
                air.params,
                air.light,
                air.sampler,
            ];
            let listed = Workgroups::Indirect(&list.arguments, offset);
            recording.dispatch(LABEL, &self.kernel, &shared, own, listed)?;
        }
        Ok(())
    }
}
