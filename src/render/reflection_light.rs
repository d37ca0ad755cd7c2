//! `reflection_light`: radiance of what reflection rays have hit, into what their pixels reflect.

use super::{
    bindings::Layouts,
    edges::{Geometry, Hits, Reflected, Visibility},
    frame::Frame,
    recording::Recording,
    reflection_list::ReflectionList,
};
use crate::{
    Result,
    gpu::{
        Bind, Gpu, Kernel, Needs, Workgroups,
        pass::Binding::{Float, Read, Uint, UintArray, Uniform, Write},
    },
};

const LABEL: &str = "reflection_light";

/// The pass.
#[derive(Debug)]
pub struct ReflectionLight {
    kernel: Kernel,
}

impl ReflectionLight {
    /// Ready to be compiled.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        let bindings = [
            Uniform, Read, Read, Write, Float, Uint, Uint, Uint, Uint, UintArray,
        ];
        let shared = [(0, &layouts.frame), (2, &layouts.scene)];
        let path = "reflections/reflection_light.wgsl";
        Self {
            kernel: Kernel::new(gpu, path, LABEL, &shared, &bindings),
        }
    }

    /// What it compiles.
    pub fn needs(&self, needs: &mut Needs) {
        self.kernel.needs(needs);
    }

    /// Lights the `hits` of `list`, and adds what they send back to `reflected`.
    #[expect(clippy::too_many_arguments, reason = "they are the edges of the frame")]
    pub fn record(
        &self,
        recording: &mut Recording<'_>,
        frame: &Frame<'_>,
        geometry: Geometry<'_>,
        list: &ReflectionList,
        hits: &Hits,
        visibility: &Visibility,
        reflected: &Reflected,
    ) -> Result<()> {
        let gbuffer = &hits.gbuffer;
        let own: &[&dyn Bind] = &[
            &list.ranges,
            &list.sorted,
            &visibility.words,
            &reflected.words,
            &gbuffer.position,
            &gbuffer.normal,
            &gbuffer.albedo,
            &gbuffer.emissive,
            &gbuffer.ids,
            &hits.found,
        ];
        let shared = [(0, &frame.group), (2, geometry.group)];
        let hits = Workgroups::Indirect(&list.ranges, 0);
        recording.dispatch(LABEL, &self.kernel, &shared, own, hits)
    }
}
