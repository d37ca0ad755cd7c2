//! Blended clips, manual morph weights, and the turntable.

use crate::app::{
    input::keys::Action,
    state::State,
    ui::{
        facts::Facts,
        rows::{Edits, Row, hundredths, number, slide},
        style::line,
    },
};
use egui::{RichText, Ui};
use std::{ops::RangeInclusive, sync::Arc};

/// Maximum number of listed clips, and of listed morph targets.
const LISTED: usize = 200;
/// Range of morph weights that can be entered.
const MORPH: RangeInclusive<f32> = -10.0..=10.0;

/// Shows the switch and weight of every clip.
pub(super) fn weights(ui: &mut Ui, state: &mut State, _: &Facts<'_>, edits: &mut Edits) {
    let Some(stage) = state.stage.as_mut().filter(|stage| !stage.scene.clips.is_empty()) else {
        line(ui, RichText::new("no clips").weak());
        return;
    };
    let weights = stage.weights();
    let count = stage.scene.clips.len();
    for clip in 0..count.min(LISTED) {
        let length = stage.scene.clips[clip].duration_secs;
        let name = stage.clip_name(Some(clip));
        let tip = format!(
            "Blends {name} ({length:.2} s) by this weight. If the weights on a node sum to less than 1, its \
             rest pose has the remaining weight"
        );
        let known = weights.iter().find(|(known, _)| *known == clip);
        Row::new(&name, &[], &tip).show(ui, edits, |ui| {
            let mut is_on = known.is_some();
            if ui.checkbox(&mut is_on, "").changed() {
                stage.switch_clip(clip, is_on);
            }
            let mut weight = known.map_or(0.0, |(_, weight)| *weight);
            let slider = |ui: &mut Ui| {
                ui.spacing_mut().slider_width = (ui.available_width() - 74.0).clamp(40.0, 400.0);
                slide(ui, &mut weight, 0.0..=1.0, 0.0..=1.0, hundredths(""))
            };
            if ui.add_enabled_ui(is_on, slider).inner {
                stage.set_weight(clip, Some(weight));
            }
        });
    }
    if count > LISTED {
        let more = format!("and {} more: animation.clip blends them", count - LISTED);
        line(ui, RichText::new(more).weak());
    }
}

/// Shows the start of the loop range.
pub(super) fn loop_from(ui: &mut Ui, state: &mut State, _: &Facts<'_>, edits: &mut Edits) {
    let mut range = state.loop_range();
    let whole = whole_clip(state);
    let row = Row::key("animation.loop_from", edits);
    if row.show(ui, edits, |ui| {
        number(ui, &mut range.from, 0.01, whole, hundredths(" s"))
    }) {
        state.set_loop_range(range);
    }
}

/// Shows the end of the loop range.
pub(super) fn loop_to(ui: &mut Ui, state: &mut State, _: &Facts<'_>, edits: &mut Edits) {
    let mut range = state.loop_range();
    let whole = whole_clip(state);
    let row = Row::key("animation.loop_to", edits);
    if row.show(ui, edits, |ui| {
        number(ui, &mut range.to, 0.01, whole, hundredths(" s"))
    }) {
        state.set_loop_range(range);
    }
}

/// Returns the time range of the clip in seconds.
fn whole_clip(state: &State) -> RangeInclusive<f32> {
    let duration = state.stage.as_ref().map_or(0.0, |stage| stage.duration());
    0.0..=duration.max(1e-3)
}

/// Shows the switch and weight of every morph target.
pub(super) fn morphs(ui: &mut Ui, state: &mut State, _: &Facts<'_>, edits: &mut Edits) {
    let Some(stage) = &mut state.stage else {
        return;
    };
    let nodes: Vec<_> = stage.scene.morphed_nodes().collect();
    if nodes.is_empty() {
        return;
    }
    let pose = stage.shared_pose();
    let mut listed = 0;
    for (node, targets) in &nodes {
        let name = match stage.scene.nodes[*node].name.as_str() {
            "" => format!("node {node}"),
            name => name.to_owned(),
        };
        line(ui, RichText::new(format!("morph targets of {name}")).strong());
        for target in 0..(*targets).min(LISTED - listed) {
            let name = stage.scene.morph_name(*node, target);
            let by_hand = stage.blend.morph(*node, target);
            let tip = format!(
                "Overrides the weight of {name} while the box is ticked, in place of the weight of \
                         the clips"
            );
            let of_pose = pose.weights[*node].get(target).copied().unwrap_or(0.0);
            let changed = Row::new(&name, &[], &tip).show(ui, edits, |ui| {
                let mut is_on = by_hand.is_some();
                let mut weight = of_pose;
                let is_switched = ui.checkbox(&mut is_on, "").changed();
                let slider = |ui: &mut Ui| {
                    ui.spacing_mut().slider_width = (ui.available_width() - 74.0).clamp(40.0, 400.0);
                    slide(ui, &mut weight, 0.0..=1.0, MORPH, hundredths(""))
                };
                let is_slid = ui.add_enabled_ui(is_on, slider).inner;
                (is_switched || is_slid).then(|| is_on.then_some(weight))
            });
            if let Some(weight) = changed {
                Arc::make_mut(&mut stage.blend).set_morph(*node, target, weight);
            }
        }
        listed += (*targets).min(LISTED - listed);
    }
    let all: usize = nodes.iter().map(|(_, targets)| targets).sum();
    if all > listed {
        let more = format!("and {} more: animation.morphs sets them", all - listed);
        line(ui, RichText::new(more).weak());
    }
    let count = stage.blend.morphs.len();
    let why = (count == 0).then_some("no weight is overridden");
    Row::new(
        "overrides",
        &[],
        "Number of morph weights that you have overridden",
    )
    .idle(why)
    .show(ui, edits, |ui| {
        let tip = "Returns all morph weights to the clips, or to the rest pose";
        if ui.button("Reset").on_hover_text(tip).clicked() {
            Arc::make_mut(&mut stage.blend).morphs.clear();
        }
        ui.weak(count.to_string());
    });
}

pub(super) fn turntable(ui: &mut Ui, state: &mut State, _: &Facts<'_>, edits: &mut Edits) {
    let why = state.walks().then_some("camera.mode is walk");
    let keys = state.ui.keymap.hint(Action::Turntable);
    let tip = format!("Turns the camera around the scene{keys}. A drag stops it");
    let row = Row::new("turntable", &["turntable"], &tip).idle(why);
    row.show(ui, edits, |ui| {
        let text = if state.motion.turntable { "Stop" } else { "Turn" };
        let button = egui::Button::new(text).min_size(egui::vec2(56.0, 0.0));
        let tip = format!("Starts or stops the turntable{keys}");
        if ui.add(button).on_hover_text(tip).clicked() {
            state.ui.actions.push(Action::Turntable);
        }
    });
}
