//! The section `Image`.

use crate::{
    app::{
        state::State,
        ui::{
            facts::Facts,
            fold::more,
            rows::{Digits, Edits, Row, hundredths, list, number, slide},
        },
    },
    config::{Antialias, Exposure, ExposureMode, Image, Rising, Tonemap, Window},
};
use egui::{DragValue, Ui};

pub(super) fn show(ui: &mut Ui, state: &mut State, facts: &Facts<'_>, edits: &mut Edits) {
    let image = &mut state.config.image;
    exposure(ui, image, facts.exposure_ev, edits);
    let tip = "The curve from radiance to the display";
    Row::new("tone map", &["image.tonemap"], tip).show(ui, edits, |ui| {
        let choices = [
            (Tonemap::None, "none", "Clips at white"),
            (Tonemap::Reinhard, "Reinhard", "x / (1 + x): soft and pale"),
            (Tonemap::Aces, "ACES", "The film look of the Academy"),
            (Tonemap::Agx, "AgX", "Bright colours fade to white"),
            (
                Tonemap::Neutral,
                "PBR Neutral",
                "Keeps base colours as they are",
            ),
        ];
        let choices = choices.map(|(curve, name, tip)| (curve, name.to_owned(), tip));
        image.tonemap = list(ui, "tonemap", 0.0, image.tonemap, &choices).unwrap_or(image.tonemap);
    });
    let tip = "Smooths edges while the picture changes. Key X";
    Row::new("anti-aliasing", &["image.antialias"], tip).show(ui, edits, |ui| {
        let choices = [
            (
                Antialias::Auto,
                "auto",
                "Temporal on GPUs, SMAA in software",
            ),
            (Antialias::Off, "off", "Edges have steps"),
            (Antialias::Smaa, "SMAA", "Edges are smoothed by their shape"),
            (
                Antialias::Temporal,
                "temporal",
                "Frames are averaged along their motion; coarse ones fill in",
            ),
        ];
        let choices = choices.map(|(filter, name, tip)| (filter, name.to_owned(), tip));
        let now = image.antialias;
        image.antialias = list(ui, "antialias", 0.0, now, &choices).unwrap_or(now);
    });
    let tip = "Samples per pixel once nothing moves; 1 keeps the filtered picture";
    let samples = DragValue::new(&mut state.config.window.still_samples);
    let samples = samples.range(Window::STILL_SAMPLES).suffix(" samples");
    Row::new("still picture", &["window.still_samples"], tip).show(ui, edits, |ui| ui.add(samples));
    more(ui, state, "Image", |ui, state| {
        let config = &mut state.config;
        let is_metered = config.image.is_metered();
        metering(ui, &mut config.exposure, is_metered, edits);
        let tip = "Adds noise of one level of eight bits, so that smooth colours show no bands";
        Row::new("dither", &["image.dither"], tip).show(ui, edits, |ui| {
            ui.checkbox(&mut config.image.dither, "against bands")
        });
    });
}

/// The source of the exposure.
fn exposure(ui: &mut Ui, image: &mut Image, now_ev: f32, edits: &mut Edits) {
    let tip = "What brings the radiance to the display, in stops (EV). Drag the number for a fixed exposure";
    Row::new("exposure", &["image.exposure"], tip).show(ui, edits, |ui| {
        // A fixed exposure starts from the current one.
        let mut ev = now_ev;
        let from_lights = "From the lights, the sun and the environment";
        let from_picture = "From the luminance of the picture";
        let choices = [
            (ExposureMode::Auto, "lights".to_owned(), from_lights),
            (ExposureMode::Histogram, "picture".to_owned(), from_picture),
            (
                ExposureMode::Stops(ev),
                "fixed".to_owned(),
                "As many stops as the number says",
            ),
        ];
        if let Some(mode) = list(ui, "exposure", 100.0, image.exposure, &choices) {
            image.exposure = mode;
        }
        if number(ui, &mut ev, 0.05, ExposureMode::STOPS, hundredths(" EV")) {
            image.exposure = ExposureMode::Stops(ev);
        }
    });
}

/// How an exposure follows the picture.
fn metering(ui: &mut Ui, settings: &mut Exposure, is_metered: bool, edits: &mut Edits) {
    let why = (!is_metered).then_some("the exposure does not follow the picture");
    let tip = "Stops that are added to the metered exposure";
    Row::new("brighter by", &["exposure.compensation"], tip)
        .idle(why)
        .show(ui, edits, |ui| {
            let value = &mut settings.compensation;
            slide(
                ui,
                value,
                -5.0..=5.0,
                Exposure::COMPENSATION,
                hundredths(" EV"),
            )
        });
    let tip = "Percentiles of luminance between which pixels are metered; black pixels never are";
    Row::new("metered", &["exposure.percentiles"], tip)
        .idle(why)
        .show(ui, edits, |ui| {
            let [low, high] = settings.percentiles;
            let Rising { range, gap } = Exposure::PERCENTILES;
            let ranges = [*range.start()..=high - gap, low + gap..=*range.end()];
            let percent = Digits {
                decimals: 1,
                suffix: " %",
            };
            for (share, range) in settings.percentiles.iter_mut().zip(ranges) {
                number(ui, share, 0.25, range, percent);
            }
        });
    let tip = "Seconds in which the picture comes near a new exposure; 0 is at once";
    let adaptation = &mut settings.adaptation;
    Row::new("adapts in", &["exposure.adaptation"], tip)
        .idle(why)
        .show(ui, edits, |ui| {
            slide(
                ui,
                adaptation,
                0.0..=10.0,
                Exposure::ADAPTATION,
                hundredths(" s"),
            )
        });
}
