//! Materials.

use super::{
    file::{File, name_of},
    layers,
    texture::Textures,
};
use crate::{
    Result,
    graph::{Scene, WarningPlace},
    material::{AlphaMode, BRIGHTEST_EMISSION as BRIGHTEST, Material},
};
use ::gltf::json::{material::AlphaMode as JsonAlphaMode, validation::Checked};
use glam::{Vec3, Vec4};

/// Reads the materials and the textures that they use. Until [`super::texture::images`] has run, the image of
/// each texture is the texture's index in the file.
pub(super) fn materials(file: &File<'_>, scene: &mut Scene) -> Result<()> {
    let mut textures = Textures::new(file);
    for (index, json) in file.root.materials.iter().enumerate() {
        let user = |part: &str| format!("{part} of material {index}");
        file.place.set(Some(WarningPlace::Material(index)));
        let pbr = &json.pbr_metallic_roughness;
        let extensions = json.extensions.as_ref();
        let strength = extensions
            .and_then(|e| e.emissive_strength.as_ref())
            .map_or(1.0, |e| e.emissive_strength.0.clamp(0.0, BRIGHTEST));
        let normal_texture = json.normal_texture.as_ref().map(|t| {
            textures.with_map(
                t.index.value(),
                t.tex_coord,
                t.extensions.as_ref().map(|e| &e.others),
                &user("normalTexture"),
            )
        });
        let occlusion_texture = json.occlusion_texture.as_ref().map(|t| {
            textures.with_map(
                t.index.value(),
                t.tex_coord,
                t.extensions.as_ref().map(|e| &e.others),
                &user("occlusionTexture"),
            )
        });
        let Checked::Valid(alpha_mode) = json.alpha_mode else {
            return Err(file.error(format!("material {index} has an unknown alphaMode")));
        };
        let unlit = extensions.is_some_and(|e| e.unlit.is_some());
        let mut material = Material {
            name: name_of(json.name.as_ref()),
            base_color: Vec4::from(pbr.base_color_factor.0).clamp(Vec4::ZERO, Vec4::ONE),
            base_color_texture: textures.info(pbr.base_color_texture.as_ref(), &user("baseColorTexture"))?,
            metallic: pbr.metallic_factor.0.clamp(0.0, 1.0),
            roughness: pbr.roughness_factor.0.clamp(0.0, 1.0),
            metallic_roughness_texture: textures.info(
                pbr.metallic_roughness_texture.as_ref(),
                &user("metallicRoughnessTexture"),
            )?,
            normal_texture: normal_texture.transpose()?,
            normal_scale: json
                .normal_texture
                .as_ref()
                .map_or(1.0, |t| t.scale.clamp(-BRIGHTEST, BRIGHTEST)),
            occlusion_texture: occlusion_texture.transpose()?,
            occlusion_strength: json
                .occlusion_texture
                .as_ref()
                .map_or(1.0, |t| t.strength.0.clamp(0.0, 1.0)),
            emissive: (Vec3::from(json.emissive_factor.0) * strength)
                .clamp(Vec3::ZERO, Vec3::splat(BRIGHTEST)),
            emissive_factor: json.emissive_factor.0.into(),
            emissive_strength: strength,
            emissive_texture: textures.info(json.emissive_texture.as_ref(), &user("emissiveTexture"))?,
            alpha_mode: match alpha_mode {
                JsonAlphaMode::Opaque => AlphaMode::Opaque,
                JsonAlphaMode::Mask => AlphaMode::Mask,
                JsonAlphaMode::Blend => AlphaMode::Blend,
            },
            alpha_cutoff: json
                .alpha_cutoff
                .map_or(0.5, |cutoff| cutoff.0.clamp(0.0, BRIGHTEST)),
            double_sided: json.double_sided,
            unlit,
            layers: None,
            is_placeholder: false,
        };
        if let Some(extensions) = extensions.filter(|_| !unlit) {
            layers::read(&extensions.others, index, &mut textures, &mut material)?;
        }
        scene.materials.push(material);
    }
    file.place.set(None);
    scene.textures = textures.textures;
    Ok(())
}
