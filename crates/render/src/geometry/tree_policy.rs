//! BVH work of a frame: the policy `tree.rebuild`.

use crate::{
    settings::{self, Rebuild, Settings, TreeQuality},
    stats::TreeWork,
};
use canopy_bvh::{
    accel::{Quality, TreeCost},
    gpu::{Gpu, readback::Counters},
};

/// Planned BVH work of a frame.
#[derive(Debug)]
pub struct TreePlan {
    /// Kind of work.
    pub work: TreeWork,
    /// Cost of the BVH relative to its cost after the last build, as far as it had been read back when the
    /// work was chosen.
    pub growth: f32,
    /// True for each mesh that has changed since the last frame.
    pub changed: Vec<bool>,
    /// True if the cost of the BVHs is measured afterwards.
    pub measures: bool,
    /// Maximum number of triangles of a range that gets no node, when all BVHs are rebuilt.
    pub leaf_cutoff: u32,
    /// Quality of the built BVHs.
    pub quality: Quality,
    settings: RebuildKey,
}

/// Settings whose change rebuilds all BVHs.
type RebuildKey = (Rebuild, TreeQuality);

/// Returns the quality of BVHs. `moves` is true if some of them may be rebuilt in every frame, and false if
/// they are built once.
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

/// Update policy for the BVHs of one scene.
#[derive(Debug)]
pub struct TreePolicy {
    /// Buffers that hold the summed cost of the BVHs.
    pub cost: TreeCost,
    /// Settings of the last committed frame. `None` before the first frame, and after a lost frame, when the
    /// state of the BVHs is unknown.
    rebuild_key: Option<RebuildKey>,
    /// True if the last committed frame has worked on the BVHs.
    touches: bool,
    /// True if anything has moved since the scene was uploaded.
    has_moved: bool,
    costs: Counters<2>,
    degradation: Degradation,
    /// Degradation record for the BVHs that this frame builds.
    pending: Option<Degradation>,
}

/// Degradation of refitted BVHs since they were built.
#[derive(Debug)]
struct Degradation {
    /// Index of the first cost that belongs to the last build and its refits.
    first: u64,
    baseline: Option<f32>,
    growth: f32,
}

impl Degradation {
    /// Creates the record for a build whose first cost has the index `first`.
    fn new(first: u64) -> Self {
        Self {
            first,
            baseline: None,
            growth: 1.0,
        }
    }

    /// Updates the record with a cost that has been read back: the areas of all nodes, and of the root.
    fn update(&mut self, number: u64, [sum, root]: [f32; 2]) {
        let cost = sum / root;
        // A BVH without extent has no cost.
        if number >= self.first && root > 0.0 && cost.is_finite() {
            self.growth = cost / *self.baseline.get_or_insert(cost);
        }
    }
}

impl TreePolicy {
    /// Creates the policy for BVHs that have not been built yet.
    pub fn new(gpu: &Gpu, cost: TreeCost) -> Self {
        Self {
            cost,
            rebuild_key: None,
            touches: false,
            has_moved: false,
            costs: Counters::new(gpu, "cost.readback"),
            degradation: Degradation::new(0),
            pending: None,
        }
    }

    /// Chooses the work of a frame from the meshes that have `changed` since the last one. A further frame of
    /// the same picture (`again`) keeps the BVHs as they are. BVHs that were built for a `built_cutoff` above
    /// the current setting lack nodes.
    pub fn plan(
        &mut self,
        settings: &settings::Tree,
        changed: Vec<bool>,
        again: bool,
        built_cutoff: u32,
    ) -> TreePlan {
        let degradation = &mut self.degradation;
        self.costs
            .collect_each(|number, words| degradation.update(number, words.map(f32::from_bits)));
        let now = (settings.rebuild, settings.quality);
        self.has_moved |= self.rebuild_key.is_some() && changed.contains(&true);
        self.pending = None;
        let rebuild_key = self.rebuild_key == Some(now) && built_cutoff <= settings.leaf_cutoff;
        let work = match settings.rebuild {
            _ if again && rebuild_key && !changed.contains(&true) => TreeWork::None,
            Rebuild::Frame => TreeWork::Rebuild,
            _ if !rebuild_key => TreeWork::Rebuild,
            Rebuild::Refit if degradation.growth > settings.refit_growth => TreeWork::Rebuild,
            _ if !changed.contains(&true) => TreeWork::None,
            Rebuild::Refit => TreeWork::Refit,
            Rebuild::Changed if changed.contains(&false) => TreeWork::Partial,
            Rebuild::Changed => TreeWork::Rebuild,
        };
        TreePlan {
            work,
            growth: degradation.growth,
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

    /// Records that the BVHs have been rebuilt. Costs that are recorded from now on belong to them.
    pub fn built(&mut self) {
        self.pending = Some(Degradation::new(self.costs.next()));
    }

    /// Records the readback of the measured cost, which later frames receive. `built` is true for the first
    /// cost of a new build.
    pub fn read_cost(&mut self, encoder: &mut wgpu::CommandEncoder, built: bool) {
        let copied = self.costs.record(encoder, &self.cost.result);
        // Without the first cost after a build, the growth of the BVHs is unknown, so they are rebuilt.
        if let Some(degradation) = self.pending.as_mut().filter(|_| built && !copied) {
            degradation.growth = f32::INFINITY;
        }
    }

    /// Makes the next frame rebuild everything, because the BVHs hold stale data.
    pub fn reset(&mut self) {
        self.rebuild_key = None;
    }

    /// Makes the next frame rebuild BVHs that the last frame has worked on, because it may have run only in
    /// part.
    pub fn invalidate(&mut self) {
        if self.touches {
            self.rebuild_key = None;
        }
    }

    /// Commits the frame of this plan, which has been recorded completely.
    pub fn commit(&mut self, plan: &TreePlan) {
        self.rebuild_key = Some(plan.settings);
        self.touches = plan.work != TreeWork::None;
        if let Some(degradation) = self.pending.take() {
            self.degradation = degradation;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_relative_to_the_cost_of_the_last_build() {
        let mut degradation = Degradation::new(3);
        // A cost of the previous build, and costs of BVHs without extent.
        degradation.update(2, [90.0, 1.0]);
        degradation.update(3, [0.0, 0.0]);
        degradation.update(3, [f32::INFINITY, f32::INFINITY]);
        assert_eq!((degradation.baseline, degradation.growth), (None, 1.0));
        degradation.update(3, [8.0, 2.0]);
        assert_eq!((degradation.baseline, degradation.growth), (Some(4.0), 1.0));
        degradation.update(4, [12.0, 1.0]);
        assert_eq!((degradation.baseline, degradation.growth), (Some(4.0), 3.0));
        // A late cost does not count.
        degradation.update(1, [1.0, 1.0]);
        assert_eq!(degradation.growth, 3.0);
    }
}
