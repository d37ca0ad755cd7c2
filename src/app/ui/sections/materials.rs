//! The section `Materials`: what of them is shown.

use crate::app::{
    state::State,
    ui::{
        facts::Facts,
        rows::{Edits, Row},
    },
};
use egui::Ui;

pub(super) fn show(ui: &mut Ui, state: &mut State, _: &Facts<'_>, edits: &mut Edits) {
    let lights = &mut state.config.lights.enabled;
    let settings = &mut state.config.materials;
    for (name, key, shown, text, tip) in [
        (
            "base colour",
            &["materials.base_color_texture"],
            &mut settings.base_color_texture,
            "texture",
            "Without it, surfaces have the colour of the material and of the vertices; alpha stays that of the texture",
        ),
        (
            "normals",
            &["materials.normal_texture"],
            &mut settings.normal_texture,
            "texture",
            "Without it, surfaces and coats have the normals of their vertices",
        ),
        (
            "metal, rough",
            &["materials.metallic_roughness_texture"],
            &mut settings.metallic_roughness_texture,
            "texture",
            "Without it, surfaces have the metalness and the roughness of the material",
        ),
        (
            "occlusion",
            &["materials.occlusion_texture"],
            &mut settings.occlusion_texture,
            "texture",
            "Without it, nothing of the environment is hidden by the material",
        ),
        (
            "emission",
            &["materials.emissive_texture"],
            &mut settings.emissive_texture,
            "texture",
            "Without it, surfaces emit what the material says, everywhere",
        ),
        (
            "vertices",
            &["materials.vertex_colors"],
            &mut settings.vertex_colors,
            "colours",
            "Without them, vertices are white; their alpha stays",
        ),
        (
            "emitted",
            &["materials.emission"],
            &mut settings.emission,
            "light",
            "Without it, no surface emits light",
        ),
        (
            "lights",
            &["lights.enabled"],
            lights,
            "of the scene",
            "Without them, only the sun of the section Sun and the environment shine",
        ),
        (
            "clay",
            &["materials.clay"],
            &mut settings.clay,
            "all surfaces",
            "One matte clay, with the shape of the normals and with emission; alpha and shadows stay",
        ),
    ] {
        Row::new(name, key, tip).show(ui, edits, |ui| ui.checkbox(shown, text));
    }
}
