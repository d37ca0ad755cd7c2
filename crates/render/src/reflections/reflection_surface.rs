//! `reflection_surface`: evaluates the materials at the hits of reflection rays, in a dispatch for each
//! material that has textures or layers and one dispatch for all others.

use super::{
    hit_dispatch::{Shading, each_material},
    reflection_list::Bounce,
};
use crate::{bindings::Layouts, frame::recording::Recording, world::World};
use canopy_bvh::{
    Result,
    gpu::{
        Bind, Gpu, Kernel,
        pass::Binding::{Read, Store, UintArray, Uniform},
    },
};
use wgpu::TextureFormat as Format;

const LABEL: &str = "reflection_surface";

/// Pipelines of the pass, with and without textures.
#[derive(Debug)]
pub struct ReflectionSurface {
    textured: Kernel,
    plain: Kernel,
}

impl ReflectionSurface {
    /// Creates the pass without compiling its pipelines.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        let words = Store(Format::R32Uint);
        let bindings = [
            Uniform,
            Uniform,
            Read,
            UintArray,
            Store(Format::Rgba32Float),
            words,
            words,
            words,
            Read,
        ];
        let path = "reflections/reflection_surface.wgsl";
        let scene = [(0, &layouts.frame), (2, &layouts.scene)];
        let textured = [scene[0], scene[1], (3, &layouts.material)];
        Self {
            textured: Kernel::new(gpu, path, LABEL, &textured, &bindings[..8]),
            plain: Kernel::new(gpu, path, "reflection_surface_plain", &scene, &bindings),
        }
    }

    /// Writes the G-buffer of the sorted hits of `bounce`.
    pub fn record(&self, recording: &mut Recording<'_>, world: World<'_>, bounce: Bounce<'_>) -> Result<()> {
        let World { geometry, .. } = world;
        let gbuffer = &bounce.hits.gbuffer;
        let images: [&dyn Bind; 4] = [
            &gbuffer.position,
            &gbuffer.normal,
            &gbuffer.albedo,
            &gbuffer.emissive,
        ];
        let mut plain = images.to_vec();
        plain.push(geometry.buffers.materials.all_uniforms());
        each_material(recording, LABEL, world, bounce, |surface| {
            let (kernel, own) = match surface {
                Some(_) => (&self.textured, &images[..]),
                None => (&self.plain, &plain[..]),
            };
            Some(Shading {
                kernel,
                own,
                layers: false,
            })
        })
    }
}
