//! Deviations as text, JSON and CSV.

use super::{result::Deviation, surface::Surface};
use crate::{
    output::{
        deviation_text::lines,
        numbers::{grouped, significant},
    },
    scene::deviation::{Extreme, Statistics},
};
use serde_json::{Value, json};
use std::fmt::Write;

impl Deviation<'_> {
    /// Formats the statistics as lines. Writing to a String cannot fail.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for (name, surface) in [("A", self.a), ("B", self.b)] {
            let count = grouped(surface.triangles().len() as u64);
            let path = surface.path.display();
            writeln!(text, "{name}                 {path} ({count} triangles)").ok();
        }
        text += &lines(&self.statistics);
        if let Some(back) = &self.back {
            text.push_str("\nB, measured from A\n");
            text += &lines(back);
            let largest = significant(self.statistics.largest().max(back.largest()));
            writeln!(text, "\nHausdorff         {largest}").ok();
        }
        text
    }

    pub(super) fn json(&self) -> Value {
        let of = |surface: &Surface| {
            json!({
                "file": surface.path.display().to_string(),
                "triangles": surface.triangles().len(),
                "size": surface.signed().size(),
                "open_edges": surface.signed().open_edges(),
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

    /// Formats a row for each vertex, with enough digits for an f32.
    pub(super) fn csv(&self) -> String {
        let mut text =
            String::from("x,y,z,distance,mesh,nearest_x,nearest_y,nearest_z,nearest_mesh,nearest_triangle\n");
        for measured in &self.vertices {
            let (point, nearest) = (measured.point, measured.nearest);
            let [x, y, z] = point.position.to_array();
            let [mesh, _] = self.a.meshes.name(point.triangle);
            let distance = nearest.distance as f32;
            let [nx, ny, nz] = nearest.position.as_vec3().to_array();
            let [near_mesh, triangle] = self.b.meshes.name(nearest.triangle);
            writeln!(
                text,
                "{x},{y},{z},{distance},{mesh},{nx},{ny},{nz},{near_mesh},{triangle}"
            )
            .ok();
        }
        text
    }
}

fn statistics_json(statistics: &Statistics, of: &Surface) -> Value {
    let extreme = |extreme: &Extreme| {
        let [mesh, triangle] = of.meshes.name(extreme.triangle);
        json!({
            "distance": extreme.distance,
            "position": extreme.position.to_array(),
            "mesh": mesh,
            "triangle": triangle,
            "nearest": extreme.nearest.to_array(),
        })
    };
    let edges: Vec<f64> = statistics.edges().collect();
    json!({
        "samples": statistics.samples,
        "min": extreme(&statistics.min),
        "max": extreme(&statistics.max),
        "mean": statistics.mean,
        "rms": statistics.rms,
        "out_of_tolerance": statistics.out.map(|out| out.share()),
        "below_tolerance": statistics.out.map(|out| out.below),
        "above_tolerance": statistics.out.map(|out| out.above),
        "histogram": { "edges": edges, "shares": statistics.histogram },
    })
}
