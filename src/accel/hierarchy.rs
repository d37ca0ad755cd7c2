//! `leaves`, `pyramid`, `hierarchy`: from sorted items to nodes, with a thread per leaf and per node.

use super::lbvh::{Room, Stages, bind, joined};
use crate::{
    Result,
    gpu::{Gpu, pass, profiler::Scope},
};

/// Levels that one dispatch of `pyramid` adds.
const PYRAMID_STEP: u32 = 9;

/// Places that three such dispatches cover.
pub(super) const PLACE_LIMIT: u32 = 1 << (3 * PYRAMID_STEP);

/// The pipelines.
#[derive(Debug)]
pub(super) struct Hierarchy {
    leaves: wgpu::ComputePipeline,
    pyramid: wgpu::ComputePipeline,
    hierarchy: wgpu::ComputePipeline,
}

/// What they need for one scene's trees.
#[derive(Debug)]
pub(super) struct HierarchyGroups {
    leaves: wgpu::BindGroup,
    /// Those that a scene of its size needs.
    pyramid: Vec<wgpu::BindGroup>,
    hierarchy: wgpu::BindGroup,
    places: u32,
}

impl Hierarchy {
    pub(super) fn new(gpu: &Gpu) -> Result<Self> {
        let pipeline =
            |name: &str, entry| pass::compute_pipeline(gpu, &format!("accel/{name}.wgsl"), entry);
        Ok(Self {
            leaves: pipeline("leaves", "leaves")?,
            pyramid: pipeline("pyramid", "pyramid_levels")?,
            hierarchy: pipeline("hierarchy", "hierarchy")?,
        })
    }

    pub(super) fn room(&self, gpu: &Gpu, room: &Room<'_>) -> Result<HierarchyGroups> {
        let places = room.triangle_count + room.mesh_count;
        let boxes = room.buffer(gpu, "lbvh.pyramid", pyramid_levels(places).1, 24)?;
        let sorted_codes = room.array(gpu, "lbvh.sorted_codes", 2, places.into())?;
        let params = (0, room.params.as_entire_binding());
        let pyramid = (0..3)
            .map(|step| step * PYRAMID_STEP)
            .take_while(|base_level| places.div_ceil(1 << base_level) > 1)
            .map(|base_level| {
                let usage = wgpu::BufferUsages::UNIFORM;
                let base_level =
                    gpu.buffer_with("pyramid.base_level", &[[base_level, 0, 0, 0]], usage);
                let entries = [
                    params.clone(),
                    (4, boxes.as_entire_binding()),
                    (5, base_level.as_entire_binding()),
                    (6, room.triangles.read_binding()),
                ];
                bind(gpu, "pyramid", &self.pyramid, &entries)
            })
            .collect();
        let out = [(8, sorted_codes.write_binding())];
        let leaves = joined(&joined(&room.scene, &room.leaf), &out);
        let hierarchy = [
            params.clone(),
            (4, room.meshes.as_entire_binding()),
            (5, sorted_codes.read_binding()),
            (6, room.triangles.read_binding()),
            (7, boxes.as_entire_binding()),
            (8, room.nodes.write_binding()),
            (9, room.codes.read_binding()),
        ];
        Ok(HierarchyGroups {
            leaves: bind(gpu, "leaves", &self.leaves, &leaves),
            pyramid,
            hierarchy: bind(gpu, "hierarchy", &self.hierarchy, &hierarchy),
            places,
        })
    }

    /// Makes the nodes of so many items.
    pub(super) fn record(
        &self,
        scope: &mut Scope<'_>,
        stages: &mut Stages,
        groups: &HierarchyGroups,
        items: u32,
    ) {
        let per_item = items.div_ceil(256);
        stages.stage(scope, "leaves", &self.leaves, &groups.leaves, per_item);
        for (step, group) in (0..).zip(&groups.pyramid) {
            let boxes = groups.places.div_ceil(1 << (step * PYRAMID_STEP));
            stages.stage(scope, "pyramid", &self.pyramid, group, boxes.div_ceil(512));
        }
        stages.stage(
            scope,
            "hierarchy",
            &self.hierarchy,
            &groups.hierarchy,
            per_item,
        );
    }
}

/// First box of each level over `leaves` leaves, of which level 0 is the leaves themselves, and the number of boxes on the others.
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
