//! What keys do with the trees that are shown.

use crate::{
    app::{input::keys::Action, state::State},
    config::{BoxDepths, BoxTrees},
};

impl State {
    /// Performs an action on what is shown of the trees; returns any other.
    pub(in crate::app) fn perform_on_trees(&mut self, action: Action) -> Option<Action> {
        match action {
            Action::TraceRay => {
                let view = &mut self.trees.view;
                view.traces = !view.traces;
                let text = match view.traces {
                    true => "tracing: a click traces the ray of its pixel",
                    false => "tracing ended",
                };
                // Of what moves there is no path to look at.
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
            BoxDepths::Off => "no boxes of the trees".into(),
            BoxDepths::Leaves => "boxes of the leaves".into(),
            depths => format!("boxes of depth {depths}"),
        };
        self.notify(text);
        None
    }

    /// Goes on by so many steps, within those that are kept.
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

    /// Lets the boxes be those of the mesh that is selected, where that is asked for: of all while none is.
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
    fn keys_show_boxes_of_one_depth_after_another() {
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
    fn boxes_follow_the_selection() {
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
