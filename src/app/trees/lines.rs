//! Key actions on the mesh lines over the picture, and the choice of their mesh.

use crate::app::{input::keys::Action, state::State};

impl State {
    /// Toggles a kind of lines.
    pub(in crate::app) fn perform_on_overlay(&mut self, action: Action) {
        let overlay = &mut self.config.overlay;
        let (is_shown, name) = match action {
            Action::Normals => (&mut overlay.normals, "vertex normals"),
            _ => (&mut overlay.wireframe, "wireframe"),
        };
        *is_shown = !*is_shown;
        let text = match is_shown {
            true => name.to_owned(),
            false => format!("no {name}"),
        };
        self.notify(text);
    }

    /// Restricts the lines to the selected mesh if that is requested. Without a selection, the lines of all
    /// meshes are drawn.
    pub(in crate::app) fn follow_selection_with_overlay(&mut self) {
        if self.trees.overlay_of_selection {
            let selected = self.inspect.selection.instances()[0];
            let number = selected.and_then(|mesh| i32::try_from(mesh).ok());
            self.config.overlay.mesh = number.unwrap_or(-1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{app::inspect::selection::Selected, config::Config, scene::framing::Look};

    #[test]
    fn overlay_lines_are_toggled_and_follow_the_selection() {
        let mut state = State::new(Config::default());
        for (shows, action) in [
            (true, Action::Wireframe),
            (true, Action::Normals),
            (false, Action::Wireframe),
        ] {
            state.perform(action, 1.0, &Look::default());
            let overlay = &state.config.overlay;
            let shown = match action {
                Action::Normals => overlay.normals,
                _ => overlay.wireframe,
            };
            assert_eq!(shown, shows, "{action:?}");
        }
        let (mesh, picked) = (5, None);
        let selected = Selected {
            node: 7,
            mesh,
            picked,
        };
        state.inspect.selection.click(Some(selected), false);
        state.follow_selection_with_overlay();
        assert_eq!(state.config.overlay.mesh, -1, "nobody asked");
        state.trees.overlay_of_selection = true;
        state.follow_selection_with_overlay();
        assert_eq!(state.config.overlay.mesh, 5);
        state.inspect.selection.click(None, false);
        state.follow_selection_with_overlay();
        assert_eq!(state.config.overlay.mesh, -1);
    }
}
