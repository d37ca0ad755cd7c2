//! `leaves`, `pyramid`, `hierarchy`: from sorted items to nodes, with a thread per leaf and per node.

use super::{
    layout::PYRAMID_STEP,
    stages::{Bound, Room, StageLayouts, Stages},
};
use crate::{
    Result,
    gpu::{
        Gpu, Kernel, Needs,
        pass::Binding::{Read, ReadArray, Uniform, Write},
    },
};
use std::sync::Arc;

/// Leaves that three dispatches of `pyramid` cover.
pub(super) const LEAF_LIMIT: u32 = 1 << (3 * PYRAMID_STEP);

/// The kernels.
#[derive(Debug)]
pub(super) struct Hierarchy {
    leaves: Kernel,
    pyramid: Kernel,
    hierarchy: Kernel,
}

/// The kernels with what they bind for one scene's trees.
#[derive(Debug)]
pub(super) struct HierarchyStages {
    kernels: Arc<Hierarchy>,
    leaves: Bound,
    /// As many as the number of leaves requires.
    pyramid: Vec<Bound>,
    hierarchy: Bound,
    leaf_count: u32,
}

impl Hierarchy {
    pub(super) fn new(gpu: &Gpu, layouts: &StageLayouts) -> Self {
        let shared = [(1, &layouts.geometry), (2, &layouts.leaf)];
        let leaves = [Uniform, Write, Write];
        let pyramid = [Uniform, Write, Uniform, ReadArray];
        let hierarchy = [
            Uniform, Read, ReadArray, ReadArray, Read, Write, ReadArray, Write,
        ];
        let kernel =
            |path, entry, shared, bindings| Kernel::new(gpu, path, entry, shared, bindings);
        Self {
            leaves: kernel("accel/leaves.wgsl", "leaves", &shared, &leaves),
            pyramid: kernel("accel/pyramid.wgsl", "pyramid_levels", &[], &pyramid),
            hierarchy: kernel("accel/hierarchy.wgsl", "hierarchy", &[], &hierarchy),
        }
    }

    pub(super) fn needs(&self, needs: &mut Needs) {
        for kernel in [&self.leaves, &self.pyramid, &self.hierarchy] {
            kernel.needs(needs);
        }
    }

    pub(super) fn stages(self: &Arc<Self>, gpu: &Gpu, room: &Room<'_>) -> Result<HierarchyStages> {
        let leaf_count = room.triangle_count + room.mesh_count;
        let boxes = room.buffer(gpu, "lbvh.pyramid", pyramid_levels(leaf_count).1, 24)?;
        let sorted_codes = room.array(gpu, "lbvh.sorted_codes", 2, leaf_count.into())?;
        let pyramid = (0..3)
            .map(|step| step * PYRAMID_STEP)
            .take_while(|base_level| leaf_count.div_ceil(1 << base_level) > 1)
            .map(|base_level| {
                let usage = wgpu::BufferUsages::UNIFORM;
                let base_level = [[base_level, 0, 0, 0]];
                let base_level = gpu.buffer_with("pyramid.base_level", &base_level, usage);
                Bound::new(
                    gpu,
                    &self.pyramid,
                    &[],
                    &[room.params, &boxes, &base_level, room.triangles],
                )
            })
            .collect();
        Ok(HierarchyStages {
            kernels: self.clone(),
            leaves: room.bind_leaves(
                gpu,
                &self.leaves,
                &[room.params, room.triangles.buffer(), sorted_codes.buffer()],
            ),
            pyramid,
            hierarchy: Bound::new(
                gpu,
                &self.hierarchy,
                &[],
                &[
                    room.params,
                    room.meshes,
                    &sorted_codes,
                    room.triangles,
                    &boxes,
                    room.nodes.buffer(),
                    room.codes,
                    room.node_areas,
                ],
            ),
            leaf_count,
        })
    }
}

impl HierarchyStages {
    /// Makes the nodes of so many items.
    pub(super) fn record(&self, stages: &mut Stages<'_, '_>, items: u32) -> Result<()> {
        let kernels = &self.kernels;
        let per_item = items.div_ceil(256);
        stages.run("leaves", &kernels.leaves, &self.leaves, per_item)?;
        for (step, bound) in (0..).zip(&self.pyramid) {
            let boxes = self.leaf_count.div_ceil(1 << (step * PYRAMID_STEP));
            let workgroups = boxes.div_ceil(1 << PYRAMID_STEP);
            stages.run("pyramid", &kernels.pyramid, bound, workgroups)?;
        }
        stages.run("hierarchy", &kernels.hierarchy, &self.hierarchy, per_item)
    }
}

/// First box of each level over `leaves` leaves, of which level 0 is the leaves themselves, and the number of
/// boxes on the others.
pub fn pyramid_levels(leaves: u32) -> ([[u32; 4]; 7], u32) {
    let mut offsets = [[0; 4]; 7];
    let mut total = 0;
    for level in 1..28 {
        offsets[level / 4][level % 4] = total;
        // The level of one box ends the pyramid; those above it are never read.
        if leaves.div_ceil(1 << (level - 1)) > 1 {
            total += leaves.div_ceil(1 << level);
        }
    }
    (offsets, total)
}
