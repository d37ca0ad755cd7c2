//! The section `Laboratory`: rays through other structures, by other walks and tests, in the picture.

use super::trees::{cost_ends, cost_words};
use crate::{
    app::{
        state::State,
        ui::{
            facts::Facts,
            magnitudes::legend,
            rows::{Digits, Edits, Row, choose, list, number},
            style::{compact, digits, grouped, line, significant},
        },
    },
    config::{CostCount, Lab, LabRays, LabShow, LabStructure, LabTest, LabThreads, LabWalk},
    output::numbers,
    render::{Channel, LabBuild, LabFigures},
};
use egui::{RichText, Ui};

const HIDDEN: &str = "the channel lab is not shown";

pub(super) fn show(ui: &mut Ui, state: &mut State, facts: &Facts<'_>, edits: &mut Edits) {
    let mut is_shown = state.channel == Channel::Lab;
    let tip = "Traces the rays of every pixel once more, through a structure of the laboratory, and shows what they find: \
               the channel lab. canopy's own rays stay as they are";
    Row::new("laboratory", &[], tip).show(ui, edits, |ui| {
        if ui.checkbox(&mut is_shown, "shown").changed() {
            state.channel = match is_shown {
                true => Channel::Lab,
                false => Channel::Lit,
            };
        }
    });
    let why = (!is_shown).then_some(HIDDEN);
    ways(ui, &mut state.config.lab, why, edits);
    if let Some(moved) = state.lab.moved.clone().filter(|_| is_shown) {
        line(ui, RichText::new(moved).weak());
    }
    shown(ui, state, facts, why, edits);
    if !is_shown {
        return;
    }
    match &state.lab.built {
        None => {
            line(ui, RichText::new("building…").weak());
        }
        Some(Err(why)) => {
            ui.label(RichText::new(why).weak());
        }
        Some(Ok((build, figures))) => {
            if state.lab.lags {
                line(
                    ui,
                    RichText::new("of a moment or a choice before; building…").weak(),
                );
            }
            self::figures(ui, *build, *figures, facts, edits);
        }
    }
}

/// Which rays, and how they are traced.
fn ways(ui: &mut Ui, settings: &mut Lab, why: Option<&str>, edits: &mut Edits) {
    Row::new("rays", &["lab.rays"], "Which rays are traced")
        .idle(why)
        .show(ui, edits, |ui| {
            let choices = LabRays::ALL.map(|rays| (rays, rays.name(), rays_words(rays)));
            choose(ui, &mut settings.rays, &choices);
        });
    let tip = "How a ray is tested against a triangle";
    Row::new("test", &["lab.test"], tip)
        .idle(why)
        .show(ui, edits, |ui| {
            let choices = LabTest::ALL.map(|test| (test, test.name().into(), test_words(test)));
            if let Some(test) = list(ui, "lab test", 0.0, settings.test, &choices) {
                settings.test = test;
            }
        });
    let tip = "What is built over the triangles. Where the walk does not go through it, another walk is taken";
    Row::new("structure", &["lab.structure"], tip)
        .idle(why)
        .show(ui, edits, |ui| {
            let choices = LabStructure::ALL.map(|s| (s, s.name().into(), structure_words(s)));
            let chosen = list(ui, "lab structure", 0.0, settings.structure, &choices);
            settings.structure = chosen.unwrap_or(settings.structure);
        });
    let tip =
        "How rays go through it. Where it does not go through the structure, another one is built";
    Row::new("walk", &["lab.walk"], tip)
        .idle(why)
        .show(ui, edits, |ui| {
            let choices = LabWalk::ALL.map(|walk| (walk, walk.name().into(), walk_words(walk)));
            if let Some(walk) = list(ui, "lab walk", 0.0, settings.walk, &choices) {
                settings.walk = walk;
            }
        });
    Row::new("kernel", &["lab.threads"], "Who takes which ray")
        .idle(why)
        .show(ui, edits, |ui| {
            let choices = LabThreads::ALL.map(|threads| {
                let words = match threads {
                    LabThreads::PerRay => "A thread a ray",
                    LabThreads::Persistent => {
                        "At most 512 workgroups, whose threads take rays from a counter"
                    }
                };
                (threads, threads.name(), words)
            });
            choose(ui, &mut settings.threads, &choices);
        });
    let is_tree = settings.structure.has(LabWalk::Private);
    let why = why.or((!is_tree).then_some("only trees have leaves"));
    Row::new("leaf", &["lab.leaf"], "Triangles of a tree's leaf, at most")
        .idle(why)
        .show(ui, edits, |ui| {
            let drag = egui::DragValue::new(&mut settings.leaf)
                .range(Lab::LEAF)
                .speed(0.05);
            ui.add(drag);
        });
}

/// What is shown of them, and what the colours stand for.
fn shown(ui: &mut Ui, state: &mut State, facts: &Facts<'_>, why: Option<&str>, edits: &mut Edits) {
    let settings = &mut state.config.lab;
    Row::new("show", &["lab.show"], "What the picture shows of the rays")
        .idle(why)
        .show(ui, edits, |ui| {
            let choices =
                LabShow::ALL.map(|show| (show, show_title(show).into(), show_words(show)));
            let chosen = list(ui, "lab show", 0.0, settings.show, &choices);
            settings.show = chosen.unwrap_or(settings.show);
        });
    let is_counted = settings.show.weights().is_some();
    let found = facts.stats.cost_range;
    let tip =
        "How many the brightest colour stands for; auto is what 99 % of the pixels do not exceed";
    Row::new("range", &["lab.range"], tip)
        .idle(why.or((!is_counted).then_some("only nodes and triangles have a range")))
        .show(ui, edits, |ui| {
            let now = found.map_or(256.0, |found| found.range);
            let mut auto = settings.range == 0.0;
            if ui.checkbox(&mut auto, "auto").changed() {
                settings.range = if auto { 0.0 } else { now };
            }
            let mut range = if auto { now } else { settings.range };
            let whole = Digits {
                decimals: 0,
                suffix: "",
            };
            let drag = |ui: &mut Ui| number(ui, &mut range, 4.0, 1.0..=1e6, whole);
            if ui.add_enabled_ui(!auto, drag).inner {
                settings.range = range;
            }
        });
    let is_heat = state.channel == Channel::Lab && state.channel.heat(&state.config).is_some();
    if let Some(found) = found.filter(|_| is_heat) {
        Row::new("colours", &[], heat_words(state)).show(ui, edits, |ui| {
            let [least, most] = cost_ends(found);
            legend(ui, 0.0, [&least, &most]);
        });
    }
}

/// What the colours of the channel that is shown stand for.
pub(in crate::app::ui) fn heat_words(state: &State) -> &'static str {
    if state.channel != Channel::Lab {
        return cost_words(state.config.cost.count);
    }
    match state.config.lab.show {
        LabShow::Nodes => cost_words(CostCount::Nodes),
        LabShow::Triangles => cost_words(CostCount::Triangles),
        LabShow::Divergence => "percent of waiting in lockstep",
        _ => cost_words(CostCount::Both),
    }
}

/// What the structure is like, and what the rays did.
fn figures(
    ui: &mut Ui,
    build: LabBuild,
    figures: LabFigures,
    facts: &Facts<'_>,
    edits: &mut Edits,
) {
    let mut row = |name: &str, tip: &str, value: String| {
        Row::new(name, &[], tip).show(ui, edits, |ui| ui.label(digits(&value)));
    };
    if let Some(counts) = facts.stats.lab.filter(|counts| counts.rays > 0) {
        let speed = match facts.stats.lab_mrays(facts.has_gpu) {
            Some(speed) => significant(speed),
            None if facts.has_gpu => "…".into(),
            None => "not told in software".into(),
        };
        let tip = "Millions of rays a second, by the GPU's time of the last frame";
        row("Mrays/s", tip, speed);
        let share = numbers::percent(counts.a_ray(counts.hits));
        let rays = format!("{}, {share} hit", compact(counts.rays));
        row(
            "rays",
            "Rays of the frame, and how many hit something",
            rays,
        );
        let two = |number: f64| format!("{number:.2}");
        let tip = "Nodes, or cells, that a ray visits, in the mean";
        row("nodes a ray", tip, two(counts.a_ray(counts.nodes)));
        let tip = "Triangles that a ray is tested against, in the mean";
        row("triangles a ray", tip, two(counts.a_ray(counts.triangles)));
        let tip = "Nodes and triangles of the slowest of 32 neighbours, for each 32 rays: what rays in lockstep pay";
        row("steps of 32", tip, two(counts.lockstep()));
        let tip =
            "Hits that are not those of canopy's own trees; show the difference to compare them";
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
    let tip = "Nodes of the structure, or cells, or planes";
    row(nodes, tip, compact(figures.nodes.into()));
    let tip = "Bytes of nodes, links and triangles";
    row("memory", tip, numbers::bytes(figures.bytes));
    let tip = "Time to build it, by the clock, without laying it out for the walk";
    let text = format!(
        "{} ms, {} triangles",
        significant(figures.build_ms),
        compact(figures.triangles.into())
    );
    row("built in", tip, text);
}

fn rays_words(rays: LabRays) -> &'static str {
    match rays {
        LabRays::Primary => "From the eye, to the closest hit",
        LabRays::Shadow => "From what the eye sees to the first light that reaches it, to any hit",
    }
}

fn test_words(test: LabTest) -> &'static str {
    match test {
        LabTest::Areas => "Three areas add up to the whole, as lectures begin",
        LabTest::MollerTrumbore => "Cramer's rule on the edges (Möller and Trumbore 1997)",
        LabTest::BaldwinWeber => {
            "A map to the unit triangle that keeps an axis (Baldwin and Weber 2016)"
        }
        LabTest::UnitTriangle => "A map to the unit triangle (Woop 2004)",
        LabTest::Plucker => "Edge functions by Plücker coordinates",
        LabTest::Watertight => "Corners projected along the ray (Woop, Benthin and Wald 2013)",
    }
}

fn structure_words(structure: LabStructure) -> &'static str {
    match structure {
        LabStructure::Radix => "canopy's radix tree, built on the GPU",
        LabStructure::Ploc => "canopy's clustered tree, built on the GPU",
        LabStructure::Sah => "A tree by the surface area heuristic, built on the CPU",
        LabStructure::Grid => "A uniform grid, built on the CPU",
        LabStructure::TwoLevel => "A grid of grids, built on the CPU",
        LabStructure::KdTree => "A kd-tree, built on the CPU",
    }
}

fn walk_words(walk: LabWalk) -> &'static str {
    match walk {
        LabWalk::Private => "A tree, with a stack in private memory",
        LabWalk::Workgroup => "A tree, with a stack in workgroup memory",
        LabWalk::Restart => "A tree, with four entries in registers and restarts (Laine 2010)",
        LabWalk::Parents => "A tree, up by links to parents, without a stack",
        LabWalk::Skip => "A tree, from left to right by skip links, without a stack",
        LabWalk::Wide => "A tree of four children a node",
        LabWalk::Grid => "From cell to cell of a grid",
        LabWalk::TwoLevel => "From cell to cell on two levels",
        LabWalk::KdTree => "A kd-tree, with four entries in registers",
    }
}

fn show_title(show: LabShow) -> &'static str {
    match show {
        LabShow::Both => "nodes + triangles",
        LabShow::Divergence => "lockstep divergence",
        other => other.name(),
    }
}

fn show_words(show: LabShow) -> &'static str {
    match show {
        LabShow::Picture => "What rays hit, by how it faces them; of shadow rays, light and shadow",
        LabShow::Nodes => "Nodes, or cells, that the ray of a pixel visits",
        LabShow::Triangles => "Triangles that the ray of a pixel is tested against",
        LabShow::Both => "Both together",
        LabShow::Divergence => "The share of steps that threads wait for the slowest of 32",
        LabShow::Difference => "Hits that are not those of canopy's own trees, in red",
    }
}
