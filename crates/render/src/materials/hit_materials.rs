//! Which dispatch shades which hits of reflection rays, by their material.

use super::material_textures::texture_refs;
use crate::{
    layout::{HitMaterial, Material as GpuMaterial, REFLECTION_BINS},
    settings::HitOrder,
};
use canopy_bvh::{
    Result,
    gpu::{Gpu, UniformArray},
};
use canopy_scene::Material;

/// The bin of each material, and what is dispatched for each bin.
#[derive(Debug)]
pub struct HitMaterials {
    /// The bin of each material.
    pub bins: wgpu::Buffer,
    /// Materials with textures or layers: each has a dispatch of its own. The last bin is that of all that find no
    /// other.
    pub own: Vec<usize>,
    /// What is dispatched: first all other materials, then each of those. Where hits lie by their material, and where
    /// all lie in one range.
    uniforms: [UniformArray<HitMaterial>; 2],
}

impl HitMaterials {
    /// Those of `materials`, whose uniforms lie `stride` bytes apart.
    pub(crate) fn new(gpu: &Gpu, materials: &[Material], stride: u32) -> Result<Self> {
        let own = has_own(materials);
        let mut bins = vec![0; materials.len().max(1)];
        let plain = HitMaterial {
            range: 1,
            material: stride / size_of::<[f32; 4]>() as u32,
        };
        let mut dispatches = vec![plain];
        for (number, &material) in (1..).zip(&own) {
            let bin = u32::min(number, REFLECTION_BINS - 1);
            bins[material] = bin;
            dispatches.push(HitMaterial {
                range: 1 + bin,
                material: material as u32,
            });
        }
        let in_one: Vec<_> = dispatches
            .iter()
            .map(|dispatch| HitMaterial {
                range: 0,
                ..*dispatch
            })
            .collect();
        let made = |dispatches: Vec<HitMaterial>| {
            UniformArray::new(gpu, "materials of hits", dispatches.into_iter())
        };
        Ok(Self {
            bins: gpu.buffer_with("reflection.bins", &bins, wgpu::BufferUsages::STORAGE),
            own,
            uniforms: [made(dispatches)?, made(in_one)?],
        })
    }

    /// Bins that materials have.
    pub fn bin_count(&self) -> u32 {
        REFLECTION_BINS.min(1 + self.own.len() as u32)
    }

    /// What is dispatched, with the material of those that have their own: its uniform, and the byte of its range's
    /// indirect arguments among ranges of `range_bytes` each.
    pub fn dispatches(
        &self,
        order: HitOrder,
        range_bytes: u64,
    ) -> impl Iterator<Item = (Option<usize>, wgpu::BufferBinding<'_>, u64)> {
        let [sorted, in_one] = &self.uniforms;
        let is_sorted = order == HitOrder::Material;
        let uniforms = if is_sorted { sorted } else { in_one };
        let materials = std::iter::once(None).chain(self.own.iter().copied().map(Some));
        materials.enumerate().map(move |(number, material)| {
            let bin = u64::min(number as u64, u64::from(REFLECTION_BINS - 1));
            let range = if is_sorted { 1 + bin } else { 0 };
            (material, uniforms.at(number), range * range_bytes)
        })
    }
}

/// Indices of the materials with textures or layers.
pub fn has_own(materials: &[Material]) -> Vec<usize> {
    let has_own =
        |material: &Material| material.layers.is_some() || texture_refs(material).iter().any(Option::is_some);
    (0..materials.len())
        .filter(|index| has_own(&materials[*index]))
        .collect()
}

/// Bytes from one material's uniform to the next, which shaders that read all of them go by.
pub(crate) fn stride(uniforms: &UniformArray<GpuMaterial>) -> u32 {
    uniforms.offset(1)
}
