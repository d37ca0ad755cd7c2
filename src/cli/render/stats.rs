//! `--stats`: counts, and the times of every frame.

use crate::{
    Result,
    cli::{
        adapters::adapter_json,
        bench::timing::Summary,
        console::json_text,
        info,
        offscreen::{Drawn, Offscreen},
    },
    gpu::profiler::PassTiming,
    output,
    profile::memory::Memory,
    render::{FrameStats, frame::recording::FRAME_SCOPE},
};

use serde_json::{Value, json};
use std::path::Path;

/// Times of the rendered pictures.
#[derive(Debug, Default)]
pub(super) struct Times {
    pictures: Vec<Picture>,
    /// Times of each pass, one per draw, in the order in which the passes first ran.
    passes: Vec<Pass>,
    /// Number of draws so far.
    draws: usize,
}

#[derive(Debug)]
struct Picture {
    frame: u32,
    time_secs: f32,
    wall_ms: f64,
    gpu_ms: Option<f64>,
}

#[derive(Debug)]
struct Pass {
    name: String,
    depth: usize,
    gpu_ms: Vec<f64>,
}

impl Times {
    /// Starts picture `frame` at `time_secs` in its clip.
    pub(super) fn begin(&mut self, frame: u32, time_secs: f32) {
        self.pictures.push(Picture {
            frame,
            time_secs,
            wall_ms: 0.0,
            gpu_ms: None,
        });
    }

    /// Adds a draw of the current picture.
    pub(super) fn add(&mut self, drawn: &Drawn, passes: &[PassTiming]) {
        self.draws += 1;
        for timing in passes {
            let same = |pass: &&mut Pass| (&pass.name, pass.depth) == (&timing.name, timing.depth);
            match self.passes.iter_mut().find(same) {
                Some(pass) => pass.gpu_ms.push(timing.last_ms),
                None => self.passes.push(Pass {
                    name: timing.name.clone(),
                    depth: timing.depth,
                    gpu_ms: vec![timing.last_ms],
                }),
            }
        }
        if let Some(picture) = self.pictures.last_mut() {
            picture.wall_ms += drawn.wall_ms;
            let frame = passes.iter().find(|pass| pass.name == FRAME_SCOPE);
            if let Some(frame) = frame {
                *picture.gpu_ms.get_or_insert(0.0) += frame.last_ms;
            }
        }
    }

    fn frames_json(&self) -> Value {
        let frame = |picture: &Picture| {
            json!({
                "frame": picture.frame,
                "time_secs": picture.time_secs,
                "gpu_ms": picture.gpu_ms,
                "wall_ms": picture.wall_ms,
            })
        };
        self.pictures.iter().map(frame).collect()
    }

    /// Formats every pass with its time in the last draw and its distribution over all draws. The time is 0
    /// if the last draw did not run it. The distribution only covers draws that ran it.
    fn passes_json(&self, last: &FrameStats) -> Value {
        let pass = |pass: &Pass| {
            let same = |timing: &&PassTiming| (&timing.name, timing.depth) == (&pass.name, pass.depth);
            let last_ms = last.passes.iter().find(same).map_or(0.0, |t| t.last_ms);
            let mut json = distribution(&pass.gpu_ms);
            json["name"] = json!(pass.name);
            json["depth"] = json!(pass.depth);
            json["gpu_ms"] = json!(last_ms);
            json["draws"] = json!(pass.gpu_ms.len());
            json
        };
        self.passes.iter().map(pass).collect()
    }

    fn pictures_json(&self) -> Value {
        let gpu: Vec<f64> = self.pictures.iter().filter_map(|p| p.gpu_ms).collect();
        let wall: Vec<f64> = self.pictures.iter().map(|p| p.wall_ms).collect();
        json!({
            "count": self.pictures.len(),
            "draws": self.draws,
            "gpu_ms": distribution(&gpu),
            "wall_ms": distribution(&wall),
        })
    }
}

/// Returns the minimum, median, maximum and 95th percentile of times, or `null` values if there are no times.
fn distribution(times_ms: &[f64]) -> Value {
    let mut json = Summary::of(times_ms).json();
    json["max"] = json!(times_ms.iter().copied().reduce(f64::max));
    json
}

/// Writes the statistics. Counts come from the last frame, `stats`. Memory is the usage at the time of the
/// call.
pub(super) fn write(
    path: &Path,
    offscreen: &Offscreen,
    stats: &FrameStats,
    times: &Times,
    samples: u32,
) -> Result<()> {
    let memory = Memory::now(&offscreen.gpu);
    let report = json!({
        "adapter": adapter_json(&offscreen.gpu.info),
        "size": offscreen.config.output.size,
        "samples": samples,
        "noise": stats.noise.map(|noise| noise.levels),
        "noise_samples": stats.noise.map(|noise| noise.frames),
        "scene": info::counts(&offscreen.scene),
        "pictures": times.pictures_json(),
        "frames": times.frames_json(),
        "passes": times.passes_json(stats),
        "memory": {
            "gpu_bytes": memory.gpu_total().map(|_| memory.kinds_json()),
            "process_bytes": memory.process_bytes,
        },
        "cpu_record_ms": stats.cpu_record_ms,
        "triangles": stats.triangles,
        "lines": stats.lines,
        "points": stats.points,
        "vertices": stats.vertices,
        "meshes": stats.meshes,
        "lights": stats.lights,
        "rays": stats.rays,
        "tiles": stats.tiles,
        "sending_tiles": stats.sending_tiles,
        "reflections": {
            "rays": stats.reflections.rays,
            "tiles": stats.reflections.tiles,
            "hits": stats.reflections.hits,
            "bins": stats.reflections.bins,
        },
        "cells": { "read": stats.cells.read, "cast": stats.cells.cast },
        "lab": lab_json(offscreen, stats),
        "tree_work": stats.tree_work.name(),
        "tree_growth": stats.tree_growth,
        "tree_dispatches": stats.tree_dispatches,
        "exposure_ev": stats.exposure_ev,
        "ground": offscreen.ground.map(|ground| json!({
            "height": ground.middle.y as f32,
            "reach": ground.reach,
            "grid_spacing": (ground.spacing > 0.0).then_some(ground.spacing),
        })),
        "warnings": offscreen.scene.warnings,
    });
    output::write(path, json_text(&report).as_bytes())
}

/// Describes the rays of the channel `lab`, or returns `None` if it was not drawn.
fn lab_json(offscreen: &Offscreen, stats: &FrameStats) -> Option<Value> {
    let lab = offscreen.lab()?;
    let (counts, scene) = (lab.counts()?, lab.scene()?);
    let (build, figures) = (scene.build, scene.figures);
    Some(json!({
        "test": build.test.name(),
        "walk": build.walk.name(),
        "structure": build.structure.name(),
        "threads": offscreen.config.lab.threads.name(),
        "set": offscreen.config.lab.rays.name(),
        "rays": counts.rays,
        "hits": counts.hits,
        "wrong": counts.wrong,
        "mrays_per_s": counts.mrays(stats, offscreen.gpu.capabilities.has_gpu),
        "nodes_per_ray": counts.a_ray(counts.nodes),
        "triangles_per_ray": counts.a_ray(counts.triangles),
        "lockstep_steps": counts.lockstep(),
        "triangles": figures.triangles,
        "nodes": figures.nodes,
        "bytes": figures.bytes,
        "build_ms": figures.build_ms,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timing(name: &str, depth: usize, last_ms: f64) -> PassTiming {
        PassTiming {
            name: name.into(),
            depth,
            last_ms,
            average_ms: last_ms,
            spans: Vec::new(),
        }
    }

    #[test]
    fn statistics_cover_every_frame_and_every_draw() {
        let mut times = Times::default();
        let drawn = Drawn {
            wall_ms: 10.0,
            compile_ms: 0.0,
        };
        let mut last = FrameStats::default();
        for frame in 0..3 {
            times.begin(frame, 0.5 * frame as f32);
            for sample in 0..2 {
                last.passes = vec![
                    timing(FRAME_SCOPE, 0, f64::from(2 * frame + sample + 1)),
                    timing("deform", 1, 0.5),
                ];
                if frame == 0 {
                    last.passes.push(timing("sky", 1, 7.0));
                }
                times.add(&drawn, &last.passes);
            }
        }
        let frames = times.frames_json();
        assert_eq!(frames.as_array().unwrap().len(), 3);
        assert_eq!(frames[1]["gpu_ms"], 7.0);
        assert_eq!(frames[2]["wall_ms"], 20.0);
        assert_eq!(frames[2]["time_secs"], 1.0);
        let passes = times.passes_json(&last);
        let frame = &passes[0];
        assert_eq!([&frame["min"], &frame["median"], &frame["max"]], [1.0, 3.5, 6.0]);
        assert_eq!([&frame["p95"], &frame["gpu_ms"]], [6.0, 6.0]);
        assert_eq!(passes[2]["name"], "sky");
        assert_eq!([&passes[2]["gpu_ms"], &passes[2]["max"]], [0.0, 7.0]);
        assert_eq!(passes[2]["draws"], 2);
        let pictures = times.pictures_json();
        assert_eq!(pictures["gpu_ms"]["max"], 11.0);
        assert_eq!(pictures["draws"], 6);
    }

    #[test]
    fn statistics_without_times_are_null() {
        for key in ["min", "median", "p95", "max"] {
            assert_eq!(distribution(&[])[key], Value::Null);
        }
    }

    /// The percentile is defined as in `canopy bench`.
    #[test]
    fn percentiles_use_the_nearest_rank() {
        let times: Vec<f64> = (1..=20).map(f64::from).collect();
        let found = distribution(&times);
        assert_eq!([&found["p95"], &found["max"]], [19.0, 20.0]);
    }
}
