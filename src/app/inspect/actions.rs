//! Actions on the selection: hide, isolate, frame, copy, and measuring.

use crate::app::{
    input::keys::Action,
    inspect::selection::{self, gap_rows, mesh_name, rows},
    outline::model::Item,
    state::{State, counted},
};
use std::collections::BTreeSet;

impl State {
    /// Performs `action` if it concerns the selection or measuring. Returns any other action. `aspect` is the
    /// width of the viewport divided by its height.
    pub(in crate::app) fn perform_on_selection(&mut self, action: Action, aspect: f32) -> Option<Action> {
        match action {
            Action::Measure => {
                self.inspect.measure.is_on = !self.inspect.measure.is_on;
                self.inspect.measure.clear();
                self.notify(match self.inspect.measure.is_on {
                    true => "measuring: click two points; a third point gives the angle",
                    false => "measuring ended",
                });
            }
            Action::ShowAll => self.show_all(),
            Action::FrameSelection | Action::Hide | Action::Isolate | Action::CopySelection => {
                let has_points = !self.inspect.measure.points().is_empty();
                let copies = action == Action::CopySelection && has_points;
                let is_chosen = self.inspect.outline.chosen().is_some();
                if self.inspect.selection.is_empty() && !copies && !is_chosen {
                    self.notify("no mesh is selected; click one");
                    return None;
                }
                match action {
                    Action::FrameSelection => self.frame_selection(aspect),
                    Action::Hide => self.hide(),
                    Action::Isolate => self.isolate(),
                    _ => {
                        self.ui.copied = Some(self.card_text());
                        self.notify("copied");
                    }
                }
            }
            _ => return Some(action),
        }
        None
    }

    /// Returns the contents of the card as text.
    fn card_text(&self) -> String {
        let mut text = String::new();
        if let Some(stage) = &self.stage {
            for selected in self.inspect.selection.meshes() {
                let name = mesh_name(&stage.scene, selected.node);
                text += &selection::text(&name, &rows(&stage.scene, selected));
            }
        }
        if self.inspect.selection.meshes().len() > 1 {
            text += &selection::text("nearest points", &gap_rows(&self.inspect.selection.gap));
        }
        if !self.inspect.measure.points().is_empty() {
            text += &selection::text("measured", &self.inspect.measure.rows());
        }
        text
    }

    fn hide(&mut self) {
        if let Some(Item::Light(node)) = self.inspect.outline.chosen() {
            self.switch_light(node, true);
            return self.notify("the light is off");
        }
        let nodes = self.selected_nodes();
        let Some(stage) = &mut self.stage else { return };
        let mut hidden = stage.hidden.as_ref().clone();
        hidden.extend(nodes);
        let count = counted(hidden.len() as u64, "hidden node");
        stage.hidden = hidden.into();
        self.inspect.selection.clear();
        let key = self.ui.keymap.keys_of(Action::ShowAll);
        let back = match key.is_empty() {
            true => String::new(),
            false => format!("; {key} shows all"),
        };
        self.notify(format!("{count}{back}"));
    }

    fn isolate(&mut self) {
        let nodes = self.selected_nodes();
        let Some(stage) = &mut self.stage else { return };
        if !stage.scene.instances().any(|(node, _)| nodes.contains(&node)) {
            return self.notify("the selection has no meshes to isolate");
        }
        let others = stage.scene.instances().map(|(node, _)| node);
        let hidden: BTreeSet<_> = others.filter(|node| !nodes.contains(node)).collect();
        stage.hidden = hidden.into();
        self.notify("only the selection is shown");
    }

    fn show_all(&mut self) {
        if let Some(stage) = &mut self.stage {
            stage.hidden = Default::default();
        }
        self.notify("all meshes are shown");
    }

    /// Moves the camera so that the selection fills the viewport, and keeps the view direction.
    fn frame_selection(&mut self, aspect: f32) {
        let points = self.points_of(&self.selected_nodes());
        match self.inspect.outline.chosen() {
            _ if !points.is_empty() => self.frame_points(&points, aspect),
            Some(item) => self.frame_place(item, aspect),
            None => self.notify("the selection has no visible vertices"),
        }
    }

    /// Clears the selected meshes and the measured points, because the clicked objects have moved.
    pub(in crate::app) fn forget_clicks(&mut self) {
        self.inspect.selection.clear();
        self.inspect.measure.clear();
    }
}
