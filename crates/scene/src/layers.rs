//! Material layers over a metallic-roughness base: the extensions `KHR_materials_*`.

use super::texture::TextureRef;
use glam::Vec3;

/// Layers over a metallic-roughness base, with the names of the extensions `KHR_materials_*` that define
/// them. Defaults have no effect. Textures multiply their factors.
#[derive(Debug, Clone, PartialEq)]
pub struct Layers {
    /// Index of refraction, at least 1, or 0 for infinity.
    pub ior: f32,
    /// Weight of the dielectric reflection.
    pub specular: f32,
    /// Specular weight in alpha.
    pub specular_texture: Option<TextureRef>,
    /// Linear factor of the dielectric reflectance at normal incidence. It may exceed 1.
    pub specular_color: Vec3,
    /// Specular colour in sRGB.
    pub specular_color_texture: Option<TextureRef>,
    /// True if the alpha of the metallic-roughness texture is glossiness, and the roughness factor is 1 − the
    /// glossiness factor. Set for KHR_materials_pbrSpecularGlossiness, which is read as a dielectric of
    /// infinite `ior`.
    pub glossiness: bool,
    /// Clearcoat weight.
    pub clearcoat: f32,
    /// Clearcoat weight in red.
    pub clearcoat_texture: Option<TextureRef>,
    /// Perceptual roughness of the clearcoat.
    pub clearcoat_roughness: f32,
    /// Clearcoat roughness in green.
    pub clearcoat_roughness_texture: Option<TextureRef>,
    /// Tangent-space normals of the clearcoat, which does not use the base's normals.
    pub clearcoat_normal_texture: Option<TextureRef>,
    /// Scale of x and y of the clearcoat normals.
    pub clearcoat_normal_scale: f32,
    /// Linear colour of the sheen of fibres that stand on the surface.
    pub sheen_color: Vec3,
    /// Sheen colour in sRGB.
    pub sheen_color_texture: Option<TextureRef>,
    /// Perceptual roughness of the sheen.
    pub sheen_roughness: f32,
    /// Sheen roughness in alpha.
    pub sheen_roughness_texture: Option<TextureRef>,
    /// Anisotropy strength: the increase of roughness along one direction.
    pub anisotropy: f32,
    /// Angle of the anisotropy direction in radians, from the tangent towards the bitangent.
    pub anisotropy_rotation: f32,
    /// Anisotropy direction in red and green, from −1 to 1, and strength in blue.
    pub anisotropy_texture: Option<TextureRef>,
    /// Weight of the thin-film iridescence.
    pub iridescence: f32,
    /// Iridescence weight in red.
    pub iridescence_texture: Option<TextureRef>,
    /// Index of refraction of the thin film.
    pub iridescence_ior: f32,
    /// Thin-film thickness in nanometres at a texture value of 0.
    pub iridescence_thickness_min: f32,
    /// Thin-film thickness in nanometres at a texture value of 1, or without a texture.
    pub iridescence_thickness_max: f32,
    /// Interpolation parameter between the two thicknesses, in green.
    pub iridescence_thickness_texture: Option<TextureRef>,
    /// Transmission: the fraction of the light entering a dielectric that passes through it.
    pub transmission: f32,
    /// Transmission in red.
    pub transmission_texture: Option<TextureRef>,
    /// Thickness of the volume below the surface, in the units of the mesh, or 0 for a thin wall.
    pub thickness: f32,
    /// Volume thickness in green.
    pub thickness_texture: Option<TextureRef>,
    /// Distance in metres of world space at which white light is attenuated to `attenuation_color`. It may be
    /// infinite.
    pub attenuation_distance: f32,
    /// Linear colour of white light after `attenuation_distance`.
    pub attenuation_color: Vec3,
}

/// Texture slot of [`Layers`].
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
    /// All slots, in order.
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
    /// Returns its textures, in the order of [`LayerSlot`].
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
    /// Defaults of the extensions, which leave the base unchanged.
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
