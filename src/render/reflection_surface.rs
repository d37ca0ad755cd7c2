//! `reflection_surface`: what the hits of reflection rays are made of, a dispatch for each material with textures and
//! one for all others.

use super::{
    bindings::Layouts,
    edges::{Geometry, Hits},
    frame::Frame,
    recording::Recording,
    reflection_list::ReflectionList,
};
use crate::{
    Result,
    gpu::{
        Bind, Gpu, Kernel, Needs, Workgroups,
        layout::HitRange,
        pass::Binding::{Read, Store, Uint, Uniform},
    },
};
use wgpu::TextureFormat as Format;

/// The pass.
#[derive(Debug)]
pub struct ReflectionSurface {
    textured: Kernel,
    plain: Kernel,
}

impl ReflectionSurface {
    /// Ready to be compiled.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        let words = Store(Format::R32Uint);
        let bindings = [
            Uniform,
            Uniform,
            Read,
            Read,
            Uint,
            Uint,
            Uint,
            Store(Format::Rgba32Float),
            words,
            words,
            words,
            Read,
        ];
        let path = "render/reflection_surface.wgsl";
        let scene = [(0, &layouts.frame), (2, &layouts.scene)];
        let textured = [scene[0], scene[1], (3, &layouts.material)];
        Self {
            textured: Kernel::new(gpu, path, "reflection_surface", &textured, &bindings[..11]),
            plain: Kernel::new(gpu, path, "reflection_surface_plain", &scene, &bindings),
        }
    }

    /// What it compiles.
    pub fn needs(&self, needs: &mut Needs) {
        self.textured.needs(needs);
        self.plain.needs(needs);
    }

    /// Makes the G-buffer of `hits`, which `list` has sorted.
    pub fn record(
        &self,
        recording: &mut Recording<'_>,
        frame: &Frame<'_>,
        geometry: Geometry<'_>,
        list: &ReflectionList,
        hits: &Hits,
    ) -> Result<()> {
        let (gpu, buffers) = (recording.gpu, geometry.buffers);
        let materials = &buffers.materials;
        let shared = [(0, &frame.group), (2, geometry.group)];
        let gbuffer = &hits.gbuffer;
        let mut pass = recording.scope.scoped_compute_pass("reflection_surface");
        let dispatches = materials.hits.dispatches(size_of::<HitRange>() as u64);
        for (material, of, offset) in dispatches {
            let mut own: Vec<&dyn Bind> = vec![
                &of,
                &list.ranges,
                &list.sorted,
                &buffers.triangle_info,
                &gbuffer.ids,
                &hits.barycentrics,
                &hits.rays,
                &gbuffer.position,
                &gbuffer.normal,
                &gbuffer.albedo,
                &gbuffer.emissive,
            ];
            let workgroups = Workgroups::Indirect(&list.ranges, offset);
            let kernel = match material {
                Some(material) => {
                    materials.bind_at_hits(&mut pass, material);
                    &self.textured
                }
                None => {
                    own.push(materials.all_uniforms());
                    &self.plain
                }
            };
            kernel.dispatch(gpu, &mut pass, &shared, &own, workgroups)?;
        }
        drop(pass);
        recording.split("reflection_surface");
        Ok(())
    }
}
