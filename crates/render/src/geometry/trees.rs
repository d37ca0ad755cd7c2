//! BVHs of a frame: built, refitted or kept as planned, by `lbvh` and `cost` of [`canopy_bvh::accel`].

use super::tree_policy::{TreePlan, TreePolicy};
use crate::{
    frame::{life_cycle::LifeCycle, recording::Recording},
    resources::{Geometry, Trees},
    stats::TreeWork,
};
use canopy_bvh::{
    Result,
    accel::{Cost, Lbvh, Quality, RayNodes, Tree, Work},
    gpu::{Gpu, lazy_pipeline::collect_later},
};
use std::sync::Arc;

/// Label of the part of a frame that builds the BVHs.
pub(crate) const LABEL: &str = "lbvh";

/// BVH passes. Clones share compiled pipelines.
#[derive(Debug, Clone)]
pub struct TreePasses {
    /// Builder, which the upload uses too.
    pub(crate) lbvh: Arc<Lbvh>,
    pub(crate) cost: Arc<Cost>,
    ray_nodes: Arc<RayNodes>,
}

impl LifeCycle for TreePasses {}

impl TreePasses {
    /// Creates the passes without compiling them.
    pub fn new(gpu: &Gpu) -> Self {
        Self {
            lbvh: Arc::new(Lbvh::with_quality(gpu, Quality::High)),
            cost: Arc::new(Cost::new(gpu)),
            ray_nodes: Arc::new(RayNodes::new(gpu)),
        }
    }

    /// Records the planned BVH work.
    pub fn record<'a>(
        &'a self,
        recording: &mut Recording<'_>,
        geometry: Geometry<'a>,
        tree: &'a mut Tree,
        policy: &mut TreePolicy,
        plan: &TreePlan,
    ) -> Result<Trees<'a>> {
        let gpu = recording.gpu;
        let work = match plan.work {
            TreeWork::None => None,
            TreeWork::Rebuild => Some((None, Work::Rebuild)),
            TreeWork::Partial => Some((Some(&plan.changed[..]), Work::Rebuild)),
            TreeWork::Refit => Some((None, Work::Refit)),
        };
        if let Some((meshes, work)) = work {
            if plan.work == TreeWork::Rebuild {
                tree.set_leaf_cutoff(gpu, plan.leaf_cutoff);
            }
            tree.build_only(gpu, meshes);
            tree.set_quality(plan.quality);
            let scope = &mut recording.scope;
            self.lbvh.record(gpu, scope, tree, work)?;
            let built = work == Work::Rebuild;
            if built {
                policy.built();
            }
            if plan.measures {
                collect_later(|set| self.lbvh.refit_pipelines(set));
                self.cost.record(gpu, scope, &policy.cost)?;
                policy.read_cost(scope, built);
            }
        }
        recording.split(LABEL);
        Ok(Trees {
            ray_nodes: &self.ray_nodes,
            ray_group: &geometry.buffers.ray_group,
            leaf_cutoff: plan.leaf_cutoff,
            group: &geometry.buffers.tree_group,
            tree,
        })
    }
}
