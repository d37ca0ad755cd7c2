//! Deviations in words, as JSON and as CSV.

use super::{
    measure::Surface,
    result::Deviation,
    statistics::{Extreme, Statistics},
};
use crate::cli::numbers::{grouped, significant};
use serde_json::{Value, json};
use std::fmt::Write;

impl Deviation<'_> {
    /// The statistics as lines. Writing to a String cannot fail.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for (name, surface) in [("A", self.a), ("B", self.b)] {
            let count = grouped(surface.shown.indices.len() as u64);
            let path = surface.path.display();
            writeln!(text, "{name}                 {path} ({count} triangles)").ok();
        }
        statistics_text(&mut text, &self.statistics, self.tolerance);
        if let Some(back) = &self.back {
            text.push_str("\nB, measured from A\n");
            statistics_text(&mut text, back, self.tolerance);
            let largest = significant(self.statistics.largest().max(back.largest()));
            writeln!(text, "\nHausdorff         {largest}").ok();
        }
        text
    }

    pub(super) fn json(&self) -> Value {
        let of = |surface: &Surface| {
            json!({
                "file": surface.path.display().to_string(),
                "triangles": surface.shown.indices.len(),
                "size": surface.signed.size(),
                "open_edges": surface.signed.open_edges(),
            })
        };
        let mut value = json!({
            "a": of(self.a),
            "b": of(self.b),
            "tolerance": self.tolerance,
            "vertices": self.vertices.len(),
            "a_to_b": statistics_json(&self.statistics, self.a),
        });
        if let Some(back) = &self.back {
            value["b_to_a"] = statistics_json(back, self.b);
            value["hausdorff"] = self.statistics.largest().max(back.largest()).into();
        }
        value
    }

    /// A row for each vertex, with as many digits as an f32 has.
    pub(super) fn csv(&self) -> String {
        let mut text = String::from(
            "x,y,z,distance,mesh,nearest_x,nearest_y,nearest_z,nearest_mesh,nearest_triangle\n",
        );
        for measured in &self.vertices {
            let (point, nearest) = (measured.point, measured.nearest);
            let [x, y, z] = point.position.to_array();
            let [mesh, _] = self.a.shown.name(point.triangle);
            let distance = nearest.distance as f32;
            let [nx, ny, nz] = nearest.position.as_vec3().to_array();
            let [near_mesh, triangle] = self.b.shown.name(nearest.triangle);
            writeln!(
                text,
                "{x},{y},{z},{distance},{mesh},{nx},{ny},{nz},{near_mesh},{triangle}"
            )
            .ok();
        }
        text
    }
}

fn statistics_text(text: &mut String, statistics: &Statistics, tolerance: Option<f64>) {
    let at = |extreme: &Extreme| {
        let [x, y, z] = extreme.position.to_array().map(significant);
        format!("{:<12} at {x}, {y}, {z}", significant(extreme.distance))
    };
    writeln!(text, "minimum           {}", at(&statistics.min)).ok();
    writeln!(text, "maximum           {}", at(&statistics.max)).ok();
    writeln!(text, "mean              {}", significant(statistics.mean)).ok();
    writeln!(text, "RMS               {}", significant(statistics.rms)).ok();
    if let (Some([below, above]), Some(tolerance)) = (statistics.out, tolerance) {
        let [out, below, above] = [below + above, below, above].map(percent);
        let tolerance = significant(tolerance);
        writeln!(
            text,
            "out of tolerance  {out} of the area: {below} below -{tolerance}, {above} above it"
        )
        .ok();
    }
}

fn statistics_json(statistics: &Statistics, of: &Surface) -> Value {
    let extreme = |extreme: &Extreme| {
        let [mesh, triangle] = of.shown.name(extreme.triangle);
        json!({
            "distance": extreme.distance,
            "position": extreme.position.to_array(),
            "mesh": mesh,
            "triangle": triangle,
            "nearest": extreme.nearest.to_array(),
        })
    };
    let bins = statistics.histogram.len();
    let (low, high) = (statistics.min.distance, statistics.max.distance);
    let edge = |i: usize| low + (high - low) * i as f64 / bins as f64;
    let edges: Vec<f64> = (0..=bins).map(edge).collect();
    json!({
        "samples": statistics.samples,
        "min": extreme(&statistics.min),
        "max": extreme(&statistics.max),
        "mean": statistics.mean,
        "rms": statistics.rms,
        "out_of_tolerance": statistics.out.map(|[below, above]| below + above),
        "below_tolerance": statistics.out.map(|[below, _]| below),
        "above_tolerance": statistics.out.map(|[_, above]| above),
        "histogram": { "edges": edges, "shares": statistics.histogram },
    })
}

/// A share with one decimal, but never 0 % of something or 100 % of less than all.
pub(super) fn percent(share: f64) -> String {
    match 100.0 * share {
        less if less > 0.0 && less < 0.05 => "< 0.1 %".into(),
        more if (99.95..100.0 - 1e-9).contains(&more) => "> 99.9 %".into(),
        percent => format!("{percent:.1} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_not_rounded_to_nothing_or_all() {
        for (share, text) in [
            (0.0, "0.0 %"),
            (1e-5, "< 0.1 %"),
            (0.1234, "12.3 %"),
            (0.99999, "> 99.9 %"),
            (1.0, "100.0 %"),
        ] {
            assert_eq!(percent(share), text);
        }
    }
}
