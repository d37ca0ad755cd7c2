//! Selects the kernels for sorting and making nodes by the device's
//! [`Capabilities`](crate::gpu::Capabilities).

use super::{
    hierarchy::{self, Hierarchy, HierarchyStages},
    layout::BuildParams,
    pairs::SortKernels,
    software::{
        hierarchy_serial::{HierarchySerial, SerialStages},
        sort_serial,
    },
    sort_parallel,
    stages::{StageLayouts, Stages, TreeBuffers},
};
use crate::{
    Result,
    gpu::{Cooperation, Gpu, PipelineSet},
};
use std::sync::Arc;

/// Returns the kernels of the radix sort.
pub(super) fn sort(gpu: &Gpu) -> SortKernels {
    match gpu.capabilities.cooperation() {
        Cooperation::None => sort_serial::kernels(gpu),
        Cooperation::Subgroups(_) => sort_parallel::kernels(gpu, true),
        Cooperation::Workgroups => sort_parallel::kernels(gpu, false),
    }
}

/// Kernels that make nodes.
#[derive(Debug)]
pub(super) enum NodeKernels {
    Parallel(Arc<Hierarchy>),
    Serial(Arc<HierarchySerial>),
}

/// Node kernels with the bind groups for one scene's BVHs.
#[derive(Debug)]
pub(super) enum NodeStages {
    Parallel(HierarchyStages),
    Serial(Box<SerialStages>),
}

impl NodeKernels {
    /// Creates the kernels. `records` is the constant that is true if there are code records in addition to
    /// the keys.
    pub(super) fn new(gpu: &Gpu, layouts: &StageLayouts, records: (&'static str, f64)) -> Self {
        match gpu.capabilities.cooperation() {
            Cooperation::None => Self::Serial(Arc::new(HierarchySerial::new(gpu, layouts, records))),
            Cooperation::Subgroups(_) | Cooperation::Workgroups => {
                Self::Parallel(Arc::new(Hierarchy::new(gpu, layouts, records)))
            }
        }
    }

    pub(super) fn pipelines(&self, set: &mut PipelineSet) {
        match self {
            Self::Parallel(kernels) => kernels.pipelines(set),
            Self::Serial(kernels) => kernels.pipelines(set),
        }
    }

    /// Returns the size of the shared scratch buffer in words, and sets the offsets of its parts in `params`.
    pub(super) fn scratch_words(&self, params: &mut BuildParams) -> u32 {
        match self {
            Self::Parallel(_) => hierarchy::scratch_words(params),
            Self::Serial(_) => hierarchy::span_words(params),
        }
    }

    pub(super) fn stages(&self, gpu: &Gpu, buffers: &TreeBuffers<'_>) -> Result<NodeStages> {
        Ok(match self {
            Self::Parallel(kernels) => NodeStages::Parallel(kernels.stages(gpu, buffers)),
            Self::Serial(kernels) => NodeStages::Serial(Box::new(kernels.stages(gpu, buffers)?)),
        })
    }
}

impl NodeStages {
    /// Sets the number of triangles and meshes for the next builds.
    pub(super) fn set_counts(&self, gpu: &Gpu, triangles: u32, meshes: u32) {
        match self {
            Self::Parallel(_) => {}
            Self::Serial(stages) => stages.set_counts(gpu, triangles, meshes),
        }
    }

    /// Records the nodes of these triangles and meshes. Call [`NodeStages::set_counts`] with the same numbers
    /// first.
    pub(super) fn record(&self, stages: &mut Stages<'_, '_>, triangles: u32, meshes: u32) -> Result<()> {
        match self {
            Self::Parallel(nodes) => nodes.record(stages, triangles + meshes, meshes),
            Self::Serial(nodes) => nodes.record(stages, triangles, meshes),
        }
    }
}
