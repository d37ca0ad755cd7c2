//! `reflection_layers`: shades the hits of reflection rays on layered materials.

use super::{
    hit_dispatch::{Shading, each_material},
    reflection_list::Bounce,
};
use crate::{bindings::Layouts, frame::recording::Recording, resources::Visibility, world::World};
use canopy_bvh::{
    Result,
    gpu::{
        Bind, Gpu, Kernel,
        pass::Binding::{Read, UintArray, Uniform, Write},
    },
};

const LABEL: &str = "reflection_layers";

/// Pipeline of the pass.
#[derive(Debug)]
pub struct ReflectionLayers {
    kernel: Kernel,
}

impl ReflectionLayers {
    /// Creates the pass without compiling its pipeline.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        let bindings = [Uniform, Uniform, Read, UintArray, Read, Write];
        let shared = [(0, &layouts.frame), (2, &layouts.scene), (3, &layouts.layers)];
        let path = "reflections/reflection_layers.wgsl";
        Self {
            kernel: Kernel::new(gpu, path, LABEL, &shared, &bindings),
        }
    }

    /// Adds the radiance of the sorted hits of `bounce` to its `reflected`, in a dispatch for each material.
    pub fn record(
        &self,
        recording: &mut Recording<'_>,
        world: World<'_>,
        bounce: Bounce<'_>,
        visibility: &Visibility,
    ) -> Result<()> {
        let own: &[&dyn Bind] = &[&visibility.words, &bounce.reflected.words];
        let kernel = &self.kernel;
        each_material(recording, LABEL, world, bounce, |surface| {
            let layers = surface.is_some_and(|surface| surface.layered);
            layers.then_some(Shading { kernel, own, layers })
        })
    }
}
