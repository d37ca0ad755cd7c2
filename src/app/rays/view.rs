//! Step-by-step view of a ray's path through the BVHs.

use crate::{
    app::{
        input::keys::Action,
        inspect::selection::mesh_name,
        state::State,
        ui::{
            facts::Facts,
            rows::{Edits, Row, choose},
            style::{card, compact, digits, grouped, line},
        },
    },
    output::numbers::significant,
    render::{PathStep, RayKind, RayPath},
};
use egui::{Align2, Area, Button, Context, Id, Order, Rect, RichText, Slider, Ui, Vec2};

/// Number of listed steps on either side of the current one.
const AROUND: usize = 4;

/// Width of the step description over the picture, in points.
const STEP_WIDTH: f32 = 440.0;
/// Minimum width of a picture that has room for it, in points.
const MIN_WIDTH: f32 = 200.0;

/// Shows the controls that trace a ray and move through its steps.
pub(in crate::app) fn show(ui: &mut Ui, state: &mut State, _: &Facts<'_>, edits: &mut Edits) {
    let tip = "Path of the rays of a pixel through the BVH";
    Row::new("trace a ray", &["ray path"], tip).show(ui, edits, |ui| {
        let mut traces = state.trees.view.traces;
        let tip = "A click traces the rays of its pixel instead of selecting";
        if ui
            .checkbox(&mut traces, "by a click")
            .on_hover_text(tip)
            .changed()
        {
            state.ui.actions.push(Action::TraceRay);
        }
    });
    if !state.trees.view.traces {
        return;
    }
    let tip = "Selects the rays of the pixel to trace";
    Row::new("rays", &[], tip).show(ui, edits, |ui| {
        let choices = [
            (
                RayKind::Camera,
                "camera",
                "The ray from the camera to the nearest hit",
            ),
            (
                RayKind::Shadow,
                "shadow",
                "The shadow rays of the frame to all lights. The channel cost counts their visits",
            ),
        ];
        choose(ui, &mut state.trees.view.path_of, &choices);
    });
    let Some(path) = state.trees.view.path.clone() else {
        line(ui, RichText::new("click on the scene").weak());
        return;
    };
    for (name, what, count) in [
        ("visited", "nodes", path.nodes),
        ("tested", "triangles", path.triangles),
    ] {
        let tip = format!("The {what} along the rays");
        Row::new(name, &[], &tip).show(ui, edits, |ui| {
            ui.label(digits(format!("{} {what}", compact(count.into()))));
        });
    }
    let kept = path.steps.len();
    if kept == 0 {
        line(ui, RichText::new("no ray was traced").weak());
        return;
    }
    let tip = "Current step. Boxes up to it are drawn; its own box is cyan. Keys . and , go through the \
               steps";
    Row::new("step", &[], tip).show(ui, edits, |ui| {
        let mut number = state.trees.view.step + 1;
        if ui.add(Slider::new(&mut number, 1..=kept)).changed() {
            state.trees.view.step = number.clamp(1, kept) - 1;
        }
    });
    if path.step_count as usize > kept {
        let text = format!("the first of {} steps", grouped(path.step_count.into()));
        line(ui, RichText::new(text).weak());
    }
    list(ui, state, &path);
}

/// Shows a list of the steps around the current one. A click selects a step.
fn list(ui: &mut Ui, state: &mut State, path: &RayPath) {
    let kept = path.steps.len();
    let now = state.trees.view.step.min(kept - 1);
    let first = now
        .saturating_sub(AROUND)
        .min(kept.saturating_sub(2 * AROUND + 1));
    let last = (first + 2 * AROUND + 1).min(kept);
    let name = |mesh| name_of(state, mesh);
    let mut chosen = None;
    for (number, step) in path.steps[first..last].iter().enumerate() {
        let (number, [text, tip]) = (first + number, words(step, &name));
        let text = format!("{}  {text}", number + 1);
        let row = ui.add(Button::selectable(number == now, text).truncate());
        if row.on_hover_text(tip).clicked() {
            chosen = Some(number);
        }
    }
    state.trees.view.step = chosen.unwrap_or(state.trees.view.step);
}

/// Returns the name of a mesh in the BVH.
fn name_of(state: &State, mesh: u32) -> String {
    let stage = state.stage.as_ref();
    let named = stage.and_then(|stage| {
        let (node, _) = stage.scene.instances().nth(mesh as usize)?;
        Some(mesh_name(&stage.scene, node))
    });
    named.unwrap_or_else(|| format!("mesh {mesh}"))
}

/// Shows the description of the current step at the top of the picture.
pub(in crate::app) fn over(ctx: &Context, room: Rect, state: &State) {
    let path = state.trees.view.path.as_ref();
    let Some(path) = path.filter(|path| state.trees.view.traces && !path.steps.is_empty()) else {
        return;
    };
    if room.width() < MIN_WIDTH {
        return;
    }
    let kept = path.steps.len();
    let now = state.trees.view.step.min(kept - 1);
    let [text, more] = words(&path.steps[now], &|mesh| name_of(state, mesh));
    Area::new(Id::unique("ray step"))
        .order(Order::Middle)
        .pivot(Align2::CENTER_TOP)
        .fixed_pos(room.center_top() + Vec2::new(0.0, 10.0))
        .constrain_to(room)
        .interactable(false)
        .fade_in(false)
        .show(ctx, |ui| {
            card(ui.visuals()).show(ui, |ui| {
                ui.set_width(STEP_WIDTH.min(room.width() - 48.0).max(120.0));
                let title = format!("step {} of {kept}: {text}", now + 1);
                ui.label(RichText::new(title).strong());
                ui.label(RichText::new(more).weak());
            });
        });
}

/// Returns a one-line description of a step, and a longer one.
fn words(step: &PathStep, name: &dyn Fn(u32) -> String) -> [String; 2] {
    let metres = |t: f32| significant(f64::from(t));
    let far = |t: f32| format!("the nearest hit so far, or the ray's end, is at {}", metres(t));
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
            let entered = children.iter().flatten().filter(|(_, enter)| enter.is_some());
            let of = match mesh {
                Some(mesh) => name(*mesh),
                None => "the TLAS".into(),
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
                format!("Triangle {triangle} of all, of {}; {}", name(*mesh), far(*t_max)),
            ]
        }
        PathStep::Answer { is_accepted } => {
            let text = match is_accepted {
                true => "any-hit test: accepted",
                false => "any-hit test: rejected",
            };
            [
                text.into(),
                "Alpha test of the hit on the previous triangle".into(),
            ]
        }
    }
}
