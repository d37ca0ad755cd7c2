//! The section `Shadows`.

use crate::{
    app::{
        state::State,
        ui::{
            facts::Facts,
            fold::more,
            rows::{Edits, Row, choose, hundredths, list, slide},
        },
    },
    config::{ShadowMode, Shadows, Tree},
    render::Channel,
};
use egui::{DragValue, Slider, Ui};

pub(super) fn show(ui: &mut Ui, state: &mut State, facts: &Facts<'_>, edits: &mut Edits) {
    let tip = "How shadows are made. Keys 1, 2 and 3, or M for the next one";
    Row::new("technique", &["shadows.mode"], tip).show(ui, edits, |ui| {
        let choices = [
            (ShadowMode::Off, "off", "No shadows"),
            (
                ShadowMode::Map,
                "maps",
                "Shadow maps: fast, with steps along edges",
            ),
            (
                ShadowMode::Rays,
                "rays",
                "Rays through the trees: exact, and soft where the light has a size",
            ),
        ];
        choose(ui, &mut state.config.shadows.mode, &choices);
    });
    let tip =
        "A node of the tree with at most this many triangles is a leaf for rays. Keys [ and ]";
    Row::new("leaf cutoff", &["tree.leaf_cutoff"], tip)
        .idle(without_rays(state, facts))
        .show(ui, edits, |ui| {
            ui.add(Slider::new(
                &mut state.config.tree.leaf_cutoff,
                Tree::LEAF_CUTOFF,
            ))
        });
    more(ui, state, "Shadows", |ui, state| {
        rays(ui, &mut state.config.shadows, edits);
        maps(ui, &mut state.config.shadows, edits);
    });
}

/// Why no ray goes through the trees, if none does.
fn without_rays(state: &State, facts: &Facts<'_>) -> Option<&'static str> {
    let config = &state.config;
    let sends = config.shadows.mode == ShadowMode::Rays
        || config.occlusion.sends_rays(facts.fast_rays)
        || state.channel == Channel::Cost;
    (!sends).then_some("neither shadows nor ambient occlusion send rays")
}

fn rays(ui: &mut Ui, shadows: &mut Shadows, edits: &mut Edits) {
    let why = (shadows.mode != ShadowMode::Rays).then_some("shadows are not made by rays");
    let tip = "Rays per pixel to a light that has a size";
    Row::new("rays", &["shadows.rays"], tip)
        .idle(why)
        .show(ui, edits, |ui| {
            ui.add(Slider::new(&mut shadows.rays, Shadows::RAYS).logarithmic(true))
        });
    let tip = "Rays per pixel to one light that has a size, at edges of its shadow that have moved or just come into sight";
    Row::new("rays at edges", &["shadows.edge_rays"], tip)
        .idle(why)
        .show(ui, edits, |ui| {
            let rays = Slider::new(&mut shadows.edge_rays, Shadows::EDGE_RAYS);
            ui.add(rays.logarithmic(true))
        });
    let tip = "Frames of which one traces rays where neighbours have long found the same and nothing moves between a \
               surface and the light";
    Row::new("retrace after", &["shadows.retrace"], tip)
        .idle(why)
        .show(ui, edits, |ui| {
            let frames = Slider::new(&mut shadows.retrace, Shadows::RETRACE);
            ui.add(frames.logarithmic(true).suffix(" frames"))
        });
    let tip = "Most rays per pixel. Where all lights would need more, each pixel chooses lights at random, by what \
               they would give it";
    Row::new("most rays", &["shadows.max_rays"], tip)
        .idle(why)
        .show(ui, edits, |ui| {
            let most = DragValue::new(&mut shadows.max_rays);
            ui.add(most.range(Shadows::MAX_RAYS))
        });
    let tip =
        "Frames that are averaged, of lights that have a size; fewer where their light changes";
    Row::new("history", &["shadows.history"], tip)
        .idle(why)
        .show(ui, edits, |ui| {
            let history = DragValue::new(&mut shadows.history);
            ui.add(history.range(Shadows::HISTORY).suffix(" frames"))
        });
    let tip = "Averages neighbouring pixels too, as far as the penumbra is wide";
    Row::new("filter", &["shadows.filter"], tip)
        .idle(why)
        .show(ui, edits, |ui| ui.checkbox(&mut shadows.filter, "spatial"));
    let tip = "Traces a list of the rays that are needed; off: one thread for every pixel";
    Row::new("compact rays", &["shadows.compact_rays"], tip)
        .idle(why)
        .show(ui, edits, |ui| {
            ui.checkbox(&mut shadows.compact_rays, "list")
        });
    let why = (shadows.mode == ShadowMode::Off).then_some("shadows are off");
    let tip = "Alpha-blended surfaces take the share of the light that their alpha says";
    Row::new("blended", &["shadows.blended_cast"], tip)
        .idle(why)
        .show(ui, edits, |ui| {
            ui.checkbox(&mut shadows.blended_cast, "cast shadows")
        });
}

fn maps(ui: &mut Ui, shadows: &mut Shadows, edits: &mut Edits) {
    let why = (shadows.mode != ShadowMode::Map).then_some("shadows are not made by maps");
    let tip = "Texels along an edge of a shadow map";
    Row::new("resolution", &["shadows.map_resolution"], tip)
        .idle(why)
        .show(ui, edits, |ui| {
            let sizes = [256, 512, 1024, 2048, 4096, 8192];
            let choices = sizes.map(|size| (size, size.to_string(), "Texels along an edge"));
            let resolution = &mut shadows.map_resolution;
            *resolution = list(ui, "resolution", 0.0, *resolution, &choices).unwrap_or(*resolution);
        });
    let tip = "Taps of the filter along an edge";
    Row::new("filter width", &["shadows.map_pcf_width"], tip)
        .idle(why)
        .show(ui, edits, |ui| {
            for width in Shadows::MAP_PCF_WIDTHS {
                let choice = (width, width.to_string());
                choose(
                    ui,
                    &mut shadows.map_pcf_width,
                    &[(choice.0, &choice.1, "Taps")],
                );
            }
        });
    let tip = "Offset along the light, in texels, against surfaces that shade themselves";
    let bias = &mut shadows.map_depth_bias;
    Row::new("depth bias", &["shadows.map_depth_bias"], tip)
        .idle(why)
        .show(ui, edits, |ui| {
            slide(ui, bias, 0.0..=8.0, Shadows::MAP_DEPTH_BIAS, hundredths(""))
        });
    let tip = "Offset along the surface's normal, in texels";
    let bias = &mut shadows.map_normal_bias;
    Row::new("normal bias", &["shadows.map_normal_bias"], tip)
        .idle(why)
        .show(ui, edits, |ui| {
            slide(
                ui,
                bias,
                0.0..=8.0,
                Shadows::MAP_NORMAL_BIAS,
                hundredths(""),
            )
        });
}
