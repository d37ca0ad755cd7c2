//! `reflection_sort`: compacts the hits of reflection rays and sorts them by the bins of their materials.

use super::reflection_list::Bounce;
use crate::{frame::recording::Recording, resources::ReflectionStart, settings::HitOrder, world::World};
use canopy_bvh::{
    Result,
    gpu::{
        Bind, Gpu, Kernel, Workgroups,
        pass::Binding::{Read, Uint, Uniform, Write},
    },
};

/// Pipelines of the counting sort.
#[derive(Debug)]
pub struct ReflectionSort {
    count: Kernel,
    scan: Kernel,
    ranges: Kernel,
    scatter: Kernel,
    scatter_workgroup: Kernel,
}

impl ReflectionSort {
    /// Creates the pass without compiling its pipelines.
    pub fn new(gpu: &Gpu) -> Self {
        let bindings = [Uniform, Uint, Uint, Read, Read, Write, Write, Write, Uniform];
        let path = "reflections/reflection_sort.wgsl";
        let kernel = |entry| Kernel::new(gpu, path, entry, &[], &bindings);
        Self {
            count: kernel("reflection_count"),
            scan: kernel("reflection_scan"),
            ranges: kernel("reflection_ranges"),
            scatter: kernel("reflection_scatter"),
            scatter_workgroup: kernel("reflection_scatter_workgroup"),
        }
    }

    fn last(&self, order: HitOrder) -> &Kernel {
        match order {
            HitOrder::Workgroup => &self.scatter_workgroup,
            HitOrder::Material | HitOrder::Ray | HitOrder::Off => &self.scatter,
        }
    }

    /// Writes the hits of the rays of the bounce's list to `ReflectionList::sorted`.
    pub fn record(&self, recording: &mut Recording<'_>, world: World<'_>, bounce: Bounce<'_>) -> Result<()> {
        let World { geometry, .. } = world;
        let Bounce { list, hits, .. } = bounce;
        let gpu = recording.gpu;
        let own: &[&dyn Bind] = &[
            &list.sort_params(),
            &list.entries,
            &hits.gbuffer.ids,
            &geometry.buffers.triangle_info,
            &geometry.buffers.materials.hits.bins,
            &list.counts,
            &list.ranges,
            &list.sorted,
            &list.params(ReflectionStart::Solid, 0),
        ];
        // The four kernels have the same bindings, and their indirect arguments are in the buffer of the sort
        // parameters.
        let group = self.count.bind(gpu, own);
        let blocks = Workgroups::Indirect(&list.arguments, 0);
        let mut pass = recording.scope.scoped_compute_pass("reflection_sort");
        for (kernel, workgroups) in [
            (&self.count, blocks),
            (&self.scan, Workgroups::Count(list.key().bins)),
            (&self.ranges, Workgroups::Count(1)),
            (self.last(list.key().order), blocks),
        ] {
            kernel.dispatch_bound(gpu, &mut pass, &[], &group, workgroups)?;
        }
        Ok(())
    }
}
