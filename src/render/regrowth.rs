//! What is done to the trees in a frame: the policy `tree.rebuild`.

use super::scene_buffers::Uploader;
use crate::{
    Result,
    accel::{Tree, TreeCost, Work},
    config::{self, Rebuild},
    gpu::{Gpu, profiler::Scope, readback::Counters},
};
use std::cell::RefCell;

/// What was done to the trees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TreeWork {
    /// Nothing: they still hold.
    #[default]
    None,
    /// All were built.
    Rebuild,
    /// Those of some meshes were built, and the TLAS.
    Partial,
    /// Boxes followed the triangles.
    Refit,
}

impl TreeWork {
    /// The name in JSON and on the panel.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Rebuild => "rebuild",
            Self::Partial => "partial",
            Self::Refit => "refit",
        }
    }
}

/// A frame's work.
#[derive(Debug)]
pub struct Plan {
    /// What is to be done.
    pub work: TreeWork,
    /// The tree's cost over that of the last build, as far as it had come back when the work was chosen.
    pub growth: f32,
    policy: Rebuild,
    changed: Vec<bool>,
}

/// A scene's trees over time.
#[derive(Debug)]
pub struct Regrowth {
    cost: TreeCost,
    state: RefCell<State>,
}

#[derive(Debug)]
struct State {
    /// That of the last frame. `None` before the first one and after one that failed: then nothing is known of the trees.
    policy: Option<Rebuild>,
    costs: Counters<2>,
    ageing: Ageing,
}

/// How much worse a tree has become.
#[derive(Debug)]
struct Ageing {
    /// Costs of this number and later ones are those of the tree as it was built last, and of its refits.
    first: u64,
    baseline: Option<f32>,
    growth: f32,
}

impl Ageing {
    /// Of a tree whose first cost has the number `first`.
    fn new(first: u64) -> Self {
        Self {
            first,
            baseline: None,
            growth: 1.0,
        }
    }

    /// Takes in a cost that has come back: the areas of all nodes, and of the root.
    fn take(&mut self, number: u64, [sum, root]: [f32; 2]) {
        let cost = sum / root;
        // Without an extent there is no cost.
        if number >= self.first && root > 0.0 && cost.is_finite() {
            self.growth = cost / *self.baseline.get_or_insert(cost);
        }
    }
}

impl Regrowth {
    /// For a tree that has not been built yet.
    pub fn new(gpu: &Gpu, cost: TreeCost) -> Self {
        Self {
            cost,
            state: RefCell::new(State {
                policy: None,
                costs: Counters::new(gpu, "cost.readback"),
                ageing: Ageing::new(0),
            }),
        }
    }

    /// Chooses a frame's work from the meshes that have `changed` since the last frame. Until [`Regrowth::settle`] says that the frame has been
    /// recorded, the next one builds all. A further frame of the same picture (`again`) takes the trees as they are.
    pub fn plan(&self, settings: &config::Tree, changed: Vec<bool>, again: bool) -> Plan {
        let State {
            policy,
            costs,
            ageing,
        } = &mut *self.state.borrow_mut();
        costs.collect_each(|number, words| ageing.take(number, words.map(f32::from_bits)));
        let settled = policy.take() == Some(settings.rebuild);
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
        Plan {
            work,
            growth: ageing.growth,
            policy: settings.rebuild,
            changed,
        }
    }

    /// Does what was planned to `tree`.
    pub fn record(
        &self,
        gpu: &Gpu,
        scope: &mut Scope<'_>,
        uploader: &Uploader,
        tree: &Tree,
        plan: &Plan,
    ) -> Result<()> {
        let (meshes, work) = match plan.work {
            TreeWork::None => return Ok(()),
            TreeWork::Rebuild => (None, Work::Rebuild),
            TreeWork::Partial => (Some(&plan.changed[..]), Work::Rebuild),
            TreeWork::Refit => (None, Work::Refit),
        };
        tree.build_only(gpu, meshes);
        uploader.lbvh.get(gpu)?.record(scope, tree, work);
        let State { costs, ageing, .. } = &mut *self.state.borrow_mut();
        if work == Work::Rebuild {
            *ageing = Ageing::new(costs.next());
        }
        if plan.policy == Rebuild::Refit {
            uploader.cost.record(gpu, scope, &self.cost)?;
            let copied = costs.record(scope, &self.cost.result);
            // Without its first cost a tree's age cannot be told: it is built again.
            if work == Work::Rebuild && !copied {
                ageing.growth = f32::INFINITY;
            }
        }
        Ok(())
    }

    /// The next frame builds all: the trees hold what is no longer so.
    pub fn forget(&self) {
        self.state.borrow_mut().policy = None;
    }

    /// The frame of this plan has been recorded whole.
    pub fn settle(&self, plan: &Plan) {
        self.state.borrow_mut().policy = Some(plan.policy);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_that_of_the_tree_that_was_built_last() {
        let mut ageing = Ageing::new(3);
        // Of the tree before, and without an extent.
        ageing.take(2, [90.0, 1.0]);
        ageing.take(3, [0.0, 0.0]);
        ageing.take(3, [f32::INFINITY, f32::INFINITY]);
        assert_eq!((ageing.baseline, ageing.growth), (None, 1.0));
        ageing.take(3, [8.0, 2.0]);
        assert_eq!((ageing.baseline, ageing.growth), (Some(4.0), 1.0));
        ageing.take(4, [12.0, 1.0]);
        assert_eq!((ageing.baseline, ageing.growth), (Some(4.0), 3.0));
        // What comes late does not count.
        ageing.take(1, [1.0, 1.0]);
        assert_eq!(ageing.growth, 3.0);
    }
}
