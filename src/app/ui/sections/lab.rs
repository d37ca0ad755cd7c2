//! The lab: rays through other structures, with other traversals and intersection tests, in the picture.

use crate::{
    app::{
        state::State,
        ui::{
            facts::Facts,
            magnitudes::legend,
            rows::{Edits, Row},
            sections::trees::{cost_ends, cost_words},
            style::{compact, digits, grouped, line, significant},
        },
    },
    config::{CostCount, LabShow, LabWalk},
    lab::{LabBuild, LabStatistics, view::heat_of},
    output::numbers,
    render::Channel,
};
use egui::{RichText, Ui};

/// Shows the switch for the channel.
pub(in crate::app) fn switch(ui: &mut Ui, state: &mut State, _: &Facts<'_>, edits: &mut Edits) {
    let mut is_shown = state.picture.channel == Channel::Lab;
    let tip = "Shows the channel lab: the rays of every pixel are traced again, through an acceleration \
               structure of the laboratory";
    Row::new("laboratory", &["laboratory"], tip).show(ui, edits, |ui| {
        if ui.checkbox(&mut is_shown, "shown").changed() {
            state.picture.channel = match is_shown {
                true => Channel::Lab,
                false => Channel::Lit,
            };
        }
    });
}

/// Shows the figures of the structure and of the rays while the channel `lab` is shown.
pub(in crate::app) fn result(ui: &mut Ui, state: &mut State, facts: &Facts<'_>, edits: &mut Edits) {
    if state.picture.channel != Channel::Lab {
        return;
    }
    if let Some(moved) = &state.trees.lab.moved {
        ui.label(RichText::new(moved).weak());
    }
    colours(ui, state, facts, edits);
    match &state.trees.lab.built {
        None => {
            line(ui, RichText::new("building…").weak());
        }
        Some(Err(why)) => {
            ui.label(RichText::new(why).weak());
        }
        Some(Ok((build, figures))) => {
            if state.trees.lab.lags {
                line(ui, RichText::new("out of date; building…").weak());
            }
            self::figures(ui, *build, *figures, facts, edits);
        }
    }
}

/// Shows the legend of the counts.
fn colours(ui: &mut Ui, state: &State, facts: &Facts<'_>, edits: &mut Edits) {
    let found = facts.stats.cost_range;
    let is_heat = heat_of(state.picture.channel, &state.config, &state.config.lab).is_some();
    if let Some(found) = found.filter(|_| is_heat) {
        Row::new("colours", &[], heat_words(state)).show(ui, edits, |ui| {
            let [least, most] = cost_ends(found);
            legend(ui, 0.0, [&least, &most]);
        });
    }
}

/// Returns the meaning of the colours of the current channel.
pub(in crate::app) fn heat_words(state: &State) -> &'static str {
    if state.picture.channel != Channel::Lab {
        return cost_words(state.config.cost.count);
    }
    match state.config.lab.show {
        LabShow::Nodes => cost_words(CostCount::Nodes),
        LabShow::Triangles => cost_words(CostCount::Triangles),
        LabShow::Divergence => "percent of steps in which a thread idles",
        _ => cost_words(CostCount::Both),
    }
}

/// Shows the counts of the rays, and the figures of the structure.
fn figures(ui: &mut Ui, build: LabBuild, figures: LabStatistics, facts: &Facts<'_>, edits: &mut Edits) {
    let mut row = |name: &str, tip: &str, value: String| {
        Row::new(name, &[], tip).show(ui, edits, |ui| ui.label(digits(&value)));
    };
    if let Some(counts) = facts.lab.filter(|counts| counts.rays > 0) {
        let speed = match counts.mrays(facts.stats, facts.has_gpu) {
            Some(speed) => significant(speed),
            None if facts.has_gpu => "…".into(),
            None => "needs a GPU".into(),
        };
        let tip = "Millions of rays per second, by the GPU time of the last frame";
        row("Mrays/s", tip, speed);
        let share = numbers::percent(counts.a_ray(counts.hits));
        let rays = format!("{}, {share} hit", compact(counts.rays));
        row(
            "rays",
            "Rays of the frame, and the fraction that hits something",
            rays,
        );
        let two = |number: f64| format!("{number:.2}");
        let tip = "Mean number of nodes, or cells, that a ray visits";
        row("nodes per ray", tip, two(counts.a_ray(counts.nodes)));
        let tip = "Mean number of triangle tests per ray";
        row("tests per ray", tip, two(counts.a_ray(counts.triangles)));
        let tip = "Nodes and triangles of the slowest of 32 neighbouring rays: the cost of rays in lockstep";
        row("lockstep steps", tip, two(counts.lockstep()));
        let tip = "Hits that differ from canopy's own BVH. Set show to difference to see them";
        let wrong = match counts.wrong {
            Some(wrong) => grouped(wrong),
            None => "not compared".into(),
        };
        row("wrong pixels", tip, wrong);
    }
    let nodes = match build.structure.has(LabWalk::Private) {
        true => "nodes",
        false => "cells, planes",
    };
    let tip = "Nodes of the structure, or its cells or planes";
    row(nodes, tip, compact(figures.nodes.into()));
    let tip = "Memory of nodes, links and triangles";
    row("memory", tip, numbers::bytes(figures.bytes));
    let tip = "Build time on the CPU, without the conversion for the traversal";
    row("built in", tip, format!("{} ms", significant(figures.build_ms)));
    row(
        "triangles",
        "Triangles of the structure",
        compact(figures.triangles.into()),
    );
}
