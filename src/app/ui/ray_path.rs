//! The way of a ray through the trees, step by step.

use super::{
    rows::{Edits, Row, choose},
    style::{digits, grouped, line},
};
use crate::{
    app::{keys::Action, selected::mesh_name, state::State},
    output::numbers::significant,
    render::{PathOf, PathStep, RayPath},
};
use egui::{Button, RichText, Slider, Ui};

/// Steps that are listed on either side of the current one.
const AROUND: usize = 4;

/// Traces a ray, and goes through its steps.
pub(super) fn show(ui: &mut Ui, state: &mut State, edits: &mut Edits) {
    let tip = "The way of a pixel's rays through the trees. Key Shift+R";
    Row::new("trace a ray", &[], tip).show(ui, edits, |ui| {
        let mut traces = state.tree_view.traces;
        let tip = "A click traces the rays of its pixel, in place of selecting";
        if ui
            .checkbox(&mut traces, "by a click")
            .on_hover_text(tip)
            .changed()
        {
            state.actions.push(Action::TraceRay);
        }
    });
    if !state.tree_view.traces {
        return;
    }
    let tip = "Which rays of the pixel";
    Row::new("rays", &[], tip).show(ui, edits, |ui| {
        let choices = [
            (PathOf::Camera, "camera", "The ray from the camera to the nearest hit"),
            (
                PathOf::Shadow,
                "shadow",
                "The shadow rays that the frame has sent to all lights: they visit what the channel cost counts",
            ),
        ];
        choose(ui, &mut state.tree_view.path_of, &choices);
    });
    let Some(path) = state.tree_view.path.clone() else {
        line(ui, RichText::new("click on the scene").weak());
        return;
    };
    let tip = "Nodes that the rays have visited, and triangles that were tested";
    Row::new("visited", &[], tip).show(ui, edits, |ui| {
        let [nodes, triangles] = [path.nodes, path.triangles].map(|count| grouped(count.into()));
        ui.label(digits(format!("{nodes} nodes, {triangles} triangles")));
    });
    let kept = path.steps.len();
    if kept == 0 {
        line(ui, RichText::new("no ray was sent").weak());
        return;
    }
    let tip = "The step that is shown: boxes up to it are drawn, and its own is cyan. Keys . and ,";
    Row::new("step", &[], tip).show(ui, edits, |ui| {
        let mut number = state.tree_view.step + 1;
        if ui.add(Slider::new(&mut number, 1..=kept)).changed() {
            state.tree_view.step = number.clamp(1, kept) - 1;
        }
    });
    if path.step_count as usize > kept {
        let text = format!("the first of {} steps", grouped(path.step_count.into()));
        line(ui, RichText::new(text).weak());
    }
    list(ui, state, &path);
}

/// The steps around the current one; a click goes to one.
fn list(ui: &mut Ui, state: &mut State, path: &RayPath) {
    let kept = path.steps.len();
    let now = state.tree_view.step.min(kept - 1);
    let first = now
        .saturating_sub(AROUND)
        .min(kept.saturating_sub(2 * AROUND + 1));
    let last = (first + 2 * AROUND + 1).min(kept);
    let nodes: Vec<_> = match &state.stage {
        Some(stage) => stage.scene.instances().map(|(node, _)| node).collect(),
        None => Vec::new(),
    };
    let name = |mesh: u32| match (&state.stage, nodes.get(mesh as usize)) {
        (Some(stage), Some(node)) => mesh_name(&stage.scene, *node),
        _ => format!("mesh {mesh}"),
    };
    let mut chosen = None;
    for (number, step) in path.steps[first..last].iter().enumerate() {
        let (number, [text, tip]) = (first + number, words(step, &name));
        let text = format!("{}  {text}", number + 1);
        let row = ui.add(Button::selectable(number == now, text).truncate());
        if row.on_hover_text(tip).clicked() {
            chosen = Some(number);
        }
    }
    state.tree_view.step = chosen.unwrap_or(state.tree_view.step);
}

/// A step in a line, and in more words.
fn words(step: &PathStep, name: &dyn Fn(u32) -> String) -> [String; 2] {
    let metres = |t: f32| significant(f64::from(t));
    let far = |t: f32| {
        format!(
            "the nearest hit so far, or the ray's end, is at {}",
            metres(t)
        )
    };
    match step {
        PathStep::Ray { origin, t_max, .. } => [
            "a ray begins".into(),
            format!("At {origin}; it ends at {}", metres(*t_max)),
        ],
        PathStep::Node {
            number,
            mesh,
            depth,
            children,
            t_max,
            ..
        } => {
            let entered = children
                .iter()
                .flatten()
                .filter(|(_, enter)| enter.is_some());
            let of = match mesh {
                Some(mesh) => name(*mesh),
                None => "the top tree".into(),
            };
            let present = children.iter().flatten();
            let boxes = present.clone().map(|(leaves, enter)| match enter {
                Some(enter) => format!("{leaves} leaves entered at {}", metres(*enter)),
                None => format!("{leaves} leaves missed"),
            });
            let boxes: Vec<_> = boxes.collect();
            [
                format!(
                    "node, depth {depth}: {} of {} boxes hit",
                    entered.count(),
                    present.count()
                ),
                format!(
                    "Node {number} of {of}. Boxes of its children: {}; {}",
                    boxes.join(", "),
                    far(*t_max)
                ),
            ]
        }
        PathStep::Triangle {
            mesh,
            triangle,
            t,
            t_max,
            ..
        } => {
            let text = match t {
                Some(t) => format!("triangle: hit at {}", metres(*t)),
                None => "triangle: missed".into(),
            };
            [
                text,
                format!(
                    "Triangle {triangle} of all, of {}; {}",
                    name(*mesh),
                    far(*t_max)
                ),
            ]
        }
        PathStep::Answer { is_accepted } => {
            let text = match is_accepted {
                true => "any-hit test: accepted",
                false => "any-hit test: rejected",
            };
            [
                text.into(),
                "What the alpha of the triangle before makes of its hit".into(),
            ]
        }
    }
}
