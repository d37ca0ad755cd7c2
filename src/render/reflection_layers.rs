//! `reflection_layers`: radiance of what reflection rays have hit whose materials have layers.

use super::{
    bindings::Layouts,
    edges::{Geometry, Hits, Reflected, Visibility},
    frame::Frame,
    hit_dispatch::{Shading, each_material},
    recording::Recording,
    reflection_list::ReflectionList,
};
use crate::{
    Result,
    gpu::{
        Bind, Gpu, Kernel, Needs,
        pass::Binding::{Read, UintArray, Uniform, Write},
    },
};

const LABEL: &str = "reflection_layers";

/// The pass.
#[derive(Debug)]
pub struct ReflectionLayers {
    kernel: Kernel,
}

impl ReflectionLayers {
    /// Ready to be compiled.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        let bindings = [Uniform, Uniform, Read, UintArray, Read, Write];
        let shared = [
            (0, &layouts.frame),
            (2, &layouts.scene),
            (3, &layouts.layers),
        ];
        let path = "reflections/reflection_layers.wgsl";
        Self {
            kernel: Kernel::new(gpu, path, LABEL, &shared, &bindings),
        }
    }

    /// What it compiles.
    pub fn needs(&self, needs: &mut Needs) {
        self.kernel.needs(needs);
    }

    /// Adds the radiance of those `hits`, which `list` has sorted, to `reflected`: a dispatch a material.
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
        let own: &[&dyn Bind] = &[&visibility.words, &reflected.words];
        let kernel = &self.kernel;
        each_material(recording, LABEL, (frame, geometry), list, hits, |surface| {
            let layers = surface.is_some_and(|surface| surface.layered);
            layers.then_some(Shading {
                kernel,
                own,
                layers,
            })
        })
    }
}
