//! The section `Materials`: what of them is shown.

use crate::app::{
    keys::Action,
    state::State,
    textures::{Asked, Slot, slots},
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
            "Hides the environment where ambient occlusion is not traced",
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
        (
            "scattering",
            &["materials.multiple_scattering"],
            &mut settings.multiple_scattering,
            "multiple",
            "Returns the light that rough surfaces scatter more than once. Turn it off for glTF's BRDF, which loses it",
        ),
        (
            "terminator",
            &["materials.normal_terminator"],
            &mut settings.normal_terminator,
            "normal maps",
            "Fades lights towards the horizon of normal textures. Turn it off for glTF's BRDF",
        ),
        (
            "shadows",
            &["materials.smooth_terminator"],
            &mut settings.smooth_terminator,
            "smooth terminator",
            "Starts grazing shadow rays at the surface that the vertex normals describe, and takes its horizon. Turn it off for those of the triangles",
        ),
        (
            "glints",
            &["materials.glint_filter"],
            &mut settings.glint_filter,
            "filtered",
            "Widens highlights where normals differ within a pixel. Turn it off for glTF's BRDF",
        ),
    ] {
        Row::new(name, key, tip).show(ui, edits, |ui| ui.checkbox(shown, text));
    }
    textures(ui, state, edits);
}

/// Opens the texture viewer: with all, or with those of the mesh that is selected.
fn textures(ui: &mut Ui, state: &mut State, edits: &mut Edits) {
    let mut asked = None;
    Row::new(
        "textures",
        &[],
        "Looks at the textures of the scene (Alt+T)",
    )
    .show(ui, edits, |ui| {
        ui.horizontal_wrapped(|ui| {
            if ui.button("All").clicked() {
                state.actions.push(Action::Textures);
            }
            for (slot, texture) in of_selection(state) {
                let button = ui.button(slot);
                if button
                    .on_hover_text("Of the mesh that is selected")
                    .clicked()
                {
                    asked = Some(texture);
                }
            }
        });
    });
    if let Some(texture) = asked {
        state.show_texture(texture);
    }
}

/// The textures of the material that was clicked, or of the first one of the selected mesh, with their slots.
fn of_selection(state: &State) -> Vec<(&'static str, Asked)> {
    let of = || {
        let scene = &state.stage.as_ref()?.scene;
        let selected = state.selection.meshes().first()?;
        let material = match selected.picked {
            Some(picked) => picked.material,
            None => {
                let mesh = scene.nodes.get(selected.node)?.mesh?;
                scene.meshes[mesh].primitives.first()?.material
            }
        };
        let textures = slots(scene.materials.get(material)?);
        let asked = |slot: Slot| {
            let asked = Asked {
                texture: slot.texture.texture,
                used_as: Some(slot.used_as),
            };
            (slot.name, asked)
        };
        Some(textures.map(asked).collect())
    };
    of().unwrap_or_default()
}
