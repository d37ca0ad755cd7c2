//! The section `View`.

use super::bookmarks;
use crate::{
    app::{
        channels::{meaning, title},
        keys::Action,
        state::{State, counted},
        ui::{
            facts::Facts,
            rows::{DEGREES, Edits, Row, choose, hundredths, list, number, slide},
        },
    },
    config::{Camera, CameraMode, Window},
    render::{Channel, walk::PERSON_HEIGHT},
    scene::Projection,
};
use egui::Ui;

pub(super) fn show(ui: &mut Ui, state: &mut State, facts: &Facts<'_>, edits: &mut Edits) {
    let tip = "What the picture shows. Keys V and B for the next and the previous one";
    Row::new("channel", &[], tip).show(ui, edits, |ui| {
        let choices = Channel::ALL.map(|channel| (channel, title(channel), meaning(channel)));
        state.channel = list(ui, "channel", 0.0, state.channel, &choices).unwrap_or(state.channel);
    });
    cameras(ui, state, edits);
    bookmarks::show(ui, state, edits);
    movement(ui, state, edits);
    clicks(ui, state, edits);
    projection(ui, state, edits);
    let tip = "The axes of the world in a corner; a click on an end looks from there";
    Row::new("axes", &["window.axes"], tip).show(ui, edits, |ui| {
        ui.checkbox(&mut state.config.window.axes, "in a corner")
    });
    field_of_view(ui, state, edits);
    render_scale(ui, &mut state.config.window, facts, edits);
    let tip = "Samples that the still picture has, and is to have";
    Row::new("samples", &[], tip).show(ui, edits, |ui| {
        ui.weak(match facts.samples {
            Some([done, wanted]) => format!("sample {done} of {wanted}"),
            None => "no samples yet".into(),
        });
    });
    let tip = "Waits for the display, so that no picture is torn";
    Row::new("vsync", &["window.vsync"], tip).show(ui, edits, |ui| {
        ui.checkbox(&mut state.config.window.vsync, "wait for the display")
    });
}

fn cameras(ui: &mut Ui, state: &mut State, edits: &mut Edits) {
    let tip = "Frames the scene, or looks through a camera of the file. Keys F and C";
    Row::new("camera", &[], tip).show(ui, edits, |ui| {
        let frame = ui
            .button("Frame")
            .on_hover_text("Brings the whole scene into view (F)");
        if frame.clicked() {
            state.actions.push(Action::Frame);
        }
        let stage = state.stage.as_ref();
        let count = stage.map_or(0, |stage| stage.scene.cameras.len());
        let name = |camera| {
            stage
                .map(|stage| stage.camera_name(camera))
                .unwrap_or_default()
        };
        let title = if count == 0 { "none" } else { "free" };
        let of_file = (0..count).map(|camera| (Some(camera), name(camera), "Looks through it"));
        let first = (None, title.to_owned(), "The camera that the mouse moves");
        let choices: Vec<_> = std::iter::once(first).chain(of_file).collect();
        let now = state.camera_of_file();
        let chosen = ui.add_enabled_ui(count > 0, |ui| list(ui, "camera", 0.0, now, &choices));
        chosen
            .response
            .on_disabled_hover_text("The file has no cameras");
        state
            .actions
            .extend(chosen.inner.flatten().map(Action::Camera));
    });
}

fn movement(ui: &mut Ui, state: &mut State, edits: &mut Edits) {
    let walks = state.walks();
    let tip = "How the camera moves. Key J";
    Row::new("movement", &["camera.mode"], tip).show(ui, edits, |ui| {
        let mut mode = state.config.camera.mode;
        let choices = [
            (
                CameraMode::Orbit,
                "orbit, fly",
                "Around the scene, and through it",
            ),
            (
                CameraMode::Walk,
                "walk",
                "As a person whom surfaces carry and stop",
            ),
        ];
        choose(ui, &mut mode, &choices);
        if mode != state.config.camera.mode {
            state.actions.push(Action::Walk);
        }
    });
    let tip = "Speed of a person of 1.8 m; the wheel changes it too. Shift runs";
    let row = Row::new("walk speed", &["camera.walk_speed"], tip);
    let why = (!walks).then_some("the camera orbits and flies");
    row.idle(why).show(ui, edits, |ui| {
        let speed = &mut state.config.camera.walk_speed;
        let digits = hundredths(" m/s");
        slide(ui, speed, 0.5..=10.0, Camera::WALK_SPEED, digits)
    });
    let tip = "Height of the person who walks; auto is 1.8 m, less in scenes smaller than a room and more in those \
               larger than a city";
    let row = Row::new("person", &["camera.person"], tip);
    row.idle(why).show(ui, edits, |ui| {
        let person = &mut state.config.camera.person;
        let mut auto = *person == 0.0;
        if ui.checkbox(&mut auto, "auto").changed() {
            *person = if auto { 0.0 } else { PERSON_HEIGHT };
        }
        let mut shown = if auto { PERSON_HEIGHT } else { *person };
        let drag = |ui: &mut Ui| number(ui, &mut shown, 0.01, Camera::PERSON.0, hundredths(" m"));
        if ui.add_enabled_ui(!auto, drag).inner {
            *person = shown;
        }
    });
    let tip = "While the camera orbits or zooms, keeps it in front of the first surface behind what it orbits";
    let row = Row::new("walls", &["camera.avoid_walls"], tip);
    let why = walks.then_some("the person who walks passes none");
    row.idle(why).show(ui, edits, |ui| {
        let avoids = &mut state.config.camera.avoid_walls;
        ui.checkbox(avoids, "stay in front of them")
    });
}

/// What clicks on the scene do, and what they have hidden.
fn clicks(ui: &mut Ui, state: &mut State, edits: &mut Edits) {
    let tip = "Measures between points that are clicked, instead of selecting meshes (Shift+M)";
    Row::new("measure", &[], tip).show(ui, edits, |ui| {
        let mut is_on = state.measure.is_on;
        if ui.checkbox(&mut is_on, "between clicks").changed() {
            state.actions.push(Action::Measure);
        }
    });
    let count = state.stage.as_ref().map_or(0, |stage| stage.hidden.len());
    if count > 0 {
        let tip = "Meshes that are hidden by hand. Alt+H shows them again";
        Row::new("hidden", &[], tip).show(ui, edits, |ui| {
            ui.label(counted(count as u64, "node"));
            if ui
                .button("Show all")
                .on_hover_text("Shows all meshes (Alt+H)")
                .clicked()
            {
                state.actions.push(Action::ShowAll);
            }
        });
    }
}

fn projection(ui: &mut Ui, state: &mut State, edits: &mut Edits) {
    let is_perspective = matches!(state.camera.projection, Projection::Perspective { .. });
    let tip = "Whether what is far is smaller. Key P";
    Row::new("projection", &[], tip).show(ui, edits, |ui| {
        let choices = [
            (true, "perspective".to_owned(), "What is far is smaller"),
            (
                false,
                "orthographic".to_owned(),
                "What is far has the same size",
            ),
        ];
        let chosen = list(ui, "projection", 0.0, is_perspective, &choices);
        if chosen.is_some_and(|chosen| chosen != is_perspective) {
            state.actions.push(Action::Projection);
        }
    });
}

fn field_of_view(ui: &mut Ui, state: &mut State, edits: &mut Edits) {
    let (fov, why) = match state.camera.projection {
        Projection::Perspective { fov_y } => (fov_y.to_degrees(), None),
        Projection::Orthographic { .. } => {
            (state.config.camera.fov, Some("the view is orthographic"))
        }
    };
    let mut degrees = fov;
    let row = Row::new(
        "field of view",
        &["camera.fov"],
        "Vertical angle of the view",
    )
    .idle(why);
    row.show(ui, edits, |ui| {
        if slide(ui, &mut degrees, 5.0..=120.0, Camera::FOV, DEGREES) {
            state.config.camera.fov = degrees;
            state.camera.set_fov(degrees.to_radians());
        }
    });
}

fn render_scale(ui: &mut Ui, window: &mut Window, facts: &Facts<'_>, edits: &mut Edits) {
    let tip = "Rendered size over the window's; auto is 1 at rest, and what fits into \
               window.frame_ms while something moves";
    Row::new("render scale", &["window.render_scale"], tip).show(ui, edits, |ui| {
        let scale = &mut window.render_scale;
        let used = facts.render_scale;
        let mut auto = *scale == 0.0;
        if ui.checkbox(&mut auto, "auto").changed() {
            *scale = if auto { 0.0 } else { used };
        }
        let mut shown = if auto { used } else { *scale };
        let range = Window::RENDER_SCALE.0;
        let drag = |ui: &mut Ui| number(ui, &mut shown, 0.01, range, hundredths(""));
        if ui.add_enabled_ui(!auto, drag).inner {
            *scale = shown;
        }
        let [width, height] = facts.size;
        ui.weak(format!("{width}×{height}"));
    });
}
