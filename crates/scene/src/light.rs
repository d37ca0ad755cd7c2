//! Lights of KHR_lights_punctual.

use glam::Vec3;
use std::f32::consts::FRAC_PI_2;

/// The largest colour and intensity of a light: products with more leave the range of f32.
pub(super) const BRIGHTEST_LIGHT: f32 = 1e30;

/// A light that shines along its node's −Z.
#[derive(Debug, Clone, PartialEq)]
pub struct Light {
    /// Name in the file; may be empty.
    pub name: String,
    /// Its shape.
    pub kind: LightKind,
    /// Linear colour.
    pub color: Vec3,
    /// Intensity: lux of directional lights, candela of the others.
    pub intensity: f32,
    /// Distance in metres at which it ends; `None` for no end.
    pub range: Option<f32>,
    /// Radius in metres, or half the angular diameter of a directional light in radians; `None` where the
    /// file states none.
    pub radius: Option<f32>,
}

/// The shape of a light.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LightKind {
    /// From infinitely far away.
    Directional,
    /// From a point in all directions.
    Point,
    /// From a point into a cone.
    Spot {
        /// Half angle in radians at which the falloff begins.
        inner_angle: f32,
        /// Half angle in radians at which it ends.
        outer_angle: f32,
    },
}

impl LightKind {
    /// A spot with these half angles in radians, clamped so that the falloff can divide by their difference.
    pub fn spot(inner_angle: f32, outer_angle: f32) -> Self {
        let outer_angle = outer_angle.clamp(1e-3, FRAC_PI_2);
        Self::Spot {
            inner_angle: inner_angle.clamp(0.0, outer_angle - 5e-4),
            outer_angle,
        }
    }
}
