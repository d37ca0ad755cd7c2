//! Material layers: the extensions `KHR_materials_*`, read from JSON that gltf-json does not parse. A value
//! of a wrong type is replaced by its default, with a warning. Numbers are clamped to the ranges of the
//! specifications.

use super::texture::Textures;
use crate::{Layers, Material, Result, TextureRef};
use glam::{Vec3, Vec4};
use serde_json::{Map, Value};
use std::ops::RangeInclusive;

/// Reads the `extensions` of material `index` into `material`, whose core properties have been read.
pub(super) fn read(
    extensions: &Map<String, Value>,
    index: usize,
    textures: &mut Textures<'_>,
    material: &mut Material,
) -> Result<()> {
    let open = |name: &'static str| {
        let json = extensions.get(name)?.as_object()?;
        Some(Extension { name, index, json })
    };
    let mut layers = Layers::default();
    let mut any = false;
    if let Some(extension) = open("KHR_materials_pbrSpecularGlossiness") {
        any = true;
        specular_glossiness(&extension, textures, material, &mut layers)?;
    }
    if let Some(extension) = open("KHR_materials_ior") {
        any = true;
        let ior = extension.number(textures, "ior", layers.ior, 0.0..=LARGEST);
        // 0 means infinity; all other values are at least 1.
        layers.ior = if ior == 0.0 { 0.0 } else { ior.max(1.0) };
    }
    if let Some(extension) = open("KHR_materials_specular") {
        any = true;
        layers.specular = extension.number(textures, "specularFactor", 1.0, 0.0..=1.0);
        layers.specular_texture = extension.texture(textures, "specularTexture")?;
        layers.specular_color = extension.color(textures, "specularColorFactor", Vec3::ONE, LARGEST);
        layers.specular_color_texture = extension.texture(textures, "specularColorTexture")?;
    }
    if let Some(extension) = open("KHR_materials_clearcoat") {
        any = true;
        layers.clearcoat = extension.number(textures, "clearcoatFactor", 0.0, 0.0..=1.0);
        layers.clearcoat_texture = extension.texture(textures, "clearcoatTexture")?;
        layers.clearcoat_roughness = extension.number(textures, "clearcoatRoughnessFactor", 0.0, 0.0..=1.0);
        layers.clearcoat_roughness_texture = extension.texture(textures, "clearcoatRoughnessTexture")?;
        layers.clearcoat_normal_texture = extension.texture(textures, "clearcoatNormalTexture")?;
        layers.clearcoat_normal_scale = extension.scale(textures, "clearcoatNormalTexture");
    }
    if let Some(extension) = open("KHR_materials_sheen") {
        any = true;
        layers.sheen_color = extension.color(textures, "sheenColorFactor", Vec3::ZERO, 1.0);
        layers.sheen_color_texture = extension.texture(textures, "sheenColorTexture")?;
        layers.sheen_roughness = extension.number(textures, "sheenRoughnessFactor", 0.0, 0.0..=1.0);
        layers.sheen_roughness_texture = extension.texture(textures, "sheenRoughnessTexture")?;
    }
    if let Some(extension) = open("KHR_materials_anisotropy") {
        any = true;
        layers.anisotropy = extension.number(textures, "anisotropyStrength", 0.0, 0.0..=1.0);
        layers.anisotropy_rotation =
            extension.number(textures, "anisotropyRotation", 0.0, -LARGEST..=LARGEST);
        layers.anisotropy_texture = extension.texture(textures, "anisotropyTexture")?;
    }
    if let Some(extension) = open("KHR_materials_iridescence") {
        any = true;
        layers.iridescence = extension.number(textures, "iridescenceFactor", 0.0, 0.0..=1.0);
        layers.iridescence_texture = extension.texture(textures, "iridescenceTexture")?;
        layers.iridescence_ior = extension.number(textures, "iridescenceIor", 1.3, 1.0..=LARGEST);
        let thickness = |key, default| extension.number(textures, key, default, 0.0..=LARGEST);
        layers.iridescence_thickness_min = thickness("iridescenceThicknessMinimum", 100.0);
        layers.iridescence_thickness_max = thickness("iridescenceThicknessMaximum", 400.0);
        layers.iridescence_thickness_texture = extension.texture(textures, "iridescenceThicknessTexture")?;
    }
    if let Some(extension) = open("KHR_materials_transmission") {
        any = true;
        layers.transmission = extension.number(textures, "transmissionFactor", 0.0, 0.0..=1.0);
        layers.transmission_texture = extension.texture(textures, "transmissionTexture")?;
    }
    if let Some(extension) = open("KHR_materials_volume") {
        any = true;
        layers.thickness = extension.number(textures, "thicknessFactor", 0.0, 0.0..=LARGEST);
        layers.thickness_texture = extension.texture(textures, "thicknessTexture")?;
        layers.attenuation_distance = extension.number(
            textures,
            "attenuationDistance",
            f32::INFINITY,
            SMALLEST..=f32::INFINITY,
        );
        layers.attenuation_color = extension.color(textures, "attenuationColor", Vec3::ONE, 1.0);
    }
    if any {
        material.layers = Some(Box::new(layers));
    }
    Ok(())
}

/// Largest factor, which keeps products of factors within the range of f32.
const LARGEST: f32 = 1e6;

/// Smallest divisor.
const SMALLEST: f32 = 1e-6;

/// Converts the archived extension in the way that KHR_materials_specular specifies. The result is a
/// dielectric of infinite index of refraction, whose specular colour is the reflectance.
fn specular_glossiness(
    extension: &Extension<'_>,
    textures: &mut Textures<'_>,
    material: &mut Material,
    layers: &mut Layers,
) -> Result<()> {
    let diffuse = extension.numbers(textures, "diffuseFactor", [1.0; 4]);
    material.base_color = Vec4::from(diffuse).clamp(Vec4::ZERO, Vec4::ONE);
    material.base_color_texture = extension.texture(textures, "diffuseTexture")?;
    material.metallic = 0.0;
    material.roughness = 1.0 - extension.number(textures, "glossinessFactor", 1.0, 0.0..=1.0);
    let texture = extension.texture(textures, "specularGlossinessTexture")?;
    material.metallic_roughness_texture = texture;
    layers.glossiness = true;
    layers.ior = 0.0;
    layers.specular_color = extension.color(textures, "specularFactor", Vec3::ONE, 1.0);
    layers.specular_color_texture = texture;
    Ok(())
}

/// JSON of a material's extension.
struct Extension<'a> {
    name: &'static str,
    index: usize,
    json: &'a Map<String, Value>,
}

impl Extension<'_> {
    fn user(&self, key: &str) -> String {
        format!("{key} of {} of material {}", self.name, self.index)
    }

    fn number(&self, textures: &Textures<'_>, key: &str, default: f32, range: RangeInclusive<f32>) -> f32 {
        let [number] = self.numbers(textures, key, [default]);
        number.clamp(*range.start(), *range.end())
    }

    fn color(&self, textures: &Textures<'_>, key: &str, default: Vec3, most: f32) -> Vec3 {
        let color = self.numbers(textures, key, default.to_array());
        Vec3::from(color).clamp(Vec3::ZERO, Vec3::splat(most))
    }

    fn numbers<const N: usize>(&self, textures: &Textures<'_>, key: &str, default: [f32; N]) -> [f32; N] {
        let Some(json) = self.json.get(key) else {
            return default;
        };
        let list: Vec<f32> = match json {
            Value::Array(list) => list.iter().filter_map(Value::as_f64).map(|n| n as f32).collect(),
            one => one.as_f64().map(|n| n as f32).into_iter().collect(),
        };
        list.try_into().unwrap_or_else(|_| {
            textures.file.warn(format!(
                "{} has the wrong type and keeps its default",
                self.user(key)
            ));
            default
        })
    }

    fn texture(&self, textures: &mut Textures<'_>, key: &str) -> Result<Option<TextureRef>> {
        let Some(info) = self.json.get(key) else {
            return Ok(None);
        };
        let integer = |key: &str| info.get(key).and_then(Value::as_u64);
        let Some(texture) = integer("index").and_then(|index| usize::try_from(index).ok()) else {
            textures
                .file
                .warn(format!("{} has no index and is ignored", self.user(key)));
            return Ok(None);
        };
        let uv_set = integer("texCoord").map_or(0, |set| u32::try_from(set).unwrap_or(u32::MAX));
        let extensions = info.get("extensions").and_then(Value::as_object);
        textures
            .with_map(texture, uv_set, extensions, &self.user(key))
            .map(Some)
    }

    /// Reads the scale of a normal texture.
    fn scale(&self, textures: &Textures<'_>, key: &str) -> f32 {
        let Some(Value::Object(info)) = self.json.get(key) else {
            return 1.0;
        };
        let texture = Extension {
            name: self.name,
            index: self.index,
            json: info,
        };
        texture.number(textures, "scale", 1.0, -LARGEST..=LARGEST)
    }
}
