//! Key actions on the visualisation of BVHs.

use crate::{
    app::{input::keys::Action, state::State},
    config::{BoxDepths, BoxTrees},
};

impl State {
    /// Performs an action on the visualisation of BVHs. Returns any other action.
    pub(in crate::app) fn perform_on_trees(&mut self, action: Action) -> Option<Action> {
        match action {
            Action::TraceRay => {
                let view = &mut self.trees.view;
                view.traces = !view.traces;
                let text = match view.traces {
                    true => "tracing: click a pixel to trace its rays",
                    false => "tracing ended",
                };
                // A moving scene has no fixed ray path to inspect, so playback pauses.
                self.playback.playing &= !self.trees.view.traces;
                self.notify(text);
                return None;
            }
            Action::RayStep(by) => {
                self.step_ray(by);
                return None;
            }
            _ => {}
        }
        let show = &mut self.config.tree_boxes.show;
        match action {
            Action::TreeBoxes if *show == BoxDepths::Off => *show = self.trees.view.before,
            Action::TreeBoxes => self.trees.view.before = std::mem::replace(show, BoxDepths::Off),
            Action::NextTreeBoxes => {
                *show = match *show {
                    BoxDepths::Off => BoxDepths::Depths(0, 0),
                    BoxDepths::Depths(first, last) if first == last && last < 31 => {
                        BoxDepths::Depths(last + 1, last + 1)
                    }
                    BoxDepths::Depths(..) => BoxDepths::Leaves,
                    BoxDepths::Leaves => BoxDepths::Depths(0, 0),
                };
            }
            _ => return Some(action),
        }
        let text = match *show {
            BoxDepths::Off => "BVH boxes: off".into(),
            BoxDepths::Leaves => "BVH boxes: leaves".into(),
            depths => format!("BVH boxes: depth {depths}"),
        };
        self.notify(text);
        None
    }

    /// Moves by `by` steps within the recorded steps of the ray.
    fn step_ray(&mut self, by: i32) {
        let view = &mut self.trees.view;
        let Some(path) = &view.path else {
            return self.notify("no ray was traced");
        };
        let last = path.steps.len().saturating_sub(1);
        view.step = view.step.saturating_add_signed(by as isize).min(last);
        let text = format!("step {} of {}", view.step + 1, path.step_count);
        self.notify(text);
    }

    /// Restricts the boxes to the selected mesh if that is requested. Without a selection, the boxes of all
    /// meshes are drawn.
    pub(in crate::app) fn follow_selection_with_boxes(&mut self) {
        if self.trees.view.of_selection {
            self.config.tree_boxes.of = match self.inspect.selection.instances()[0] {
                Some(mesh) => BoxTrees::Mesh(mesh as u32),
                None => BoxTrees::Meshes,
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        app::{inspect::selection::Selected, trees::model::FIRST},
        config::Config,
        scene::framing::Look,
    };

    #[test]
    fn keys_step_through_the_depths_of_tree_boxes() {
        let mut state = State::new(Config::default());
        let mut press = |action| {
            state.perform(action, 1.0, &Look::default());
            state.config.tree_boxes.show
        };
        assert_eq!(press(Action::TreeBoxes), FIRST);
        assert_eq!(press(Action::TreeBoxes), BoxDepths::Off);
        assert_eq!(press(Action::NextTreeBoxes), BoxDepths::Depths(0, 0));
        assert_eq!(press(Action::NextTreeBoxes), BoxDepths::Depths(1, 1));
        assert_eq!(press(Action::TreeBoxes), BoxDepths::Off);
        assert_eq!(press(Action::TreeBoxes), BoxDepths::Depths(1, 1), "as before");
        for _ in 0..31 {
            press(Action::NextTreeBoxes);
        }
        assert_eq!(
            press(Action::NextTreeBoxes),
            BoxDepths::Depths(0, 0),
            "leaves come last"
        );
    }

    #[test]
    fn tree_boxes_follow_the_selection() {
        let mut state = State::new(Config::default());
        let mesh = Selected {
            node: 7,
            mesh: 5,
            picked: None,
        };
        state.inspect.selection.click(Some(mesh), false);
        state.follow_selection_with_boxes();
        assert_eq!(
            state.config.tree_boxes.of,
            BoxTrees::Meshes,
            "nobody asks for that"
        );
        state.trees.view.of_selection = true;
        state.follow_selection_with_boxes();
        assert_eq!(state.config.tree_boxes.of, BoxTrees::Mesh(5));
        state.inspect.selection.clear();
        state.follow_selection_with_boxes();
        assert_eq!(state.config.tree_boxes.of, BoxTrees::Meshes);
    }
}
