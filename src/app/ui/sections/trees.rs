//! BVH boxes over the picture, the cost of rays, and statistics of the BVHs.

use crate::{
    app::{
        input::keys::Action,
        inspect::selection::{Selected, mesh_name},
        state::State,
        ui::{
            facts::Facts,
            magnitudes::{histogram, legend},
            rows::{Edits, Row, choose},
            sections::geometry::tree_work,
            style::{compact, digits, grouped, line, significant},
        },
    },
    config::{BoxDepths, BoxTrees, CostCount, TreeBoxes},
    render::{Channel, CostRange, TreeBoxCounts, TreeStatistics, present::tree_boxes::TREE_BOX_DARKEST},
};
use egui::{Button, DragValue, RichText, Ui};

/// Maximum number of listed meshes.
const LISTED: usize = 20;
/// Shows the work on the BVHs in the last frame, and their statistics.
pub(in crate::app) fn figures(ui: &mut Ui, state: &mut State, facts: &Facts<'_>, edits: &mut Edits) {
    tree_work(ui, &state.config.tree, facts);
    state.trees.view.shows_figures = true;
    match state.trees.view.figures.clone() {
        None => {
            line(ui, RichText::new("counting…").weak());
        }
        Some(Err(why)) => {
            line(ui, RichText::new(why).weak());
        }
        Some(Ok(figures)) => {
            if state.trees.view.figures_lag {
                line(ui, RichText::new("out of date; counting…").weak());
            }
            of_all(ui, &figures, edits);
            list(ui, state, &figures);
        }
    }
}

/// Shows the choice of the drawn boxes.
pub(in crate::app) fn boxes(ui: &mut Ui, state: &mut State, _: &Facts<'_>, edits: &mut Edits) {
    let keys = state.ui.keymap.hint(Action::NextTreeBoxes);
    let tip = format!("Boxes in a range of depths; the root is 0. A key shows the next depth{keys}");
    let settings = &mut state.config.tree_boxes;
    let depths = match settings.show {
        BoxDepths::Depths(first, last) => [first, last],
        _ => [0, 3],
    };
    Row::key("tree_boxes.show", edits).show(ui, edits, |ui| {
        let [first, last] = depths;
        let choices = [
            (BoxDepths::Off, "off", "No boxes"),
            (BoxDepths::Depths(first, last), "depth", &tip),
            (
                BoxDepths::Leaves,
                "leaves",
                "Boxes of the leaves for rays, with the current leaf cutoff",
            ),
        ];
        choose(ui, &mut settings.show, &choices);
    });
    let why = (!matches!(settings.show, BoxDepths::Depths(..))).then_some("tree_boxes.show is not a depth");
    let tip = "First and last depth to show";
    Row::new("depths", &["tree_boxes.show"], tip)
        .idle(why)
        .show(ui, edits, |ui| {
            let [mut first, mut last] = depths;
            let least = DragValue::new(&mut first).range(0..=BoxDepths::DEEPEST);
            let is_first = ui.add(least).changed();
            ui.label("to");
            let most = DragValue::new(&mut last).range(0..=BoxDepths::DEEPEST);
            let is_last = ui.add(most).changed();
            if is_first {
                settings.show = BoxDepths::Depths(first, last.max(first));
            } else if is_last {
                settings.show = BoxDepths::Depths(first.min(last), last);
            }
        });
}

/// Shows the choice between the boxes of all meshes and of the selected mesh.
pub(in crate::app) fn boxes_of(ui: &mut Ui, state: &mut State, _: &Facts<'_>, edits: &mut Edits) {
    let view = &mut state.trees.view;
    let settings = &mut state.config.tree_boxes;
    Row::key("tree_boxes.of", edits).show(ui, edits, |ui| {
        let mut all = !view.of_selection && settings.of == BoxTrees::Meshes;
        let mut top = !view.of_selection && settings.of == BoxTrees::Top;
        for (is_chosen, name, tip, of) in [
            (&mut all, "all", "BVHs of all meshes", BoxTrees::Meshes),
            (&mut top, "top", "BVH over the meshes (TLAS)", BoxTrees::Top),
        ] {
            let button = ui.selectable_label(*is_chosen, name).on_hover_text(tip);
            if button.clicked() {
                view.of_selection = false;
                settings.of = of;
            }
        }
        let tip = "BVH of the selected mesh, or of all meshes if none is selected";
        let button = ui.selectable_label(view.of_selection, "selected");
        if button.on_hover_text(tip).clicked() {
            view.of_selection = true;
        }
    });
}

/// Shows the number of drawn boxes, and the meaning of their colours.
pub(in crate::app) fn boxes_drawn(ui: &mut Ui, state: &mut State, facts: &Facts<'_>, edits: &mut Edits) {
    let Some(counts) = facts.stats.tree_boxes else {
        return;
    };
    let settings = &state.config.tree_boxes;
    let [found, drawn] = [counts.found, counts.drawn].map(u64::from);
    let tip = "Drawn boxes. If there are too many, a random subset is drawn, the same in every frame";
    Row::new("drawn", &[], tip).show(ui, edits, |ui| {
        let text = match found == drawn {
            true => format!("{} boxes", compact(drawn)),
            false => format!("{} of {} boxes", compact(drawn), compact(found)),
        };
        line(ui, RichText::new(text));
    });
    let tip = "Depth of a box: levels below the root of its BVH";
    Row::new("colours", &[], tip).show(ui, edits, |ui| {
        let [first, deepest] = depth_ends(settings, counts);
        legend(ui, TREE_BOX_DARKEST as f32, [&first, &deepest]);
    });
}

/// Returns the labels at both ends of the colour scale of depths.
pub(in crate::app) fn depth_ends(settings: &TreeBoxes, counts: TreeBoxCounts) -> [String; 2] {
    let first = match settings.show {
        BoxDepths::Depths(first, _) => first,
        _ => 0,
    };
    [
        format!("depth {first}"),
        format!("{}", counts.deepest.max(first + 1)),
    ]
}

/// Shows the switch of the `cost` channel and, while it is on, the largest count of a pixel.
pub(in crate::app) fn heat_map(ui: &mut Ui, state: &mut State, facts: &Facts<'_>, edits: &mut Edits) {
    let mut is_shown = state.picture.channel == Channel::Cost;
    let tip = "Shows the channel cost: nodes and triangles that the shadow rays of each pixel visit, as \
               colours";
    Row::new("heat map", &["heat map"], tip).show(ui, edits, |ui| {
        let shown = ui.checkbox(&mut is_shown, "shown");
        if shown.on_hover_text("Shows the channel cost").changed() {
            state.picture.channel = match is_shown {
                true => Channel::Cost,
                false => Channel::Lit,
            };
        }
    });
    let found = facts.stats.cost_range;
    if let Some(most) = found.filter(|_| is_shown).and_then(|found| found.most) {
        Row::new("maximum", &[], "The largest count of a pixel, up to 4,095").show(ui, edits, |ui| {
            ui.label(digits(grouped(most as u64)));
        });
    }
}

/// Returns the meaning of the colours of the `cost` channel.
pub(in crate::app) fn cost_words(count: CostCount) -> &'static str {
    match count {
        CostCount::Both => "nodes and triangles per pixel",
        CostCount::Nodes => "nodes per pixel",
        CostCount::Triangles => "triangles per pixel",
    }
}

/// Returns the labels at both ends of the `cost` colours.
pub(in crate::app) fn cost_ends(found: CostRange) -> [String; 2] {
    ["0".into(), format!("{} or more", grouped(found.range as u64))]
}

/// Shows the statistics of all BVHs.
fn of_all(ui: &mut Ui, figures: &TreeStatistics, edits: &mut Edits) {
    let mut row = |name: &str, tip: &str, value: String| {
        Row::new(name, &[], tip).show(ui, edits, |ui| ui.label(digits(&value)));
    };
    let nodes = compact(figures.nodes.into());
    let tip = "Nodes that rays can visit, in the BVHs of all meshes, with the current leaf cutoff";
    row("nodes", tip, nodes);
    let tip = "Leaves for rays: ranges of triangles that rays test as a whole";
    row("leaves", tip, compact(figures.leaves().into()));
    let tip = "Levels of the deepest BVH of a mesh, and of the BVH over the meshes (TLAS)";
    let levels = format!("{} and {}", figures.depth, figures.tlas_depth);
    row("levels", tip, levels);
    let tip = "Expected node visits and triangle tests of a ray through the scene's bounds, by the surface \
               area heuristic (MacDonald and Booth 1990)";
    row("SAH cost", tip, significant(figures.sah_cost));
    let tip = "Number of leaves per depth, from 0 at the left";
    Row::new("by depth", &[], tip).show(ui, edits, |ui| {
        let what = |depth| format!("leaves at depth {depth}");
        histogram(ui, &figures.leaves_at_depth, TREE_BOX_DARKEST as f32, what);
    });
    let tip = "Number of leaves per triangle count, from 1 at the left";
    let sizes = figures.leaves_of_size.get(1..).unwrap_or_default();
    Row::new("by size", &[], tip).show(ui, edits, |ui| {
        let what = |bar: usize| match bar {
            0 => "leaves of 1 triangle".into(),
            _ => format!("leaves of {} triangles", bar + 1),
        };
        histogram(ui, sizes, TREE_BOX_DARKEST as f32, what);
    });
}

/// Shows a list of meshes by cost. A click selects one.
fn list(ui: &mut Ui, state: &mut State, figures: &TreeStatistics) {
    let Some(stage) = &state.stage else { return };
    let nodes: Vec<_> = stage.scene.instances().map(|(node, _)| node).collect();
    let mut meshes: Vec<_> = figures.meshes.iter().enumerate().collect();
    meshes.sort_by(|(_, a), (_, b)| b.sah_share.total_cmp(&a.sah_share));
    if meshes.len() > 1 {
        line(ui, RichText::new("SAH cost by mesh").weak());
    }
    let selected = state.inspect.selection.instances();
    let mut chosen = None;
    for (mesh, found) in meshes.iter().take(LISTED).filter(|_| meshes.len() > 1) {
        // The figures may belong to a scene that was replaced.
        let Some(&node) = nodes.get(*mesh) else {
            continue;
        };
        let name = mesh_name(&stage.scene, node);
        let text = format!("{}  {name}", significant(found.sah_share));
        let row = Button::selectable(selected.contains(&Some(*mesh)), text).truncate();
        let tip = format!(
            "SAH cost that the mesh adds to a ray through the scene. A ray through its own bounds costs {}. \
             {} triangles, {} nodes, {} leaves, {} levels. A click selects it",
            significant(found.sah_cost),
            grouped(found.triangles.into()),
            grouped(found.nodes.into()),
            grouped(found.leaves.into()),
            found.depth,
        );
        if ui.add(row).on_hover_text(tip).clicked() {
            let (mesh, picked) = (*mesh, None);
            chosen = Some(Selected { node, mesh, picked });
        }
    }
    if let Some(left) = meshes.len().checked_sub(LISTED + 1) {
        let text = format!("and {} more", grouped(left as u64 + 1));
        line(ui, RichText::new(text).weak());
    }
    if chosen.is_some() {
        state.inspect.selection.click(chosen, false);
    }
}
