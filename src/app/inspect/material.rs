//! Editor for the values of a material, and thumbnails of its textures.

use crate::{
    app::{
        inspect::rows::{image_name, mode_name, texture_rows, value_name},
        outline::model::Item,
        state::State,
        textures::model::slots,
        ui::{
            rows::{Digits, choose, color, hundredths, number, slide},
            values::value,
        },
    },
    scene::{
        AlphaMode, Material,
        edits::{Field, MaterialValue},
    },
};
use egui::{RichText, Ui, vec2};

/// Longer side of a texture's thumbnail in points.
const PICTURE: f32 = 52.0;

/// Shows the editor of the material `index`.
pub(in crate::app) fn show(ui: &mut Ui, state: &mut State, index: usize) {
    let Some(stage) = &state.stage else { return };
    let scene = &stage.scene;
    let of_file = stage.applied.material_of_files(scene, index);
    let (Some(before), Some(of_file)) = (scene.materials.get(index), of_file) else {
        return;
    };
    let (before, of_file) = (before.clone(), of_file.clone());
    let mut edited = before.clone();
    // The button is always shown. If it appeared with the first change, it would move the slider that is
    // being dragged.
    let reset = egui::Button::new("Reset material");
    let tip = "Restores all values from the file";
    let reset = ui.add_enabled(before != of_file, reset);
    if reset.on_hover_text(tip).on_disabled_hover_text(tip).clicked() {
        edited = of_file.clone();
    }
    if let Some(clip) = stage.clip.and_then(|clip| scene.clips.get(clip)) {
        let moves = |channel: &crate::scene::Channel| {
            channel.property.of() == crate::scene::PropertyOf::Material && channel.target == index
        };
        if clip.channels.iter().any(moves) {
            let text = "The clip animates values of this material and overrides your edits of them.";
            ui.label(RichText::new(text).weak());
        }
    }
    for of in MaterialValue::ALL {
        if !has_effect(of, &edited) {
            continue;
        }
        let is_edited = of.differs(&edited, &of_file);
        if one(ui, of, &mut edited, is_edited)
            && let Some(value) = of.of(&of_file)
        {
            of.set(&mut edited, value);
        }
    }
    if edited != before {
        state.edit_material(index, edited);
    }
    let mut has_textures = false;
    for slot in slots(&before) {
        has_textures = true;
        let told = Some((slot.name, slot.is_color));
        thumbnail(ui, state, slot.texture.texture, told);
    }
    if !has_textures {
        ui.weak("It has no textures.");
    }
}

/// True if the material has this value. Values of layers that it lacks are not shown.
fn has_effect(of: MaterialValue, material: &Material) -> bool {
    of.of(material).is_some()
}

/// Shows one value for editing. Returns true if the user resets it to the value of the file.
fn one(ui: &mut Ui, of: MaterialValue, material: &mut Material, is_edited: bool) -> bool {
    let (name, tip) = (value_name(of), tip(of));
    let Some(field) = of.field(material) else {
        return false;
    };
    let ((), is_reset) = value(ui, name, tip, is_edited, |ui| match field {
        Field::Number(number) => edit_number(ui, of, number),
        Field::Color(linear) => {
            let mut channels = linear.to_array();
            if color(ui, &mut channels) {
                *linear = channels.into();
            }
        }
        Field::ColorWithAlpha(linear) => {
            let mut channels = linear.truncate().to_array();
            if color(ui, &mut channels) {
                *linear = glam::Vec3::from(channels).extend(linear.w);
            }
            ui.label("alpha");
            number(ui, &mut linear.w, 0.01, 0.0..=1.0, hundredths(""));
        }
        Field::Mode(mode) => {
            let tips = [
                (AlphaMode::Opaque, "Alpha is ignored"),
                (
                    AlphaMode::Mask,
                    "Alpha mask: hides everything with an alpha below the cutoff",
                ),
                (AlphaMode::Blend, "Blends the surface over the background"),
            ];
            choose(ui, mode, &tips.map(|(mode, tip)| (mode, mode_name(mode), tip)));
        }
        Field::Switch(is_on) => {
            ui.checkbox(is_on, "");
        }
    });
    is_reset
}

/// Shows a number for editing: as a slider if its usual range is bounded, or else as a field to drag.
fn edit_number(ui: &mut Ui, of: MaterialValue, value: &mut f32) {
    let in_units = |decimals, suffix| Digits { decimals, suffix };
    match of {
        MaterialValue::EmissiveStrength => {
            number(ui, value, 0.1, 0.0..=1e9, hundredths(""));
        }
        MaterialValue::NormalScale | MaterialValue::ClearcoatNormalScale => {
            slide(ui, value, 0.0..=2.0, -1e9..=1e9, hundredths(""));
        }
        MaterialValue::Ior => {
            slide(ui, value, 1.0..=2.5, 0.0..=100.0, hundredths(""));
        }
        MaterialValue::IridescenceIor => {
            slide(ui, value, 1.0..=3.0, 1.0..=100.0, hundredths(""));
        }
        MaterialValue::IridescenceThicknessMin | MaterialValue::IridescenceThicknessMax => {
            slide(ui, value, 0.0..=1000.0, 0.0..=1e6, in_units(0, " nm"));
        }
        MaterialValue::AnisotropyRotation => {
            let mut degrees = value.to_degrees();
            if slide(ui, &mut degrees, -180.0..=180.0, -360.0..=360.0, in_units(0, "°")) {
                *value = degrees.to_radians();
            }
        }
        MaterialValue::Thickness => {
            number(ui, value, 0.01, 0.0..=1e6, in_units(3, ""));
        }
        MaterialValue::AttenuationDistance if !value.is_finite() => {
            let button = ui.button("never").on_hover_text("Sets a distance of 1 m");
            if button.clicked() {
                *value = 1.0;
            }
        }
        MaterialValue::AttenuationDistance => {
            number(ui, value, 0.01, 1e-3..=1e6, in_units(3, " m"));
        }
        _ => {
            slide(ui, value, 0.0..=1.0, 0.0..=1.0, hundredths(""));
        }
    }
}

fn tip(of: MaterialValue) -> &'static str {
    match of {
        MaterialValue::BaseColor => "Base colour and alpha, linear. Textures multiply them",
        MaterialValue::Metallic => "0 for dielectrics, 1 for metals",
        MaterialValue::Roughness => "Perceptual roughness: 0 for a mirror",
        MaterialValue::EmissiveFactor => "Emission colour, linear RGB",
        MaterialValue::EmissiveStrength => "Factor on the emission (KHR_materials_emissive_strength)",
        MaterialValue::NormalScale => "Strength of the normal map",
        MaterialValue::OcclusionStrength => "Strength of the occlusion texture",
        MaterialValue::AlphaMode => "Alpha mode, also for rays",
        MaterialValue::AlphaCutoff => "Alpha below which the surface is invisible, also to rays",
        MaterialValue::DoubleSided => "Draws back faces too",
        MaterialValue::Unlit => "Shows the base colour without lighting (KHR_materials_unlit)",
        MaterialValue::Ior => "Index of refraction (KHR_materials_ior). 0 means infinity",
        MaterialValue::Specular => "Specular weight of dielectrics (KHR_materials_specular)",
        MaterialValue::SpecularColor => "Specular colour at normal incidence",
        MaterialValue::Clearcoat => "Weight of the coat (KHR_materials_clearcoat)",
        MaterialValue::ClearcoatRoughness => "Perceptual roughness of the coat",
        MaterialValue::ClearcoatNormalScale => "Strength of the normal map of the coat",
        MaterialValue::SheenColor => "Colour of the fibres on the surface (KHR_materials_sheen)",
        MaterialValue::SheenRoughness => "Perceptual roughness of the sheen",
        MaterialValue::Anisotropy => "Anisotropy strength (KHR_materials_anisotropy)",
        MaterialValue::AnisotropyRotation => "Anisotropy rotation from the tangent",
        MaterialValue::Iridescence => "Iridescence weight of the thin film (KHR_materials_iridescence)",
        MaterialValue::IridescenceIor => "Index of refraction of the thin film",
        MaterialValue::IridescenceThicknessMin => "Film thickness where the texture is black",
        MaterialValue::IridescenceThicknessMax => "Film thickness where the texture is white, or absent",
        MaterialValue::Transmission => "Transmission weight (KHR_materials_transmission)",
        MaterialValue::Thickness => "Thickness of the volume in units of the mesh (KHR_materials_volume)",
        MaterialValue::AttenuationDistance => {
            "Attenuation distance in metres: white light then has the \
                                               colour below"
        }
        MaterialValue::AttenuationColor => "Attenuation colour: white light after that distance",
    }
}

/// Shows a texture's thumbnail, which selects the texture when clicked. With a `slot`, it also shows the
/// slot's name and the texture's properties. The slot's second field is true for sRGB colours.
pub(in crate::app) fn thumbnail(ui: &mut Ui, state: &mut State, index: usize, slot: Option<(&str, bool)>) {
    let Some(stage) = &state.stage else { return };
    let scene = &stage.scene;
    let Some(texture) = scene.textures.get(index) else {
        return;
    };
    let Some(image) = scene.images.get(texture.image) else {
        return;
    };
    let has_alpha = slot.is_none_or(|(_, is_color)| is_color);
    let ctx = ui.ctx().clone();
    let picture = state
        .inspect
        .outline
        .thumbnails
        .of(&ctx, texture.image, image, has_alpha);
    let [wide, high] = picture.size().map(|side| side as f32);
    let scale = PICTURE / wide.max(high).max(1.0);
    let sized = egui::load::SizedTexture::new(picture.id(), vec2(wide * scale, high * scale));
    let rows = texture_rows(scene, index);
    let name = image_name(scene, index);
    let mut is_clicked = false;
    ui.horizontal(|ui| {
        let button = ui.add(egui::Button::image(sized));
        let tip = match slot {
            Some((_, true)) => "sRGB colours",
            Some((_, false)) => "linear values, shown as stored",
            None => "texels, shown as stored",
        };
        is_clicked = button
            .on_hover_text(format!("{name}: {tip}. Click to select the texture"))
            .clicked();
        ui.vertical(|ui| {
            if let Some((slot, _)) = slot {
                ui.label(RichText::new(slot).strong());
            }
            let told = |wanted: &str| {
                let row = rows.iter().find(|(name, _)| *name == wanted);
                row.map_or("", |(_, value)| value.as_str())
            };
            let about = [
                format!("{}, {}", told("size"), told("format")),
                told("sampler").to_owned(),
            ];
            for text in about.into_iter().take(if slot.is_some() { 2 } else { 0 }) {
                ui.add(egui::Label::new(RichText::new(text).small().weak()).wrap());
            }
        });
    });
    if is_clicked {
        state.select_item(Item::Texture(index));
    }
}
