//! Metallic-roughness materials of glTF 2.0.

use super::{
    layers::Layers,
    texture::{TextureRef, TextureSlot},
};
use glam::{Vec3, Vec4};

/// Largest emission, which keeps products within the range of f32.
pub(super) const BRIGHTEST_EMISSION: f32 = 1e9;

/// Alpha mode of a material.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AlphaMode {
    /// Alpha is ignored.
    #[default]
    Opaque,
    /// Alpha mask: the surface is invisible where alpha is below the cutoff.
    Mask,
    /// Alpha blending over the background.
    Blend,
}

/// Metallic-roughness material of glTF 2.0.
#[derive(Debug, Clone, PartialEq)]
pub struct Material {
    /// Name in the file; may be empty.
    pub name: String,
    /// Linear base colour and alpha.
    pub base_color: Vec4,
    /// Base colour in sRGB, with alpha.
    pub base_color_texture: Option<TextureRef>,
    /// Metalness: 0 for a dielectric, 1 for a metal.
    pub metallic: f32,
    /// Perceptual roughness.
    pub roughness: f32,
    /// Roughness in green, metalness in blue.
    pub metallic_roughness_texture: Option<TextureRef>,
    /// Tangent-space normals.
    pub normal_texture: Option<TextureRef>,
    /// Scale of x and y of the normal texture.
    pub normal_scale: f32,
    /// Occlusion in red.
    pub occlusion_texture: Option<TextureRef>,
    /// Strength of the occlusion texture, 0 to 1.
    pub occlusion_strength: f32,
    /// Linear emission, with KHR_materials_emissive_strength multiplied in.
    pub emissive: Vec3,
    /// Emission factor in [`Self::emissive`], stored separately because clips can animate it.
    pub emissive_factor: Vec3,
    /// Emission strength in [`Self::emissive`].
    pub emissive_strength: f32,
    /// Emission in sRGB.
    pub emissive_texture: Option<TextureRef>,
    /// Alpha mode.
    pub alpha_mode: AlphaMode,
    /// Alpha cutoff of [`AlphaMode::Mask`].
    pub alpha_cutoff: f32,
    /// True if back faces are drawn too, with flipped normals.
    pub double_sided: bool,
    /// True if base colour is shown without lighting (KHR_materials_unlit).
    pub unlit: bool,
    /// Layers over the base; `None` if the file has none.
    pub layers: Option<Box<Layers>>,
    /// True if the material does not come from a file. Environment lighting on it is graded by direction, so
    /// that its shape is visible even in a uniform environment.
    pub is_placeholder: bool,
}

impl Material {
    /// True if it is blended over the background instead of drawn into the G-buffer.
    pub fn is_blended(&self) -> bool {
        self.alpha_mode == AlphaMode::Blend || self.transmission() > 0.0
    }

    /// True if the material transmits most light everywhere, and so casts no shadow.
    pub fn is_clear(&self) -> bool {
        let textured = |layers: &Layers| layers.transmission_texture.is_some();
        self.transmission() >= 0.5 && !self.layers.as_deref().is_some_and(textured)
    }

    /// True if it encloses a volume. Then only its near surface tints the background.
    pub fn is_volume(&self) -> bool {
        let thickness = self.layers.as_ref().map_or(0.0, |layers| layers.thickness);
        self.transmission() > 0.0 && thickness > 0.0
    }

    /// Returns a lower bound for the perceptual roughness of its reflection and transmission, for any texture
    /// contents. It is infinite for unlit materials.
    pub fn least_roughness(&self) -> f32 {
        if self.unlit {
            return f32::INFINITY;
        }
        // A roughness texture multiplies the factor, so it may lower the roughness to 0. A glossiness texture
        // lowers the glossiness, so it only raises the roughness.
        let least = |roughness: f32, texture: Option<TextureRef>| match texture {
            Some(_) => 0.0,
            None => roughness,
        };
        let is_glossiness = self.layers.as_deref().is_some_and(|layers| layers.glossiness);
        let texture = self.metallic_roughness_texture.filter(|_| !is_glossiness);
        let base = least(self.roughness, texture);
        let of_layers = self.layers.as_deref().map(|layers| {
            if layers.transmission > 0.0 {
                return 0.0;
            }
            match layers.clearcoat > 0.0 {
                true => least(layers.clearcoat_roughness, layers.clearcoat_roughness_texture),
                false => f32::INFINITY,
            }
        });
        base.min(of_layers.unwrap_or(f32::INFINITY))
    }

    /// Returns the set of texture coordinates that tangents follow, or `None` if no texture needs tangents.
    pub fn tangent_uv_set(&self) -> Option<u32> {
        let uv_set = |texture: Option<TextureRef>| texture.map(|texture| texture.uv_set);
        let of_layers = |layers: &Layers| {
            uv_set(layers.clearcoat_normal_texture)
                .or(uv_set(layers.anisotropy_texture))
                .or((layers.anisotropy > 0.0).then_some(0))
        };
        uv_set(self.normal_texture).or_else(|| self.layers.as_deref().and_then(of_layers))
    }

    /// Sets the emission to the product of factor and strength, clamped to the range of f32.
    pub fn multiply_emission(&mut self) {
        let emissive = self.emissive_factor * self.emissive_strength;
        self.emissive = emissive.clamp(Vec3::ZERO, Vec3::splat(BRIGHTEST_EMISSION));
    }

    fn transmission(&self) -> f32 {
        self.layers.as_ref().map_or(0.0, |layers| layers.transmission)
    }

    /// Iterates over all textures of the material.
    pub fn textures_mut(&mut self) -> impl Iterator<Item = &mut TextureRef> {
        let base = [
            &mut self.base_color_texture,
            &mut self.metallic_roughness_texture,
            &mut self.normal_texture,
            &mut self.occlusion_texture,
            &mut self.emissive_texture,
        ];
        let layers = self.layers.as_deref_mut().map(Layers::slots_mut);
        let layers = layers.into_iter().flatten();
        base.into_iter().chain(layers).flatten()
    }

    /// Returns the material of primitives without one. It is a grey dielectric, just too rough for reflection
    /// rays at default settings, because scans do not benefit from them.
    pub fn placeholder() -> Self {
        Self {
            base_color: Vec3::splat(0.6).extend(1.0),
            metallic: 0.0,
            roughness: 0.65,
            is_placeholder: true,
            ..Self::default()
        }
    }

    /// Returns the texture in a slot.
    pub fn texture_mut(&mut self, slot: TextureSlot) -> Option<&mut TextureRef> {
        match slot {
            TextureSlot::BaseColor => self.base_color_texture.as_mut(),
            TextureSlot::MetallicRoughness => self.metallic_roughness_texture.as_mut(),
            TextureSlot::Normal => self.normal_texture.as_mut(),
            TextureSlot::Occlusion => self.occlusion_texture.as_mut(),
            TextureSlot::Emissive => self.emissive_texture.as_mut(),
        }
    }
}

impl Default for Material {
    /// Returns the default material of glTF.
    fn default() -> Self {
        Self {
            name: String::new(),
            base_color: Vec4::ONE,
            base_color_texture: None,
            metallic: 1.0,
            roughness: 1.0,
            metallic_roughness_texture: None,
            normal_texture: None,
            normal_scale: 1.0,
            occlusion_texture: None,
            occlusion_strength: 1.0,
            emissive: Vec3::ZERO,
            emissive_factor: Vec3::ZERO,
            emissive_strength: 1.0,
            emissive_texture: None,
            alpha_mode: AlphaMode::Opaque,
            alpha_cutoff: 0.5,
            double_sided: false,
            unlit: false,
            layers: None,
            is_placeholder: false,
        }
    }
}
