//! Sizes of the scene's lights.

use crate::{
    app::{
        state::State,
        ui::{
            facts::Facts,
            rows::{Edits, Row, hundredths, number, slide},
            style::line,
        },
    },
    config::Lights,
    render::light::lights::BULB,
    scene::{LightKind, Scene},
};

use egui::{RichText, Ui};
use std::ops::RangeInclusive;

/// Maximum number of listed lights.
const LISTED: usize = 32;

/// Shows the radius of lights that have none in the file.
pub(super) fn radius(ui: &mut Ui, state: &mut State, _: &Facts<'_>, edits: &mut Edits) {
    let general = &mut state.config.lights.radius;
    let row = Row::key("lights.radius", edits);
    row.show(ui, edits, |ui| {
        let mut radius = shown(*general);
        if slide(ui, &mut radius, 0.0..=1.0, METRES, hundredths(" m")) {
            *general = radius;
        }
    });
}

/// Shows the radius of each light that has a position.
pub(super) fn radii(ui: &mut Ui, state: &mut State, _: &Facts<'_>, edits: &mut Edits) {
    let lights = state.stage.as_ref().map(|stage| listed(&stage.scene));
    let lights = lights.unwrap_or_default();
    for light in lights.iter().take(LISTED) {
        one(ui, state, light, edits);
    }
    if let Some(more) = lights.len().checked_sub(LISTED).filter(|more| *more > 0) {
        line(ui, RichText::new(format!("and {more} more")).weak());
    }
}

/// Range of the radius in metres.
const METRES: RangeInclusive<f32> = 0.0..=*Lights::RADIUS.end();

/// Returns the general radius in metres. A negative setting means that of a bulb.
fn shown(general: f32) -> f32 {
    if general < 0.0 { BULB } else { general }
}

/// A light with a position.
struct Listed {
    index: usize,
    name: String,
    /// Radius in the file, in metres.
    radius: Option<f32>,
}

fn listed(scene: &Scene) -> Vec<Listed> {
    let lights = scene.lights.iter().enumerate();
    let placed = lights.filter(|(_, light)| light.kind != LightKind::Directional);
    let listed = placed.map(|(index, light)| Listed {
        index,
        name: match light.name.as_str() {
            "" => format!("light {index}"),
            name => name.to_owned(),
        },
        radius: light.radius,
    });
    listed.collect()
}

fn one(ui: &mut Ui, state: &mut State, light: &Listed, edits: &mut Edits) {
    let settings = &mut state.config.lights;
    let own = settings.radii.get(light.index).copied();
    let own = own.filter(|radius| *radius >= 0.0);
    let mut radius = own.or(light.radius).unwrap_or(shown(settings.radius));
    let row = Row::key("lights.radii", edits).named(&light.name);
    let is_set = row.show(ui, edits, |ui| {
        number(ui, &mut radius, 0.01, METRES, hundredths(" m"))
    });
    if is_set {
        let length = settings.radii.len().max(light.index + 1);
        settings.radii.resize(length, -1.0);
        settings.radii[light.index] = radius;
    }
}
