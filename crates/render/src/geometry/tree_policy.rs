//! What a frame does to the trees: the policy `tree.rebuild`.

use crate::{
    settings::{self, Rebuild, Settings, TreeQuality},
    stats::TreeWork,
};
use canopy_bvh::{
    accel::{Quality, TreeCost},
    gpu::{Gpu, readback::Counters},
};

/// What a frame is to do to the trees.
#[derive(Debug)]
pub struct TreePlan {
    /// The work.
    pub work: TreeWork,
    /// Cost of the tree over its cost after the last build, as far as it had come back when the work was
    /// chosen.
    pub growth: f32,
    /// Which meshes have changed since the last frame.
    pub changed: Vec<bool>,
    /// Whether the cost of the trees is measured afterwards.
    pub measures: bool,
    /// Triangles up to which a range of them has no node, where all trees are built.
    pub leaf_cutoff: u32,
    /// Quality of what is built.
    pub quality: Quality,
    settings: Settled,
}

/// Settings after whose change all trees are built.
type Settled = (Rebuild, TreeQuality);

/// The quality of trees of which some may be built again in every frame (`moves`), or else of trees that are built once.
pub fn quality(gpu: &Gpu, config: &Settings, moves: bool) -> Quality {
    let resolved = config.resolved((&gpu.capabilities).into());
    quality_of(resolved.tree.quality, moves)
}

fn quality_of(setting: TreeQuality, moves: bool) -> Quality {
    match setting {
        TreeQuality::Auto if moves => Quality::Fast,
        TreeQuality::Fast => Quality::Fast,
        TreeQuality::Auto | TreeQuality::High => Quality::High,
    }
}

/// When the trees of one scene are built again.
#[derive(Debug)]
pub struct TreePolicy {
    /// Where the cost of the trees is summed up.
    pub cost: TreeCost,
    /// The settings of the last whole frame. `None` before the first and after one that was lost: then nothing is known of
    /// the trees.
    settled: Option<Settled>,
    /// Whether the last whole frame has worked on the trees.
    touches: bool,
    /// Whether anything has moved since the scene was uploaded.
    has_moved: bool,
    costs: Counters<2>,
    ageing: Ageing,
    /// The same of a tree that this frame builds.
    coming: Option<Ageing>,
}

/// How much worse a tree has become since it was built.
#[derive(Debug)]
struct Ageing {
    /// Costs from this number on belong to the tree as it was built last, and to its refits.
    first: u64,
    baseline: Option<f32>,
    growth: f32,
}

impl Ageing {
    /// For a tree whose first cost has the number `first`.
    fn new(first: u64) -> Self {
        Self {
            first,
            baseline: None,
            growth: 1.0,
        }
    }

    /// Learns a cost that has come back: the areas of all nodes, and of the root.
    fn learn(&mut self, number: u64, [sum, root]: [f32; 2]) {
        let cost = sum / root;
        // Without an extent there is no cost.
        if number >= self.first && root > 0.0 && cost.is_finite() {
            self.growth = cost / *self.baseline.get_or_insert(cost);
        }
    }
}

impl TreePolicy {
    /// For trees that have not been built yet.
    pub fn new(gpu: &Gpu, cost: TreeCost) -> Self {
        Self {
            cost,
            settled: None,
            touches: false,
            has_moved: false,
            costs: Counters::new(gpu, "cost.readback"),
            ageing: Ageing::new(0),
            coming: None,
        }
    }

    /// Chooses the work of a frame from the meshes that have `changed` since the last one. A further frame
    /// of the same picture (`again`) keeps the trees as they are. Trees that were built for a larger
    /// `built_cutoff` than is set now lack nodes.
    pub fn plan(
        &mut self,
        settings: &settings::Tree,
        changed: Vec<bool>,
        again: bool,
        built_cutoff: u32,
    ) -> TreePlan {
        let ageing = &mut self.ageing;
        self.costs
            .collect_each(|number, words| ageing.learn(number, words.map(f32::from_bits)));
        let now = (settings.rebuild, settings.quality);
        self.has_moved |= self.settled.is_some() && changed.contains(&true);
        self.coming = None;
        let settled = self.settled == Some(now) && built_cutoff <= settings.leaf_cutoff;
        let work = match settings.rebuild {
            _ if again && settled && !changed.contains(&true) => TreeWork::None,
            Rebuild::Frame => TreeWork::Rebuild,
            _ if !settled => TreeWork::Rebuild,
            Rebuild::Refit if ageing.growth > settings.refit_growth => TreeWork::Rebuild,
            _ if !changed.contains(&true) => TreeWork::None,
            Rebuild::Refit => TreeWork::Refit,
            Rebuild::Changed if changed.contains(&false) => TreeWork::Partial,
            Rebuild::Changed => TreeWork::Rebuild,
        };
        TreePlan {
            work,
            growth: ageing.growth,
            measures: settings.rebuild == Rebuild::Refit,
            leaf_cutoff: settings.leaf_cutoff,
            quality: quality_of(
                settings.quality,
                self.has_moved || settings.rebuild != Rebuild::Changed,
            ),
            settings: now,
            changed,
        }
    }

    /// The trees have been built anew: costs that are recorded from now on are theirs.
    pub fn built(&mut self) {
        self.coming = Some(Ageing::new(self.costs.next()));
    }

    /// Copies the cost that was measured for a later frame; `built` says whether it is the first of a new
    /// tree.
    pub fn read_cost(&mut self, encoder: &mut wgpu::CommandEncoder, built: bool) {
        let copied = self.costs.record(encoder, &self.cost.result);
        // Without its first cost a tree's age cannot be told: it is built again.
        if let Some(ageing) = self.coming.as_mut().filter(|_| built && !copied) {
            ageing.growth = f32::INFINITY;
        }
    }

    /// Has the next frame build all: the trees hold what is no longer true.
    pub fn forget(&mut self) {
        self.settled = None;
    }

    /// The last frame may have run in part: trees that it has worked on are built again.
    pub fn lose(&mut self) {
        if self.touches {
            self.settled = None;
        }
    }

    /// The frame of this plan has been recorded whole.
    pub fn commit(&mut self, plan: &TreePlan) {
        self.settled = Some(plan.settings);
        self.touches = plan.work != TreeWork::None;
        if let Some(ageing) = self.coming.take() {
            self.ageing = ageing;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_that_of_the_tree_that_was_built_last() {
        let mut ageing = Ageing::new(3);
        // A cost of the tree before, and costs of trees without an extent.
        ageing.learn(2, [90.0, 1.0]);
        ageing.learn(3, [0.0, 0.0]);
        ageing.learn(3, [f32::INFINITY, f32::INFINITY]);
        assert_eq!((ageing.baseline, ageing.growth), (None, 1.0));
        ageing.learn(3, [8.0, 2.0]);
        assert_eq!((ageing.baseline, ageing.growth), (Some(4.0), 1.0));
        ageing.learn(4, [12.0, 1.0]);
        assert_eq!((ageing.baseline, ageing.growth), (Some(4.0), 3.0));
        // A late cost does not count.
        ageing.learn(1, [1.0, 1.0]);
        assert_eq!(ageing.growth, 3.0);
    }
}
