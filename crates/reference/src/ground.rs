//! CPU reference of `ground`, and of its shading in `lighting`, in f64.

use super::lighting::incident;
use canopy_render::layout::Light;

use glam::{DVec2, DVec3, Vec3};
use std::f64::consts::PI;

/// Returns the opacity of the ground's shadows at `from_middle`, the offset from the ground's centre in units
/// of its visible radius. It is 1 within half of that radius and 0 beyond it.
pub fn shadow_opacity(from_middle: DVec2) -> f64 {
    let t = (2.0 * from_middle.length() - 1.0).clamp(0.0, 1.0);
    1.0 - t * t * (3.0 - 2.0 * t)
}

/// Returns the coverage of a pixel by the grid, as the maximum over its lines. These are the axes through the
/// origin, every tenth line, every line, and ten subdivisions between lines. `at` is in lines from the
/// world's origin, and `width` is the size of a pixel in lines.
pub fn grid(at: DVec2, width: DVec2) -> f64 {
    let lines = |scale: f64| {
        let covered = [(at.x, width.x), (at.y, width.y)].map(|(at, width)| {
            let off = (scale * at - (scale * at).round()).abs() / (scale * width);
            let t = ((scale * width - 0.08) / 0.12).clamp(0.0, 1.0);
            (1.0 - off).clamp(0.0, 1.0) * (1.0 - t * t * (3.0 - 2.0 * t))
        });
        covered[0].max(covered[1])
    };
    let axis = |at: f64, width: f64| (1.0 - at.abs() / width).clamp(0.0, 1.0);
    let axes = axis(at.x, width.x).max(axis(at.y, width.y));
    (0.3 * lines(10.0))
        .max(0.5 * lines(1.0))
        .max(0.8 * lines(0.1))
        .max(0.9 * axes)
}

/// Returns the ratio of the light on the ground at `position` to the light without occluders. `visible` are
/// the visible fractions of `lights`. `diffuse` is the radiance of a white surface that faces up and is lit
/// only by the environment, and `ambient` is the environment's visible fraction.
pub fn lit(position: Vec3, lights: &[Light], visible: &[f64], diffuse: DVec3, ambient: DVec3) -> DVec3 {
    let (mut unblocked, mut arriving) = (PI * diffuse, PI * diffuse * ambient);
    for (light, visible) in lights.iter().zip(visible) {
        let (to_light, irradiance) = incident(light, position);
        let gives = to_light.y.max(0.0) * irradiance;
        unblocked += gives;
        arriving += *visible * gives;
    }
    DVec3::from_array([0, 1, 2].map(|c| match unblocked[c] > 0.0 {
        true => arriving[c] / unblocked[c],
        false => 1.0,
    }))
}
