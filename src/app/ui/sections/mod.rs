//! Tabs of the panel: the groups of [`crate::config::declared`] in order, and the parts with their own code.
//! Controls edit the configuration. Everything beyond that is an action.

mod animation;
mod bookmarks;
mod camera;
mod camera_path;
mod cells;
mod channel;
mod compare;
mod depth_of_field;
mod deviation;
mod environment;
mod export;
mod exposure;
mod fog;
mod geometry;
mod intersections;
mod lab;
mod lights;
mod looks;
mod materials;
mod notes;
mod overlay;
mod paths;
mod reflections;
mod resolution;
mod scene;
mod settings;
mod sun;
mod timings;
mod trees;
mod volumes;

pub(in crate::app) use export::card as export;
pub(in crate::app) use lab::heat_words;
pub(in crate::app) use trees::{cost_ends, depth_ends};

use crate::{
    app::{
        rays::view,
        state::State,
        ui::{
            controls,
            facts::Facts,
            fold::{fold, more},
            rows::Edits,
        },
    },
    config::declared::{Control, GROUPS, Group, Setting, Tab},
};
use egui::{RichText, Ui};

/// Function that shows a part of the panel.
type Own = fn(&mut Ui, &mut State, &Facts<'_>, &mut Edits);

/// Returns the function that shows the part `key`.
fn own(key: &str) -> Option<Own> {
    Some(match key {
        "all settings" => settings::show,
        "animation.clip" => scene::clip,
        "animation.loop_from" => animation::loop_from,
        "animation.loop_to" => animation::loop_to,
        "animation.morphs" => animation::morphs,
        "animation.speed" => scene::speed,
        "animation.time" => scene::time,
        "boxes drawn" => trees::boxes_drawn,
        "camera path" => camera_path::show,
        "camera.fov" => camera::field_of_view,
        "camera.name" => camera::names,
        "channel" => channel::show,
        "clip weights" => animation::weights,
        "counts" => geometry::show,
        "depth_of_field.focus" => depth_of_field::focus,
        "deviation" => deviation::result,
        "deviation.file" => deviation::file,
        "deviation.tolerance" => deviation::tolerance,
        "environment.file" => environment::file,
        "environment.rotation" => environment::rotation,
        "environment.source" => environment::source,
        "export" => export::show,
        "fog.density" => fog::density,
        "heat map" => trees::heat_map,
        "hidden" => channel::hidden,
        "image.exposure" => exposure::show,
        "intersections" => intersections::show,
        "lab figures" => lab::result,
        "laboratory" => lab::switch,
        "lights.radii" => lights::radii,
        "lights.radius" => lights::radius,
        "lines drawn" => overlay::drawn,
        "looks" => looks::show,
        "measure" => channel::measure,
        "notes" => notes::show,
        "overlay.mesh" => overlay::mesh,
        "path progress" => paths::progress,
        "projection" => camera::projection,
        "ray path" => view::show,
        "reflection counts" => reflections::counts,
        "samples" => resolution::samples,
        "saved views" => bookmarks::show,
        "scene.variant" => scene::variant,
        "sides" => compare::show,
        "sun.angle" => sun::angle,
        "sun.color" => sun::color,
        "sun.direction" => sun::direction,
        "sun.strength" => sun::strength,
        "textures" => materials::textures,
        "timings" => timings::show,
        "tree figures" => trees::figures,
        "tree_boxes.of" => trees::boxes_of,
        "tree_boxes.show" => trees::boxes,
        "turntable" => animation::turntable,
        "volumes.points" => volumes::points,
        "volumes.transfer" => volumes::transfer,
        "window.render_scale" => resolution::render_scale,
        "world cache" => cells::counts,
        _ => return None,
    })
}

/// Shows one setting or part.
pub(super) fn one(
    ui: &mut Ui,
    setting: &'static Setting,
    state: &mut State,
    facts: &Facts<'_>,
    edits: &mut Edits,
) {
    if setting.control != Control::Own {
        controls::show(ui, setting, edits);
    } else if let Some(own) = own(setting.key) {
        own(ui, state, facts, edits);
    }
}

/// Shows the rows that are always visible.
pub(super) fn pinned(ui: &mut Ui, state: &mut State, facts: &Facts<'_>, edits: &mut Edits) {
    for setting in GROUPS[0].iter().flat_map(Group::all) {
        one(ui, setting, state, facts, edits);
    }
}

/// Shows the groups of a tab.
pub(super) fn tab(ui: &mut Ui, tab: Tab, state: &mut State, facts: &Facts<'_>, edits: &mut Edits) {
    let groups = GROUPS.into_iter().flatten();
    let of_tab = groups.filter(|group| group.tab == Some(tab));
    for (index, group) in of_tab.enumerate() {
        if index > 0 {
            ui.separator();
        }
        let title = RichText::new(group.title).strong();
        let is_open = !group.settings.is_empty();
        fold(ui, state, group.title, title, group.help, is_open, |ui, state| {
            self::group(ui, group, state, facts, edits);
        });
    }
    ui.add_space(4.0);
}

/// Shows the settings of a group. The less used ones are folded unless there are no others.
fn group(ui: &mut Ui, group: &'static Group, state: &mut State, facts: &Facts<'_>, edits: &mut Edits) {
    for setting in group.settings {
        one(ui, setting, state, facts, edits);
    }
    let mut rest = |ui: &mut Ui, state: &mut State| {
        for setting in group.more {
            one(ui, setting, state, facts, edits);
        }
    };
    match (group.settings, group.more) {
        (_, []) => {}
        ([], _) => rest(ui, state),
        _ => more(ui, state, group.title, rest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_custom_control_has_an_implementation() {
        for setting in GROUPS.into_iter().flatten().flat_map(Group::all) {
            let is_own = setting.control == Control::Own;
            assert_eq!(own(setting.key).is_some(), is_own, "{}", setting.key);
        }
    }
}
