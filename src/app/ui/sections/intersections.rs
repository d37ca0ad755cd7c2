//! Intersections between meshes.

use crate::{
    app::{
        input::keys::Action,
        inspect::selection::{Selected, mesh_name},
        state::{Stage, State},
        ui::{
            facts::Facts,
            rows::{Edits, Row},
            style::{compact, grouped, line},
        },
    },
    render::{Channel, IntersectionCounts, MeshPair},
};
use egui::{Button, RichText, Ui};

/// Maximum number of listed pairs of meshes.
const LISTED: usize = 20;

pub(super) fn show(ui: &mut Ui, state: &mut State, facts: &Facts<'_>, edits: &mut Edits) {
    let mut is_shown = state.picture.channel == Channel::Intersections;
    let tip = "Triangles that intersect triangles of other meshes in the current pose. Triangles that only \
               touch or are coplanar do not count";
    Row::new("colours", &[], tip).show(ui, edits, |ui| {
        let shown = ui.checkbox(&mut is_shown, "shown");
        let keys = state.ui.keymap.hint(Action::Intersections);
        let tip = format!("Shows the channel intersections: intersecting triangles are orange{keys}");
        if shown.on_hover_text(tip).clicked() {
            state.ui.actions.push(Action::Intersections);
        }
        let counts = &mut state.picture.counts_intersections;
        let mut is_counted = *counts || is_shown;
        let count = ui.add_enabled(!is_shown, egui::Checkbox::new(&mut is_counted, "counted"));
        if count
            .on_hover_text("Counts intersections even while another channel is shown")
            .on_disabled_hover_text("Always counted while they are shown")
            .changed()
        {
            *counts = is_counted;
        }
    });
    let counts = facts.intersections;
    let tip = "Triangles that intersect another mesh, and pairs of such triangles";
    Row::new("triangles", &[], tip).show(ui, edits, |ui| {
        let text = match counts {
            None if is_shown || state.picture.counts_intersections => "…".into(),
            None => "not counted".into(),
            Some(counts) if counts.pairs == 0 => "none".into(),
            Some(counts) => {
                let [triangles, pairs] = [counts.triangles, counts.pairs].map(u64::from);
                let ending = if pairs == 1 { "" } else { "s" };
                format!("{} in {} pair{ending}", compact(triangles), compact(pairs))
            }
        };
        line(ui, RichText::new(text));
    });
    let (stage, selection) = (&state.stage, &mut state.inspect.selection);
    if let (Some(stage), Some(counts)) = (stage, counts)
        && let Some(chosen) = list(ui, stage, counts, selection.instances())
    {
        selection.choose(chosen);
    }
}

/// Lists the pairs of meshes. Returns the clicked one.
fn list(
    ui: &mut Ui,
    stage: &Stage,
    counts: &IntersectionCounts,
    selected: [Option<usize>; 2],
) -> Option<[Selected; 2]> {
    let nodes: Vec<_> = stage.scene.instances().map(|(node, _)| node).collect();
    let mut chosen = None;
    for MeshPair { meshes, pairs } in counts.meshes.iter().take(LISTED) {
        // The counts may belong to a scene that was replaced.
        let [Some(first), Some(second)] = meshes.map(|mesh| nodes.get(mesh).copied()) else {
            continue;
        };
        let [a, b] = [first, second].map(|node| mesh_name(&stage.scene, node));
        let text = format!("{}  {a} × {b}", grouped((*pairs).into()));
        let row = Button::selectable(selected == meshes.map(Some), text).truncate();
        let tip = "Pairs of intersecting triangles. A click selects both meshes";
        let row = ui.add(row).on_hover_text(tip);
        if row.clicked() {
            let [a, b] = *meshes;
            chosen = Some([(first, a), (second, b)].map(|(node, mesh)| Selected {
                node,
                mesh,
                picked: None,
            }));
        }
    }
    let left = counts.meshes.len().saturating_sub(LISTED);
    if left > 0 || counts.unlisted > 0 {
        let least = if counts.unlisted > 0 { "at least " } else { "" };
        let left = left + usize::from(counts.unlisted > 0);
        let text = format!("and {least}{left} more pairs of meshes");
        line(ui, RichText::new(text).weak());
    }
    chosen
}
