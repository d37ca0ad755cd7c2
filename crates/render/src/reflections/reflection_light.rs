//! `reflection_light`: shades the hits of reflection rays and adds their radiance to the reflections of their
//! pixels.

use super::reflection_list::Bounce;
use crate::{bindings::Layouts, frame::recording::Recording, resources::Visibility, world::World};
use canopy_bvh::{
    Result,
    gpu::{
        Bind, Gpu, Kernel, Workgroups,
        pass::Binding::{Float, Read, Uint, UintArray, Uniform, Write},
    },
};

const LABEL: &str = "reflection_light";

/// Pipeline of the pass.
#[derive(Debug)]
pub struct ReflectionLight {
    kernel: Kernel,
}

impl ReflectionLight {
    /// Creates the pass without compiling its pipeline.
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

    /// Shades the sorted hits of `bounce` and adds their radiance to its `reflected`.
    pub fn record(
        &self,
        recording: &mut Recording<'_>,
        world: World<'_>,
        bounce: Bounce<'_>,
        visibility: &Visibility,
    ) -> Result<()> {
        let World { frame, geometry, .. } = world;
        let Bounce {
            list,
            hits,
            reflected,
            ..
        } = bounce;
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
