//! The section `Volumes`: smoke, fire, clouds and scans.

use crate::{
    app::{
        state::State,
        ui::{
            facts::Facts,
            rows::{Digits, Edits, Row, color, hundredths, list, number, slide},
        },
    },
    config::{VolumeTransfer, Volumes},
    render::volume_params::{POINT, control_points},
};
use egui::Ui;

const OFF: &str = "volumes are not shown";

pub(super) fn show(ui: &mut Ui, state: &mut State, _: &Facts<'_>, edits: &mut Edits) {
    let settings = &mut state.config.volumes;
    Row::new("shown", &["volumes.enabled"], "Volumes of the scene").show(ui, edits, |ui| {
        ui.checkbox(&mut settings.enabled, "volumes")
    });
    let why = (!settings.enabled).then_some(OFF);
    let tip = "Extinction per metre where the file's density is 1";
    Row::new("density", &["volumes.density"], tip)
        .idle(why)
        .show(ui, edits, |ui| {
            let speed = 0.01 * settings.density.max(0.01);
            let digits = Digits {
                decimals: 3,
                suffix: "",
            };
            number(ui, &mut settings.density, speed, Volumes::DENSITY, digits)
        });
    let tip = "Share of the extinction that scatters light; the rest absorbs it";
    Row::new("albedo", &["volumes.albedo"], tip)
        .idle(why)
        .show(ui, edits, |ui| color(ui, &mut settings.albedo));
    let tip = "Whether light is scattered back (below 0), alike in all directions (0) or forward (above 0)";
    Row::new("anisotropy", &["volumes.anisotropy"], tip)
        .idle(why)
        .show(ui, edits, |ui| {
            let limits = Volumes::ANISOTROPY;
            slide(
                ui,
                &mut settings.anisotropy,
                limits.clone(),
                limits,
                hundredths(""),
            )
        });
    let tip = "Length of a step in voxels: shorter ones are slower, and show finer detail";
    Row::new("step", &["volumes.step"], tip)
        .idle(why)
        .show(ui, edits, |ui| {
            slide(
                ui,
                &mut settings.step,
                0.1..=4.0,
                Volumes::STEP,
                hundredths(""),
            )
        });
    let tip = "Volumes and the scene take light from each other, and volumes from themselves";
    Row::new("shadows", &["volumes.shadows"], tip)
        .idle(why)
        .show(ui, edits, |ui| {
            ui.checkbox(&mut settings.shadows, "cast and received")
        });
    let tip = "Radiance per metre where a grid of temperature is hottest";
    Row::new("emission", &["volumes.emission"], tip)
        .idle(why)
        .show(ui, edits, |ui| {
            let speed = 0.01 * settings.emission.max(0.01);
            number(
                ui,
                &mut settings.emission,
                speed,
                Volumes::EMISSION,
                hundredths(""),
            )
        });
    let tip = "Temperature there, which gives fire its colours";
    Row::new("hottest", &["volumes.hottest"], tip)
        .idle(why)
        .show(ui, edits, |ui| {
            let digits = Digits {
                decimals: 0,
                suffix: " K",
            };
            slide(
                ui,
                &mut settings.hottest,
                800.0..=6000.0,
                Volumes::HOTTEST,
                digits,
            )
        });
    let tip = "What values look like: they are densities, or say colour and opacity as in scans";
    Row::new("values", &["volumes.transfer"], tip)
        .idle(why)
        .show(ui, edits, |ui| {
            let choices = VolumeTransfer::ALL.map(|choice| (choice, choice.name().into(), tip));
            if let Some(chosen) = list(ui, "volume transfer", 0.0, settings.transfer, &choices) {
                // Custom points begin as those that were shown.
                if chosen == VolumeTransfer::Custom && settings.points.is_empty() {
                    let gray = Volumes {
                        transfer: VolumeTransfer::Gray,
                        ..settings.clone()
                    };
                    let points = control_points(settings).or_else(|| control_points(&gray));
                    settings.points = points.unwrap_or_default().as_flattened().to_vec();
                }
                settings.transfer = chosen;
            }
        });
    if settings.transfer == VolumeTransfer::Custom {
        let tip = "Control points: value, colour and opacity";
        Row::new("points", &["volumes.points"], tip)
            .idle(why)
            .show(ui, edits, |ui| points(ui, &mut settings.points));
    }
    let tip = "A surface where values are that share of the range of all; 0 for none";
    Row::new("surface at", &["volumes.isovalue"], tip)
        .idle(why)
        .show(ui, edits, |ui| {
            let limits = Volumes::ISOVALUE;
            slide(
                ui,
                &mut settings.isovalue,
                limits.clone(),
                limits,
                hundredths(""),
            )
        });
}

/// The control points, a line each.
fn points(ui: &mut Ui, values: &mut Vec<f32>) {
    ui.vertical(|ui| {
        let mut removed = None;
        for (index, point) in values.chunks_exact_mut(POINT).enumerate() {
            ui.horizontal(|ui| {
                let [value, red, green, blue, opacity] = point else {
                    return;
                };
                number(ui, value, 0.005, Volumes::SHARES, hundredths(""));
                let mut picked = [*red, *green, *blue];
                if color(ui, &mut picked) {
                    [*red, *green, *blue] = picked;
                }
                number(ui, opacity, 0.005, Volumes::SHARES, hundredths(""));
                if ui
                    .small_button("−")
                    .on_hover_text("Remove this point")
                    .clicked()
                {
                    removed = Some(index);
                }
            });
        }
        if let Some(index) = removed {
            values.drain(POINT * index..POINT * (index + 1));
        }
        if ui.small_button("+").on_hover_text("Add a point").clicked() {
            values.extend([0.5, 1.0, 1.0, 1.0, 0.5]);
        }
    });
}
