//! A comparison in words and as JSON.

use super::{
    result::Comparison,
    side::{Cost, Drawn},
};
use crate::output::{
    numbers::{percent, significant},
    picture_error::Metric,
};
use serde_json::{Value, json};
use std::fmt::Write;

impl Comparison {
    /// The metric with what it depends on.
    pub(super) fn title(&self) -> String {
        match self.metric {
            Metric::Flip { pixels_per_degree } => {
                format!(
                    "FLIP, {} px per degree",
                    significant(pixels_per_degree.into())
                )
            }
            Metric::Rmse if self.a.picture.is_linear => "RMSE of linear radiance".into(),
            Metric::Rmse => "RMSE of sRGB values".into(),
        }
    }

    /// What the mean is called beside the metric.
    pub(super) fn mean_name(&self) -> &'static str {
        match self.metric {
            Metric::Flip { .. } => "mean",
            Metric::Rmse => "RMSE",
        }
    }

    /// The figures as lines. Writing to a String cannot fail.
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
        writeln!(
            text,
            "differing   {} of the pixels",
            percent(error.differing)
        )
        .ok();
        text
    }

    /// The figures. What is infinite is `null`.
    pub(super) fn json(&self) -> Value {
        let error = &self.error;
        let (metric, pixels_per_degree) = match self.metric {
            Metric::Flip { pixels_per_degree } => ("flip", Some(pixels_per_degree)),
            Metric::Rmse => ("rmse", None),
        };
        json!({
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
    })
}

impl Cost {
    /// The time of a frame.
    pub(super) fn text(&self) -> String {
        match self.gpu_ms {
            Some(ms) => format!("{ms:.2} ms on the GPU"),
            None => format!("{:.2} ms", self.wall_ms),
        }
    }
}
