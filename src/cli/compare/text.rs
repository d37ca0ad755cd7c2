//! A comparison as text and as JSON.

use super::{
    result::{Comparison, ReferenceStats},
    side::{Cost, Drawn},
};
use crate::output::{
    numbers::{duration, percent, significant},
    picture_error::Metric,
};
use serde_json::{Value, json};
use std::fmt::Write;

impl Comparison {
    /// Returns the metric with its parameters.
    pub(super) fn title(&self) -> String {
        match self.metric {
            Metric::Flip { pixels_per_degree } => {
                format!("FLIP, {} px per degree", significant(pixels_per_degree.into()))
            }
            Metric::Rmse if self.a.picture.is_linear => "RMSE of linear radiance".into(),
            Metric::Rmse => "RMSE of sRGB values".into(),
        }
    }

    /// Returns the label of the mean error below the metric's title.
    pub(super) fn mean_name(&self) -> &'static str {
        match self.metric {
            Metric::Flip { .. } => "mean",
            Metric::Rmse => "RMSE",
        }
    }

    /// Formats the statistics as lines. Writing to a String cannot fail.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for (letter, side) in [("A", &self.a), ("B", &self.b)] {
            let cost = side.cost.as_ref();
            let cost = cost.map_or(String::new(), |cost| format!(" ({})", cost.text()));
            writeln!(text, "{letter:<12}{}{cost}", side.name.text()).ok();
        }
        let [width, height] = self.a.picture.size;
        let error = &self.error;
        let [x, y] = error.max_at;
        writeln!(text, "size        {width}×{height}").ok();
        writeln!(text, "metric      {}", self.title()).ok();
        let mean = self.mean_name();
        writeln!(text, "{mean:<12}{}", significant(error.mean)).ok();
        write!(text, "maximum     {}", significant(error.max.into())).ok();
        text += &match error.max > 0.0 {
            true => format!(" at {x},{y}\n"),
            false => "\n".into(),
        };
        writeln!(text, "differing   {} of the pixels", percent(error.differing)).ok();
        if let Some(truth) = &self.truth {
            text += &truth.text();
        }
        text
    }

    /// Formats the statistics as JSON. Infinite values are `null`.
    pub(super) fn json(&self) -> Value {
        let error = &self.error;
        let (metric, pixels_per_degree) = match self.metric {
            Metric::Flip { pixels_per_degree } => ("flip", Some(pixels_per_degree)),
            Metric::Rmse => ("rmse", None),
        };
        let mut json = json!({
            "metric": metric,
            "pixels_per_degree": pixels_per_degree,
            "size": self.a.picture.size,
            "mean": error.mean,
            "max": error.max,
            "max_at": error.max_at,
            "differing": error.differing,
            "tolerance": self.tolerance,
            "a": side(&self.a),
            "b": side(&self.b),
        });
        if let Some(truth) = &self.truth {
            json["reference"] = truth.json();
        }
        json
    }
}

impl ReferenceStats {
    /// Formats the statistics as lines. Writing to a String cannot fail.
    fn text(&self) -> String {
        let mut text = String::new();
        for (name, value, what) in [
            ("FLIP", self.flip, "of the pictures, mean"),
            ("RMSE", self.rmse, "of sRGB values"),
            ("", self.radiance_rmse, "of linear radiance"),
        ] {
            writeln!(text, "{name:<12}{} {what}", significant(value)).ok();
        }
        for (name, means, what) in [
            ("luminance", self.mean_radiance, "of radiance, mean"),
            ("", self.mean_displayed, "as displayed, mean"),
        ] {
            let [a, b] = means.map(significant);
            writeln!(text, "{name:<12}A {a}, B {b} {what}").ok();
        }
        text
    }

    fn json(&self) -> Value {
        json!({
            "exposure_ev": self.exposure_ev,
            "flip": self.flip,
            "rmse": self.rmse,
            "radiance_rmse": self.radiance_rmse,
            "mean_radiance": self.mean_radiance,
            "mean_displayed": self.mean_displayed,
        })
    }
}

fn side(side: &Drawn) -> Value {
    let cost = side.cost.as_ref();
    json!({
        "file": side.name.file.as_ref().map(|file| file.display().to_string()),
        "with": side.name.with,
        "adapter": cost.map(|cost| &cost.adapter),
        "gpu_ms": cost.and_then(|cost| cost.gpu_ms),
        "wall_ms": cost.map(|cost| cost.wall_ms),
        "frames": cost.map(|cost| cost.frames),
        "paths": cost.and_then(|cost| cost.paths),
    })
}

impl Cost {
    /// Formats the time of a frame, or of all paths.
    pub(super) fn text(&self) -> String {
        match (self.paths, self.gpu_ms) {
            (Some(1), _) => format!("1 path per pixel, {}", duration(self.wall_ms / 1e3)),
            (Some(paths), _) => format!("{paths} paths per pixel, {}", duration(self.wall_ms / 1e3)),
            (None, Some(ms)) => format!("{ms:.2} ms on the GPU"),
            (None, None) => format!("{:.2} ms", self.wall_ms),
        }
    }
}
