//! Transfer function of volumes.

use crate::{
    app::{
        state::State,
        ui::{
            facts::Facts,
            rows::{Edits, Row, color, hundredths, list, number},
        },
    },
    config::{VolumeTransfer, Volumes},
    render::volumes::volume_params::{POINT, control_points},
};

use egui::Ui;

pub(super) fn transfer(ui: &mut Ui, state: &mut State, _: &Facts<'_>, edits: &mut Edits) {
    let settings = &mut state.config.volumes;
    let tip = "Maps values to colour and opacity, for scans. With off, values are densities";
    Row::key("volumes.transfer", edits).show(ui, edits, |ui| {
        let choices = VolumeTransfer::ALL.map(|choice| (choice, choice.name().into(), tip));
        if let Some(chosen) = list(ui, "volume transfer", 0.0, settings.transfer, &choices) {
            // Custom points start from the shown ones.
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
}

/// Shows the control points, if the transfer function is custom.
pub(super) fn points(ui: &mut Ui, state: &mut State, _: &Facts<'_>, edits: &mut Edits) {
    let settings = &mut state.config.volumes;
    if settings.transfer == VolumeTransfer::Custom {
        let row = Row::key("volumes.points", edits);
        row.show(ui, edits, |ui| lines(ui, &mut settings.points));
    }
}

/// Shows the control points, one per line.
fn lines(ui: &mut Ui, values: &mut Vec<f32>) {
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
                    .on_hover_text("Removes this control point")
                    .clicked()
                {
                    removed = Some(index);
                }
            });
        }
        if let Some(index) = removed {
            values.drain(POINT * index..POINT * (index + 1));
        }
        if ui
            .small_button("+")
            .on_hover_text("Adds a control point")
            .clicked()
        {
            values.extend([0.5, 1.0, 1.0, 1.0, 0.5]);
        }
    });
}
