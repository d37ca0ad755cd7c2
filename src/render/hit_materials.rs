//! Which dispatch shades which hits of reflection rays, by their material.

use super::material_textures::texture_refs;
use crate::{
    Result,
    gpu::{
        Gpu, UniformArray,
        layout::{HitMaterial, Material as GpuMaterial, REFLECTION_BINS},
    },
    scene::Material,
};

/// The bin of each material, and what is dispatched for each bin.
#[derive(Debug)]
pub struct HitMaterials {
    /// The bin of each material.
    pub bins: wgpu::Buffer,
    /// Materials with textures or layers: each has a dispatch of its own. The last bin is that of all that find no
    /// other.
    pub own: Vec<usize>,
    /// What is dispatched: first all other materials, then each of those.
    uniforms: UniformArray<HitMaterial>,
}

impl HitMaterials {
    /// Those of `materials`, whose uniforms lie `stride` bytes apart.
    pub(super) fn new(gpu: &Gpu, materials: &[Material], stride: u32) -> Result<Self> {
        let has_own = |material: &Material| {
            material.layers.is_some() || texture_refs(material).iter().any(Option::is_some)
        };
        let own: Vec<_> = (0..materials.len())
            .filter(|index| has_own(&materials[*index]))
            .collect();
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
        Ok(Self {
            bins: gpu.buffer_with("reflection.bins", &bins, wgpu::BufferUsages::STORAGE),
            own,
            uniforms: UniformArray::new(gpu, "materials of hits", dispatches.into_iter())?,
        })
    }

    /// What is dispatched, with the material of those that have their own: its uniform, and the byte of its range's
    /// indirect arguments among ranges of `range_bytes` each.
    pub fn dispatches(
        &self,
        range_bytes: u64,
    ) -> impl Iterator<Item = (Option<usize>, wgpu::BufferBinding<'_>, u64)> {
        let materials = std::iter::once(None).chain(self.own.iter().copied().map(Some));
        materials.enumerate().map(move |(number, material)| {
            let bin = u64::min(number as u64, u64::from(REFLECTION_BINS - 1));
            (material, self.uniforms.at(number), (1 + bin) * range_bytes)
        })
    }
}

/// Bytes from one material's uniform to the next, which shaders that read all of them go by.
pub(super) fn stride(uniforms: &UniformArray<GpuMaterial>) -> u32 {
    uniforms.offset(1)
}
