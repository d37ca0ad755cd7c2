//! The panel, section by section. Sections edit the configuration; whatever needs more is an action.

mod animation;
mod bookmarks;
mod camera_path;
mod compare;
mod depth_of_field;
mod deviation;
mod environment;
mod export;
mod fog;
mod geometry;
mod image;
mod intersections;
mod lab;
mod lights;
mod looks;
mod materials;
mod notes;
mod occlusion;
mod overlay;
mod paths;
mod reflections;
mod scene;
mod settings;
mod shadows;
mod sun;
mod timings;
mod trees;
mod view;
mod volumes;

pub(super) use export::show as export;
pub(super) use lab::heat_words;
pub(super) use trees::{cost_ends, depth_ends};

use super::{
    facts::Facts,
    fold::{fold, more_of},
    rows::Edits,
};
use crate::app::state::State;
use egui::{RichText, Ui};

/// A part of the panel that can be folded.
struct Section {
    title: &'static str,
    tip: &'static str,
    /// Whether it is open until the person folds it.
    open: bool,
    show: fn(&mut Ui, &mut State, &Facts<'_>, &mut Edits),
}

/// All sections. What is used most comes first.
const SECTIONS: [Section; 28] = [
    Section {
        title: "Shadows",
        tip: "How light is blocked",
        open: true,
        show: shadows::show,
    },
    Section {
        title: "Sun",
        tip: "The sun that shines. L and a drag with the left button turn it",
        open: true,
        show: sun::show,
    },
    Section {
        title: "Lights",
        tip: "Point and spot lights of the scene",
        open: false,
        show: lights::show,
    },
    Section {
        title: "Environment",
        tip: "Light from all directions, and what is seen behind the scene",
        open: true,
        show: environment::show,
    },
    Section {
        title: "Image",
        tip: "From radiance to the screen",
        open: true,
        show: image::show,
    },
    Section {
        title: "Scene",
        tip: "The clip that plays, and the variant of the materials",
        open: true,
        show: scene::show,
    },
    Section {
        title: "Animation",
        tip: "Clips that are blended, morph weights by hand, and the turntable",
        open: false,
        show: animation::show,
    },
    Section {
        title: "View",
        tip: "What is drawn, and from where",
        open: true,
        show: view::show,
    },
    Section {
        title: "Compare",
        tip: "Two settings, scenes or pictures side by side",
        open: false,
        show: compare::show,
    },
    Section {
        title: "Deviation",
        tip: "How far the scene is from the surface of another file",
        open: false,
        show: deviation::show,
    },
    Section {
        title: "Intersections",
        tip: "Triangles that pass through triangles of other meshes",
        open: false,
        show: intersections::show,
    },
    Section {
        title: "Ambient occlusion",
        tip: "How much of the environment every point sees",
        open: false,
        show: occlusion::show,
    },
    Section {
        title: "Reflections",
        tip: "What glossy surfaces show of the scene",
        open: false,
        show: reflections::show,
    },
    Section {
        title: "Timings",
        tip: "The time of every pass on the GPU",
        open: false,
        show: timings::show,
    },
    Section {
        title: "Geometry and trees",
        tip: "What is in the scene, and when trees are built over it",
        open: false,
        show: geometry::show,
    },
    Section {
        title: "Trees",
        tip: "Boxes of the trees over the picture, and what the trees are like",
        open: false,
        show: trees::show,
    },
    Section {
        title: "Volumes",
        tip: "Smoke, fire, clouds and scans",
        open: false,
        show: volumes::show,
    },
    Section {
        title: "Laboratory",
        tip: "Rays through other structures, by other walks and triangle tests",
        open: false,
        show: lab::show,
    },
    Section {
        title: "Fog",
        tip: "Air that scatters light",
        open: false,
        show: fog::show,
    },
    Section {
        title: "Looks",
        tip: "Settings of light and picture under a name",
        open: false,
        show: looks::show,
    },
    Section {
        title: "Camera path",
        tip: "Views that the camera moves between",
        open: false,
        show: camera_path::show,
    },
    Section {
        title: "Export",
        tip: "Pictures or a video of the clip, a turn or the camera path",
        open: false,
        show: export::show,
    },
    Section {
        title: "Depth of field",
        tip: "What a lens with an aperture shows sharp",
        open: false,
        show: depth_of_field::show,
    },
    Section {
        title: "Materials",
        tip: "Textures, colours and light of surfaces, each on or off",
        open: false,
        show: materials::show,
    },
    Section {
        title: "Overlays",
        tip: "Edges, vertices, normals and tangents of the meshes over the picture",
        open: false,
        show: overlay::show,
    },
    Section {
        title: "Paths",
        tip: "The picture by paths of light, as a reference",
        open: false,
        show: paths::show,
    },
    Section {
        title: "Extensions and warnings",
        tip: "What the files ask for, and what was odd about them",
        open: false,
        show: notes::show,
    },
    Section {
        title: "Settings",
        tip: "The panel itself, and all settings together",
        open: false,
        show: settings::show,
    },
];

/// Every section.
pub(super) fn show(ui: &mut Ui, state: &mut State, facts: &Facts<'_>, edits: &mut Edits) {
    for (index, section) in SECTIONS.iter().enumerate() {
        if index > 0 {
            ui.separator();
        }
        let title = RichText::new(section.title).strong();
        let add = |ui: &mut Ui, state: &mut State| (section.show)(ui, state, facts, edits);
        fold(
            ui,
            state,
            section.title,
            title,
            section.tip,
            section.open,
            add,
        );
    }
    ui.add_space(4.0);
}

/// Looks for the setting that the panel is to show, and opens what it is folded in. What is laid out for that
/// is not shown.
pub(super) fn place(ui: &mut Ui, state: &mut State, facts: &Facts<'_>, edits: &mut Edits) {
    state.unfolds = true;
    let found = SECTIONS.iter().find(|section| {
        ui.scope(|ui| (section.show)(ui, state, facts, edits));
        edits.found.is_some()
    });
    state.unfolds = false;
    edits.found = None;
    ui.ctx().request_discard("the panel goes to a setting");
    let Some(section) = found else {
        if let Some(jump) = state.jump.take() {
            state.notify(format!("{} has no control in the panel", jump.key));
        }
        return;
    };
    for name in [section.title.to_owned(), more_of(section.title)] {
        state.layout.open.insert(name, true);
    }
    if let Some(jump) = &mut state.jump {
        jump.is_placed = true;
    }
}

/// Everything that can be folded.
#[cfg(test)]
pub(super) fn names() -> Vec<String> {
    let titles = SECTIONS.iter().map(|section| section.title);
    let both = titles.flat_map(|title| [title.to_owned(), more_of(title)]);
    both.collect()
}
