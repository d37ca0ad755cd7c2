//! Editable values of materials and lights, and access to them.

use super::{
    light::{Light, LightKind},
    material::{AlphaMode, Material},
};
use glam::{Vec3, Vec4};
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// An editable value of a material.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the fields of Material and Layers have these names")]
pub enum MaterialValue {
    BaseColor,
    Metallic,
    Roughness,
    EmissiveFactor,
    EmissiveStrength,
    NormalScale,
    OcclusionStrength,
    AlphaMode,
    AlphaCutoff,
    DoubleSided,
    Unlit,
    Ior,
    Specular,
    SpecularColor,
    Clearcoat,
    ClearcoatRoughness,
    ClearcoatNormalScale,
    SheenColor,
    SheenRoughness,
    Anisotropy,
    AnisotropyRotation,
    Iridescence,
    IridescenceIor,
    IridescenceThicknessMin,
    IridescenceThicknessMax,
    Transmission,
    Thickness,
    AttenuationDistance,
    AttenuationColor,
}

/// Mutable access to a value in a material.
#[derive(Debug, PartialEq)]
pub enum Field<'a> {
    /// A scalar.
    Number(&'a mut f32),
    /// Linear RGB.
    Color(&'a mut Vec3),
    /// Linear RGB and alpha.
    ColorWithAlpha(&'a mut Vec4),
    /// Alpha mode.
    Mode(&'a mut AlphaMode),
    /// A boolean.
    Switch(&'a mut bool),
}

impl MaterialValue {
    /// All values. Those of layers come last.
    pub const ALL: [Self; 29] = [
        Self::BaseColor,
        Self::Metallic,
        Self::Roughness,
        Self::EmissiveFactor,
        Self::EmissiveStrength,
        Self::NormalScale,
        Self::OcclusionStrength,
        Self::AlphaMode,
        Self::AlphaCutoff,
        Self::DoubleSided,
        Self::Unlit,
        Self::Ior,
        Self::Specular,
        Self::SpecularColor,
        Self::Clearcoat,
        Self::ClearcoatRoughness,
        Self::ClearcoatNormalScale,
        Self::SheenColor,
        Self::SheenRoughness,
        Self::Anisotropy,
        Self::AnisotropyRotation,
        Self::Iridescence,
        Self::IridescenceIor,
        Self::IridescenceThicknessMin,
        Self::IridescenceThicknessMax,
        Self::Transmission,
        Self::Thickness,
        Self::AttenuationDistance,
        Self::AttenuationColor,
    ];

    /// Returns the field of `material` that holds the value. Returns `None` for a layer value of a material
    /// without layers.
    pub fn field(self, material: &mut Material) -> Option<Field<'_>> {
        let of_base = match self {
            Self::BaseColor => Field::ColorWithAlpha(&mut material.base_color),
            Self::Metallic => Field::Number(&mut material.metallic),
            Self::Roughness => Field::Number(&mut material.roughness),
            Self::EmissiveFactor => Field::Color(&mut material.emissive_factor),
            Self::EmissiveStrength => Field::Number(&mut material.emissive_strength),
            Self::NormalScale => Field::Number(&mut material.normal_scale),
            Self::OcclusionStrength => Field::Number(&mut material.occlusion_strength),
            Self::AlphaMode => Field::Mode(&mut material.alpha_mode),
            Self::AlphaCutoff => Field::Number(&mut material.alpha_cutoff),
            Self::DoubleSided => Field::Switch(&mut material.double_sided),
            Self::Unlit => Field::Switch(&mut material.unlit),
            _ => {
                let layers = material.layers.as_deref_mut()?;
                return Some(match self {
                    Self::Ior => Field::Number(&mut layers.ior),
                    Self::Specular => Field::Number(&mut layers.specular),
                    Self::SpecularColor => Field::Color(&mut layers.specular_color),
                    Self::Clearcoat => Field::Number(&mut layers.clearcoat),
                    Self::ClearcoatRoughness => Field::Number(&mut layers.clearcoat_roughness),
                    Self::ClearcoatNormalScale => Field::Number(&mut layers.clearcoat_normal_scale),
                    Self::SheenColor => Field::Color(&mut layers.sheen_color),
                    Self::SheenRoughness => Field::Number(&mut layers.sheen_roughness),
                    Self::Anisotropy => Field::Number(&mut layers.anisotropy),
                    Self::AnisotropyRotation => Field::Number(&mut layers.anisotropy_rotation),
                    Self::Iridescence => Field::Number(&mut layers.iridescence),
                    Self::IridescenceIor => Field::Number(&mut layers.iridescence_ior),
                    Self::IridescenceThicknessMin => Field::Number(&mut layers.iridescence_thickness_min),
                    Self::IridescenceThicknessMax => Field::Number(&mut layers.iridescence_thickness_max),
                    Self::Transmission => Field::Number(&mut layers.transmission),
                    Self::Thickness => Field::Number(&mut layers.thickness),
                    Self::AttenuationDistance => Field::Number(&mut layers.attenuation_distance),
                    _ => Field::Color(&mut layers.attenuation_color),
                });
            }
        };
        Some(of_base)
    }

    /// Returns the value in `material`. Returns `None` for a layer value of a material without layers.
    pub fn of(self, material: &Material) -> Option<Value> {
        let mut material = material.clone();
        Some(match self.field(&mut material)? {
            Field::Number(number) => Value::Number(*number),
            Field::Color(color) => Value::Color(*color),
            Field::ColorWithAlpha(color) => Value::ColorWithAlpha(*color),
            Field::Mode(mode) => Value::Mode(*mode),
            Field::Switch(is_on) => Value::Switch(*is_on),
        })
    }

    /// Sets the value in `material` if it has one of this type.
    pub fn set(self, material: &mut Material, value: Value) {
        match (value, self.field(material)) {
            (Value::Number(value), Some(Field::Number(to))) => *to = value,
            (Value::Color(value), Some(Field::Color(to))) => *to = value,
            (Value::ColorWithAlpha(value), Some(Field::ColorWithAlpha(to))) => *to = value,
            (Value::Mode(value), Some(Field::Mode(to))) => *to = value,
            (Value::Switch(value), Some(Field::Switch(to))) => *to = value,
            _ => {}
        }
        if matches!(self, Self::EmissiveFactor | Self::EmissiveStrength) {
            material.multiply_emission();
        }
    }

    /// True if two materials differ in this value.
    pub fn differs(self, a: &Material, b: &Material) -> bool {
        self.of(a) != self.of(b)
    }

    /// Returns the valid range. Distances may also be infinite.
    pub(super) fn range(self) -> RangeInclusive<f32> {
        match self {
            Self::EmissiveFactor | Self::EmissiveStrength | Self::AlphaCutoff | Self::SpecularColor => {
                0.0..=1e9
            }
            Self::NormalScale | Self::ClearcoatNormalScale => -1e9..=1e9,
            Self::Ior | Self::IridescenceIor => 0.0..=100.0,
            // Slightly more than 2π radians.
            Self::AnisotropyRotation => -7.0..=7.0,
            Self::IridescenceThicknessMin | Self::IridescenceThicknessMax | Self::Thickness => 0.0..=1e6,
            Self::AttenuationDistance => 1e-9..=f32::INFINITY,
            _ => 0.0..=1.0,
        }
    }
}

/// An editable value of a light.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the fields of Light have these names")]
pub enum LightValue {
    Color,
    Intensity,
    Range,
    Radius,
    /// Half angles of a spot light, inner first.
    Cone,
}

impl LightValue {
    /// All values.
    pub const ALL: [Self; 5] = [
        Self::Color,
        Self::Intensity,
        Self::Range,
        Self::Radius,
        Self::Cone,
    ];

    /// Returns the value in `light`. Returns `None` for the cone of a light without one.
    pub fn of(self, light: &Light) -> Option<Value> {
        Some(match self {
            Self::Color => Value::Color(light.color),
            Self::Intensity => Value::Number(light.intensity),
            Self::Range => Value::Length(light.range),
            Self::Radius => Value::Length(light.radius),
            Self::Cone => match light.kind {
                LightKind::Spot {
                    inner_angle,
                    outer_angle,
                } => Value::Cone([inner_angle, outer_angle]),
                LightKind::Point | LightKind::Directional => return None,
            },
        })
    }

    /// Sets the value in `light` if it has one of this type.
    pub fn set(self, light: &mut Light, value: Value) {
        match (self, value) {
            (Self::Color, Value::Color(color)) => light.color = color,
            (Self::Intensity, Value::Number(intensity)) => light.intensity = intensity,
            (Self::Range, Value::Length(range)) => light.range = range,
            (Self::Radius, Value::Length(radius)) => light.radius = radius,
            (Self::Cone, Value::Cone([inner_angle, outer_angle]))
                if matches!(light.kind, LightKind::Spot { .. }) =>
            {
                light.kind = LightKind::Spot {
                    inner_angle,
                    outer_angle,
                };
            }
            _ => {}
        }
    }
}

/// Value of a material or of a light.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// A scalar.
    Number(f32),
    /// Linear RGB.
    Color(Vec3),
    /// Linear RGB and alpha.
    ColorWithAlpha(Vec4),
    /// Alpha mode.
    Mode(AlphaMode),
    /// A boolean.
    Switch(bool),
    /// Length in metres, or angle in radians for a directional light; `None` if the renderer chooses it.
    Length(Option<f32>),
    /// Half angles in radians, inner first.
    Cone([f32; 2]),
}

impl Value {
    /// True if the value can vary continuously, for example with a slider.
    pub fn is_continuous(self) -> bool {
        !matches!(self, Self::Mode(_) | Self::Switch(_))
    }
}
