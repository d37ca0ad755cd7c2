//! Cameras of the file, and the projection.

use crate::{
    app::{
        input::keys::Action,
        state::State,
        ui::{
            facts::Facts,
            rows::{DEGREES, Edits, Row, list, slide},
        },
    },
    config::Camera,
    scene::Projection,
};
use egui::Ui;

/// Shows the framing button and the cameras of the file.
pub(super) fn names(ui: &mut Ui, state: &mut State, _: &Facts<'_>, edits: &mut Edits) {
    let tip = "Frames the scene, or looks through a camera of the file";
    Row::key("camera.name", edits).acts(tip).show(ui, edits, |ui| {
        let tip = format!(
            "Brings the whole scene into view{}",
            state.ui.keymap.hint(Action::Frame)
        );
        let frame = ui.button("Frame").on_hover_text(tip);
        if frame.clicked() {
            state.ui.actions.push(Action::Frame);
        }
        let stage = state.stage.as_ref();
        let count = stage.map_or(0, |stage| stage.scene.cameras.len());
        let name = |camera| stage.map(|stage| stage.camera_name(camera)).unwrap_or_default();
        let title = if count == 0 { "none" } else { "free" };
        let of_file = (0..count).map(|camera| (Some(camera), name(camera), "Looks through this camera"));
        let first = (None, title.to_owned(), "The camera that you move");
        let choices: Vec<_> = std::iter::once(first).chain(of_file).collect();
        let now = state.camera_of_file();
        let chosen = ui.add_enabled_ui(count > 0, |ui| list(ui, "camera", 0.0, now, &choices));
        chosen.response.on_disabled_hover_text("The file has no cameras");
        state
            .ui
            .actions
            .extend(chosen.inner.flatten().map(Action::Camera));
    });
}

pub(super) fn projection(ui: &mut Ui, state: &mut State, _: &Facts<'_>, edits: &mut Edits) {
    let is_perspective = matches!(state.camera.projection, Projection::Perspective { .. });
    let tip = "Perspective or orthographic projection";
    Row::new("projection", &["projection"], tip).show(ui, edits, |ui| {
        let choices = [
            (true, "perspective".to_owned(), "Distant objects look smaller"),
            (
                false,
                "orthographic".to_owned(),
                "Distant objects keep their size",
            ),
        ];
        let chosen = list(ui, "projection", 0.0, is_perspective, &choices);
        if chosen.is_some_and(|chosen| chosen != is_perspective) {
            state.ui.actions.push(Action::Projection);
        }
    });
}

/// Shows the field of view. A camera of the file may have changed it without changing the setting.
pub(super) fn field_of_view(ui: &mut Ui, state: &mut State, _: &Facts<'_>, edits: &mut Edits) {
    let mut degrees = match state.camera.projection {
        Projection::Perspective { fov_y } => fov_y.to_degrees(),
        Projection::Orthographic { .. } => state.config.camera.fov,
    };
    let row = Row::key("camera.fov", edits);
    row.show(ui, edits, |ui| {
        if slide(ui, &mut degrees, 5.0..=120.0, Camera::FOV, DEGREES) {
            state.config.camera.fov = degrees;
            state.camera.set_fov(degrees.to_radians());
        }
    });
}
