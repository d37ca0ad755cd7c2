//! `reflection_lobes`: evaluates the BSDF lobes of the hits of reflection rays on layered materials.

use super::{
    hit_dispatch::{Shading, each_material},
    reflection_list::Bounce,
};
use crate::{bindings::Layouts, frame::recording::Recording, resources::LOBE_FORMATS, world::World};
use canopy_bvh::{
    Result,
    gpu::{
        Bind, Gpu, Kernel,
        pass::Binding::{Read, Store, UintArray, Uniform},
    },
};

const LABEL: &str = "reflection_lobes";

/// Pipeline of the pass.
#[derive(Debug)]
pub struct ReflectionLobes {
    kernel: Kernel,
}

impl ReflectionLobes {
    /// Creates the pass without compiling its pipeline.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        let [layers, glass] = LOBE_FORMATS.map(Store);
        let bindings = [Uniform, Uniform, Read, UintArray, layers, glass];
        let shared = [(0, &layouts.frame), (2, &layouts.scene), (3, &layouts.layers)];
        let path = "reflections/reflection_lobes.wgsl";
        Self {
            kernel: Kernel::new(gpu, path, LABEL, &shared, &bindings),
        }
    }

    /// Writes the lobes of the sorted hits of `bounce`, in a dispatch for each material.
    pub fn record(&self, recording: &mut Recording<'_>, world: World<'_>, bounce: Bounce<'_>) -> Result<()> {
        let own: &[&dyn Bind] = &[&bounce.hits.lobes.layers, &bounce.hits.lobes.glass];
        let kernel = &self.kernel;
        each_material(recording, LABEL, world, bounce, |surface| {
            let layers = surface.is_some_and(|surface| surface.layered);
            layers.then_some(Shading { kernel, own, layers })
        })
    }
}
