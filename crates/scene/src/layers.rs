//! Layers over a metallic-roughness base: the extensions `KHR_materials_*`.

use super::texture::TextureRef;
use glam::Vec3;

/// Layers over a metallic-roughness base, named as in the extensions `KHR_materials_*` that define them.
/// Defaults have no effect; textures multiply their factors.
#[derive(Debug, Clone, PartialEq)]
pub struct Layers {
    /// Index of refraction, at least 1; 0 stands for infinity.
    pub ior: f32,
    /// Weight of the dielectric's reflection.
    pub specular: f32,
    /// That weight, in alpha.
    pub specular_texture: Option<TextureRef>,
    /// Scales the dielectric's reflectance at normal incidence; linear, may pass 1.
    pub specular_color: Vec3,
    /// That scale, in sRGB.
    pub specular_color_texture: Option<TextureRef>,
    /// Whether the alpha of the metallic-roughness texture is glossiness, and the roughness factor 1 − the
    /// glossiness factor (KHR_materials_pbrSpecularGlossiness, which is read as a dielectric of infinite
    /// `ior`).
    pub glossiness: bool,
    /// Weight of the clear coat.
    pub clearcoat: f32,
    /// That weight, in red.
    pub clearcoat_texture: Option<TextureRef>,
    /// Perceptual roughness of the coat.
    pub clearcoat_roughness: f32,
    /// That roughness, in green.
    pub clearcoat_roughness_texture: Option<TextureRef>,
    /// Tangent-space normals of the coat, which does not use those of the base.
    pub clearcoat_normal_texture: Option<TextureRef>,
    /// Scales x and y of the coat's normals.
    pub clearcoat_normal_scale: f32,
    /// Linear colour of the sheen, of fibres that stand on the surface.
    pub sheen_color: Vec3,
    /// That colour, in sRGB.
    pub sheen_color_texture: Option<TextureRef>,
    /// Perceptual roughness of the sheen.
    pub sheen_roughness: f32,
    /// That roughness, in alpha.
    pub sheen_roughness_texture: Option<TextureRef>,
    /// Strength of the anisotropy: how much roughness rises along one direction.
    pub anisotropy: f32,
    /// Angle of that direction in radians, from the tangent to the bitangent.
    pub anisotropy_rotation: f32,
    /// The direction in red and green, −1 to 1, and the strength in blue.
    pub anisotropy_texture: Option<TextureRef>,
    /// Weight of the thin film.
    pub iridescence: f32,
    /// That weight, in red.
    pub iridescence_texture: Option<TextureRef>,
    /// Index of refraction of the film.
    pub iridescence_ior: f32,
    /// Thickness of the film in nanometres, where the texture's green is 0.
    pub iridescence_thickness_min: f32,
    /// Thickness where it is 1, or where there is no texture.
    pub iridescence_thickness_max: f32,
    /// The share between the two, in green.
    pub iridescence_thickness_texture: Option<TextureRef>,
    /// Share of the light entering a dielectric that leaves it on the other side.
    pub transmission: f32,
    /// That share, in red.
    pub transmission_texture: Option<TextureRef>,
    /// Thickness of the volume below the surface, in the units of the mesh; 0 for a thin wall.
    pub thickness: f32,
    /// That thickness, in green.
    pub thickness_texture: Option<TextureRef>,
    /// World distance in metres after which white light has `attenuation_color`; may be infinite.
    pub attenuation_distance: f32,
    /// Linear colour of white light after that distance.
    pub attenuation_color: Vec3,
}

/// A texture of [`Layers`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of the members of `Layers`")]
pub enum LayerSlot {
    Specular,
    SpecularColor,
    Clearcoat,
    ClearcoatRoughness,
    ClearcoatNormal,
    SheenColor,
    SheenRoughness,
    Anisotropy,
    Iridescence,
    IridescenceThickness,
    Transmission,
    Thickness,
}

impl LayerSlot {
    /// All slots, in their order.
    pub const ALL: [Self; 12] = [
        Self::Specular,
        Self::SpecularColor,
        Self::Clearcoat,
        Self::ClearcoatRoughness,
        Self::ClearcoatNormal,
        Self::SheenColor,
        Self::SheenRoughness,
        Self::Anisotropy,
        Self::Iridescence,
        Self::IridescenceThickness,
        Self::Transmission,
        Self::Thickness,
    ];
}

impl Layers {
    /// Its textures, in the order of [`LayerSlot`].
    pub fn slots(&self) -> [Option<TextureRef>; 12] {
        [
            self.specular_texture,
            self.specular_color_texture,
            self.clearcoat_texture,
            self.clearcoat_roughness_texture,
            self.clearcoat_normal_texture,
            self.sheen_color_texture,
            self.sheen_roughness_texture,
            self.anisotropy_texture,
            self.iridescence_texture,
            self.iridescence_thickness_texture,
            self.transmission_texture,
            self.thickness_texture,
        ]
    }

    pub(super) fn slots_mut(&mut self) -> [&mut Option<TextureRef>; 12] {
        [
            &mut self.specular_texture,
            &mut self.specular_color_texture,
            &mut self.clearcoat_texture,
            &mut self.clearcoat_roughness_texture,
            &mut self.clearcoat_normal_texture,
            &mut self.sheen_color_texture,
            &mut self.sheen_roughness_texture,
            &mut self.anisotropy_texture,
            &mut self.iridescence_texture,
            &mut self.iridescence_thickness_texture,
            &mut self.transmission_texture,
            &mut self.thickness_texture,
        ]
    }
}

impl Default for Layers {
    /// The extensions' defaults, which leave the base as it is.
    fn default() -> Self {
        Self {
            ior: 1.5,
            specular: 1.0,
            specular_texture: None,
            specular_color: Vec3::ONE,
            specular_color_texture: None,
            glossiness: false,
            clearcoat: 0.0,
            clearcoat_texture: None,
            clearcoat_roughness: 0.0,
            clearcoat_roughness_texture: None,
            clearcoat_normal_texture: None,
            clearcoat_normal_scale: 1.0,
            sheen_color: Vec3::ZERO,
            sheen_color_texture: None,
            sheen_roughness: 0.0,
            sheen_roughness_texture: None,
            anisotropy: 0.0,
            anisotropy_rotation: 0.0,
            anisotropy_texture: None,
            iridescence: 0.0,
            iridescence_texture: None,
            iridescence_ior: 1.3,
            iridescence_thickness_min: 100.0,
            iridescence_thickness_max: 400.0,
            iridescence_thickness_texture: None,
            transmission: 0.0,
            transmission_texture: None,
            thickness: 0.0,
            thickness_texture: None,
            attenuation_distance: f32::INFINITY,
            attenuation_color: Vec3::ONE,
        }
    }
}
