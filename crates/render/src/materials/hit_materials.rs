//! Dispatches that shade the hits of reflection rays, by material.

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

/// Bin of each material, and the dispatches for each bin.
#[derive(Debug)]
pub struct HitMaterials {
    /// Bin of each material.
    pub bins: wgpu::Buffer,
    /// Materials with textures or layers. Each has a dispatch of its own. Once the bins run out, the
    /// remaining materials share the last bin.
    pub own: Vec<usize>,
    /// Uniforms of the dispatches: one for all materials not in `own`, then one for each of `own`. The first
    /// array is for hits sorted by material, the second for hits in a single range.
    uniforms: [UniformArray<HitMaterial>; 2],
}

impl HitMaterials {
    /// Creates the dispatches for `materials`, whose uniforms are `stride` bytes apart.
    pub(crate) fn new(gpu: &Gpu, materials: &[Material], stride: u32) -> Result<Self> {
        let own = with_textures_or_layers(materials);
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

    /// Returns the number of bins in use.
    pub fn bin_count(&self) -> u32 {
        REFLECTION_BINS.min(1 + self.own.len() as u32)
    }

    /// Returns the dispatches. Each has its material, its uniform, and the byte offset of its range, which
    /// begins with the indirect arguments. The first dispatch is for all materials with neither textures nor
    /// layers, and has `None` as its material. Ranges are `range_bytes` bytes apart.
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

/// Returns the indices of the materials with textures or layers.
pub fn with_textures_or_layers(materials: &[Material]) -> Vec<usize> {
    let with_textures_or_layers =
        |material: &Material| material.layers.is_some() || texture_refs(material).iter().any(Option::is_some);
    (0..materials.len())
        .filter(|index| with_textures_or_layers(&materials[*index]))
        .collect()
}

/// Returns the stride in bytes of the uniforms of materials, for shaders that read all of them.
pub(crate) fn stride(uniforms: &UniformArray<GpuMaterial>) -> u32 {
    uniforms.offset(1)
}
