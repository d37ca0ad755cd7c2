//! Lights of KHR_lights_punctual.

use glam::Vec3;
use std::f32::consts::FRAC_PI_2;

/// Largest colour and intensity of a light, which keeps products within the range of f32.
pub(super) const BRIGHTEST_LIGHT: f32 = 1e30;

/// A light that shines along its node's −Z.
#[derive(Debug, Clone, PartialEq)]
pub struct Light {
    /// Name in the file; may be empty.
    pub name: String,
    /// Type of the light.
    pub kind: LightKind,
    /// Linear colour.
    pub color: Vec3,
    /// Intensity: lux for directional lights, candela for others.
    pub intensity: f32,
    /// Distance in metres at which the light ends; `None` if it is unlimited.
    pub range: Option<f32>,
    /// Radius in metres, or angular radius of a directional light in radians; `None` if the file has none.
    pub radius: Option<f32>,
}

/// Type of a light.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LightKind {
    /// Infinitely distant light.
    Directional,
    /// Omnidirectional point light.
    Point,
    /// Spot light.
    Spot {
        /// Half angle in radians at which the falloff begins.
        inner_angle: f32,
        /// Half angle in radians at which the falloff ends.
        outer_angle: f32,
    },
}

impl LightKind {
    /// Creates a spot light with these half angles in radians, clamped so that the falloff can divide by
    /// their difference.
    pub fn spot(inner_angle: f32, outer_angle: f32) -> Self {
        let outer_angle = outer_angle.clamp(1e-3, FRAC_PI_2);
        Self::Spot {
            inner_angle: inner_angle.clamp(0.0, outer_angle - 5e-4),
            outer_angle,
        }
    }
}
