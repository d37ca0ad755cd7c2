//! Editor for the values of a light.

use crate::{
    app::{
        edits::model::rotation,
        input::keys::Action,
        inspect::rows::unit,
        outline::model::kind_name,
        state::State,
        ui::{
            facts::Facts,
            rows::{Digits, color, hundredths, number, slide},
            values::value,
        },
    },
    config::ShadowMode,
    render::layout::LIGHT_LIMIT,
    scene::{Light, LightKind},
};
use egui::{DragValue, RichText, Ui};
use glam::{Mat4, Vec3};

/// Shows the editor of the light at `node`.
pub(in crate::app) fn show(ui: &mut Ui, state: &mut State, node: usize, facts: &Facts<'_>) {
    let (Some(stage), Some(pose)) = (&state.stage, facts.pose) else {
        return;
    };
    let Some(before) = stage.light(node).cloned() else {
        return;
    };
    let is_added = node >= stage.applied.node_count(&stage.scene);
    let index = stage.applied.light_at(&stage.scene, node);
    let of_file = index.and_then(|index| stage.applied.light_of_files(&stage.scene, index));
    let of_file = of_file.filter(|_| !is_added).cloned();
    let edits = stage.applied.edits();
    let is_edited = !is_added
        && (edits.places.contains_key(&node) || index.is_some_and(|index| edits.lights.contains_key(&index)));
    let users = stage.users_of_light(node);
    let place = stage.world_from_light(node, pose);
    let is_off = stage.light_is_off(node);
    let moved = edits
        .places
        .get(&node)
        .is_some_and(|place| place.file_from_light.is_some());
    let radius_is_set = index.is_some_and(|index| {
        let radii = &state.config.lights.radii;
        radii.get(index).is_some_and(|radius| *radius >= 0.0)
    });

    buttons(ui, state, node, is_edited);
    if !is_added && users > 1 {
        let text = format!("{users} nodes share this light: edits change all of them.");
        ui.label(RichText::new(text).weak());
    }
    let tip = "Turns the light on or off";
    let mut is_on = !is_off;
    let (changed, _) = value(ui, "on", tip, is_off && !is_added, |ui| {
        ui.checkbox(&mut is_on, kind_name(before.kind)).changed()
    });
    if changed {
        state.switch_light(node, !is_on);
    }
    let mut edited = before.clone();
    values(ui, &mut edited, of_file.as_ref(), radius_is_set);
    if edited != before {
        state.edit_light(node, edited);
    }
    if let Some(place) = edit_place(ui, before.kind, place, moved) {
        state.place_light(node, place);
    }
    shadows(ui, state, facts);
}

fn buttons(ui: &mut Ui, state: &mut State, node: usize, is_edited: bool) {
    ui.horizontal_wrapped(|ui| {
        let frame = ui
            .small_button("Frame light")
            .on_hover_text("Brings the light into view");
        if frame.clicked() {
            state.ui.actions.push(Action::FrameSelection);
        }
        let remove = ui
            .small_button("Remove")
            .on_hover_text("Removes the light from the scene. The file does not change");
        if remove.clicked() {
            state.remove_light(node);
        }
        let reset = ui.add_enabled(is_edited, egui::Button::new("Reset light").small());
        let tip = "Restores all values and the position from the file";
        if reset.on_hover_text(tip).on_disabled_hover_text(tip).clicked() {
            state.reset_light(node);
        }
        let reset = ui
            .small_button("Reset all lights")
            .on_hover_text("Restores all lights of the file. Removed lights come back, added lights go");
        if reset.clicked() {
            state.reset_lights();
        }
    });
}

fn values(ui: &mut Ui, light: &mut Light, of_file: Option<&Light>, radius_is_set: bool) {
    let differs = |of: &dyn Fn(&Light) -> bool| of_file.is_some_and(of);
    let now = light.clone();
    let (_, reset) = value(
        ui,
        "colour",
        "Colour, linear RGB",
        differs(&|file| file.color != now.color),
        |ui| {
            let mut channels = light.color.to_array();
            if color(ui, &mut channels) {
                light.color = channels.into();
            }
        },
    );
    if let Some(file) = of_file.filter(|_| reset) {
        light.color = file.color;
    }
    let (_, reset) = value(
        ui,
        "intensity",
        "Illuminance in lux of a directional light, or intensity in candela of a point or spot light",
        differs(&|file| file.intensity != now.intensity),
        |ui| {
            let speed = (light.intensity.abs() * 0.01).max(0.01);
            number(
                ui,
                &mut light.intensity,
                speed,
                0.0..=1e9,
                hundredths(unit(now.kind)),
            )
        },
    );
    if let Some(file) = of_file.filter(|_| reset) {
        light.intensity = file.intensity;
    }
    if light.kind != LightKind::Directional {
        let (_, reset) = value(
            ui,
            "range",
            "Range in metres at which the light ends. 0 is unlimited",
            differs(&|file| file.range != now.range),
            |ui| {
                let mut range = light.range.unwrap_or_default();
                if number(ui, &mut range, 0.1, 0.0..=1e9, hundredths(" m")) {
                    light.range = Some(range).filter(|range| *range > 0.0);
                }
            },
        );
        if let Some(file) = of_file.filter(|_| reset) {
            light.range = file.range;
        }
    }
    radius(ui, light, of_file, radius_is_set);
    if let LightKind::Spot {
        inner_angle,
        outer_angle,
    } = light.kind
    {
        let mut degrees = [inner_angle, outer_angle].map(f32::to_degrees);
        let mut is_changed = false;
        let rows = [
            (
                "cone from",
                "Inner half angle of the cone, at which the light begins to fall off",
            ),
            ("cone to", "Outer half angle of the cone, at which the light ends"),
        ];
        for ((name, tip), angle) in rows.into_iter().zip(&mut degrees) {
            let edited = differs(&|file| file.kind != now.kind);
            let (changed, reset) = value(ui, name, tip, edited, |ui| {
                slide(ui, angle, 0.0..=90.0, 0.0..=90.0, TENTHS)
            });
            is_changed |= changed;
            if let Some(file) = of_file.filter(|_| reset) {
                light.kind = file.kind;
            }
        }
        if is_changed {
            let [inner, outer] = degrees.map(f32::to_radians);
            light.kind = LightKind::spot(inner, outer);
        }
    }
}

const TENTHS: Digits = Digits {
    decimals: 1,
    suffix: "°",
};

fn radius(ui: &mut Ui, light: &mut Light, of_file: Option<&Light>, is_set: bool) {
    let is_edited = of_file.is_some_and(|file| file.radius != light.radius);
    let is_directional = light.kind == LightKind::Directional;
    let tip = match (is_set, is_directional) {
        (true, _) => "Set in the tab Light of the panel, which overrides this value",
        (false, true) => "Half the angular diameter. A larger value gives softer shadows",
        (false, false) => "Radius in metres. A larger value gives softer shadows",
    };
    let (_, reset) = value(ui, "radius", tip, is_edited, |ui| match light.radius {
        _ if is_set => {
            ui.label("of the settings");
        }
        None => {
            let button = ui
                .button("automatic")
                .on_hover_text("Sets a radius for this light");
            if button.clicked() {
                light.radius = Some(if is_directional { 0.00465 } else { 0.05 });
            }
        }
        Some(radius) if is_directional => {
            let mut degrees = radius.to_degrees();
            if number(ui, &mut degrees, 0.01, 0.0..=45.0, hundredths("°")) {
                light.radius = Some(degrees.to_radians());
            }
        }
        Some(mut radius) => {
            if number(ui, &mut radius, 0.01, 0.0..=1e6, hundredths(" m")) {
                light.radius = Some(radius);
            }
        }
    });
    if let Some(file) = of_file.filter(|_| reset) {
        light.radius = file.radius;
    }
}

/// Shows the position and the direction for editing. Returns the new light-to-world matrix if the user has
/// changed them. `moved` is true if the placement differs from the file.
fn edit_place(ui: &mut Ui, kind: LightKind, place: Mat4, moved: bool) -> Option<Mat4> {
    let mut position = place.w_axis.truncate();
    let direction = (-place.z_axis.truncate()).normalize_or(Vec3::NEG_Z);
    let mut is_moved = false;
    if kind != LightKind::Directional {
        let tip = "World-space position in metres. You can also drag the mark in the picture";
        let speed = (position.abs().max_element() * 0.005).max(0.005);
        let (changed, _) = value(ui, "position", tip, moved, |ui| {
            let mut is_changed = false;
            for axis in 0..3 {
                let drag = DragValue::new(&mut position[axis])
                    .speed(speed)
                    .max_decimals(3)
                    .update_while_editing(false);
                let width = (ui.available_width() / (3 - axis) as f32 - 4.0).clamp(34.0, 70.0);
                is_changed |= ui.add_sized([width, 18.0], drag).changed();
            }
            is_changed
        });
        is_moved |= changed && position.is_finite();
    }
    let (mut azimuth, mut elevation) = angles(direction);
    let mut is_turned = false;
    if kind != LightKind::Point {
        let rows = [
            (&mut azimuth, "azimuth", "Azimuth of the light direction", 180.0),
            (
                &mut elevation,
                "elevation",
                "Elevation of the light direction. Negative values point down",
                90.0,
            ),
        ];
        for (angle, name, tip, most) in rows {
            let (changed, _) = value(ui, name, tip, moved, |ui| {
                slide(ui, angle, -most..=most, -most..=most, TENTHS)
            });
            is_turned |= changed;
        }
    }
    let turned = match is_turned {
        true => Mat4::from_quat(rotation(along(azimuth, elevation))),
        false => place,
    };
    (is_moved || is_turned).then_some(Mat4 {
        w_axis: position.extend(1.0),
        ..turned
    })
}

/// Returns the azimuth (from +Z towards +X) and the elevation of a direction in degrees.
fn angles(direction: Vec3) -> (f32, f32) {
    let azimuth = direction.x.atan2(direction.z).to_degrees();
    (azimuth, direction.y.clamp(-1.0, 1.0).asin().to_degrees())
}

fn along(azimuth: f32, elevation: f32) -> Vec3 {
    let (sin, cos) = elevation.to_radians().sin_cos();
    let (x, z) = azimuth.to_radians().sin_cos();
    Vec3::new(x * cos, sin, z * cos)
}

/// Shows the shadow mode of all lights, and a warning if the limit on the number of lights is reached.
fn shadows(ui: &mut Ui, state: &State, facts: &Facts<'_>) {
    let mode = match state.config.shadows.mode {
        ShadowMode::Off => "Shadows are off for all lights",
        ShadowMode::Map => "It casts shadows with shadow maps, as all lights do",
        ShadowMode::Rays => "It casts ray-traced shadows, as all lights do",
    };
    ui.label(RichText::new(format!("{mode}: see Shadows in the settings panel.")).weak());
    if facts.stats.lights >= LIGHT_LIMIT {
        let text = format!("At most {LIGHT_LIMIT} lights shine. The lights beyond that are off.");
        ui.label(RichText::new(text).color(ui.visuals().warn_fg_color));
    }
}
