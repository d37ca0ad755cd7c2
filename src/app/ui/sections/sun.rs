//! The section `Sun`: the light that is in force, whatever it comes from.

use crate::{
    app::{
        state::State,
        sun,
        ui::{
            facts::Facts,
            rows::{self, DEGREES, Edits, Row, choose, hundredths, slide},
            style::{line, significant},
        },
    },
    config::{Config, Sun, Switch},
    render::lights::{SunInForce, SunSource},
};
use egui::{RichText, Ui};
use std::ops::RangeInclusive;

pub(super) fn show(ui: &mut Ui, state: &mut State, _: &Facts<'_>, edits: &mut Edits) {
    let found = state.sun;
    let tip = "Where the sun that shines comes from: these settings, the environment's file, or a directional light \
               of the scene; and the illuminance of what faces it, through the air where there is a sky";
    let text = RichText::new(origin(found));
    Row::new("light from", &[], tip).show(ui, edits, |ui| line(ui, text));
    let tip = "Whether the sun of the settings shines. It replaces that of an environment's file, and the \
               brightest directional light of the scene that shines from above";
    Row::new("own sun", &["sun.enabled"], tip).show(ui, edits, |ui| {
        let choices = [
            (
                Switch::Auto,
                "auto",
                "On if neither the scene nor its environment has a light; the studio has its key light",
            ),
            (
                Switch::On,
                "on",
                "The sun of these settings, in place of any other",
            ),
            (Switch::Off, "off", "The lights of the files only"),
        ];
        choose(ui, &mut state.config.sun.enabled, &choices);
    });
    let stage = state.stage.as_ref();
    // The sky is as bright as its sun, even where that lights nothing.
    let is_sky = stage.is_some_and(|stage| stage.scene.lit_by(&state.config).environment.is_sky());
    let none = (found.is_none() && !is_sky).then_some("no sun shines; choose “on”");
    angles(ui, &mut state.config, found, none, edits);
    light(ui, &mut state.config, found, none, edits);
}

/// Where the light comes from, and its strength.
fn origin(sun: Option<SunInForce>) -> String {
    let Some(sun) = sun else {
        return "no sun shines".into();
    };
    let lux = significant(f64::from(sun::strength(&sun)));
    match sun.source {
        SunSource::Settings => format!("settings: {lux} lx"),
        SunSource::Environment => format!("environment: {lux} lx"),
        SunSource::Scene => format!("scene: {lux} lx"),
    }
}

/// All directions of the compass, in degrees.
const CIRCLE: RangeInclusive<f32> = -180.0..=180.0;
/// All heights above the horizon, in degrees.
const HEIGHTS: RangeInclusive<f32> = -90.0..=90.0;

/// `none` says why no sun can be changed, if none can.
fn angles(
    ui: &mut Ui,
    config: &mut Config,
    found: Option<SunInForce>,
    none: Option<&'static str>,
    edits: &mut Edits,
) {
    let of_file = found.is_some_and(|sun| sun.source == SunSource::Environment);
    let direction = found.map_or(config.sun.direction, |sun| sun.direction.to_array());
    let (azimuth, elevation) = sun::angles(direction);

    let tip = "Compass direction of the sun, from +Z towards +X. A sun in an environment's file turns with it";
    let keys: &[&'static str] = if of_file {
        &["environment.rotation"]
    } else {
        &["sun.direction"]
    };
    let mut turned = azimuth;
    let row = Row::new("azimuth", keys, tip).idle(none);
    let is_turned = row.show(ui, edits, |ui| {
        slide(ui, &mut turned, CIRCLE, CIRCLE, DEGREES)
    });

    let why = none.or(of_file.then_some(FIXED));
    let mut raised = elevation;
    let tip = "Height of the sun above the horizon";
    let row = Row::new("elevation", &["sun.direction"], tip).idle(why);
    let is_raised = row.show(ui, edits, |ui| {
        slide(ui, &mut raised, HEIGHTS, HEIGHTS, DEGREES)
    });
    if of_file && is_turned {
        sun::turn(config, found, turned - azimuth, 0.0);
    } else if is_turned || is_raised {
        take_over(config, found);
        config.sun.direction = sun::direction(turned, raised);
    }
}

fn light(
    ui: &mut Ui,
    config: &mut Config,
    found: Option<SunInForce>,
    none: Option<&'static str>,
    edits: &mut Edits,
) {
    let settings = (config.sun.strength, config.sun.color);
    let (strength, color) = match found {
        Some(sun) if sun.source != SunSource::Settings => {
            let strength = sun::strength(&sun);
            (strength, (sun.illuminance / strength).to_array())
        }
        _ => settings,
    };
    let of_file = found.is_some_and(|sun| sun.source == SunSource::Environment);
    let why = none.or(of_file.then_some(FIXED));

    let tip = "Angular diameter, of every distant light whose file states none: the wider, the softer its shadows; 0 \
               for hard ones";
    let row = Row::new("diameter", &["sun.angle"], tip).idle(why);
    let angle = &mut config.sun.angle;
    row.show(ui, edits, |ui| {
        slide(ui, angle, 0.0..=10.0, Sun::ANGLE, hundredths("°"))
    });
    let tip = "Illuminance of what faces the sun, in lux; under the sky, of a sun at the zenith";
    let mut set_strength = strength;
    let row = Row::new("strength", &["sun.strength"], tip).idle(why);
    let is_set = row.show(ui, edits, |ui| {
        slide(
            ui,
            &mut set_strength,
            0.0..=20.0,
            Sun::STRENGTH,
            hundredths(" lx"),
        )
    });
    let tip = "Colour of the sun's light, linear; under the sky, of a sun at the zenith";
    let mut set_color = color;
    let row = Row::new("colour", &["sun.color"], tip).idle(why);
    let is_tinted = row.show(ui, edits, |ui| rows::color(ui, &mut set_color));
    if is_set || is_tinted {
        take_over(config, found);
        (config.sun.strength, config.sun.color) = (set_strength, set_color);
    }
}

/// Why a sun in an environment's file keeps its height and its light.
const FIXED: &str =
    "this sun is part of the environment's picture; choose “on” for one of your own in its place";

/// Makes a light of the scene the sun of the settings, which alone can be changed.
fn take_over(config: &mut Config, found: Option<SunInForce>) {
    if found.is_some_and(|sun| sun.source == SunSource::Scene) {
        sun::adopt(config, found);
    }
}
