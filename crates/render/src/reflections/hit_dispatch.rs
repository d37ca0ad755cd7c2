//! Dispatches over the hits of reflection rays: one for each material that has textures or layers, and one
//! for all other materials.

use super::reflection_list::Bounce;
use crate::{frame::recording::Recording, layout::HitRange, materials::Surface, world::World};
use canopy_bvh::{
    Result,
    gpu::{Bind, Kernel, Workgroups},
};

/// Kernel and bindings that shade the hits of a material.
pub(crate) struct Shading<'a> {
    pub(crate) kernel: &'a Kernel,
    /// Bindings of the kernel, after the bindings of reflections/listed_hit.wgsl.
    pub(crate) own: &'a [&'a dyn Bind],
    /// True if the kernel reads the material's layers.
    pub(crate) layers: bool,
}

/// Dispatches the kernel that `shading` returns for each material with sorted hits, in a compute pass called
/// `label`. Materials without textures and layers share the first dispatch, for which `shading` gets `None`.
pub(crate) fn each_material<'a>(
    recording: &mut Recording<'_>,
    label: &'static str,
    World { frame, geometry, .. }: World<'_>,
    Bounce { list, hits, .. }: Bounce<'_>,
    shading: impl Fn(Option<&Surface>) -> Option<Shading<'a>>,
) -> Result<()> {
    let gpu = recording.gpu;
    let materials = &geometry.buffers.materials;
    let shared = [(0, &frame.group), (2, geometry.group)];
    let mut pass = recording.scope.scoped_compute_pass(label);
    let dispatches = materials
        .hits
        .dispatches(list.key().order, size_of::<HitRange>() as u64);
    for (material, of, offset) in dispatches {
        let surface = material.map(|material| &materials.surfaces[material]);
        let Some(shading) = shading(surface) else {
            continue;
        };
        let mut own: Vec<&dyn Bind> = vec![&of, &list.ranges, &list.sorted, &hits.found];
        own.extend(shading.own);
        if let Some(material) = material {
            materials.bind_at_hits(&mut pass, material, shading.layers);
        }
        let workgroups = Workgroups::Indirect(&list.ranges, offset);
        shading
            .kernel
            .dispatch(gpu, &mut pass, &shared, &own, workgroups)?;
    }
    drop(pass);
    recording.split(label);
    Ok(())
}
