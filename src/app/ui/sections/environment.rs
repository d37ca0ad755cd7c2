//! The section `Environment`.

use crate::{
    app::{
        keys::Action,
        state::State,
        ui::{
            facts::Facts,
            fold::more,
            rows::{DEGREES, Edits, Row, choose, color, hundredths, slide},
            style::line,
        },
    },
    config::{Background, Environment, EnvironmentSource},
};
use egui::{RichText, Ui};
use std::ops::RangeInclusive;

/// All rotations, in degrees.
const CIRCLE: RangeInclusive<f32> = -180.0..=180.0;
/// Why settings of a file have no effect without one.
const NO_FILE: &str = "the environment is not a file";
/// Why settings of a picture have no effect without one.
const NO_PICTURE: &str = "the environment is neither a file nor the studio";

pub(super) fn show(ui: &mut Ui, state: &mut State, _: &Facts<'_>, edits: &mut Edits) {
    let stage = state.stage.as_ref();
    let lit = stage.map(|stage| stage.scene.lit_by(&state.config).environment.clone());
    let lit = lit.unwrap_or_else(|| state.config.environment.clone());
    source(ui, &mut state.config.environment, &lit, edits);
    file(ui, state, edits);
    let environment = &mut state.config.environment;
    let why = (!lit.is_picture()).then_some(NO_PICTURE);
    // Within the slider's range, whatever the settings say.
    let mut degrees = (environment.rotation + 180.0).rem_euclid(360.0) - 180.0;
    let tip = "Turns the file or the studio about the vertical";
    let row = Row::new("rotation", &["environment.rotation"], tip).idle(why);
    row.show(ui, edits, |ui| {
        if slide(ui, &mut degrees, CIRCLE, CIRCLE, DEGREES) {
            environment.rotation = degrees;
        }
    });
    let tip = "Factor of the light of the environment, and of the visible sky";
    let intensity = &mut environment.intensity;
    Row::new("intensity", &["environment.intensity"], tip).show(ui, edits, |ui| {
        slide(
            ui,
            intensity,
            0.0..=4.0,
            Environment::INTENSITY,
            hundredths("×"),
        )
    });
    background(ui, state, edits);
    more(ui, state, "Environment", |ui, state| {
        details(ui, &mut state.config.environment, &lit, edits);
    });
}

/// `lit` is what the settings mean for the scene.
fn source(ui: &mut Ui, environment: &mut Environment, lit: &Environment, edits: &mut Edits) {
    let tip = "Where the light of the environment comes from";
    Row::new("source", &["environment.source"], tip).show(ui, edits, |ui| {
        let has_file = !environment.file.is_empty();
        let file = egui::Button::selectable(environment.is_file(), "file");
        let file = ui
            .add_enabled(has_file, file)
            .on_hover_text("The file that is named below")
            .on_disabled_hover_text("No file was opened yet");
        if file.clicked() {
            environment.source = EnvironmentSource::Auto;
        }
        let studio = ui.selectable_label(lit.is_studio(), "studio");
        let tip = "Soft boxes in a neutral room, a key light from the left, and a plain backdrop";
        if studio.on_hover_text(tip).clicked() {
            environment.source = EnvironmentSource::Studio;
        }
        let sky = ui.selectable_label(lit.is_sky(), "sky");
        if sky.on_hover_text("A clear sky, lit by the sun").clicked() {
            environment.source = EnvironmentSource::Sky;
        }
        let tip = "The same colour from every direction";
        let color = (EnvironmentSource::Color, "flat", tip);
        choose(ui, &mut environment.source, &[color]);
    });
}

fn file(ui: &mut Ui, state: &mut State, edits: &mut Edits) {
    let name = std::path::Path::new(&state.config.environment.file);
    let name = name
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    let tip = "An .hdr or .exr (equirectangular), or a .ktx2 or .dds (cube map). Drop one on the window, \
               or press Ctrl+E";
    Row::new("file", &["environment.file"], tip).show(ui, edits, |ui| {
        if ui
            .button("Open…")
            .on_hover_text("Opens an environment (Ctrl+E)")
            .clicked()
        {
            state.actions.push(Action::OpenEnvironment);
        }
        line(ui, RichText::new(name.as_deref().unwrap_or("none")).weak());
    });
}

fn background(ui: &mut Ui, state: &mut State, edits: &mut Edits) {
    let background = &mut state.config.environment.background;
    let tip = "What is seen behind the scene";
    let keys = &["environment.background", "image.background"];
    Row::new("background", keys, tip).show(ui, edits, |ui| {
        let choices = [
            (Background::Environment, "shown", "The environment itself"),
            (
                Background::Color,
                "colour",
                "One colour, neither exposed nor tone-mapped",
            ),
        ];
        choose(ui, background, &choices);
        let is_color = *background == Background::Color;
        let picked = &mut state.config.image.background;
        ui.add_enabled_ui(is_color, |ui| color(ui, picked))
            .response
            .on_hover_text("The colour behind the scene")
            .on_disabled_hover_text(
                "The colour behind the scene.\n\nNo effect now: the environment is seen.",
            );
    });
}

fn details(ui: &mut Ui, environment: &mut Environment, lit: &Environment, edits: &mut Edits) {
    let why = (!environment.is_file()).then_some(NO_FILE);
    let tip = "A sun in the picture becomes a light that casts shadows";
    Row::new("its sun", &["environment.sun"], tip)
        .idle(why)
        .show(ui, edits, |ui| {
            ui.checkbox(&mut environment.sun, "casts shadows")
        });
    let no_sky = (!lit.is_sky()).then_some("the environment is not the sky");
    let tip = "Amount of aerosols of the sky, as a multiple of that in very clear air";
    let haze = &mut environment.haze;
    Row::new("haze", &["environment.haze"], tip)
        .idle(no_sky)
        .show(ui, edits, |ui| {
            slide(
                ui,
                haze,
                Environment::HAZE,
                Environment::HAZE,
                hundredths(""),
            )
        });
    let tip = "Albedo of the ground below the sky";
    let ground = &mut environment.ground_albedo;
    Row::new("ground", &["environment.ground_albedo"], tip)
        .idle(no_sky)
        .show(ui, edits, |ui| {
            slide(
                ui,
                ground,
                0.0..=1.0,
                Environment::GROUND_ALBEDO,
                hundredths(""),
            )
        });
    let is_color = environment.source == EnvironmentSource::Color;
    let why = (!is_color).then_some("the environment is not a colour");
    let tip = "Radiance from every direction, linear";
    Row::new("colour", &["environment.color"], tip)
        .idle(why)
        .show(ui, edits, |ui| color(ui, &mut environment.color));
    let tip = "Bands of the spherical harmonics of diffuse light";
    Row::new("diffuse order", &["environment.order"], tip).show(ui, edits, |ui| {
        let choices = [
            (3, "3", "9 coefficients: soft light"),
            (5, "5", "25 coefficients: sharper light"),
        ];
        choose(ui, &mut environment.order, &choices);
    });
    let why = (!lit.is_seen()).then_some("the environment is not seen");
    let tip = "Blur of the environment behind the scene";
    let blur = &mut environment.blur;
    Row::new("blur", &["environment.blur"], tip)
        .idle(why)
        .show(ui, edits, |ui| {
            slide(ui, blur, 0.0..=1.0, Environment::BLUR, hundredths(""))
        });
}
