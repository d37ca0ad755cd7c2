//! Effective sun, whatever its source.

use crate::{
    app::{
        environment::sun,
        state::State,
        ui::{
            facts::Facts,
            rows::{self, DEGREES, Edits, Row, hundredths, slide},
            style::{line, significant},
        },
    },
    config::{Config, Sun},
    render::light::lights::{EffectiveSun, SunSource},
};

use egui::{RichText, Ui};
use std::ops::RangeInclusive;

/// Describes the source and strength of the sun.
fn origin(sun: Option<EffectiveSun>) -> String {
    let Some(sun) = sun else {
        return "no sun".into();
    };
    let lux = significant(f64::from(sun::strength(&sun)));
    match sun.source {
        SunSource::Settings => format!("settings: {lux} lx"),
        SunSource::Environment => format!("environment: {lux} lx"),
        SunSource::Scene => format!("scene: {lux} lx"),
    }
}

/// Range of the azimuth in degrees.
const CIRCLE: RangeInclusive<f32> = -180.0..=180.0;
/// Range of the elevation in degrees.
const HEIGHTS: RangeInclusive<f32> = -90.0..=90.0;

/// Shows the source, azimuth and elevation of the sun.
pub(super) fn direction(ui: &mut Ui, state: &mut State, _: &Facts<'_>, edits: &mut Edits) {
    let found = state.environment.sun;
    let tip = "Source of the active sun: these settings, the environment file, or a directional light of the \
               scene. The illuminance is that of a surface that faces the sun, after attenuation by the atmosphere";
    let text = RichText::new(origin(found));
    Row::new("source", &[], tip).show(ui, edits, |ui| line(ui, text));
    let none = no_sun(state);
    let config = &mut state.config;
    let direction = found.map_or(config.sun.direction, |sun| sun.direction.to_array());
    let (azimuth, elevation) = sun::angles(direction);

    let tip = "Azimuth of the sun, from +Z towards +X. The sun of an environment file turns the environment with \
         it";
    let keys: &[&'static str] = match is_of_file(found) {
        true => &["environment.rotation"],
        false => &["sun.direction"],
    };
    let mut turned = azimuth;
    let row = Row::new("azimuth", keys, tip).idle(none);
    let is_turned = row.show(ui, edits, |ui| slide(ui, &mut turned, CIRCLE, CIRCLE, DEGREES));

    let mut raised = elevation;
    let tip = "Elevation of the sun above the horizon";
    let row = Row::new("elevation", &["sun.direction"], tip).idle(none.or(fixed(found)));
    let is_raised = row.show(ui, edits, |ui| slide(ui, &mut raised, HEIGHTS, HEIGHTS, DEGREES));
    if is_of_file(found) && is_turned {
        sun::turn(config, found, turned - azimuth, 0.0);
    } else if is_turned || is_raised {
        take_over(config, found);
        config.sun.direction = sun::direction(turned, raised);
    }
}

pub(super) fn angle(ui: &mut Ui, state: &mut State, _: &Facts<'_>, edits: &mut Edits) {
    let why = no_sun(state).or(fixed(state.environment.sun));
    let mut degrees = match state.environment.sun {
        Some(sun) if is_of_file(Some(sun)) => 2.0 * sun.radius.to_degrees(),
        _ => state.config.sun.angle,
    };
    let row = Row::key("sun.angle", edits).idle(why);
    if row.show(ui, edits, |ui| {
        slide(ui, &mut degrees, 0.0..=10.0, Sun::ANGLE, hundredths("°"))
    }) {
        state.config.sun.angle = degrees;
    }
}

pub(super) fn strength(ui: &mut Ui, state: &mut State, _: &Facts<'_>, edits: &mut Edits) {
    let why = no_sun(state).or(fixed(state.environment.sun));
    let (mut strength, color) = light(state);
    let row = Row::key("sun.strength", edits).idle(why);
    let is_set = row.show(ui, edits, |ui| {
        slide(ui, &mut strength, 0.0..=20.0, Sun::STRENGTH, hundredths(" lx"))
    });
    if is_set {
        set_light(state, strength, color);
    }
}

pub(super) fn color(ui: &mut Ui, state: &mut State, _: &Facts<'_>, edits: &mut Edits) {
    let why = no_sun(state).or(fixed(state.environment.sun));
    let (strength, mut color) = light(state);
    let row = Row::key("sun.color", edits).idle(why);
    if row.show(ui, edits, |ui| rows::color(ui, &mut color)) {
        set_light(state, strength, color);
    }
}

/// Returns the reason why no sun can be edited, if there is one.
fn no_sun(state: &State) -> Option<&'static str> {
    let stage = state.stage.as_ref();
    // The brightness of the sky follows the sun's settings even where the sun itself lights nothing.
    let is_sky = stage.is_some_and(|stage| state.config.adapted_to(&stage.scene).environment.is_sky());
    (state.environment.sun.is_none() && !is_sky).then_some("there is no sun; choose “on”")
}

fn is_of_file(found: Option<EffectiveSun>) -> bool {
    found.is_some_and(|sun| sun.source == SunSource::Environment)
}

/// Returns the reason why the elevation and the light of the sun are fixed, if they are.
fn fixed(found: Option<EffectiveSun>) -> Option<&'static str> {
    is_of_file(found).then_some(FIXED)
}

/// Returns the strength in lux and the colour of the active sun.
fn light(state: &State) -> (f32, [f32; 3]) {
    match state.environment.sun {
        Some(sun) if sun.source != SunSource::Settings => {
            let strength = sun::strength(&sun);
            (strength, (sun.illuminance / strength).to_array())
        }
        _ => (state.config.sun.strength, state.config.sun.color),
    }
}

fn set_light(state: &mut State, strength: f32, color: [f32; 3]) {
    take_over(&mut state.config, state.environment.sun);
    (state.config.sun.strength, state.config.sun.color) = (strength, color);
}

/// Reason why the sun of an environment file keeps its elevation and its light.
const FIXED: &str = "this sun is part of the environment; choose “on” to replace it";

/// Turns a sun of the scene into the sun of the settings, because only the latter can be edited.
fn take_over(config: &mut Config, found: Option<EffectiveSun>) {
    if found.is_some_and(|sun| sun.source == SunSource::Scene) {
        sun::adopt(config, found);
    }
}
