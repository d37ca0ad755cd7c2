//! Distance of the scene from the surface of another file.

use crate::{
    app::{
        input::keys::Action,
        state::State,
        ui::{
            facts::Facts,
            legend::{histogram, legend},
            rows::{Digits, Edits, Row, number},
            style::{digits, line},
        },
    },
    config::Deviation,
    output::{
        deviation_text,
        numbers::{percent, significant},
    },
    render::Channel,
    scene::deviation::Statistics,
};
use egui::{RichText, Ui};

/// Shows the switch of the channel `deviation`, its legend, and the statistics of the measurement.
pub(super) fn result(ui: &mut Ui, state: &mut State, _: &Facts<'_>, edits: &mut Edits) {
    let Some(compared) = &state.deviation.compared else {
        return;
    };
    let range = compared.range(&state.config.deviation);
    let mut is_shown = state.picture.channel == Channel::Deviation;
    let tip = "Shows the channel deviation: the distance as colours";
    Row::new("colours", &[], tip).show(ui, edits, |ui| {
        if ui.checkbox(&mut is_shown, "shown").changed() {
            state.picture.channel = match is_shown {
                true => Channel::Deviation,
                false => Channel::Lit,
            };
        }
    });
    let tip = "Distance from the surface in metres, negative inside";
    Row::new("legend", &[], tip).show(ui, edits, |ui| legend(ui, range));
    let open_edges = compared.open_edges;
    if open_edges > 0 {
        let text = format!("open surface ({open_edges} edges): the sign is unreliable");
        line(ui, RichText::new(text).weak());
    }
    state.deviation.shows_figures = true;
    match &state.deviation.figures {
        None => {
            line(ui, RichText::new("measuring…").weak());
        }
        Some(Err(why)) => {
            line(ui, RichText::new(why).weak());
        }
        Some(Ok(statistics)) => {
            if state.deviation.figures_lag {
                line(ui, RichText::new("out of date; measuring…").weak());
            }
            figures(ui, statistics, range, edits);
            let copy = ui
                .button("Copy statistics")
                .on_hover_text("Copies the statistics as text");
            if copy.clicked() {
                state.ui.copied = Some(deviation_text::lines(statistics));
            }
        }
    }
}

/// Shows the statistics of all visible surfaces.
fn figures(ui: &mut Ui, statistics: &Statistics, range: f32, edits: &mut Edits) {
    let metres = |distance: f64| format!("{} m", significant(distance));
    let over = "weighted by area, over points spread over the visible meshes";
    let mut row = |name: &str, tip: &str, value: String| {
        Row::new(name, &[], tip).show(ui, edits, |ui| ui.label(digits(&value)));
    };
    let tip = "Smallest distance of a vertex or a sample point; negative inside";
    row("minimum", tip, metres(statistics.min.distance));
    let tip = "Largest distance of a vertex or a sample point";
    row("maximum", tip, metres(statistics.max.distance));
    row("mean", &format!("Mean {over}"), metres(statistics.mean));
    row("RMS", &format!("Root mean square {over}"), metres(statistics.rms));
    if let Some(out) = statistics.out {
        let tip = format!("Fraction beyond the tolerance, {over}");
        row("over tolerance", &tip, percent(out.share()));
        row("  above", &tip, percent(out.above));
        row("  below", &tip, percent(out.below));
    }
    let tip = "Area per distance, from the minimum at the left to the maximum";
    Row::new("histogram", &[], tip).show(ui, edits, |ui| histogram(ui, statistics, range));
}

pub(super) fn file(ui: &mut Ui, state: &mut State, _: &Facts<'_>, edits: &mut Edits) {
    let path = std::path::Path::new(&state.config.deviation.file);
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    Row::key("deviation.file", edits).show(ui, edits, |ui| {
        let open = ui
            .button("Open…")
            .on_hover_text("Opens a scene file to measure from");
        if open.clicked() {
            state.ui.actions.push(Action::OpenCompared);
        }
        if name.is_some() && ui.button("×").on_hover_text("Closes the file").clicked() {
            state.config.deviation.file.clear();
        }
        let text = match (&name, &state.deviation.compared) {
            (Some(name), Some(compared)) => format!("{name} ({} triangles)", compared.triangles),
            (Some(name), None) => format!("reading {name}…"),
            (None, _) => "none".into(),
        };
        line(ui, RichText::new(text).weak());
    });
}

pub(super) fn tolerance(ui: &mut Ui, state: &mut State, _: &Facts<'_>, edits: &mut Edits) {
    let range = state
        .deviation
        .compared
        .as_ref()
        .map_or(0.0, |compared| compared.range(&state.config.deviation));
    let tolerance = &mut state.config.deviation.tolerance;
    let row = Row::key("deviation.tolerance", edits);
    row.show(ui, edits, |ui| {
        let mut auto = *tolerance == 0.0;
        if ui.checkbox(&mut auto, "auto").changed() {
            *tolerance = if auto { 0.0 } else { range };
        }
        // Three significant digits need as many decimals, because files may be of any size.
        let decimals = match range {
            0.0 => 2,
            _ => (2.0 - range.max(1e-9).log10().floor()).clamp(0.0, 9.0) as usize,
        };
        let digits = Digits {
            decimals,
            suffix: " m",
        };
        let mut shown = range;
        let speed = 0.01 * range.max(1e-9);
        let drag = |ui: &mut Ui| number(ui, &mut shown, speed, Deviation::TOLERANCE, digits);
        if ui.add_enabled_ui(!auto, drag).inner {
            *tolerance = shown;
        }
    });
}
